"""Objects of the editor as models of the game: equal to what the SDK made of real ones, and what is refused."""

import numpy as np
import pytest

from addon import cli
from addon.core.errors import WriteError
from addon.core.polygons import repeated
from addon.core.report import Report
from addon.formats.xray import object as editor_model
from addon.formats.xray import ogf
from addon.formats.xray.conversion import ModelSettings, game_model
from addon.formats.xray.ogf import surface
from addon.formats.xray.ogf.building import MOST_VERTICES, SOC, Corners, make_children, oriented_box
from addon.formats.xray.ogf.chunk_types import (
    BoneNames,
    Description,
    IkData,
    Indices,
    MotionReferences,
    MotionReferences2,
    Texture,
    UserData,
    Vertices,
)
from addon.formats.xray.ogf.document import VisualType, motion_set_of
from addon.formats.xray.omf.document import partitions_of
from tests.formats.xray.level_bytes import words
from tests.formats.xray.model_pairs import FRAMES, PAIRS, compare, compare_bones, compare_frames, triangles
from tests.formats.xray.object.small_object import BONE, MESH, SURFACE, bone, chunk, floats, mesh, small
from tests.real_files import CORPUS

real = pytest.mark.skipif(CORPUS is None, reason="MOTIONBRIDGE_CORPUS is not set")


def converted(data, settings=None, report=None):
    """The model of an object's bytes, read back from what was written; writing it again changes nothing."""
    document = editor_model.read(data, "small.object", Report())
    data = ogf.write(game_model(document, "small", settings or ModelSettings(), Report() if report is None else report))
    own_report = Report()
    result = ogf.read(data, "small.ogf", own_report)
    assert not [line for line in own_report.warnings if not line.startswith("NaN")]  # joint limits of a converter
    assert ogf.write(result) == data == ogf.recompose(result)
    return result


@real
@pytest.mark.parametrize("name", PAIRS)
def test_real_objects_become_what_the_sdk_made_of_them(name):
    expected = ogf.read((CORPUS / "ogf" / f"{name}.ogf").read_bytes(), name, Report())
    path = converted((CORPUS / "object" / f"{name}.object").read_bytes())
    compare_bones(path, expected)
    assert compare(triangles(path), triangles(expected)) == PAIRS[name]
    np.testing.assert_array_equal(path.header.box, expected.header.box)
    assert path.header.type == expected.header.type


@real
@pytest.mark.parametrize("name", FRAMES)
def test_tangents_of_real_objects_are_those_of_the_sdk_but_for_known_ones(name):
    expected = ogf.read((CORPUS / "ogf" / f"{name}.ogf").read_bytes(), name, Report())
    path = converted((CORPUS / "object" / f"{name}.object").read_bytes())
    known = FRAMES[name]
    corners, tangents, binormals, largest = compare_frames(triangles(path), triangles(expected))
    assert corners == known.corners
    assert tangents <= known.tangents
    assert binormals <= known.binormals
    assert largest <= known.largest
    assert sum(len(child.first(Vertices).rows) for child in path.children) == known.vertices


def test_a_crease_of_the_texture_takes_one_triangle_out():
    """Four squares in a row, bent up a little more at each edge; triangles of a square share its diagonal."""
    angles = np.radians([0.0, 40.0, 120.0, 300.0])
    steps = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    profile = np.concatenate([[[0.0, 0.0]], np.cumsum(steps, axis=0)])
    positions = np.array([(x, y, z) for x, z in profile for y in (0.0, 1.0)])
    uvs = np.array([(u, v) for u in range(5) for v in (0.0, 1.0)])
    squares = 2 * np.arange(4)[:, None]
    faces = (squares + np.array([0, 2, 1, 1, 2, 3])).reshape(-1, 3)
    own = surface.creased_corners(positions, uvs, faces)
    # Tangents turn by 40, 80 and 180 degrees: only the second edge, vertices 4 and 5, is a crease.
    assert np.argwhere(own).tolist() == [[3, 1], [3, 2]]
    assert set(faces[3, [1, 2]]) == {4, 5}
    tangents, binormals = surface.tangent_sums(positions, uvs, faces)
    np.testing.assert_allclose(binormals, [[0, 1, 0]] * 10, atol=1e-12)
    np.testing.assert_allclose(tangents[2], [*unit(2 * steps[0] + steps[1])[[0]], 0, unit(2 * steps[0] + steps[1])[1]])
    flat = surface.tangent_sums(positions, np.zeros((10, 2)), faces)
    assert not np.any(flat)


def unit(vector):
    return vector / np.linalg.norm(vector)


