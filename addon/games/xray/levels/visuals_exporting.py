"""Export of a compiled level: edits that its file `level` can store are written into the imported bytes.

These are shader strings, trees, impostors, lights, glows and portals; everything else is kept byte for byte. Edits that
the file cannot store are reported with object names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....blender import attributes, modifiers
from ....blender import mesh as meshes
from ....blender.instances import shows_instances
from ....blender.properties import kept
from ....blender.transforms import in_world, world_matrix
from ....core import names, rebase, space
from ....core.changes import Changes, Noun, Part, differing
from ....core.errors import WriteError
from ....core.model import Domain
from ....core.report import Report, say
from ....formats.xray import level as levels
from ....formats.xray.level import edit, structure
from ....formats.xray.level import mesh as visual_mesh
from ....formats.xray.level.document import PORTAL, SUN, Level
from ...plan import warn_of_pasted
from ..models.exporting import warn_of_pictures
from . import impostors, marks, tree_sets, visual_vertices
from .file import listed_names, listed_objects
from .layer_checks import is_bent
from .level_objects import LevelObjects, find_objects
from .trees import SHIFTED, Trees
from .visual_plans import LevelPlan
from .visuals import VISUAL

if TYPE_CHECKING:
    from ....blender.typed import Object, Scene


Floats = NDArray[np.float64]

DISPLAY_TOLERANCE = 1e-4
"""Relative tolerance of values that are only for display, within which they count as unedited."""


def plan(scene: Scene, holder: Object, path: Path | str, data: bytes, report: Report) -> LevelPlan:
    """Plan to write into the file ``data``. Raises `WriteError`. The view layer must be up to date."""
    if not data:
        raise WriteError(
            "a compiled level cannot be made without its compiler",
            remedy="Disable New File, to write into the imported one",
        )
    document = levels.read(data, holder.motionbridge_level.path, Report())
    objects = find_objects(scene, holder, report)
    owned = ((obj, obj.motionbridge_level.level_file) for obj in scene.objects)
    warn_of_pasted(holder, owned, lambda obj: obj.motionbridge_level.path, report)
    imported = set(holder.motionbridge_level.imported.split())
    changes = Changes()
    trees = Trees(document, objects, scene.objects)
    shown_impostors = None
    if objects.all_of("LOD"):
        shown_impostors = impostors.gather(document, objects.all_of("LOD"), trees.moves(), report)
    elif "LOD" in imported:
        objects.keep_all("no impostors are in the scene: the imported ones are written")
    drawn = {**objects.first.get("SURFACE", {}), **trees.parts}
    edits = visual_vertices.compare(holder, document, drawn, report)
    if "TREE" in imported:
        trees.write(_rows(holder, "trees"), changes)
    if shown_impostors is not None:
        shown_impostors.write(document, changes)
        _warn_of_missing(document, objects, shown_impostors, trees)
    _warn_of_lamps(document, objects)
    rows = {
        kind: _write_rows(document, objects, changes, kind, own_objects)
        for kind, own_objects in _KINDS.items()
        if kind in imported
    }
    _write_shaders(document, report, changes, drawn | trees.added, shown_impostors, glows=rows.get("GLOW", []))
    if len(document.lights) and not (document.lights["type"] == SUN).any():
        raise WriteError("the level has no sun, and the game refuses it", remedy="Undo deleting the sun")
    beside = None if edits is None else visual_vertices.plan(edits, drawn, changes)
    _warn_of_surfaces(document, objects, _rows(holder, "surfaces"), placed=beside is not None)
    _warn_of_others(document, scene, objects)
    changed = changes or (beside is not None and len(beside.reshaped))
    return LevelPlan(holder, path, levels.write(document) if changed else data, changes, beside)


def _rows(holder: Object, kind: str) -> list[int]:
    """Return the visuals for which the import created objects of a kind."""
    rows: list[int] = np.frombuffer(kept(holder.motionbridge_level, kind), "<i4").tolist()
    return rows


def _warn_of_surfaces(document: Level, level_objects: LevelObjects, imported: Sequence[int], *, placed: bool) -> None:
    """Warn of moved, copied and deleted surfaces, which `level` cannot store.

    ``imported``: visuals of the imported surfaces. ``placed``: moved surfaces were written to `level.geom`.
    """
    objects = list(level_objects.first.get("SURFACE", {}).values())
    moved = [obj for obj in objects if not np.allclose(world_matrix(obj), np.eye(4), atol=SHIFTED)]
    if moved and not placed:
        level_objects.report.warn(say("surfaces cannot be moved as objects; not written: {}", listed_objects(moved)))
    copies = level_objects.copies.get("SURFACE", [])
    if copies:
        level_objects.report.warn(say("surfaces cannot be added; not written: {}", listed_objects(copies)))
    gone = sorted(set(imported) - set(level_objects.first.get("SURFACE", {})))
    if gone:
        names_ = listed_names(structure.titles(document, gone))
        level_objects.report.warn(say("surfaces cannot be deleted; they stay in the file: {}", names_))


def _warn_of_missing(
    document: Level, level_objects: LevelObjects, gathered: impostors.ShownImpostors, trees: Trees
) -> None:
    """Warn of impostors that were deleted without their trees."""
    of_tree = visual_mesh.impostor_of(document)
    wanted = of_tree[list(trees.parts)] if trees.trees else of_tree
    present = {obj.motionbridge_level.row for obj in level_objects.all_of("LOD")}
    deleted = sorted(gathered.missing.intersection(wanted.tolist()) - present)
    if deleted:
        names_ = listed_names(structure.titles(document, deleted))
        level_objects.report.warn(say("impostors cannot be deleted; they stay in the file: {}", names_))


def _warn_of_others(document: Level, scene: Any, level_objects: LevelObjects) -> None:
    """Warn of edits that are ignored: boxes, modifiers, and what is new in the level's collections."""
    edited = [obj for obj in level_objects.boxes if _is_edited_box(document, obj)]
    if edited:
        level_objects.report.warn(
            say("boxes only show where surfaces and trees are; not written: {}", listed_objects(edited))
        )
    visible = [obj for kind in ("SURFACE", "TREE", "LOD", "PORTAL") for obj in level_objects.all_of(kind)]
    sets = tree_sets.sets_of(level_objects.all_of("TREE"))
    parts = [part for collection in sets for part in tree_sets.parts_of(collection).values()]
    modified = [obj for obj in (*visible, *parts) if obj.type == "MESH" and modifiers.is_modified(obj)]
    if modified:
        sentence = "modifiers and shape keys that are not applied are not written: {}"
        level_objects.report.warn(say(sentence, listed_objects(modified)))
    mine = {*visible, *level_objects.boxes, *level_objects.all_of("LIGHT")}
    beside: dict[Any, None] = {}
    for collection in scene.collection.children_recursive:
        nearest = [collection, *collection.children]
        if any(obj in mine for group in nearest for obj in group.objects):
            beside.update(dict.fromkeys(obj for obj in collection.objects if obj.motionbridge_level.kind == "NONE"))
    for collection in sets:
        beside.update(dict.fromkeys(obj for obj in collection.objects if obj not in parts))
    for words, strangers in (
        ("meshes cannot be added to a level; not written", [obj for obj in beside if obj.type == "MESH"]),
        (
            "new lights are written only if they are copies (Shift D) of the level's; not written",
            [obj for obj in beside if obj.type == "LIGHT"],
        ),
        ("instances are not written", [obj for obj in beside if shows_instances(obj)]),
    ):
        if strangers:
            level_objects.report.warn(say("{}: {}", say(words), listed_objects(strangers)))


