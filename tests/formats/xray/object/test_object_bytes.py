"""Objects of the editor as bytes: every chunk field by field, real files, damage, hostile counts, text."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.binary import NOT_FINITE, Reader, Writer
from addon.core.errors import ReadError
from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats.xray import bones, skl
from addon.formats.xray import object as editor_model
from addon.formats.xray.object.chunk_types import (
    ActorTransform,
    Authorship,
    CompilerShaders,
    ExportScale,
    NumberedParts,
    ObjectFlags,
    ObjectMotions,
    OldBones,
    Stamp,
)
from addon.formats.xray.object.mesh_chunks import (
    Box,
    Faces,
    MeshFlags,
    Normals,
    Points,
    RowGroups,
    Smoothing,
    SurfacesOfFaces,
    VertexMapRefs,
)
from addon.formats.xray.ogf.chunk_types import MotionReferences2, UserData
from scripts.fuzzing.packing import pack_lzhuf
from tests.formats.reading import reading
from tests.formats.xray.level_bytes import chunk, floats, words
from tests.formats.xray.object.small_object import MESH, MODEL, OLD, mesh, small
from tests.work import memory_peak

read = reading(editor_model, "test.object")


def test_every_field_of_an_object():
    document, _ = read(small())
    model = document.model
    assert model.first(UserData).text == b"[a]\r\n"
    assert (model.first(ObjectFlags).flags, model.first(ObjectFlags).size) == (0x43, 4)
    (surface,) = model.surfaces
    assert (surface.label, surface.shader, surface.compiler_shader) == ("metal", b"models\\model", b"default")
    assert (surface.material, surface.texture, surface.uv_map) == (b"objects\\metal", b"wpn\\metal", b"Texture")
    assert (surface.flags, surface.format, surface.coordinates) == (1, 0x112, 1)
    (bone,) = model.bones
    assert (bone.name, bone.parent, bone.weight_map) == ("root", "", "root")
    assert bone.first(bones.Placement).offset.tolist() == [0, 1, 2]
    assert [(motion.label, motion.last) for motion in model.motions] == [("idle", 1)]
    assert model.references == [b"a\\b", b"c"]
    assert model.first(MotionReferences2).names == [b"d"]
    assert [(part.name, part.bones) for part in model.parts] == [(b"default", [b"root"])]
    assert model.first(NumberedParts).parts[0].bones.tolist() == [0]
    actor = model.first(ActorTransform)
    assert (actor.values.tolist(), actor.scale, actor.adjust_mass) == ([[0, 1, 2], [3, 4, 5]], 2, 1)
    author = model.first(Authorship)
    assert (author.creator, author.created, author.modifier, author.time_size) == (b"me", 7, b"\x98", 8)
    assert author.modified == 9 + (1 << 32)
    assert (model.first(ExportScale).scale, model.first(ExportScale).adjust_mass) == (2, 1)


def test_every_field_of_a_mesh():
    document, _ = read(small())
    (held,) = document.model.meshes
    assert held.label == "quad"
    assert held.first(Box).corners.tolist() == [[0, 0, 0], [1, 2, 0]]
    assert held.first(MeshFlags).flags == 1
    assert held.first(Points).positions[2].tolist() == [1, 2, 0]
    assert held.first(Points).faces is None
    assert held.first(Faces).corners.tolist() == [[[0, 0], [2, 2], [1, 1]], [[0, 3], [3, 4], [2, 2]]]
    assert held.first(Smoothing).groups.tolist() == [1, 0xFFFF_FFFF]
    assert held.first(Normals).normals.shape == (2, 3, 3)
    refs = held.first(VertexMapRefs).refs
    assert refs.counts.tolist() == [2] * 5
    assert refs.rows.tolist()[6:8] == [[1, 0], [2, 0]]
    (listed,) = held.first(SurfacesOfFaces).surfaces
    assert (listed.label, listed.faces.tolist()) == ("Metal", [0, 1])
    first, second, weights = held.maps.maps
    assert (first.label, first.type, first.polygon, first.faces) == ("Texture", 0, 0, None)
    assert (second.label, second.polygon, second.points.tolist(), second.faces.tolist()) == ("Texture", 1, [0], [1])
    assert second.values.tolist() == [[0.5, 0.25]]
    assert (weights.label, weights.type, weights.values.ravel().tolist()) == ("root", 1, [1, 1, 0.5, 1])


def test_an_old_object():
    document, _ = read(OLD)
    model = document.model
    assert (model.first(ObjectFlags).flags, model.first(ObjectFlags).size) == (1, 1)
    assert model.first(Stamp).numbers.tolist() == [5, 6]
    (surface,) = model.surfaces  # of 0x905 and 0x906 editors take the newer
    assert (surface.label, surface.compiler_shader, surface.material) == ("old", b"compiler", None)
    assert model.first(CompilerShaders).names == [b"compiler", b"other"]
    (bone,) = model.first(OldBones).bones
    assert (bone.name, bone.weight_map, bone.placement.tolist()) == (b"root", b"map", list(range(7)))
    (motion,) = model.first(ObjectMotions).motions
    assert (motion.name, motion.last, motion.version, len(motion.envelopes)) == (b"move", 10, 3, 6)
    (held,) = model.meshes
    around = held.first(Points).faces
    assert (around.counts.tolist(), around.rows.ravel().tolist()) == ([1, 2, 0], [0, 0, 7])
    assert [entry.values.tolist() for entry in held.maps.maps] == [[[0, 0], [1, 0], [0, 1]]]
    assert model.first(Authorship).time_size == 4
    assert model.motions == []


def test_a_compressed_object_is_read_as_what_it_holds_and_stays_packed():
    plain = small()[8:]
    packed = len(plain).to_bytes(4, "little") + pack_lzhuf([plain[at : at + 1] for at in range(len(plain))])
    data = struct.pack("<II", 0x8000_7777, len(packed)) + packed
    document, report = read(data)
    assert not report.warnings
    assert editor_model.write(document) == data
    assert editor_model.raw_size(document) == 0
    assert document.model.meshes[0].label == "quad"
    flags = document.model.first(ObjectFlags)
    flags.flags = 1
    assert editor_model.write(document) == small(x903=words(1))  # edited, it is written as plain bytes


@pytest.mark.parametrize("number", sorted(MODEL))
def test_a_chunk_of_an_object_that_is_too_short_or_too_long_stays_bytes(number):
    for body in (MODEL[number][:-1] or b"x", MODEL[number] + b"\xff\xff\xff"):
        data = small(**{f"x{number:x}": body})
        document, report = read(data)
        assert report.warnings
        assert editor_model.write(document) == data


@pytest.mark.parametrize("number", sorted(MESH))
def test_a_chunk_of_a_mesh_that_is_too_short_or_too_long_stays_bytes(number):
    for body in (MESH[number][:-1] or b"x" * 3, MESH[number] + b"\xff\xff\xff"):
        data = small((mesh(**{f"x{number:x}": body}),))
        document, report = read(data)
        assert report.warnings
        assert any(f"{number:#x}" in position for warning in report.warnings.values() for position in warning)
        assert editor_model.write(document) == data


HOSTILE = {
    0x1005: words(1 << 31),
    0x1006: words(1 << 31),
    0x1008: words(1 << 31),
    0x1009: b"\xff\xff",
    0x1012: words(1 << 31),
}


@pytest.mark.parametrize("number", sorted(HOSTILE))
def test_hostile_counts_cost_nothing(number):
    data = small((mesh(**{f"x{number:x}": HOSTILE[number] + bytes(100)}),))
    assert memory_peak(lambda: read(data)) < 300_000
    document, report = read(data)
    problem, positions = next(iter(report.warnings.items()))
    assert "kept unchanged" in problem
    assert positions == [f"0x7777/0x910/0x0/{number:#x}"]
    assert editor_model.write(document) == data


def test_a_map_of_entries_without_numbers_is_not_believed():
    data = small((mesh(x1012=words(1) + b"a\0" + b"\0\0\0" + words(0xFFFF_FFFF)),))
    _, report = read(data)
    assert "entries without numbers" in next(iter(report.warnings))


@pytest.mark.parametrize("data", [b"", bytes(64), chunk(0x7778, b"ab"), chunk(0x7777, b""), b"text\n" * 30])
def test_what_is_no_object_is_refused(data):
    with pytest.raises(ReadError, match=r"test\.object") as refused:
        read(data)
    assert refused.value.remedy


def test_an_encrypted_object_is_refused_with_its_index():
    with pytest.raises(ReadError, match=r"nothing of an object.*offset 8|offset 8.*nothing of an object") as refused:
        read(chunk(0x7777, bytes(range(64, 128))))
    assert refused.value.offset == 8


def test_numbers_that_are_not_one_are_kept_and_warned_about():
    odd = MESH[0x1012].replace(floats(0.5, 0.25), bytes.fromhex("0100a07f") + floats(0.25))  # a signalling NaN
    data = small((mesh(x1012=odd),))
    document, report = read(data)
    assert report.warnings == {NOT_FINITE: ["chunk 0x7777/0x910/0x0/0x1012: 1"]}
    assert editor_model.write(document) == data


def test_unknown_chunks_and_repeated_ones_are_kept():
    data = chunk(0x7777, small()[8:], chunk(0x55, b"?"), chunk(0x903, words(0)))
    document, report = read(data)
    assert report.notes == {"1 chunk of unknown meaning, kept unchanged": ["0x7777/0x55"]}
    assert document.model.first(ObjectFlags).flags == 0x43  # the first counts
    assert editor_model.write(document) == data
    assert editor_model.raw_size(document) == 1


@given(st.lists(st.integers(0, 255), max_size=40), st.integers(1, 2))
def test_groups_of_every_size_come_back(counts, columns):
    rows = np.arange(sum(counts) * columns, dtype=np.int32).reshape(-1, columns)
    writer = Writer()
    RowGroups(np.array(counts, np.uint8), rows).write(writer)
    data = writer.getvalue()
    expected = b""
    for start, count in zip(np.cumsum([0, *counts]), counts, strict=False):
        expected += bytes((count,)) + rows[start : start + count].astype("<i4").tobytes()
    assert data == expected
    result = RowGroups.read_groups(Reader(data, "a"), len(counts), columns, "groups")
    assert result.counts.tolist() == counts
    np.testing.assert_array_equal(result.rows, rows)


@given(st.data())
def test_meshes_of_any_numbers_come_back(data):
    points = data.draw(st.integers(0, 6))
    faces = data.draw(st.integers(0, 6))
    raw = data.draw(st.binary(min_size=12 * points + 24 * faces, max_size=12 * points + 24 * faces))
    created = small((mesh(x1005=words(points) + raw[: 12 * points], x1006=words(faces) + raw[12 * points :]),))
    document, _ = read(created)
    assert editor_model.write(document) == created
    assert list(Walk(editor_model.VIEWS).differences(document, document)) == []


def test_text():
    document, _ = read(small())
    lines = editor_model.describe(document)
    assert lines[0] == "dynamic (flags 0x43), 1 mesh, 1 surface, 1 bone"
    assert lines[1] == "mesh 'quad': 4 points, 0.0 0.0 0.0 to 1.0 2.0 0.0, 2 faces, normals stored, 3 vertex maps"
    assert lines[2] == (
        "surface 'metal': texture wpn\\metal, shader models\\model, game material objects\\metal, two-sided"
    )
    assert "motion files: a\\b, c" in lines
    assert "bone parts: default (1)" in lines
    dumped = [line.strip() for line in Walk(editor_model.VIEWS).dump(document)]
    assert "corners 0 0 0 2 2 1 1" in dumped
    assert "bone 'root'" in dumped
    assert "'root' '' 'root'" in dumped


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"x903": words(1)}, "object flags: flags: 67 / 1"),
        ({"x924": b"a\0"}, r"motion references: names: 'a\\b', 'c' / 'a'"),
        ({"x923": None}, "parts is only in the first"),
        ({"x921": chunk(0, chunk(2, b"root\0\0root\0"))}, "bones: bone 'root': placement is only in the first"),
    ],
)
def test_differences(changed, line):
    first, other = read(small())[0], read(small(**changed))[0]
    assert line in list(Walk(editor_model.VIEWS).differences(first, other))


def test_differences_inside_a_mesh():
    other = small((mesh(x1005=MESH[0x1005].replace(floats(1, 2), floats(1, 3))),))
    lines = list(Walk(editor_model.VIEWS).differences(read(small())[0], read(other)[0]))
    assert lines == [
        (
            "meshes: mesh 'quad': points: positions: 0.0 0.0 0.0 1.0 0.0 0.0 1.0 2.0 0.0 0.0 2.0 0.0 / "
            "0.0 0.0 0.0 1.0 0.0 0.0 1.0 3.0 0.0 0.0 2.0 0.0"
        )
    ]


def test_the_motions_inside_are_those_of_a_list():
    document, _ = read(small())
    again = skl.read(skl.write(document.model.first(skl.Skl)), "a.skls", Report())
    assert [motion.label for motion in again.motions] == ["idle"]
