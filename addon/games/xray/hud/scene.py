"""A first-person scene: hands, weapon, camera and motions as the game composes them; preview strips of its actions.

The camera looks along Blender's +Y from the origin; its parent is an empty that camera effects (`.anm`) move. Another
empty has the offset of aiming and is the parent of the hands; the item is parented to a bone of the hands. Location and
rotation of each are the config's values. The item's root bone is pinned, because the engine ignores its keys; the keys
stay unchanged.

With two items, such as a pistol and a detector, each has hands of its own, of which only one arm is shown: so each
motion is played, edited and saved as a whole. Anomaly does the same; in other games the second hands move with the
hands of the first item.

A preview strip is an image with a row for each action, showing frames of it from left to right.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from enum import Enum
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Euler, Vector
from numpy.typing import NDArray

from ....blender import action as blender_action
from ....blender import armature, compat, scope
from ....core import files
from ....core.body import Part, Side, body_of
from ....core.errors import ReadError, WriteError
from ....core.report import Report, say
from ....formats.xray import hud
from ....formats.xray.game_tree import GameTree
from ....formats.xray.hud import FRAMES_PER_SECOND, Generation
from .. import paths
from ..bones.properties import game_name
from ..models.importing import ImportedModel, import_model
from ..motions import library
from ..options import Game, HudSceneOptions, ModelImportOptions, Stance
from . import attachments, pairs, placing, sections
from .pairs import MotionFiles
from .sections import Setup, find_setup
from .state import HudScene

if TYPE_CHECKING:
    from ....blender.typed import Context, Object, Scene


FIRST_ACTIONS = ("anm_idle", "anim_idle")
ARM = {Part.ARM, Part.HAND, Part.HELPER}
REACH = 1.5
"""Metres from the camera within which hands and weapon are."""
RAYS = 9
"""Rays through the picture, in each direction."""
STEP = 0.01
"""Metres from what a ray met to where it goes on."""
ARM_MASK_PREFIX = "Motionbridge Other Arm"
"""Prefix of the names of the Mask modifiers that hide an arm."""


def new_scene(context: Context, options: HudSceneOptions, report: Report) -> HudScene:
    """Create the objects in a new collection; sets the scene's camera, the game's frame rate and the aspect ratio.

    Raises `ReadError` if a config, a model or a bone is missing, before the scene is changed.
    """
    setup = find_setup(options, report)
    other = _beside(setup, options, report) if options.beside else None
    in_the_way = _in_the_way(context, options)
    into = scope.target_collection(context, report, setup.name)
    camera = _camera(setup.name, options, into)
    carrier = add_camera_parent(setup.name, camera, into)
    placing.add_crosshair(setup.name, camera, into)
    result = _add_item(context, setup, options, report, (into, camera, carrier))
    if other is not None:
        result.beside = _add_item(context, other, _of_beside(options), report, (into, camera, carrier))
        _use_one_arm_each(result, result.beside, setup, report)
        if options.game is not Game.ANOMALY:
            result.beside.aim.parent, result.beside.hands.motionbridge_hud.follows = result.hands, result.hands
            result.beside.hands.matrix_basis.identity()
            result.beside.aim.matrix_basis.identity()
        result.beside.hands.motionbridge_hud.view = None  # the first item's hands move it
        result.hands.motionbridge_hud.active_action = result.hands.motionbridge_hud.active_action
    _set_scene(context, result, options)
    for obj in in_the_way:
        obj.hide_set(True, view_layer=context.view_layer)
        obj.hide_render = True
    result.hidden = [obj.name for obj in in_the_way]
    scope.make_current(context, [result.hands], result.hands)
    return result


def _in_the_way(context: Context, options: HudSceneOptions) -> list[Object]:
    """Return the visible objects that rays from the camera through its picture meet within `REACH`, with armatures."""
    height = math.tan(math.radians(hud.VIEWS[options.game.label].field_of_view) / 2)
    width = height * options.aspect.size[0] / options.aspect.size[1]
    scene: Any = context.scene
    graph = context.evaluated_depsgraph_get()
    result: dict[Any, None] = {}
    for x, z in product(np.linspace(-1, 1, RAYS), repeat=2):
        direction = Vector((x * width, 1.0, z * height)).normalized()
        distance = 0.0
        while distance < REACH:
            start = direction * distance
            is_hit, position, _, _, obj, _ = scene.ray_cast(graph, start, direction, distance=REACH - distance)
            if not is_hit:
                break
            result[obj.original] = None
            distance += (position - start).length + STEP
    layer = set(scope.objects_of(context.view_layer))
    result |= dict.fromkeys(rig for obj in list(result) if (rig := obj.find_armature()) is not None)
    return [obj for obj in result if obj in layer and obj.visible_get(view_layer=context.view_layer)]


def _of_beside(options: HudSceneOptions) -> HudSceneOptions:
    """Return the options for the item of the other hand."""
    return HudSceneOptions(**vars(options) | {"section": options.beside, "item": "", "beside": ""})


def _beside(setup: Setup, options: HudSceneOptions, report: Report) -> Setup:
    """Return the setup of the other hand's item. Raises `ReadError` if it cannot be held together with the first."""
    other = find_setup(_of_beside(options), report)
    if Generation.ONE_MODEL in (setup.generation, other.generation) or not setup.values:
        raise ReadError(
            "one model has both arms and the weapon, or no section is chosen, so nothing can be held beside it",
            remedy="Choose two sections of Clear Sky or a later game",
        )
    if hud.attach_place(setup.values) == hud.attach_place(other.values):
        raise ReadError(
            say("{} and {} are held in the same hand", setup.name, other.name),
            remedy="Choose sections with different values of attach_place_idx",
        )
    return other


