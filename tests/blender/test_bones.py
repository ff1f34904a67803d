"""Bone properties of the editor on an armature: what they say, edits, bytes, refusals, operators."""

import math
import struct

import bpy
import pytest

from addon.core.binary import NOT_FINITE
from addon.core.errors import ReadError, WriteError
from addon.core.report import Report
from addon.formats.xray import bones, ogf
from addon.formats.xray.bones import Mass
from addon.formats.xray.ogf.chunk_types import BoneNames, IkData, Joint, Shape
from addon.games.xray.bones import values as bone_values
from addon.games.xray.models import exporting as model_export
from addon.games.xray.models.importing import import_model
from addon.games.xray.options import ModelExportOptions, ModelImportOptions
from tests.blender.scenes import reopen
from tests.blender.test_skl_motions import rig_of
from tests.blender.test_ui import last_report, refusal
from tests.formats.xray.bones.test_bones import SMALL
from tests.real_files import CORPUS, SAMPLES, corpus_files
from tests.scene import differences, snapshot

needs_corpus = pytest.mark.skipif(CORPUS is None, reason="MOTIONBRIDGE_CORPUS is not set")


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.bones"
    path.write_bytes(SMALL)
    return path


def read(data):
    return bones.read(data, "test.bones", Report())


def exported(rig) -> bytes:
    return bone_values.plan_export(rig, "new.bones", Report()).data


def test_two_bones_of_one_name_are_kept_and_the_first_is_used(tmp_path):
    """As in the file, whichever number they have."""
    size = 8 + int.from_bytes(SMALL[4:8], "little")
    head = SMALL[:size]
    twin = head.replace(struct.pack("<4f", 10, 0, 0.5, 0), struct.pack("<4f", 99, 0, 0.5, 0))
    for first, second in ((0, 7), (7, 0)):
        data = struct.pack("<I", first) + head[4:] + struct.pack("<I", second) + twin[4:]
        path = tmp_path / "twins.bones"
        path.write_bytes(data)
        rig, report = rig_of(["Head", "neck"]), Report()
        assert bone_values.import_bones(rig, str(path), report) == 1
        assert any("several bones of one name" in warning for warning in report.warnings)
        assert rig.data.bones["Head"].motionbridge_xray.mass == 10.0
        assert exported(rig) == data
        rig.data.bones["Head"].motionbridge_xray.mass = 11.0
        again = read(exported(rig))
        assert [section.value.first(Mass).mass for section in again.sections] == [11.0, 99.0]


def test_what_the_file_says_is_on_the_bones(small):
    rig = rig_of(["Head", "neck"])
    assert bone_values.import_bones(rig, str(small), Report()) == 2
    head = rig.data.bones["Head"].motionbridge_xray
    assert (head.mass, head.friction, head.material) == (10.0, 0.75, "creatures\\human")
    assert (head.shape, head.shape_flags, head.breakable, head.joint) == ("SPHERE", {"NO_PICKING"}, True, "JOINT")
    # As the editor shows them: lowest and highest of z are 8 and 9.
    assert (head.limit_z.lowest, head.limit_z.highest, head.limit_z.spring) == (8.0, 9.0, 10.0)
    assert (head.sphere_radius, head.cylinder_radius, head.break_torque) == (18.0, 26.0, 200.0)
    assert head.is_bone
    neck = rig.data.bones["neck"].motionbridge_xray
    assert (neck.breakable, neck.friction, neck.mass, neck.limit_z.spring) == (False, 0.0, 0.0, 0.0)


def test_breakable_is_one_bit_of_a_joint(tmp_path):
    """The flags of a joint have other bits, which are kept."""
    document = ogf.read((SAMPLES / "humanoid.ogf").read_bytes(), "flags.ogf", Report())
    physics = document.first(IkData)
    for flags, bone in zip((0, 1, 2, 3), physics.bones, strict=False):
        bone.joint.flags = flags
    path = tmp_path / "flags.ogf"
    path.write_bytes(ogf.write(document))
    rig = import_model(bpy.context, path, ModelImportOptions(textures=False), Report()).rig
    named = [bone.label for bone in document.first(BoneNames).bones[:4]]
    properties = [rig.data.bones[name].motionbridge_xray for name in named]
    assert [own_prop.breakable for own_prop in properties] == [False, True, False, True]
    for prop in properties:
        prop.breakable = not prop.breakable
    stored = ogf.read(
        model_export.plan_export(bpy.context, rig, "flags.ogf", ModelExportOptions(), Report()).data,
        "flags.ogf",
        Report(),
    )
    assert [bone.joint.flags for bone in stored.first(IkData).bones[:4]] == [1, 0, 3, 2]


