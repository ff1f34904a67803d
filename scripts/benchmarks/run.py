"""The part of `scripts/bench.py` that runs in Blender: one measurement per process.

    blender --background --factory-startup --python scripts/benchmarks/run.py -- MODULE.NAME FILE

Without ``--background`` it is measured in a window. The last line printed is the figure: seconds, or bytes; in a window
the number of redraws of the viewport and their seconds follow it.
"""

import os
import sys
import time
import traceback
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import bpy

sys.path[:0] = [str(Path(__file__).resolve().parents[level]) for level in (2, 1)]

from benchmarks import Click, seconds_of

DRAWN = 4
"""Ticks of a timer after which Blender has drawn everything that was waiting for that."""


words, *files = sys.argv[sys.argv.index("--") + 1 :]
module, _, name = words.partition(".")


def prepare() -> None:
    """Enable the extension, in an empty file."""
    if module == "start":  # which measures a Blender in which nothing of the extension is loaded yet
        return
    if bpy.app.background:
        import_module("addon.games").register()
        bpy.context.preferences.edit.use_global_undo = False
    else:
        import_module("tests.extension").pytest_configure()  # with its operators
        bpy.context.preferences.view.show_splash = False
        bpy.context.preferences.system.viewport_aa = "OFF"  # else a view is drawn eight times until it is smooth
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def measured() -> Any:
    """Measure, or return the click to measure."""
    return import_module(f"benchmarks.{module}").MEASUREMENTS[name](*files)


def end(*figures: float) -> None:
    """Print the figures. A Blender with classes still registered may hang while it shuts down, so it does not."""
    print(f"\n{' '.join(map(str, figures))}", flush=True)
    os._exit(0)


def in_window() -> Iterator[None]:
    """Measure in a window, between two ticks of a timer; Blender draws and handles events meanwhile."""
    yield
    prepare()
    yield
    window: Any = bpy.context.window_manager.windows[0]
    area = max((area for area in window.screen.areas if area.type == "VIEW_3D"), key=lambda area: area.width)
    region = next(region for region in area.regions if region.type == "WINDOW")
    there = {"window": window, "area": area, "region": region}
    with bpy.context.temp_override(**there):
        result = measured()
    if not isinstance(result, Click):
        end(result)
    redraws: list[float] = []
    add: Any = bpy.types.SpaceView3D.draw_handler_add
    add(lambda: redraws.append(-time.process_time()), (), "WINDOW", "PRE_VIEW")
    add(lambda: redraws.append(redraws.pop() + time.process_time()), (), "WINDOW", "POST_PIXEL")
    bpy.ops.ed.undo_push(message="Prepared")
    for _ in range(DRAWN):
        yield
    redraws.clear()
    start = time.process_time()
    with bpy.context.temp_override(**there):
        result.operator()
    while window.modal_operators:
        yield
    for _ in range(DRAWN):
        yield
    seconds = time.process_time() - start
    end(seconds - sum(redraws), len(redraws), sum(redraws))


def tick(steps: Iterator[None]) -> float:
    """Do the next step; the seconds until the one after it."""
    try:
        next(steps)
    except BaseException:  # noqa: BLE001 - Blender would only print it, and wait for somebody to close its window
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    return 0.01


if bpy.app.background:
    prepare()
    figure = measured()
    end(seconds_of(figure.work) if isinstance(figure, Click) else figure)
else:
    steps = in_window()
    bpy.app.timers.register(lambda: tick(steps), first_interval=0.5, persistent=True)
