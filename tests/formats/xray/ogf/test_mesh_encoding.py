"""Meshes back into models: untouched bytes, changed fields, new buffers, and what the game refuses."""

import struct
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from addon.core.binary import NOT_FINITE
from addon.core.changes import Noun
from addon.core.errors import WriteError
from addon.core.model import Material, Mesh, VertexWeights
from addon.core.report import Report
from addon.formats.xray import ogf
from addon.formats.xray.ogf import surface
from addon.formats.xray.ogf.chunk_types import Bounds, Indices, SlidingWindows, Sphere, Texture, Vertices
from addon.formats.xray.ogf.document import Ogf, VisualType
from addon.formats.xray.ogf.mesh import Settings, decode_meshes, encode_meshes
from tests.formats.xray.ogf import small_model as small
from tests.formats.xray.ogf.test_mesh import WITH_MESHES


def read(data: bytes) -> Ogf:
    report = Report()
    document = ogf.read(data, "small.ogf", report)
    assert not report
    return document


def meshes_of(document: Ogf) -> list[Mesh]:
    return decode_meshes(document, Report())


def edited(data: bytes = small.MODEL, settings: Settings | None = None, **fields):
    """The small model with fields of its one mesh changed: (written and read again, changes)."""
    document = read(data)
    (mesh,) = meshes_of(document)
    result, changes = encode_meshes([replace(mesh, **fields)], document, settings)
    assert ogf.write(document) == data  # the base is not touched
    return read(ogf.write(result)), changes


def differing_bytes(data: bytes, document: Ogf) -> set[int]:
    written = ogf.write(document)
    assert len(written) == len(data)
    return {index for index, (a, b) in enumerate(zip(data, written, strict=True)) if a != b}


def weights_of(*rows: tuple[int, int, float]) -> VertexWeights:
    vertices, groups, weights = zip(*rows, strict=True)
    return VertexWeights(np.array(vertices, np.int32), np.array(groups, np.int32), np.array(weights, np.float32))


def field_bytes(vertex: int, offset: int, size: int) -> set[int]:
    """Places in the small model of a field of its two-link vertices."""
    start = small.MODEL.index(small.VERTICES) + 8 + 64 * vertex + offset
    return set(range(start, start + size))


POSITION, NORMAL, TANGENT_FRAME, WEIGHT, UV = (4, 12), (16, 12), (28, 24), (52, 4), (56, 8)


# Untouched -----------------------------------------------------------------------------------------------------------


def test_the_order_in_which_weights_are_listed_does_not_matter():
    _, changes = edited(weights=weights_of((2, 1, 1), (0, 1, 0.25), (1, 1, 1), (0, 0, 0.75)))
    assert not changes


def test_groups_in_another_order_are_the_same_bones():
    (mesh,) = meshes_of(read(small.MODEL))
    swapped = replace(mesh.weights, groups=1 - mesh.weights.groups)
    assert not edited(groups=["HAND", "root"], weights=swapped)[1]


def test_normals_within_the_step_of_blenders_storage_are_unedited():
    normals = np.tile(np.array([1e-4, 0.99999999, 1e-4], np.float32), (3, 1))
    assert not edited(normals=normals, settings=Settings(normal_step=2e-4))[1]
    assert edited(normals=normals)[1].lines_of(Noun.MESH) == ["small_00: 3 normals"]


def test_numbers_that_are_not_one_go_back_where_they_are_from():
    data = small.MODEL
    for index in (4, 16, 56):
        start = small.MODEL.index(small.VERTICES) + 8 + index
        data = data[:start] + bytes.fromhex("0000c07f 0000807f") + data[start + 8 :]  # NaN and infinity
    report = Report()
    document = ogf.read(data, "odd.ogf", report)
    assert report.lines() == [f"{NOT_FINITE} (vertices, chunk 0x9/0x0/0x3: 6)"]
    (mesh,) = meshes_of(document)
    assert np.isnan(mesh.positions[0, 0])
    assert encode_meshes([mesh], document)[0] is document
    mesh.positions = mesh.positions.copy()
    mesh.positions[1] = np.nan
    with pytest.raises(WriteError, match="holds NaN or infinite values"):
        encode_meshes([mesh], document)


