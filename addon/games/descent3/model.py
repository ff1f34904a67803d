"""Models of Descent 3 into Blender: read, decode, build, count.

Each sub-object becomes an object below its parent's, or hangs on the bone that stands at its pivot; sub-objects without
vertices become empties. Points are empties in a collection of their own. Above all stands a holder, an empty or the
armature, which remembers the file; it is no part of it, so a model may stand anywhere in the scene.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ...blender import armature, collection, polygon_mesh
from ...blender.armature import matrices_of
from ...blender.record import keep
from ...blender.scope import set_mode
from ...core import files, names
from ...core.errors import ReadError
from ...core.model import Material, Skeleton
from ...core.report import Report
from ...formats.descent3 import oof
from ...formats.descent3.hog2 import Hog2
from ...formats.descent3.oof.mapping import decode
from ...formats.descent3.oof.model import Model, Part
from . import looks, motion, points
from .textures import Textures, open_archive, textures_for

SUFFIX = ".oof"


@dataclass(frozen=True)
class ImportOptions:
    """``bones`` makes an armature with a bone for each sub-object; ``folders`` are the game's, searched for textures.

    ``animation`` gives parts their motions as actions, with a key at every tick and more where they turn fast, or with
    ``few_keys`` those of the file and what more is needed to stay near what the game shows; ``rotors`` turns rotors for
    the eye. ``collection`` names a new collection to put the model into; empty for the active one.
    """

    bones: bool = False
    points: bool = True
    textures: bool = True
    animation: bool = True
    few_keys: bool = False
    rotors: bool = True
    folders: Sequence[Path] = ()
    animated: Path | None = None
    collection: str = ""


@dataclass(frozen=True)
class Source:
    """Where a model is: a file, or the ``member`` of that name of the archive there."""

    path: Path
    member: str = ""

    @property
    def label(self) -> str:
        """For messages: ``d3.hog: ship.oof``."""
        return f"{self.path}: {self.member}" if self.member else str(self.path)


@dataclass
class ImportedModel:
    """``holder`` remembers the file; ``parts`` are the sub-objects in the file's order; ``points`` empties.

    ``moving`` of the parts play an action, between the two ``ticks``.
    """

    holder: Any
    parts: list[Any] = field(default_factory=list)
    points: list[Any] = field(default_factory=list)
    moving: int = 0
    ticks: tuple[int, int] = (0, 0)

    @property
    def rig(self) -> Any:
        """The armature, None where parts are plain objects."""
        return self.holder if self.holder.type == "ARMATURE" else None

    @property
    def objects(self) -> list[Any]:
        """All that was made."""
        return [self.holder, *self.parts, *self.points]


def models_in(path: Path | str, report: Report) -> list[tuple[str, int]]:
    """Name and bytes of each model of an archive, in the order of their names. Raises `ReadError`."""
    archive = open_archive(path, report)
    found = zip(archive.names, archive.table["length"].tolist(), strict=True)
    return sorted(
        ((name, size) for name, size in found if name.lower().endswith(SUFFIX)), key=lambda row: row[0].lower()
    )


def import_model(context: Any, source: Source, options: ImportOptions, report: Report) -> ImportedModel:
    """The model in the scene, selected, its holder active; nothing else is changed but the mode.

    Raises `ReadError` before anything is made.
    """
    archive = open_archive(source.path, Report()) if source.member else None
    data = files.read_file(source.path) if archive is None else archive.content(source.member)
    document = oof.read(data, source.label, report)
    model = decode(document, report)
    if not model.parts:
        raise ReadError("there is no sub-object in this model", file=source.label, remedy="Choose another file")
    model.name = Path(source.member or source.path.name).stem
    textures = _textures(source, archive, options, report)
    into = collection.target(context, report, options.collection)
    if context.view_layer.objects.active is not None and context.view_layer.objects.active.mode != "OBJECT":
        set_mode("OBJECT")
    result = _build_rig(context, model) if options.bones else _build_objects(model)
    _show_meshes(result.parts, model, textures, report)
    if options.points:
        result.points = points.build(model, result.holder, result.parts, armature=result.rig is not None)
    _link(result, into)
    _remember(result, model, source, data)
    if options.animation:
        result.ticks = model.ticks
        result.moving = motion.build(
            context, document, model, result.parts, result.rig, few=options.few_keys, report=report
        )
    if options.rotors:
        result.holder.motionbridge_descent_model.shows_rotors = True
    collection.make_current(context, result.objects, result.holder)
    return result


def _textures(source: Source, archive: Hog2 | None, options: ImportOptions, report: Report) -> Textures | None:
    if not options.textures:
        return None
    return textures_for(source.path.absolute(), archive, options.folders, report, options.animated)


# Objects -------------------------------------------------------------------------------------------------------------


def _build_objects(model: Model) -> ImportedModel:
    """Empties and mesh objects in the hierarchy of the file, meshes still without content."""
    holder: Any = bpy.data.objects.new(model.name, None)
    holder.empty_display_type, holder.empty_display_size = "PLAIN_AXES", _reach(model) / 2
    made = [_new_part(part) for part in model.parts]
    for part, shown in zip(model.parts, made, strict=True):
        shown.parent = made[part.parent] if part.parent >= 0 else holder
        shown.location = part.offset.tolist()
    return ImportedModel(holder, made)


def _build_rig(context: Any, model: Model) -> ImportedModel:
    """An armature with a bone at each pivot, along the model's axes, and the parts hanging on them."""
    count = len(model.parts)
    turns = np.zeros((count, 4))
    turns[:, 0] = 1
    bones = [part.name or "bone" for part in model.parts]
    parents = np.array([part.parent for part in model.parts], np.int32)
    offsets = np.array([part.offset for part in model.parts], np.float64).reshape(count, 3)
    rig, given = armature.build(context, Skeleton(model.name, bones, parents, turns, offsets))
    made = [_new_part(part) for part in model.parts]
    places = {bone.name: matrix for bone, matrix in zip(rig.data.bones, _heads(rig), strict=True)}
    for shown, bone in zip(made, given, strict=True):
        hang_on_bone(shown, rig, bone)
        shown.motionbridge_descent_part.shown_place = places[bone]
    return ImportedModel(rig, made)


