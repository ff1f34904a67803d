"""An import that fails, even at its very end and whatever it raises, leaves the file as it was."""

import itertools
import os
import shutil
import struct

import bpy
import numpy as np
import pytest

from addon.blender import scope
from addon.core.errors import ReadError
from tests.blender.scenes import add_object
from tests.blender.test_skl_motions import STEPPED, made_motion, rig_of, written
from tests.blender.test_ui import game, last_report, load, refusal  # noqa: F401 (a fixture)
from tests.formats.xray.omf.test_bytes import TRACKS, chunk, definition, motion
from tests.real_files import corpus_files
from tests.scene import differences, snapshot
from tests.work import lines_run

AT_THE_END = "addon.blender.scope.make_current"
STASHED = "addon.blender.action.stash"
# operator, file below the samples, options, the function that the import fails in: the last one it calls
IMPORTERS = {
    "ogf": ("xray_ogf", "humanoid.ogf", {}, AT_THE_END),
    "ogf and motions": ("xray_ogf", "weapon_embedded.ogf", {}, "addon.ui.xray.models._sentence"),
    "object": ("xray_object", "weapon.object", {}, AT_THE_END),
    "omf and its model": ("xray_omf", "humanoid.omf", {"stash": True}, STASHED),
    "anm": ("xray_anm", "camera.anm", {"draw_curve": True}, "addon.games.xray.paths.play"),
    "cform": ("xray_level_geometry", "level/level.cform", {"split": "MATERIAL"}, AT_THE_END),
    "hom": ("xray_level_geometry", "level/level.hom", {}, AT_THE_END),
    "som": ("xray_level_geometry", "level/level.som", {}, AT_THE_END),
    "details": ("xray_level_geometry", "level/level.details", {}, AT_THE_END),
    "dm": ("xray_level_geometry", "level/grass.dm", {}, AT_THE_END),
    "err": ("xray_level_geometry", "level/level.err", {}, AT_THE_END),
    "level": ("xray_level", "level", {}, AT_THE_END),
    "rtm": ("arma_rtm", "arma/walk.rtm", {"stash": True}, STASHED),
    "binarised rtm": ("arma_rtm", "arma/walk_binarised.rtm", {"stash": True}, STASHED),
    "p3d": ("arma_p3d", "arma/man.p3d", {"levels": {"FIRST", "MEMORY"}}, AT_THE_END),
    "oof": ("descent3_oof", "descent3/ship.oof", {}, AT_THE_END),
    "oof on a rig": ("descent3_oof", "descent3/ship.oof", {"shown_as": "BONES"}, AT_THE_END),
    "hog": ("descent3_oof", "descent3/ship.hog", {}, AT_THE_END),
    "arma texture": ("arma_paa", "arma/bricks_co.paa", {}, "addon.ui.images.keep_and_show"),
    "texture": ("descent3_ogf", "descent3/SampleHull.ogf", {}, "addon.ui.images.keep_and_show"),
}


class Defect(Exception):
    """What no code of ours expects."""


def failing(monkeypatch, target, error):
    """Let a function do its work and fail then; the list counts how often it was called."""
    room, name = target.rsplit(".", 1)
    module = __import__(room, fromlist=[name])
    work, calls = getattr(module, name), []

    def fail(*arguments, **options):
        work(*arguments, **options)
        calls.append(name)
        raise error

    monkeypatch.setattr(module, name, fail)
    return calls


def chosen(samples, path):
    return {"directory" if (samples / path).is_dir() else "filepath": str(samples / path)}


@pytest.fixture
def lived_in():
    """A file of somebody's: an object that moves and is selected."""
    mesh = bpy.data.meshes.new("mine")
    obj = add_object("mine", mesh)
    obj.keyframe_insert("location", frame=3)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)


@pytest.mark.usefixtures("lived_in")
@pytest.mark.parametrize("error", [ReadError("odd"), Defect("oops")], ids=["refusal", "defect"])
@pytest.mark.parametrize("importer", IMPORTERS.values(), ids=IMPORTERS)
def test_an_import_that_fails_at_its_end_leaves_nothing_behind(importer, error, samples, monkeypatch):
    operator, path, options, target = importer
    before = snapshot()
    calls = failing(monkeypatch, target, error)
    run = getattr(bpy.ops.import_scene, operator)
    with pytest.raises(RuntimeError, match=r"odd|oops"):
        run(**chosen(samples, path), **options)
    assert calls
    assert differences(before, snapshot()) == []
    monkeypatch.undo()
    assert run(**chosen(samples, path), **options) == {"FINISHED"}
    assert differences(before, snapshot())