def test_a_mesh_without_faces_is_written_unchanged():
    data = small.model(
        child=small.chunk(1, small.CHILD_HEADER) + small.chunk(3, small.VERTICES) + small.chunk(4, bytes(4))
    )
    document = read(data)
    assert encode_meshes(meshes_of(document), document)[0] is document


# Values changed ------------------------------------------------------------------------------------------------------


def test_a_moved_vertex_changes_its_position_its_tangent_frame_and_the_bounds():
    (mesh,) = meshes_of(read(small.MODEL))
    positions = mesh.positions.copy()
    positions[1] = [4, 0, 0]
    document, changes = edited(positions=positions)
    assert changes.lines_of(Noun.MESH) == ["small_00: 1 position"]
    rows = document.children[0].first(Vertices).rows
    assert rows["position"].tolist() == [[0, 0, 0], [4, 0, 0], [0, 2, 3]]
    own_positions = differing_bytes(small.MODEL, document)
    child_header = small.MODEL.index(small.CHILD_HEADER)
    allowed = field_bytes(1, *POSITION) | field_bytes(1, *TANGENT_FRAME)
    allowed |= set(range(12, 52)) | set(range(child_header + 4, child_header + 44))
    assert own_positions <= allowed
    assert document.children[0].header.box.tolist() == [[0, 0, 0], [4, 2, 3]]
    assert document.header.box.tolist() == [[0, 0, 0], [4, 2, 3]]


