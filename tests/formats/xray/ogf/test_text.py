"""Models in words: the summary, a dump whose equality is that of the bytes, and differences that miss nothing."""

import random
import struct

import pytest

from addon.core.errors import ReadError
from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats.xray import ogf
from addon.formats.xray.ogf.chunk_types import IkData
from tests.formats.xray.ogf import small_model as small
from tests.real_files import corpus_files


def read(data: bytes):
    return ogf.read(data, "small.ogf", Report())


def test_the_summary_names_bones_meshes_formats_and_motion_files():
    material = "texture wpn\\pip_1, shader models\\model"
    assert ogf.describe(read(small.MODEL)) == [
        "version 4, skeleton animated, 2 bones",
        f"mesh 0: skinned strip, 3 vertices (2 bones each, format 0x2), 1 triangles, {material}",
        "motion files: a, b",
    ]


def test_the_summary_of_motions_inside(corpus):
    data = (corpus / "ogf/soc_pm_hud_embedded.ogf").read_bytes()
    assert ogf.describe(read(data))[-3] == "motions inside: 38 motions, 1308 frames, 0 marks, parameters version 3"


def test_a_dump_has_every_field_on_a_line_of_its_own():
    lines = list(Walk(ogf.VIEWS).dump(read(small.MODEL)))
    for line in (
        "header",
        "  id 0x1",
        "  box 1 1.0 2.0 3.0",
        "  exported 305419896",
        "  child 0",
        "      count 3: bones | position | normal | tangent | binormal | weights | uv",
        "      0 0 1 | 0.0 0.0 0.0 | 0.0 0.0 1.0 | 1.0 0.0 0.0 | 0.0 -1.0 0.0 | 0.25 | 0.0 1.0",
        "      corners 0 1 2",
        "  bone 'hand'",
        "    parent 'Root'",
        "      limits 1 -0.5 0.5 1.0 1.0",
        "    rotation 0.5 0.25 -0.125",
        "  'a' 'b'",
    ):
        assert line in lines


def test_a_dump_tells_kinds_of_nan_and_zeros_apart():
    texts = set()
    for bits in (0x7FC0_0000, 0x7FC0_0001, 0x7FA0_0000, 0x0000_0000, 0x8000_0000):
        header = small.HEADER[:4] + struct.pack("<I", bits) + small.HEADER[8:]
        texts.add("\n".join(Walk(ogf.VIEWS).dump(read(small.model(header=header)))))
    assert len(texts) == 5


@pytest.mark.parametrize("path", corpus_files("ogf/*hud*.ogf"))
def test_a_model_does_not_differ_from_itself(path):
    data = path.read_bytes()
    assert list(Walk(ogf.VIEWS).differences(read(data), read(data))) == []


def every_bit_of(data: bytes, seed: int, count: int):
    chance = random.Random(seed)  # noqa: S311 - a test must find again what it found
    for place in sorted(chance.sample(range(len(data)), min(count, len(data)))):
        changed = bytearray(data)
        changed[place] ^= 1 << chance.randrange(8)
        yield place, bytes(changed)


def check_that_nothing_is_missed(data: bytes, count: int):
    first = read(data)
    text = list(Walk(ogf.VIEWS).dump(first))
    readable = 0
    for place, changed in every_bit_of(data, 7, count):
        try:
            second = read(changed)
        except ReadError:
            continue
        readable += 1
        assert ogf.write(second) == ogf.recompose(second) == changed
        assert list(Walk(ogf.VIEWS).differences(first, second)), place
        assert list(Walk(ogf.VIEWS).dump(second)) != text, place
    assert readable > 0.8 * min(count, len(data))


def test_a_changed_bit_anywhere_in_the_small_model_is_seen():
    data = small.model(
        small.chunk(19, small.REFERENCES), small.chunk(24, small.REFERENCES_2), small.chunk(0x77, b"abc")
    )
    check_that_nothing_is_missed(data, len(data))


@pytest.mark.parametrize("name", ["embedded_motions_af_psi_field", "bx_gl", "bx_build_v3", "coc_dev_bolt_hud"])
def test_a_changed_bit_in_a_real_model_is_seen(corpus, name):
    check_that_nothing_is_missed((corpus / "ogf" / f"{name}.ogf").read_bytes(), 150)


def test_differences_speak_of_bones_children_and_fields():
    changed = small.MODEL.replace(small.HAND_REST, small.floats(0.5, 0.25, -0.125, 1, 2, 4))
    changed = changed.replace(b"pip_1", b"pip_2").replace(small.USER_DATA, b"[b]\r\n\0")
    assert list(Walk(ogf.VIEWS).differences(read(small.MODEL), read(changed))) == [
        "children: child 0: texture: 'wpn\\\\pip_1' / 'wpn\\\\pip_2'",
        "physics: bone 'hand': offset: 1.0 2.0 3.0 / 1.0 2.0 4.0",
        "user data: '[a]\\r\\n' / '[b]\\r\\n'",
    ]


def test_differences_count_vertices_and_show_the_first():
    data = small.MODEL
    place = data.index(small.VERTICES) + 8 + 64 + 4
    changed = data[:place] + small.floats(7) + data[place + 4 :]
    assert list(Walk(ogf.VIEWS).differences(read(data), read(changed))) == [
        (
            "children: child 0: vertices position: 0.0 0.0 0.0 1.0 0.0 0.0 0.0 2.0 3.0 / "
            "0.0 0.0 0.0 7.0 0.0 0.0 0.0 2.0 3.0"
        )
    ]


def test_chunks_that_only_one_has_are_named():
    more = small.model(small.chunk(24, small.REFERENCES_2))
    assert list(Walk(ogf.VIEWS).differences(read(small.MODEL), read(more))) == [
        "motion references is only in the first",
        "motion references2 is only in the second",
    ]


def test_a_bone_more_is_told_as_such():
    document = read(small.MODEL)
    physics = document.first(IkData)
    fewer = document.replaced(physics, IkData(physics.bones[:1], physics.layout))
    assert list(Walk(ogf.VIEWS).differences(document, fewer)) == ["physics: bone 'hand' is only in the first"]


def test_differences_inside_embedded_motions_speak_of_motion_and_bone(corpus):
    data = (corpus / "ogf/embedded_motions_af_psi_field.ogf").read_bytes()
    changed = bytearray(data)
    changed[17314] ^= 1
    keys, checksum = Walk(ogf.VIEWS).differences(read(data), read(bytes(changed)))
    assert keys.startswith("motion 'idle': bone 'joint2': rotation: ")
    assert checksum == "motion 'idle': bone 'joint2': rotation crc, wrong: - / 926b0c9c"
