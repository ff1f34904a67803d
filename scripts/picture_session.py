"""What `scripts/pictures.py` plays inside Blender's window: the scenes of all modules, one after the other."""

import os
import sys
import traceback
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

import addon_utils
import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))

from picture_studio import EXTENSION, HERE, SCENES, TEXTURES, Steps, area, key, start_anew, there, window

MODULES = ("motions", "models", "levels", "games", "film")
"""Of scenes, in the order in which they are played."""
ONLY = os.environ.get("ONLY", "")


def prepare() -> None:
    """The extension enabled; nothing that moves by itself or opens a second window; textures."""
    preferences = bpy.context.preferences
    preferences.use_preferences_save = False
    preferences.view.show_splash = False
    preferences.view.filebrowser_display_type = "SCREEN"
    preferences.view.smooth_view = 0
    repositories = preferences.extensions.repos
    repositories.new(name="Dev", module="dev", custom_directory=str(HERE / "extensions"), remote_url="")
    if addon_utils.enable(EXTENSION, default_set=True) is None:
        raise SystemExit("the extension could not be enabled")
    checked = bpy.data.images.new("humanoid", 64, 64)
    shades = [0.72, 0.74, 0.66, 1.0], [0.58, 0.61, 0.54, 1.0]
    checked.pixels = [value for y in range(64) for x in range(64) for value in shades[(x // 8 + y // 8) % 2]]
    grid = bpy.data.images.new("details", 512, 512)
    grid.generated_type = "COLOR_GRID"  # to see the coordinates of a detail model by
    for image, path in ((checked, "samples/humanoid.png"), (grid, "build_details.png")):
        image.filepath_raw, image.file_format = str(TEXTURES / path), "PNG"
        image.save()


def play() -> Steps:
    """One scene after the other, of those whose names begin so."""
    chosen = {name: steps for name, steps in SCENES.items() if name.startswith(ONLY)}
    if not chosen:
        print(f"No scene begins with {ONLY!r}; there are: {', '.join(SCENES)}", flush=True)
        os._exit(1)
    for name, steps in chosen.items():
        yield start_anew
        yield from steps()
        print("took", name, flush=True)
        yield from key("ESC")
        yield 0.3


steps = play()


def tick() -> float:
    """One step, in the viewport if there is one; the seconds until the next. Called by Blender's timer."""
    try:
        shown = any(one.type == "VIEW_3D" for one in window().screen.areas)
        with there(area()) if shown else nullcontext():
            step = next(steps)
        if not callable(step):
            return step
        step()
    except StopIteration:
        os._exit(0)
    except Exception:  # noqa: BLE001 - Blender would only print it and go on waiting
        traceback.print_exc()
        sys.stdout.flush()
        os._exit(1)
    return 0.7


prepare()
for module in MODULES:
    import_module(f"picture_{module}")
bpy.app.timers.register(tick, first_interval=2.0, persistent=True)
