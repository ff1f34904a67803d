"""Collision values of faces: names of game materials instead of numbers, the active face, numbers that nothing has."""

import bpy
import numpy as np
import pytest

from addon.blender import attributes
from addon.core.errors import WriteError
from addon.core.report import Report
from addon.ui.xray import level_faces
from tests.blender.test_level_panel import panel_says
from tests.blender.test_levels import SQUARE, drawn, face_values
from tests.blender.test_ui import installed, last_report, refusal

VALUES = level_faces.value_names()
NAMES = ["materials\\bricks", "materials\\earth", "objects\\grille", "objects\\tin_roof"]


class Dialog:
    """The operator's dialog without a window: its properties, its methods."""

    def __init__(self, name="level_collision", kind=level_faces.MOTIONBRIDGE_OT_level_collision):
        self.__dict__["kind"] = kind
        self.__dict__["properties"] = bpy.context.window_manager.operator_properties_last(f"motionbridge.{name}")
        self.__dict__["shown"] = False

    def __getattr__(self, name):
        if name in self.properties.bl_rna.properties:
            return getattr(self.properties, name)
        member = getattr(self.kind, name)
        return member.__get__(self) if callable(member) else member

    def __setattr__(self, name, value):
        setattr(self.properties, name, value)

    def opened(self):
        """As a click on the button."""
        for prop in self.properties.bl_rna.properties:
            if prop.identifier != "rna_type":
                self.properties.property_unset(prop.identifier)

        class Window:
            @staticmethod
            def invoke_props_dialog(_operator, **_):
                return {"RUNNING_MODAL"}

        context = type("Context", (), {"__getattr__": lambda _, name: getattr(bpy.context, name)})()
        context.window_manager = Window()
        assert self.invoke(context, None) == {"RUNNING_MODAL"}
        return self


@pytest.fixture
def level(samples):
    assert bpy.ops.import_scene.xray_level_geometry(filepath=str(samples / "level" / "level.cform")) == {"FINISHED"}
    return bpy.context.view_layer.objects.active


@pytest.fixture
def game_materials():
    """Names a folder with a `gamemtl.xr` in the preferences."""
    with installed() as rows:
        yield lambda path: setattr(rows.add(), "folder", str(path.parent))


def activate(obj, face):
    obj.data.polygons.active = face
    selected = np.zeros(len(obj.data.polygons), np.bool_)
    selected[face] = True
    obj.data.polygons.foreach_set("select", selected)


def test_without_selected_faces_no_dialog_opens(level):
    level.data.polygons.foreach_set("select", np.zeros(len(level.data.polygons), np.bool_))
    with pytest.raises(WriteError, match="no face is selected"):
        Dialog().ask(bpy.context, Report())


def face_with(obj, name):
    slot = [material.name for material in obj.data.materials].index(name)
    return next(face.index for face in obj.data.polygons if face.material_index == slot)


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
def test_the_dialog_lists_names_and_begins_with_the_active_face(level, mode):
    face = face_with(level, "objects\\grille")
    level.data.attributes["sector"].data[face].value = 3
    level.data.attributes["suppress_shadows"].data[face].value = True
    level.data.attributes["suppress_wallmarks"].data[face].value = False
    activate(level, face)
    bpy.ops.object.mode_set(mode=mode)
    dialog = Dialog().opened()
    assert level.mode == mode
    names = [row.name for row in dialog.listed]
    assert names == sorted(names)
    assert set(NAMES) <= set(names)
    assert len(names) > len(NAMES) - 1
    assert (dialog.material_name, dialog.sector) == ("objects\\grille", 3)
    assert (dialog.suppress_shadows, dialog.suppress_wallmarks) == (True, False)
    assert dialog.is_list_of_game


def test_the_dialog_marks_mixed_values_and_writes_what_is_changed(level):
    sectors = face_values(level, "sector", np.int32)
    first, second = 0, int(np.argmax(sectors != sectors[0]))
    activate(level, first)
    level.data.polygons[second].select = True
    dialog = Dialog().opened()
    assert dialog.sector == sectors[first]
    assert "sector" in dialog.mixed.split()
    assert dialog.label("sector", "Sector") == "Sector (mixed)"
    assert dialog.run(bpy.context, Report()).done is False
    materials = face_values(level, "material", np.int32).copy()
    dialog.suppress_shadows = not dialog.suppress_shadows
    dialog.run(bpy.context, Report())
    np.testing.assert_array_equal(face_values(level, "sector", np.int32), sectors)
    np.testing.assert_array_equal(face_values(level, "material", np.int32), materials)
    shadows = face_values(level, "suppress_shadows", np.bool_)
    assert shadows[first] == shadows[second] == dialog.suppress_shadows
    # To give all the value that is shown, type another and that one again.
    dialog.sector = 9
    dialog.sector = int(sectors[first])
    dialog.run(bpy.context, Report())
    assert face_values(level, "sector", np.int32)[[first, second]].tolist() == [sectors[first]] * 2


