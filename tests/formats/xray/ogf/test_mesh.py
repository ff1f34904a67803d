"""Meshes out of models: axes, order, full detail, weights, the space of old vertices."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from addon.core.report import Report
from addon.formats.xray import ogf
from addon.formats.xray.ogf.chunk_types import SKINNED, Bounds, Vertices
from addon.formats.xray.ogf.document import Ogf
from addon.formats.xray.ogf.mesh import decode_meshes, decode_weights
from tests.formats.xray.ogf import small_model as small
from tests.real_files import corpus_files

# One is a texture of another game, two lost their meshes.
MESHLESS = ("odd_d3_texture_not_xray", "odd_hand_text_mangled", "odd_chunk_size_wrong_middle")
WITH_MESHES = [p for p in corpus_files("ogf/*.ogf") if not str(p.id).removesuffix(".ogf").endswith(MESHLESS)]


def read(data: bytes) -> Ogf:
    return ogf.read(data, "folder\\small.ogf", Report())


def child_of(*chunks: bytes) -> bytes:
    return small.model(child=small.chunk(1, small.CHILD_HEADER) + b"".join(chunks))


def test_the_small_model_in_blenders_axes():
    report = Report()
    (mesh,) = decode_meshes(read(small.MODEL), report)
    assert not report
    assert mesh.name == "small_00"
    assert mesh.positions.tolist() == [[0, 0, 0], [1, 0, 0], [0, 3, 2]]
    assert mesh.normals.tolist() == [[0, 1, 0]] * 3
    assert mesh.uvs.tolist() == [[0, 0], [1, 0], [0, 1]]  # v upwards
    assert mesh.triangles.tolist() == [[0, 2, 1]]
    assert mesh.groups == ["root", "hand"]
    assert mesh.weights.vertices.tolist() == [0, 0, 1, 2]
    assert mesh.weights.groups.tolist() == [0, 1, 1, 1]
    assert mesh.weights.weights.tolist() == [0.75, 0.25, 1, 1]  # two links store the second one's weight
    (material,) = mesh.materials
    assert (material.name, material.texture, material.shader) == ("pip_1", "wpn\\pip_1", "models\\model")
    assert mesh.positions.dtype == mesh.normals.dtype == mesh.uvs.dtype == np.float32


@pytest.mark.parametrize("path", WITH_MESHES)
def test_triangles_of_real_models_face_where_their_normals_point(path):
    report = Report()
    for mesh in decode_meshes(ogf.read(path.read_bytes(), path.name, Report()), report):
        a, b, c = (mesh.positions[mesh.triangles[:, corner]].astype(np.float64) for corner in range(3))
        outward = np.cross(b - a, c - a)  # counter-clockwise from outside, right-handed
        agrees = (outward * mesh.normals[mesh.triangles].sum(axis=1)).sum(axis=1) > 0
        assert agrees.mean() > 0.95
        assert np.isfinite(mesh.positions).all()
        if mesh.weights is not None:
            sums = np.bincount(mesh.weights.vertices, mesh.weights.weights, len(mesh.positions))
            assert np.abs(sums - 1).max() < 1e-6
            assert mesh.weights.weights.min() > 0
            assert mesh.weights.groups.max() < len(mesh.groups)
    assert not report


@pytest.mark.parametrize("path", WITH_MESHES)
def test_vertices_of_real_models_lie_in_the_box_of_their_header(path):
    # The box is stored apart from the vertices: swapped axes or a wrong bone space would leave it.
    document = ogf.read(path.read_bytes(), path.name, Report())
    meshes = decode_meshes(document, Report())
    visuals = document.children or [document]
    for mesh, visual in zip(meshes, visuals, strict=True):
        bounds = visual.first(Bounds)
        box = (visual.header.box if bounds is None else bounds.box)[:, [0, 2, 1]]
        size = (box[1] - box[0]).max()
        assert (mesh.positions >= box[0] - 1e-3 * size).all()
        assert (mesh.positions <= box[1] + 1e-3 * size).all()


def test_a_progressive_model_shows_its_finest_detail():
    indices = struct.pack("<I9H", 9, 0, 0, 1, 0, 1, 2, 2, 1, 0)
    windows = bytes(16) + struct.pack("<IIHHIHH", 2, 3, 1, 3, 0, 1, 2)
    data = child_of(small.chunk(3, small.VERTICES), small.chunk(4, indices), small.chunk(6, windows))
    (mesh,) = decode_meshes(read(data), Report())
    assert mesh.triangles.tolist() == [[0, 2, 1]]


def test_a_real_progressive_model_has_the_triangles_its_window_counts(corpus):
    document = ogf.read((corpus / "ogf/human_stalker_hero_1.ogf").read_bytes(), "hero.ogf", Report())
    assert [len(mesh.triangles) for mesh in decode_meshes(document, Report())] == [2096, 4218]


@pytest.mark.parametrize(
    ("indices", "windows", "finding", "triangles"),
    [
        (struct.pack("<I6H", 6, 0, 1, 2, 0, 1, 3), b"", "1 triangle refers to missing vertices; left out", 1),
        (struct.pack("<I4H", 4, 0, 1, 2, 0), b"", "4 corners do not make whole triangles; the rest is left out", 1),
        (
            struct.pack("<I3H", 3, 0, 1, 2),
            bytes(16) + struct.pack("<IIHH", 1, 0, 9, 3),
            "the finest detail has faces that do not exist; the existing ones are used",
            1,
        ),
    ],
)
def test_broken_triangles_are_left_out_and_reported(indices, windows, finding, triangles):
    more = [small.chunk(6, windows)] if windows else []
    report = Report()
    data = child_of(small.chunk(3, small.VERTICES), small.chunk(4, indices), *more)
    (mesh,) = decode_meshes(read(data), report)
    assert len(mesh.triangles) == triangles
    assert report.lines() == [f"{finding} (small_00)"]


def test_a_mesh_whose_geometry_lies_in_the_level_is_left_out_and_reported():
    data = small.chunk(21, bytes(24)) + small.chunk(1, small.CHILD_HEADER)
    report = Report()
    assert decode_meshes(read(data), report) == []
    assert report.lines() == ["1 mesh is left out: its geometry lies in the level's files (small)"]


def test_a_static_model_has_no_groups(corpus):
    document = ogf.read((corpus / "ogf/type0_static_puddles.ogf").read_bytes(), "puddles.ogf", Report())
    (mesh,) = decode_meshes(document, Report())
    assert (mesh.name, len(mesh.positions), len(mesh.triangles)) == ("puddles", 368, 1024)
    assert mesh.weights is None
    assert mesh.groups == []


def test_hierarchies_inside_are_flattened_and_numbered():
    inner = small.chunk(1, small.CHILD_HEADER) + small.chunk(
        9, small.chunk(0, small.CHILD), small.chunk(1, small.CHILD)
    )
    data = small.chunk(1, small.HEADER) + small.chunk(9, small.chunk(0, small.CHILD), small.chunk(1, inner))
    names = [mesh.name for mesh in decode_meshes(read(data), Report())]
    assert names == ["small_00", "small_01_00", "small_01_01"]


def test_weights_of_bones_that_do_not_exist_are_left_out_and_reported():
    rows = small.VERTICES.replace(bytes.fromhex("00000100"), bytes.fromhex("00000900"), 1)
    report = Report()
    (mesh,) = decode_meshes(read(child_of(small.chunk(3, rows), small.chunk(4, small.INDICES))), report)
    assert mesh.weights.groups.tolist() == [0, 1, 1]
    assert report.lines() == ["1 weight of bones that do not exist left out (small_00)"]


BONE_COUNT = 5


@given(st.data())
def test_weights_are_what_a_plain_loop_says(data):
    links = data.draw(st.integers(1, 4))
    count = data.draw(st.integers(1, 6))
    rows = np.zeros(count, SKINNED[links])
    rows["bones"] = data.draw(arrays.arrays(np.uint16, (count, links), elements=st.integers(0, BONE_COUNT - 1)))
    if links > 1:
        parts = data.draw(
            arrays.arrays(np.float32, (count, links - 1), elements=st.integers(0, 64).map(lambda n: n / 256))
        )
        rows["weights"] = parts
    result = decode_weights(Vertices(links, rows), BONE_COUNT, "x", Report())
    got = {}
    for vertex, group, weight in zip(result.vertices, result.groups, result.weights, strict=True):
        assert (vertex, group) not in got
        got[int(vertex), int(group)] = float(weight)
    expected: dict[tuple[int, int], float] = {}
    for vertex, row in enumerate(rows):
        stored = [float(w) for w in row["weights"]] if links > 1 else []
        # The page: two links store the second bone's weight; three and four all but the last bone's.
        weights = [1 - stored[0], stored[0]] if links == 2 else [*stored, 1 - sum(stored)]
        for bone, weight in zip(row["bones"], weights, strict=True):
            expected[vertex, int(bone)] = expected.get((vertex, int(bone)), 0) + weight
    assert got == {key: weight for key, weight in expected.items() if weight > 0}


def test_old_vertices_are_moved_from_their_bones_space_to_the_models():
    # One bone, turned a quarter about y and moved: X-Ray's Ry(90°) takes z to x.
    rest = small.floats(0, np.pi / 2, 0, 10, 20, 30)
    physics = small.MATERIAL + small.SHAPE + small.JOINT + small.BREAKING + rest + small.MASS
    bones = struct.pack("<I", 1) + b"root\0\0" + small.floats(*range(15))
    vertex = small.floats(1, 2, 3, 0, 0, 1, 0.5, 0.25) + struct.pack("<I", 0)
    child = (
        small.chunk(1, b"\x03\x07\0\0")
        + small.chunk(7, struct.pack("<II", 0x12071980, 3), vertex, vertex, vertex)
        + small.chunk(8, small.INDICES)
    )
    data = (
        small.chunk(1, b"\x03\x0f\0\0")
        + small.chunk(0x11, small.chunk(0, child))
        + small.chunk(0xD, bones)
        + small.chunk(0x19, physics)
    )
    report = Report()
    document = ogf.read(data, "old.ogf", report)
    (mesh,) = decode_meshes(document, report)
    assert not report
    # X-Ray: (1, 2, 3) -> (3, 2, -1) turned, (13, 22, 29) moved; in Blender y and z are exchanged.
    assert np.allclose(mesh.positions, [[13, 29, 22]] * 3, atol=1e-5)
    assert np.allclose(mesh.normals, [[1, 0, 0]] * 3, atol=1e-6)
    assert mesh.weights.groups.tolist() == [0, 0, 0]
