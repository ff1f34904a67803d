"""Positions and angles of hands, weapon and points: config values shown as transforms, and read back from them.

The armature of the hands stores the values of every stance and both aspects. Those that are shown are compared with the
transforms whenever they are needed, so users change a value just by moving an object. Points of the item are empties.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np
from mathutils import Euler, Matrix
from numpy.typing import NDArray

from ....core.errors import ReadError, WriteError
from ....core.report import Report, say
from ....formats.xray import hud
from ....formats.xray.ltx.document import cleaned, numbers
from ..bones.properties import game_name
from ..options import Aspect, Stance
from .state import HudScene, holder_of, item_of

if TYPE_CHECKING:
    from ....blender.typed import Object

Floats = NDArray[np.float64]

_AXES = np.eye(4)[[0, 2, 1, 3]]
"""Matrix C from X-Ray's axes (x right, y up, z forward) to Blender's and back."""
TOLERANCE = 2e-6
"""Tolerance of Blender's 32-bit transforms: metres, and elements of rotation matrices."""
HANDS, AIM, POINT = "YXZ", "XZY", ""
"""Euler orders that match the angles of orientations and of aiming in the configs; points have no angles."""
QUARTER_TURN = math.pi / 2


class Part(NamedTuple):
    """An object and its config keys: of its position, and of its angles (one for all, one for each, or none for
    points).
    """

    obj: Any
    order: str
    position: str
    angles: tuple[str, ...]


def set_transform(obj: Any, matrix: Floats, order: str) -> None:
    """Set location and Euler angles of an object; ``matrix`` (4, 4) in the game's axes, relative to its parent."""
    converted: Any = Matrix((_AXES @ matrix @ _AXES).tolist())
    obj.location = converted.to_translation()
    if order != POINT:
        obj.rotation_mode = order
        obj.rotation_euler = converted.to_euler(order)


def parent_to_bone(obj: Any, rig: Object, anchor: str) -> None:
    """Parent an object to a bone of an armature object so that its transform equals the config's values.

    ``anchor``: the game's name of the bone. Raises `ReadError` if the armature has no bone of that name.
    """
    bone = next((bone for bone in rig.data.bones if game_name(bone).lower() == anchor.lower()), None)
    if bone is None:
        raise ReadError(
            say("{!r} has no bone {!r} to attach {!r} to", rig.name, anchor, obj.name),
            remedy="Choose another model, or the name of one of its bones",
        )
    obj.parent, obj.parent_type, obj.parent_bone = rig, "BONE", bone.name
    # Blender parents to the bone's tail; the z axis of the game's bones is the y axis of objects.
    from_tail = Matrix.Translation((0.0, -bone.length, 0.0))
    obj.matrix_parent_inverse = from_tail @ Euler((-QUARTER_TURN, 0.0, 0.0)).to_matrix().to_4x4()


def remember(hud_scene: HudScene, values: Mapping[str, str], stance: Stance, aspect: Aspect) -> None:
    """Store all config values of positions and angles, and which stance and aspect are shown."""
    properties = hud_scene.hands.motionbridge_hud
    for key, obj in hud_scene.points.items():
        point = properties.points.add()
        point.name, point.object = key, obj
    properties.item, properties.one_model = hud_scene.item, hud_scene.item is None
    properties.shown_stance, properties.shown_aspect = stance.name, aspect.name
    properties.stance, properties.aspect = stance.name, aspect.name  # updates nothing while there are no values
    for key in dict.fromkeys(_all_keys(hud_scene.hands)):
        row = properties.values.add()
        row.name, row.is_missing = key, key not in values
        row.text = row.saved = values.get(key, "")


def _all_keys(hands: Object) -> Iterable[str]:
    for wide in (False, True):
        for stance in Stance:
            for part in _parts(hands, stance, wide=wide):
                yield from (part.position, *part.angles)