def test_the_tangent_frame_follows_a_vertex_that_moves():
    (mesh,) = meshes_of(read(small.MODEL))
    positions = mesh.positions.copy()
    positions[1] = [1, 0, 1]  # in the file's axes 1 1 0: u runs along it, v from 0 2 3 to the origin
    rows = edited(positions=positions)[0].children[0].first(Vertices).rows
    tangent, binormal = np.array([1, 1, 0]) / np.sqrt(2), np.array([0, -2, -3]) / np.sqrt(13)
    np.testing.assert_allclose(rows["tangent"], [[1, 0, 0], tangent, [1, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(rows["binormal"], [[0, -1, 0], binormal, [0, -1, 0]], atol=1e-6)


@pytest.mark.parametrize("path", WITH_MESHES)
def test_a_vertex_moved_inside_leaves_bounds_that_still_enclose(path):
    """Tools fit spheres in many ways: a smaller one of ours would hide a model that is still in view."""
    document = ogf.read(path.read_bytes(), path.name, Report())
    meshes = meshes_of(document)
    mesh = max(meshes, key=lambda mesh: len(mesh.positions))
    middle = (mesh.positions.min(axis=0) + mesh.positions.max(axis=0)) / 2
    far = np.linalg.norm(mesh.positions - middle, axis=1)
    inner = int(np.argmin(np.where(far > 0.01 * far.max(), far, np.inf)))
    box = mesh.positions.min(axis=0), mesh.positions.max(axis=0)
    extreme = ((mesh.positions[inner] == box[0]) | (mesh.positions[inner] == box[1])).any()
    mesh.positions = mesh.positions.copy()
    mesh.positions[inner] += (middle - mesh.positions[inner]) * np.float32(0.25)
    result, changes = encode_meshes(meshes, document)
    assert changes.lines_of(Noun.MESH)
    for mine, theirs in zip([result, *result.children], [document, *document.children], strict=True):
        assert mine.header.sphere is theirs.header.sphere
        assert mine.first(Sphere) is theirs.first(Sphere)
        assert extreme or (mine.header is theirs.header and mine.first(Bounds) is theirs.first(Bounds))


def test_a_sphere_that_still_encloses_stays_where_the_box_follows_the_points():
    (mesh,) = meshes_of(read(small.MODEL))
    old = read(small.MODEL).children[0].header
    positions = mesh.positions.copy()
    positions[2] *= np.float32(0.5)
    positions[1] *= np.float32(0.9)
    document, _ = edited(positions=positions)
    header = document.children[0].header
    assert np.linalg.norm(positions[:, [0, 2, 1]] - old.sphere[:3], axis=1).max() <= old.sphere[3]
    assert header.sphere.tolist() == old.sphere.tolist()
    assert header.box[1].tolist() == positions[:, [0, 2, 1]].max(axis=0).tolist()


def test_vertices_of_a_broken_file_at_no_position_do_not_count_for_bounds():
    data = bytearray(small.MODEL)
    index = data.index(small.VERTICES) + 8
    data[index : index + 4] = struct.pack("<f", np.inf)
    document = ogf.read(bytes(data), "odd.ogf", Report())
    (mesh,) = meshes_of(document)
    mesh.positions = mesh.positions.copy()
    mesh.positions[1] = [40, 0, 0]
    result, _ = encode_meshes([mesh], document)
    for visual in (result, result.children[0]):
        assert np.isfinite(visual.header.box).all()
        assert np.isfinite(visual.header.sphere).all()
        assert visual.header.box[1][0] == 40


def test_bounds_hold_every_vertex(corpus):
    document = ogf.read((corpus / "ogf/soc_pm_hud_embedded.ogf").read_bytes(), "pm.ogf", Report())
    meshes = meshes_of(document)
    meshes[0].positions = meshes[0].positions * np.float32(1.5)
    result, _ = encode_meshes(meshes, document)
    for visual in (result, result.children[0]):
        points = np.concatenate([child.first(Vertices).rows["position"] for child in visual.children or [visual]])
        points = points.astype(np.float64)
        assert (points >= visual.header.box[0]).all()
        assert (points <= visual.header.box[1]).all()
        reach = np.linalg.norm(points - visual.header.sphere[:3], axis=1).max()
        assert reach <= visual.header.sphere[3] < 2 * reach
    assert result.children[1] is document.children[1]


def test_changed_texture_coordinates_change_nothing_but_themselves_and_the_tangents():
    (mesh,) = meshes_of(read(small.MODEL))
    uvs = mesh.uvs.copy()
    uvs[2] = [0.5, 0.25]
    document, changes = edited(uvs=uvs)
    assert changes.lines_of(Noun.MESH) == ["small_00: 1 texture coordinate"]
    assert document.children[0].first(Vertices).rows["uv"][2].tolist() == [0.5, 0.75]
    assert differing_bytes(small.MODEL, document) <= field_bytes(2, *UV) | field_bytes(2, *TANGENT_FRAME)


def test_a_changed_weight_changes_four_bytes():
    document, changes = edited(weights=weights_of((0, 0, 0.5), (0, 1, 0.5), (1, 1, 1), (2, 1, 1)))
    assert changes.lines_of(Noun.MESH) == ["small_00: 1 weight"]
    assert differing_bytes(small.MODEL, document) <= field_bytes(0, *WEIGHT)
    assert document.children[0].first(Vertices).rows["weights"][0] == 0.5


def test_the_heavier_bone_comes_first_and_a_single_bone_is_written_twice():
    document, _ = edited(weights=weights_of((0, 0, 0.25), (0, 1, 0.75), (1, 0, 2), (2, 1, 1)))
    rows = document.children[0].first(Vertices).rows
    assert rows["bones"].tolist() == [[1, 0], [0, 0], [1, 0]]
    assert rows["weights"].tolist() == [[0.25], [1], [0]]  # the third vertex was not touched
    assert small.MODEL.count(bytes.fromhex("01000000") + small.floats(0, 2, 3)) == 1


def test_weights_that_do_not_sum_to_one_are_normalised():
    document, _ = edited(weights=weights_of((0, 0, 0.6), (0, 1, 0.2), (1, 1, 1), (2, 1, 1)))
    assert document.children[0].first(Vertices).rows["weights"][0] == np.float32(0.25)


def more_bones(count: int) -> bytes:
    """The small model with further bones that nothing follows yet."""
    names = [b"root", b"hand", *(b"bone%d" % number for number in range(2, count))]
    box = small.floats(*range(15))
    bones = b"".join(name + b"\0" + (b"root" if index else b"") + b"\0" + box for index, name in enumerate(names))
    return small.model(
        bones=count.to_bytes(4, "little") + bones, physics=small.PHYSICS[: len(small.PHYSICS) // 2] * count
    )


def test_a_third_bone_needs_a_larger_format_and_the_other_vertices_keep_their_meaning():
    data = more_bones(4)
    given_weights = weights_of((0, 3, 0.5), (0, 0, 0.25), (0, 1, 0.25), (1, 1, 1), (2, 1, 1))
    document, changes = edited(data, weights=given_weights)
    vertices = document.children[0].first(Vertices)
    assert (vertices.format, vertices.rows.dtype.itemsize) == (3, 70)
    assert vertices.rows["bones"].tolist() == [[3, 0, 1], [1, 1, 1], [1, 1, 1]]
    assert vertices.rows["weights"].tolist() == [[0.5, 0.25], [1, 0], [1, 0]]
    before = read(data).children[0].first(Vertices).rows
    for name in ("position", "normal", "tangent", "binormal", "uv"):
        assert vertices.rows[name].tobytes() == before[name].tobytes()
    assert changes.lines_of(Noun.MESH) == ["small_00: 1 weight"]


def test_the_format_stays_in_the_family_of_the_base():
    data = more_bones(4).replace(bytes.fromhex("02000000030000000000 0100"), bytes.fromhex("00330e24030000000000 0100"))
    weights = weights_of(*((0, bone, 0.25) for bone in range(4)), (1, 1, 1), (2, 1, 1))
    document, _ = edited(data, weights=weights)
    assert document.children[0].first(Vertices).format == 0x5A237F80


def test_more_bones_than_the_game_takes_are_cut_to_the_heaviest_and_reported():
    weights = weights_of(*((0, bone, 0.1 + bone / 100) for bone in range(6)), (1, 1, 1), (2, 1, 1))
    document, changes = edited(more_bones(6), weights=weights)
    assert document.children[0].first(Vertices).rows["bones"][0].tolist() == [5, 4, 3, 2]
    assert changes.left_out == ["'small_00': 1 vertex with more bones than can be written"]
    two, changes = edited(more_bones(6), weights=weights, settings=Settings(most_links=2))
    assert two.children[0].first(Vertices).format == 2


def test_groups_that_are_no_bones_are_left_out_and_reported():
    weights = weights_of((0, 0, 0.75), (0, 1, 0.25), (0, 2, 0.5), (1, 1, 1), (2, 1, 1))
    (mesh,) = meshes_of(read(small.MODEL))
    _, changes = edited(groups=[*mesh.groups, "cloth pins"], weights=weights)
    assert not changes  # a weight of no bone is none to the game


def test_a_new_texture_is_written_and_nothing_else():
    document, changes = edited(materials=[Material("m", "wpn\\pip_2", "models\\model")])
    assert changes.lines_of(Noun.MESH) == ["small_00: texture or shader"]
    assert document.children[0].first(Texture) == Texture(b"wpn\\pip_2", b"models\\model")
    assert ogf.write(document) == small.MODEL.replace(b"pip_1", b"pip_2")


# New buffers ----------------------------------------------------------------------------------------------------------


def square(**fields) -> Mesh:
    """Two triangles, four vertices, in Blender's axes, standing on the xz plane and seen from -y."""
    mesh = Mesh(
        "square",
        np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]], np.float32),
        np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        np.tile(np.array([0, -1, 0], np.float32), (4, 1)),
        np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32),
        ["root", "hand"],
        weights_of((0, 0, 1), (1, 0, 1), (2, 1, 1), (3, 1, 1)),
        [Material("m", "wpn\\pip_1", "models\\model")],
        np.zeros(2, np.int32),
    )
    return replace(mesh, **fields)


