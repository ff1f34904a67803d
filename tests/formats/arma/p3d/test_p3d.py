"""Models of the Arma tools: annotated bytes of both kinds of level, real files, meshes, weights, pivots, refusals."""

import struct
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.binary import NOT_FINITE
from addon.core.errors import ReadError
from addon.core.model import FILE_FACE
from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats.arma import lod_kinds, p3d, rtm
from addon.formats.verification import verify
from tests.formats.reading import reading
from tests.work import lines_run, memory_peak

QUAD, TRIANGLE = [(0, 0), (1, 0), (2, 0), (3, 0)], [(0, 1), (2, 1), (1, 1), (0, 0)]


def corners(pairs):
    return b"".join(struct.pack("<II2f", point, normal, point / 4, 0.25) for point, normal in pairs)


def arma_face(count, pairs, texture, material):
    return struct.pack("<I", count) + corners(pairs) + struct.pack("<I", 0) + texture + b"\0" + material + b"\0"


def old_face(count, pairs, texture):
    return texture.ljust(32, b"\xcc") + struct.pack("<I", count) + corners(pairs) + struct.pack("<I", 0)


POINTS = [(0, 0, 0), (1, 0, 0), (1, 0, 2), (0, 0, 2)]


def tag(name, data, arma=True):
    head = b"\1" + name + b"\0" if arma else (name + b"\0").ljust(64, b"\xcc")
    return head + struct.pack("<I", len(data)) + data


def lod(arma=True, resolution=1.0, tags=(), faces=None, rest=b""):
    data = b"P3DM" if arma else b"SP3X"
    data += struct.pack("<II", 28 + len(rest), 0x100 if arma else 0x99)
    if faces is None:
        faces = (
            [arma_face(4, QUAD, b"a\\wood.paa", b"a\\wood.rvmat"), arma_face(3, TRIANGLE, b"", b"")]
            if arma
            else [old_face(4, QUAD, b"data\\wood.pac\0"), old_face(3, TRIANGLE, b"\0")]
        )
    data += struct.pack("<IIII", 4, 2, len(faces), 0)  # points, normals, faces, flags
    data += rest
    data += b"".join(struct.pack("<3fI", *point, 0) for point in POINTS)
    data += struct.pack("<6f", 0, -1, 0, 0, 1, 0)
    data += b"".join(faces)
    data += b"TAGG"
    data += b"".join(tag(name, body, arma) for name, body in [*tags, (b"#EndOfFile#", b"")])
    return data + struct.pack("<f", resolution)


def model(*lods, tail=b""):
    return b"MLOD" + struct.pack("<II", 0x101, len(lods)) + b"".join(lods) + tail


SELECTIONS = [
    (b"Pelvis", bytes((1, 1, 128, 0)) + b"\1\0"),
    (b"spine", bytes((0, 0, 129, 2)) + b"\0\1"),
    (b"-hidden", bytes((1, 1, 1, 1, 1, 1))),
    (b"proxy:man.001", bytes((0, 0, 0, 0)) + b"\0\1"),
    (b"#Property#", b"class".ljust(64, b"\0") + b"man".ljust(64, b"\0")),
]
ARMA, FLASHPOINT = (model(lod(kind, tags=SELECTIONS), lod(kind, resolution=1e15)) for kind in (True, False))

read = reading(p3d, "test.p3d")


@pytest.mark.parametrize("data", [ARMA, FLASHPOINT], ids=["P3DM", "SP3X"])
def test_every_field(data):
    document, report = read(data)
    assert not report
    first, second = document.lods
    assert (document.version, first.kind, second.kind) == (0x101, "Resolution", "Memory")
    assert first.points["position"].tolist() == [list(point) for point in POINTS]
    assert first.normals.tolist() == [[0, -1, 0], [0, 1, 0]]
    assert first.faces["count"].tolist() == [4, 3]
    assert first.faces["corners"]["point"][1].tolist() == [0, 2, 1, 0]
    assert first.faces["corners"]["uv"][0, 3].tolist() == [0.75, 0.25]
    assert [texture for texture, _ in first.textures()] in (["a\\wood.paa", ""], ["data\\wood.pac", ""])
    assert first.properties() == {"class": "man"}
    assert [name for name, _, _ in first.selections()] == ["Pelvis", "spine", "-hidden", "proxy:man.001"]
    assert document.lod("Memory") is second
    assert document.lod("paths") is None
    assert p3d.write(document) == p3d.recompose(document) == data
    assert p3d.raw_size(document) == 0


