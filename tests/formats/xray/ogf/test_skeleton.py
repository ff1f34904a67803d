"""Bones as a `Skeleton` and back: against plain Euler products, the engine's numbers, and what the game refuses."""

import re
import struct
from dataclasses import replace

import numpy as np
import pytest

from addon.core.binary import DAMAGED
from addon.core.changes import Noun
from addon.core.errors import ReadError, WriteError
from addon.core.model import Skeleton
from addon.core.report import Report
from addon.formats.xray import ogf
from addon.formats.xray.ogf.chunk_types import BoneNames, IkData, Vertices
from addon.formats.xray.ogf.document import Ogf
from addon.formats.xray.ogf.skeleton import decode_skeleton, encode_skeleton
from tests.formats.xray.ogf import small_model as small
from tests.real_files import corpus_files

SWAP = np.eye(4)[[0, 2, 1, 3]]  # y and z exchanged: X-Ray to Blender
MIRROR = np.diag([1.0, 1.0, -1.0, 1.0])  # a bone's own axes

# One is a texture of another game, one has no bones, two lost them.
BONELESS = ("odd_d3_texture_not_xray", "type0_static_puddles", "odd_hand_text_mangled", "odd_chunk_size_wrong_middle")
WITH_BONES = [p for p in corpus_files("ogf/*.ogf") if not str(p.id).removesuffix(".ogf").endswith(BONELESS)]


def read(data: bytes) -> Ogf:
    return ogf.read(data, "small.ogf", Report())


def skeleton_of(document: Ogf) -> Skeleton:
    return decode_skeleton(document, Report())


def euler(x: float, y: float, z: float) -> np.ndarray:
    """setXYZi in column form, from the format page: Ry(y) Rx(x) Rz(z) with the usual matrices."""

    def rotation(a: int, b: int, angle: float) -> np.ndarray:
        matrix = np.eye(3)
        matrix[a, a] = matrix[b, b] = np.cos(angle)
        matrix[a, b], matrix[b, a] = -np.sin(angle), np.sin(angle)
        return matrix

    return rotation(2, 0, y) @ rotation(1, 2, x) @ rotation(0, 1, z)


def raw_bind(document: Ogf) -> np.ndarray:
    """(bones, 4, 4) model space in X-Ray's axes, from the stored numbers alone."""
    listed, physics = document.first(BoneNames).bones, document.first(IkData).bones
    position = {bone.name.lower(): index for index, bone in enumerate(listed)}
    local = np.tile(np.eye(4), (len(listed), 1, 1))
    for index, bone in enumerate(physics):
        local[index, :3, :3] = euler(*bone.rotation.astype(np.float64))
        local[index, :3, 3] = bone.offset

    def model_space(index: int) -> np.ndarray:
        parent = listed[index].parent.lower()
        return model_space(position[parent]) @ local[index] if parent else local[index]

    return np.array([model_space(index) for index in range(len(listed))])


# Decoding ------------------------------------------------------------------------------------------------------------


def test_names_parents_and_rest_of_the_small_model():
    skeleton = skeleton_of(read(small.MODEL))
    assert skeleton.name == "small"
    assert skeleton.bones == ["root", "hand"]
    assert skeleton.parents.tolist() == [-1, 0]  # "Root" is found as "root"
    assert skeleton.rest_translation.tolist() == [[0, 1, 0], [1, 2, -3]]
    # The root stands one metre up, which is z in Blender.
    assert np.allclose(skeleton.rest_matrices()[0, :3, 3], [0, 0, 1])


@pytest.mark.parametrize("path", WITH_BONES)
def test_rest_matrices_are_the_plain_product_of_the_stored_angles(path):
    document = ogf.read(path.read_bytes(), path.name, Report())
    expected = SWAP @ raw_bind(document) @ MIRROR
    assert np.abs(skeleton_of(document).rest_matrices() - expected).max() < 1e-12


