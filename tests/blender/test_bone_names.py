"""Animations and armatures that call the same bones differently: by the table of the two men, by one's own."""

import json
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.core.errors import ReadError, WriteError
from addon.core.report import Report
from addon.formats.arma import rtm, skeletons
from addon.formats.arma.skeletons import BoneTable, Hierarchy
from addon.games.arma.options import Encoding
from tests.blender.rtm_scene import load, planned, raw_matrices, shown_matrices

SAMPLES = Path(__file__).parents[1] / "samples" / "arma"
WALK, MAN = SAMPLES / "walk.rtm", SAMPLES / "man.p3d"
CZECH = {
    "Pelvis": "bricho", "Spine": "zebra", "head": "hlava", "LeftUpLeg": "lzadek", "LeftFoot": "lchodidlo",
    "RightUpLeg": "pzadek", "RightFoot": "pchodidlo",
}  # fmt: skip
TABLE = skeletons.flashpoint_to_arma()


def renamed(data: bytes, names: dict[str, str]) -> bytes:
    """A plain animation whose bones have other names, by the layout: fields of 32 bytes."""
    for old, new in names.items():
        data = data.replace(old.encode().ljust(32, b"\0"), new.encode().ljust(32, b"\0"))
    return data


@pytest.fixture
def czech_walk(tmp_path):
    """The sample's walk under the names of Flashpoint's man; Spine is no bone that the table leads to."""
    path = tmp_path / "czech.rtm"
    path.write_bytes(renamed(WALK.read_bytes(), CZECH))
    assert raw_matrices(path.read_bytes())[0] == list(CZECH.values())
    return path


@pytest.fixture
def own_table(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"bones": {czech: ours for ours, czech in CZECH.items()}}), encoding="utf-8")
    return path


def armature_of_walk():
    done = load(WALK)
    rig = done.rig
    rig.animation_data_clear()
    bpy.data.actions.remove(done.action)
    return rig


def test_the_table_of_the_two_men_finds_the_bones(czech_walk):
    rig = armature_of_walk()
    with pytest.raises(ReadError, match="none of the file's bones") as refusal:
        load(czech_walk, rig)
    assert "table" in refusal.value.remedy
    done = load(czech_walk, rig, table=TABLE)
    assert done.missing == ["zebra"], "it is Spine1, which this armature lacks"
    names, phases, wanted = raw_matrices(czech_walk.read_bytes())
    frames = np.arange(len(phases), dtype=np.float32)
    rows = [number for number, name in enumerate(names) if name != "zebra"]
    poses = shown_matrices(done, [names[row] for row in rows], frames)
    assert np.abs(poses - wanted[:, rows]).max() < 1e-5
    assert np.abs(wanted[1] - wanted[0]).max() > 0.1, "it moves"
    known = {entry.name for entry in rig.data.motionbridge_skeleton.bones}
    assert known == set(CZECH), "the armature is of the same skeleton as before"


@pytest.mark.parametrize("own", [False, True])
def test_what_is_not_edited_is_written_unchanged(czech_walk, own_table, own):
    table = skeletons.read_table_file(str(own_table)) if own else TABLE
    done = load(czech_walk, armature_of_walk(), table=table)
    assert planned(done).data == czech_walk.read_bytes()
    assert planned(done, table=table).data == czech_walk.read_bytes()


def test_an_animation_becomes_one_for_the_other_man(czech_walk, own_table):
    table = skeletons.read_table_file(str(own_table))
    done = load(czech_walk, armature_of_walk(), table=table)
    written = planned(done, from_file=False).data
    names, _, matrices = raw_matrices(written)
    ours, _, wanted = raw_matrices(WALK.read_bytes())
    assert names == ours
    assert np.abs(matrices - wanted).max() < 1e-5


def test_export_by_the_same_table_goes_in_reverse(own_table):
    table = skeletons.read_table_file(str(own_table))
    done = load(WALK)
    for from_file in (True, False):
        names, _, matrices = raw_matrices(planned(done, from_file=from_file, table=table).data)
        assert names == list(CZECH.values())
        assert np.abs(matrices - raw_matrices(WALK.read_bytes())[2]).max() < 1e-5


