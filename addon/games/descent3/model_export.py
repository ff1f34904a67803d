"""Export of Descent 3 models: gather the objects, encode them onto the imported bytes, plan the file, write it.

Unchanged parts of the file keep their bytes, where the version stays. A model made in Blender becomes a file of version
2300.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...blender import material, modifiers
from ...blender import mesh as meshes
from ...blender.attributes import Wanted
from ...blender.mesh import Offending
from ...core import files, pausing, problems
from ...core.changes import Changes
from ...core.errors import WriteError
from ...core.mesh_parts import transformed_polygons
from ...core.model import FILE_FACE, FILE_VERTEX, Domain, Material, PolygonMesh
from ...core.report import Report, say
from ...formats import archives
from ...formats.descent3 import hog2, oof
from ...formats.descent3.oof.mapping import encode, to_version
from ...formats.descent3.oof.mesh import ALPHA
from ...formats.descent3.oof.model import (
    Floats,
    Model,
    Motion,
    Part,
    Point,
    PointKind,
    WeaponBattery,
    check_hierarchy,
)
from ..plan import FilePlan, OtherBase, StoredFile, warn_of_pasted
from . import motion
from . import points as model_points
from .hierarchy import Chosen, Hierarchy, cut_off, hierarchy_of
from .kinds import ARCHIVES
from .options import ModelExportOptions
from .rotors import rotates_itself
from .textures import gather_material

if TYPE_CHECKING:
    from ...blender.typed import Context, Object


WANTED: Wanted = {
    FILE_VERTEX: (Domain.VERTEX, np.int32),
    FILE_FACE: (Domain.FACE, np.int32),
    ALPHA: (Domain.VERTEX, np.float32),
}
NORMAL_TOLERANCE = 1e-3
"""Tolerance for normals to count as unedited: before 4.5 Blender stores them in 16 bits."""
SCALE_TOLERANCE = 1e-3
"""Difference of a scale from 1 above which it is reported."""
AXIS_TOLERANCE = 1e-6
"""Tolerance for a rotation axis to count as unedited: Blender's property has 32-bit floats."""
_NUMBERED = re.compile(r"\.\d{3,}$")


@dataclass
class ModelPlan(FilePlan):
    """A model file to be written, the ``hierarchy`` it is of and the motion of each part."""

    hierarchy: Hierarchy | None = None
    motions: Sequence[Motion | None] = ()

    @property
    def archive(self) -> Path | None:
        """The archive that has the model, None for a file of its own."""
        inside = archives.split(self.path)
        return inside[0] if inside is not None else None

    def refuse_unwritable(self) -> None:
        """Raise the `WriteError` that `write` would raise, as far as that can be checked in advance."""
        files.refuse_unwritable(self.archive or self.path, by_archive=self.archive is not None)

    def write(self, *, backup: bool = False) -> None:
        """Write the model's file, or the archive with the model in it: the other files keep their bytes.

        Raises `WriteError`, and `ReadError` if the archive is damaged or missing.
        """
        if self.archive is None:
            super().write(backup=backup)
            return
        self.compare_with_disk()
        archive = hog2.read(files.read_file(self.archive), str(self.archive), Report())
        name = Path(self.path).name
        changed = hog2.with_files(archive, {name: self.data}, {name: int(time.time())})
        files.write_atomically(self.archive, hog2.runs(changed), backup=backup, by_archive=True)

    def settle(self, stored: StoredFile) -> None:
        """Remember the file also as that of its motions."""
        super().settle(stored)
        if self.hierarchy is not None:
            motion.keep_saved(self.hierarchy, self.motions)
        stored.id_data.motionbridge_descent_model.motion_status = "UNTOUCHED"


def plan_export(
    context: Context,
    chosen: Chosen,
    options: ModelExportOptions,
    report: Report,
    path: Path | str = "model.oof",
) -> ModelPlan:
    """Return the file that exporting the chosen objects to ``path`` would write. Raises `WriteError`.

    The scene stays unchanged.
    """
    name = Path(path).stem
    hierarchy = hierarchy_of(context, chosen, report)
    base = replace(hierarchy.base, file=name) if hierarchy.base is not None else None
    model = gather_model(context, hierarchy, options, report)
    _warn_of_unexported(context, hierarchy, report)
    model.name = name
    motions = [part.motion for part in model.parts]
    before = hierarchy.before if base is not None else None
    if options.anew and before is not None:
        # A new file has no tracks that unedited parts could keep.
        model = replace(model, textures=[], parts=[_with_motion(part, before) for part in model.parts])
        base = before = None
    if before is not None:
        _warn_of_lost_uvs(model, before, report)
    document, changes = _encoded(model, base, before, options.version, report)
    for left_out in changes.left_out:
        report.warn(left_out)
    if changes:
        report_findings(model, report)
        for finding in _plain_colours(hierarchy, model):
            report.note(finding.problem.line, model.parts[finding.part].label)
    else:  # problems of an unedited file are not the user's, but its name may be new
        for problem in oof.problems_of_name(name):
            report.warn(problem.line, name)
    image = oof.write(document) if changes or not hierarchy.data else hierarchy.data
    return ModelPlan(str(path), image, changes, hierarchy, motions)


