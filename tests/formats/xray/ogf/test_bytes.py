"""Bytes <-> document: annotated bytes, every real file, every broken one with its own verdict, hostile input."""

import struct

import numpy as np
import pytest

from addon.core.errors import ReadError
from addon.formats.xray import ogf
from addon.formats.xray.ogf.chunk_types import (
    BoneNames,
    Bounds,
    Description,
    GeometryContainer,
    IkData,
    IkLayout,
    Indices,
    Links,
    LodFaces,
    LodPath,
    MotionReferences,
    MotionReferences2,
    SlidingWindows,
    Sphere,
    SwiContainer,
    Texture,
    TreeShape,
    UserData,
    VertexContainer,
    Vertices,
)
from addon.formats.xray.ogf.document import Children, Ogf, VisualType
from tests.formats.reading import reading
from tests.formats.xray.ogf import small_model as small
from tests.work import lines_run, memory_peak

read = reading(ogf, "small.ogf")


def child_with(*chunks: bytes) -> Ogf:
    document, report = read(small.model(child=small.chunk(1, small.CHILD_HEADER) + b"".join(chunks)))
    assert not report
    return document.children[0]


# Annotated bytes -----------------------------------------------------------------------------------------------------


def test_header_and_texture():
    document, _ = read(small.MODEL)
    header, texture = document.header, document.children[0].first(Texture)
    assert (header.version, header.type, header.shader) == (4, VisualType.SKELETON_ANIMATED, 0)
    assert header.box.tolist() == [[0, 0, 0], [1, 2, 3]]
    assert header.sphere.tolist() == [0.5, 1, 1.5, 1.875]
    assert (texture.texture, texture.shader) == (b"wpn\\pip_1", b"models\\model")


def test_two_link_vertices_and_indices():
    child = read(small.MODEL)[0].children[0]
    vertices, indices = child.first(Vertices), child.first(Indices)
    assert (vertices.format, vertices.links, vertices.rows.dtype.itemsize) == (2, 2, 64)
    assert vertices.rows["bones"].tolist() == [[0, 1], [1, 1], [1, 0]]
    assert vertices.rows["position"].tolist() == [[0, 0, 0], [1, 0, 0], [0, 2, 3]]
    assert vertices.rows["weights"].tolist() == [[0.25], [1], [0]]
    assert vertices.rows["binormal"][0].tolist() == [0, -1, 0]
    assert vertices.rows["uv"].tolist() == [[0, 1], [1, 1], [0, 0]]
    assert indices.corners.tolist() == [0, 1, 2]


def test_bones_and_physics():
    document, _ = read(small.MODEL)
    listed, physics = document.first(BoneNames), document.first(IkData)
    assert [(bone.name, bone.parent) for bone in listed.bones] == [(b"root", b""), (b"hand", b"Root")]
    assert listed.bones[0].centre.tolist() == [0.5, 0, 0]
    assert listed.bones[0].half_size.tolist() == [0.5, 0.25, 0.25]
    hand = physics.bones[1]
    assert (hand.version, hand.material, hand.shape.type, hand.shape.flags) == (1, b"metal", 1, 4)
    assert hand.shape.cylinder.tolist() == [0, 0, 0, 0, 1, 0, 2, 0.5]
    assert (hand.joint.type, hand.joint.flags, hand.joint.friction) == (2, 1, 0.25)
    assert hand.joint.limits[1].tolist() == [-0.5, 0.5, 1, 1]
    assert hand.joint.breaking.tolist() == [100, 200]
    assert hand.rotation.tolist() == [0.5, 0.25, -0.125]
    assert hand.offset.tolist() == [1, 2, 3]
    assert (hand.mass, hand.centre_of_mass.tolist()) == (10, [0, 0.5, 0])


def test_words():
    document, _ = read(small.model(small.chunk(19, small.REFERENCES), small.chunk(24, small.REFERENCES_2)))
    assert document.first(UserData) == UserData(b"[a]\r\n")
    assert document.first(Description) == Description(b"a.obj", b"sdk", 0x12345678, b"me", 1, b"you", 2)
    assert document.first(MotionReferences) == MotionReferences([b"a", b"b"])
    assert document.first(MotionReferences2) == MotionReferences2([b"a", b"b\\*.omf"])


