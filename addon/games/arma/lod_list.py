"""The LODs of a model in the scene: which objects show each of them, and showing one of them alone.

A LOD is a mesh with its proxies. The Memory LOD is its points, unless it is a mesh.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import bpy
from mathutils import Matrix

from ...blender import scope
from ...core import names
from ...core.errors import WriteError
from ...core.report import say
from ...formats.arma import lod_kinds
from . import model_export
from .properties import level_of, model_of, others_of

if TYPE_CHECKING:
    from ...blender.typed import Context, Object


@dataclass
class SceneLod:
    """A LOD in a view layer. ``obj``: its mesh, or the first of its points; ``others``: proxies, or further points."""

    obj: Object
    resolution: float
    others: list[Object] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Name of the LOD in Object Builder."""
        return lod_kinds.name_of(self.resolution)

    @property
    def parts(self) -> list[Object]:
        """All objects that show it."""
        return [self.obj, *self.others]

    @property
    def is_mesh(self) -> bool:
        """False for the points of a Memory LOD."""
        return self.obj.type == "MESH"

    def is_hidden(self) -> bool:
        """Return whether its eye in the outliner is closed."""
        return self.obj.hide_get()

    def hide(self, *, hidden: bool) -> None:
        """Close or open the eyes of its objects."""
        for part in filter(None, [*self.parts, self._centre()]):
            part.hide_set(hidden)

    def _centre(self) -> Object | None:
        """Return the empty that marks its center of mass."""
        centre = self.obj.motionbridge_arma_level.centre
        return centre if centre is not None and centre.parent == self.obj else None

    def remove(self) -> None:
        """Remove its objects."""
        for part in list(filter(None, [*self.parts, self._centre()])):
            bpy.data.objects.remove(part)


def lods_of(context: Context) -> list[SceneLod]:
    """Return the LODs of the active object's model in the view layer, by resolution."""
    layer = context.view_layer
    chosen = model_export.Chosen.of(model_of(layer.objects.active), scope.objects_of(layer))
    result = [SceneLod(obj, float(obj.motionbridge_arma_level.resolution)) for obj in chosen.levels]
    of_mesh = {lod.obj: lod for lod in result}
    by_index = {lod.obj.motionbridge_arma_level.index: lod for lod in reversed(result)}
    memory: SceneLod | None = None
    for mark in chosen.marks:
        properties = mark.motionbridge_arma_mark
        if properties.kind == "PROXY":
            above = level_of(mark)
            index = properties.level if properties.level >= 0 else None
            lod = of_mesh.get(above.id_data) if above is not None else by_index.get(index)
            if lod is not None:
                lod.others.append(mark)
        elif memory is None:
            memory = SceneLod(mark, lod_kinds.MEMORY_RESOLUTION)
            result.append(memory)
        else:
            memory.others.append(mark)
    return sorted(result, key=lambda lod: (lod.resolution, lod.obj.name))


def index_of(lods: Sequence[SceneLod], obj: Object | None) -> int:
    """Return the index of the LOD that an object is a part of, -1 if there is none."""
    level = level_of(obj)
    known = {obj, level.id_data if level is not None else obj}
    return next((index for index, lod in enumerate(lods) if not known.isdisjoint(lod.parts)), -1)


def show(context: Context, lods: Iterable[SceneLod], lod: SceneLod, *, alone: bool) -> None:
    """Make a LOD active and visible; ``alone``: hide the others. Edit mode of a mesh goes on with the next mesh."""
    active = context.view_layer.objects.active
    mode = active.mode if active is not None else "OBJECT"
    if active is lod.obj and mode != "OBJECT":
        return
    if mode != "OBJECT":
        scope.set_mode("OBJECT")
    for other in lods if alone else ():
        if other.obj is not lod.obj:
            other.hide(hidden=True)
    lod.hide(hidden=False)
    scope.make_current(context, [lod.obj] if lod.is_mesh else lod.parts, lod.obj)
    if mode == "EDIT" and lod.is_mesh:
        scope.set_mode("EDIT")


def set_resolution(obj: Object, resolution: float) -> None:
    """Make a mesh the LOD of a resolution. All but those that are drawn are shown as wires."""
    level = obj.motionbridge_arma_level
    level.is_level, level.resolution = True, resolution
    obj.display_type = "TEXTURED" if lod_kinds.kind_of(resolution) in lod_kinds.DRAWN else "WIRE"