def _encoded(
    model: Model, base: oof.Oof | None, before: Model | None, version: int | None, report: Report
) -> tuple[oof.Oof, Changes]:
    """Return the file with the model in a version, None for that of ``base``, and the changes.

    An older base is converted first, so that all edits can be written.
    """
    came_as = base.version if base is not None else None
    if base is not None and version is not None and version > base.version:
        base = to_version(version, base, report)
        before = oof.decode(base, Report())
    document, changes = encode(model, base, before, normal_step=NORMAL_TOLERANCE)
    if version not in (None, document.version):
        document = to_version(version, document, report)
    if came_as not in (None, document.version):
        changes.note(say("version {} -> {}", came_as, document.version))
    return document, changes


def plan_save_back(context: Context, holder: Object, *, if_changed: OtherBase, report: Report) -> ModelPlan:
    """Return a plan that writes a model to its source file, or into its source archive.

    Raises `WriteError`, also if the model there has changed, and `ReadError` for an archive that is damaged or missing.
    """
    properties = holder.motionbridge_descent_model
    path = bpy.path.abspath(properties.path)
    if not path:
        raise WriteError(say("{!r} comes from no file", holder.name), remedy="Export it to a file of its own")
    if is_in_archive(path):
        archives.open_archive(Path(path).parent, Report())
    plan = plan_export(context, Chosen(holder), ModelExportOptions(), report, path)
    files.warn_of_replacing(plan.archive or path, report)
    plan.onto_imported(properties, if_changed)
    return plan


def is_in_archive(path: str) -> bool:
    """Return whether a path is that of a model in an archive, whether or not the archive is there."""
    return Path(path).parent.suffix.lower() in ARCHIVES.suffixes


def export_model(
    context: Context, chosen: Chosen, path: Path | str, options: ModelExportOptions, report: Report
) -> FilePlan:
    """Write the file atomically. Raises `WriteError`."""
    plan = plan_export(context, chosen, options, report, path)
    files.warn_of_replacing(path, report)
    plan.write(backup=options.backup)
    if chosen.holder is not None:
        plan.settle_exported(chosen.holder.motionbridge_descent_model)
    return plan


def _warn_of_unexported(context: Context, hierarchy: Hierarchy, report: Report) -> None:
    """Warn of what the scene shows but the file cannot store: the root's scale, and objects cut off from the model."""
    holder = hierarchy.holder
    if holder is None:
        orphan = next((part for part in hierarchy.parts if part.motionbridge_descent_part.is_part), None)
        if orphan is not None:
            report.warn(
                "its root object is gone, which stored the imported file and its weapon batteries; "
                "exported as a new model (undo the deletion to keep them)",
                orphan.name,
            )
        return
    scale = np.array(holder.matrix_world.to_scale(), np.float64)
    if np.abs(scale - 1).max() > SCALE_TOLERANCE:
        words = "its scale is not exported, as the file has no root object; apply it (Ctrl A > Scale)"
        if holder.type == "ARMATURE":
            words = (
                "its scale is not exported, as the file has no root object; import the model as objects and scale that"
            )
        report.warn(words, holder.name)
    models = [obj for obj in context.scene.objects if obj.motionbridge_descent_model.is_model]
    warn_of_pasted(holder, zip(models, models, strict=True), lambda obj: obj.motionbridge_descent_model.path, report)
    for lost in cut_off(context, hierarchy):
        report.warn("is below no object of the model any more; left out (parent it to a sub-object, Ctrl P)", lost.name)


def _with_motion(part: Part, before: Model) -> Part:
    old = before.known(part.source)
    return replace(part, motion=old.motion) if old is not None and part.motion is None else part