def _parts(hands: Object, stance: Stance, *, wide: bool) -> list[Part]:
    """Return the objects with their config keys, without those that the stance or the scene does not use."""
    properties, aim = hands.motionbridge_hud, hands.parent
    suffix = hud.WIDE_SUFFIX if wide else ""
    if properties.one_model:
        parts = [Part(hands, HANDS, "position", ("orientation",))]
        if stance is Stance.AIM:
            parts.append(Part(aim, AIM, "zoom_offset", ("zoom_rotate_x", "zoom_rotate_y")))
    else:
        own = Part(hands, HANDS, f"hands_position{suffix}", (f"hands_orientation{suffix}",))
        parts = (
            [own] if properties.follows is None else []
        )  # in most games the second hands follow those of the first item
        if properties.item is not None:
            parts.append(Part(properties.item, HANDS, "item_position", ("item_orientation",)))
        if stance is not Stance.HIP and properties.follows is None:
            prefix = "aim" if stance is Stance.AIM else "gl"
            parts.append(Part(aim, AIM, f"{prefix}_hud_offset_pos{suffix}", (f"{prefix}_hud_offset_rot{suffix}",)))
    return [*parts, *(Part(row.object, POINT, row.name, ()) for row in properties.points)]


def _matrix_of(part: Part, position: Sequence[float], angles: Sequence[float]) -> Floats:
    """Return the matrix (4, 4) of a part's values."""
    if part.order == POINT:
        return hud.point_matrix(position)
    return hud.placement_matrix(position, angles) if part.order == HANDS else hud.aim_matrix(position, angles)


def shown_parts(hands: Object) -> list[Part]:
    """Return the parts of the shown stance and aspect."""
    properties = hands.motionbridge_hud
    return _parts(hands, Stance[properties.shown_stance], wide=properties.shown_aspect == Aspect.WIDE.name)


def part_of(obj: Any) -> Part | None:
    """Return the part that an object, such as a mesh of the weapon, belongs to; None without one, or without values.

    For the hands it is the offset of the shown stance, if that has one.
    """
    hands = holder_of(obj)
    if hands is None or not len(hands.motionbridge_hud.values):
        return None
    parts = {part.obj: part for part in shown_parts(hands)}
    while obj is not None and obj not in parts:
        obj = obj.parent
    if obj == hands:
        return parts.get(hands.parent, parts.get(hands))
    return parts.get(obj)


def handle_of(obj: Object) -> Any:
    """Return the world position of a part's gizmo: for the hands at the weapon, which is in the camera's view."""
    hands = holder_of(obj)
    if hands is None or obj not in {hands, hands.parent}:
        return obj.matrix_world.translation
    properties = hands.motionbridge_hud
    points = (row.object for row in properties.points if row.object is not None)
    return (item_of(hands) or next(points, obj)).matrix_world.translation


def rotation_axes(part: Part) -> list[Any]:
    """Return the rotation axes of the three Euler angles of a part, in its parent's space."""
    angles, turned = part.obj.rotation_euler, Matrix.Identity(3)
    axes: dict[str, Any] = {}
    axis: Any
    for axis in reversed(part.order):
        axes[axis] = turned.transposed()["XYZ".index(axis)].copy()
        turned = turned @ Matrix.Rotation(angles["XYZ".index(axis)], 3, axis)
    return [axes[axis] for axis in "XYZ" if axis in axes]


def _text(hands: Object, key: str) -> str:
    """Return the value of a key; for a missing wide-screen key the value of the plain key.

    Raises `WriteError` if the scene stores no value of the key.
    """
    rows = hands.motionbridge_hud.values
    row = rows.get(key)
    if row is None:
        raise WriteError(say("{!r} stores no value of {}", hands.name, key), remedy="Create the HUD scene again")
    plain = rows.get(key.removesuffix(hud.WIDE_SUFFIX))
    return cleaned(plain.text if row.is_missing and not row.text and plain is not None else row.text)


def _values(hands: Object, part: Part) -> tuple[list[float], list[float]]:
    """Return a part's position and angles from the stored texts, three numbers each."""
    position = numbers(_text(hands, part.position), 3)
    if len(part.angles) == 1:
        return position, numbers(_text(hands, part.angles[0]), 3)
    return position, [*(numbers(_text(hands, key), 1)[0] for key in part.angles), 0.0]


def show(hands: Any) -> None:
    """Store the values of moved objects, then show the chosen stance and aspect."""
    properties = hands.motionbridge_hud
    chosen, current = (properties.stance, properties.aspect), (properties.shown_stance, properties.shown_aspect)
    if chosen == current or not len(properties.values):
        return
    for key, text in moved_values(hands).items():
        properties.values[key].text = text
    properties.shown_stance, properties.shown_aspect = properties.stance, properties.aspect
    if hands.parent is not None:
        set_transform(hands.parent, np.eye(4), AIM)
    for part in shown_parts(hands):
        if part.obj is not None:
            set_transform(part.obj, _matrix_of(part, *_values(hands, part)), part.order)
    for scene in hands.users_scene:
        scene.render.resolution_x, scene.render.resolution_y = Aspect[properties.aspect].size


