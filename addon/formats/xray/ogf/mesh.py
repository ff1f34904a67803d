"""Decode the meshes of a model into `Mesh`, and encode them.

Each child is one mesh, with the finest level of detail, in Blender's axes. A progressive model stores its triangles
once for every level of detail; the first sliding window is the finest. With three or four bones per vertex, the last
weight is 1 minus the stored ones; with two, the stored weight is that of the second bone; an unused slot repeats the
first bone. Version 3 stores vertices in the space of their bone.

Encoding keeps the bytes of every vertex field that was not edited. Edited vertices keep their format if it has room for
their bones. If vertices were added or removed, the buffer is written again in the smallest format that holds their
bones. If triangles change, or vertices were added or removed, a progressive model loses its levels of detail and
becomes a plain one.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ....core import affine, names, rebase, space
from ....core.changes import NORMALS, POSITIONS, TEXTURE_COORDINATES, Changes, Noun
from ....core.errors import WriteError
from ....core.model import Material, Mesh, VertexWeights
from ....core.report import Report, say
from . import surface
from .chunk_types import (
    LONG_FORMATS,
    MOST_LINKS,
    MOST_VERTICES,
    OLD_VERTEX_FORMATS,
    SHORT_FORMATS,
    VERTEX_FORMATS,
    BoneNames,
    Bounds,
    GeometryContainer,
    Indices,
    SlidingWindows,
    Sphere,
    Texture,
    VertexContainer,
    Vertices,
)
from .document import Children, Ogf, OldVisualType, Part, VisualType, part_name, parts, with_parts
from .skeleton import decode_skeleton

Floats = NDArray[np.float64]
_PLAIN_TYPES: dict[int, dict[int, int]] = {
    4: {
        VisualType.PROGRESSIVE: VisualType.NORMAL,
        VisualType.SKINNED_PROGRESSIVE: VisualType.SKINNED_STRIP,
        VisualType.TREE_PROGRESSIVE: VisualType.TREE,
    },
    3: {
        OldVisualType.PROGRESSIVE: OldVisualType.NORMAL,
        OldVisualType.PROGRESSIVE_2: OldVisualType.NORMAL,
        OldVisualType.SKINNED_PROGRESSIVE: OldVisualType.SKINNED_STRIP,
    },
}
"""Version -> type of a progressive visual -> its type without levels of detail."""


@dataclass(frozen=True)
class Settings:
    """How meshes are compared and written.

    ``normal_step``: largest difference in a component of an unedited normal, since Blender stores custom normals with
    16 bits. ``most_links``: largest number of bones per vertex: 4, or 2 for the engine of Shadow of Chernobyl.
    """

    normal_step: float = 0.0
    most_links: int = MOST_LINKS


def bone_labels(document: Ogf) -> list[str]:
    """Return the names of the model's bones, an empty list for a model without bones."""
    listed = document.first(BoneNames)
    return [bone.label for bone in listed.bones] if listed else []


def rest_of(document: Ogf) -> Floats | None:
    """Return (bones, 4, 4) matrices from each bone's space to model space, None if vertices are in model space.

    Input is in the file's axes, output in Blender's. Only models of version 3 with bones store vertices in the space of
    their bone.
    """
    if document.header.version != 3 or document.first(BoneNames) is None:
        return None
    # From the file's own axes to Blender's: z is mirrored first.
    return decode_skeleton(document, Report()).rest_matrices() @ np.diag([1.0, 1.0, -1.0, 1.0])


def mesh_parts(document: Ogf) -> list[Part]:
    """Return the visuals that contain vertices and indices themselves."""
    return [
        part
        for part in parts(document)
        if part.visual.first(Vertices) is not None and part.visual.first(Indices) is not None
    ]


def decode_meshes(document: Ogf, report: Report) -> list[Mesh]:
    """Return a mesh for each of `mesh_parts`, in that order, and report the parts that are left out.

    The vertex groups are the model's bones in the file's order, so the index of a group is the index of its bone.
    """
    bones = bone_labels(document)
    rest = rest_of(document)
    listed = mesh_parts(document)
    _report_parts_left_out(document, {part.path for part in listed}, report)
    return [decode_mesh(part.visual, part_name(document, part), bones, report, rest) for part in listed]


