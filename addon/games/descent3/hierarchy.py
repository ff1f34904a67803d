"""Which objects are the sub-objects and points of a model, and where they are at rest.

A sub-object of the file has a pivot and no rotation or scale of its own: where objects are turned or stretched, their
vertices are. Objects between two sub-objects count only by what they do to what is below them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mathutils import Matrix, Quaternion, Vector
from numpy.typing import NDArray

from ...blender import compat
from ...blender.transforms import channels_of, playing_curves
from ...core.report import Report
from .model_properties import holder_of

Floats = NDArray[np.float64]

SAME_TURN, SAME_PLACE = 2e-5, 1e-6
"""Elements of a matrix and units (of a model of size 1) that may come of Blender's rounding alone."""
_LATER = 1 << 30


@dataclass(frozen=True)
class Chosen:
    """What is exported: the model below a ``holder``, or without one what of ``objects`` is a model."""

    holder: Any
    objects: Sequence[Any] = ()


@dataclass
class Hierarchy:
    """Objects of a model: ``parts`` in the order of the file, new ones behind, and ``points``.

    ``parents`` the place of each part's parent, -1 for none; ``frames`` (4, 4) of each object at rest, in the holder's
    space, or in the world's where there is no ``holder``.
    """

    holder: Any
    parts: list[Any] = field(default_factory=list)
    points: list[Any] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    frames: dict[Any, Floats] = field(default_factory=dict)
    _places: dict[Any, int] = field(default_factory=dict)

    def place(self, shown: Any) -> int:
        """The place of a part, -1 where the object is none."""
        return self._places.get(shown, -1)

    def part_above(self, shown: Any) -> int:
        """The place of the nearest part above an object, -1 for none."""
        above = _above(shown)
        while above is not None and above != self.holder and above not in self._places:
            above = _above(above)
        return self._places.get(above, -1) if above is not None else -1

    def frame(self, shown: Any) -> Floats:
        """(4, 4) where an object is at rest."""
        if shown is None or shown == self.holder:
            return np.eye(4)
        if shown not in self.frames:
            self.frames[shown] = self._parent_frame(shown) @ local_at_rest(shown)
        return self.frames[shown]

    def _parent_frame(self, shown: Any) -> Floats:
        parent = shown.parent
        if parent is None:
            return np.eye(4)
        frame = self.frame(parent)
        if shown.parent_type == "BONE" and parent.type == "ARMATURE":
            bone = parent.data.bones.get(shown.parent_bone)
            if bone is not None:
                tail = Matrix.Translation((0, bone.length, 0))
                return frame @ _array(bone.matrix_local) @ _array(tail)
        return frame

    def is_straight(self, shown: Any) -> bool:
        """Whether an object stands neither turned nor stretched."""
        return bool(np.abs(self.frame(shown)[:3, :3] - np.eye(3)).max() <= SAME_TURN)

    def offset(self, shown: Any) -> NDArray[np.float32]:
        """(3,) a part's pivot from its parent's; the remembered one where that is no further off than rounding."""
        above = self.part_above(shown)
        own = self.frame(shown)[:3, 3]
        base = self.frame(self.parts[above])[:3, 3] if above >= 0 else np.zeros(3)
        found = own - base
        remembered = np.array(shown.motionbridge_descent_part.offset, np.float32)
        near = SAME_PLACE * max(1.0, float(np.abs(own).max()), float(np.abs(base).max()))
        if np.abs(found - remembered).max() <= near:
            return remembered
        return found.astype(np.float32)

    def place_in_part(self, shown: Any, part: int) -> Floats:
        """(4, 4) where a point is from the pivot of a part, or for -1 from the model's origin."""
        if part >= 0 and shown.parent == self.parts[part] and self.is_straight(self.parts[part]):
            return local_at_rest(shown)
        result = self.frame(shown).copy()
        if part >= 0:
            result[:3, 3] -= self.frame(self.parts[part])[:3, 3]
        return result


def _above(shown: Any) -> Any:
    """The object above another: its parent, or for what hangs on a bone the part that hangs on the bone above."""
    parent = shown.parent
    if parent is None or shown.parent_type != "BONE" or parent.type != "ARMATURE":
        return parent
    on_bones = {
        other.parent_bone: other
        for other in parent.children
        if other.parent_type == "BONE" and other.motionbridge_descent_part.is_part
    }
    bone = parent.data.bones.get(shown.parent_bone)
    if bone is not None and on_bones.get(bone.name) not in (None, shown):
        return on_bones[bone.name]
    while bone is not None and bone.parent is not None:
        bone = bone.parent
        if bone.name in on_bones:
            return on_bones[bone.name]
    return parent