@pytest.mark.parametrize("name", ["coc_detector1_16bit", "human_smart_cover", "radium_cat"])
def test_rest_matrices_are_the_engines(corpus, vectors, name):
    numbers = np.load(vectors / "xray" / f"omf_{name}.npz")
    file = corpus / str(numbers["ogf"])
    skeleton = skeleton_of(ogf.read(file.read_bytes(), file.name, Report()))
    assert [bone.lower() for bone in skeleton.bones] == list(numbers["bone"])
    assert (skeleton.parents == numbers["parent"]).all()
    # The engine multiplies in float32.
    assert np.abs(skeleton.rest_matrices() - SWAP @ numbers["bind"] @ MIRROR).max() < 3e-6


def bones(*pairs: tuple[str, str]) -> bytes:
    box = small.floats(*range(15))
    return struct.pack("<I", len(pairs)) + b"".join(
        name.encode("cp1251") + b"\0" + parent.encode("cp1251") + b"\0" + box for name, parent in pairs
    )


def physics(count: int, rest: bytes = small.HAND_REST) -> bytes:
    entry = small.VERSION + small.MATERIAL + small.SHAPE + small.JOINT + small.BREAKING + small.FRICTION
    return (entry + rest + small.MASS) * count


def skeleton_file(*pairs: tuple[str, str]) -> bytes:
    return small.chunk(1, small.HEADER) + small.chunk(13, bones(*pairs)) + small.chunk(16, physics(len(pairs)))


def test_a_model_that_is_cut_off_or_has_wrong_sizes_is_called_damaged(samples):
    """Its bones are read, or what helps is a whole copy."""
    data = (samples / "weapon.ogf").read_bytes()
    sizes = range(80, len(data) - 1, 97)
    remedies = []
    for size in sizes:
        try:
            decode_skeleton(ogf.read(data[:size], "cut.ogf", Report()), Report())
        except ReadError as refusal:
            remedies.append(refusal.remedy)
    assert set(remedies) == {DAMAGED}
    assert len(remedies) > len(sizes) / 2


def test_a_parent_may_come_after_its_child():
    skeleton = skeleton_of(read(skeleton_file(("hand", "arm"), ("arm", "root"), ("root", ""))))
    assert skeleton.parents.tolist() == [1, 2, -1]


def test_names_are_cyrillic_and_keep_their_case():
    assert skeleton_of(read(skeleton_file(("Кость", ""), ("рука", "кость")))).parents.tolist() == [-1, 0]


@pytest.mark.parametrize(
    ("pairs", "problem"),
    [
        ([("a", ""), ("A", "a")], "2 bones are named 'a'"),
        ([("a", ""), ("b", "c"), ("c", "d"), ("d", "b")], r"form a cycle: (b, c, d|c, d, b|d, b, c)$"),
        ([("a", "a")], "form a cycle: a$"),
        ([], "no skeleton"),
    ],
)
def test_bones_that_make_no_tree_are_refused(pairs, problem):
    with pytest.raises(ReadError) as refusal:
        skeleton_of(read(skeleton_file(*pairs)))
    assert re.search(problem, refusal.value.problem)
    assert refusal.value.file == "small.ogf"
    assert refusal.value.remedy


@pytest.mark.parametrize(
    ("pairs", "finding"),
    [
        ([("a", ""), ("b", "")], "several bones have no parent, the game supports one: a, b"),
        ([("a", ""), ("b", "ghost")], "the parent 'ghost' does not exist; the bone becomes a root (b)"),
        ([(f"b{n}", "b0" if n else "") for n in range(65)], "65 bones, the game supports 64"),
    ],
)
def test_what_only_the_game_refuses_is_imported_with_a_warning(pairs, finding):
    report = Report()
    skeleton = decode_skeleton(read(skeleton_file(*pairs)), report)
    assert len(skeleton.bones) == len(pairs)
    assert finding in report.lines()


