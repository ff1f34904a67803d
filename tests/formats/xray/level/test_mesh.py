"""What visuals draw: the reference numbers, levels of detail, sectors, ranges that lead nowhere."""

import json

import numpy as np
import pytest

from addon.core.report import Report
from addon.formats.xray import level
from addon.formats.xray.level import geometry, mesh
from addon.formats.xray.level.document import Kind, Lists
from tests.formats.xray.level.annotated import SMALL_GEOM, SMALL_LEVEL
from tests.formats.xray.level_bytes import words

SETS = ("bx_test", "xray15_mp_test", "olr_tss_cd70ecb")
ALL_SETS = (*SETS, "synthetic_v13_bx_test", "synthetic_v13_olr_tss_cd70ecb")
STEP = 4e-6
"""Of a texture coordinate; everything else is nearer."""


def opened(folder):
    report = Report()
    document = level.read((folder / "level").read_bytes(), str(folder / "level"), report)
    return document, geometry.read((folder / "level.geom").read_bytes(), str(folder / "level.geom"), report), report


def small(level_bytes=SMALL_LEVEL, geometry_bytes=SMALL_GEOM):
    report = Report()
    return level.read(level_bytes, "level", report), geometry.read(geometry_bytes, "level.geom", report), report


@pytest.mark.parametrize("name", ALL_SETS)
def test_the_reference_numbers_hold(name, corpus, vectors):
    numbers = json.loads((vectors / "level" / "level_vectors_give.json").read_text())[
        name.removeprefix("synthetic_v13_")
    ]
    document, geom, report = opened(corpus / "level" / name)
    assert document.visuals.types.tolist() == numbers["types"]
    assert [shader.decode("cp1252") for shader in document.shaders] == numbers["shaders"]
    assert [[sector.root, sector.portals.tolist()] for sector in document.sectors] == numbers["sectors"]
    vertices = [mesh.decode_vertices(buffer) for buffer in geom.vertices]
    totals, agreeing, low, high = np.zeros(3), 0, [], []
    rows = mesh.drawn(document, geom, report)
    for row in rows:
        wanted = numbers["visuals"][row["visual"]]
        faces = mesh.triangles(row, geom)
        assert (len(faces), row["vertex_count"]) == (wanted["triangles"], wanted["vertices"])
        assert faces[:3].tolist() == wanted["triangles_first_blender"]
        here, base = vertices[row["vertex_buffer"]], int(row["vertex_base"])
        matrix = mesh.tree_matrices(document, np.array([row["visual"]]))[0]
        if "tree" in wanted:
            assert np.allclose(matrix, wanted["tree"]["blender_matrix"], atol=1e-6)
        points = here.positions[base : base + row["vertex_count"]] @ matrix[:3, :3].T + matrix[:3, 3]
        for sample in wanted["samples"]:
            check_sample(here, base + sample["vertex"], points[sample["vertex"]], sample)
        corners = points[faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        stored = here.normals[base : base + row["vertex_count"]] @ matrix[:3, :3].T
        agreeing += int((np.einsum("ij,ij->i", normals, stored[faces].sum(axis=1)) > 0).sum())
        totals += (len(faces), row["vertex_count"], np.linalg.norm(normals, axis=1).sum() / 2)
        low.append(points.min(axis=0))
        high.append(points.max(axis=0))
    assert agreeing == totals[0] == numbers["totals"]["triangles"]
    assert totals[1] == numbers["totals"]["vertices"]
    assert totals[2] == pytest.approx(numbers["totals"]["area_m2"], abs=1e-3)
    assert np.allclose(
        [np.min(low, axis=0), np.max(high, axis=0)],
        [numbers["totals"][f"blender_{end}"] for end in ("min", "max")],
        atol=1e-4,
    )
    assert not report


def check_sample(vertices, at, point, sample):
    assert np.allclose(point, sample["P_blender_world"], atol=1e-5)
    assert np.allclose(vertices.uvs[at], sample["uv_blender"], atol=STEP)
    assert vertices.hemi[at] == pytest.approx(sample["hemi"], abs=1e-6)
    normal = np.array(sample["N"])[[0, 2, 1]]
    assert np.allclose(vertices.normals[at], normal / np.linalg.norm(normal), atol=1e-6)
    if "uv_source" in sample:
        assert np.allclose(vertices.uvs[at] * [1, -1] + [0, 1], sample["uv_source"], atol=STEP)
    if "lm" in sample:
        assert np.allclose(vertices.light_map_uvs[at] * [1, -1] + [0, 1], sample["lm"], atol=STEP)
    if "wind" in sample:
        assert vertices.wind[at] == pytest.approx(sample["wind"], abs=1e-6)
    if "rgb" in sample:
        assert np.allclose(vertices.colours[at], [*sample["rgb"], sample["sun"]], atol=1e-6)


@pytest.mark.parametrize("name", SETS)
def test_every_level_of_detail_is_the_window_the_engine_takes(name, corpus, vectors):
    numbers = json.loads((vectors / "level" / "level_vectors_give.json").read_text())[name]
    document, geom, report = opened(corpus / "level" / name)
    rows = {quality: mesh.drawn(document, geom, report, 1 - quality) for quality in (1, 0.75, 0.5, 0.25, 0)}
    full = mesh.drawn(document, geom, report)
    asked = 0
    for visual in numbers["visuals"]:
        for quality, (offset, triangles, _) in visual.get("window", {}).items():
            row = rows[float(quality)][rows[float(quality)]["visual"] == visual["index"]][0]
            start = full[full["visual"] == visual["index"]]["index_base"][0] - visual["window"]["1.0"][0]
            assert (row["index_base"] - start, row["triangles"]) == (offset, triangles)
            asked += 1
    assert asked == 5 * sum("windows" in visual for visual in numbers["visuals"])


def test_the_first_window_is_drawn_not_the_whole_list():
    document, geom, report = small()
    rows = mesh.drawn(document, geom, report)
    assert rows[["visual", "shader", "index_base", "triangles"]].tolist() == [(0, 1, 3, 1), (1, 2, 3, 1)]
    assert mesh.triangles(rows[0], geom).tolist() == [[0, 2, 1]]
    assert mesh.triangles(mesh.drawn(document, geom, report, 1.0)[0], geom).tolist() == [[0, 1, 0]]
    result = mesh.decode_vertices(geom.vertices[0])
    assert result.positions[0].tolist() == [1, 3, 2]
    assert np.allclose(result.normals[0], [0, 0, 1], atol=0.01)
    assert np.allclose(result.uvs[0], [(512 + 128 / 255) / 1024, 1 + 0.5])
    assert np.allclose(result.light_map_uvs[0], [0.5, 0.25])
    assert not report


def test_a_visual_without_windows_is_drawn_whole_beside_one_that_has_some():
    document, geom, report = small()
    kinds = document.visuals.entries["kind"]
    kinds[kinds == Kind.SWI] = Kind.WINDOWS
    windows = document.visuals.windows
    windows.lists = Lists(np.array([0, 2, 4, 4]), windows.lists.rows)  # the second is of the fast path
    rows = mesh.drawn(document, geom, report)
    assert rows[["visual", "index_base", "triangles"]].tolist() == [(0, 3, 1), (1, 0, 2)]


def test_sectors_and_parents():
    document, _, _ = small()
    assert mesh.parents(document).tolist() == [2, 2, -1]
    assert mesh.sectors(document).tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (words(0, 0, 3, 0, 0, 6), words(9, 0, 3, 0, 0, 6)),
        (words(0, 0, 3, 0, 0, 6), words(0, 1, 3, 0, 0, 6)),
        (words(0, 0, 3, 0, 0, 6), words(0, 2**32 - 1, 3, 0, 0, 6)),
        (words(0, 0, 3, 0, 0, 6), words(0, 0, 3, 1, 0, 6)),
        (words(0, 0, 3, 0, 0, 6), words(0, 0, 3, 0, 2**32 - 1, 6)),
        (words(0, 0, 3, 0, 0, 6), words(0, 0, 3, 0, 0, 3)),
    ],
)
def test_a_visual_whose_range_leads_nowhere_is_left_out_with_a_warning(old, new):
    at = SMALL_LEVEL.index(old)
    document, geom, report = small(SMALL_LEVEL[:at] + new + SMALL_LEVEL[at + len(old) :])
    assert mesh.drawn(document, geom, report)["visual"].tolist() == [1]
    assert list(report.warnings) == ["1 visual refers to missing vertices or faces of level.geom; left out"]