def _array(matrix: Any) -> Floats:
    return np.array(matrix, np.float64)


def local_at_rest(shown: Any) -> Floats:
    """(4, 4) an object's place in its parent, without what actions, NLA and drivers make of it."""
    moved = animated_channels(shown)
    properties = shown.motionbridge_descent_part
    if not moved or not is_part(shown):
        basis = shown.matrix_basis
    else:
        place: Any = shown.location
        if "location" in moved and shown.parent_type != "BONE":
            place = Vector(properties.offset) if properties.is_part else first_place(shown)
        if "location" in moved and shown.parent_type == "BONE":
            place = Vector((0, 0, 0))
        turn = Quaternion() if "rotation" in moved else shown.matrix_basis.to_quaternion()
        scale: Any = Vector((1, 1, 1)) if "scale" in moved else shown.scale
        basis = Matrix.LocRotScale(place, turn, scale)
    return _array(shown.matrix_parent_inverse) @ _array(basis)


def first_place(shown: Any) -> Vector:
    """Where the keys of an object's location begin: at rest, as what was made in Blender has no other pivot."""
    found = Vector(shown.location)
    for (channel, index), curve in channels_of(playing_curves(shown)).items():
        if channel == "location" and len(curve.keyframe_points):
            found[index] = curve.evaluate(curve.keyframe_points[0].co.x)
    return found


def animated_channels(shown: Any) -> set[str]:
    """Which of location, rotation and scale something moves."""
    data = shown.animation_data
    if data is None:
        return set()
    curves = list(data.drivers)
    actions = [data.action] if data.action is not None else []
    actions += [strip.action for track in data.nla_tracks for strip in track.strips if strip.action is not None]
    for action in actions:
        bag = compat.curve_bag(action, compat.suitable_slot(action, shown) if compat.SLOTTED else None)
        curves += list(bag.fcurves) if bag is not None else []
    return {curve.data_path.partition("_")[0] for curve in curves} & {"location", "rotation", "scale"}


def hierarchy_of(context: Any, chosen: Chosen, report: Report) -> Hierarchy:
    """The objects of a model; those that are in no scene any more do not count."""
    holder, there = chosen.holder, set(context.scene.objects)
    found = [shown for shown in (holder.children_recursive if holder is not None else chosen.objects) if shown in there]
    own = [shown for shown in found if not shown.motionbridge_descent_model.is_model and holder_of(shown) == holder]
    result = Hierarchy(holder)
    result.points = sorted((shown for shown in own if is_point(shown)), key=_point_order)
    result.parts = list(_ordered_parts([shown for shown in own if is_part(shown)]))
    result._places = {shown: place for place, shown in enumerate(result.parts)}  # noqa: SLF001 - its maker
    result.parents = [result.part_above(shown) for shown in result.parts]
    known = {*result.parts, *result.points}
    for shown in own:
        if shown not in known and shown.type in ("CURVE", "SURFACE", "META", "FONT", "CURVES"):
            report.warn("is no mesh; left out (convert it to one)", shown.name)
    return result


def is_point(shown: Any) -> bool:
    """Whether an object is a point of a model."""
    return shown.type == "EMPTY" and shown.motionbridge_descent_point.kind != "NONE"


def is_part(shown: Any) -> bool:
    """Whether an object is a sub-object, or can become one."""
    return shown.type == "MESH" or (shown.type == "EMPTY" and bool(shown.motionbridge_descent_part.is_part))


def _ordered_parts(parts: list[Any]) -> Iterator[Any]:
    """In the order of the file; new ones behind, parents first."""

    def order(shown: Any) -> tuple[int, bool, int, str]:
        properties = shown.motionbridge_descent_part
        source = properties.source if properties.source >= 0 else _LATER
        return source, shown.name != properties.shown_name, _depth(shown), shown.name

    return iter(sorted(parts, key=order))


def _depth(shown: Any) -> int:
    depth = 0
    while shown.parent is not None:
        shown, depth = shown.parent, depth + 1
    return depth


def _point_order(shown: Any) -> tuple[int, int, bool, str]:
    properties = shown.motionbridge_descent_point
    number = properties.number if properties.number >= 0 else _LATER
    return number, properties.source if properties.source >= 0 else _LATER, False, shown.name