def test_a_resolution_that_is_a_signalling_nan_is_of_no_known_kind():
    data = model(lod()[:-4] + bytes.fromhex("0100a07f"))
    document, report = read(data)
    assert document.lods[0].kind == "Unknown"
    assert p3d.write(document) == data
    assert report.warnings


def test_longer_headers_and_bytes_behind_stay():
    data = model(lod(rest=b"more"), tail=b"behind")
    document, report = read(data)
    assert p3d.write(document) == data
    assert p3d.raw_size(document) == 10
    assert report.lines()[0].endswith("6 extra bytes after the last LOD")


def test_tags_that_nothing_reads_are_raw_bytes():
    """So that `verify --json` does not call a file understood that is not."""
    known = [(b"#SharpEdges#", bytes(8)), (b"#Mass#", bytes(16)), *SELECTIONS]
    unread = [(b"#Animation#", bytes(52)), (b"#UVSet#", bytes(60)), (b"#Selected#", bytes(6)), (b"short", bytes(5))]
    assert p3d.raw_size(read(model(lod(tags=known)))[0]) == 0
    assert p3d.raw_size(read(model(lod(tags=[*known, *unread])))[0]) == 52 + 60 + 6 + 5
    data = model(lod(tags=unread))
    assert verify(data, "x.p3d").raw_share == pytest.approx(123 / len(data))


def test_nan_and_infinite_values_are_reported_and_kept():
    data = bytearray(model(lod(), lod(resolution=float("inf"))))
    points = data.index(struct.pack("<3fI", *POINTS[1], 0))
    data[points : points + 8] = struct.pack("<2f", float("nan"), float("inf"))
    uv = data.index(struct.pack("<2f", 0.25, 0.25))
    data[uv : uv + 4] = struct.pack("<f", float("-inf"))
    document, report = read(bytes(data))
    assert report.lines() == [f"{NOT_FINITE} (LOD 0: 3, LOD 1: 1)"]
    assert p3d.write(document) == bytes(data)


@given(st.lists(st.tuples(st.sampled_from([b"", b"a", b"bb", b"\xff"]), st.sampled_from([b"", b"m"])), max_size=60))
def test_faces_with_any_run_of_textures(texts):
    data = model(lod(faces=[arma_face(3 + number % 2, QUAD, *pair) for number, pair in enumerate(texts)]))
    document, _ = read(data)
    assert p3d.write(document) == data
    result = document.lods[0]
    assert [result.texts[number] for number in result.face_texts] == texts


def test_a_hundred_thousand_faces_of_one_texture_are_read_at_once():
    few, many = (model(lod(faces=[arma_face(3, TRIANGLE, b"a", b"b")] * count)) for count in (100, 30_000))
    assert lines_run(lambda: read(many)) < lines_run(lambda: read(few)) + 200


def test_the_mesh_of_a_level():
    document, _ = read(ARMA)
    mesh = p3d.decode_polygons(document.lods[0], Report(), {}, "dog")
    assert mesh.counts.tolist() == [4], "the quad alone, without the proxy"
    corner_points = mesh.positions[mesh.corners]
    assert corner_points.tolist() == [[0, 0, 0], [1, 0, 0], [1, 2, 0], [0, 2, 0]]
    assert mesh.corner_normals[0].tolist() == [0, 0, 1]
    assert np.cross(corner_points[1] - corner_points[0], corner_points[2] - corner_points[0])[2] > 0, (
        "it shows the side its normals point to"
    )
    assert mesh.uvs[3].tolist() == [0.75, 0.75]
    assert [(material.name, material.texture) for material in mesh.materials] == [
        ("wood", "a\\wood.paa"),
        ("no texture", ""),
    ]
    assert mesh.attributes[FILE_FACE].values.tolist() == [0]


