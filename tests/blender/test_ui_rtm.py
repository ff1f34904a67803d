"""The operators for animations of Arma, called as somebody does who has never seen them."""

import bpy
import pytest

from addon.formats.arma import p3d, rtm
from addon.formats.arma.p3d import codec as model_codec
from addon.formats.arma.rtm import codec
from addon.ui.arma import files
from tests.blender.test_action_lists import duplicated
from tests.blender.test_rtm import curve_of, drawn_animation, moved, plain
from tests.blender.test_written_motions import as_in_a_window
from tests.real_files import SAMPLES, corpus_files
from tests.scene import differences, snapshot

MAN = SAMPLES / "arma" / "man.p3d"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "nod.rtm"
    path.write_bytes(plain(["Pelvis", "head"], [(0.0, [moved(), moved()]), (1.0, [moved(), moved(z=0.1)])]))
    return path


def test_an_empty_scene_gets_an_armature_that_moves(file):
    assert bpy.ops.import_scene.arma_rtm(filepath=str(file)) == {"FINISHED"}
    rig = bpy.context.view_layer.objects.active
    assert rig.type == "ARMATURE"
    assert rig.animation_data.action.name == "nod"
    bpy.context.scene.frame_set(1)
    assert abs(rig.pose.bones["head"].matrix.translation.y - rig.data.bones["head"].head_local.y - 0.1) < 1e-5
    bpy.ops.ed.undo_push(message="test")


