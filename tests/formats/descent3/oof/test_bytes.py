"""`.oof`: every version switch and every chunk to the byte; what is no model of Descent 3."""

import struct

import numpy as np
import pytest

from addon.core.binary import NOT_FINITE
from addon.core.errors import ReadError
from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats import detect
from addon.formats.descent3 import oof
from addon.formats.descent3.oof.document import (
    AttachPoints,
    AttachUps,
    Batteries,
    GroundPoints,
    GunPoints,
    ObjectHeader,
    PositionTracks,
    Remark,
    RotationTracks,
    SpecialPoints,
    SubObject,
    TextureNames,
)
from addon.formats.verification import Status, verify
from tests.formats.descent3.oof.annotated import CHUNKS, VERSIONS, body, chunk, model
from tests.formats.descent3.oof.engine import engine_models
from tests.real_files import corpus_files
from tests.work import memory_peak

NAN_NORMAL = {NOT_FINITE: ["SOBJ body: 3"]}
"""What reading says of the normal of a corner in the annotated model."""


def read(data, name="test.oof"):
    report = Report()
    return oof.read(data, name, report), report


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_is_known_to_the_last_byte(version):
    data = model(version)
    document, report = read(data)
    assert oof.write(document) == oof.recompose(document) == data
    assert oof.raw_size(document) == 3  # IDTA alone is not understood
    assert report.warnings == NAN_NORMAL
    assert detect("nameless", data[:64]).name == "oof"
    part, rotor = document.sub_objects
    assert (part.label, rotor.label, rotor.property_text, rotor.parent) == ("body", "rotor", "$rotate=2.", 0)
    assert part.positions[3].tolist() == [0, 1, 2]
    assert part.normals[0].tolist() == [0, 0, 0.5]
    assert part.normals[3].view(np.uint32).tolist() == [0xFFC00000] * 3
    assert part.faces.counts.tolist() == [3, 4]
    assert part.faces.rows["texture"].tolist() == [1, -1]
    assert part.faces.rows["colour"].tolist() == [[0, 0, 0], [16, 32, 48]]
    assert part.faces.corners["vertex"].tolist() == [0, 1, 2, 3, 2, 1, 0]
    assert part.faces.corners["uv"][:3].tolist() == [[0, -1], [1, -1], [1, 0]]
    assert part.free_space.tolist() == [9, 8]
    assert (part.alphas.tolist() if part.alphas is not None else None) == ([1, 1, 0.5, 1] if version == 2300 else None)
    sizes = part.faces.rows["sizes"].tolist()
    assert sizes == ([[1, 1], [3, 8]] if version >= 2100 else [[0, 0], [0, 0]])
    guns = document.last(GunPoints)
    assert guns.parents.tolist() == [1 if version >= 1908 else 0]
    assert guns.rows["direction"].tolist() == [[0, 0, 1]]
    turning, moving = document.last(RotationTracks), document.last(PositionTracks)
    if version >= 2200:
        assert turning.ranges.tolist() == [[0, 10], [0, 10]]
        assert [len(keys) for keys in turning.keys] == [0, 2]
        assert turning.keys[1]["start"].tolist() == [0, 10]
        assert moving.keys[0]["position"].tolist() == [[0, 0, 0], [0, 0, 4]]
    else:
        assert turning.ranges is None
        assert turning.shared_count == 2
        assert turning.keys[0]["angle"].tolist() == [0, 16384]
        assert moving.keys[1]["position"].tolist() == [[1, 0, 0]]
    assert turning.keys[1]["angle"].tolist() == [0, 65536]


def test_the_other_chunks_say_what_they_say():
    document, report = read(model())
    assert document.textures == ["Hull1", "Hull1"]
    assert document.header.details.tolist() == [7]
    assert document.header.box.tolist() == [[1, 0, -2], [3, 2, 1]]
    assert document.last(GroundPoints).rows["position"].tolist() == [[0, -1, 0]]
    assert document.last(AttachPoints).rows["direction"].tolist() == [[0, 0, 1]]
    assert document.last(AttachUps).rows["direction"].tolist() == [[0, 1, 0]]
    (battery,) = document.last(Batteries).batteries
    assert (battery.guns.tolist(), battery.turrets.tolist()) == ([0], [1])
    (point,) = document.last(SpecialPoints).points
    assert (point.name, point.radius) == (b"$dummy\0", 2)
    assert document.last(Remark).text == b"hello\n"
    assert report.warnings == NAN_NORMAL
    assert Report(notes=report.notes).lines() == [
        "ignored by the game; kept unchanged (IDTA)",
        "its meaning is not known; kept unchanged (WXYZ)",
    ]
    assert [section.id for section in document.sections] == [name[:4] for name in CHUNKS]


def test_a_last_chunk_without_a_body_is_a_chunk():
    document, report = read(model() + chunk(b"WXYZ", b""))
    assert (document.sections[-1].id, len(document.tail)) == (b"WXYZ", 0)
    assert report.warnings == NAN_NORMAL