def test_times_of_eight_bytes_are_kept():
    wide = (
        b"a.obj\0sdk\0" + struct.pack("<Q", 1 << 33) + b"me\0" + struct.pack("<Q", 1) + b"you\0" + struct.pack("<Q", 2)
    )
    data = small.MODEL.replace(small.chunk(18, small.DESCRIPTION), small.chunk(18, wide))
    document, report = read(data)
    assert document.first(Description) == Description(b"a.obj", b"sdk", 1 << 33, b"me", 1, b"you", 2, 8)
    assert not report
    assert ogf.write(document) == data


@pytest.mark.parametrize(
    ("number", "links", "stride"),
    [
        *[(1, 1, 60), (2, 2, 64), (3, 3, 70), (4, 4, 76)],
        *[(0x12071980, 1, 60), (0x240E3300, 2, 64), (0x481C6600, 3, 70), (0x5A237F80, 4, 76)],
        (0x112, 0, 32),
    ],
)
def test_every_vertex_format_has_its_stride(number, links, stride):
    body = struct.pack("<II", number, 2) + bytes(range(stride)) + bytes(range(100, 100 + stride))
    child = child_with(small.chunk(3, body))
    vertices = child.first(Vertices)
    assert (vertices.links, vertices.rows.dtype.itemsize, len(vertices.rows)) == (links, stride, 2)
    last_uv = stride - 12 if links == 1 else stride - 8
    assert vertices.rows["uv"][1].tobytes() == bytes(range(100 + last_uv, 108 + last_uv))
    position = 0 if links < 2 else 2 * links
    assert vertices.rows["position"][1].tobytes() == bytes(range(100 + position, 112 + position))


def test_progressive_windows():
    body = small.hexed("""
        00000000 01000000 02000000 03000000 ; reserved
        02000000        ; two windows
        06000000 0100 0300 ; finest: from index 6, one triangle, three vertices
        00000000 0200 0400
    """)
    windows = child_with(small.chunk(6, body)).first(SlidingWindows)
    assert windows.reserved.tolist() == [0, 1, 2, 3]
    assert windows.windows.tolist() == [(6, 1, 3), (0, 2, 4)]


def test_what_level_visuals_hold():
    six = struct.pack("<6I", 1, 2, 3, 4, 5, 6)
    lod = bytes(range(127)) * 7 + bytes(7)
    tree = small.floats(*range(26))
    child = child_with(
        *(small.chunk(7, six[:12]), small.chunk(8, six[12:]), small.chunk(21, six), small.chunk(20, six[:4])),
        *(small.chunk(10, struct.pack("<3I", 2, 7, 8)), small.chunk(11, lod), small.chunk(12, tree)),
        small.chunk(22, small.chunk(21, six), small.chunk(20, six[4:8])),
    )
    values = {type(section.value): section.value for section in child.sections}
    assert values[VertexContainer] == VertexContainer(1, 2, 3)
    assert values[GeometryContainer].indices.count == 6
    assert values[SwiContainer] == SwiContainer(1)
    assert values[Links].visuals.tolist() == [7, 8]
    assert values[LodFaces].corners.shape == (8, 4)
    assert values[LodFaces].corners["sun"][0, 1] == 28 + 24
    assert values[TreeShape].bias.tolist() == [21, 22, 23, 24, 25]
    assert [type(s.value) for s in child.sections[-1].value.sections] == [GeometryContainer, SwiContainer]


def test_the_header_of_a_level_visual_may_be_the_last_chunk():
    data = small.chunk(21, bytes(24)) + small.chunk(22, small.chunk(21, bytes(24))) + small.chunk(1, small.CHILD_HEADER)
    document, report = read(data)
    assert document.header.type == 5
    assert not report
    assert ogf.write(document) == data


@pytest.mark.parametrize(
    ("text", "end"), [(b"a\\lod\r\n", b"\r\n"), (b"a\\lod\n", b"\n"), (b"a\\lod\0", b"\0"), (b"a\\lod", b"")]
)
def test_a_distant_model_by_path(text, end):
    data = small.model(small.chunk(23, text))
    document, report = read(data)
    assert document.first(LodPath) == LodPath(b"a\\lod", end)
    assert not report
    assert ogf.write(document) == data


def test_a_distant_model_inside():
    data = small.model(small.chunk(23, small.CHILD))
    document, report = read(data)
    assert document.sections[-1].value.first(Texture).texture == b"wpn\\pip_1"
    assert not report
    assert ogf.write(document) == data


def test_physics_before_the_names_is_still_counted_by_them():
    data = small.chunk(1, small.HEADER) + small.chunk(16, small.PHYSICS + b"123456789") + small.chunk(13, small.BONES)
    document, report = read(data)
    assert len(document.first(IkData).bones) == 2
    assert report.lines() == ["9 extra bytes; kept (0x10)"]
    assert ogf.raw_size(document) == 9
    assert ogf.write(document) == data