def _is_edited_box(document: Level, obj: Object) -> bool:
    if not np.allclose(world_matrix(obj), np.eye(4), atol=SHIFTED):
        return True
    with meshes.outside_edit_mode(obj) as data:
        visuals = attributes.gather(data, VISUAL, Domain.VERTEX, np.int32)
        if visuals is None or len(visuals) % 8 or (len(visuals) and visuals.max() >= len(document.visuals)):
            return True
        corners, _ = structure.wires(structure.boxes(document, visuals[::8].astype(np.int64)))
        return not np.array_equal(corners, meshes.positions_of(data), equal_nan=True)


def _warn_of_lamps(document: Level, level_objects: LevelObjects) -> None:
    """Warn of lamps with another type, which is not written: a level has one sun and point lights."""
    suns = document.lights["type"] == SUN
    lamps = [obj for obj in level_objects.all_of("LIGHT") if obj.type == "LIGHT"]
    wanted = {True: "SUN", False: "POINT"}
    rows = [(obj, obj.motionbridge_level.row) for obj in lamps]
    other = [obj for obj, row in rows if row < len(suns) and obj.data.type != wanted[bool(suns[row])]]
    if other:
        level_objects.report.warn(say("lights cannot change their type; written as before: {}", listed_objects(other)))


# Shader strings -------------------------------------------------------------------------------------------------------