@pytest.mark.parametrize("path", corpus_files("rtm/dog_*.rtm")[:1])
def test_many_files_share_one_armature(path, tmp_path, corpus):
    names = [{"name": f"dog_{name}.rtm"} for name in ("idlejump", "runfront", "walkfrontrf")]
    assert bpy.ops.import_scene.arma_rtm(directory=str(corpus / "rtm"), files=names) == {"FINISHED"}
    rigs = [obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE"]
    assert len(rigs) == 1
    assert rigs[0].animation_data.action.name == "dog_idlejump"
    assert {action.name for action in bpy.data.actions} == {entry["name"][:-4] for entry in names}
    for entry in names:
        rigs[0].animation_data.action = bpy.data.actions[entry["name"][:-4]]
        assert bpy.ops.export_scene.arma_rtm(filepath=str(tmp_path / entry["name"])) == {"FINISHED"}
        assert (tmp_path / entry["name"]).read_bytes() == (corpus / "rtm" / entry["name"]).read_bytes()


def test_a_bad_file_among_good_ones_is_left_out_and_reported(file, tmp_path):
    (tmp_path / "bad.rtm").write_bytes(b"ODOL1234" * 8)
    files = [{"name": "bad.rtm"}, {"name": "nod.rtm"}]
    assert bpy.ops.import_scene.arma_rtm(directory=str(tmp_path), files=files) == {"FINISHED"}
    assert "left out" in bpy.context.window_manager.motionbridge_report
    before = snapshot()
    with pytest.raises(RuntimeError, match="not an animation"):
        bpy.ops.import_scene.arma_rtm(filepath=str(tmp_path / "bad.rtm"))
    assert differences(before, snapshot()) == []


@pytest.mark.parametrize("mode", ["EDIT", "POSE"])
def test_edit_and_pose_mode_are_kept(file, mode):
    rig = drawn_animation(bones=("pelvis", "HEAD")).rig
    bpy.ops.object.mode_set(mode=mode)
    assert bpy.ops.import_scene.arma_rtm(filepath=str(file)) == {"FINISHED"}
    assert rig.animation_data.action.name == "nod"
    assert bpy.context.view_layer.objects.active == rig
    assert rig.mode == mode
    target = file.with_name("again.rtm")
    assert bpy.ops.export_scene.arma_rtm(filepath=str(target)) == {"FINISHED"}
    assert rig.mode == mode
    assert target.read_bytes() == file.read_bytes()


def test_joints_being_edited_count_and_editing_goes_on(tmp_path):
    assert bpy.ops.import_scene.arma_rtm(filepath=str(SAMPLES / "arma" / "walk.rtm")) == {"FINISHED"}
    rig = bpy.context.view_layer.objects.active
    bpy.ops.object.mode_set(mode="EDIT")
    foot = rig.data.edit_bones["LeftFoot"]
    foot.head.z += 0.3
    foot.tail.z += 0.3
    during, after, left = (tmp_path / f"{name}.rtm" for name in ("during", "after", "left"))
    assert bpy.ops.export_scene.arma_rtm(filepath=str(during)) == {"FINISHED"}
    assert rig.mode == "EDIT"
    rig.data.edit_bones["LeftFoot"].head.z += 0.1
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.export_scene.arma_rtm(filepath=str(left)) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["LeftFoot"].head.z -= 0.1
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.export_scene.arma_rtm(filepath=str(after)) == {"FINISHED"}
    assert during.read_bytes() == after.read_bytes()
    assert len({path.read_bytes() for path in (during, left, SAMPLES / "arma" / "walk.rtm")}) == 3


def test_a_file_is_read_once_whatever_it_is_compared_with(file, monkeypatch):
    for bones in (("bip01",), ("hip", "neck"), ("pelvis", "HEAD")):
        drawn_animation(bones=bones)
    read = []
    monkeypatch.setattr(rtm, "read", lambda data, path, report: read.append(path) or codec.read(data, path, report))
    assert bpy.ops.import_scene.arma_rtm(filepath=str(file)) == {"FINISHED"}
    assert read == [str(file)]
    monkeypatch.setattr(
        p3d, "read", lambda data, path, report: read.append(path) or model_codec.read(data, path, report)
    )
    assert bpy.ops.import_scene.arma_p3d(filepath=str(MAN)) == {"FINISHED"}
    assert read == [str(file), str(MAN)]


def test_an_armature_of_another_game_stays_as_it_is(file):
    rig = drawn_animation(bones=("bip01", "bip01_head")).rig
    with pytest.raises(RuntimeError, match="none of the file's bones"):
        bpy.ops.import_scene.arma_rtm(filepath=str(file), target="ACTIVE")
    assert bpy.ops.import_scene.arma_rtm(filepath=str(file)) == {"FINISHED"}
    assert bpy.context.view_layer.objects.active != rig
    assert rig.animation_data.action.name == "drawn"


def test_without_an_armature_it_is_reported_what_to_do(file):
    assert not bpy.ops.export_scene.arma_rtm.poll()
    assert not bpy.ops.motionbridge.arma_save_back.poll()
    with pytest.raises(RuntimeError, match="no armature is active"):
        bpy.ops.import_scene.arma_rtm(filepath=str(file), target="ACTIVE")
    with pytest.raises(RuntimeError, match="no file is chosen"):
        bpy.ops.import_scene.arma_rtm()


def test_an_armature_without_action_exports_nothing(tmp_path):
    rig = drawn_animation().rig
    rig.animation_data.action = None
    with pytest.raises(RuntimeError, match="has no action and is in its rest pose"):
        bpy.ops.export_scene.arma_rtm(filepath=str(tmp_path / "out.rtm"))
    assert list(tmp_path.iterdir()) == []


def test_a_copied_action_is_exported_on_its_own(file, tmp_path):
    bpy.ops.import_scene.arma_rtm(filepath=str(file))
    rig = bpy.context.view_layer.objects.active
    copy = rig.animation_data.action.copy()
    curve_of(copy, "head", "location", 0).keyframe_points[0].co[1] += 1
    first, second = tmp_path / "a.rtm", tmp_path / "b.rtm"
    bpy.ops.export_scene.arma_rtm(filepath=str(first))
    rig.animation_data.action = copy
    bpy.ops.export_scene.arma_rtm(filepath=str(second))
    assert first.read_bytes() == file.read_bytes() != second.read_bytes()


def test_a_copy_does_not_replace_the_file_of_the_original(file):
    before = file.read_bytes()
    bpy.ops.import_scene.arma_rtm(filepath=str(file))
    rig = bpy.context.view_layer.objects.active
    original = rig.animation_data.action
    for name in ("a_copy", "zz_copy"):
        copy = original.copy()
        copy.name = name
        curve_of(copy, "head", "location", 0).keyframe_points[0].co[1] += 1
        rig.animation_data.action = copy
        with pytest.raises(RuntimeError, match=f"'{name}' is a copy of '{original.name}'.*file of its own"):
            bpy.ops.motionbridge.arma_save_back(if_changed="IMPORTED")
        assert file.read_bytes() == before
    rig.animation_data.action = original
    curve_of(original, "head", "location", 0).keyframe_points[0].co[1] += 1
    assert bpy.ops.motionbridge.arma_save_back() == {"FINISHED"}
    assert file.read_bytes() != before


def test_a_duplicated_armature_saves_its_own_copy(file):
    before = file.read_bytes()
    bpy.ops.import_scene.arma_rtm(filepath=str(file))
    rig = bpy.context.view_layer.objects.active
    twin = duplicated(rig)
    assert twin.animation_data.action != rig.animation_data.action
    curve_of(twin.animation_data.action, "head", "location", 0).keyframe_points[0].co[1] += 1
    assert bpy.ops.motionbridge.arma_save_back() == {"FINISHED"}
    message = "another armature has an animation of this file; the file gets the one of this armature"
    assert (
        f"{message} ({rig.name}: {rig.animation_data.action.name})"
        in bpy.context.window_manager.motionbridge_report.splitlines()
    )
    assert file.read_bytes() != before
    bpy.context.view_layer.objects.active = rig
    with pytest.raises(RuntimeError, match="no longer the one that was imported"):
        bpy.ops.motionbridge.arma_save_back()


def test_imports_can_be_undone(file):
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.import_scene.arma_rtm(filepath=str(file))
    bpy.ops.ed.undo_push(message="import")
    bpy.ops.ed.undo()
    assert not len(bpy.data.objects)


class Fields:
    """A layout that notes the properties drawn in it, and in those inside it."""

    def __init__(self, names):
        self.names = names

    def prop(self, _owner, name, **_):
        self.names.append(name)

    def prop_search(self, _owner, name, *_, **__):
        self.names.append(name)

    def label(self, **_):
        pass

    operator = label

    def _inside(self, **_):
        return Fields(self.names)

    row = column = box = split = _inside


def in_view(operator, **values):
    """Properties that a dialog of this operator shows, without the header of what is folded."""
    names = []
    dialog = as_in_a_window(operator, files=(), directory="", filepath="")
    dialog.layout = Fields(names)
    for name, value in values.items():
        setattr(dialog, name, value)
    dialog.draw(bpy.context)
    return [name for name in names if name != "show_options"]


def test_dialogs_show_few_fields_until_their_options_are_opened(file):
    assert in_view(files.IMPORT_SCENE_OT_arma_rtm) == ["target"]
    assert "hierarchy" in in_view(files.IMPORT_SCENE_OT_arma_rtm, show_options=True)
    assert bpy.ops.import_scene.arma_rtm(filepath=str(file)) == {"FINISHED"}
    assert in_view(files.EXPORT_SCENE_OT_arma_rtm) == ["kind", "from_file", "step", "backup"]
    assert "phases" in in_view(files.EXPORT_SCENE_OT_arma_rtm, show_options=True)
    rig = bpy.context.view_layer.objects.active
    rig.animation_data.action = bpy.data.actions.new("new")
    assert in_view(files.EXPORT_SCENE_OT_arma_rtm) == ["kind", "tolerance", "step", "backup"]
    assert not {"phases", "from_file"} & set(in_view(files.EXPORT_SCENE_OT_arma_rtm, show_options=True))
    assert len(in_view(files.EXPORT_SCENE_OT_arma_rtm, step="BONE", kind="BINARISED")) <= 6
    for target in ("AUTOMATIC", "ACTIVE", "NEW", "NONE"):
        assert len(in_view(files.IMPORT_SCENE_OT_arma_p3d, rig=target)) <= 5