def test_a_rest_pose_that_is_not_finite_is_zero_and_reported():
    rest = struct.pack("<I", 0x7FC0_0000) + small.HAND_REST[4:]
    data = small.chunk(1, small.HEADER) + small.chunk(13, bones(("a", ""))) + small.chunk(16, physics(1, rest))
    report = Report()
    skeleton = decode_skeleton(read(data), report)
    assert np.isfinite(skeleton.rest_matrices()).all()
    assert report.lines() == ["the rest pose has NaN, infinite or huge values; shown as zero, kept in the file (a)"]
    assert encode_skeleton(skeleton, read(data))[1].parts == []


def test_names_without_physics_are_refused_with_the_reason():
    with pytest.raises(ReadError, match="the rest pose of 1 bone is missing or unreadable"):
        skeleton_of(read(small.chunk(1, small.HEADER) + small.chunk(13, bones(("a", "")))))


def absolute_file() -> bytes:
    """Version 3, chunk 0x17: the same two bones, their rest pose in model space."""
    entry = small.MATERIAL + small.SHAPE + small.JOINT
    first, second = small.floats(0.1, 0.2, 0.3, 1, 2, 3), small.floats(-0.4, 0.5, 0.6, -1, 0.5, 2)
    entries = (entry + rest + small.MASS for rest in (first, second))
    return (
        small.chunk(1, b"\x03\x0f\0\0")
        + small.chunk(13, bones(("root", ""), ("hand", "root")))
        + small.chunk(0x17, *entries)
    )


def test_absolute_rest_poses_of_version_3_become_local():
    matrices = skeleton_of(read(absolute_file())).rest_matrices()
    for matrix, angles, offset in (
        (matrices[0], (0.1, 0.2, 0.3), (1, 2, 3)),
        (matrices[1], (-0.4, 0.5, 0.6), (-1, 0.5, 2)),
    ):
        expected = np.eye(4)
        expected[:3, :3], expected[:3, 3] = euler(*angles), offset
        assert np.allclose(matrix, SWAP @ expected @ MIRROR, atol=1e-7)


@pytest.mark.parametrize("name", BONELESS[1:])
def test_models_without_bones_report_it(corpus, name):
    document = ogf.read((corpus / "ogf" / f"{name}.ogf").read_bytes(), name, Report())
    problem = "chunks of the file run past its end" if name.startswith("odd_") else "the model has no skeleton"
    with pytest.raises(ReadError, match=f"{name}: .*{problem}") as refusal:
        skeleton_of(document)
    assert ("is damaged" in refusal.value.remedy) == name.startswith("odd_")


# Encoding ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", WITH_BONES)
def test_unedited_skeletons_keep_every_byte_also_through_float32(path):
    document = ogf.read(path.read_bytes(), path.name, Report())
    skeleton = skeleton_of(document)
    skeleton.rest_rotation = -skeleton.rest_rotation.astype(np.float32).astype(np.float64)  # q and -q are one rotation
    skeleton.rest_translation = skeleton.rest_translation.astype(np.float32).astype(np.float64)
    same, changes = encode_skeleton(skeleton, document)
    assert same is document
    assert not changes
    assert changes.sentence() == "nothing changed"


@pytest.mark.parametrize(
    "pairs",
    [
        [("a", ""), ("b", "")],
        [("a", ""), ("b", "ghost")],
        [(f"b{n}", "b0" if n else "") for n in range(65)],
        [("", "")],
    ],
)
def test_an_unedited_tree_leaves_unchanged_though_the_game_refuses_it(pairs):
    document = read(skeleton_file(*pairs))
    skeleton = skeleton_of(document)
    assert encode_skeleton(skeleton, document)[0] is document
    skeleton.rest_translation[0] += 1
    _, changes = encode_skeleton(skeleton, document)
    assert changes.lines_of(Noun.BONE) == [f"{pairs[0][0]}: rest position"]