def test_weights_of_the_bones_asked_for():
    document, _ = read(ARMA)
    result = p3d.selection_weights(document.lods[0], ["pelvis", "SPINE", "absent"])
    assert list(result) == ["pelvis", "SPINE"]
    # 1 is whole, 2 is 254/255, 128 is 128/255, 129 is 127/255.
    np.testing.assert_allclose(result["pelvis"], [1, 1, 128 / 255, 0], atol=1e-6)
    everything = p3d.selection_weights(document.lods[0])
    assert list(everything) == ["Pelvis", "spine"]
    np.testing.assert_allclose(everything["spine"], [0, 0, 127 / 255, 254 / 255], atol=1e-6)
    np.testing.assert_array_equal(everything["spine"], result["SPINE"])


def test_pivots_are_points_of_the_memory_level():
    selections = [(b"PELVIS", bytes((0, 0, 1, 1)) + b"\0\0")]
    document, _ = read(model(lod(tags=SELECTIONS), lod(resolution=1e15, tags=selections)))
    report = Report()
    result = p3d.pivots(document, ["Pelvis", "spine"], report)
    assert {bone: position.tolist() for bone, position in result.items()} == {"Pelvis": [1, 2, 0]}
    assert not report
    without, _ = read(model(lod(tags=SELECTIONS)))
    result = p3d.pivots(without, ["Pelvis", "spine"], report)
    assert {bone: position.tolist() for bone, position in result.items()} == {"Pelvis": [0, 0, 0], "spine": [1, 2, 0]}
    assert "no Memory LOD" in report.lines()[0]


def test_centres_are_weighted():
    document, _ = read(ARMA)
    result = p3d.centres(document.lods[0], ["pelvis"])["pelvis"]
    whole, part = 1, 128 / 255
    np.testing.assert_allclose(result, [(whole + part) / (2 + part), 2 * part / (2 + part), 0], atol=1e-6)


def test_a_real_man_fits_his_animation(corpus):
    document, _ = read((corpus / "p3d" / "agm_fastroping_man.p3d").read_bytes())
    clip = rtm.decode(rtm.read((corpus / "rtm" / "agm_fastroping.rtm").read_bytes(), "", Report()), Report())
    weights = p3d.selection_weights(document.lods[0], clip.bones)
    assert len(weights) == 66
    np.testing.assert_allclose(sum(weights.values()), 1, atol=0.01)
    positions = {bone.lower(): centre for bone, centre in p3d.centres(document.lods[0], clip.bones).items()}
    assert positions["lefthand"][0] > 0 > positions["righthand"][0], "his left is +x"
    assert positions["head"][2] > positions["pelvis"][2] > positions["leftfoot"][2], "up is z"
    assert positions["lefttoebase"][1] < positions["leftfoot"][1], "he faces -y"


HEAD = b"MLOD" + struct.pack("<II", 0x101, 1) + b"P3DM" + struct.pack("<II", 28, 0x100)
MANY = 0xFFFF_FFFF


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"ODOL" + struct.pack("<I", 73) + bytes(60), r"ODOL, version 73.*MLOD"),
        (b"NLOD" + bytes(60), "oldest tools"),
        (b"RTM_0101" + bytes(60), "not a model"),
        (model(), "no LODs"),
        (HEAD + struct.pack("<IIII", MANY, 0, 0, 0) + bytes(400), "4294967295 points"),
        (HEAD + struct.pack("<IIII", 0, MANY, 0, 0) + bytes(400), "4294967295 normals"),
        (HEAD + struct.pack("<IIII", 0, 0, MANY, 0) + bytes(400), "4294967295 faces"),
        (b"MLOD" + struct.pack("<II", 0x101, MANY) + bytes(400), "begins with"),
    ],
)
def test_what_cannot_be_read_is_refused_at_no_cost(data, sentence):
    def attempt():
        with pytest.raises(ReadError, match=sentence) as refusal:
            read(data)
        assert refusal.value.remedy

    attempt()
    assert memory_peak(attempt) < 300_000


FAR_POINT, FAR_NORMAL = [(4, 0), (1, 0), (2, 0), (0, 0)], [(0, 2), (1, 0), (2, 0), (0, 0)]