def _warn_of_lost_uvs(model: Model, before: Model, report: Report) -> None:
    """Warn of imported sub-objects that have textured faces but no UV map any more."""
    for part in model.parts:
        old = before.known(part.source)
        textured = any(material.texture for material in part.mesh.materials)
        if old is not None and len(old.mesh.corners) and part.mesh.uvs is None and textured:
            lost = "it has no UV map: faces of the file keep their texture coordinates, new ones get 0"
            report.warn(lost, part.label)


# Findings ------------------------------------------------------------------------------------------------------------


def report_findings(model: Model, report: Report) -> None:
    """Warn of what the game would show differently."""
    for finding in oof.find_problems(model):
        report.warn(finding.problem.line, model.parts[finding.part].label if finding.part >= 0 else model.name)


def find_problems(context: Context, chosen: Chosen, report: Report) -> list[Offending]:
    """Return what the game would refuse or show differently, with the objects concerned. Raises `WriteError`."""
    hierarchy = hierarchy_of(context, chosen, report)
    model = gather_model(context, hierarchy, ModelExportOptions(), report)
    model.name = ""
    check_hierarchy(model)
    result = []
    for finding in (*oof.find_problems(model), *_plain_colours(hierarchy, model)):
        elements, nothing = finding.problem.elements, finding.problem.elements[:0]
        on_faces = finding.problem.domain is Domain.FACE
        obj = hierarchy.parts[finding.part] if finding.part >= 0 else None
        result.append(
            Offending(obj, finding.problem, elements if on_faces else nothing, nothing if on_faces else elements)
        )
    return result


def _plain_colours(hierarchy: Hierarchy, model: Model) -> Iterator[oof.Finding]:
    """Yield the faces with a material made in Blender that has no image: it may be called after a texture."""
    for index, part in enumerate(model.parts):
        used = np.asarray(part.mesh.material_index)
        for number, slot in enumerate(hierarchy.parts[index].material_slots):
            used_material = slot.material
            if used_material is None or material.TITLE in used_material or part.mesh.materials[number].colour is None:
                continue
            remedy = "If it is to be a texture, give the material an image of that name"
            words = "{0:has|have} the color of the material {2!r}, which has no image"
            for problem in problems.some(used == number, "face|faces", words, remedy, values=(used_material.name,)):
                yield oof.Finding(index, problem)


# Gather --------------------------------------------------------------------------------------------------------------


def gather_model(context: Context, hierarchy: Hierarchy, options: ModelExportOptions, report: Report) -> Model:
    """Return the model of these objects. Raises `WriteError`."""
    # Updates matrices of objects that a script moved, and the results of modifiers.
    context.view_layer.update()
    if not hierarchy.parts:
        if hierarchy.holder is not None:
            raise WriteError(
                say("nothing of the model is below {!r}", hierarchy.holder.name),
                remedy="Make that the parent of the mesh that carries the others (Ctrl P), or select meshes",
            )
        raise WriteError("there is no mesh to export", remedy="Choose an object or collection that has one")
    motions = motion.gather(context, hierarchy, report)
    meshes = []
    for done, obj in enumerate(hierarchy.parts):
        pausing.pause(done / len(hierarchy.parts))
        meshes.append(_gather_mesh(context, obj, options, report))
    parts = [_gather_part(hierarchy, index, mesh) for index, mesh in enumerate(meshes)]
    named = Counter(part.name for part in parts)
    for part, moved, obj in zip(parts, motions, hierarchy.parts, strict=True):
        part.motion = moved
        part.display_name = obj.name if named[part.name] > 1 else ""
    of_file = _points_of_file(hierarchy, report)
    batteries = _gather_batteries(hierarchy, of_file, report)
    rows = zip(hierarchy.points, hierarchy.rest.points, strict=True)
    points = of_file + [model_points.gather(empty, *at) for empty, at in rows]
    return Model("model", parts, points, batteries, list(hierarchy.before.textures))


def _gather_part(hierarchy: Hierarchy, index: int, mesh: PolygonMesh) -> Part:
    obj, rest = hierarchy.parts[index], hierarchy.rest
    properties = obj.motionbridge_descent_part
    if not rest.is_straight[index]:
        matrix = np.eye(4)
        matrix[:3, :3] = rest.matrices[index, :3, :3]
        mesh = transformed_polygons(mesh, matrix)
    mesh.name = game_name(obj)
    return Part(
        mesh.name,
        mesh,
        hierarchy.parents[index],
        rest.offsets[index],
        properties.text,
        spin_axis=_spin_axis(obj, hierarchy.old(index)),
        source=hierarchy.sources[index],
    )


