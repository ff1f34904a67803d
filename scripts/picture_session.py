"""What `scripts/pictures.py` plays inside Blender's window: clicks, keys, and a photograph after each scene.

A scene is a generator that yields the seconds Blender gets to draw; each begins in an empty file.
"""

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import addon_utils
import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))

import picture_arma
import picture_descent
import picture_editor
import picture_film
import picture_hud
import picture_levels
import picture_new_models
import picture_paths
import picture_rig
from picture_studio import HERE, SAMPLES, Steps, area, click, drop, hover, key, load, shot, sidebar, there, window

ONLY = os.environ.get("ONLY", "")
MARKS_HEADER = (872, 582)


def prepare() -> None:
    """The extension enabled; nothing that moves by itself or opens a second window."""
    preferences = bpy.context.preferences
    preferences.use_preferences_save = False
    preferences.view.show_splash = False
    preferences.view.filebrowser_display_type = "SCREEN"
    preferences.view.smooth_view = 0
    repositories = preferences.extensions.repos
    repositories.new(name="Dev", module="dev", custom_directory=str(HERE / "extensions"), remote_url="")
    if addon_utils.enable("bl_ext.dev.motionbridge", default_set=True) is None:
        raise SystemExit("the extension could not be enabled")
    picture_descent.prepare()
    picture_levels.prepare()
    picture = bpy.data.images.new("humanoid", 64, 64)
    shades = [0.72, 0.74, 0.66, 1.0], [0.58, 0.61, 0.54, 1.0]
    picture.pixels = [value for y in range(64) for x in range(64) for value in shades[(x // 8 + y // 8) % 2]]
    picture.filepath_raw = str(HERE / "gamedata" / "textures" / "samples" / "humanoid.png")
    picture.file_format = "PNG"
    picture.save()


def menu() -> Steps:
    """File > Import."""
    yield from click(47, 14)
    yield from hover(75, 311)
    yield from shot("menu")
    yield from key("ESC")


def browser() -> Steps:
    """The file browser with the options of a model."""
    with there():
        bpy.ops.import_scene.xray_ogf("INVOKE_DEFAULT")
    yield 1.5
    found = area("FILE_BROWSER")
    found.spaces.active.params.directory = bytes(SAMPLES)
    yield 1.0
    yield from shot("browser")
    with bpy.context.temp_override(window=window(), area=found, region=found.regions[0]):
        bpy.ops.file.cancel()
    yield 1.0


def model_drop() -> Steps:
    """The pop-up of a dropped model."""
    drop("humanoid.ogf")
    yield 1.0
    yield from shot("drop")


def motion_list() -> Steps:
    """The list before motions are imported."""
    load("humanoid.ogf")
    yield 0.5
    drop("humanoid.omf")
    yield 1.0
    yield from shot("list")


def panel() -> Steps:
    """Motions of a rig in the sidebar."""
    load("humanoid.ogf", "humanoid.omf")
    yield from sidebar()
    yield from shot("panel")


def no_armature() -> Steps:
    """Motions dropped where there is no armature: the model beside them is found."""
    yield from sidebar()
    drop("humanoid.omf")
    yield 1.0
    yield from shot("no_armature")


def no_model() -> Steps:
    """Motions without armature and without a model."""
    drop("weapon_alone.omf")
    yield 1.0
    yield from key("RET")
    yield 0.5
    yield from shot("no_model")


def wrong_file() -> Steps:
    """A file that was cut off."""
    drop("broken.omf")
    yield 1.0
    yield from shot("wrong_file")


def edit() -> None:
    """Turn the head at one frame."""
    rig = bpy.context.view_layer.objects.active
    bpy.context.scene.frame_set(5)
    bone = next(bone for bone in rig.pose.bones if "head" in bone.name)
    bone.rotation_quaternion = (0.9, 0.0, 0.0, 0.43)
    bone.keyframe_insert("rotation_quaternion", frame=5)


def save_back() -> Steps:
    """The sentence before saving."""
    load("humanoid.ogf", "humanoid.omf")
    edit()
    yield from sidebar()
    yield 1.0
    with there():
        bpy.ops.motionbridge.save_back("INVOKE_DEFAULT")
    yield 1.0
    yield from shot("save_back")


def action_editor() -> Steps:
    """Marks beside the keys."""
    load("humanoid.ogf", "humanoid.omf")
    found = area()
    found.type = "DOPESHEET_EDITOR"
    found.spaces.active.mode = "ACTION"
    found.spaces.active.show_pose_markers = True
    bpy.context.preferences.view.ui_scale = 0.8
    bpy.context.scene.frame_end = 30
    yield 0.5
    with bpy.context.temp_override(window=window(), area=found, region=found.regions[-1]):
        bpy.ops.action.view_all()
    yield from sidebar("DOPESHEET_EDITOR")
    yield from click(*MARKS_HEADER)
    yield from shot("marks")
    bpy.context.preferences.view.ui_scale = 1.0


def bone() -> Steps:
    """A bone's panel."""
    load("humanoid.ogf")
    rig = bpy.context.view_layer.objects.active
    rig.data.bones.active = rig.data.bones[3]
    found = area("PROPERTIES")
    yield 0.5
    found.spaces.active.context = "BONE"
    yield 0.5
    yield from shot("bone")
    found.spaces.active.context = "OBJECT"
    yield 0.5
    yield from shot("object")


def report() -> Steps:
    """The report in full."""
    with there():
        bpy.ops.import_scene.xray_ogf(files=[{"name": "weapon.ogf"}, {"name": "cut.ogf"}], directory=str(SAMPLES))
    yield 0.5
    with there():
        bpy.ops.motionbridge.report("INVOKE_DEFAULT")
    yield 1.0
    yield from shot("report")


def preferences() -> Steps:
    """The folders."""
    with there():
        bpy.ops.screen.userpref_show("INVOKE_DEFAULT")
    bpy.context.preferences.active_section = "ADDONS"
    bpy.context.window_manager.addon_search = "Motionbridge"
    bpy.ops.preferences.addon_expand(module="bl_ext.dev.motionbridge")
    yield 1.0
    yield from shot("preferences")


def russian() -> Steps:
    """The panel in Russian."""
    view = bpy.context.preferences.view
    view.language = "ru_RU"
    view.use_translate_interface = view.use_translate_tooltips = True
    load("humanoid.ogf", "humanoid.omf")
    yield from sidebar()
    yield from shot("russian")
    view.language = "en_US"


SCENES: list[Callable[[], Steps]] = [
    menu, browser, model_drop, motion_list, panel, no_armature, no_model, wrong_file, save_back, action_editor, bone,
    report, *picture_levels.SCENES, *picture_paths.SCENES, *picture_editor.SCENES, *picture_new_models.SCENES,
    *picture_rig.SCENES, *picture_hud.SCENES, *picture_descent.SCENES, *picture_arma.SCENES, russian, preferences,
    picture_film.film,
]  # fmt: skip


def play() -> Steps:
    """One scene after the other."""
    for scene in SCENES:
        if not scene.__name__.startswith(ONLY):
            continue
        bpy.ops.wm.read_homefile(use_empty=False, use_factory_startup=True, app_template="")
        bpy.data.batch_remove(list(bpy.data.objects))
        yield 0.7
        yield from scene()
        print("took", scene.__name__, flush=True)
        yield from key("ESC")
        yield 0.3


steps = play()


def tick() -> float | None:
    """Called by Blender's timer."""
    try:
        return next(steps)
    except StopIteration:
        os._exit(0)
    except Exception:  # noqa: BLE001 - Blender would only print it and go on waiting
        traceback.print_exc()
        sys.stdout.flush()
        os._exit(1)


prepare()
bpy.app.timers.register(tick, first_interval=2.0, persistent=True)
