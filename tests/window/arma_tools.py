"""Selections, weights, flags and masses of an Arma model, edited in their dialogs and written to its file."""

import shutil

import bpy
import numpy as np

from addon.core.report import Report
from addon.formats.arma import p3d
from tests.window import stage
from tests.window.stage import Steps

TABLE = "// old, new\nSpine;torso\nLeftFoot;RightFoot\nRightFoot;LeftFoot\n"


def confirmed(name: str, **options: object) -> Steps:
    """An operator by its menu entry, Return in its dialog, and its report."""
    stage.forget_reports()
    stage.invoke(name, **options)
    yield
    yield
    yield from stage.confirm()
    yield from stage.reported()


def model_is_edited_in_dialogs() -> Steps:
    """Selections exchange names, a vertex with six bones is cleaned, faces get a flag, the Geometry a mass."""
    path = stage.sample("arma/man.p3d")
    shutil.copy(stage.SAMPLES / "arma/model.cfg", path.parent)
    stage.call("import_scene.arma_p3d", filepath=str(path), rig="NEW")
    yield
    obj = bpy.context.view_layer.objects.active
    groups = [group.name for group in obj.vertex_groups]
    bpy.data.texts.new("names").write(TABLE)
    stage.step("Write a Table")
    yield from confirmed("motionbridge.arma_rename_selections", table="names")
    assert stage.sentence() == "3 selections are renamed in 2 LODs", stage.sentence()
    assert "model.cfg is not changed and names" in bpy.context.window_manager.motionbridge_report
    exchanged = {"LeftFoot": "RightFoot", "RightFoot": "LeftFoot"}
    for again, expected in ((stage.undo, groups), (stage.redo, [exchanged.get(name, name) for name in groups])):
        yield from again()
        obj = bpy.context.view_layer.objects.active
        assert [group.name for group in obj.vertex_groups] == expected, again
        assert len(obj.motionbridge_arma_level.model.motionbridge_arma_model.renamed) == 3 * (again is stage.redo)
    yield from confirmed("motionbridge.arma_rename_selections", table="names", merge=True)
    assert stage.sentence() == "2 selections are renamed in 2 LODs", stage.sentence()
    yield from stage.undo()
    obj = bpy.context.view_layer.objects.active
    for group in obj.vertex_groups:
        group.add([7], 0.5, "REPLACE")
    stage.step("Paint")
    yield from confirmed("motionbridge.arma_clean_weights")
    assert stage.sentence() == "the weights of 1 vertex change in 1 LOD", stage.sentence()
    with stage.there():
        bpy.ops.motionbridge.arma_lod_copy(kinds={"GEOMETRY"})
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="SELECT")
    yield
    yield from confirmed("motionbridge.arma_flags", element="FACE", face_user=3)
    assert stage.sentence().startswith("Changed faces: "), stage.sentence()
    with stage.there():
        bpy.ops.object.mode_set(mode="OBJECT")
    yield
    yield from confirmed("motionbridge.arma_set_mass")
    assert stage.sentence().endswith("has a mass of 100 kg"), stage.sentence()
    result = path.with_name("out.p3d")
    stage.forget_reports()
    yield from stage.choose("export_scene.arma_p3d", result)
    yield from stage.reported()
    before, after = (p3d.read(file.read_bytes(), "", Report()) for file in (path, result))
    geometry = after.lod("Geometry")
    assert geometry is not None, stage.sentence()
    masses = next(tag.data for tag in geometry.tags if tag.name == b"#Mass#")
    assert abs(np.frombuffer(masses, "<f4").sum() - 100) < 1e-3
    assert len(set(geometry.faces["flags"].tolist())) == 1
    old, new = (p3d.selection_weights(document.lods[0]) for document in (before, after))
    assert {"torso", "LeftFoot", "RightFoot"} < set(new)
    assert np.array_equal(np.delete(new["LeftFoot"], 7), np.delete(old["RightFoot"], 7))


SCENES = [("arma tools: model is edited in dialogs", model_is_edited_in_dialogs)]
