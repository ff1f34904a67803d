"""Models in words: the summary, a dump whose equality is that of the bytes, and differences that miss nothing."""

from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats.xray import ogf
from tests.formats.xray.ogf import small_model as small


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


def test_differences_speak_of_bones_children_and_fields():
    changed = small.MODEL.replace(small.HAND_REST, small.floats(0.5, 0.25, -0.125, 1, 2, 4))
    changed = changed.replace(b"pip_1", b"pip_2").replace(small.USER_DATA, b"[b]\r\n\0")
    assert list(Walk(ogf.VIEWS).differences(read(small.MODEL), read(changed))) == [
        "children: child 0: texture: 'wpn\\\\pip_1' / 'wpn\\\\pip_2'",
        "physics: bone 'hand': offset: 1.0 2.0 3.0 / 1.0 2.0 4.0",
        "user data: '[a]\\r\\n' / '[b]\\r\\n'",
    ]


def test_differences_inside_embedded_motions_speak_of_motion_and_bone(corpus):
    data = (corpus / "ogf/embedded_motions_af_psi_field.ogf").read_bytes()
    changed = bytearray(data)
    changed[17314] ^= 1
    keys, checksum = Walk(ogf.VIEWS).differences(read(data), read(bytes(changed)))
    assert keys.startswith("motion 'idle': bone 'joint2': rotation: ")
    assert checksum == "motion 'idle': bone 'joint2': rotation crc, wrong: - / 926b0c9c"
