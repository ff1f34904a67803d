"""What imports of motions say if the armature lacks bones of the file, or if constraints hide the imported keys."""

import shutil

import bpy
import pytest

from addon.core.report import Report
from addon.games.xray.motions import omf_codec, skl_codec
from addon.ui.arma.files import IMPORT_SCENE_OT_arma_rtm
from addon.ui.xray.motion_files import IMPORT_SCENE_OT_xray_omf
from addon.ui.xray.skeletal import IMPORT_SCENE_OT_xray_skl
from tests.blender.dialogs import Dialog
from tests.blender.rtm_scene import load
from tests.blender.test_level_panel import Layout
from tests.blender.test_ui import last_report

FILES = {
    "humanoid.omf": (bpy.ops.import_scene.xray_omf, {}),
    "motions.skls": (bpy.ops.import_scene.xray_skl, {}),
    "arma/walk.rtm": (bpy.ops.import_scene.arma_rtm, {"target": "ACTIVE"}),
}
BONES = {"humanoid.omf": 20, "motions.skls": 20, "arma/walk.rtm": 7}


@pytest.fixture
def folder(samples, tmp_path):
    """The samples, and their motions as a file of the editor."""
    shutil.copytree(samples, tmp_path, dirs_exist_ok=True)
    rig = rig_of(tmp_path / "humanoid.omf", 99)
    bpy.ops.import_scene.xray_omf(filepath=str(tmp_path / "humanoid.omf"))
    bpy.ops.export_scene.xray_skl(filepath=str(tmp_path / "motions.skls"), choose="ALL")
    bpy.data.objects.remove(rig)
    return tmp_path


def rig_of(path, keeps: int):
    """The armature of a sample with the first of its bones only."""
    if path.suffix == ".rtm":
        rig = load(path, report=Report()).rig
    else:
        bpy.ops.import_scene.xray_ogf(filepath=str(path.with_name("humanoid.ogf")))
        rig = bpy.context.view_layer.objects.active
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in list(rig.data.edit_bones)[keeps:]:
        rig.data.edit_bones.remove(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


@pytest.mark.parametrize("name", FILES)
def test_scripts_are_told_how_many_bones_the_armature_has(folder, name):
    rig_of(folder / name, 1)
    operator, options = FILES[name]
    assert operator(filepath=str(folder / name), **options) == {"FINISHED"}
    line = f"1 of {BONES[name]} bones are in this armature; the keys of the others are kept and written back"
    assert any(line in other for other in last_report()), last_report()


@pytest.mark.parametrize("keeps", [1, 10])
@pytest.mark.parametrize(("kind", "codec"), [(IMPORT_SCENE_OT_xray_omf, "OMF"), (IMPORT_SCENE_OT_xray_skl, "SKL")])
def test_the_list_of_motions_asks_first_if_less_than_half_of_the_bones_are_there(folder, kind, codec, keeps):
    name = "humanoid.omf" if codec == "OMF" else "motions.skls"
    rig = rig_of(folder / name, keeps)
    asked = []

    class Manager:
        @staticmethod
        def invoke_props_dialog(_operator, **options):
            asked.append(options["confirm_text"])

    class Listed(list):
        def add(self):
            self.append(type("Row", (), {})())
            return self[-1]

    dialog = Dialog(kind, listed=Listed())
    dialog.paths = lambda: [str(folder / name)]
    dialog.files_title, dialog.each_file = lambda: name, lambda paths, work, report: [work(p, report) for p in paths]
    codec = omf_codec.OMF if codec == "OMF" else skl_codec.SKL
    dialog.list_files(codec, Report())
    dialog.ask(type("Context", (), {"window_manager": Manager}), codec, rig)
    few = keeps == 1
    assert asked == ["Import Anyway" if few else "Import Motions"]
    assert dialog.doubts == [f"1 of {BONES[name]} bones are in this armature"] * few


@pytest.mark.parametrize("target", ["ACTIVE", "AUTOMATIC"])
def test_the_dialog_of_an_animation_says_it_for_the_active_armature(folder, target):
    path = folder / "arma/walk.rtm"
    rig_of(path, 1)
    dialog = Dialog(IMPORT_SCENE_OT_arma_rtm, target=target, layout=Layout())
    dialog.paths = lambda: [str(path)]
    dialog.draw(bpy.context)
    assert ("1 of 7 bones are in this armature" in dialog.layout.kept) == (target == "ACTIVE")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("muted", [False, True])
def test_constraints_that_hide_the_imported_keys_are_named(folder, name, muted):
    rig = rig_of(folder / name, 99)
    bone = rig.pose.bones[-1]
    bone.constraints.new("COPY_ROTATION").mute = muted
    operator, options = FILES[name]
    assert operator(filepath=str(folder / name), **options) == {"FINISHED"}
    named = [line for line in last_report() if "bones have constraints, which hide their imported keys" in line]
    assert len(named) == (not muted)
    assert all(f"{rig.name}: {bone.name}" in line for line in named)