def encoded(mesh: Mesh, data: bytes = small.MODEL) -> tuple[Ogf, list[str]]:
    document, changes = encode_meshes([mesh], read(data))
    return read(ogf.write(document)), changes.lines_of(Noun.MESH)


def test_new_vertices_get_the_smallest_format_and_tangents_along_the_texture():
    document, lines = encoded(square())
    assert lines == ["small_00: vertices 3 -> 4", "small_00: triangles 1 -> 2"]
    vertices = document.children[0].first(Vertices)
    assert (vertices.format, vertices.links) == (1, 1)
    assert vertices.rows["bones"].ravel().tolist() == [0, 0, 1, 1]
    # In X-Ray's axes u runs along x and v, which grows downwards, along -y.
    assert np.allclose(vertices.rows["tangent"], [1, 0, 0])
    assert np.allclose(vertices.rows["binormal"], [0, -1, 0])
    assert np.allclose(vertices.rows["normal"], [0, 0, -1])
    assert document.children[0].first(Indices).corners.tolist() == [0, 2, 1, 0, 3, 2]
    assert document.children[0].header.box.tolist() == [[0, 0, 0], [1, 1, 0]]


def test_missing_normals_are_computed_from_the_faces():
    document, _ = encoded(square(normals=None))
    assert np.allclose(document.children[0].first(Vertices).rows["normal"], [0, 0, -1])