def free_resolution(lods: Iterable[SceneLod], word: str, model: Any) -> float:
    """Return the first resolution of a kind that no LOD has, in Blender or in the imported file of ``model``.

    Raises `WriteError` if a model can only have one.
    """
    present, others = {lod.name for lod in lods}, others_of(model)
    if not lod_kinds.BY_WORD[word].is_numbered:
        if word in present:
            raise WriteError(say("the model has the LOD {} already", word), remedy="Choose another kind of LOD")
        if word in others:
            words = "the file has the LOD {}, which is not imported"
            raise WriteError(say(words, word), remedy=model_export.IMPORT_OTHERS)
    first = 1 if word == lod_kinds.RESOLUTION else 0
    resolutions = (lod_kinds.resolution_of(word, number) for number in itertools.count(first))
    return next(number for number in resolutions if lod_kinds.name_of(number) not in present.union(others))


def add(context: Context, word: str) -> SceneLod:
    """Add a LOD without faces to the model of the active object, where the active LOD is, and return it."""
    lods, active = lods_of(context), context.view_layer.objects.active
    resolution = free_resolution(lods, word, model_of(active))
    label = names.shortened(f"{_stem(lods)} {lod_kinds.name_of(resolution)}")
    obj: Any = bpy.data.objects.new(label, bpy.data.meshes.new(label))
    for collection in active.users_collection[:1] or [context.scene.collection]:
        collection.objects.link(obj)
    source = lods[max(index_of(lods, active), 0)].obj
    if source.parent is not None and source.parent.type == "ARMATURE":
        obj.parent = source.parent
    obj.motionbridge_arma_level.model = model_of(active)
    set_resolution(obj, resolution)
    return SceneLod(obj, resolution)


def copy(lods: Sequence[SceneLod], lod: SceneLod, word: str) -> SceneLod:
    """Add a copy of a mesh LOD, with its proxies, as another kind or with another number. Raises `WriteError`.

    Shadow volumes get no materials, with which the tools reject them.
    """
    resolution = free_resolution(lods, word, model_of(lod.obj))
    obj: Any = lod.obj.copy()
    obj.data = lod.obj.data.copy()
    obj.name = obj.data.name = names.shortened(f"{_stem(lods)} {lod_kinds.name_of(resolution)}")
    set_resolution(obj, resolution)
    if word in lod_kinds.SHADOWS:
        obj.data.materials.clear()
    for collection in lod.obj.users_collection:
        collection.objects.link(obj)
    return SceneLod(obj, resolution, [copy_proxy(proxy, obj) for proxy in lod.others])


def copy_proxy(proxy: Object, obj: Object) -> Object:
    """Return a copy of a proxy that belongs to the LOD mesh ``obj``, at the same position in the model."""
    result: Any = proxy.copy()
    mark = result.motionbridge_arma_mark
    mark.level = mark.source = -1
    transform = Matrix(model_export.model_matrix(proxy).tolist())
    result.parent, result.parent_type, result.parent_bone = obj, "OBJECT", ""
    result.matrix_parent_inverse = Matrix(model_export.model_matrix(obj).tolist()).inverted()
    result.matrix_basis = transform
    for collection in proxy.users_collection:
        collection.objects.link(result)
    return result


def neighbour(lods: Sequence[SceneLod], index: int, step: int) -> SceneLod | None:
    """Return the LOD of the same numbered kind that precedes (-1) or follows (1) another in the list."""
    if not 0 <= index < len(lods) or not 0 <= index + step < len(lods):
        return None
    lod, other = lods[index], lods[index + step]
    kind = lod_kinds.kind_of(lod.resolution)
    same = lod_kinds.kind_of(other.resolution) == kind in lod_kinds.BY_WORD and lod_kinds.BY_WORD[kind].is_numbered
    return other if same and lod.is_mesh and other.is_mesh else None


def exchange(lod: SceneLod, other: SceneLod) -> None:
    """Exchange the resolutions of two LODs."""
    lod.obj.motionbridge_arma_level.resolution = other.resolution
    other.obj.motionbridge_arma_level.resolution = lod.resolution


def _stem(lods: Sequence[SceneLod]) -> str:
    """Return the name of the first LOD's object without the name of the LOD."""
    if not lods:
        return "model"
    return lods[0].obj.name.removesuffix(lods[0].name).strip() or "model"
