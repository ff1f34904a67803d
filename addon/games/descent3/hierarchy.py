"""Which objects are the sub-objects and points of a model, and in which order the file has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...blender.instances import shows_instances
from ...blender.properties import kept
from ...core.report import Report
from ...formats.descent3 import oof
from ...formats.descent3.oof.document import Oof
from ...formats.descent3.oof.mapping import decode
from ...formats.descent3.oof.model import Model, Part
from .model_properties import holder_of, is_of_file, is_part, is_point, part_source, point_source
from .rest import RestPose, rest_pose

if TYPE_CHECKING:
    from ...blender.typed import Context, Object

_LAST = 1 << 30


@dataclass(frozen=True)
class Chosen:
    """What is exported: the model below a ``holder``, or without one the parts and points among ``objects``."""

    holder: Any
    objects: Sequence[Object] = ()


@dataclass(frozen=True)
class Hierarchy:
    """Objects of a model: ``parts`` in file order, new ones last, parents first; ``points``.

    ``parents``: index of each part's parent part, -1 for none; ``point_parents``: the same for each point. What else is
    asked of the model, such as its rest pose and the imported file, is computed once.
    """

    holder: Any
    parts: list[Any]
    points: list[Any]
    parents: list[int]
    point_parents: list[int]

    @cached_property
    def data(self) -> bytes:
        """The bytes of the imported file, b"" for a model that was made in Blender."""
        return kept(self.holder.motionbridge_descent_model, "document") if self.holder is not None else b""

    @cached_property
    def base(self) -> Oof | None:
        """The imported file, None for a model that was made in Blender."""
        return oof.read(self.data, "", Report()) if self.data else None

    @cached_property
    def before(self) -> Model:
        """The model as imported; an empty one if it was made in Blender."""
        return decode(self.base, Report()) if self.base is not None else Model("")

    @cached_property
    def sources(self) -> list[int]:
        """Index of each part among those of the imported file, -1 for new parts."""
        return [part_source(part) for part in self.parts]

    @cached_property
    def rest(self) -> RestPose:
        """The rest pose of the parts and points, ignoring their animation."""
        trees = ((self.parts, self.parents), (self.points, self.point_parents))
        return rest_pose(self.holder, *(list(zip(*tree, strict=True)) for tree in trees))

    def old(self, index: int) -> Part | None:
        """Return a part as imported, None for a new one."""
        return self.before.known(self.sources[index])


def hierarchy_of(context: Context, chosen: Chosen, report: Report) -> Hierarchy:
    """Return the objects of a model that are in the scene."""
    holder, in_scene = chosen.holder, set(context.scene.objects)
    candidates = holder.children_recursive if holder is not None else chosen.objects
    own = [
        candidate
        for candidate in candidates
        if candidate in in_scene
        and not candidate.motionbridge_descent_model.is_model
        and holder_of(candidate) == holder
    ]
    points = _at_their_indices(_copies_last(sorted(filter(is_point, own), key=_point_order), _point_of_file))
    parts = _copies_last(sorted(filter(is_part, own), key=_part_order), part_source)
    indices = {part: index for index, part in enumerate(parts)}
    for instance in own:
        if (
            not is_part(instance)
            and not is_point(instance)
            and instance.type in ("CURVE", "SURFACE", "META", "FONT", "CURVES")
        ):
            report.warn("is not a mesh; left out (convert it to a mesh)", instance.name)
        if shows_instances(instance):
            report.warn("its instances are left out (make them real: Object > Apply)", instance.name)
    parents, point_parents = ([_parent_part(obj, holder, indices) for obj in objects] for objects in (parts, points))
    return Hierarchy(holder, parts, points, parents, point_parents)


def written_index(context: Context, point: Object) -> int | None:
    """Return the index a point gets among those of its kind.

    None if it is not exported, or if the file's points were imported without empties.
    """
    holder = holder_of(point)
    model = holder.motionbridge_descent_model if holder is not None else None
    if model is None or (model.path and not model.shown_points):
        return None
    kind = point.motionbridge_descent_point.kind
    points = hierarchy_of(context, Chosen(holder), Report()).points
    alike = [point for point in points if point.motionbridge_descent_point.kind == kind]
    return alike.index(point) if point in alike else None


def cut_off(context: Context, hierarchy: Hierarchy) -> list[Object]:
    """Return objects of the file's parts and points that lost their model because a parent was deleted.

    Descendants of a returned object are left out.
    """
    before = hierarchy.before
    parts = set(range(len(before.parts))) - set(hierarchy.sources)
    present = {(point.motionbridge_descent_point.kind, point_source(point)) for point in hierarchy.points}
    points = {(point.kind.name, point.source) for point in before.points} - present

    def is_lost(obj: Object) -> bool:
        part, point = obj.motionbridge_descent_part, obj.motionbridge_descent_point
        if not is_of_file(point if is_point(obj) else part, hierarchy.holder):
            return False
        if is_point(obj):
            return (point.kind, point_source(obj)) in points
        return part.is_part and part.source in parts and before.parts[part.source].name == part.game_name

    lost = {obj for obj in context.scene.objects if holder_of(obj) is None and is_lost(obj)}
    return sorted((obj for obj in lost if obj.parent not in lost), key=lambda obj: obj.name)


def _part_order(part: Object) -> tuple[int, bool, int, str]:
    """Sort key: file order, renamed copies after their original; new objects last, parents first."""
    properties, depth, above = part.motionbridge_descent_part, 0, part.parent
    while above is not None:
        above, depth = above.parent, depth + 1
    source = part_source(part)
    source = source if source >= 0 else _LAST
    return source, part.name != properties.shown_name, depth, part.name


def _copies_last(ordered: list[Any], row_of: Callable[[Any], Any]) -> list[Any]:
    """Sort copies last: objects with the same row of the file as an earlier one. Row -1 means not from the file."""
    taken: set[Any] = set()
    copies = []
    for obj in ordered:
        row = row_of(obj)
        if row in taken:
            copies.append(obj)
        elif row != -1:
            taken.add(row)
    return [*(target for target in ordered if target not in copies), *copies]


def _point_of_file(point: Object) -> Any:
    """Return which point of the file an empty is or was copied from, -1 for none; a copy with its own index is new."""
    source = point_source(point)
    return (point.motionbridge_descent_point.kind, source, _index_of(point)) if source >= 0 else -1


def _index_of(point: Object) -> int:
    """Return the index that was typed or comes from the file, -1 for none or if it belongs to an earlier kind."""
    properties = point.motionbridge_descent_point
    return -1 if properties.number == properties.source != point_source(point) else properties.number


def _at_their_indices(ordered: list[Any]) -> list[Any]:
    """Move points with a typed index to that index among the points of their kind."""
    result = []
    for kind in dict.fromkeys(point.motionbridge_descent_point.kind for point in ordered):
        alike = [point for point in ordered if point.motionbridge_descent_point.kind == kind]
        typed = [point for point in alike if _is_index_typed(point)]
        others = [point for point in alike if point not in typed]
        for point in typed:
            others.insert(_index_of(point), point)
        result += others
    return result


def _is_index_typed(point: Object) -> bool:
    return _index_of(point) >= 0 and _index_of(point) != point_source(point)


def _point_order(point: Object) -> tuple[int, int, str]:
    index, source = _index_of(point), point_source(point)
    return index if index >= 0 else _LAST, source if source >= 0 else _LAST, point.name


def _parent_part(child: Object, holder: Object | None, indices: dict[Any, int]) -> int:
    """Return the index of the nearest ancestor that is a part, -1 for none."""
    above = _parent_object(child)
    while above is not None and above != holder and above not in indices:
        above = _parent_object(above)
    return indices.get(above, -1) if above is not None else -1


def _parent_object(child: Object) -> Object | None:
    """Return an object's parent; for a child of a bone, the part on that bone or on its nearest ancestor with one."""
    parent = child.parent
    if parent is None or child.parent_type != "BONE" or parent.type != "ARMATURE":
        return parent
    others = [
        child for child in parent.children if child.parent_type == "BONE" and child.motionbridge_descent_part.is_part
    ]
    # If copies of a part are on the same bone, the part is their parent.
    on_bones = {other.parent_bone: other for other in sorted(others, key=_part_order, reverse=True)}
    bone = parent.data.bones.get(child.parent_bone)
    if bone is not None and on_bones.get(bone.name) not in (None, child):
        return on_bones[bone.name]
    while bone is not None and bone.parent is not None:
        bone = bone.parent
        if bone.name in on_bones:
            return on_bones[bone.name]
    return parent