def moved_values(hands: Object) -> dict[str, str]:
    """Return config key -> new value for each object that was moved; empty if none was.

    Values have at most six decimals, as many as the game's own tuner writes. If only an object's position or only its
    angles changed, only these are returned.
    """
    if not len(hands.motionbridge_hud.values):
        return {}
    result: dict[str, str] = {}
    for part in shown_parts(hands):
        if part.obj is None:
            continue
        wanted = _matrix_of(part, *_values(hands, part))
        current = _AXES @ np.array(part.obj.matrix_basis, np.float64) @ _AXES
        position, angles = (hud.aim_values if part.order == AIM else hud.placement_values)(current)
        if not np.allclose(current[:3, 3], wanted[:3, 3], rtol=TOLERANCE, atol=TOLERANCE):
            result[part.position] = _formatted(position)
        if part.angles and not np.allclose(current[:3, :3], wanted[:3, :3], rtol=0, atol=TOLERANCE):
            single = len(part.angles) > 1
            result |= {key: _formatted(angles[[n]] if single else angles) for n, key in enumerate(part.angles)}
    return result


def _formatted(values: Floats) -> str:
    return ", ".join(hud.without_zeros(f"{value:.6f}") for value in values)


def shortened(text: str) -> str:
    """Return numbers of a config without trailing zeros, to be shown."""
    return ", ".join(map(hud.without_zeros, text.split(",")))


def texts(hands: Object) -> dict[str, str]:
    """Return key -> current text of the shown stance and aspect."""
    now = moved_values(hands)
    keys = [key for part in shown_parts(hands) for key in (part.position, *part.angles)]
    return {key: now.get(key, _text(hands, key)) for key in keys} if len(hands.motionbridge_hud.values) else {}


def changed(hands: Any) -> dict[str, str]:
    """Return key -> text of every value, of any stance and aspect, that differs from the config."""
    now = {row.name: row.text for row in hands.motionbridge_hud.values} | moved_values(hands)
    return {key: text for key, text in now.items() if text != hands.motionbridge_hud.values[key].saved}


def settle(hands: Object, written: Mapping[str, str]) -> None:
    """Store values as those of the config."""
    rows = hands.motionbridge_hud.values
    for key, text in written.items():
        row = rows.get(key)
        if row is not None:
            row.text = row.saved = text
            row.is_missing = False


# Points and crosshair -------------------------------------------------------------------------------------------------

POINT_SIZE = 0.01
"""Display size of a point, in metres."""
INNER, OUTER = 0.006, 0.018
"""Distances of the ends of the crosshair's lines from its centre in metres, one metre in front of the camera."""


def add_points(rig: Object, values: Mapping[str, str], into: bpy.types.Collection, report: Report) -> dict[str, Any]:
    """Return key -> a new empty on its bone, for each point of the config; reports what is missing.

    ``rig``: the item, or in Shadow of Chernobyl the whole model. The location of an empty is the point's value.
    """
    result = {}
    for key, bone_key in hud.POINT_BONES.items():
        bone = values.get(bone_key, "")
        if not bone or key not in values:
            if bone or key in values:
                report.warn(say(hud.MISSING_KEY, 1), key if bone else bone_key)
            continue
        obj = bpy.data.objects.new(key, None)
        try:
            parent_to_bone(obj, rig, bone)
        except ReadError as refusal:
            bpy.data.objects.remove(obj)
            report.warn(refusal.problem, f"{bone_key} = {bone}")
            continue
        set_transform(obj, hud.point_matrix(numbers(values[key], 3)), POINT)
        obj.empty_display_type, obj.empty_display_size = "SPHERE", POINT_SIZE
        obj.show_name = obj.show_in_front = True
        into.objects.link(obj)
        result[key] = obj
    return result


def add_crosshair(name: str, camera: Object, into: bpy.types.Collection) -> Any:
    """Create four lines around the centre of the camera's view, in front of everything, not rendered."""
    ends = [(x * far, y * far, -1.0) for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1)) for far in (INNER, OUTER)]
    mesh = bpy.data.meshes.new(f"{name} Crosshair")
    mesh.from_pydata(ends, [(first, first + 1) for first in range(0, len(ends), 2)], [])
    obj = bpy.data.objects.new(mesh.name, mesh)
    obj.parent = camera
    obj.show_in_front = obj.hide_select = obj.hide_render = True
    into.objects.link(obj)
    return obj
