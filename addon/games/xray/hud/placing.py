"""Where hands and weapon are: values of the config, shown as transforms, and transforms read back as values.

The hands keep the values of every stance and both aspects. Those of what is shown are compared with the transforms
whenever something asks for them, so that moving an object is all that a person does to change a value. Points of the
item are empties.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np
from mathutils import Euler, Matrix
from numpy.typing import NDArray

from ....core.errors import ReadError
from ....core.report import Report
from ....formats.xray import hud
from ....formats.xray.ltx.document import cleaned, numbers
from ..bones.properties import game_name
from ..options import Aspect, Stance
from . import holder_of, pairs

if TYPE_CHECKING:
    from ....blender.typed import Object
    from .scene import HudScene

Floats = NDArray[np.float64]

_EXCHANGED = np.eye(4)[[0, 2, 1, 3]]
"""C: X-Ray's axes (x right, y up, z forward) to Blender's and back."""
SAME = 2e-6
"""Metres, and elements of rotation matrices, that Blender's 32-bit transforms do not tell apart."""
HANDS, AIM, POINT = "YXZ", "XZY", ""
"""Orders of Euler angles that are those of orientations in the configs, and of aiming; a point has no angles."""
QUARTER = math.pi / 2


class Part(NamedTuple):
    """An object and the keys of its place: position, then angles (one key, one for each angle, none for a point)."""

    shown: Any
    order: str
    position: str
    angles: tuple[str, ...]


def place(shown: Any, matrix: Floats, order: str) -> None:
    """Location and Euler angles of an object: ``matrix`` (4, 4) of the game, relative to what the object is below."""
    there: Any = Matrix((_EXCHANGED @ matrix @ _EXCHANGED).tolist())
    shown.location = there.to_translation()
    if order != POINT:
        shown.rotation_mode = order
        shown.rotation_euler = there.to_euler(order)


def hang(shown: Any, rig: Object, anchor: str) -> None:
    """Make an object a child of a bone of an armature object, such that its transform is that of the config.

    ``anchor`` is the game's name of the bone. Raises `ReadError` where the armature has none of that name.
    """
    bone = next((bone for bone in rig.data.bones if game_name(bone).lower() == anchor.lower()), None)
    if bone is None:
        raise ReadError(
            f"{rig.name!r} has no bone {anchor!r} to attach {shown.name!r} to",
            remedy="Choose another model, or the name of one of its bones",
        )
    shown.parent, shown.parent_type, shown.parent_bone = rig, "BONE", bone.name
    # Blender counts from the tail; bones of the game have their z axis where objects have their y axis.
    from_tail = Matrix.Translation((0.0, -bone.length, 0.0))
    shown.matrix_parent_inverse = from_tail @ Euler((-QUARTER, 0.0, 0.0)).to_matrix().to_4x4()


def remember(made: HudScene, values: Mapping[str, str], stance: Stance, aspect: Aspect) -> None:
    """Store every value that places something, and show those of a stance and an aspect."""
    properties = made.hands.motionbridge_hud
    for key, shown in made.points.items():
        point = properties.points.add()
        point.name, point.shown = key, shown
    properties.item, properties.one_model = made.item, made.item is None
    properties.shown_stance, properties.shown_aspect = stance.name, aspect.name
    properties.stance, properties.aspect = stance.name, aspect.name  # shows nothing while there are no values
    for key in dict.fromkeys(_all_keys(made.hands)):
        row = properties.values.add()
        row.name, row.is_missing = key, key not in values
        row.text = row.saved = values.get(key, "")


def _all_keys(hands: Object) -> Iterable[str]:
    for wide in (False, True):
        for stance in Stance:
            for part in _parts(hands, stance, wide=wide):
                yield from (part.position, *part.angles)


