"""`level.ai`: bytes by hand, real files, the reference numbers, links that lead nowhere."""

import json
import struct

import numpy as np
import pytest

from addon.core.errors import ReadError
from addon.formats.xray import level_ai
from tests.formats.reading import reading
from tests.formats.xray.level.annotated import SMALL_AI
from tests.real_files import corpus_files

read = reading(level_ai, "level.ai")


def test_every_byte_has_a_name():
    document, _ = read(SMALL_AI)
    assert (document.version, document.cell, document.y_range) == (8, 0.5, 4)
    assert document.positions.tolist() == [[0, pytest.approx(3, abs=1e-4), 0], [0.5, 5, 0]]
    assert document.links.tolist() == [[-1, -1, 1, -1], [0, -1, -1, -1]]
    assert document.covers().tolist() == [[8, 15, 4, 15], [15, 15, 15, 15]]
    assert document.normals.tolist() == [[0, 1, 0], [0, 1, 0]]
    assert list(level_ai.problems(document)) == []
    assert level_ai.describe(document) == [
        "version 8, 2 nodes, cell 0.5 m, 0 nodes above another",
        "2 links, 0 one-way; 0 isolated nodes; mean cover 12.8 (15 is open)",
        "bounds (file axes): 0.0 1.0 0.0 to 0.5 5.0 0.5",
    ]


def test_nodes_above_others_are_counted():
    stacked = SMALL_AI[:56] + 2 * SMALL_AI[56:77]
    assert level_ai.describe(read(stacked)[0])[0].endswith("1 node above another")


@pytest.mark.parametrize("version", [9, 10])
def test_later_games_have_two_covers(version):
    nodes = [SMALL_AI[56 + 21 * node :][:21] for node in range(2)]
    longer = b"".join(node[:12] + b"\x12\x34" + node[12:] for node in nodes)
    data = struct.pack("<I", version) + SMALL_AI[4:56] + longer
    document, _ = read(data)
    assert level_ai.write(document) == data
    assert document.covers()[0].tolist() == [2, 1, 4, 3]
    assert document.covers("low_cover")[0].tolist() == [8, 15, 4, 15]


@pytest.mark.parametrize("path", corpus_files("level/*/level.ai"))
def test_links_of_real_files_lead_to_the_next_column(path):
    document, _ = read(path.read_bytes(), str(path))
    assert (np.diff(document.columns @ [1 << 20, 1]) >= 0).all()
    assert (document.normals[:, 1] > 0).all()
    one_way = {"nlc_l06_rostok": 117, "nlc_l08_yantar": 163, "olr_tss_cd70ecb": 0}
    assert len(level_ai.one_way_links(document)) == one_way[path.parent.name]


def test_the_reference_numbers_hold(corpus, vectors):
    numbers = json.loads((vectors / "level" / "level_vectors_give.json").read_text())
    wanted = numbers["olr_tss_cd70ecb"]["ai"]
    document, _ = read((corpus / "level" / "olr_tss_cd70ecb" / "level.ai").read_bytes())
    assert (document.version, len(document.nodes)) == (wanted["version"], wanted["nodes"])
    for sample in wanted["samples"]:
        node = sample["node"]
        assert np.allclose(document.positions[node], sample["position"], atol=1e-5)
        assert [None if link < 0 else link for link in document.links[node].tolist()] == sample["links"]
        assert document.covers()[node].tolist() == sample["cover"]
        assert document.nodes["plane"][node] == sample["plane"]
    packed, normals = zip(*numbers["plane_normals"], strict=True)
    assert np.allclose(level_ai.plane_normals(np.array(packed)), normals, atol=1e-6)


def test_our_sample_has_an_isolated_node_and_a_one_way_link(samples):
    document, _ = read((samples / "level" / "level.ai").read_bytes())
    assert np.flatnonzero(level_ai.isolated(document)).tolist() == [0]
    assert level_ai.one_way_links(document).tolist() == [[7, 2]]
    assert list(level_ai.problems(document)) == []