@np.errstate(over="ignore", invalid="ignore")  # bounds of broken files
def encode_meshes(meshes: Sequence[Mesh], base: Ogf, settings: Settings | None = None) -> tuple[Ogf, Changes]:
    """Return ``base`` with these meshes, one for each of its `mesh_parts` in that order, and what changed.

    Raises `WriteError` if the number of meshes differs, or for a mesh that the game cannot load.
    """
    listed = mesh_parts(base)
    if len(meshes) != len(listed):
        words = "{:# mesh is|# meshes are} given, the model has {}"
        raise WriteError(say(words, len(meshes), len(listed)), remedy="Export one for each of its meshes")
    bones, rest = bone_labels(base), rest_of(base)
    changes = Changes()
    changed: dict[tuple[int, ...], Ogf] = {}
    for part, mesh in zip(listed, meshes, strict=True):
        visual, difference = encode_mesh(mesh, part.visual, bones, rest=rest, settings=settings)
        changes.include(difference, part_name(base, part), Noun.MESH)
        if visual is not part.visual:
            changed[part.path] = visual
    document = with_parts(base, changed)
    bounds_changed = any(
        changed[part.path].header is not part.visual.header
        or changed[part.path].first(Bounds) is not part.visual.first(Bounds)
        for part in listed
        if part.path in changed
    )
    return (_with_fitted_bounds(document, base) if bounds_changed and () not in changed else document), changes


def _report_parts_left_out(document: Ogf, decoded: set[tuple[int, ...]], report: Report) -> None:
    for part in parts(document):
        if part.path in decoded:
            continue
        in_level = part.visual.first(GeometryContainer) or part.visual.first(VertexContainer)
        words = "{0:# mesh is|# meshes are} left out: {0:it has|they have} no readable vertices or faces"
        if in_level:
            words = "{0:# mesh is|# meshes are} left out: {0:its|their} geometry lies in the level's files"
        report.warn(say(words, 1), part_name(document, part))


# Damaged files hold numbers whose sums overflow; they are kept as they are.
@np.errstate(over="ignore", invalid="ignore")
def decode_mesh(visual: Ogf, name: str, bones: Sequence[str], report: Report, rest: Floats | None = None) -> Mesh:
    """Return the geometry of one visual of `mesh_parts`; ``rest`` is the result of `rest_of`."""
    vertices, indices = visual.first(Vertices), visual.first(Indices)
    assert vertices is not None  # noqa: S101 - `mesh_parts` chose it for that
    assert indices is not None  # noqa: S101 - likewise
    rows = vertices.rows
    corners = full_detail(indices, visual.first(SlidingWindows), name, report)
    triangles = corners.reshape(-1, 3).astype(np.int32)
    valid = (triangles < len(rows)).all(axis=1)
    if not valid.all():
        lost = int((~valid).sum())
        report.warn(say("{:# triangle refers|# triangles refer} to missing vertices; left out", lost), name)
        triangles = triangles[valid]
    positions, normals = rows["position"], rows["normal"]
    if rest is not None and vertices.links:
        positions, normals = _to_model_space(rest, rows["bones"][:, 0], positions, normals)
    else:
        positions, normals = space.xray_points(positions), space.xray_points(normals)
    texture = visual.first(Texture)
    return Mesh(
        name,
        positions,
        space.xray_triangles(triangles),
        normals,
        space.xray_uvs(rows["uv"]),
        list(bones) if vertices.links else [],
        decode_weights(vertices, len(bones), name, report) if vertices.links else None,
        [material_of(texture)] if texture else [],
        np.zeros(len(triangles), np.int32) if texture else None,
    )


