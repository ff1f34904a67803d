"""Levels as polygons, proxies and named points: by hand-made levels and by a plain rule for every face."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.model import FILE_FACE
from addon.core.report import Report
from addon.formats.arma import p3d
from addon.formats.arma.p3d.document import ARMA, FACE, LAST_TAG, POINT, Lod, Tag
from tests.real_files import corpus_files

EDITABLE = [file for file in corpus_files("p3d/*.p3d") if not re.search("odol|odd_", str(file.id))]
"""Real models that are not refused."""
FACES = st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=4), max_size=20)


def level(faces, points=6, tags=(), resolution=1.0) -> Lod:
    """Points along a curve; corner normals and texture places tell the corners of a face apart."""
    positions = np.zeros(points, POINT)
    steps = np.arange(points, dtype=np.float32)
    positions["position"] = np.stack([steps, steps**2, steps % 3], axis=-1)
    rows = np.zeros(len(faces), FACE)
    for row, face in zip(rows, faces, strict=True):
        row["count"] = len(face)
        row["corners"]["point"][: len(face)] = face
        row["corners"]["uv"][:, 0] = np.arange(4) / 4
    normals = np.array([[0, -1, 0]], np.float32)
    texts = [(b"a.paa", b"a.rvmat")]
    ends = [*tags, Tag(LAST_TAG, b"")]
    return Lod(
        ARMA,
        0x100,
        0,
        b"",
        positions,
        normals,
        rows,
        texts,
        np.zeros(len(faces), np.int32),
        ends,
        np.float32(resolution),
    )


def without_neighbours(face):
    return [corner for corner, point in enumerate(face) if point != face[(corner + 1) % len(face)]]


@given(FACES)
def test_every_face_that_is_one_stays_as_it_is(faces):
    mesh = p3d.decode_polygons(level(faces), Report(), {}, "x")
    wanted = []
    for number, face in enumerate(faces):
        corners = without_neighbours(face)
        points = [face[corner] for corner in corners]
        if len(points) >= 3 and len(set(points)) == len(points):
            wanted.append((number, points, [corner / 4 for corner in corners]))
    at = 0
    assert mesh.counts.tolist() == [len(points) for _, points, _ in wanted]
    assert mesh.attributes[FILE_FACE].values.tolist() == [number for number, _, _ in wanted]
    for _, points, across in wanted:
        assert mesh.corners[at : at + len(points)].tolist() == points
        assert mesh.uvs[at : at + len(points), 0].tolist() == across
        at += len(points)
    assert at == len(mesh.corners) == len(mesh.corner_normals)


def test_axes_normals_and_texture_coordinates():
    mesh = p3d.decode_polygons(level([[0, 1, 2, 3]]), Report(), {}, "x")
    assert mesh.positions[2].tolist() == [2, 2, 4], "y and z exchanged"
    assert mesh.corner_normals[0].tolist() == [0, 0, 1], "turned round"
    assert mesh.uvs[0].tolist() == [0, 1], "v from below"
    assert [(material.name, material.texture, material.shader) for material in mesh.materials] == [
        ("a", "a.paa", "a.rvmat")
    ]


def test_groups_are_called_as_asked_and_weights_are_those_stored():
    points = bytes((1, 2, 255, 128, 0, 0))
    tags = [Tag(b"Spine", points), Tag(b"SPINE", bytes((0, 0, 0, 1, 1, 0))), Tag(b".off", points), Tag(b"camo", points)]
    mesh = p3d.decode_polygons(level([], tags=tags), Report(), {"spine": "DEF_Spine"}, "x")
    assert mesh.groups == ["DEF_Spine", "camo"]
    spine = mesh.weights.groups == 0
    assert mesh.weights.vertices[spine].tolist() == [0, 1, 2, 3, 4]
    assert np.allclose(mesh.weights.weights[spine], [1, 254 / 255, 1 / 255, 1, 1], atol=1e-7)


def test_sharp_edges_and_mass():
    pairs = np.array([[0, 1], [4, 2], [3, 9]], "<u4")
    tags = [Tag(b"#SharpEdges#", pairs.tobytes() + b"\1"), Tag(b"#Mass#", np.arange(6, dtype="<f4").tobytes())]
    mesh = p3d.decode_polygons(level([[0, 1, 2]], tags=tags), Report(), {}, "x")
    assert mesh.sharp_edges.tolist() == [[0, 1], [4, 2]], "there is no point 9"
    assert mesh.attributes["mass"].values.tolist() == [0, 1, 2, 3, 4, 5]
    short = [Tag(b"#Mass#", bytes(8))]
    assert "mass" not in p3d.decode_polygons(level([[0, 1, 2]], tags=short), Report(), {}, "x").attributes


def test_what_is_not_shown_is_reported():
    tags = [Tag(b"#UVSet#", bytes(4)), Tag(b"#UVSet#", b"\1\0\0\0"), Tag(b"#Animation#", bytes(4 + 12 * 6))]
    report = Report()
    p3d.decode_polygons(level([[0, 0, 1]], tags=tags), report, {}, "x")
    assert sorted(report.lines()) == [
        "1 additional UV map is not imported (x)",
        "1 face without area is left out (x)",
        "1 posed point set is not imported (x)",
    ]


@pytest.mark.parametrize("turned", [[0, 1, 2], [1, 2, 0], [2, 1, 0]])
def test_a_proxy_stands_at_its_right_angle(turned):
    # Up to 3 along the file's y, forward to 2 along its z: the model is not turned.
    corners = np.array([(1, 1, 1), (1, 3, 1), (1, 1, 2)], np.float32)
    position = level([turned], points=3, tags=[Tag(b"proxy:\\a\\b.001", b"\0\0\0\1"), Tag(b"hand", b"\1\0\0\0")])
    position.points["position"] = corners
    (obj,) = p3d.proxies(position)
    assert (obj.name, obj.point, obj.bones) == ("\\a\\b.001", 0, {"hand": 1.0})
    assert obj.transform[:3, 3].tolist() == [1, 1, 1]
    np.testing.assert_allclose(obj.transform[:3, :3], np.eye(3), atol=1e-12)
    assert p3d.decode_polygons(position, Report(), {}, "x").counts.tolist() == []


def test_the_shorter_leg_of_a_proxy_is_forward_and_exact():
    """The longer one says only where up is; x points aside, and the frame stays right-handed in Blender."""
    position = level([[0, 1, 2]], points=3, tags=[Tag(b"proxy:a.001", b"\0\0\0\1")])
    position.points["position"] = [(0, 0, 0), (1, 0, 0), (0.2, 0, 2)]  # in the file: forward is +x, up nearly its z
    (result,) = p3d.proxies(position)
    np.testing.assert_allclose(result.transform[:3, 1], [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(result.transform[:3, 2], [0, 1, 0], atol=1e-12)
    np.testing.assert_allclose(result.transform[:3, 0], [0, 0, 1], atol=1e-12)


def test_the_proxy_of_a_real_model_is_not_turned(corpus):
    """Its triangle is (0, 0, 0), (0, 2, 0), (0, 0, 1) in file axes: the engine's own orientation."""
    document = p3d.read((corpus / "p3d" / "crowbar_proxy.p3d").read_bytes(), "crowbar", Report())
    result = [proxy for lod in document.lods for proxy in p3d.proxies(lod)]
    assert len(result) == 1
    np.testing.assert_allclose(result[0].transform, np.eye(4), atol=1e-6)