def test_edges_of_links_stand_once_and_those_that_lead_one_way_apart(samples):
    document, _ = read((samples / "level" / "level.ai").read_bytes())
    positions, both, entry = level_ai.link_edges(document)
    assert np.array_equal(positions, document.positions[:, [0, 2, 1]].astype(np.float32))
    assert entry.tolist() == [[7, document.links[7, 2]]]
    links = {(node, to) for node, row in enumerate(document.links.tolist()) for to in row if to >= 0}
    assert {tuple(pair) for pair in both.tolist()} == {(a, b) for a, b in links if a < b and (b, a) in links}


@pytest.mark.parametrize("path", corpus_files("level/*/level.ai"))
def test_each_link_of_a_real_map_is_in_one_edge(path):
    document, _ = read(path.read_bytes(), str(path))
    _, both, entry = level_ai.link_edges(document)
    assert 2 * len(both) + len(entry) == (document.links >= 0).sum()
    assert len(entry) == len(level_ai.one_way_links(document))


def test_links_that_lead_elsewhere_are_problems():
    far = bytearray(SMALL_AI)
    far[56:59] = b"\1\0\x80"
    assert list(level_ai.problems(read(bytes(far))[0])) == ["1 link points elsewhere than to the next column"]
    far[56:59] = b"\x09\0\x80"
    assert list(level_ai.problems(read(bytes(far))[0])) == ["1 link points to missing nodes"]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (struct.pack("<I", 11) + SMALL_AI[4:], "AI map of version 11 is not known"),
        (struct.pack("<II", 8, 2**32 - 1) + SMALL_AI[8:], "cut off: 4294967295 nodes"),
        (SMALL_AI[:-1], "cut off: 2 nodes"),
    ],
)
def test_other_files_are_refused(data, problem):
    with pytest.raises(ReadError, match=problem) as refused:
        read(data)
    assert refused.value.remedy


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0, -1.0, 1e30, 1e-30])
@pytest.mark.parametrize("at", [8, 12, 16, 24, 28, 36])
def test_odd_numbers_of_a_header_end_nothing(value, at):
    document, _ = read(SMALL_AI[:at] + struct.pack("<f", value) + SMALL_AI[at + 4 :])
    assert document.positions.shape == (2, 3)
    assert level_ai.describe(document)
    assert level_ai.write(document)[at : at + 4] == struct.pack("<f", value)


def test_a_square_for_each_node_on_its_ground(samples):
    document, _ = read(SMALL_AI)
    result = level_ai.decode(document, "ai")
    squares = result.positions.reshape(-1, 4, 3)
    assert np.allclose(squares.mean(axis=1), document.positions[:, [0, 2, 1]], atol=1e-6)
    assert np.allclose(squares[0, :, :2], [(0.25, -0.25), (0.25, 0.25), (-0.25, 0.25), (-0.25, -0.25)])
    assert np.ptp(squares[..., 2], axis=1).tolist() == [0, 0]
    assert result.attributes["cover"].values.tolist() == [pytest.approx(42 / 60), 1]
    assert result.attributes["isolated"].values.tolist() == [False, False]
    sample, _ = read((samples / "level" / "level.ai").read_bytes())
    result = level_ai.decode(sample, "ai")
    assert result.attributes["isolated"].values.tolist() == level_ai.isolated(sample).tolist()
    assert result.attributes["one_way"].values.sum() == len(np.unique(level_ai.one_way_links(sample)[:, 0])) > 0


@pytest.mark.parametrize("path", corpus_files("level/*/level.ai"))
def test_squares_are_tilted_as_their_planes(path):
    document, _ = read(path.read_bytes(), str(path))
    squares = level_ai.decode(document, "ai").positions.reshape(-1, 4, 3).astype(np.float64)
    normals = np.cross(squares[:, 1] - squares[:, 0], squares[:, 2] - squares[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    stored = document.normals[:, [0, 2, 1]]
    gentle = stored[:, 2] > 0.1
    assert gentle.mean() > 0.99
    assert np.allclose(normals[gentle], stored[gentle], atol=1e-2)
