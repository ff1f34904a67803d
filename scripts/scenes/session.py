"""The part of `scripts/pictures.py` that runs in Blender's window: plays the scenes of all modules in turn."""

import os
import sys
import traceback
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

import addon_utils
import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scenes.studio import EXTENSION, HERE, TEXTURES, Steps, area, in_area, key, reset_blender, window

MODULES = ("listing",) if "LISTING" in os.environ else ("motions", "models", "levels", "games", "film")
"""Modules with a table of scenes, in the order in which they are played."""
ONLY = os.environ.get("ONLY", "")


def prepare() -> None:
    """Enable the extension, disable animated interface elements and second windows, write a texture."""
    preferences = bpy.context.preferences
    preferences.use_preferences_save = False
    preferences.view.show_splash = False
    preferences.view.filebrowser_display_type = "SCREEN"
    preferences.view.smooth_view = 0
    repositories = preferences.extensions.repos
    repositories.new(name="Dev", module="dev", custom_directory=str(HERE / "extensions"), remote_url="")
    if addon_utils.enable(EXTENSION, default_set=True) is None:
        raise SystemExit("the extension could not be enabled")
    grid = bpy.data.images.new("details", 512, 512)
    grid.generated_type = "COLOR_GRID"  # makes the texture coordinates of a detail model visible
    grid.filepath_raw, grid.file_format = str(TEXTURES / "build_details.png"), "PNG"
    grid.save()


def play() -> Steps:
    """Play the scenes whose names begin with `ONLY`."""
    listed = [scene for module in MODULES for scene in import_module(f"scenes.{module}").SCENES if scene.needs.exists()]
    if not any(scene.name.startswith(ONLY) for scene in listed):
        print(f"No scene begins with {ONLY!r}; there are: {', '.join(scene.name for scene in listed)}", flush=True)
        os._exit(1)
    for scene in (scene for scene in listed if scene.name.startswith(ONLY)):
        yield reset_blender
        yield from scene.play()
        print("took", scene.name, flush=True)
        yield from key("ESC")
        yield 0.3


steps = play()


def tick() -> float:
    """Do one step, in the viewport if there is one. A timer of Blender; returns the seconds until the next call."""
    try:
        actual = any(own_area.type == "VIEW_3D" for own_area in window().screen.areas)
        with in_area(area()) if actual else nullcontext():
            step = next(steps)
        if not callable(step):
            return step
        step()
    except StopIteration:
        os._exit(0)
    except Exception:  # noqa: BLE001 - Blender would print it and wait forever
        traceback.print_exc()
        sys.stdout.flush()
        os._exit(1)
    return 0.7


prepare()
bpy.app.timers.register(tick, first_interval=2.0, persistent=True)