def test_the_three_layouts_of_physics_in_version_3():
    header = bytes.fromhex("030f0000")
    rest = small.ROOT_REST + small.MASS
    layouts = {
        IkLayout.ABSOLUTE: small.MATERIAL + small.SHAPE + small.JOINT + rest,
        IkLayout.EARLY: small.MATERIAL + small.SHAPE + small.JOINT + small.BREAKING + rest,
        IkLayout.VERSIONED: (
            small.VERSION + small.MATERIAL + small.SHAPE + small.JOINT + small.BREAKING + small.FRICTION + rest
        ),
    }
    for layout, bone in layouts.items():
        data = small.chunk(1, header) + small.chunk(13, small.BONES) + small.chunk(int(layout), bone, bone)
        document, report = read(data)
        physics = document.first(IkData)
        assert (physics.layout, len(physics.bones)) == (layout, 2)
        assert physics.bones[1].offset.tolist() == [0, 1, 0]
        assert (physics.bones[1].joint.breaking is None) == (layout == IkLayout.ABSOLUTE)
        assert not report
        assert ogf.write(document) == data


def test_bounds_of_version_3_are_chunks_of_their_own():
    data = small.chunk(1, b"\3\0\0\0") + small.chunk(6, small.floats(-1, -2, -3, 4, 5, 6))
    data += small.chunk(11, small.floats(1, 2, 3, 7))
    document, report = read(data)
    assert not report
    assert document.first(Bounds).box.tolist() == [[-1, -2, -3], [4, 5, 6]]
    assert document.first(Sphere).sphere.tolist() == [1, 2, 3, 7]
    assert ogf.write(document) == data


def test_unknown_and_empty_chunks_stay_where_they_are():
    data = small.model(small.chunk(0x77, b"abc"), small.chunk(0x8063_7546))
    document, report = read(data)
    assert ogf.write(document) == data
    assert ogf.raw_size(document) == 3
    assert report.lines() == ["1 chunk of unknown meaning, kept unchanged (0x77)"]


def test_a_field_changed_in_the_document_is_what_is_written():
    document, _ = read(small.MODEL)
    document.children[0].first(Texture).texture = b"wpn\\longer_name"
    document.header.type = 10
    written, _ = read(ogf.write(document))
    assert written.header.type == 10
    assert written.children[0].first(Texture).texture == b"wpn\\longer_name"
    assert len(ogf.write(document)) == len(small.MODEL) + 6


def test_no_kept_run_of_bytes_stands_in_for_a_typed_value():
    # The chunks' own bytes are thrown away; what is written can only come from the types.
    document, _ = read(small.MODEL)
    children = document.first(Children)
    for section in [*document.sections, *children.sections, *children.sections[0].value.sections]:
        section.chunk.body = b""
    assert ogf.write(document) == small.MODEL


# Real files ----------------------------------------------------------------------------------------------------------


def test_what_the_manifest_says_of_real_models(corpus):
    result = {}
    for row in (corpus / "MANIFEST.tsv").read_text("utf-8").splitlines():
        name, kind, *_, note = row.split("\t")
        if kind == "ogf" and " bones" in note and "odd_" not in name and "ogf v" in note:
            summary = note[note.index("ogf v") :]
            result[name] = {
                part.split(" ")[1]: int(part.split(" ")[0]) for part in summary.split(", ") if part[0].isdigit()
            }
    assert len(result) > 20
    for name, counts in result.items():
        document, _ = read((corpus / name).read_bytes(), name)
        assert len(document.first(BoneNames).bones) == counts["bones"]
        assert "children" not in counts or len(document.children) == counts["children"]


def test_every_link_format_of_the_corpus_was_seen(corpus):
    seen = set()
    for path in (corpus / "ogf").glob("*.ogf"):
        if "d3_texture" not in path.name:
            document, _ = read(path.read_bytes(), path.name)
            visuals = [document, *document.children]
            seen |= {visual.first(Vertices).format for visual in visuals if visual.first(Vertices)}
    assert seen == {1, 2, 3, 4, 0x12071980, 0x240E3300, 0x112}


# Broken files, each with its verdict ----------------------------------------------------------------------------------


def odd(corpus, name: str) -> tuple[Ogf, list[str], bytes]:
    data = (corpus / "ogf" / name).read_bytes()
    document, report = read(data, name)
    assert ogf.write(document) == ogf.recompose(document) == data
    return document, report.lines(), data