def test_new_triangles_cost_a_progressive_model_its_details(corpus):
    document = ogf.read((corpus / "ogf/radium_rat.ogf").read_bytes(), "rat.ogf", Report())
    (mesh,) = meshes_of(document)
    assert document.children[0].header.type == VisualType.SKINNED_PROGRESSIVE
    result, changes = encode_meshes([replace(mesh, triangles=mesh.triangles[:-1], material_index=None)], document)
    child = result.children[0]
    assert child.header.type == VisualType.SKINNED_STRIP
    assert child.first(SlidingWindows) is None
    assert len(child.first(Indices).corners) == 3 * 297
    assert changes.lines_of(Noun.MESH) == ["rat_00: triangles 298 -> 297"]
    assert changes.left_out == ["the levels of detail of 'rat_00': they belong to the old triangles"]
    before = document.children[0].first(Vertices).rows
    assert child.first(Vertices).rows.tobytes() == before.tobytes()


@st.composite
def any_mesh(draw):
    count = draw(st.integers(3, 12))
    faces = draw(st.integers(1, 6))
    finite = st.floats(-100, 100, width=32)
    links = draw(arrays.arrays(np.bool_, (count, 4)))
    links[~links.any(axis=1), 0] = True
    amounts = draw(arrays.arrays(np.float32, (count, 4), elements=st.integers(1, 100).map(float)))
    vertices, groups = np.nonzero(links)
    shares = (amounts / np.where(links, amounts, 0).sum(axis=1, keepdims=True))[vertices, groups]
    return Mesh(
        "any",
        draw(arrays.arrays(np.float32, (count, 3), elements=finite)),
        draw(arrays.arrays(np.int32, (faces, 3), elements=st.integers(0, count - 1))),
        draw(arrays.arrays(np.float32, (count, 3), elements=st.floats(-1, 1, width=32))),
        draw(arrays.arrays(np.float32, (count, 2), elements=st.floats(-4, 4, width=32))),
        ["root", "hand", "bone2", "bone3"],
        VertexWeights(vertices.astype(np.int32), groups.astype(np.int32), shares.astype(np.float32)),
    )


@given(any_mesh())
def test_any_mesh_comes_back_and_is_then_unedited(mesh):
    data = more_bones(4)
    base = read(data)
    document, _ = encode_meshes([mesh], base)
    written = ogf.write(document)
    again = read(written)
    (back,) = meshes_of(again)
    for result, asked in ((back.positions, mesh.positions), (back.normals, mesh.normals)):
        # Within four steps of a float32 of what the base has, a number counts as untouched.
        assert (np.abs(result - asked) <= 4 * np.spacing(np.abs(asked))).all()
    assert np.array_equal(back.triangles, mesh.triangles)
    assert np.allclose(back.uvs, mesh.uvs, atol=4e-7)
    tables = []
    for weights in (mesh.weights, back.weights):
        table = np.zeros((len(mesh.positions), 4))
        table[weights.vertices, weights.groups] = weights.weights
        tables.append(table)
    assert np.allclose(tables[0], tables[1], atol=1e-6)
    frames = again.children[0].first(Vertices).rows
    assert np.isfinite(frames["tangent"]).all()
    assert np.allclose(np.linalg.norm(frames["tangent"], axis=1), 1, atol=1e-5)
    assert np.allclose(np.linalg.norm(frames["binormal"], axis=1), 1, atol=1e-5)
    same, changes = encode_meshes([back], again)
    assert same is again
    assert not changes