class _ShaderStrings:
    """The shader strings that objects should have, by their materials or panels."""

    def __init__(self, document: Level, report: Report) -> None:
        self.document, self.report = document, report
        self.known = structure.shaders(document)
        self.without_names: list[Object] = []
        self.other_texture_count: list[Object] = []
        self.several_materials: list[Object] = []
        self.materials: dict[Any, None] = {}

    def string(self, obj: Object, number: int, name: str, textures: str) -> bytes:
        """Return the string of an engine shader and textures; the file's bytes if it equals string ``number``."""
        current = self.known[number]
        if (name, textures) == (current.name, current.textures):
            return self.document.shaders[number]
        self.other_texture_count += [obj] if textures.count(",") != current.textures.count(",") else []
        return names.encode(f"{name.replace('/', chr(92))}/{textures.replace('/', chr(92))}")

    def of_slot(self, obj: Object, number: int, slot: int) -> bytes:
        """Return the string of the material in a slot; the file's if it has no shader and texture of the game."""
        slots = obj.material_slots
        material = slots[slot].material if 0 <= slot < len(slots) else None
        properties = None if material is None else material.motionbridge_material
        current = self.known[number]
        if properties is None or not (properties.shader or properties.texture):
            self.without_names += [obj] if current.name or current.textures else []
            return self.document.shaders[number]
        self.materials[material] = None
        return self.string(obj, number, properties.shader, properties.texture)

    def one_slot(self, obj: Object, slots: NDArray[np.int32] | None) -> int:
        """Return the slot that faces (n,) use; the first face's if there are several."""
        if slots is None or not len(slots):
            return 0
        if (slots != slots[0]).any():
            self.several_materials.append(obj)
        return int(slots[0])

    def report_unwritten(self) -> None:
        """Report what could not be written or should be checked."""
        unnamed, other, several = (
            list(dict.fromkeys(sentences))
            for sentences in (self.without_names, self.other_texture_count, self.several_materials)
        )
        if unnamed:
            words = (
                "{0:# visual has|# visuals have} a material without shader and texture of the game, and "
                "{0:keeps|keep} those of the file: {1}"
            )
            self.report.warn(say(words, len(unnamed), listed_objects(unnamed)))
        if other:
            words = (
                "another number of textures: lightmaps stand behind the texture, and vertices for them do not come "
                "or go: {}"
            )
            self.report.warn(say(words, listed_objects(other)))
        if several:
            words = (
                "{:# object has|# objects have} faces of several materials; a visual has one, that of the first "
                "face: {}"
            )
            self.report.warn(say(words, len(several), listed_objects(several)))
        warn_of_pictures(self.materials, self.report)


def _write_shaders(
    document: Level,
    report: Report,
    changes: Changes,
    drawn: dict[int, Object],
    shown_impostors: impostors.ShownImpostors | None,
    *,
    glows: Sequence[Object],
) -> None:
    """Write changed shader strings.

    ``drawn``: visual -> mesh object. ``glows``: the object of each glow of the document, None if it has none.
    """
    strings = _ShaderStrings(document, report)
    of_visual = document.visuals.shaders
    asked: dict[int, bytes] = {}
    slots_of: dict[Object, NDArray[np.int32] | None] = {}
    for visual, obj in drawn.items():
        if visual < len(of_visual) and 0 <= of_visual[visual] < len(strings.known):
            if obj not in slots_of:
                slots_of[obj] = _used_slots(obj)
            asked[visual] = strings.of_slot(obj, int(of_visual[visual]), strings.one_slot(obj, slots_of[obj]))
    if shown_impostors is not None:
        rows = zip(shown_impostors.base.visuals.tolist(), shown_impostors.objects, shown_impostors.slots, strict=True)
        for visual, owner, slots in rows:
            if owner is not None and 0 <= of_visual[visual] < len(strings.known):
                asked[visual] = strings.of_slot(owner, int(of_visual[visual]), strings.one_slot(owner, slots))
    glowing: dict[int, bytes] = {}
    for row, obj in enumerate(glows):
        number = int(document.glows["shader"][row])
        if obj is not None and number < len(strings.known):
            properties = obj.motionbridge_level
            named_ = bool(properties.shader or properties.texture)
            kept_ = document.shaders[number]
            glowing[row] = strings.string(obj, number, properties.shader, properties.texture) if named_ else kept_
    strings.report_unwritten()
    before = list(document.shaders)
    users = [np.array(list(pairs), np.int64) for pairs in (asked, glowing)]
    done = edit.set_shaders(document, users[0], list(asked.values()), users[1], list(glowing.values()))
    for number in done.replaced:
        fields = (say("now {}", names.decode(document.shaders[number])),)
        changes.parts.append(Part(names.decode(before[number]), Noun.SHADER_STRING, fields=fields))
    if done.visuals:
        changes.note(say("shader strings of {:# visual|# visuals}", done.visuals))
    if done.glows:
        changes.note(say("shader strings of {:# glow|# glows}", done.glows))