@real
def test_four_weights_of_a_real_object(samples):
    path = converted((CORPUS / "object" / "wpn_hand_01.object").read_bytes())
    (child,) = path.children
    assert child.first(Vertices).links == 4
    assert len(child.first(Indices).corners) == 3 * 9200
    later = converted((CORPUS / "object" / "wpn_hand_01.object").read_bytes(), ModelSettings(SOC))
    assert later.children[0].first(Vertices).format == 0x240E3300


def test_a_small_object():
    report = Report()
    obj = converted(small(x916=None), report=report)
    assert obj.header.type == VisualType.SKELETON_ANIMATED
    assert [section.chunk.id for section in obj.sections] == [1, 18, 9, 13, 16, 17, 24]
    assert obj.first(UserData).text == b"[a]\r\n"
    assert obj.first(MotionReferences2).names == [b"a\\b", b"c"]
    (child,) = obj.children
    assert child.first(Texture) == Texture(b"wpn\\metal", b"models\\model")
    vertices, indices = child.first(Vertices), child.first(Indices)
    assert vertices.format == 1
    # Two-sided: two faces and their backs, whose normals are negated. The faces share one of their two common points:
    # at the other one they have different texture coordinates.
    assert len(indices.corners) == 12
    assert sorted(vertices.rows["normal"][:, 2].tolist()) == [-1.0] * 5 + [1.0] * 5
    assert [bone.name for bone in obj.first(BoneNames).bones] == [b"root"]
    entry = obj.first(IkData).bones[0]
    assert (entry.version, entry.material) == (1, b"default_object")
    np.testing.assert_array_equal(entry.offset, [0, 1, 2])
    assert any("scale of 2 is not applied" in line for line in report.lines())


def test_shadow_of_chernobyl():
    obj = converted(small(x916=None), ModelSettings(SOC))
    assert obj.first(MotionReferences).names == [b"a\\b", b"c"]
    assert obj.children[0].first(Vertices).format == 0x12071980


def test_motions_inside_stay_inside_unless_there_are_references():
    report = Report()
    assert motion_set_of(converted(small(), report=report)) is None
    assert any("the motions inside are left out" in line for line in report.lines())
    motion_set = motion_set_of(converted(small(x924=None, x926=None)))
    assert [motion.name for motion in motion_set.library.motions] == [b"idle"]
    other = converted(small(x924=None, x926=None, x916=None))
    assert other.header.type == VisualType.SKELETON_RIGID


def test_motions_of_other_bones_are_refused():
    data = small(x924=None, x926=None, x921=chunk(0, bone("base")), x923=None, x919=None)
    with pytest.raises(WriteError, match="have other bones: base, root"):
        converted(data)


def test_an_object_without_bones_is_one_mesh_or_a_group():
    without = {"x921": None, "x916": None, "x924": None, "x926": None, "x923": None, "x919": None}
    obj = converted(small(**without))
    assert obj.header.type == VisualType.NORMAL
    assert obj.first(Vertices).format == 0x112
    wood = SURFACE.replace(b"metal\0", b"wood\0", 1).replace(b"wpn\\metal", b"wpn\\wood")
    second = mesh(x1009=b"\1\0wood\0" + words(2, 0, 1), x1001=b"second\0")
    obj = converted(small((mesh(), second), x907=words(2) + SURFACE + wood, **without))
    assert obj.header.type == VisualType.HIERARCHY
    assert [child.first(Texture).texture for child in obj.children] == [b"wpn\\metal", b"wpn\\wood"]


def test_bones_in_the_order_of_the_sdk_or_of_another_model():
    held = b"".join(chunk(index, bone(*entry)) for index, entry in enumerate((("c", "a"), ("a", ""), ("B", "a"))))
    quad = mesh(x1012=MESH_OF_C)
    data = small((quad,), x921=held, x916=None, x923=None, x919=None)
    names = lambda created: [own_bone.name for own_bone in created.first(BoneNames).bones]  # noqa: E731 - a word for one expression
    assert names(converted(data)) == [b"a", b"b", b"c"]
    report = Report()
    assert names(converted(data, ModelSettings(bone_order=("C", "a", "hand")), report)) == [b"c", b"a", b"b"]
    assert "bones of the other model that this one lacks: hand" in report.lines()[1]
    assert "bones that the other model lacks, which get numbers behind its own: B" in report.lines()[2]


