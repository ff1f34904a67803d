"""The Motionbridge tab as a whole: the panels of a game show while something of that game is active, and no others."""

import re
from itertools import combinations
from pathlib import Path

import bpy
import pytest

import addon.ui


def panels(editor: str = "VIEW_3D") -> list[str]:
    """Labels of the panels of the tab that show, without those inside others; ``closed`` behind those that are."""
    kinds = [kind for kind in addon.ui.CLASSES if issubclass(kind, bpy.types.Panel) and kind.bl_space_type == editor]
    outer = [kind for kind in kinds if not getattr(kind, "bl_parent_id", "") and kind.poll(bpy.context)]
    outer.sort(key=lambda kind: getattr(kind, "bl_order", 0))
    return [
        kind.bl_label + (" closed" if "DEFAULT_CLOSED" in getattr(kind, "bl_options", ()) else "") for kind in outer
    ]


def mesh():
    bpy.ops.mesh.primitive_cube_add()


def camera():
    bpy.ops.object.camera_add()


def armature():
    bpy.ops.object.armature_add()


def test_where_nothing_is_there_is_a_way_to_begin():
    assert panels() == ["Import"]
    assert panels("DOPESHEET_EDITOR") == []


@pytest.mark.parametrize("make", [mesh, camera, armature])
def test_what_is_of_no_game_brings_no_panels(make, samples):
    bpy.ops.import_scene.xray_ogf(filepath=str(samples / "humanoid.ogf"))
    make()
    assert panels() == ["Control Rig"] * (make is armature) + ["Import"]


def test_an_armature_that_plays_something_may_become_an_animation(samples):
    bpy.ops.object.armature_add()
    rig = bpy.context.view_layer.objects.active
    rig.pose.bones[0].keyframe_insert("location")
    assert panels() == ["Control Rig", "Import", "Arma Animation closed"]
    assert panels("DOPESHEET_EDITOR") == ["Arma Animation closed"]


IMPORTS = {
    "model": ("xray_ogf", "humanoid.ogf", ["Control Rig", "Motions", "X-Ray Editor Motions closed"]),
    "path": ("xray_anm", "camera.anm", ["X-Ray Motion Path"]),
    "collision": ("xray_level_geometry", "level/level.cform", ["X-Ray Level"]),
    "occluders": ("xray_level_geometry", "level/level.hom", ["X-Ray Level"]),
    "ground": ("xray_level_geometry", "level/level.details", ["X-Ray Level"]),
    "man": ("arma_p3d", "arma/man.p3d", ["Arma Model"]),
    "walk": ("arma_rtm", "arma/walk.rtm", ["Control Rig", "Arma Animation"]),
    "ship": ("descent3_oof", "descent3/ship.oof", ["Descent 3 Model"]),
}


@pytest.mark.parametrize("name", IMPORTS)
def test_an_import_brings_the_panels_of_its_game_alone(name, samples):
    operator, file, wanted = IMPORTS[name]
    getattr(bpy.ops.import_scene, operator)(filepath=str(samples / file))
    assert panels() == [*wanted, "Import closed"]


def test_a_mesh_of_a_model_has_the_panels_of_its_armature(samples):
    bpy.ops.import_scene.xray_ogf(filepath=str(samples / "humanoid.ogf"))
    rig = bpy.context.view_layer.objects.active
    bpy.context.view_layer.objects.active = rig.children[0]
    assert panels() == ["Control Rig", "Motions", "X-Ray Editor Motions closed", "Import closed"]


@pytest.mark.parametrize("editor", ["VIEW_3D", "DOPESHEET_EDITOR"])
def test_motions_of_the_editor_open_the_panel_that_shows_them(editor, samples, tmp_path):
    bpy.ops.import_scene.xray_ogf(filepath=str(samples / "humanoid.ogf"))
    rig = bpy.context.view_layer.objects.active
    without = panels(editor)
    assert "X-Ray Editor Motions closed" in without
    bpy.ops.import_scene.xray_omf(filepath=str(samples / "humanoid.omf"))
    assert panels(editor) == without
    bpy.ops.export_scene.xray_skl(filepath=str(tmp_path / "new.skls"), choose="ALL")
    assert bpy.ops.import_scene.xray_skl(filepath=str(tmp_path / "new.skls")) == {"FINISHED"}
    opened = [label.replace("Motions closed", "Motions") for label in without]
    assert panels(editor) == opened
    rig.animation_data.action = None
    assert panels(editor) == opened


def test_each_game_has_a_menu_of_what_is_imported():
    drawn = {}
    for kind in addon.ui.CLASSES:
        if issubclass(kind, bpy.types.Menu) and hasattr(kind, "entries"):
            drawn[kind.bl_label] = list(kind.entries)
    assert list(drawn) == ["S.T.A.L.K.E.R. (X-Ray)", "Arma, Operation Flashpoint", "Descent 3"]
    listed = [name for names in drawn.values() for name in names]
    ours = [
        kind.bl_idname.partition(".")[2]
        for kind in addon.ui.CLASSES
        if "import_scene." in getattr(kind, "bl_idname", "") and "INTERNAL" not in kind.bl_options
    ]
    assert sorted(listed) == sorted(ours)


BUTTONS = ("save_back", "export_scene", "import_scene")
"""What the buttons of a file do, in their order from top to bottom."""


def test_every_panel_has_save_back_above_export_above_import():
    sources = [path.read_text(encoding="utf-8") for path in Path(addon.ui.__file__).parent.rglob("*.py")]
    drawn = []
    for function in "\n".join(sources).split("def "):
        called = re.findall(r'\.operator\(\s*"(\w+)\.(\w+)"', function)
        kinds = [(group if group in BUTTONS else name[-9:], name) for group, name in called]
        drawn.append([(BUTTONS.index(kind), name) for kind, name in kinds if kind in BUTTONS])
    pairs = [pair for buttons in drawn for pair in combinations(buttons, 2)]
    assert len(pairs) > 9
    wrong = [(entry, two) for entry, two in pairs if (entry[1] == two[1] or not two[0]) and entry[0] > two[0]]
    assert wrong == []