def _used_slots(obj: Object) -> NDArray[np.int32] | None:
    """Return the material slots of the faces; None without reading the mesh if there is only one, as usual."""
    if len(obj.material_slots) <= 1:
        return None
    with meshes.outside_edit_mode(obj) as data:
        return meshes.material_indices(data)


# Lights, glows, portals -----------------------------------------------------------------------------------------------

Edit = Callable[[Any, NDArray[np.void]], None]


@dataclass(frozen=True)
class _Kind:
    """A kind of records: ``field`` of the document, ``noun``; ``edit`` writes an object into its record (1,).

    ``missing``: warning if the scene has no objects of the kind.
    """

    field: str
    noun: Noun
    missing: str
    edit: Edit
    left: Callable[[np.void], bool] = lambda _row: False
    """Returns whether the import creates no object for a record, so that a missing object does not mean deleted."""


def _write_rows(document: Level, level_objects: LevelObjects, changes: Changes, kind: str, how: _Kind) -> list[Object]:
    """Write records of a kind; returns the object of each record that remains, None for one without."""
    base: NDArray[np.void] = getattr(document, how.field)
    first = level_objects.first.get(kind, {})
    if not first:
        level_objects.keep_all(how.missing)
        return []
    copies = [obj for obj in level_objects.copies.get(kind, []) if obj.motionbridge_level.row < len(base)]
    rows: list[NDArray[np.void]] = []
    origins: list[int] = []
    edited = []
    of_rows = list(_kept_and_new(base, first, copies, how))
    for number, obj in of_rows:
        source = number if obj is None else obj.motionbridge_level.row
        row = base[source : source + 1].copy()
        if obj is not None:
            how.edit(obj, row)
        same = row.tobytes() == base[source : source + 1].tobytes()
        if number >= 0 and not same:
            edited.append(Part(obj.name, how.noun, fields=differing(row[0], base[source])))
        if obj is not None and not same:
            if kind == "PORTAL":
                _refuse_missing_sectors(obj, row, base[source], len(document.sectors))
            matrix = world_matrix(obj)
            words = "the place of {!r} is NaN or infinite"
            rebase.refuse_not_finite(say(words, obj.name), "Clear its transform", matrix)
        rows.append(row)
        origins.append(number)
    gone = len(base) - sum(number >= 0 for number in origins)
    changes.parts += edited
    changes.deleted[how.noun] += gone
    for obj in copies:
        changes.add(how.noun, obj.name)
    if edited or gone or copies:
        joined = np.concatenate(rows) if rows else base[:0]
        if kind == "PORTAL":
            edit.set_portals(document, joined, np.array(origins, np.int64))
        else:
            setattr(document, how.field, joined)
    return [obj for _, obj in of_rows]


def _kept_and_new(
    base: NDArray[np.void], first: dict[int, Object], copies: list[Object], how: _Kind
) -> Iterator[tuple[int, Any]]:
    """Yield index and object (or None) of each remaining record, then -1 and the object of each new one."""
    for number in range(len(base)):
        if number in first:
            yield number, first[number]
        elif how.left(base[number]):
            yield number, None
    for obj in copies:
        yield -1, obj