@pytest.mark.parametrize("file", corpus_files("bones"))
def test_unedited_they_leave_unchanged_also_after_saving(file, tmp_path):
    data = file.read_bytes()
    rig = rig_of([bone.name for bone in read(data).bones])
    bone_values.import_bones(rig, str(file), Report())
    before = snapshot()
    assert exported(rig) == data
    assert differences(before, snapshot()) == []
    reopen(tmp_path)
    assert exported(bpy.data.objects["rig"]) == data


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_values_that_are_not_finite_are_written_unchanged(value, tmp_path):
    data = SMALL.replace(struct.pack("<4f", 10, 0, 0.5, 0), struct.pack("<4f", 10, 0, value, 0))
    data = data.replace(struct.pack("<4f", 0, 1, 2, 3), struct.pack("<4f", value, 1, value, 3))
    assert len(data) == len(SMALL)
    path = tmp_path / "broken.bones"
    path.write_bytes(data)
    rig, report = rig_of(["Head", "neck"]), Report()
    bone_values.import_bones(rig, str(path), report)
    assert any(NOT_FINITE in warning for warning in report.warnings)
    assert exported(rig) == data
    rig.data.bones["Head"].motionbridge_xray.mass = 11.0
    assert exported(rig) == data.replace(struct.pack("<2f", 10, 0), struct.pack("<2f", 11, 0))


def test_an_edit_changes_that_bone(small):
    rig = rig_of(["head", "neck"])
    bone_values.import_bones(rig, str(small), Report())
    head = rig.data.bones["head"].motionbridge_xray
    head.mass, head.limit_x.highest, head.shape = 2.5, math.pi, "BOX"
    plan = bone_values.plan_export(rig, "new.bones", Report())
    assert plan.sentence() == "1 bone changed, 1 unchanged"
    (part,) = plan.changes.parts
    assert (part.name, sorted(part.fields)) == ("head", ["limit_x.highest", "mass", "shape"])
    document = read(plan.data).bones[0]
    assert (document.first(Mass).mass, document.first(Shape).type) == (2.5, 1)
    assert document.first(Joint).limits[0].tolist() == [0.0, pytest.approx(math.pi), 2.0, 3.0]
    assert len(plan.data) == len(SMALL)


def test_missing_bones_are_kept_and_new_ones_added(small):
    rig = rig_of(["head", "tail"])
    report = Report()
    assert bone_values.import_bones(rig, str(small), report) == 1
    assert any(line.startswith("1 bone of the file is not in the armature") for line in report.lines())
    report = Report()
    plan = bone_values.plan_export(rig, "new.bones", report)
    assert plan.data == SMALL  # the tail has nothing of the game
    assert report.lines() == ["bones without properties of the game are left out (tail)"]
    rig.data.bones["tail"].motionbridge_xray.is_bone = True
    rig.data.bones["tail"].motionbridge_xray.imported_name = "tail"
    plan = bone_values.plan_export(rig, "new.bones", Report())
    assert plan.sentence() == "1 bone added, 2 unchanged"
    assert [bone.name for bone in read(plan.data).bones] == ["head", "neck", "tail"]


def test_of_a_model_without_such_a_file_a_new_one_is_made():
    rig = import_model(bpy.context, SAMPLES / "humanoid.ogf", ModelImportOptions(textures=False), Report()).rig
    plan = bone_values.plan_export(rig, "new.bones", Report())
    document = read(plan.data)
    assert [bone.name for bone in document.bones] == [part.name for part in plan.changes.parts]
    assert len(document.bones) == len(rig.data.bones)
    assert plan.sentence() == f"{len(document.bones)} bones added"
    for bone in document.bones:
        ours = rig.data.bones[bone.name].motionbridge_xray
        assert bone.first(Mass).mass == ours.mass
        assert bone.first(Joint).limits[0, 0] == ours.limit_x.lowest
    # What was written is what an import would say.
    rig.data.bones[0].motionbridge_xray.mass += 1
    assert read(exported(rig)).bones[0].first(Mass).mass == rig.data.bones[0].motionbridge_xray.mass


def test_refusals(small, tmp_path):
    rig = rig_of(["other"])
    with pytest.raises(ReadError, match="none of the file's bones is in the armature 'rig'"):
        bone_values.import_bones(rig, str(small), Report())
    wrong = tmp_path / "wrong.bones"
    wrong.write_bytes(b"\xff" * 64)
    with pytest.raises(ReadError):
        bone_values.import_bones(rig, str(wrong), Report())
    with pytest.raises(WriteError, match="no bone of 'rig' has properties of the game"):
        bone_values.plan_export(rig, "new.bones", Report())
    assert not rig.data.bones["other"].motionbridge_xray.is_bone


def test_operators_also_in_edit_mode(small, tmp_path):
    rig = rig_of(["head", "neck"])
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.import_scene.xray_bones(filepath=str(small)) == {"FINISHED"}
    assert rig.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert rig.data.bones["head"].motionbridge_xray.mass == 10.0
    assert last_report()[0] == "Bone properties on rig, bones: 2"
    new = tmp_path / "new.bones"
    assert bpy.ops.export_scene.xray_bones(filepath=str(new)) == {"FINISHED"}
    assert new.read_bytes() == SMALL
    assert last_report()[0] == "new.bones: 2 bones unchanged"


def test_without_an_armature(small):
    assert "no armature is active" in refusal(bpy.ops.import_scene.xray_bones, filepath=str(small))
    assert not bpy.ops.export_scene.xray_bones.poll()