def _spin_axis(obj: Object, old: Part | None) -> Floats | None:
    """Return (3,) the axis of a rotor or turret, None for other parts."""
    if rotates_itself(obj) is None:
        return None
    properties = obj.motionbridge_descent_part
    axis = np.array(properties.spin_axis, np.float64)
    if old is not None and old.spin_axis is not None and np.abs(axis - old.spin_axis).max() <= AXIS_TOLERANCE:
        return old.spin_axis
    if old is not None and old.spin_axis is None and properties.text == old.properties:
        # The file has no keys for it, so it does not rotate until an axis is set.
        return axis if properties.is_property_set("spin_axis") else None
    return axis


def game_name(obj: Object) -> str:
    """Return a part's name in the file, or its object's if that was renamed. Blender's ``.001`` does not count."""
    properties = obj.motionbridge_descent_part
    plain = _NUMBERED.sub("", obj.name)
    if properties.is_part and plain == _NUMBERED.sub("", properties.shown_name):
        return str(properties.game_name)
    return plain


def _gather_mesh(context: Context, obj: Object, options: ModelExportOptions, report: Report) -> PolygonMesh:
    if obj.type != "MESH":
        nothing = np.zeros(0, np.int32)
        return PolygonMesh(obj.name, np.zeros((0, 3), np.float32), nothing, nothing, material_index=nothing)
    if modifiers.is_bent(obj):
        report.warn(
            "an armature bends it, which the game cannot; exported as in edit mode (parent it to a bone)", obj.name
        )
    with modifiers.evaluated(context, obj, report, apply=options.modifiers) as evaluated:
        mesh = meshes.gather_polygons(obj, WANTED, evaluated, normals=options.shown_normals)
        slots = material.materials_of(obj, evaluated or obj.data)
    for used in slots:
        material.warn_of_paint(used, report)
    mesh.materials = [gather_material(used) for used in slots] or [Material("")]
    return mesh


def _points_of_file(hierarchy: Hierarchy, report: Report) -> list[Point]:
    """Return the file's points if no empties were imported for them, for parts that still exist."""
    if hierarchy.holder is None or hierarchy.holder.motionbridge_descent_model.shown_points:
        return []
    rest, before = hierarchy.rest, hierarchy.before
    indices: dict[int, int] = {}
    for index, source in enumerate(hierarchy.sources):
        indices.setdefault(source, index)
    result = []
    for point in before.points:
        index = indices.get(point.parent, -1)
        if index < 0 <= point.parent:
            name = before.parts[point.parent].name
            report.warn(say("points of {!r}, which is no longer in the model, are left out", name), point.kind.value)
            continue
        matrix = np.eye(3) if index < 0 or rest.is_straight[index] else rest.matrices[index, :3, :3]
        result.append(model_points.transformed(replace(point, parent=index), matrix))
    return result


def _gather_batteries(hierarchy: Hierarchy, of_file: list[Point], report: Report) -> list[WeaponBattery]:
    """Return the weapon batteries; ``of_file``: the file's points without empties, which come before the others."""
    if hierarchy.holder is None:
        return []
    properties = hierarchy.holder.motionbridge_descent_model
    guns: list[Any] = [point.source for point in of_file if point.kind is PointKind.GUN]
    guns += [point for point in hierarchy.points if point.motionbridge_descent_point.kind == "GUN"]
    gun_indices: dict[Any, int | None] = {gun: index for index, gun in enumerate(guns)}
    part_indices: dict[Any, int | None] = {part: index for index, part in enumerate(hierarchy.parts)}
    if not properties.shown_points:
        # The indices of guns that were left out have no meaning.
        known = range(len(hierarchy.before.of_kind(PointKind.GUN)))
        gun_indices |= {gone: None for gone in known if gone not in gun_indices}
    return [
        WeaponBattery(
            _members(row.guns, gun_indices, "gun point", report), _members(row.turrets, part_indices, "turret", report)
        )
        for row in properties.batteries
    ]


def _members(members: Any, indices: dict[Any, int | None], noun: str, report: Report) -> list[int]:
    """Return the indices of a battery's members: by object, or by the file's index if there never was an object."""
    result = []
    for member in members:
        index = indices.get(member.object)
        if member.object is None and not member.had_object:
            index = indices.get(member.number, member.number)
        if index is not None:
            result.append(index)
        else:
            name = member.object.name if member.object is not None else "deleted"
            report.warn(say("a {} of a battery is no longer in the model; left out", noun), name)
    return result