def test_a_moved_bone_changes_its_own_twelve_bytes_and_no_other():
    document = read(small.MODEL)
    skeleton = skeleton_of(document)
    skeleton.rest_translation[1] = [0.5, -0.25, 8]
    edited, changes = encode_skeleton(skeleton, document)
    assert changes.lines_of(Noun.BONE) == ["hand: rest position"]
    expected = small.MODEL.replace(small.HAND_REST, small.HAND_REST[:12] + small.floats(0.5, -0.25, -8))
    assert ogf.write(edited) == expected
    assert ogf.write(document) == small.MODEL  # the base is not touched


def test_a_turned_bone_gets_the_angles_of_its_rotation():
    document = read(small.MODEL)
    skeleton = skeleton_of(document)
    turned = skeleton_of(
        read(small.model(physics=small.PHYSICS.replace(small.HAND_REST, small.floats(-1.25, 2.5, 0.75, 1, 2, 3))))
    )
    skeleton.rest_rotation[1] = turned.rest_rotation[1]
    edited, changes = encode_skeleton(skeleton, document)
    assert changes.lines_of(Noun.BONE) == ["hand: rest rotation"]
    entry = edited.first(IkData).bones[1]
    assert np.allclose(entry.rotation, [-1.25, 2.5, 0.75], atol=1e-6)
    assert entry.offset.tobytes() == small.HAND_REST[12:]


def test_a_bone_moved_in_an_absolute_layout_moves_its_children_too():
    document = read(absolute_file())
    skeleton = skeleton_of(document)
    assert not encode_skeleton(skeleton, document)[1]
    skeleton.rest_translation[0] += [0, 0, 1]
    edited, changes = encode_skeleton(skeleton, document)
    assert changes.lines_of(Noun.BONE) == ["root: rest position", "hand: rest position"]
    assert np.allclose(skeleton_of(edited).rest_matrices(), skeleton.rest_matrices(), atol=1e-6)


def test_a_new_bone_is_appended_with_a_shape_that_collides_with_nothing():
    document = read(small.MODEL)
    skeleton = skeleton_of(document)
    skeleton.bones.append("Finger")
    skeleton.parents = np.append(skeleton.parents, np.int32(1))
    skeleton.rest_rotation = np.vstack([skeleton.rest_rotation, [1, 0, 0, 0]])
    skeleton.rest_translation = np.vstack([skeleton.rest_translation, [0, 0.5, 0]])
    edited, changes = encode_skeleton(skeleton, document)
    assert changes.lines_of(Noun.BONE) == ["Finger: new"]
    again = ogf.read(ogf.write(edited), "again.ogf", report := Report())
    assert not report
    listed, entry = again.first(BoneNames).bones[2], again.first(IkData).bones[2]
    assert (listed.name, listed.parent, entry.shape.type, entry.version) == (b"finger", b"hand", 0, 1)
    assert entry.offset.tolist() == [0, 0.5, 0]
    assert again.first(BoneNames).bones[0].centre.tolist() == [0.5, 0, 0]


def test_vertices_follow_their_bones_into_a_new_order():
    document = read(small.MODEL)
    old = skeleton_of(document)
    swapped = Skeleton(
        old.name,
        ["hand", "root"],
        np.array([1, -1], np.int32),
        old.rest_rotation[::-1],
        old.rest_translation[::-1],
        old.root_frame,
    )
    edited, changes = encode_skeleton(swapped, document)
    assert changes.lines == ["order of the bones"]
    assert changes.lines_of(Noun.MESH) == ["small_00: bone numbers"]
    rows = edited.children[0].first(Vertices).rows
    assert rows["bones"].tolist() == [[1, 0], [0, 0], [0, 1]]
    assert [bone.name for bone in edited.first(BoneNames).bones] == [b"hand", b"root"]
    assert edited.first(IkData).bones[0].offset.tolist() == [1, 2, 3]


def without_hand(old: Skeleton) -> Skeleton:
    return Skeleton(
        old.name, ["root"], old.parents[:1], old.rest_rotation[:1], old.rest_translation[:1], old.root_frame
    )