def test_picking_a_name_sets_its_number_and_typing_a_number_its_name(level):
    activate(level, 0)
    dialog = Dialog().opened()
    numbers = {row.name: row.number for row in dialog.listed}
    dialog.material_name = "materials\\earth"
    assert dialog.material == numbers["materials\\earth"]
    dialog.material = numbers["materials\\bricks"]
    assert dialog.material_name == "materials\\bricks"
    dialog.material = 9999
    assert dialog.material_name == ""


def test_faces_get_a_material_by_its_name(level):
    activate(level, face_with(level, "materials\\bricks"))
    face = level.data.polygons.active
    assert bpy.ops.motionbridge.level_collision(material_name="materials\\earth") == {"FINISHED"}
    assert level.data.materials[level.data.polygons[face].material_index].name == "materials\\earth"
    number = level.data.materials["materials\\earth"].motionbridge_material.number
    assert face_values(level, "material", np.int32)[face] == number
    message = refusal(bpy.ops.motionbridge.level_collision, material_name="materials\\unheard_of")
    assert "no game material named" in message


def test_a_material_that_no_face_had_gets_its_name(samples, game_materials):
    game_materials(samples / "level" / "gamemtl.xr")
    wall = drawn("wall", SQUARE, [(0, 1, 2, 3)], "NONE")
    bpy.context.view_layer.objects.active = wall
    bpy.ops.motionbridge.level_begin(kind="CFORM")
    wall.data.polygons[0].select = True
    assert bpy.ops.motionbridge.level_collision(material_name=NAMES[0]) == {"FINISHED"}
    assert wall.data.materials[-1].name == NAMES[0]
    assert bpy.ops.motionbridge.level_check() == {"FINISHED"}
    assert not any("lacks" in line for line in last_report())


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
def test_the_panel_shows_the_active_face(level, mode):
    face = face_with(level, "materials\\bricks")
    level.data.attributes["sector"].data[face].value = 5
    level.data.attributes["suppress_shadows"].data[face].value = True
    level.data.attributes["suppress_wallmarks"].data[face].value = True
    activate(level, face)
    bpy.ops.object.mode_set(mode=mode)
    message = panel_says(level)
    number = level.data.materials["materials\\bricks"].motionbridge_material.number
    wanted = [f"Active face: {face}", f"Game material: materials\\bricks ({number})", "Sector: 5"]
    at = message.index(wanted[0])
    assert message[at : at + 3] == wanted
    if "suppress_shadows" in attributes.active_face(level.data, VALUES).values:
        assert message[at + 3] == "Flags: Suppress Shadows, Suppress Wallmarks"
    else:
        assert (mode, bpy.app.version < (4, 5)) == ("EDIT", True)
        assert message[at + 3] == "Flags are shown in Object Mode"


def test_without_an_active_face_the_panel_says_how_to_get_one(level):
    level.data.polygons.active = -1
    assert "No face is active: click one in Edit Mode" in panel_says(level)


def test_numbers_that_the_game_lacks_are_findings(level, samples, tmp_path, game_materials):
    face = face_with(level, "materials\\bricks")
    activate(level, face)
    assert bpy.ops.motionbridge.level_collision(material=9999) == {"FINISHED"}
    assert bpy.ops.motionbridge.level_check() == {"FINISHED"}
    finding = f"1 of {len(level.data.polygons) + 1} faces has a game material that gamemtl.xr lacks (9999)"
    assert any(finding in line for line in last_report()), "one face is kept that Blender cannot show"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [polygon.index for polygon in level.data.polygons if polygon.select] == [face]
    assert bpy.ops.export_scene.xray_level_geometry(filepath=str(tmp_path / "out.cform")) == {"FINISHED"}
    assert any(finding in line for line in last_report())
    assert bpy.ops.import_scene.xray_level_geometry(filepath=str(tmp_path / "out.cform")) == {"FINISHED"}
    assert not any("lacks" in line for line in last_report()), "nobody knows the game's materials there"
    game_materials(samples / "level" / "gamemtl.xr")
    bpy.ops.import_scene.xray_level_geometry(filepath=str(tmp_path / "out.cform"))
    assert any("faces have game materials that gamemtl.xr lacks: 9999" in line for line in last_report())