@pytest.mark.parametrize("path", WITH_MESHES)
def test_tangents_of_real_models_are_those_we_compute(path):
    # The editor's own method is not known to the bit; direction in the median within eight degrees is what it shares.
    document = ogf.read(path.read_bytes(), path.name, Report())
    for visual, mesh in zip(document.children or [document], meshes_of(document), strict=True):
        rows = visual.first(Vertices).rows
        if "tangent" not in rows.dtype.names or len(rows) < 100:
            continue
        triangles = mesh.triangles[:, [0, 2, 1]]
        frames = surface.tangent_frames(rows["position"], rows["normal"], rows["uv"], triangles)
        for name, ours in zip(("tangent", "binormal"), frames, strict=True):
            theirs = rows[name].astype(np.float64)
            length = np.linalg.norm(theirs, axis=1)
            good = np.isfinite(length) & (length > 0)
            cosine = (theirs[good] * ours[good]).sum(axis=1) / length[good]
            assert np.median(cosine) > (0.9 if "rat" in path.name else 0.97)


@pytest.mark.parametrize(
    "name",
    ["nlc_pp91_hud", "nlc_walter99_hud", "soc_bolt_hud", "soc_pm_hud_embedded", "type10_rigid_brkbl", "wpn_pm_hud"],
)
def test_tangents_of_the_sdk_are_plain_sums(corpus, name):
    document = ogf.read((corpus / f"ogf/{name}.ogf").read_bytes(), name, Report())
    near = []
    for visual in document.children:
        rows, indices = visual.first(Vertices).rows, visual.first(Indices).corners.reshape(-1, 3).astype(np.int64)
        sums = surface.tangent_sums(rows["position"], rows["uv"], indices)
        for key, ours in zip(("tangent", "binormal"), sums, strict=True):
            near.append(np.abs(rows[key] - ours).max(axis=1) < 2e-3)
    assert np.concatenate(near).mean() > 0.998


# Version 3 -----------------------------------------------------------------------------------------------------------


def test_vertices_of_version_3_go_back_into_their_bones_space(corpus):
    data = (corpus / "ogf/bx_build_v3.ogf").read_bytes()
    document = ogf.read(data, "old.ogf", Report())
    (mesh,) = meshes_of(document)
    moved = mesh.positions.copy()
    moved[5] += [0.5, 0, 0]
    result, changes = encode_meshes([replace(mesh, positions=moved)], document)
    assert changes.lines_of(Noun.MESH) == ["old_00: 1 position"]
    (back,) = meshes_of(ogf.read(ogf.write(result), "old.ogf", Report()))
    assert np.allclose(back.positions, moved, atol=1e-6)
    before, after = (visual.children[0].first(Vertices).rows for visual in (document, result))
    assert np.flatnonzero((before["position"] != after["position"]).any(axis=1)).tolist() == [5]
    assert after.dtype.itemsize == 36