def test_rotation_keys_by_their_other_name_and_chunks_in_any_order():
    order = [b"OHDR", b"SOBJ ", b"ANIM", b"SOBJ", b"TXTR", b"PINF"]
    data = model(replaced={b"ANIM": body(CHUNKS[b"RANI"], 2300)}, order=order)
    document, report = read(data)
    assert oof.write(document) == data
    assert [len(keys) for keys in document.last(RotationTracks).keys] == [0, 2]
    assert [part.label for part in document.sub_objects] == ["body", "rotor"]
    assert report.warnings == NAN_NORMAL
    assert not report.notes


@pytest.mark.parametrize("file", corpus_files("oof"))
def test_a_real_model_is_identical_and_wholly_understood(file):
    verdict = verify(file.read_bytes(), file.name)
    assert (verdict.status, verdict.raw_share, verdict.warnings) == (Status.IDENTICAL, 0.0, ())


@pytest.mark.parametrize("name", engine_models())
def test_what_is_read_is_what_the_engine_reads(vectors, name):
    data = (vectors / "oof" / f"{name}.oof").read_bytes()
    assert verify(data, name).status is Status.IDENTICAL
    document, _ = read(data)
    engine = np.load(vectors / "oof" / f"{name}.npz")
    parts = document.sub_objects
    faces = [part.faces for part in parts]
    assert engine["version"] == document.version
    assert engine["texture_name"].tolist() == [label.encode() for label in document.textures]
    assert [part.label.encode() or b"unknown object name" for part in parts] == engine["sub_name"].tolist()
    for key, mine in {
        "sub_offset": [part.offset for part in parts],
        "sub_center": [part.center for part in parts],
        "sub_vertex_count": [len(part.positions) for part in parts],
        "sub_face_count": [len(part.faces) for part in parts],
    }.items():
        assert np.array_equal(engine[key], mine), key
    for key, mine in {
        "vertex": [part.positions for part in parts],
        "vertex_normal": [part.normals for part in parts],
        "face_normal": [face.rows["normal"] for face in faces],
        "face_corner_count": [face.counts for face in faces],
        "face_texture": [face.rows["texture"] for face in faces],
        "corner_vertex": [face.corners["vertex"] for face in faces],
        "corner_uv": [face.corners["uv"] for face in faces],
    }.items():
        assert np.array_equal(engine[key], np.concatenate(mine), equal_nan=engine[key].dtype.kind == "f"), key
    guns = document.last(GunPoints)
    if guns is not None:
        assert np.array_equal(engine["gun_parent"], guns.parents)
        assert np.array_equal(engine["gun_point"][:, 3:], guns.rows["direction"])


WRONG = {
    "version 1700": (model(1700), "version 1700 is not known to the game"),
    "Descent 2": (b"PSPO" + struct.pack("<h", 8) + bytes(40), "version 8 is not known"),
    "version 2301": (model(2301), "version 2301"),
    "FreeSpace 2": (
        b"PSPO" + struct.pack("<i", 2117) + chunk(b"HDR2", bytes(40)) + chunk(b"OBJ2", bytes(9)),
        "a model of FreeSpace",
    ),
    "FreeSpace 1": (
        model(2014, replaced={b"SOBJ": bytes(60), b"SOBJ ": bytes(80)}, order=[b"TXTR", b"OHDR", b"SOBJ", b"SOBJ "]),
        "no sub-object is one of Descent 3",
    ),
    "another magic": (b"OHDR" + bytes(40), "begins with PSPO"),
    "no header": (model(without=(b"OHDR",)), "no header"),
    "git-lfs": (b"version https://git-lfs.github.com/spec/v1\noid", "git-lfs pointer"),
    "cut off": (model()[:-3], "6 bytes are needed, 3 bytes are left"),
    "a negative length": (model()[:12] + b"\xff\xff\xff\xff" + model()[16:], "-1 bytes are needed"),
    "a negative count": (model(replaced={b"OHDR": b"\xff" * 4 + bytes(32)}), "-1 sub-objects"),
}


@pytest.mark.parametrize(("data", "words"), WRONG.values(), ids=WRONG)
def test_what_is_not_a_model_of_descent_3_is_refused_with_a_reason_and_a_remedy(data, words):
    with pytest.raises(ReadError, match=words) as refusal:
        read(data)
    assert refusal.value.remedy
    assert refusal.value.file == "test.oof"


def count_at(name, offset, value, version=2300):
    """The file with a number of a chunk's body replaced."""
    changed = bytearray(body(CHUNKS[name], version))
    struct.pack_into("<i", changed, offset, value)
    return model(version, replaced={name: bytes(changed)})