@pytest.mark.parametrize("error", [ReadError("odd"), Defect("oops")], ids=["refusal", "defect"])
def test_motions_that_fail_leave_the_armature_with_what_it_played(error, game, monkeypatch):  # noqa: F811
    load(game)
    before = snapshot()
    calls = failing(monkeypatch, STASHED, error)
    with pytest.raises(RuntimeError, match=r"odd|oops"):
        bpy.ops.import_scene.xray_omf(filepath=str(game / "humanoid.omf"), stash=True)
    assert calls
    assert differences(before, snapshot()) == []


def test_editor_motions_that_fail_leave_bones_rotating_as_before(tmp_path, monkeypatch):
    path = written(tmp_path, made_motion(STEPPED))
    rig = rig_of(["root", "arm", "hand", "Finger"])
    rig.pose.bones["arm"].rotation_mode = "YZX"
    before = snapshot()
    calls = failing(monkeypatch, STASHED, Defect("oops"))
    with pytest.raises(RuntimeError, match="oops"):
        bpy.ops.import_scene.xray_skl(filepath=str(path), stash=True)
    assert calls
    assert differences(before, snapshot()) == []


def test_an_arma_animation_that_fails_leaves_bones_connected_and_inheriting_as_before(samples, monkeypatch):
    path = str(samples / "arma/walk.rtm")
    rig = rig_of(["pelvis", "spine", "leftupleg"])
    bpy.context.view_layer.objects.active = rig
    scope = __import__("addon.blender.scope", fromlist=["x"])
    with scope.editing_armature(bpy.context, rig) as bones:
        for parent, bone in itertools.pairwise(bones):
            bone.parent, bone.head, bone.tail = parent, parent.tail, parent.tail + parent.vector
            bone.use_connect = True
    rig.data.bones[1].inherit_scale = "NONE"
    before = snapshot()
    calls = failing(monkeypatch, STASHED, Defect("oops"))
    with pytest.raises(RuntimeError, match="oops"):
        bpy.ops.import_scene.arma_rtm(filepath=path, stash=True)
    assert calls
    assert [bone.use_connect for bone in rig.data.bones] == [False, True, True]
    assert differences(before, snapshot()) == []


def test_bone_properties_that_are_refused_change_no_bone(tmp_path, game, monkeypatch):  # noqa: F811
    load(game, motions="")
    path = tmp_path / "humanoid.bones"
    assert bpy.ops.export_scene.xray_bones(filepath=str(path)) == {"FINISHED"}
    bpy.context.view_layer.objects.active.data.bones[0].motionbridge_xray.mass = 77
    before = snapshot()
    decode, left = __import__("addon.games.xray.bones.values", fromlist=["x"]).decode_bone, [2]

    def fail(bone):
        left[0] -= 1
        if left[0] < 0:
            raise ReadError("odd")
        return decode(bone)

    monkeypatch.setattr("addon.games.xray.bones.values.decode_bone", fail)
    assert "odd" in refusal(bpy.ops.import_scene.xray_bones, filepath=str(path))
    assert differences(before, snapshot()) == []


def test_a_path_that_fails_leaves_the_users_camera_where_it_was(samples, monkeypatch):
    camera = add_object("mine", bpy.data.cameras.new("mine"))
    camera.location = 1, 2, 3
    bpy.context.view_layer.objects.active = camera
    before = snapshot()
    failing(monkeypatch, "addon.blender.path.build", Defect("oops"))
    with pytest.raises(RuntimeError, match="oops"):
        bpy.ops.import_scene.xray_anm(filepath=str(samples / "camera.anm"), target="ACTIVE")
    assert differences(before, snapshot()) == []