def test_a_proxy_without_area_or_triangle_does_no_harm():
    tags = [Tag(b"proxy:flat.01", b"\0\0\0\1"), Tag(b"proxy:none.01", b"\0\0\0\0")]
    position = level([[0, 1, 2]], points=3, tags=tags)
    position.points["position"] = [(0, 0, 0), (1, 0, 0), (np.nan, 0, 0)]
    (obj,) = p3d.proxies(position)
    assert obj.name == "flat.01"
    assert np.isfinite(obj.transform).all()
    position.points["position"] = [(np.inf, 0, 0), (-np.inf, 0, 0), (3e38, 0, 3e38)]
    (obj,) = p3d.proxies(position)
    assert np.array_equal(obj.transform[:3, :3], np.eye(3))


def test_points_that_are_not_finite_do_not_count_for_the_middle():
    position = level([], points=3, tags=[Tag(b"hand", b"\1\1\1"), Tag(b"lost", b"\0\0\1")])
    position.points["position"] = [(0, 0, 0), (2, 4, 6), (np.inf, np.nan, 0)]
    result = p3d.centres(position, ["hand", "lost"])
    assert {bone: point.tolist() for bone, point in result.items()} == {"hand": [1, 6 / 2, 4 / 2]}


def test_named_points_know_all_their_selections():
    tags = [Tag(b"light", b"\0\1\0"), Tag(b"Pelvis", bytes((0, 128, 1))), Tag(b"-off", b"\1\1\1")]
    position = level([], points=3, tags=tags, resolution=1e15)
    result = p3d.named_points(position)
    assert [point.name for point in result] == ["", "light", "Pelvis"]
    assert list(result[1].bones) == ["light", "Pelvis"], "the heaviest first"
    assert result[1].bones["Pelvis"] == pytest.approx(128 / 255)
    assert result[2].transform[:3, 3].tolist() == [2, 2, 4]
    assert p3d.named_points(level([], points=0)) == []