def _use_one_arm_each(first: HudScene, second: HudScene, setup: Setup, report: Report) -> None:
    """Hide the arm of each pair of hands that is shown by the other pair."""
    sides = (Side.LEFT, Side.RIGHT) if hud.attach_place(setup.values) == 0 else (Side.RIGHT, Side.LEFT)
    for mesh, hidden in zip((first, second), sides, strict=True):
        bones = list(mesh.hands.data.bones)
        numbers = {bone.name: number for number, bone in enumerate(bones)}
        parents = [numbers[bone.parent.name] if bone.parent is not None else -1 for bone in bones]
        body = body_of([game_name(bone) for bone in bones], parents)
        is_arm = [part in ARM and side is hidden for part, side in zip(body.parts, body.sides, strict=True)]
        names = [bone.name for bone, own in zip(bones, is_arm, strict=True) if own]
        if not names:
            report.warn("the names of its bones do not tell its arms, so both are shown", mesh.hands.name)
        armature.hide_meshes(mesh.hands, names, ARM_MASK_PREFIX)


def _add_item(
    context: Context, setup: Setup, options: HudSceneOptions, report: Report, shared: tuple[Any, Any, Any]
) -> HudScene:
    """Create hands, item, points and motions; ``shared``: collection, camera and its parent."""
    into, camera, carrier = shared

    def imported(path: Path, tree: GameTree) -> ImportedModel:
        of_model = ModelImportOptions(textures=options.textures)
        model = _with_bones(import_model(context, path, of_model, report, tree=tree, into=into), path)
        # The camera should show the image of the game, so bones must not be drawn over the meshes.
        model.rig.show_in_front = False
        return model

    first = imported(setup.hands or setup.item, setup.hands_tree)
    second = imported(setup.item, setup.item_tree) if setup.hands is not None else None
    aim: Any = bpy.data.objects.new(f"{setup.name} Aim", None)
    aim.empty_display_size = 0.05
    into.objects.link(aim)
    first.rig.parent, aim.motionbridge_hud.hands = aim, first.rig
    offsets = {Stance.HIP: np.eye(4), Stance.AIM: setup.placing.aim, Stance.LAUNCHER: setup.placing.launcher}
    placing.set_transform(aim, offsets[options.stance], placing.AIM)
    placing.set_transform(first.rig, setup.placing.hands, placing.HANDS)
    hud_scene = HudScene(into, aim, first.rig, camera, carrier)
    if second is not None:
        hud_scene.item = second.rig
        placing.parent_to_bone(second.rig, first.rig, setup.anchor)
        placing.set_transform(second.rig, setup.placing.item, placing.HANDS)
        for bone in second.rig.pose.bones:
            if bone.parent is None:
                armature.pin(bone, (placing.QUARTER_TURN, 0.0, 0.0))
    if setup.values:
        hud_scene.points = placing.add_points(hud_scene.item or hud_scene.hands, setup.values, into, report)
        placing.remember(hud_scene, setup.values, options.stance, options.aspect)
        hud_scene.hands.motionbridge_hud.attached = attachments.of_new(setup.item_values)
        sections.remember(hud_scene.hands, options)
    if options.motions:
        hands_files = MotionFiles(first, setup.hands or setup.item, options.hands_motions, report)
        item_files = MotionFiles(second, setup.item, "", report) if second is not None else None
        _import_motions(context, hud_scene, setup, (hands_files, item_files), report)
    return hud_scene