@np.errstate(over="ignore", invalid="ignore")
def encode_mesh(
    mesh: Mesh, base: Ogf, bones: Sequence[str], *, rest: Floats | None = None, settings: Settings | None = None
) -> tuple[Ogf, Changes]:
    """Return the ``base`` visual with the mesh's geometry and material, and what changed.

    ``bones`` are the names of the model's bones by index; ``rest`` is the result of `rest_of`. Raises `WriteError` for
    a mesh that the game cannot load.
    """
    settings = settings or Settings()
    old = decode_mesh(base, mesh.name, bones, Report(), rest)
    _check(mesh, old)
    changes = Changes()
    document = _encode_material(mesh, base, changes)
    vertices, indices = base.first(Vertices), base.first(Indices)
    assert vertices is not None  # noqa: S101 - `mesh_parts` chose it for that
    assert indices is not None  # noqa: S101 - likewise
    resized = len(mesh.positions) != len(old.positions)
    edited = _all_edited(mesh) if resized else _compare(mesh, old, bones, settings)
    _check_numbers(mesh, edited)
    if resized or edited.any():
        edit = _VertexEdit(mesh, edited, resized, bones, rest, settings)
        document = document.replaced(vertices, _encode_vertices(edit, vertices, changes))
    has_levels = base.first(SlidingWindows) is not None
    if (resized and has_levels) or not np.array_equal(mesh.triangles, old.triangles):
        document = _encode_triangles(mesh, document, indices)
        counts = len(old.triangles), len(mesh.triangles)
        changes.replaced("triangles {} -> {}", *counts, same=say("triangles"))
        if has_levels:
            changes.left_out.append(say("the levels of detail of {!r}: they belong to the old triangles", mesh.name))
    if edited.positions.any():
        document = _with_bounds(document, _fitted_bounds_for(base, old.positions, mesh.positions))
    return document, changes


