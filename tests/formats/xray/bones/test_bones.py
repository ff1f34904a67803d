"""Bone properties: annotated bytes, real files, damage, text."""

import struct

import pytest

from addon.core.errors import ReadError
from addon.core.walk import Walk
from addon.formats.xray import bones
from addon.formats.xray.bones import Mass, Material, Placement
from addon.formats.xray.ogf.chunk_types import Joint, Shape
from tests.formats.reading import reading
from tests.formats.xray.level_bytes import chunk
from tests.real_files import corpus_files

SHAPE = struct.pack("<HH27f", 2, 1, *range(27))  # a sphere; box 15, sphere 4, cylinder 8 numbers: 112 bytes
JOINT = struct.pack("<I12f2f", 2, *range(12), 0.5, 0.25)  # type, limits, spring, damping: 60 bytes
BONE = (
    chunk(1, struct.pack("<H", 2))  # version
    + chunk(2, b"head\0")
    + chunk(3, struct.pack("<7f", 0, 1, 2, 0.1, 0.2, 0.3, 0.5))  # offset, rotation, length
    + chunk(4, b"creatures\\human\0")
    + chunk(5, SHAPE)
    + chunk(8, struct.pack("<I", 1))  # breakable
    + chunk(6, JOINT)
    + chunk(9, struct.pack("<2f", 100, 200))  # force, torque
    + chunk(0x10, struct.pack("<f", 0.75))  # friction
    + chunk(7, struct.pack("<4f", 10, 0, 0.5, 0))  # mass, centre
)
PARTS = struct.pack("<I", 1) + b"body\0" + struct.pack("<I", 2) + b"head\0neck\0"
SMALL = chunk(0, BONE) + chunk(1, chunk(2, b"neck\0")) + chunk(0x923, PARTS)

read = reading(bones, "test.bones")


def test_every_field():
    document, _ = read(SMALL)
    head, neck = document.bones
    assert (head.name, neck.name) == ("head", "neck")
    shape, joint = head.first(Shape), head.first(Joint)
    assert (len(SHAPE), shape.type, shape.flags, shape.cylinder.tolist()) == (112, 2, 1, list(range(19, 27)))
    assert (len(JOINT), joint.type, joint.limits[2].tolist(), joint.damping) == (60, 2, [8, 9, 10, 11], 0.25)
    assert head.first(Placement).length == 0.5
    assert head.first(Material).name == b"creatures\\human"
    assert head.first(Mass).mass == 10
    assert neck.first(Mass) is None
    assert [(part.name, part.bones) for part in document.parts] == [(b"body", [b"head", b"neck"])]


@pytest.mark.parametrize("file", corpus_files("bones/bx_test.bones"))
def test_a_real_file(file):
    document, _ = read(file.read_bytes(), file.name)
    assert [bone.name for bone in document.bones] == ["bone_root", "bone_child"]
    assert [part.bones for part in document.parts] == [[b"bone_root"], [b"bone_child"]]


@pytest.mark.parametrize("names", [(b"head\0neck\0vmap\0", b"other\0"), (b"head\0", b"other\0neck\0vmap\0")])
def test_of_two_names_the_first_counts(names):
    data = chunk(0, b"".join(chunk(2, name) for name in names))
    document, _ = read(data)
    assert document.bones[0].name == "head"
    assert bones.write(document) == data


@pytest.mark.parametrize(
    "data",
    [b"", bytes(64), b"\xff" * 64, chunk(0x923, PARTS), chunk(0, chunk(0x55, b"?")), b"text\n" * 30],
)
def test_no_bones_at_all(data):
    with pytest.raises(ReadError):
        read(data)


def test_what_cannot_be_read_is_kept_and_reported():
    odd = chunk(2, b"a\0") + chunk(7, b"short") + chunk(8, bytes(9)) + chunk(0x77, b"?")
    data = chunk(0, odd) + chunk(0x923, b"\xff" * 4) + b"end"
    document, report = read(data)
    assert bones.write(document) == data
    assert len(report.lines()) == 5
    assert bones.raw_size(document) == len(b"short") + 9 + len(b"?") + 4 + len(b"end")


def test_numbers_that_are_not_one_come_back_bit_for_bit():
    data = chunk(0, chunk(2, b"a\0") + chunk(0x10, bytes.fromhex("0100a07f")))
    assert bones.write(read(data)[0]) == data


def test_text_and_differences():
    entry, _ = read(SMALL)
    assert bones.describe(entry) == ["2 bones, 10 kg", "bones: head, neck", "parts: body (2 bones)"]
    lines = [line.strip() for line in Walk(bones.VIEWS).dump(entry)]
    assert "centre 0.0 0.5 0.0" in lines
    assert "'creatures\\\\human'" in lines
    assert lines[-2:] == ["part 'body'", "'head' 'neck'"]
    other, _ = read(SMALL.replace(struct.pack("<f", 0.75), struct.pack("<f", 0.5)))
    assert list(Walk(bones.VIEWS).differences(entry, entry)) == []
    assert list(Walk(bones.VIEWS).differences(entry, other)) == ["bone 'head': friction: 0.75 / 0.5"]


def test_masses_that_are_not_one_are_described():
    odd = struct.pack("<4f", float("inf"), 0, 0, 0), struct.pack("<4f", float("-inf"), 0, 0, 0)
    data = b"".join(chunk(number, chunk(2, b"a\0") + chunk(7, body)) for number, body in enumerate(odd))
    assert bones.describe(read(data)[0])[0] == "2 bones, nan kg"