def test_a_vertex_of_version_3_that_moves_to_another_position_and_bone_at_once_is_there():
    vertices = b"".join(
        small.floats(*position, 0, 0, 1, 0, 0) + struct.pack("<I", bone)
        for position, bone in (((0, 0, 0), 0), ((1, 0, 0), 0), ((0, 2, 3), 1))
    )
    held = small.chunk(7, struct.pack("<II", 0x12071980, 3) + vertices) + small.chunk(8, small.INDICES)
    child = small.chunk(1, b"\3\7\0\0") + small.chunk(2, small.TEXTURE) + held
    body = small.chunk(0x11, small.chunk(0, child)) + small.chunk(0xD, small.BONES) + small.chunk(0x1C, small.PHYSICS)
    document = ogf.read(small.chunk(1, b"\3\x0f\0\0") + body, "old.ogf", Report())
    (mesh,) = meshes_of(document)
    mesh.positions, mesh.weights = mesh.positions.copy(), replace(mesh.weights, groups=np.array([0, 1, 1], np.int32))
    mesh.positions[1] += [0.5, 0, 0]
    result, changes = encode_meshes([mesh], document)
    assert changes.lines_of(Noun.MESH) == ["old_00: 1 position", "old_00: 1 weight"]
    (back,) = meshes_of(ogf.read(ogf.write(result), "old.ogf", Report()))
    np.testing.assert_allclose(back.positions, mesh.positions, atol=1e-6)
    assert back.weights.groups.tolist() == [0, 1, 1]
    rows = [visual.children[0].first(Vertices).rows for visual in (document, result)]
    assert [row.tobytes() for row in rows[0][[0, 2]]] == [row.tobytes() for row in rows[1][[0, 2]]]


# Refused -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mesh", "problem"),
    [
        (square(triangles=np.zeros((0, 3), np.int32), material_index=None), "'square' has no faces"),
        (square(triangles=np.array([[0, 1, 4]], np.int32)), "refers to a missing vertex"),
        (square(triangles=np.array([[0, 1, -1]], np.int32)), "refers to a missing vertex"),
        (square(positions=np.full((4, 3), np.nan, np.float32)), "holds NaN or infinite values"),
        (
            square(weights=weights_of((0, 0, 1), (1, 0, 1))),
            "vertices of 'square' that are not assigned to a bone: 2 of 4",
        ),
        (square(weights=None), "vertices of 'square' that are not assigned to a bone: 4 of 4"),
        (square(groups=["Bone", "Bone.001"]), "vertices of 'square' that are not assigned to a bone: 4 of 4"),
        (square(weights=weights_of((0, 0, np.nan))), "a weight of 'square' is NaN or infinite"),
        (square(material_index=np.array([0, 1])), "'square' has several materials"),
        (square(materials=[Material("m", "纹理", "s")]), "the game's code page"),
    ],
)
def test_what_the_game_cannot_take_is_refused_with_a_remedy(mesh, problem):
    with pytest.raises(WriteError, match=problem) as refusal:
        encode_meshes([mesh], read(small.MODEL))
    assert refusal.value.remedy


@pytest.mark.parametrize(("count", "fits"), [(65535, True), (65536, False)])
def test_a_mesh_has_at_most_65535_vertices(count, fits):
    ids = np.arange(count, dtype=np.int32)
    mesh = square(
        positions=np.zeros((count, 3), np.float32),
        normals=None,
        uvs=None,
        triangles=np.array([[0, 1, count - 1]], np.int32),
        weights=VertexWeights(ids, np.zeros(count, np.int32), np.ones(count, np.float32)),
        material_index=None,
    )
    if fits:
        document, _ = encoded(mesh)
        assert len(document.children[0].first(Vertices).rows) == count
        assert document.children[0].first(Indices).corners.tolist() == [0, 65534, 1]
    else:
        with pytest.raises(WriteError, match="has 65536 vertices, the game supports 65535"):
            encode_meshes([mesh], read(small.MODEL))


def test_the_number_of_meshes_must_be_the_models():
    with pytest.raises(WriteError, match="0 meshes are given, the model has 1"):
        encode_meshes([], read(small.MODEL))


def test_a_child_that_cannot_be_read_stays_beside_one_that_moves():
    broken = small.chunk(1, b"\4\3")
    data = small.MODEL.replace(
        small.chunk(9, small.chunk(0, small.CHILD)), small.chunk(9, small.chunk(0, small.CHILD), small.chunk(1, broken))
    )
    document = ogf.read(data, "odd.ogf", Report())
    (mesh,) = meshes_of(document)
    mesh.positions = mesh.positions.copy()
    mesh.positions[1] = [4, 0, 0]
    result, _ = encode_meshes([mesh], document)
    assert result.header.box[1].tolist() == [4, 2, 3]
    assert small.chunk(1, broken) in ogf.write(result)
