"""Bone properties as a model has them: signs of limits, chunks that are there and not, new files."""

import struct
from dataclasses import replace

import numpy as np

from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats import round_trips
from addon.formats.xray import bones
from addon.formats.xray.bones import (
    Friction,
    Mass,
    Material,
    Part,
    decode_bone,
    encode_bone,
    new_bone,
    new_bones,
    with_bones,
)
from addon.formats.xray.ogf.chunk_types import Joint, Shape
from tests.formats.xray.bones.test_bones import SMALL, read


def test_limits_have_the_other_sign_in_a_model():
    document, _ = read(SMALL)
    head, neck = document.bones
    physics = decode_bone(head)
    # The file has lowest, highest, spring, damping of x = 0, 1, 2, 3; a model -highest, -lowest.
    assert physics.entry.joint.limits[0].tolist() == [-1, 0, 2, 3]
    assert physics.entry.joint.limits[2].tolist() == [-9, -8, 10, 11]
    assert (physics.entry.joint.flags, physics.entry.joint.breaking.tolist()) == (1, [100, 200])
    assert (physics.entry.joint.friction, physics.entry.mass) == (0.75, 10)
    assert physics.entry.material == b"creatures\\human"
    assert len(physics.kinds) == 7
    assert decode_bone(neck).kinds == frozenset()


def test_of_chunks_that_a_file_has_not_a_model_has_zeros():
    entry = decode_bone(read(SMALL)[0].bones[1]).entry
    joint, shape = entry.joint, entry.shape
    assert (entry.material, shape.type, shape.flags, joint.type, joint.flags) == (b"", 0, 0, 0, 0)
    for numbers in (
        *(entry.rotation, entry.offset, entry.mass, entry.centre_of_mass, shape.box, shape.sphere, shape.cylinder),
        *(joint.limits, joint.spring, joint.damping, joint.breaking, joint.friction),
    ):
        assert not np.any(numbers)
        assert np.asarray(numbers).dtype == np.float32
    assert (entry.rotation.shape, joint.limits.shape, joint.breaking.shape) == ((3,), (3, 4), (2,))


def test_two_bones_of_one_number_stay_two_bones():
    second = bytearray(SMALL)
    size = struct.unpack_from("<I", SMALL, 4)[0]
    struct.pack_into("<I", second, 8 + size, 0)
    document, _ = read(bytes(second))
    assert [section.chunk.plain_id for section in document.sections][:2] == [0, 0]
    assert round_trips.ROUND_TRIPS["bones"](document, Report()) is not document
    assert bones.write(round_trips.ROUND_TRIPS["bones"](document, Report())) == second
    entry = replace(decode_bone(document.sections[0].value).entry, mass=np.float32(12))
    changed = with_bones(document, {0: encode_bone(document.sections[0].value, entry)})
    assert changed.sections[0].value.first(Mass).mass == 12
    assert changed.sections[1].value.name == document.sections[1].value.name != document.sections[0].value.name


def test_an_edit_changes_its_chunk_alone():
    document, _ = read(SMALL)
    entry = decode_bone(document.bones[0]).entry
    entry = replace(entry, mass=np.float32(12), joint=replace(entry.joint, limits=entry.joint.limits * 2))
    data = bones.write(with_bones(document, {0: encode_bone(document.bones[0], entry)}))
    assert len(data) == len(SMALL)
    own_document = bones.read(data, "test.bones", Report()).bones[0]
    assert own_document.first(Mass).mass == 12
    assert own_document.first(Joint).limits[0].tolist() == [0, 2, 4, 6]
    lines = list(Walk(bones.VIEWS).differences(read(SMALL)[0], bones.read(data, "test.bones", Report())))
    assert len(lines) == 2


def test_chunks_that_are_not_there_are_not_added():
    document, _ = read(SMALL)
    neck = document.bones[1]
    assert encode_bone(neck, decode_bone(document.bones[0]).entry).first(Mass) is None


def test_a_file_of_its_own():
    source, _ = read(SMALL)
    entry = decode_bone(source.bones[0]).entry
    data = bones.write(new_bones([new_bone("head", entry), new_bone("neck", entry)], [Part(b"body", [b"head"])]))
    document = bones.read(data, "new.bones", Report())
    assert [bone.name for bone in document.bones] == ["head", "neck"]
    assert [struct.unpack("<I", data[:4])[0], *(part.chunk.id for part in document.sections)] == [0, 0, 1, 0x923]
    first = document.bones[0]
    assert [section.chunk.id for section in first.sections] == [2, 4, 5, 8, 6, 9, 0x10, 7]
    assert first.first(Joint).limits.tolist() == source.bones[0].first(Joint).limits.tolist()
    assert first.first(Shape).sphere.tolist() == source.bones[0].first(Shape).sphere.tolist()
    assert (first.first(Material).name, first.first(Friction).value) == (b"creatures\\human", 0.75)


def test_new_bones_stand_behind_the_last_and_before_the_parts():
    document, _ = read(SMALL)
    entry = decode_bone(document.bones[0]).entry
    data = bones.write(with_bones(document, {}, [new_bone("tail", entry)]))
    sections = bones.read(data, "new.bones", Report()).sections
    assert [section.chunk.id for section in sections] == [0, 1, 2, 0x923]
    assert data.startswith(SMALL[: len(SMALL) - len(SMALL[SMALL.rindex(struct.pack("<I", 0x923)) :])])


def test_a_comparison_counts_bones():
    before, _ = read(SMALL)
    head = bones.decode_bone(before.bones[0]).entry
    edited = bones.encode_bone(before.bones[0], replace(head, mass=np.float32(9)))
    after = bones.with_bones(before, {0: edited}, [bones.new_bone("tail", head)])
    assert bones.compare(before, after).sentence() == "1 bone changed, 1 bone added, 1 unchanged"
    assert bones.compare(before, after).parts[0].line() == "head: mass"
    assert bones.compare(after, before).sentence() == "1 bone changed, 1 bone deleted, 1 unchanged"
    assert not bones.compare(after, after)