def _edit_light(obj: Object, row: NDArray[np.void]) -> None:
    looks = marks.shown_lights(row)
    lamp, matrix = obj.data, world_matrix(obj)
    if lamp is None or obj.type != "LIGHT":
        raise WriteError(say("{!r} is not a light any more", obj.name), remedy="Undo, or delete it")
    colour = np.array(lamp.color, np.float64)
    peak, energy = float(looks.peaks[0]), float(looks.energies[0])
    brighter = not np.isclose(lamp.energy, energy, rtol=DISPLAY_TOLERANCE, atol=DISPLAY_TOLERANCE)
    if brighter and looks.suns[0]:
        peak = lamp.energy / marks.SUN_STRENGTH
    elif brighter:
        reach = max(float(row["range"][0]) ** 2, marks.SMALLEST_SIZE**2)
        peak = lamp.energy / (marks.WATTS_AT_METRE * reach)
    if brighter or not np.allclose(colour, looks.colours[0], atol=DISPLAY_TOLERANCE):
        row["diffuse"][0, :3] = colour * peak
    if not np.allclose(matrix[:3, 3], looks.positions[0], rtol=1e-6, atol=SHIFTED):
        row["position"][0] = space.xray_points(matrix[:3, 3])
    if looks.suns[0]:
        _rotate_sun(row, looks.directions[0], -matrix[:3, 2])
    reach_now = np.float32(obj.motionbridge_level.light_range)
    if reach_now != row["range"][0] and (reach_now > 0 or row["range"][0] > 0):
        row["range"] = reach_now


def _rotate_sun(row: NDArray[np.void], before: Floats, current: Floats) -> None:
    length = float(np.linalg.norm(before))
    unit = before / length if length else np.array([0.0, 0.0, -1.0])
    current = current / max(float(np.linalg.norm(current)), 1e-9)
    if not np.allclose(current, unit, atol=DISPLAY_TOLERANCE):
        row["direction"][0] = space.xray_points(current * (length or 1.0))


def _edit_glow(obj: Object, row: NDArray[np.void]) -> None:
    matrix = world_matrix(obj)
    stored = marks.shown_glows(row)
    if not np.allclose(matrix[:3, 3], stored.positions[0], rtol=1e-6, atol=SHIFTED):
        row["position"][0] = space.xray_points(matrix[:3, 3])
    size = obj.empty_display_size * float(np.linalg.norm(matrix[:3, :3], axis=0).max())
    if not np.isclose(size, stored.sizes[0], rtol=DISPLAY_TOLERANCE):
        row["radius"] = size


def _edit_portal(obj: Object, row: NDArray[np.void]) -> None:
    properties = obj.motionbridge_level
    row["front"], row["back"] = properties.front_sector, properties.back_sector
    if obj.type != "MESH":
        raise WriteError(say("{!r} is not a mesh any more", obj.name), remedy="Undo, or delete it")
    face = meshes.gather_polygons(obj, {})
    most = PORTAL["vertices"].shape[0]
    if len(face.counts) != 1 or not 3 <= face.counts[0] <= most or face.counts[0] != len(face.positions):
        raise WriteError(
            say(
                "the portal {!r} has {:# face|# faces} and {:# vertex|# vertices}",
                obj.name,
                len(face.counts),
                len(face.positions),
            ),
            remedy=say("Make it one face with at least 3 vertices and at most {}", most),
        )
    corners = in_world(obj, face.positions[face.corners])
    current, before = corners.astype(np.float32), structure.portal_corners(row[0])
    if before is None or not np.array_equal(current, before):
        _refuse_bent(obj, corners)
        edit.set_corners(row, current)


def _refuse_missing_sectors(obj: Object, row: NDArray[np.void], before: np.void, sectors: int) -> None:
    for side in ("front", "back"):
        number = int(row[side][0])
        if number >= sectors and number != before[side]:
            raise WriteError(
                say("the portal {!r} leads to sector {}, which the level does not have", obj.name, number),
                remedy=say("Set Front Sector and Back Sector to numbers from 0 to {}", sectors - 1),
            )


def _refuse_bent(obj: Object, corners: Floats) -> None:
    if is_bent(corners):
        words = "the corners of the portal {!r} do not lie in a plane"
        raise WriteError(say(words, obj.name), remedy="Scale them flat along its normal")


_KINDS = {
    "LIGHT": _Kind("lights", Noun.LIGHT, "no lights are in the scene: the imported ones are written", _edit_light),
    "GLOW": _Kind("glows", Noun.GLOW, "no glows are in the scene: the imported ones are written", _edit_glow),
    "PORTAL": _Kind(
        "portals",
        Noun.PORTAL,
        "no portals are in the scene: the imported ones are written",
        _edit_portal,
        lambda row: structure.portal_corners(row) is None,
    ),
}