def test_odd_chunk_size_wrong_middle_is_kept_with_warnings_but_its_mesh_and_skeleton_are_lost(corpus):
    document, lines, data = odd(corpus, "odd_chunk_size_wrong_middle.ogf")
    assert (
        lines[0]
        == "the chunk declares 1953460082 bytes, but only 16040 follow; the existing bytes are read (0x2F at 591817)"
    )
    assert any("0x9/0x0/0x2AE13F0C" in line for line in lines)
    assert document.first(BoneNames) is None
    assert document.children[0].first(Vertices) is None
    assert ogf.raw_size(document) > 0.99 * len(data)


def test_odd_d3_texture_not_xray_is_refused_by_its_name(corpus):
    path = corpus / "ogf" / "odd_d3_texture_not_xray.ogf"
    with pytest.raises(ReadError) as refusal:
        read(path.read_bytes(), path.name)
    assert (refusal.value.file, refusal.value.offset) == (path.name, 0)
    assert "texture of Descent 3" in refusal.value.problem
    assert "Descent 3 model (.oof)" in refusal.value.remedy


@pytest.mark.parametrize(("kind", "left"), [("lod", 33), ("rigid", 43)])
def test_odd_gunslinger_fake_compressed_is_read_whole_but_for_its_scrambled_description(corpus, kind, left):
    document, lines, _ = odd(corpus, f"odd_gunslinger_fake_compressed_{kind}.ogf")
    assert [section.chunk.id for section in document.sections[:2]] == [0x8000_0001, 0x8000_0012]
    assert document.first(Description).source == b"I'll make you cry. Sin!"
    assert document.first(Description).tool is None
    assert lines[0].startswith("2 chunks are marked as compressed but not in the game's way")
    assert lines[-1] == f"{left} extra bytes; kept (0x80000012)"
    assert ogf.raw_size(document) == left
    assert len(document.first(BoneNames).bones) == 1


def test_odd_hand_text_mangled_is_kept_with_a_warning_and_holds_nothing(corpus):
    document, lines, _ = odd(corpus, "odd_hand_text_mangled.ogf")
    assert (
        lines[0] == "the chunk declares 3472883712 bytes, but only 372809 follow; the existing bytes are read "
        "(0x20202020 at 196)"
    )
    assert document.children == []


def test_odd_ikdata_size_9_too_large_keeps_its_skeleton(corpus):
    document, lines, _ = odd(corpus, "odd_ikdata_size_9_too_large.ogf")
    assert "9 extra bytes; kept (0x10)" in lines
    assert [bone.material for bone in document.first(IkData).bones] == [b"creatures\\phantom"] * 3
    assert document.first(UserData) is None


def test_odd_last_chunk_truncated_keeps_everything_before_it(corpus):
    document, lines, _ = odd(corpus, "odd_last_chunk_truncated.ogf")
    assert lines == ["the chunk declares 44 bytes, but only 1 follow; the existing bytes are read (0x11 at 741777)"]
    assert len(document.first(IkData).bones) == 23
    assert len(document.children) == 8
    assert document.first(UserData) == UserData(b"")


def test_odd_refs2_size_too_small_keeps_the_names_that_are_whole(corpus):
    document, lines, _ = odd(corpus, "odd_refs2_size_too_small.ogf")
    assert "9 extra bytes; kept (0x18)" in lines
    names = document.first(MotionReferences2).names
    assert [name.decode() for name in names] == [
        "actors\\stalker_animation",
        "actors\\stalker_scripts_animation",
        "actors\\zombied_animation",
        "actors\\stalker_smart_cover_animation",
    ]


def test_the_description_a_test_file_breaks_is_read_as_far_as_it_goes(corpus):
    document, lines, _ = odd(corpus, "bx_gl.ogf")
    description = document.first(Description)
    assert description.source == b"c:\\users\\pavel_blend\\desktop\\test_fmt_ogf_st.object"
    assert description.modifier is None
    assert any("the description is broken" in line for line in lines)