def _parts(hands: Object, stance: Stance, *, wide: bool) -> list[Part]:
    """The objects that have a place, with its keys; none for an aim that the config does not know."""
    properties, aim = hands.motionbridge_hud, hands.parent
    suffix = hud.WIDE_SUFFIX if wide else ""
    if properties.one_model:
        found = [Part(hands, HANDS, "position", ("orientation",))]
        if stance is Stance.AIM:
            found.append(Part(aim, AIM, "zoom_offset", ("zoom_rotate_x", "zoom_rotate_y")))
    else:
        own = Part(hands, HANDS, f"hands_position{suffix}", (f"hands_orientation{suffix}",))
        found = (
            [own] if properties.follows is None else []
        )  # in most games both hands are where the first item has them
        if properties.item is not None:
            found.append(Part(properties.item, HANDS, "item_position", ("item_orientation",)))
        if stance is not Stance.HIP and properties.follows is None:
            prefix = "aim" if stance is Stance.AIM else "gl"
            found.append(Part(aim, AIM, f"{prefix}_hud_offset_pos{suffix}", (f"{prefix}_hud_offset_rot{suffix}",)))
    return [*found, *(Part(row.shown, POINT, row.name, ()) for row in properties.points)]


def _composed(part: Part, position: Sequence[float], angles: Sequence[float]) -> Floats:
    """(4, 4) that the values of a part mean."""
    if part.order == POINT:
        return hud.pointed(position)
    return hud.placed(position, angles) if part.order == HANDS else hud.aimed(position, angles)


def shown_parts(hands: Object) -> list[Part]:
    """Those of the stance and the aspect that are shown."""
    properties = hands.motionbridge_hud
    return _parts(hands, Stance[properties.shown_stance], wide=properties.shown_aspect == Aspect.WIDE.name)


def part_of(shown: Any) -> Part | None:
    """The part that an object belongs to, such as a mesh of the weapon; None without one, or without values.

    The hands stand for the offset of the stance while they aim.
    """
    hands = holder_of(shown)
    if hands is None or not len(hands.motionbridge_hud.values):
        return None
    parts = {part.shown: part for part in shown_parts(hands)}
    while shown is not None and shown not in parts:
        shown = shown.parent
    if shown == hands:
        return parts.get(hands.parent, parts.get(hands))
    return parts.get(shown)


def handle_of(shown: Object) -> Any:
    """Where a person takes hold of a part, in the world: hands are moved at the weapon, which is in the picture."""
    hands = holder_of(shown)
    if hands is None or shown not in {hands, hands.parent}:
        return shown.matrix_world.translation
    properties = hands.motionbridge_hud
    points = (row.shown for row in properties.points if row.shown is not None)
    return (pairs.item_of(hands) or next(points, shown)).matrix_world.translation


def turning_axes(part: Part) -> list[Any]:
    """The axes that the three Euler angles of a part turn about, in the frame of what the part is below."""
    angles, turned = part.shown.rotation_euler, Matrix.Identity(3)
    axes: dict[str, Any] = {}
    axis: Any
    for axis in reversed(part.order):
        axes[axis] = turned.transposed()["XYZ".index(axis)].copy()
        turned = turned @ Matrix.Rotation(angles["XYZ".index(axis)], 3, axis)
    return [axes[axis] for axis in "XYZ" if axis in axes]


def _text(hands: Object, key: str) -> str:
    """The value of a key; of a missing twin for wide screens that of the plain key."""
    rows = hands.motionbridge_hud.values
    row = rows[key]
    plain = rows.get(key.removesuffix(hud.WIDE_SUFFIX))
    return cleaned(plain.text if row.is_missing and not row.text and plain is not None else row.text)


def _values(hands: Object, part: Part) -> tuple[list[float], list[float]]:
    """Position and angles, three numbers each, that the texts say."""
    position = numbers(_text(hands, part.position), 3)
    if len(part.angles) == 1:
        return position, numbers(_text(hands, part.angles[0]), 3)
    return position, [*(numbers(_text(hands, key), 1)[0] for key in part.angles), 0.0]


def show(hands: Any) -> None:
    """Read back what was moved, then show the stance and the aspect that are chosen."""
    properties = hands.motionbridge_hud
    chosen, there = (properties.stance, properties.aspect), (properties.shown_stance, properties.shown_aspect)
    if chosen == there or not len(properties.values):
        return
    for key, text in moved(hands).items():
        properties.values[key].text = text
    properties.shown_stance, properties.shown_aspect = properties.stance, properties.aspect
    if hands.parent is not None:
        place(hands.parent, np.eye(4), AIM)
    for part in shown_parts(hands):
        if part.shown is not None:
            place(part.shown, _composed(part, *_values(hands, part)), part.order)
    for scene in hands.users_scene:
        scene.render.resolution_x, scene.render.resolution_y = Aspect[properties.aspect].value


