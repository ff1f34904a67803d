"""Import of Descent 3 models: read, decode, build.

Each sub-object becomes an object that is parented to its parent's object, or to a bone at its pivot; sub-objects
without vertices become empties. Points are empties in a collection of their own. The root is a holder, an empty or the
armature, which stores the data of the file and is not a part of it, so a model may be anywhere in the scene.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Matrix

from ...blender import armature, scope
from ...blender import mesh as meshes
from ...blender.properties import keep
from ...blender.scope import set_mode
from ...core import files, names
from ...core.errors import ReadError
from ...core.model import Material, Skeleton
from ...core.report import Report
from ...core.rotation import IDENTITY
from ...formats import archives
from ...formats.descent3 import oof
from ...formats.descent3.oof.mapping import decode
from ...formats.descent3.oof.model import Model, Part
from . import motion, points
from .kinds import MODELS
from .model_properties import digest_of_file
from .options import ModelImportOptions
from .textures import Textures, build_material, textures_for

if TYPE_CHECKING:
    from ...blender import typed
    from ...blender.typed import Context, Object
    from ...core.game import InstalledGame


@dataclass
class ImportedModel:
    """``holder`` stores the data of the file; ``parts``: objects in file order; ``points``: empties.

    ``moving``: number of animated parts; ``ticks``: first and last tick of their actions.
    """

    holder: Any
    parts: list[Any] = field(default_factory=list)
    points: list[Any] = field(default_factory=list)
    moving: int = 0
    ticks: tuple[int, int] = (0, 0)

    @property
    def rig(self) -> Any:
        """The armature, None if parts are plain objects."""
        return self.holder if self.holder.type == "ARMATURE" else None

    @property
    def objects(self) -> list[Any]:
        """All objects of the model."""
        return [self.holder, *self.parts, *self.points]


def models_in(archive: Path | str, report: Report) -> list[tuple[str, int]]:
    """Return name and size in bytes of each model in an archive, sorted by name. Raises `ReadError`."""
    table = archives.open_archive(archive, report).table
    entries = zip(table.names, table.numbers["size"].tolist(), strict=True)
    return [(name, size) for name, size in entries if name.lower().endswith(MODELS.suffixes)]


def import_model(context: Context, path: Path, options: ModelImportOptions, report: Report) -> ImportedModel:
    """Build the model in the scene, select it and make its holder active; sets Object Mode, changes nothing else.

    ``path`` may lead into an archive (`core.files.FileLocation`). The file is read once. Raises `ReadError` before
    anything is built.
    """
    data = files.read_file(path)
    document = oof.read(data, str(path), report)
    model = decode(document, report)
    if not model.parts:
        raise ReadError("there is no sub-object in this model", file=str(path), remedy="Choose another file")
    model.name = path.stem
    textures = _textures(path, options)
    into = scope.target_collection(context, report, options.collection)
    if context.view_layer.objects.active is not None and context.view_layer.objects.active.mode != "OBJECT":
        set_mode("OBJECT")
    parts = [
        _new_part(part, mesh) for part, mesh in zip(model.parts, _build_meshes(model, textures, report), strict=True)
    ]
    result = ImportedModel(_build_rig(context, model, parts) if options.bones else _build_holder(model, parts), parts)
    if result.rig is not None and options.readable_bones:
        armature.make_readable(result.rig)
    if options.points:
        result.points = points.build(model, result.holder, result.parts)
    _link(result, into)
    _remember(result, model, path, data)
    if options.animation:
        result.ticks = model.ticks
        result.moving = motion.build(
            context, document, model, result.parts, result.rig, few=options.few_keys, report=report
        )
    if options.rotors:
        result.holder.motionbridge_descent_model.shows_rotors = True
    scope.make_current(context, result.objects, result.holder)
    return result


def textures_of(path: Path, games: Sequence[InstalledGame]) -> list[Path]:
    """Return the files of the textures of a model, without those that are missing. Raises `ReadError`."""
    model = decode(oof.read(files.read_file(path), str(path), report := Report()), report)
    textures = textures_for(path.absolute(), games)
    names = dict.fromkeys(used.texture for part in model.parts for used in part.mesh.materials if used.texture)
    return list(dict.fromkeys(filter(None, (textures.texture(name, report) for name in names))))


def _textures(path: Path, options: ModelImportOptions) -> Textures | None:
    if not options.textures:
        return None
    return textures_for(path.absolute(), options.games, options.animated)


# Objects -------------------------------------------------------------------------------------------------------------


def _build_holder(model: Model, objects: Sequence[Object]) -> Any:
    """Create an empty, and parent the parts as in the file."""
    holder: Any = bpy.data.objects.new(model.name, None)
    holder.empty_display_type, holder.empty_display_size = "PLAIN_AXES", _size(model) / 2
    for part, obj in zip(model.parts, objects, strict=True):
        obj.parent = objects[part.parent] if part.parent >= 0 else holder
        obj.location = part.offset.tolist()
    return holder


def _build_rig(context: Context, model: Model, objects: Sequence[Object]) -> Any:
    """Create an armature with a bone at each pivot, along the model's axes, and parent the parts to the bones."""
    count = len(model.parts)
    rotations = np.broadcast_to(IDENTITY, (count, 4)).copy()
    bones = [part.name or "bone" for part in model.parts]
    parents = np.array([part.parent for part in model.parts], np.int32)
    offsets = np.array([part.offset for part in model.parts], np.float64).reshape(count, 3)
    rig, given = armature.build(context, Skeleton(model.name, bones, parents, rotations, offsets))
    for obj, bone in zip(objects, given, strict=True):
        parent_to_bone(obj, rig, bone)
    return rig


