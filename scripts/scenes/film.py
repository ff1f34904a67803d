"""Scenes for animated pictures, and scenes that change Blender itself: Russian interface, preferences."""

import bpy
from mathutils import Matrix, Quaternion

from . import studio
from .motions import FIGURE, STALKER, show_control_rig
from .studio import SAMPLES, Scene, Steps, drop, film_frame, key, load_samples, open_sidebar, picture

MOVED = range(12, 21)
"""Frames on which the hand goes up and down again."""
MOTIONS = 231


def _save_back(film: str) -> Steps:
    """Open the dialog of Save Back."""
    studio.invoke("save_back")()
    while studio.window().modal_operators:  # until its dialog opens
        yield 0.5
    yield 1.5
    yield from film_frame(film, 300)


def _control_film() -> Steps:
    """Move a hand on some frames, and save back: only one of many motions changes."""
    show_control_rig(MOVED[0])
    yield from open_sidebar()
    frames, controls = bpy.context.scene, bpy.context.object
    for frame in range(MOVED[0] - 8, MOVED[0] + 1, 2):
        frames.frame_set(frame)
        yield from film_frame("control_film", 15)
    goal = controls.pose.bones["hand_ik.R"]
    middle = len(MOVED) // 2
    for step, frame in enumerate(MOVED):
        frames.frame_set(frame)
        share = 1 - abs(step - middle) / middle
        goal.matrix = Matrix.Translation((0.0, 0.0, 0.35 * share)) @ goal.matrix
        goal.keyframe_insert("location")
    for frame in (*MOVED, *range(MOVED[-1], MOVED[-1] + 5, 2)):
        frames.frame_set(frame)
        yield from film_frame("control_film", 15)
    yield from _save_back("control_film")


def _switch_to_russian() -> None:
    view = bpy.context.preferences.view
    view.language = "ru_RU"
    view.use_translate_interface = view.use_translate_tooltips = True


def _open_preferences() -> None:
    """Show the extension's preferences, with the game folders."""
    bpy.ops.screen.userpref_show("INVOKE_DEFAULT")
    bpy.context.preferences.active_section = "ADDONS"
    bpy.context.window_manager.addon_search = "Motionbridge"
    bpy.ops.preferences.addon_expand(module=studio.EXTENSION)


def _film() -> Steps:
    """Drop a model and 231 motions, play one, edit it, save back."""
    _make_library()
    yield studio.reset_blender
    yield from film_frame("film", 80)
    yield from drop("humanoid.ogf")
    yield from film_frame("film", 120)
    yield from key("RET")
    yield 1.0
    bpy.ops.view3d.view_selected()
    studio.space().shading.color_type = "TEXTURE"
    yield from open_sidebar()
    yield from film_frame("film", 80)
    yield from drop("library.omf")
    yield from film_frame("film", 180)
    yield from key("RET")
    while len(bpy.data.actions) < MOTIONS:
        yield 0.5
    yield 1.0
    rig = bpy.context.view_layer.objects.active
    rig.animation_data.action = bpy.data.actions["walk"]
    for frame in (*range(0, 25, 3), *range(0, 9, 3)):
        bpy.context.scene.frame_set(frame)
        yield from film_frame("film", 12)
    yield from _turn_the_head(rig)
    yield 1.0
    yield from film_frame("film", 120)
    yield from _save_back("film")
    yield from key("RET")
    yield 1.0
    yield from film_frame("film", 250)


def _turn_the_head(rig: bpy.types.Object) -> Steps:
    """Rotate the head step by step, then insert a key."""
    head = next(bone for bone in rig.pose.bones if "head" in bone.name)
    before, after = head.rotation_quaternion.copy(), Quaternion((0.9, 0.0, 0.0, 0.43))
    for step in range(1, 6):
        head.rotation_quaternion = before.slerp(before @ after.normalized(), step / 5)
        yield from film_frame("film", 10)
    head.keyframe_insert("rotation_quaternion", frame=bpy.context.scene.frame_current)


def _make_library() -> None:
    """Export a file of `MOTIONS` motions: the sample's motions and copies of them."""
    rig = load_samples(*FIGURE)
    listed = list(bpy.data.actions)
    for number in range(MOTIONS - len(listed)):
        source = listed[number % len(listed)]
        copy = source.copy()
        copy.name = f"{source.name}_{number // len(listed) + 2:02}"
        copy.use_fake_user = True
        rig.animation_data.action = copy
        bpy.ops.motionbridge.add_motion()
    bpy.ops.export_scene.xray_omf(filepath=str(SAMPLES / "library.omf"))


SCENES = (
    Scene("control_film", [_control_film], STALKER),
    picture("russian", _switch_to_russian, lambda: load_samples(*FIGURE), sidebar=True),
    picture("preferences", _open_preferences),
    Scene("film", [_film]),
)