def test_a_bone_that_vertices_follow_cannot_be_removed():
    document = read(small.MODEL)
    with pytest.raises(WriteError, match="vertices of 'small_00' follow bones that were removed: hand") as refusal:
        encode_skeleton(without_hand(skeleton_of(document)), document)
    assert refusal.value.remedy


def test_a_bone_that_nothing_follows_can_be_removed():
    document = read(skeleton_file(("root", ""), ("hand", "root")))
    edited, changes = encode_skeleton(without_hand(skeleton_of(document)), document)
    assert changes.lines_of(Noun.BONE) == ["hand: removed"]
    assert len(edited.first(IkData).bones) == len(edited.first(BoneNames).bones) == 1


def test_bones_of_a_model_with_motions_inside_stay_as_they_are(corpus):
    path = corpus / "ogf/embedded_motions_af_psi_field.ogf"
    document = ogf.read(path.read_bytes(), path.name, Report())
    skeleton = skeleton_of(document)
    skeleton.bones[-1] = "another"
    with pytest.raises(WriteError, match="contains its motions"):
        encode_skeleton(skeleton, document)


def test_another_parent_is_written_and_the_rest_kept():
    document = read(skeleton_file(("root", ""), ("arm", "root"), ("hand", "arm")))
    skeleton = skeleton_of(document)
    skeleton.parents = np.array([-1, 0, 0], np.int32)
    edited, changes = encode_skeleton(skeleton, document)
    assert changes.lines_of(Noun.BONE) == ["hand: parent"]
    assert [bone.parent for bone in edited.first(BoneNames).bones] == [b"", b"root", b"root"]


def chain(count: int) -> Skeleton:
    rotations = np.tile([1.0, 0, 0, 0], (count, 1))
    return Skeleton(
        "x", [f"b{n}" for n in range(count)], np.arange(-1, count - 1, dtype=np.int32), rotations, np.zeros((count, 3))
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"bones": ["a", "b", ""]}, "a bone has no name"),
        ({"bones": ["a", "b", "A"]}, "'a' and 'A' are the same name to the game"),
        ({"bones": ["a", "b", "骨"]}, "the game's code page"),
        ({"parents": np.array([-1, -1, 0], np.int32)}, "2 bones have no parent"),
        ({"parents": np.array([2, 0, 1], np.int32)}, "form a cycle"),
        ({"parents": np.array([-1, 0, 7], np.int32)}, "the parent of 'b2' is not a bone"),
        ({"rest_translation": np.full((3, 3), np.nan)}, "'b0' holds NaN or infinite values"),
    ],
)
def test_what_the_game_cannot_take_is_refused_with_a_remedy(change, problem):
    with pytest.raises(WriteError, match=problem) as refusal:
        encode_skeleton(replace(chain(3), **change), read(skeleton_file(("root", ""))))
    assert refusal.value.remedy


@pytest.mark.parametrize("count", [0, 65])
def test_the_game_takes_1_to_64_bones(count):
    with pytest.raises(WriteError, match=f"the skeleton has {count} bones, the game supports 1 to 64"):
        encode_skeleton(chain(count), read(skeleton_file(("root", ""))))


def test_an_engine_with_more_bones_gets_them():
    base = read(skeleton_file(("root", "")))
    edited, _ = encode_skeleton(chain(128), base, 128)
    assert len(skeleton_of(ogf.read(ogf.write(edited), "x", Report())).bones) == 128
    with pytest.raises(WriteError, match="the skeleton has 129 bones, the game supports 1 to 128") as refusal:
        encode_skeleton(chain(129), base, 128)
    assert "Bone Limit" in refusal.value.remedy


def test_64_bones_are_written():
    edited, _ = encode_skeleton(chain(64), read(skeleton_file(("root", ""))))
    assert len(skeleton_of(ogf.read(ogf.write(edited), "x", Report())).bones) == 64
