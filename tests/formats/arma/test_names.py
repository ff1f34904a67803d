"""Names in Arma's files: UTF-8, else code page 1252, and the bytes that were read leave again."""

import dataclasses

import numpy as np
import pytest

from addon.core.errors import WriteError
from addon.core.report import Report
from addon.formats.arma import names, rtm
from addon.formats.arma.skeletons import Hierarchy
from tests.formats.arma.rtm.small_files import binarised, events, plain

UTF_8, PAGE_1252 = "Кость".encode(), "Hüfte".encode("cp1252")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"Pelvis", "Pelvis"),
        (b"", ""),
        ("Hüfte".encode(), "Hüfte"),
        (UTF_8, "Кость"),
        (PAGE_1252, "Hüfte"),
        (b"\x80\x81\x9d\xff", "€\x81\x9dÿ"),
    ],
)
def test_bytes_are_read_as_utf_8_else_as_code_page_1252(data, text):
    assert names.decode(data) == text


def test_every_byte_has_a_text_that_names_it():
    every = [b"\xff" + bytes((code,)) for code in range(256)]
    assert len({names.decode(data) for data in every}) == 256
    assert [names.encode(names.decode(data)) for data in every] == every


@pytest.mark.parametrize(
    ("name", "sentence"), [("Кость", "'К', which is not in the game's code page"), ("Ã©", "would be read as 'é'")]
)
def test_new_names_that_cannot_be_written_are_refused(name, sentence):
    with pytest.raises(WriteError, match=sentence) as refusal:
        names.encode(name)
    assert "Rename" in refusal.value.remedy


@pytest.mark.parametrize("name", [UTF_8, PAGE_1252])
def test_names_that_were_not_edited_keep_their_bytes(name):
    entry = rtm.read(events((0.5, name, name)) + plain(bones=(name, b"Spine")), "x", Report())
    clip = rtm.decode(entry, Report())
    assert rtm.encode_plain(clip, entry)[0] is entry
    clip.deltas[0, 0, 0, 3] += 1
    again, changes = rtm.encode_plain(clip, entry)
    assert [change.name for change in changes.parts] == [names.decode(name)]
    assert changes.lines == []
    assert again.bones == entry.bones
    assert rtm.write(again).count(name) == rtm.write(entry).count(name) == 5
    renamed = dataclasses.replace(clip, bones=[clip.bones[0], "Spine1"])
    assert rtm.write(rtm.encode_plain(renamed, entry)[0]).count(name) == 5


@pytest.mark.parametrize("name", [UTF_8, PAGE_1252])
def test_names_keep_their_bytes_from_one_kind_of_file_to_the_other(name):
    entry = rtm.read(events((0.5, name, name)) + plain(bones=(name, b"Spine")), "x", Report())
    pair = Hierarchy("pair", {names.decode(name): "", "Spine": names.decode(name)})
    packed = rtm.ALONG_SKELETON["5"](entry, pair, Report())
    assert packed.bone_names == [name.lower(), b"spine"]
    assert (packed.events[0].name, packed.events[0].value, packed.events[0].kind) == (name, name, -1)
    back = rtm.ALONG_SKELETON["plain"](packed, pair, Report())
    assert back.bones == [names.decode(name.lower()), "spine"]
    assert rtm.write(back).lower().count(name.lower()) == 5
    assert back.events[0].kind == 0


def test_a_new_name_beside_one_that_cannot_be_written_is_enough_to_rename():
    document = rtm.read(binarised(), "x", Report())
    clip = rtm.decode(document, Report(), Hierarchy("flat", dict.fromkeys(document.bones, "")))
    clip.bones = ["Кость", clip.bones[1]]
    clip.deltas = np.array(clip.deltas)
    flat = Hierarchy("flat", dict.fromkeys(clip.bones, ""))
    with pytest.raises(WriteError, match="1252"):
        rtm.encode_binarised(clip, flat, document)
    clip.bones = ["Bone", clip.bones[1]]
    again, _ = rtm.encode_binarised(clip, Hierarchy("flat", dict.fromkeys(clip.bones, "")), document)
    assert again.bone_names == [b"bone", document.bone_names[1]]