def test_indices_to_missing_vertices_draw_nothing():
    at = SMALL_GEOM.index(words(1, 6)) + 8
    document, geom, report = small(geometry_bytes=SMALL_GEOM[: at + 10] + b"\xff\xff" + SMALL_GEOM[at + 12 :])
    rows = mesh.drawn(document, geom, report)
    assert mesh.triangles(rows[0], geom).tolist() == []


def test_our_sample_faces_outwards(samples):
    document, geom, report = opened(samples / "level")
    assert not report
    rows = mesh.drawn(document, geom, report)
    assert rows["triangles"].tolist() == [2, 10, 4, 4]
    vertices = [mesh.decode_vertices(buffer) for buffer in geom.vertices]
    for row in rows:
        base = int(row["vertex_base"])
        faces = mesh.triangles(row, geom) + base
        corners = vertices[row["vertex_buffer"]].positions[faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        stored = vertices[row["vertex_buffer"]].normals[faces].sum(axis=1)
        assert (np.einsum("ij,ij->i", normals, stored) > 0).all()
    hut = vertices[0].positions[4:24]
    outward = vertices[0].normals[4:24]
    assert (np.einsum("ij,ij->i", hut - [0, 0, 1.25], outward) > 0).all()


def test_a_root_behind_the_last_visual_is_not_one():
    document, _, _ = small()
    document.sectors[0].root = 3
    assert mesh.sectors(document).tolist() == [1, -1, -1]
