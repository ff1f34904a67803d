"""A first-person scene: hands, weapon, camera and motions as the game composes them.

The camera looks along Blender's +Y from the origin; it is a child of an empty that camera effects move. Another empty
holds the offset while aiming, the hands are its child, the item is a child of a bone of the hands; location and
rotation of each are the config's values. The item's root bone is pinned, as the engine does on the first play; its own
keys stay what they are.

With two items, such as a pistol and a detector, each has hands of its own, of which only its arm is shown: each motion
plays, is edited and is saved as a whole. Anomaly does the same; in other games both hands are where the first item has
them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ....blender import action as blender_action
from ....blender import hidden_bones, scope
from ....blender.pin import pin
from ....core.body import Part, Side, body_of
from ....core.errors import ReadError
from ....core.report import Report
from ....formats.xray import hud
from ....formats.xray.hud import FRAMES_PER_SECOND, Generation
from ..bones.properties import game_name
from ..game_tree import GameTree
from ..models.importing import ImportedModel, import_model
from ..motions import library
from ..options import Game, HudSceneOptions, ModelImportOptions, Stance
from . import attachments, pairs, placing, points, saving, view
from .motions import MotionFiles
from .sections import Setup, find_setup

FIRST_ACTIONS = ("anm_idle", "anim_idle")
ARM = {Part.ARM, Part.HAND, Part.HELPER}
OTHER_ARM = "Motionbridge Other Arm"
"""What the names of the masks begin with that hide an arm."""


@dataclass
class HudScene:
    """What was made. ``item`` None where one model, ``hands``, has arms and weapon.

    ``view`` carries the camera; ``points`` are empties by their keys; actions are by the names of motions, those of the
    view by that of the hands' motion. ``beside`` is what the other hand holds, with the same camera and view.
    """

    collection: Any
    aim: Any
    hands: Any
    camera: Any
    view: Any
    item: Any = None
    hands_actions: dict[str, Any] = field(default_factory=dict)
    points: dict[str, Any] = field(default_factory=dict)
    item_actions: dict[str, Any] = field(default_factory=dict)
    view_actions: dict[str, Any] = field(default_factory=dict)
    beside: HudScene | None = None


def new_scene(context: Any, options: HudSceneOptions, report: Report) -> HudScene:
    """The objects in a new collection; the scene gets the camera, the game's frame rate and the form of the picture.

    Raises `ReadError` where a config, a model or a bone is missing, before the scene is changed.
    """
    setup = find_setup(options, report)
    other = _beside(setup, options, report) if options.beside else None
    into = scope.target_collection(context, report, setup.name)
    camera = _camera(setup.name, options, into)
    carrier = view.add_carrier(setup.name, camera, into)
    points.add_crosshair(setup.name, camera, into)
    made = _add_item(context, setup, options, report, (into, camera, carrier))
    if other is not None:
        made.beside = _add_item(context, other, _of_beside(options), report, (into, camera, carrier))
        _use_one_arm_each(made, made.beside, setup, report)
        if options.game is not Game.ANOMALY:
            made.beside.aim.parent, made.beside.hands.motionbridge_hud.follows = made.hands, made.hands
            made.beside.hands.matrix_basis.identity()
            made.beside.aim.matrix_basis.identity()
        made.beside.hands.motionbridge_hud.view = None  # the first item moves it
        made.hands.motionbridge_hud.active_action = made.hands.motionbridge_hud.active_action
    _set_scene(context, made, options)
    scope.make_current(context, [made.hands], made.hands)
    return made


def _of_beside(options: HudSceneOptions) -> HudSceneOptions:
    """Those of what the other hand holds."""
    return HudSceneOptions(**vars(options) | {"section": options.beside, "item": "", "beside": ""})


def _beside(setup: Setup, options: HudSceneOptions, report: Report) -> Setup:
    """What the other hand holds. Raises `ReadError` where it cannot be held beside the first."""
    other = find_setup(_of_beside(options), report)
    if Generation.ONE_MODEL in (setup.generation, other.generation) or not setup.values:
        raise ReadError(
            "one model has both arms and the weapon, or no section is chosen, so nothing can be held beside it",
            remedy="Choose two sections of Clear Sky or a later game",
        )
    if hud.place_of(setup.values) == hud.place_of(other.values):
        raise ReadError(
            f"{setup.name} and {other.name} are held in the same hand",
            remedy="Choose sections with different values of attach_place_idx",
        )
    return other


def _use_one_arm_each(first: HudScene, second: HudScene, setup: Setup, report: Report) -> None:
    """Hide the arm of each pair of hands that the other one has."""
    sides = (Side.LEFT, Side.RIGHT) if hud.place_of(setup.values) == 0 else (Side.RIGHT, Side.LEFT)
    for made, hidden in zip((first, second), sides, strict=True):
        bones = list(made.hands.data.bones)
        numbers = {bone.name: number for number, bone in enumerate(bones)}
        parents = [numbers[bone.parent.name] if bone.parent is not None else -1 for bone in bones]
        body = body_of([game_name(bone) for bone in bones], parents)
        is_arm = [part in ARM and side is hidden for part, side in zip(body.parts, body.sides, strict=True)]
        names = [bone.name for bone, own in zip(bones, is_arm, strict=True) if own]
        if not names:
            report.warn("the names of its bones do not tell its arms, so both are shown", made.hands.name)
        hidden_bones.hide(made.hands, names, OTHER_ARM)


def _add_item(
    context: Any, setup: Setup, options: HudSceneOptions, report: Report, shared: tuple[Any, Any, Any]
) -> HudScene:
    """Hands, item, points and motions; ``shared`` collection, camera and its carrier."""
    into, camera, carrier = shared

    def imported(path: Path, tree: GameTree) -> ImportedModel:
        of_model = ModelImportOptions(textures=options.textures)
        model = _with_bones(import_model(context, path, of_model, report, tree=tree, into=into), path)
        # What the camera sees is the game's picture: bones stay behind the meshes there.
        model.rig.show_in_front = False
        return model

    first = imported(setup.hands or setup.item, setup.hands_tree)
    second = imported(setup.item, setup.item_tree) if setup.hands is not None else None
    aim: Any = bpy.data.objects.new(f"{setup.name} Aim", None)
    aim.empty_display_size = 0.05
    into.objects.link(aim)
    first.rig.parent, aim.motionbridge_hud.hands = aim, first.rig
    offsets = {Stance.HIP: np.eye(4), Stance.AIM: setup.placing.aim, Stance.LAUNCHER: setup.placing.launcher}
    placing.place(aim, offsets[options.stance], placing.AIM)
    placing.place(first.rig, setup.placing.hands, placing.HANDS)
    made = HudScene(into, aim, first.rig, camera, carrier)
    if second is not None:
        made.item = second.rig
        placing.hang(second.rig, first.rig, setup.anchor)
        placing.place(second.rig, setup.placing.item, placing.HANDS)
        for bone in second.rig.pose.bones:
            if bone.parent is None:
                pin(bone, (placing.QUARTER, 0.0, 0.0))
    if setup.values:
        made.points = points.add_points(made.item or made.hands, setup.values, into, report)
        placing.remember(made, setup.values, options.stance, options.aspect)
        made.hands.motionbridge_hud.attached = attachments.of_new(setup.item_values)
        saving.remember(made.hands, options)
    if options.motions:
        hands_files = MotionFiles(first, setup.hands or setup.item, options.hands_motions, report)
        item_files = MotionFiles(second, setup.item, "", report) if second is not None else None
        _import_motions(context, made, setup, (hands_files, item_files), report, folders=options.folders)
    return made


def _with_bones(model: ImportedModel, path: Path) -> ImportedModel:
    if model.rig is None:
        raise ReadError(
            "this model has no bones, so nothing can be attached to it", file=str(path), remedy="Choose another model"
        )
    return model


def _camera(name: str, options: HudSceneOptions, into: Any) -> Any:
    shown = hud.VIEWS[options.game.value]
    data = bpy.data.cameras.new(f"{name} Camera")
    data.sensor_fit = "VERTICAL"
    data.angle_y = math.radians(shown.field_of_view)
    data.clip_start = shown.near
    camera = bpy.data.objects.new(data.name, data)
    camera.rotation_euler = (placing.QUARTER, 0.0, 0.0)
    into.objects.link(camera)
    return camera


def _set_scene(context: Any, made: HudScene, options: HudSceneOptions) -> None:
    scene = context.scene
    scene.camera = made.camera
    scene.render.resolution_x, scene.render.resolution_y = options.aspect.value
    scene.render.pixel_aspect_x = scene.render.pixel_aspect_y = 1.0
    scene.render.fps, scene.render.fps_base = round(FRAMES_PER_SECOND), 1.0
    data = made.hands.animation_data
    if data is not None and data.action is not None:
        first, count = blender_action.frame_range(data.action)
        scene.frame_start, scene.frame_end = first, first + count - 1
        scene.frame_set(first)


# Motions --------------------------------------------------------------------------------------------------------------


def _import_motions(
    context: Any,
    made: HudScene,
    setup: Setup,
    files: tuple[MotionFiles, MotionFiles | None],
    report: Report,
    *,
    folders: Sequence[Path],
) -> None:
    """Those that the actions of the section play; all where there is no section. The first idle action plays."""
    hands, item = files
    listed = pairs.find_pairs(setup.actions, setup.generation, hands, item, report)
    found = [pair for pair in listed if pair.found]
    made.hands_actions = hands.import_named(context, [one.hands for one in found] if setup.values else None, report)
    if item is not None:
        names = [pair.item for pair in found if pair.item] if setup.values else None
        made.item_actions = item.import_named(context, names, report)
    made.view_actions = view.import_effects(made.view, folders, [one.hands for one in found], report)
    pairs.remember(made, setup.name, listed)
    rows = made.hands.motionbridge_hud.actions
    playable = [number for number, row in enumerate(rows) if row.hands is not None]
    idle = [number for number in playable if rows[number].name in FIRST_ACTIONS]
    if playable:
        made.hands.motionbridge_hud.active_action = (idle or playable)[0]
        return
    for rig, actions in ((made.hands, made.hands_actions), (made.item, made.item_actions)):
        if actions:
            library.play(context, rig, actions.get(hud.IDLE) or next(iter(actions.values())))