@pytest.mark.parametrize("error", [ReadError("odd"), Defect("oops")], ids=["refusal", "defect"])
def test_one_bad_file_of_several_removes_only_its_own(error, samples, tmp_path, monkeypatch, capsys):
    for name in ("a", "b", "c"):
        shutil.copy(samples / "weapon.ogf", tmp_path / f"{name}.ogf")
    import_model = __import__("addon.games.xray.models.importing", fromlist=["x"]).import_model

    def fail(context, path, *rest):
        result = import_model(context, path, *rest)
        if path.endswith("b.ogf"):
            raise error
        return result

    monkeypatch.setattr("addon.games.xray.models.importing.import_model", fail)
    names = [{"name": f"{name}.ogf"} for name in ("a", "b", "c")]
    assert bpy.ops.import_scene.xray_ogf(directory=str(tmp_path), files=names) == {"FINISHED"}
    paths = {obj.motionbridge_model.path[-5:] for obj in bpy.data.objects if obj.motionbridge_model.path}
    assert paths == {"a.ogf", "c.ogf"}
    assert len(bpy.data.armatures) == 2
    (line,) = [line for line in last_report() if line.startswith("left out: ")]
    assert str(error).rstrip(".") in line
    if isinstance(error, Defect):
        assert "b.ogf" in line
        assert "Traceback" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_names_break_no_line_of_the_report(samples, tmp_path):
    paths = [tmp_path / "good\n\x1b[2J.ogf", tmp_path / "bad\r.ogf"]
    shutil.copy(samples / "weapon.ogf", paths[0])
    paths[1].write_bytes(b"no model")
    files = [{"name": path.name} for path in paths]
    assert bpy.ops.import_scene.xray_ogf(directory=str(tmp_path), files=files) == {"FINISHED"}
    lines = last_report()
    assert lines
    assert [line for line in lines if not line.isprintable()] == []
    assert not [line for line in lines if line.startswith((".ogf", "[2J"))]
    assert "\\r.ogf" in refusal(bpy.ops.import_scene.xray_ogf, filepath=str(paths[1]))


def test_a_model_whose_motions_are_refused_is_imported_without_them(samples, tmp_path, monkeypatch):
    failing(monkeypatch, "addon.games.xray.motions.omf_codec.describe", ReadError("odd motions"))
    assert bpy.ops.import_scene.xray_ogf(filepath=str(samples / "weapon_embedded.ogf")) == {"FINISHED"}
    rig = bpy.context.view_layer.objects.active
    assert rig.type == "ARMATURE"
    assert not len(rig.motionbridge_motion_files)
    assert not len(bpy.data.actions)
    assert "motions left out: odd motions" in last_report()


def test_three_thousand_actions_cost_an_import_that_goes_well_nothing_for_each():
    def work():
        with scope.undone_on_failure(bpy.context):
            pass

    alone = lines_run(work)
    for _ in range(3000):
        bpy.data.actions.new("idle")
    assert lines_run(work) == alone


def test_what_the_failed_work_removed_is_not_asked_for():
    obj = add_object("mine")
    obj.keyframe_insert("location")
    bpy.context.view_layer.objects.active = obj

    def work():
        with scope.undone_on_failure(bpy.context):
            bpy.data.batch_remove([obj, *bpy.data.actions])
            raise Defect

    with pytest.raises(Defect):
        work()
    assert not len(bpy.data.objects)


def test_motions_with_a_track_number_that_no_property_holds(tmp_path):
    body = struct.pack("<HH", 3, 1) + b"default\0" + struct.pack("<H", 1) + b"root\0" + struct.pack("<I", 0xFFFF_FFF0)
    body += struct.pack("<H", 1) + definition(b"a", 0)
    data = chunk(0xE, chunk(0, struct.pack("<I", 1)) + chunk(1, motion(b"a", TRACKS[2]))) + chunk(0xF, body)
    path = tmp_path / "odd.omf"
    path.write_bytes(data)
    bpy.context.view_layer.objects.active = rig_of(["root"])
    assert bpy.ops.import_scene.xray_omf(filepath=str(path)) == {"FINISHED"}
    out = tmp_path / "out.omf"
    assert bpy.ops.export_scene.xray_omf(filepath=str(out)) == {"FINISHED"}
    assert out.read_bytes() == data


@pytest.mark.parametrize("path", corpus_files("ogf/odd_v4_bare_track_numbers.ogf"))
def test_the_real_model_with_bare_track_numbers_comes_in_and_goes_out(path, tmp_path):
    assert bpy.ops.import_scene.xray_ogf(filepath=str(path)) == {"FINISHED"}
    rig = bpy.context.view_layer.objects.active
    assert len(bpy.data.actions) == 7
    assert np.array_equal([bone.track for bone in rig.motionbridge_motion_files[0].partitions[0].bones], range(53))
    assert bpy.ops.export_scene.xray_ogf(filepath=str(tmp_path / "out.ogf")) == {"FINISHED"}
    assert (tmp_path / "out.ogf").read_bytes() == path.read_bytes()
