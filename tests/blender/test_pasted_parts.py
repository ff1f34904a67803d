"""Parts of a model or a level that are pasted (Ctrl C, Ctrl V): Blender copies what stores the file with them."""

import shutil
from pathlib import Path

import bpy

from addon.blender import scope
from addon.formats.descent3 import hog2
from tests.blender.test_ui import last_report

WORDS = "objects of another copy of the file (pasted, or imported again) are not written; to copy a part, use Shift D ("


def pasted(obj):
    """The new object, moved, and active as after a paste."""
    scope.make_current(bpy.context, [obj], obj)
    before = set(bpy.data.objects)
    assert bpy.ops.view3d.copybuffer() == {"FINISHED"}
    assert bpy.ops.view3d.pastebuffer() == {"FINISHED"}
    copy = next(target for target in bpy.data.objects if target not in before and target.name.startswith(obj.name))
    copy.location.x += 2
    return copy


def said_after(save, active) -> list[str]:
    """What a Save Back says of objects that it does not write."""
    scope.make_current(bpy.context, [active], active)
    save()
    return [line.partition(" (")[2].partition(" (")[2] for line in last_report() if line.startswith(WORDS)]


def test_a_pasted_tree_is_reported_not_to_be_written(samples, tmp_path):
    folder = shutil.copytree(samples / "level", tmp_path / "level")
    bpy.ops.import_scene.xray_level(directory=str(folder))
    tree = next(obj for obj in bpy.data.objects if obj.motionbridge_level.kind == "TREE")
    save = bpy.ops.motionbridge.level_save_back
    assert said_after(save, tree) == []
    before = (folder / "level").read_bytes()
    copy = pasted(tree)
    assert said_after(save, tree) == [f"{copy.name})"]
    assert (folder / "level").read_bytes() == before
    bpy.data.objects.remove(copy)
    scope.make_current(bpy.context, [tree], tree)
    bpy.ops.object.duplicate()
    bpy.context.object.location.x += 2
    assert said_after(save, tree) == []
    assert last_report()[0].startswith("level: 1 tree added")


def test_a_pasted_memory_point_and_a_pasted_lod_are_reported_not_to_be_written(samples, tmp_path):
    path = Path(shutil.copy(samples / "arma" / "man.p3d", tmp_path))
    before = path.read_bytes()
    assert bpy.ops.import_scene.arma_p3d(filepath=str(path), levels={"FIRST", "MEMORY"}) == {"FINISHED"}
    body = next(obj for obj in bpy.data.objects if obj.type == "MESH")
    point = next(obj for obj in bpy.data.objects if obj.motionbridge_arma_mark.kind == "POINT")
    save = bpy.ops.motionbridge.arma_model_save_back
    assert said_after(save, body) == []
    point.hide_set(False)  # the import shows its first LOD alone
    copies = [pasted(point), pasted(body)]
    assert said_after(save, body) == [f"{', '.join(sorted(copy.name for copy in copies))})"]
    assert path.read_bytes() == before
    # A model of another file is none of this one's business.
    other = Path(shutil.copy(path, tmp_path / "other.p3d"))
    for copy in copies:
        bpy.data.objects.remove(copy)
    assert bpy.ops.import_scene.arma_p3d(filepath=str(other)) == {"FINISHED"}
    assert said_after(save, body) == []


def test_a_pasted_gun_is_reported_not_to_be_written(samples, tmp_path):
    path = Path(shutil.copy(samples / "descent3" / "ship.oof", tmp_path))
    before = path.read_bytes()
    assert bpy.ops.import_scene.descent3_oof(filepath=str(path)) == {"FINISHED"}
    save, hull = bpy.ops.motionbridge.descent_save_back, bpy.data.objects["hull"]
    assert said_after(save, hull) == []
    pasted(bpy.data.objects["Gun point 0"])
    assert said_after(save, hull) == ["ship.001)"]
    assert path.read_bytes() == before


def test_two_models_of_one_archive_are_two_files(samples, tmp_path):
    ship = (samples / "descent3" / "ship.oof").read_bytes()
    archive = tmp_path / "two.hog"
    archive.write_bytes(hog2.write(hog2.new_hog2({"a.oof": ship, "b.oof": ship})))
    assert bpy.ops.import_scene.descent3_oof(filepath=str(archive), models="a.oof;b.oof") == {"FINISHED"}
    holders = [obj for obj in bpy.data.objects if obj.motionbridge_descent_model.is_model]
    assert [holder.motionbridge_descent_model.path for holder in holders] == [
        str(archive / "a.oof"),
        str(archive / "b.oof"),
    ]
    assert said_after(bpy.ops.motionbridge.descent_save_back, holders[0]) == []