ODD = {
    "a body too short": (model(replaced={b"GPNT": body(CHUNKS[b"GPNT"], 2300)[:-1]}), "not readable, kept unchanged"),
    "a body too long": (model(replaced={b"WBAT": body(CHUNKS[b"WBAT"], 2300) + b"x"}), "1 extra byte, which"),
    "stray bytes": (model() + bytes(7), "7 extra bytes at the end"),
    "31 sub-objects": (count_at(b"OHDR", 0, 31, 2000), "31 sub-objects; the game supports 30"),
    "two billion sub-objects": (count_at(b"OHDR", 0, 2**31 - 1), "2147483647 sub-objects are declared, 2 exist"),
    "texture out of range": (model(replaced={b"TXTR": bytes(4)}), "have a texture that the model does not list"),
    "no NUL": (
        model(replaced={b"SOBJ ": body(CHUNKS[b"SOBJ "], 2300).replace(b"rotor\0", b"rotors")}),
        "a text has no end",
    ),
    "header behind": (
        model(order=[b"SOBJ", b"TXTR", b"OHDR", b"SOBJ "]),
        "stands before the header",
    ),
    "two billion points": (count_at(b"GPNT", 0, 2**31 - 1), "not readable"),
    "a negative number of points": (count_at(b"GPNT", 0, -1), "-1 points are declared"),
    "two billion keys": (count_at(b"RANI", 12, 2**31 - 1), "not readable"),
    "two billion batteries": (count_at(b"WBAT", 0, 2**31 - 1), "not readable"),
    "two billion untimed keys": (count_at(b"RANI", 0, 2**31 - 1, 2100), "not readable"),
    "up vectors first": (model(order=[b"TXTR", b"OHDR", b"SOBJ", b"SOBJ ", b"NATH", b"ATCH"]), "stands before"),
}


@pytest.mark.parametrize(("data", "words"), ODD.values(), ids=ODD)
def test_what_is_odd_is_reported_and_kept(data, words):
    document, report = read(data)
    assert any(words in line for line in report.lines()), report.lines()
    assert oof.write(document) == data
    assert memory_peak(lambda: verify(data, "odd.oof")) < 300_000


def test_a_vertex_out_of_range_is_reported():
    data = bytearray(model())
    at = bytes(data).index(bytes.fromhex("01000000 0000803f 000080bf"))
    struct.pack_into("<i", data, at, 4)
    document, report = read(bytes(data))
    assert "faces refer to missing vertices (body)" in report.lines()
    assert oof.write(document) == bytes(data)


def test_many_kinds_of_faces_in_any_order():
    """As many of each kind as make runs, and single ones between."""
    random = np.random.default_rng(3)
    records = []
    for corners, textured, times in [(3, 1, 40), (4, 1, 1), (3, 0, 12), (3, 1, 1), (0, 0, 2), (4, 0, 9000), (8, 5, 30)]:
        for _ in range(times):
            head = random.bytes(12) + struct.pack("<ii", corners, textured)
            colour = random.bytes(4 if textured else 3)
            records.append(head + colour + random.bytes(12 * corners) + random.bytes(8))
    faces = struct.pack("<i", len(records)) + b"".join(records)
    start = body(CHUNKS[b"SOBJ "], 2300)[:-4]
    data = model(replaced={b"SOBJ ": start + faces})
    document, _ = read(data)
    assert oof.write(document) == data
    rotor = document.sub_objects[1]
    assert rotor.faces.counts[[0, 40, 41, 53, 54]].tolist() == [3, 4, 3, 3, 0]
    assert rotor.faces.rows["textured"][-1] == 5
    last = np.frombuffer(records[-1][24:-8], "<u4").reshape(8, 3)
    assert np.array_equal(rotor.faces.corners[-8:].copy().view("<u4").reshape(8, 3), last)


def test_in_words():
    document, _ = read(model())
    lines = oof.describe(document)
    assert lines[0] == "version 2300, 2 sub-objects, 4 vertices, 2 faces"
    assert "1 rotor of body: 0 faces, $rotate=2." in lines
    assert "1 gun point, 1 ground point, 1 attach point, 1 battery" in lines
    assert "2 rotation keys, 2 position keys, ticks 0 to 10" in lines
    assert len(set(Walk(oof.VIEWS).dump(document))) > 50


def test_what_differs_is_named():
    document, _ = read(model())
    data = bytearray(model())
    at = bytes(data).index(bytes.fromhex("0000803f 0000803f 00000000 00000000 0000803f 00000040"))
    struct.pack_into("<f", data, at + 12, 9.0)
    other, _ = read(bytes(data).replace(b"hello", b"jelly"))
    first = "0.0 0.0 0.0 1.0 0.0 0.0 1.0 1.0 0.0"
    assert list(Walk(oof.VIEWS).differences(document, other)) == [
        f"sub-object 'body': positions: {first} 0.0 1.0 2.0 / {first} 9.0 1.0 2.0",
        "remark: text: 'hello\\n' / 'jelly\\n'",
    ]
    assert list(Walk(oof.VIEWS).differences(document, document)) == []
    fewer, _ = read(model(1908, without=(b"GRND",)))
    assert {"version: 2300 / 1908", "ground points is only in the first"} <= set(
        Walk(oof.VIEWS).differences(document, fewer)
    )


def test_the_header_is_the_first_and_values_are_found_by_kind():
    document, _ = read(model())
    assert isinstance(document.header, ObjectHeader)
    assert len(list(document.all(SubObject))) == 2
    assert document.last(TextureNames).names == [b"Hull1\0"] * 2
    assert document.name == "test"