def _with_bones(model: ImportedModel, path: Path) -> ImportedModel:
    if model.rig is None:
        raise ReadError(
            "this model has no bones, so nothing can be attached to it", file=str(path), remedy="Choose another model"
        )
    return model


def _camera(name: str, options: HudSceneOptions, into: bpy.types.Collection) -> Any:
    view = hud.VIEWS[options.game.label]
    data = bpy.data.cameras.new(f"{name} Camera")
    data.sensor_fit = "VERTICAL"
    data.angle_y = math.radians(view.field_of_view)
    data.clip_start = view.near
    camera = bpy.data.objects.new(data.name, data)
    camera.rotation_euler = (placing.QUARTER_TURN, 0.0, 0.0)
    into.objects.link(camera)
    return camera


def _set_scene(context: Context, hud_scene: HudScene, options: HudSceneOptions) -> None:
    scene = context.scene
    scene.camera = hud_scene.camera
    scene.render.resolution_x, scene.render.resolution_y = options.aspect.size
    scene.render.pixel_aspect_x = scene.render.pixel_aspect_y = 1.0
    scene.render.fps, scene.render.fps_base = round(FRAMES_PER_SECOND), 1.0
    data = hud_scene.hands.animation_data
    if data is not None and data.action is not None:
        first, count = blender_action.frame_range(data.action)
        scene.frame_start, scene.frame_end = first, first + count - 1
        scene.frame_set(first)


# Motions --------------------------------------------------------------------------------------------------------------


def _import_motions(
    context: Context,
    hud_scene: HudScene,
    setup: Setup,
    files: tuple[MotionFiles, MotionFiles | None],
    report: Report,
) -> None:
    """Import the motions that the section's actions play, or all without a section, and play the first idle action."""
    hands, item = files
    listed = pairs.find_pairs(setup.actions, setup.generation, hands, item, report)
    pairs_in_files = [pair for pair in listed if pair.exists]
    hud_scene.hands_actions = hands.import_named(
        context, [pair.hands for pair in pairs_in_files] if setup.values else None, report
    )
    if item is not None:
        names = [pair.item for pair in pairs_in_files if pair.item] if setup.values else None
        hud_scene.item_actions = item.import_named(context, names, report)
    hud_scene.view_actions = import_effects(
        hud_scene.view, setup.hands_tree, [pair.hands for pair in pairs_in_files], report
    )
    pairs.remember(hud_scene, setup.name, listed)
    rows = hud_scene.hands.motionbridge_hud.actions
    playable = [number for number, row in enumerate(rows) if row.hands is not None]
    idle = [number for number in playable if rows[number].name in FIRST_ACTIONS]
    if playable:
        hud_scene.hands.motionbridge_hud.active_action = (idle or playable)[0]
        return
    for rig, actions in ((hud_scene.hands, hud_scene.hands_actions), (hud_scene.item, hud_scene.item_actions)):
        if actions:
            library.play(context, rig, actions.get(hud.IDLE) or next(iter(actions.values())))