@pytest.mark.parametrize("arma", [True, False], ids=["P3DM", "SP3X"])
def test_faces_that_no_mesh_can_have_are_kept_counted_and_not_shown(arma):
    odd = [(count, QUAD) for count in (0, 1, 2, 5, MANY)] + [(3, FAR_POINT), (4, FAR_NORMAL)]
    make = arma_face if arma else lambda count, pairs, *_: old_face(count, pairs, b"")
    data = model(lod(arma, faces=[make(3, TRIANGLE, b"", b""), *(make(*entry, b"", b"") for entry in odd)]))
    document, report = read(data)
    assert p3d.write(document) == data
    assert report.lines() == [
        "faces without 3 or 4 corners are kept, but not shown (LOD 0: 5)",
        "faces at points or normals that do not exist are kept, but not shown (LOD 0: 2)",
    ]
    mesh = p3d.decode_polygons(document.lods[0], report, {}, "x")
    assert mesh.attributes[FILE_FACE].values.tolist() == [0]
    assert "faces without area" not in str(report.lines())


def test_a_proxy_without_a_complete_triangle_is_kept_and_not_shown():
    proxy = (b"proxy:man.001", bytes(4) + b"\0\1")
    document, _ = read(model(lod(faces=[arma_face(4, QUAD, b"", b""), arma_face(2, TRIANGLE, b"", b"")], tags=[proxy])))
    assert list(p3d.proxies(document.lods[0])) == []
    assert p3d.decode_polygons(document.lods[0], Report(), {}, "x").counts.tolist() == [4]


UVS = st.lists(st.floats(width=32), min_size=14, max_size=14)


@given(UVS, st.sampled_from([b"#EndOfFile#", b"spine", b"#Mass#"]), st.booleans(), st.booleans())
def test_a_uv_set_is_read_by_its_content_if_its_size_leaves_out_its_number(values, following, arma, short):
    """Whatever the last coordinates are, which a reader that trusts the size takes for the beginning of a tag."""
    content = b"\1\0\0\0" + struct.pack("<14f", *values)
    whole = tag(b"#UVSet#", content, arma)
    stored = whole.replace(struct.pack("<I", 60), struct.pack("<I", 56), 1) if short else whole
    more = b"" if following == b"#EndOfFile#" else tag(following, bytes(16), arma)
    data = model(*(lod(arma).replace(b"TAGG", b"TAGG" + stored + more, 1) for _ in range(2)))
    document, report = read(data)
    assert p3d.write(document) == data
    sentence = "UV sets whose declared size leaves out their number are read nevertheless (LOD 0: 1, LOD 1: 1)"
    assert [line for line in report.lines() if "UV sets" in line] == [sentence] * short
    for level in document.lods:
        assert bytes(level.tags[0].data) == content
        assert list(p3d.further_uvs(level)) == [1]


def test_text():
    document, _ = read(ARMA)
    assert p3d.describe(document) == [
        "version 0x101, 2 LODs",
        "LOD 0 (Resolution 1): 4 points, 2 faces",
        "  0.0 0.0 0.0 to 1.0 0.0 2.0",
        "  selections: Pelvis, spine, -hidden, proxy:man.001",
        "  properties: class=man",
        "LOD 1 (Memory): 4 points, 2 faces",
        "  0.0 0.0 0.0 to 1.0 0.0 2.0",
    ]
    assert "  texture and material 0 'a\\\\wood.paa' 'a\\\\wood.rvmat'" in list(Walk(p3d.VIEWS).dump(document))
    other, _ = read(ARMA.replace(b"spine", b"spinal").replace(b"wood.rvmat", b"iron.rvmat"))
    wood, iron = (rf"'a\\wood.paa', 'a\\{name}.rvmat'" for name in ("wood", "iron"))
    assert list(Walk(p3d.VIEWS).differences(document, other)) == [
        f"LOD Resolution 1: texture and material 0: {wood} / {iron}",
        "LOD Resolution 1: tag 'spine' is only in the first",
        "LOD Resolution 1: tag 'spinal' is only in the second",
        f"LOD Memory: texture and material 0: {wood} / {iron}",
    ]
    assert list(Walk(p3d.VIEWS).differences(document, document)) == []