MESH_OF_C = (
    words(3)
    + b"Texture\0\2\0\0"
    + words(4)
    + floats(0, 0, 1, 0, 1, 1, 0, 1)
    + words(0, 1, 2, 3)
    + b"Texture\0\2\1\0"
    + words(1)
    + floats(0.5, 0.25)
    + words(0, 1)
    + b"c\0\1\0\1"
    + words(4)
    + floats(1, 1, 0.5, 1)
    + words(0, 1, 2, 3)
)


SIGNALLING = bytes.fromhex("0100a07f")
"""A NaN of which numpy warns when it is converted."""
NO_WEIGHTS = MESH[0x1012].replace(floats(1, 1, 0.5, 1), SIGNALLING * 4)


def test_refusals():
    for wrong, message in (
        (small(x921=chunk(0, BONE) + chunk(1, bone("other"))), "have no parent"),
        (small(x907=words(0)), "have no surface that the object lists"),
        (small(()), "no faces"),
        (small(x921=chunk(0, bone(""))), "a bone has no name"),
        (small(x921=chunk(0, BONE.replace(floats(0, 1, 2), floats(0, float("nan"), 2)))), "the rest pose of 'root'"),
        (small(x921=chunk(0, BONE.replace(floats(2, 0, 0), floats(2, 0, float("inf"))))), "the rest pose of 'root'"),
        (small((mesh(x1012=MESH[0x1012].replace(floats(0.5, 0.25), SIGNALLING * 2)),)), "'quad' holds NaN"),
        (small((mesh(x1005=MESH[0x1005].replace(floats(2, 0), SIGNALLING * 2)),)), "'quad' holds NaN"),
        (small((mesh(x1013=None, x1014=SIGNALLING * 18),)), "'quad' holds NaN"),
        (small((mesh(x1012=NO_WEIGHTS),), x921=chunk(0, BONE) + chunk(1, bone("arm", "root"))), "a weight of 'quad'"),
        (small((mesh(x1013=None, x1014=floats(*[0, 2e6, 0] * 6)),)), "normals of 'quad' are too long"),
    ):
        with pytest.raises(WriteError, match=message):
            converted(wrong)


def grid(width):
    """Corners of a plane of ``width`` by ``width`` squares, texture along its axes."""
    indices = np.stack(np.meshgrid(np.arange(width + 1), np.arange(width + 1), indexing="ij"), axis=-1).reshape(-1, 2)
    start = (np.arange(width)[:, None] * (width + 1) + np.arange(width)).ravel()
    low, high = start + 1, start + width + 1
    faces = np.concatenate([np.stack([start, high, low], 1), np.stack([low, high, high + 1], 1)])
    positions = np.concatenate([indices, np.zeros((len(indices), 1))], axis=1).astype(np.float32)
    uvs = (indices[faces] / width).astype(np.float32)
    normals = np.broadcast_to(np.float32([0, 0, 1]), (*faces.shape, 3)).copy()
    return Corners(positions, faces.astype(np.int64), normals, uvs, np.zeros(len(faces), np.int64))


def test_a_mesh_with_too_many_vertices_becomes_several():
    corners = grid(300)
    created = make_children(corners, [Texture(b"a", b"b")], SOC, Report())
    assert len(created) == 3  # all lower halves of squares come first, and have every vertex
    assert all(len(child.first(Vertices).rows) <= MOST_VERTICES for child in created)
    assert sum(len(child.first(Indices).corners) for child in created) == corners.vertices.size
    for child in created:
        assert len(np.unique(child.first(Indices).corners)) == len(child.first(Vertices).rows)


def test_faces_without_extent_and_repeated_ones_are_left_out():
    corners = grid(2)
    corners.vertices = np.concatenate([corners.vertices, corners.vertices[:1, [1, 2, 0]], [[0, 0, 1]]])
    corners.normals = np.concatenate([corners.normals, corners.normals[:2]])
    corners.uvs = np.concatenate([corners.uvs, corners.uvs[:1, [1, 2, 0]], corners.uvs[:1]])
    corners.texture = np.zeros(10, np.int64)
    report = Report()
    (created,) = make_children(corners, [Texture(b"a", b"b")], SOC, report)
    indices = created.first(Indices).corners.reshape(-1, 3)
    assert len(indices) == 8
    assert not len(repeated(indices))
    assert len(created.first(Vertices).rows) == 9
    assert report.lines() == [
        "1 face has no extent; left out",
        "1 face is repeated; left out",
    ]


def test_collapsing_is_an_option():
    corners = grid(2)
    corners.positions *= np.float32(4e-4)
    whole = make_children(corners, [Texture(b"a", b"b")], SOC, Report())
    assert len(whole[0].first(Indices).corners) == 24
    assert not make_children(corners, [Texture(b"a", b"b")], SOC, Report(), collapse=True)