# Camera effects -------------------------------------------------------------------------------------------------------


def add_camera_parent(name: str, camera: Any, into: bpy.types.Collection) -> Any:
    """Create an empty that moves the camera: the camera is at its origin and looks along its +Y axis."""
    carrier = bpy.data.objects.new(f"{name} View", None)
    carrier.empty_display_size = 0.02
    into.objects.link(carrier)
    camera.parent = carrier
    return carrier


def import_effects(carrier: Object, tree: GameTree, names: Iterable[str], report: Report) -> dict[str, Any]:
    """Import camera effects of hands' motions from the game; returns motion name -> action.

    Motions without one are skipped. A file that cannot be read is reported and left out.
    """
    result: dict[str, Any] = {}
    for name in dict.fromkeys(names):
        file = tree.find_data(hud.CAMERA_EFFECTS.format(name))
        if file is None:
            continue
        try:
            result[name] = paths.import_action(str(file), compat.slot_name(carrier), report)
        except ReadError as refusal:
            report.warn(say("camera effect left out: {}", str(refusal).rstrip(".")))
    return result


# Preview strips -------------------------------------------------------------------------------------------------------

MOST_IMAGES = 2_000
SUNS = (
    (2.0, (0.0, 0.0)),
    (1.5, (-1.2, 0.0)),
    (0.8, (0.0, 1.2)),
    (0.8, (0.0, -1.2)),
)
"""Lights for Cycles: watts per m², angles about the camera's x and y axes: from the eye, above and both sides."""
BACKGROUND = 0.18
"""Grey level of the background."""
CYCLES_SAMPLES = 8
GAP = 4
"""Pixels between two images, which are transparent."""


class Renderer(Enum):
    """Render engine of the images, by Blender's name."""

    WORKBENCH = "BLENDER_WORKBENCH"
    CYCLES = "CYCLES"


def chosen_rows(hands: Object, names: str) -> list[int]:
    """Return rows of actions by comma-separated keys with wildcard ``*``; "" for the active one.

    Rows without a motion of the hands are left out. Raises `WriteError` if none is left.
    """
    rows = hands.motionbridge_hud.actions
    masks = [name.strip() for name in names.split(",") if name.strip()]
    wanted = {hands.motionbridge_hud.active_action} if not masks else set()
    result = [
        number
        for number, row in enumerate(rows)
        if row.hands is not None and (number in wanted or any(fnmatchcase(row.name, mask) for mask in masks))
    ]
    if not result:
        raise WriteError(
            say("no action is named {}", names) if masks else "the active action has no motion",
            remedy="Choose actions of the list; * stands for all",
        )
    return result


def render_strip(
    context: Context, hands: Object, numbers: Sequence[int], path: str, *, columns: int, height: int, renderer: Renderer
) -> None:
    """Render actions of the list into a PNG; ``columns`` images of each, from its first frame to its last.

    All changed settings of the scene are restored. Raises `WriteError` for too many images, a scene without a camera or
    a file that cannot be written.
    """
    scene = context.scene
    files.refuse_unwritable(path)
    if not Path(path).parent.is_dir():
        raise WriteError("its folder does not exist", file=path, remedy="Create the folder first")
    if len(numbers) * columns > MOST_IMAGES:
        words = "more than {} pictures are too many"
        raise WriteError(say(words, MOST_IMAGES), remedy="Choose fewer actions or frames")
    if scene.camera is None:
        raise WriteError("the scene has no camera", remedy="Set the scene's camera in its properties")
    width = round(height * scene.render.resolution_x / scene.render.resolution_y)
    across, down = width + GAP, height + GAP
    sheet = np.zeros((len(numbers) * down - GAP, columns * across - GAP, 4), np.float32)
    properties = hands.motionbridge_hud
    active = properties.active_action
    with (
        scope.kept_frame(context),
        _set_up(context, (width, height), renderer) as file,
        scope.progress(context, len(numbers) * columns) as step,
    ):
        try:
            for line, number in enumerate(numbers):
                frames = pairs.play(context, hands, number) or (scene.frame_start, scene.frame_end)
                row = properties.actions[number]
                for column, frame in enumerate(np.linspace(*frames, columns)):
                    scene.frame_set(round(float(frame)))
                    scene.render.stamp_note_text = f"{row.name}  {scene.frame_current}"
                    bottom, left = (len(numbers) - 1 - line) * down, column * across  # image rows start at the bottom
                    cell = sheet[bottom : bottom + height, left : left + width]
                    cell[:] = _rendered(scene, file, width, height)
                    step(line * columns + column + 1)
        finally:
            pairs.play(context, hands, active)
    _save(sheet, path)