# Wrong and hostile input ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\x01", "there is no header"),
        (b"[section]\r\nkey = value\r\n" * 20, "truncated, or not a chunked file"),
        (small.chunk(2, small.TEXTURE), "there is no header"),
        (small.chunk(1, b""), "there is no header"),
        (small.chunk(1, b"\x04\x03"), "the model's shader: 2 bytes are needed"),
        (small.chunk(1, small.HEADER[:30]), "the bounding box: 24 bytes are needed|the bounding sphere: "),
        (small.chunk(1, b"\x02" + small.HEADER[1:]), "a model of version 2 is not known"),
    ],
)
def test_what_is_not_a_model_is_refused_with_its_name(data, problem):
    with pytest.raises(ReadError, match=problem) as refusal:
        read(data, "wrong.ogf")
    assert str(refusal.value).startswith("wrong.ogf, ")


@pytest.mark.parametrize(
    ("identifier", "body"),
    [
        (3, struct.pack("<II", 1, 0xFFFF_FFFF) + bytes(100)),
        (3, struct.pack("<II", 0x7777, 1) + bytes(100)),
        (4, struct.pack("<I", 0xFFFF_FFFF) + bytes(100)),
        (6, bytes(16) + struct.pack("<I", 0xFFFF_FFFF) + bytes(100)),
        (10, struct.pack("<I", 0xFFFF_FFFF)),
        (13, struct.pack("<I", 0xFFFF_FFFF) + bytes(100)),
        (24, struct.pack("<I", 0xFFFF_FFFF) + bytes(100)),
        (2, b"no end"),
        (16, b"x"),
    ],
)
def test_absurd_counts_and_broken_bodies_are_kept_as_bytes_and_cost_nothing(identifier, body):
    data = small.chunk(1, small.HEADER) + small.chunk(identifier, body)
    assert memory_peak(lambda: read(data)) < 200_000
    document, report = read(data)
    assert document.sections[1].value is None
    assert len(report.warnings) == 1
    assert next(iter(report.warnings)).startswith("not readable, kept unchanged: ")
    assert ogf.raw_size(document) == len(body)
    assert ogf.write(document) == data


def test_a_model_cut_at_any_byte_is_refused_or_faithful():
    ends = np.cumsum([8 + len(section.chunk.body) for section in read(small.MODEL)[0].sections]).tolist()
    for size in range(ends[0]):
        with pytest.raises(ReadError, match=r"^small\.ogf, "):
            read(small.MODEL[:size])
    for size in range(ends[0], len(small.MODEL)):
        document, report = read(small.MODEL[:size])
        assert ogf.write(document) == ogf.recompose(document) == small.MODEL[:size]
        assert bool(report.warnings) != (size in ends)


def test_models_nested_a_thousand_deep_are_followed_to_a_limit_and_kept():
    data = small.CHILD
    for _ in range(1000):
        data = small.chunk(1, small.HEADER) + small.chunk(9, small.chunk(0, data))
    document, report = read(data)
    assert ogf.write(document) == data
    assert any("nested more than 32 deep" in line for line in report.lines())
    levels, visual = 0, document
    while visual.children:
        visual, levels = visual.children[0], levels + 1
    assert levels == 16


def test_a_child_that_is_no_visual_stays_bytes_beside_the_others():
    data = small.chunk(1, small.HEADER) + small.chunk(9, small.chunk(0, b"junk"), small.chunk(1, small.CHILD))
    document, report = read(data)
    assert len(document.children) == 1
    assert [section.value is None for section in document.first(Children).sections] == [True, False]
    assert any("0x9/0x0" in line for line in report.lines())
    assert ogf.write(document) == data


def test_reading_is_linear_in_the_number_of_children():
    def both_ways(count):
        data = small.chunk(1, small.HEADER) + small.chunk(9, *(small.chunk(n, small.CHILD) for n in range(count)))
        return lambda: ogf.write(read(data)[0])

    small_work, large_work = both_ways(50), both_ways(500)
    assert lines_run(large_work) < 10.5 * lines_run(small_work)
    assert memory_peak(large_work) < 10.5 * memory_peak(small_work)


def test_a_large_model_costs_no_copy_of_its_vertices(corpus):
    data = (corpus / "ogf/hoc_backpack_hud.ogf").read_bytes()
    assert memory_peak(lambda: read(data)) < 0.5 * len(data)
    document, _ = read(data)
    assert not document.children[0].first(Vertices).rows.flags.owndata


def test_numbers_that_are_not_one_keep_their_bits():
    odd_nan = struct.pack("<I", 0x7FA1_2345)  # a signalling NaN
    header = small.HEADER[:4] + odd_nan + small.HEADER[8:]
    physics = small.PHYSICS.replace(small.MASS, odd_nan + small.MASS[4:])
    data = small.model(header=header, physics=physics)
    assert ogf.write(read(data)[0]) == data