@given(st.permutations([0.5, 1.0, 1.0, 1e13, 1e15]), st.sampled_from([None, 0.5, 1.0, 1e13, 2e15]))
def test_differences_are_those_of_lods_of_one_resolution_whatever_their_order(order, edited):
    """The second file has the LODs in another order; one may have another point, or a new LOD may be there."""
    first = read(model(*(lod(resolution=size) for size in (0.5, 1.0, 1.0, 1e13, 1e15))))[0]
    others = read(model(*(lod(resolution=size) for size in [*order, *([edited] if edited == 2e15 else [])])))[0].lods
    if edited in order:
        at = order.index(edited)
        points = others[at].points.copy()
        points["position"][0, 0] = 3
        others[at] = replace(others[at], points=points)
    lines = list(Walk(p3d.VIEWS).differences(first, p3d.P3d(first.version, others)))
    moved = [line for line in lines if line == "the LODs are in another order"]
    assert bool(moved) == (order != sorted(order))
    rest = [line for line in lines if line not in moved]
    title = {0.5: "LOD Resolution 0.5: points", 1.0: "LOD Resolution 1", 1e13: "LOD Geometry: points"}
    if edited is None:
        assert rest == []
    else:
        assert len(rest) == 1
        assert title.get(edited, "LOD Land Contact is only in the second") in rest[0]


def test_a_lod_of_another_resolution_is_compared_with_the_one_of_its_kind_that_is_left():
    first, second = (read(model(*(lod(resolution=size) for size in sizes)))[0] for sizes in ([1.0, 2.0], [2.0, 5.0]))
    assert list(Walk(p3d.VIEWS).differences(first, second)) == [
        "the LODs are in another order",
        "LOD Resolution 1 is now called Resolution 5",
        "LOD Resolution 1: resolution: 1.0 / 5.0",
    ]


@pytest.mark.parametrize(
    ("resolution", "name"),
    [
        *((0.0, "Resolution 0"), (0.3, "Resolution 0.3"), (999.0, "Resolution 999"), (-1.0, "Resolution -1")),
        *((1e3, "View Gunner"), (1100.0, "View Pilot"), (1202.0, "View Cargo 2"), (1e16, "View Commander")),
        *((1e4, "Shadow Volume 0"), (10010.0, "Shadow Volume 10"), (11003.0, "Shadow Buffer 3")),
        *((12000.0, "Shadow Volume 2000"), (10000.5, "Shadow Volume 0.5"), (2e4, "Edit 0"), (20001.0, "Edit 1")),
        *((1e13, "Geometry"), (2e13, "Geometry Buoyancy"), (4e13, "Geometry PhysX"), (1e15, "Memory")),
        *((2e15, "Land Contact"), (3e15, "Roadway"), (4e15, "Paths"), (5e15, "Hit-points")),
        *((6e15, "View Geometry"), (7e15, "Fire Geometry")),
        *((8e15, "View Cargo Geometry"), (9e15, "View Cargo Fire Geometry"), (1.1e16, "View Commander Geometry")),
        *((1.2e16, "View Commander Fire Geometry"), (1.3e16, "View Pilot Geometry"), (1.7e16, "Sub Parts")),
        *(
            (1.4e16, "View Pilot Fire Geometry"),
            (1.5e16, "View Gunner Geometry"),
            (1.6e16, "View Gunner Fire Geometry"),
        ),
        *((1.8e16, "Shadow Volume View Cargo 0"), (1.802e16, "Shadow Volume View Cargo 2")),
        *((1.9e16, "Shadow Volume View Pilot"), (2e16, "Shadow Volume View Gunner"), (2.1e16, "Wreckage")),
        *((2.2e16, "Unknown 2.2e16"), (5e9, "Unknown 5e9"), (1300.0, "Unknown 1300"), (float("nan"), "Unknown nan")),
    ],
)
def test_lods_have_the_names_of_object_builder(resolution, name):
    actual = read(model(lod(resolution=resolution)))[0].lods[0]
    assert actual.name == name
    assert actual.name.startswith(actual.kind)


@pytest.mark.parametrize("kind", lod_kinds.KINDS, ids=lambda kind: kind.word)
def test_a_resolution_follows_from_kind_and_number(kind):
    for number in range(3 if kind.is_numbered else 1):
        resolution = float(np.float32(lod_kinds.resolution_of(kind.word, number)))
        assert (lod_kinds.kind_of(resolution), lod_kinds.number_of(resolution)) == (kind.word, number)