def test_a_box_along_the_points():
    quaternion = np.array([[0.8, 0.6, 0], [-0.6, 0.8, 0], [0, 0, 1]])
    points = (np.array(np.meshgrid([-3, 3], [-1, 1], [-0.5, 0.5])).reshape(3, -1).T + np.arange(1, 4)) @ quaternion
    rotation, centre, half = oriented_box(points)
    np.testing.assert_allclose(half, [3, 1, 0.5], atol=1e-6)
    np.testing.assert_allclose(centre, np.array([1, 2, 3]) @ quaternion, atol=1e-6)
    np.testing.assert_allclose(np.abs((points - centre) @ rotation.T), np.broadcast_to(half, (8, 3)), atol=1e-5)
    assert np.linalg.det(rotation) > 0.99


def test_a_box_keeps_the_axes_of_the_space_where_that_is_smaller():
    cube = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    askew = np.linspace(-0.9, 0.9, 20)[:, None] * [1, 1, 0.5]
    points = np.concatenate([cube, askew]) + np.array([5, 7, 9])
    rotation, centre, half = oriented_box(points)
    np.testing.assert_array_equal(rotation, np.eye(3))
    np.testing.assert_allclose([centre, half], [[5, 7, 9], [1, 1, 1]], atol=1e-6)


def test_on_the_command_line(tmp_path, capsys):
    (tmp_path / "small.object").write_bytes(small(x916=None))
    target = tmp_path / "made.ogf"
    assert cli.main(["convert", str(tmp_path / "small.object"), "--to", "ogf", "-o", str(target)]) == 0
    assert f"{target}: ogf, " in capsys.readouterr().out
    assert ogf.read(target.read_bytes(), "made.ogf", Report()).children


def test_the_command_line_makes_models_for_shadow_of_chernobyl_with_bones_as_in_another(tmp_path, capsys):
    held = b"".join(chunk(index, bone(*entry)) for index, entry in enumerate((("c", "a"), ("a", ""), ("B", "a"))))
    (tmp_path / "small.object").write_bytes(small((mesh(x1012=MESH_OF_C),), x921=held, x916=None, x923=None, x919=None))
    file_path = [tmp_path / name for name in ("later.ogf", "early.ogf", "again.ogf")]
    call = ["convert", str(tmp_path / "small.object"), "--to", "ogf", "-o"]
    assert cli.main([*call, str(file_path[0])]) == 0
    assert cli.main([*call, str(file_path[1]), "--game", "soc", "--merge"]) == 0
    later, early = (ogf.read(path.read_bytes(), path.name, Report()) for path in file_path[:2])
    assert [entry.children[0].first(Vertices).format for entry in (later, early)] == [1, 0x12071980]
    assert (later.first(MotionReferences2).names, early.first(MotionReferences).names) == ([b"a\\b", b"c"],) * 2
    assert later.first(Description).source == b"small.object"
    (tmp_path / "other.object").write_bytes(small((mesh(x1012=MESH_OF_C),), x921=held.replace(b"B\0", b"z\0"),
                                                  x916=None, x923=None, x919=None))  # fmt: skip
    other = tmp_path / "other.ogf"
    assert cli.main(["convert", str(tmp_path / "other.object"), "--to", "ogf", "-o", str(other)]) == 0
    capsys.readouterr()
    assert cli.main([*call, str(file_path[2]), "--bones-as", str(other)]) == 0
    assert "bones that the other model lacks, which get numbers behind its own: B" in capsys.readouterr().out
    again = ogf.read(file_path[2].read_bytes(), "again.ogf", Report())
    assert [own_bone.name for own_bone in again.first(BoneNames).bones] == [b"a", b"c", b"b"]


def test_bone_parts_hold_each_bone_once():
    message = lambda parts: [  # noqa: E731 - a word for one expression
        (part.name, [(own_bone.name, own_bone.track) for own_bone in part.bones]) for part in parts
    ]
    bones = ["Root", "arm", "head"]
    assert message(partitions_of(bones)) == [(b"default", [(b"root", 0), (b"arm", 1), (b"head", 2)])]
    wanted = [("Body", ["HEAD", "tail"]), ("none", ["tail"]), ("arms", ["arm", "head"])]
    assert message(partitions_of(bones, wanted)) == [(b"body", [(b"head", 2), (b"root", 0)]), (b"arms", [(b"arm", 1)])]
    assert message(partitions_of(bones, [("none", ["tail"])])) == message(partitions_of(bones))