def moved(hands: Object) -> dict[str, str]:
    """Config key -> new value of each object that was moved; empty where nothing was.

    Six decimals, as the game's own tuner writes them. Of an object only its position or only its angles are given
    where the other is as it was.
    """
    if not len(hands.motionbridge_hud.values):
        return {}
    found: dict[str, str] = {}
    for part in shown_parts(hands):
        if part.shown is None:
            continue
        wanted = _composed(part, *_values(hands, part))
        there = _EXCHANGED @ np.array(part.shown.matrix_basis, np.float64) @ _EXCHANGED
        position, angles = (hud.aimed_back if part.order == AIM else hud.placed_back)(there)
        if not np.allclose(there[:3, 3], wanted[:3, 3], rtol=SAME, atol=SAME):
            found[part.position] = _written(position)
        if part.angles and not np.allclose(there[:3, :3], wanted[:3, :3], rtol=0, atol=SAME):
            single = len(part.angles) > 1
            found |= {key: _written(angles[[n]] if single else angles) for n, key in enumerate(part.angles)}
    return found


def _written(values: Floats) -> str:
    return ", ".join(f"{value:.6f}" for value in values + 0.0)


def texts(hands: Object) -> dict[str, str]:
    """Key -> text of the place that is shown, as it is now."""
    now = moved(hands)
    keys = [key for part in shown_parts(hands) for key in (part.position, *part.angles)]
    return {key: now.get(key, _text(hands, key)) for key in keys} if len(hands.motionbridge_hud.values) else {}


def changed(hands: Any) -> dict[str, str]:
    """Key -> text of every value, of any stance and aspect, that is not what the config says."""
    now = {row.name: row.text for row in hands.motionbridge_hud.values} | moved(hands)
    return {key: text for key, text in now.items() if text != hands.motionbridge_hud.values[key].saved}


def settle(hands: Object, written: Mapping[str, str]) -> None:
    """Remember that values are in the config now."""
    rows = hands.motionbridge_hud.values
    for key, text in written.items():
        row = rows.get(key)
        if row is not None:
            row.text = row.saved = text
            row.is_missing = False


# Points and crosshair -------------------------------------------------------------------------------------------------

POINT_SIZE = 0.01
"""Metres."""
INNER, OUTER = 0.006, 0.018
"""Metres from the centre to the ends of the crosshair's lines, one metre in front of the camera."""


def add_points(rig: Object, values: Mapping[str, str], into: bpy.types.Collection, report: Report) -> dict[str, Any]:
    """Key -> an empty below its bone, for each point of the config; a bone that the model lacks is reported.

    ``rig`` the item, of Shadow of Chernobyl the whole model. The location of an empty is the point's value.
    """
    found = {}
    for key, bone_key in hud.POINTS.items():
        bone = values.get(bone_key, "")
        if not bone or key not in values:
            continue
        shown = bpy.data.objects.new(key, None)
        try:
            hang(shown, rig, bone)
        except ReadError as refusal:
            bpy.data.objects.remove(shown)
            report.warn(refusal.problem, f"{bone_key} = {bone}")
            continue
        place(shown, hud.pointed(numbers(values[key], 3)), POINT)
        shown.empty_display_type, shown.empty_display_size = "SPHERE", POINT_SIZE
        shown.show_name = shown.show_in_front = True
        into.objects.link(shown)
        found[key] = shown
    return found


def add_crosshair(name: str, camera: Object, into: bpy.types.Collection) -> Any:
    """Four lines around the centre of the camera's picture, in front of everything; renders leave them out."""
    ends = [(x * far, y * far, -1.0) for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1)) for far in (INNER, OUTER)]
    mesh = bpy.data.meshes.new(f"{name} Crosshair")
    mesh.from_pydata(ends, [(first, first + 1) for first in range(0, len(ends), 2)], [])
    shown = bpy.data.objects.new(mesh.name, mesh)
    shown.parent = camera
    shown.show_in_front = shown.hide_select = shown.hide_render = True
    into.objects.link(shown)
    return shown