def parent_to_bone(obj: Object, rig: Object, bone: str) -> None:
    """Parent an object to a bone so that its own transform is relative to the head of the bone."""
    obj.parent, obj.parent_type, obj.parent_bone = rig, "BONE", bone
    # Blender parents to the bone's tail.
    obj.matrix_parent_inverse = Matrix.Translation((0, -rig.data.bones[bone].length, 0))


def _new_part(part: Part, mesh: typed.Mesh | None) -> Object:
    obj: Any = bpy.data.objects.new(names.shortened(part.name) or "sub-object", mesh)
    if mesh is None:
        obj.empty_display_type, obj.empty_display_size = "ARROWS", 0.1
    obj.rotation_mode = "QUATERNION"
    properties = obj.motionbridge_descent_part
    properties.is_part, properties.source = True, part.source
    properties.game_name, properties.shown_name = part.name, obj.name
    properties.offset = part.offset.tolist()
    properties.text = part.properties
    if part.spin_axis is not None:
        properties.spin_axis = part.spin_axis.tolist()
    return obj


def _build_meshes(model: Model, textures: Textures | None, report: Report) -> list[Any]:
    """Return the mesh of each part, None without vertices."""
    built: dict[tuple[str, object], Any] = {}

    def material_for(wanted: Material) -> typed.Material:
        key = (wanted.texture or wanted.name, wanted.colour)
        if key not in built:
            built[key] = build_material(wanted, textures, report)
        return built[key]

    def build(part: Part) -> Any:
        mesh = replace(part.mesh, name=names.shortened(part.name) or "sub-object")
        return meshes.build_polygons(mesh, [material_for(wanted) for wanted in mesh.materials])

    return [build(part) if len(part.mesh.positions) else None for part in model.parts]


def _size(model: Model) -> float:
    """Return the largest coordinate of any part, limited to a sensible range."""
    sizes = [float(np.abs(part.mesh.positions).max(initial=0)) for part in model.parts]
    largest = max((size for size in sizes if np.isfinite(size)), default=0.0)
    return min(max(largest, 0.1), 1000.0)


def _link(result: ImportedModel, into: bpy.types.Collection) -> None:
    for obj in [result.holder, *result.parts]:
        into.objects.link(obj)
    if not result.points:
        return
    of_points = bpy.data.collections.new(f"{result.holder.name} Points")
    of_points.color_tag = "COLOR_04"
    into.children.link(of_points)
    for point in result.points:
        of_points.objects.link(point)


def _remember(result: ImportedModel, model: Model, path: Path, data: bytes) -> None:
    properties = result.holder.motionbridge_descent_model
    properties.is_model = True
    properties.path = str(path)
    keep(properties, "document", data)
    for part in result.parts:
        part.motionbridge_descent_part.of_file = digest_of_file(result.holder)
    for point in result.points:
        point.motionbridge_descent_point.of_file = digest_of_file(result.holder)
    guns = [point for point in result.points if point.motionbridge_descent_point.kind == "GUN"]
    for battery in model.batteries:
        row = properties.batteries.add()
        lists = ((battery.guns, row.guns, guns), (battery.turrets, row.turrets, result.parts))
        for indices, members, objects in lists:
            for index in indices:
                member = members.add()
                member.number = index
                member.object = objects[index] if 0 <= index < len(objects) else None
