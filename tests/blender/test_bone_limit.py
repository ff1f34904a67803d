"""More bones than the games support: refused by default, written for a rebuilt engine with its limit as an option."""

import bpy
import numpy as np
import pytest

from addon import cli
from addon.core.report import Report
from addon.formats.xray import ogf, omf
from addon.formats.xray.ogf.mesh import bone_labels, decode_meshes
from addon.formats.xray.omf.document import MOST_BONES
from addon.games.xray.models.making import plan_new, plan_new_object
from addon.games.xray.options import EditorModelExportOptions, ModelExportOptions, MotionExportOptions, Sdk
from addon.ui.xray import motion_choices
from tests.blender.test_level_panel import Layout
from tests.blender.test_new_models_in_the_game import animate, build
from tests.blender.test_ui import last_report, refusal

COUNT = 70


def chain(count: int) -> dict:
    names = [f"b{number:03}" for number in range(count)]
    heads = [np.array((0.0, 0.0, 0.1 * number)) for number in range(count + 1)]
    return {
        name: (names[number - 1] if number else "", heads[number], heads[number + 1], (0.05, 0.05, 0.05))
        for number, name in enumerate(names)
    }


@pytest.fixture
def rig():
    rig, _ = build(chain(COUNT))
    animate(rig, 0.01)
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.new_game_model() == {"FINISHED"}
    return rig


def read_model(path):
    return ogf.read(path.read_bytes(), path.name, Report())


def test_the_default_is_the_limit_of_the_games():
    assert ModelExportOptions.most_bones == MotionExportOptions.most_bones == MOST_BONES


def test_a_model_and_its_motions_are_written_for_the_engine_that_is_named(rig, tmp_path):
    model, motions = tmp_path / "long.ogf", tmp_path / "long.omf"
    for operator, path in ((bpy.ops.export_scene.xray_ogf, model), (bpy.ops.export_scene.xray_omf, motions)):
        message = refusal(operator, filepath=str(path))
        assert "70 bones" in message
        assert "Bone Limit" in message
        assert not path.exists()
        assert "69" in refusal(operator, filepath=str(path), most_bones=COUNT - 1)
        assert operator(filepath=str(path), most_bones=128) == {"FINISHED"}
        assert not any("the game supports" in line for line in last_report())
    document = read_model(model)
    assert bone_labels(document) == list(chain(COUNT))
    groups = [mesh.weights.groups for mesh in decode_meshes(document, Report())]
    assert set(np.concatenate(groups).tolist()) == set(range(COUNT))
    library = omf.read(motions.read_bytes(), "", Report()).motion_set.library
    assert [motion.track_count for motion in library.motions] == [COUNT]


def test_a_bone_added_to_an_imported_model_counts(rig, tmp_path):
    path = tmp_path / "long.ogf"
    assert bpy.ops.export_scene.xray_ogf(filepath=str(path), most_bones=COUNT) == {"FINISHED"}
    assert bpy.ops.import_scene.xray_ogf(filepath=str(path)) == {"FINISHED"}
    again = bpy.context.view_layer.objects.active
    bpy.ops.object.mode_set(mode="EDIT")
    added = again.data.edit_bones.new("extra")
    added.head, added.tail, added.parent = (1, 0, 0), (1, 0, 1), again.data.edit_bones["b000"]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert "the skeleton has 71 bones, the game supports 1 to 64" in refusal(
        bpy.ops.export_scene.xray_ogf, filepath=str(path)
    )
    for replace in (False, True):
        assert bpy.ops.export_scene.xray_ogf(filepath=str(path), most_bones=COUNT + 1, replace_meshes=replace) == {
            "FINISHED"
        }
        assert bone_labels(read_model(path))[-1] == "extra"


def test_the_option_is_drawn_where_it_applies(rig):
    small, _ = build(chain(2))
    for obj, drawn in ((rig, True), (small, False), (None, False)):
        layout = Layout()
        motion_choices.draw_bone_limit(layout, None, obj)
        assert layout.kept == [("most_bones", True)] * drawn


def test_the_command_line_has_the_option(rig, tmp_path, capsys):
    path, out = tmp_path / "long.object", tmp_path / "long.ogf"
    assert bpy.ops.export_scene.xray_object(filepath=str(path), motions=False) == {"FINISHED"}
    call = ["convert", str(path), "--to", "ogf", "-o", str(out)]
    assert cli.main(call) == 2
    assert "70 bones" in capsys.readouterr().err
    assert cli.main([*call, "--most-bones", "70"]) == 0
    assert len(bone_labels(read_model(out))) == COUNT


@pytest.mark.parametrize(("sdk", "most"), [(Sdk.COP, 4), (Sdk.SOC, 2)])
def test_vertices_with_more_bones_than_the_editor_keeps_are_named(sdk, most):
    rig, skin = build(chain(6))
    for number in range(most + 1):
        skin.vertex_groups[number].add([0, 1], 0.2, "REPLACE")
    report = Report()
    plan_new_object(bpy.context, rig, "a.object", EditorModelExportOptions(sdk=sdk), report)
    words = f"2 vertices have more bones than the editor keeps, the {most} heaviest"
    assert f"editors of the game: in mesh 'Skin': {words}" in report.warnings


def test_vertices_with_more_bones_than_the_game_reads_are_named_once():
    rig, skin = build(chain(6))
    for number in range(5):
        skin.vertex_groups[number].add([0, 1], 0.2, "REPLACE")
    report = Report()
    plan_new(bpy.context, rig, "a.ogf", ModelExportOptions(), report)
    assert [line for line in report.lines() if "more" in line] == [
        "2 vertices have more bones than the engine reads; the heaviest are written (Skin)"
    ]