def test_binarised_files_get_the_hierarchy_under_the_new_names(own_table):
    done = load(WALK, config=str(SAMPLES / "model.cfg"))
    plan = planned(done, from_file=False, kind=Encoding.BINARISED, table=skeletons.read_table_file(str(own_table)))
    document = rtm.read(plan.data, "x.rtm", Report())
    assert list(document.bones) == list(CZECH.values())
    above = {"Spine": "Pelvis", "head": "Spine", "LeftUpLeg": "Pelvis", "LeftFoot": "LeftUpLeg"}
    above |= {"RightUpLeg": "Pelvis", "RightFoot": "RightUpLeg", "Pelvis": ""}
    parents = Hierarchy("x", {CZECH[bone]: CZECH.get(parent, "") for bone, parent in above.items()})
    clip = rtm.decode(document, Report(), parents, "x")
    wanted = raw_matrices(WALK.read_bytes())[2].swapaxes(0, 1)
    assert np.abs(clip.deltas - wanted).max() < 5e-3, "as exactly as halves of floats can"
    assert np.abs(wanted[4] - wanted[0]).max() > 0.1


def test_two_bones_under_one_name_are_refused():
    done = load(WALK)
    with pytest.raises(WriteError, match="two bones would have the name 'head'"):
        planned(done, table=BoneTable({"head": "Pelvis"}))


def test_the_operators_take_the_table(czech_walk, own_table, tmp_path):
    rig = armature_of_walk()
    bpy.context.view_layer.objects.active = rig
    names = {"bone_names": "TABLE", "bone_table": str(own_table)}
    assert bpy.ops.import_scene.arma_rtm(filepath=str(czech_walk), **names) == {"FINISHED"}
    assert len([obj for obj in bpy.data.objects if obj.type == "ARMATURE"]) == 1
    written = tmp_path / "written.rtm"
    assert bpy.ops.export_scene.arma_rtm(filepath=str(written), from_file=False, **names) == {"FINISHED"}
    assert raw_matrices(written.read_bytes())[0] == list(CZECH.values())
    model = tmp_path / "czech.p3d"
    data = MAN.read_bytes()
    for ours, czech in CZECH.items():
        data = data.replace(b"\1" + ours.encode() + b"\0", b"\1" + czech.encode() + b"\0")
    model.write_bytes(data)
    assert bpy.ops.import_scene.arma_p3d(filepath=str(model), **names) == {"FINISHED"}
    body = bpy.context.view_layer.objects.active
    assert body.parent == rig
    assert {group.name for group in body.vertex_groups} == set(CZECH)


def test_flashpoint_and_arma_in_both_directions(czech_walk, tmp_path):
    rig = armature_of_walk()
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.import_scene.arma_rtm(filepath=str(czech_walk), bone_names="FLASHPOINT_ON_ARMA") == {"FINISHED"}
    assert len(rig.animation_data.action.motionbridge_animation.bones) == 7
    czech = load(czech_walk).rig
    bpy.context.view_layer.objects.active = czech
    assert bpy.ops.import_scene.arma_rtm(filepath=str(WALK), bone_names="ARMA_ON_FLASHPOINT") == {"FINISHED"}
    result = {entry.name: entry.bone for entry in czech.animation_data.action.motionbridge_animation.bones}
    assert result["LeftFoot"] == "lchodidlo"
    assert result["Spine"] == ""


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "no such file|cannot read"), (b"{", "not valid JSON"), (b'{"bones": {"a": "b", "c": "b"}}', "'b' twice")],
)
def test_wrong_tables_are_refused_in_one_sentence(content, message, czech_walk, tmp_path):
    bpy.context.view_layer.objects.active = armature_of_walk()
    path = tmp_path / "wrong.json"
    if content is not None:
        path.write_bytes(content)
    for call in (
        lambda: bpy.ops.import_scene.arma_rtm(filepath=str(czech_walk), bone_names="TABLE", bone_table=str(path)),
        lambda: bpy.ops.import_scene.arma_p3d(filepath=str(MAN), bone_names="TABLE", bone_table=str(path)),
        lambda: bpy.ops.export_scene.arma_rtm(
            filepath=str(tmp_path / "x.rtm"), bone_names="TABLE", bone_table=str(path)
        ),
    ):
        with pytest.raises(RuntimeError, match=message):
            call()
    assert not (tmp_path / "x.rtm").exists()
    with pytest.raises(RuntimeError, match="no table of bone names is set"):
        bpy.ops.import_scene.arma_rtm(filepath=str(czech_walk), bone_names="TABLE")
