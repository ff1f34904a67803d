"""The part of `scripts/bench.py` that runs in Blender: one measurement per process.

    blender --background --factory-startup --python scripts/benchmarks/run.py -- MODULE.NAME FILE

The last line printed is the figure: seconds, or bytes.
"""

import os
import sys
from importlib import import_module
from pathlib import Path

import bpy

sys.path[:0] = [str(Path(__file__).resolve().parents[level]) for level in (2, 1)]

words, *files = sys.argv[sys.argv.index("--") + 1 :]
module, _, name = words.partition(".")
if module != "start":  # which measures a Blender in which nothing of the extension is loaded yet
    import_module("addon.games").register()
    bpy.context.preferences.edit.use_global_undo = False
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
measurement = import_module(f"benchmarks.{module}").MEASUREMENTS[name]
print(f"\n{measurement(*files)}", flush=True)
os._exit(0)  # a Blender with classes still registered may hang while it shuts down
