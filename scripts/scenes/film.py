"""Scenes for animated pictures, and scenes that change Blender itself: Russian interface, preferences."""

import bpy
from mathutils import Matrix

from . import studio
from .motions import FIGURE
from .studio import SAMPLES, Scene, Steps, drop, film_frame, key, load_samples, open_sidebar, picture

RAISED = 12
"""Frame on which the hand is raised."""
MOTIONS = 231


def _save_back(film: str) -> Steps:
    """Open the dialog of Save Back."""
    studio.invoke("save_back")()
    while studio.window().modal_operators:  # until its dialog opens
        yield 0.5
    yield 1.5
    yield from film_frame(film, 300)


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


def _open_game() -> None:
    """Show what the archive of our own small game has."""
    studio.invoke("from_game", folder=str(studio.HERE / "games" / "stalker"))()


def _film() -> Steps:
    """Drop a model and 231 motions, find one, raise a hand on a few frames of it, save back."""
    _make_library()
    yield studio.reset_blender
    yield from film_frame("film", 80)
    yield from drop(FIGURE[0])
    yield from film_frame("film", 120)
    yield from key("RET")
    yield 1.0
    studio.look(76, 150)
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
    bpy.context.window_manager.motionbridge_search.pattern = "walk"
    yield from film_frame("film", 120)
    rig.animation_data.action = bpy.data.actions["walk"]
    bpy.ops.motionbridge.add_control_rig()
    bpy.ops.object.mode_set(mode="POSE")
    studio.space().overlay.show_relationship_lines = False
    yield from _play()
    yield from _raise_hand()
    yield from _play()
    yield from _save_back("film")
    yield from key("RET")
    yield 1.0
    yield from film_frame("film", 250)


def _play() -> Steps:
    for frame in range(0, 25, 4):
        bpy.context.scene.frame_set(frame)
        yield from film_frame("film", 10)


def _raise_hand() -> Steps:
    """Raise a hand on one frame, and spread that over the frames around it."""
    bpy.context.scene.frame_set(RAISED)
    controls = bpy.context.object
    goal = controls.pose.bones["hand_ik.L"]
    bpy.ops.object.select_pattern(pattern=goal.name, extend=False)
    before = goal.matrix.copy()
    for step in range(1, 6):
        goal.matrix = Matrix.Translation((0.0, 0.06 * step, 0.09 * step)) @ before
        yield from film_frame("film", 12)
    studio.invoke("spread_pose")()
    yield 1.5
    yield from film_frame("film", 250)
    yield from key("RET")
    yield 1.0


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
    picture("russian", _switch_to_russian, lambda: load_samples(*FIGURE), sidebar=True),
    picture("preferences", _open_preferences),
    picture("from_game", open_sidebar, _open_game),
    Scene("film", [_film]),
)