def _rendered(scene: Scene, file: Path, width: int, height: int) -> NDArray[np.float32]:
    """Return pixels (height, width, 4) of the current frame."""
    bpy.ops.render.render(write_still=True, scene=scene.name)
    image: Any = bpy.data.images.load(str(file))
    try:
        pixels = np.empty(width * height * 4, np.float32)
        image.pixels.foreach_get(pixels)
    finally:
        bpy.data.images.remove(image)
    result = pixels.reshape(height, width, 4)
    alpha = result[..., 3:]
    result[..., :3] = result[..., :3] * alpha + BACKGROUND * (1 - alpha)
    alpha[:] = 1.0
    return result


def _save(sheet: NDArray[np.float32], path: str) -> None:
    image: Any = bpy.data.images.new("Preview", sheet.shape[1], sheet.shape[0], alpha=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "strip.png")
            image.pixels.foreach_set(sheet.ravel())
            image.filepath_raw, image.file_format = str(file), "PNG"
            image.save()
            files.write_atomically(path, file.read_bytes())  # Blender itself would create missing folders
    finally:
        bpy.data.images.remove(image)


@contextmanager
def _set_up(context: Any, size: tuple[int, int], renderer: Renderer) -> Iterator[Path]:
    """Set up rendering of small images that show the action's name; yields the file that each is written to."""
    scene = context.scene
    render = scene.render
    with tempfile.TemporaryDirectory() as folder, ExitStack() as after:
        file = Path(folder, "cell.png")
        settings: list[tuple[Any, dict[str, Any]]] = [
            (render, {"engine": renderer.value, "filepath": str(file), "use_file_extension": False}),
            (render, {"resolution_x": size[0], "resolution_y": size[1], "resolution_percentage": 100}),
            (render, {"film_transparent": True}),
            (scene.view_settings, {"view_transform": "Standard", "look": "None", "exposure": 0.0, "gamma": 1.0}),
            (render, {"use_border": False, "use_compositing": False, "use_sequencer": False}),
            (render, dict.fromkeys(_stamps(render), False) | {"use_stamp": True, "use_stamp_note": True}),
            (render, {"stamp_font_size": max(size[1] // 20, 8), "stamp_note_text": ""}),
            (render.image_settings, {"file_format": "PNG", "color_mode": "RGBA", "color_depth": "8"}),
            (scene.display.shading, {"light": "STUDIO", "color_type": "TEXTURE"}),
        ]
        if renderer is Renderer.CYCLES:
            settings.append((scene.cycles, {"samples": CYCLES_SAMPLES, "use_denoising": False}))
            for energy, angles in SUNS:
                sun: Any = bpy.data.lights.new("Preview", "SUN")
                after.callback(bpy.data.lights.remove, sun)  # removes its object too
                sun.energy, sun.use_shadow = energy, False
                obj = bpy.data.objects.new("Preview", sun)
                obj.matrix_world = scene.camera.matrix_world @ Euler((*angles, 0.0)).to_matrix().to_4x4()
                scene.collection.objects.link(obj)
        for owner, values in settings:
            for name, value in values.items():
                after.callback(setattr, owner, name, getattr(owner, name))
                setattr(owner, name, value)
        yield file


def _stamps(render: bpy.types.RenderSettings) -> list[str]:
    """Return the render properties of all metadata that can be stamped into an image."""
    return [prop.identifier for prop in render.bl_rna.properties if prop.identifier.startswith("use_stamp")]