def _heads(rig: Any) -> list[list[float]]:
    places: list[list[float]] = matrices_of(rig.data.bones, "matrix_local")[:, :3, 3].tolist()
    return places


def hang_on_bone(shown: Any, rig: Any, bone: str) -> None:
    """Parent an object to a bone so that its own transform is relative to the bone's head."""
    shown.parent, shown.parent_type, shown.parent_bone = rig, "BONE", bone
    # Blender counts from the tail.
    shown.matrix_parent_inverse = Matrix.Translation((0, -rig.data.bones[bone].length, 0))


def _new_part(part: Part) -> Any:
    name = names.shortened(part.name) or "sub-object"
    if len(part.mesh.positions):
        shown: Any = bpy.data.objects.new(name, bpy.data.meshes.new(name))
    else:
        shown = bpy.data.objects.new(name, None)
        shown.empty_display_type, shown.empty_display_size = "ARROWS", 0.1
    shown.rotation_mode = "QUATERNION"
    properties = shown.motionbridge_descent_part
    properties.is_part, properties.source = True, part.source
    properties.game_name, properties.shown_name = part.name, shown.name
    properties.offset = properties.shown_place = part.offset.tolist()
    properties.text = part.properties
    if part.spin_axis is not None:
        properties.spin_axis = part.spin_axis.tolist()
    return shown


def _show_meshes(made: Sequence[Any], model: Model, textures: Textures | None, report: Report) -> None:
    built: dict[tuple[str, object], Any] = {}

    def look(wanted: Material) -> Any:
        key = (wanted.texture or wanted.name, wanted.colour)
        if key not in built:
            built[key] = looks.build(wanted, textures, report)
        return built[key]

    for part, shown in zip(model.parts, made, strict=True):
        if shown.type == "MESH":
            empty = shown.data
            part.mesh.name = empty.name
            shown.data = polygon_mesh.build(part.mesh, [look(wanted) for wanted in part.mesh.materials])
            name = empty.name
            bpy.data.meshes.remove(empty)
            shown.data.name = name


def _reach(model: Model) -> float:
    """How far the model goes from its origin; at least a little."""
    reaches = [float(np.abs(part.mesh.positions).max(initial=0)) for part in model.parts]
    largest = max((reach for reach in reaches if np.isfinite(reach)), default=0.0)
    return min(max(largest, 0.1), 1000.0)


def _link(result: ImportedModel, into: Any) -> None:
    for shown in [result.holder, *result.parts]:
        into.objects.link(shown)
    if not result.points:
        return
    below = bpy.data.collections.new(f"{result.holder.name} Points")
    below.color_tag = "COLOR_04"
    into.children.link(below)
    for shown in result.points:
        below.objects.link(shown)


def _remember(result: ImportedModel, model: Model, source: Source, data: bytes) -> None:
    properties = result.holder.motionbridge_descent_model
    properties.is_model = True
    properties.path, properties.member = str(source.path), source.member
    keep(properties, "document", data)
    guns = [shown for shown in result.points if shown.motionbridge_descent_point.kind == "GUN"]
    for battery in model.batteries:
        row = properties.batteries.add()
        for numbers, members, there in ((battery.guns, row.guns, guns), (battery.turrets, row.turrets, result.parts)):
            for number in numbers:
                member = members.add()
                member.number = number
                member.shown = there[number] if 0 <= number < len(there) else None