def full_detail(indices: Indices, windows: SlidingWindows | None, name: str, report: Report) -> NDArray[np.uint16]:
    """Return the corners of the finest level of detail, whole triangles only."""
    corners = indices.corners
    if windows is not None and len(windows.windows):
        finest = windows.windows[0]
        start, count = int(finest["offset"]), 3 * int(finest["triangles"])
        if start + count > len(corners):
            report.warn("the finest detail has faces that do not exist; the existing ones are used", name)
        corners = corners[start : start + count]
    if len(corners) % 3:
        words = "{:# corner does|# corners do} not make whole triangles; the rest is left out"
        report.warn(say(words, len(corners)), name)
    return corners[: len(corners) // 3 * 3]


def _to_model_space(
    rest: Floats, bones: NDArray[np.uint32], positions: NDArray[np.float32], normals: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    frames = rest[np.minimum(bones, len(rest) - 1)]
    placed = np.einsum("nij,nj->ni", frames[:, :3, :3], positions) + frames[:, :3, 3]
    rotated = np.einsum("nij,nj->ni", frames[:, :3, :3], normals)
    return placed.astype(np.float32), rotated.astype(np.float32)


def decode_weights(vertices: Vertices, bone_count: int, name: str, report: Report) -> VertexWeights:
    """Return the weights, those of equal bones added up.

    Weights that are not above zero, infinite ones, and those of missing bones are left out; the last are reported.
    """
    bones, weights = weight_slots(vertices)
    unknown = (bones >= bone_count) & (weights > 0)
    if unknown.any():
        report.warn(say("{:# weight|# weights} of bones that do not exist left out", int(unknown.sum())), name)
    used = (weights > 0) & np.isfinite(weights) & ~unknown
    rows, slots = np.nonzero(used)
    return VertexWeights(rows.astype(np.int32), bones[rows, slots].astype(np.int32), weights[rows, slots])


def weight_slots(vertices: Vertices) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return bones and weights, both (vertices, links).

    Weights of equal bones are added up in the first slot with that bone; the later slots get weight 0.
    """
    rows, links = vertices.rows, vertices.links
    bones = rows["bones"].astype(np.int64)
    weights = np.ones((len(rows), links), np.float32)
    if links == 2:
        weights[:, 1] = rows["weights"][:, 0]
        weights[:, 0] = np.float32(1) - weights[:, 1]
    elif links > 2:
        weights[:, :-1] = rows["weights"]
        weights[:, -1] = np.float32(1) - rows["weights"].sum(axis=1, dtype=np.float32)
    for later in range(1, links):
        for earlier in range(later):
            same = bones[:, later] == bones[:, earlier]
            weights[:, earlier] += np.where(same, weights[:, later], np.float32(0))
            weights[:, later] = np.where(same, np.float32(0), weights[:, later])
    return bones, weights


def material_of(texture: Texture) -> Material:
    """Return a material named after the last part of the texture's path, or after the shader if the path is empty."""
    path, shader = names.decode(texture.texture), names.decode(texture.shader)
    return Material(path.replace("/", "\\").rpartition("\\")[2] or shader, path, shader)


# Finding edits -------------------------------------------------------------------------------------------------------


@dataclass
class _EditedFields:
    """Masks (vertices,): which fields of each vertex differ from the base."""

    positions: NDArray[np.bool_]
    normals: NDArray[np.bool_]
    uvs: NDArray[np.bool_]
    weights: NDArray[np.bool_]

    def any(self) -> bool:
        return any(mask.any() for mask in (self.positions, self.normals, self.uvs, self.weights))

    def count_in(self, changes: Changes) -> None:
        for mask, template in (
            (self.positions, POSITIONS),
            (self.normals, NORMALS),
            (self.uvs, TEXTURE_COORDINATES),
            (self.weights, "{:# weight|# weights}"),
        ):
            changes.count(mask, template)


def _all_edited(mesh: Mesh) -> _EditedFields:
    return _EditedFields(*(np.ones(len(mesh.positions), np.bool_) for _ in range(4)))


def _compare(mesh: Mesh, old: Mesh, bones: Sequence[str], settings: Settings) -> _EditedFields:
    untouched = np.zeros(len(mesh.positions), np.bool_)
    edited = _EditedFields(untouched, untouched, untouched, untouched)
    edited.positions = rebase.differ(mesh.positions, old.positions)
    if mesh.normals is not None and old.normals is not None:
        different = rebase.normals_differ if settings.normal_step else rebase.differ
        edited.normals = different(mesh.normals, old.normals, settings.normal_step)
    elif mesh.normals is None:
        edited.normals = edited.positions
    if mesh.uvs is not None and old.uvs is not None:
        edited.uvs = rebase.differ(mesh.uvs, old.uvs)
    if old.weights is not None:
        edited.weights = surface.changed_vertices(surface.influences(mesh, bones), surface.influences(old, bones))
    return edited


def _check_numbers(mesh: Mesh, edited: _EditedFields) -> None:
    """Raise `WriteError` for NaN or infinite values in edited fields; unedited ones of the file may be written back."""
    masks = {"positions": edited.positions, "normals": edited.normals, "uvs": edited.uvs}
    new_values = [values[mask] for name, mask in masks.items() if (values := getattr(mesh, name)) is not None]
    message = say("a vertex of {!r} holds NaN or infinite values", mesh.name)
    rebase.refuse_not_finite(message, "Correct or delete it", *new_values)


def _check(mesh: Mesh, old: Mesh) -> None:
    count = len(mesh.positions)
    if count > MOST_VERTICES:
        raise WriteError(
            say("{!r} has {:# vertex|# vertices}, the game supports {} per mesh", mesh.name, count, MOST_VERTICES),
            remedy="Split it, or join what the texture seams cut apart",
        )
    if mesh.material_index is not None and len(np.unique(mesh.material_index)) > 1:
        words = "{!r} has several materials, the game supports one per mesh"
        raise WriteError(say(words, mesh.name), remedy="Give all its faces one material, or export with Replace Meshes")
    if not len(mesh.triangles) and not len(old.triangles):
        return
    if not len(mesh.triangles):
        raise WriteError(say("{!r} has no faces", mesh.name), remedy="Leave it out or give it faces")
    if int(mesh.triangles.min()) < 0 or int(mesh.triangles.max()) >= count:
        raise WriteError(say("a face of {!r} refers to a missing vertex", mesh.name), remedy="Validate the mesh")


# Edited vertices and triangles --------------------------------------------------------------------------------------


def _encode_material(mesh: Mesh, base: Ogf, changes: Changes) -> Ogf:
    texture = base.first(Texture)
    if texture is None or not mesh.materials:
        return base
    number = int(mesh.material_index[0]) if mesh.material_index is not None and len(mesh.material_index) else 0
    material = mesh.materials[number]
    now = Texture(
        *(
            stored if names.decode(stored) == text else names.encode(text)
            for stored, text in ((texture.texture, material.texture), (texture.shader, material.shader))
        )
    )
    if now == texture:
        return base
    changes.note(say("texture or shader"))
    return base.replaced(texture, now)


@dataclass(frozen=True)
class _VertexEdit:
    """The input of `_encode_vertices`; ``resized`` is true if vertices were added or removed."""

    mesh: Mesh
    edited: _EditedFields
    resized: bool
    bones: Sequence[str]
    rest: Floats | None
    settings: Settings


def _encode_vertices(edit: _VertexEdit, base: Vertices, changes: Changes) -> Vertices:
    mesh, edited, resized = edit.mesh, edit.edited, edit.resized
    if not changes.resized("vertices {} -> {}", len(base.rows), len(mesh.positions)):
        edited.count_in(changes)
    slots = _encode_links(edit, base, changes) if base.links and edited.weights.any() else None
    number = _format_for(base, slots, edited, resized)
    layout = (OLD_VERTEX_FORMATS if edit.rest is not None else VERTEX_FORMATS)[number]
    same_layout = layout == base.rows.dtype
    rows = np.zeros(len(mesh.positions), layout)
    if not resized:
        for name in base.rows.dtype.names or ():
            if same_layout or name not in ("bones", "weights"):
                rows[name] = base.rows[name]
    if slots is not None:
        rewritten = edited.weights if same_layout and not resized else np.ones(len(rows), np.bool_)
        surface.store(rows, rewritten, slots)
    _store_surface(rows, mesh, edited, edit.rest)
    return Vertices(number, rows)


def _encode_links(edit: _VertexEdit, base: Vertices, changes: Changes) -> surface.Slots:
    influences = surface.influences(edit.mesh, edit.bones)
    most = 1 if edit.rest is not None else edit.settings.most_links
    # Vertices keep at least as many bones as the base has room for.
    result = surface.slots(influences, max(most, 0 if edit.resized else base.links), edit.mesh.name)
    name = edit.mesh.name
    changes.left_out += [say("the group {!r} of {!r} is not a bone", group, name) for group in influences.left_out]
    if result.trimmed:
        words = "{!r}: {:# vertex|# vertices} with more bones than can be written"
        changes.left_out.append(say(words, name, result.trimmed))
    return result


def _format_for(base: Vertices, slots: surface.Slots | None, edited: _EditedFields, resized: bool) -> int:
    """Return the base's vertex format if it has room for the bones, else the smallest of its family that has."""
    if slots is None:
        return base.format
    needed = int(slots.links.max() if resized else slots.links[edited.weights].max())
    if not resized and needed <= base.links:
        return base.format
    family = LONG_FORMATS if base.format in LONG_FORMATS.values() else SHORT_FORMATS
    return family[int(slots.links.max())]


def _store_surface(rows: NDArray[np.void], mesh: Mesh, edited: _EditedFields, rest: Floats | None) -> None:
    """Write edited positions, normals and texture coordinates into ``rows``, and the tangents computed from them."""
    positions, triangles = space.xray_points(mesh.positions), space.xray_triangles(mesh.triangles)
    moved, rotated = edited.positions, edited.normals
    if mesh.normals is not None:
        normals = space.xray_points(mesh.normals)
    else:
        normals = surface.vertex_normals(positions, triangles).astype(np.float32)
    if mesh.uvs is not None:
        rows["uv"][edited.uvs] = space.xray_uvs(mesh.uvs)[edited.uvs]
    if rest is not None and "bones" in (rows.dtype.names or ()):
        # In the space of its bone a vertex has another position after it was assigned to another bone.
        moved = moved | edited.weights
        rotated = rotated | edited.weights
        to_bone = affine.inverse(rest)[np.minimum(rows["bones"][:, 0], len(rest) - 1)]
        positions = np.einsum("nij,nj->ni", to_bone[:, :3, :3], mesh.positions) + to_bone[:, :3, 3]
        blender_normals = mesh.normals if mesh.normals is not None else space.xray_points(normals)
        normals = np.einsum("nij,nj->ni", to_bone[:, :3, :3], blender_normals)
    rows["position"][moved] = positions[moved]
    rows["normal"][rotated] = normals[rotated]
    tangents_edited = edited.positions | edited.normals | edited.uvs
    if "tangent" in (rows.dtype.names or ()) and tangents_edited.any():
        tangents, binormals = surface.tangent_frames(rows["position"], rows["normal"], rows["uv"], triangles)
        rows["tangent"][tangents_edited] = tangents[tangents_edited]
        rows["binormal"][tangents_edited] = binormals[tangents_edited]


def _encode_triangles(mesh: Mesh, document: Ogf, indices: Indices) -> Ogf:
    corners = space.xray_triangles(mesh.triangles).ravel().astype("<u2")
    document = document.replaced(indices, Indices(corners))
    windows = document.first(SlidingWindows)
    if windows is not None:
        document = document.replaced(windows, None)
    header = document.header
    plain = _PLAIN_TYPES[header.version].get(header.type)
    return document if plain is None else document.replaced(header, replace(header, type=plain))


# Bounds -------------------------------------------------------------------------------------------------------------


def _bounds_of(document: Ogf) -> surface.BoundingVolume:
    """Return the bounds that the file stores: in the header, in version 3 in chunks of their own."""
    header, box, sphere = document.header, document.first(Bounds), document.first(Sphere)
    return surface.BoundingVolume(
        header.box if header.box is not None else box.box if box is not None else None,
        header.sphere if header.sphere is not None else sphere.sphere if sphere is not None else None,
    )


def _fitted_bounds_for(base: Ogf, before: NDArray[np.float32], after: NDArray[np.float32]) -> surface.BoundingVolume:
    """Return bounds for edited points (n, 3) in Blender's axes; NaN and infinite points do not count."""
    old, new = (space.xray_points(points[np.isfinite(points).all(axis=1)]) for points in (before, after))
    if not len(new):
        return _bounds_of(base)
    wanted = surface.bounds(new)
    return surface.fitted_bounds(_bounds_of(base), surface.bounds(old) if len(old) else wanted, wanted, new)


def _with_bounds(document: Ogf, fitted: surface.BoundingVolume) -> Ogf:
    header, old_box, old_sphere = document.header, document.first(Bounds), document.first(Sphere)
    old = _bounds_of(document)
    if fitted.box is old.box and fitted.sphere is old.sphere:
        return document
    if header.box is not None:
        document = document.replaced(header, replace(header, box=fitted.box, sphere=fitted.sphere))
    if old_box is not None and fitted.box is not None and fitted.box is not old.box:
        document = document.replaced(old_box, Bounds(fitted.box))
    if old_sphere is not None and fitted.sphere is not None and fitted.sphere is not old.sphere:
        document = document.replaced(old_sphere, Sphere(fitted.sphere))
    return document


def _with_fitted_bounds(document: Ogf, base: Ogf) -> Ogf:
    """Return the model with its bounds, and those of hierarchies inside it, fitted to the bounds of their children.

    ``base`` is the model before the edit.
    """
    holder, held = document.first(Children), base.first(Children)
    pairs = zip(holder.sections, held.sections, strict=True) if holder and held else ()
    fitted: dict[tuple[int, ...], Ogf] = {
        (number,): _with_fitted_bounds(section.value, old.value)
        for number, (section, old) in enumerate(pairs)
        if isinstance(section.value, Ogf) and isinstance(old.value, Ogf) and section.value.children
    }
    document = with_parts(document, fitted)
    now, before = (
        [hull for child in visual.children if (hull := _bounds_of(child)).box is not None]
        for visual in (document, base)
    )
    if not now:
        return document
    wanted = surface.combined_bounds(now)
    wanted_before = surface.combined_bounds(before) if before else wanted
    return _with_bounds(
        document, surface.fitted_bounds(_bounds_of(document), wanted_before, wanted, _enclosed_points(document, now))
    )


def _enclosed_points(document: Ogf, hulls: Sequence[surface.BoundingVolume]) -> NDArray[np.float32]:
    """Return (n, 3) points that the bounds must enclose: the model's vertices, or the corners of its children's boxes.

    The corners are for version 3 (no box in the header), whose vertices may be in the space of their bones, and for
    models without readable vertices.
    """
    chunks = [vertices for part in mesh_parts(document) if (vertices := part.visual.first(Vertices)) is not None]
    if chunks and document.header.box is not None:
        points: NDArray[np.float32] = np.concatenate([vertices.rows["position"] for vertices in chunks])
        finite: NDArray[np.float32] = points[np.isfinite(points).all(axis=1)]
        return finite
    boxes = np.array([hull.box for hull in hulls])
    return np.concatenate([boxes[:, choice, range(3)] for choice in itertools.product((0, 1), repeat=3)])
