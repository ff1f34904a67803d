"""F1 opens the section of the guide that tells of a button or field, by the search of Blender's own operator."""

import inspect
import re
import webbrowser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import bpy
import pytest

import addon.ui
from addon import games
from addon.ui import manual, motion_lists, preferences

OPERATORS = sorted(kind.bl_idname for kind in addon.ui.CLASSES if issubclass(kind, bpy.types.Operator))
KINDS = [
    kind
    for added in (*games.ADDED, motion_lists.ADDED)
    for kind in added.classes
    if issubclass(kind, bpy.types.PropertyGroup)
]
GROUPS = sorted(kind.__name__ for kind in KINDS)
HIDDEN = {
    "ActionList",
    "DeletedMotion",
    "ListedAction",
    "MotionReferenceProperties",
    "NamedProperty",
    "RestBone",
    "SkeletonBone",
    "SkeletonProperties",
}
"""Groups of which no field is shown but the name, which Blender takes for one of its own."""
SHOWN = [kind for kind in KINDS if kind.__name__ not in HIDDEN]


@pytest.fixture
def opened(monkeypatch):
    """The addresses that a browser would have opened."""
    result = []
    monkeypatch.setattr(webbrowser, "open", result.append)
    return result


def section(address):
    """The heading with the fragment's name, or the page's title."""
    parts = urlsplit(address)
    text = Path(unquote(parts.path)).read_text(encoding="utf-8")
    if not parts.fragment:
        return re.search(r"<title>(.*) - Motionbridge</title>", text)[1]
    return re.search(rf'<h\d id="{parts.fragment}">(.*)</h\d>', text)[1]


@pytest.mark.parametrize("name", OPERATORS)
def test_each_button_has_a_section(name, opened):
    assert bpy.ops.wm.doc_view_manual(doc_id=name) == {"FINISHED"}
    assert section(opened.pop())


@pytest.mark.parametrize("name", [name for name in GROUPS if name not in HIDDEN])
def test_each_field_has_a_section(name, opened):
    group = bpy.types.PropertyGroup.bl_rna_get_subclass_py(name)
    declared = next(field for kind in group.__mro__ for field in inspect.get_annotations(kind))
    assert bpy.ops.wm.doc_view_manual(doc_id=f"{name}.{declared}") == {"FINISHED"}
    assert section(opened.pop())


@pytest.mark.parametrize("name", inspect.get_annotations(preferences.MotionbridgePreferences))
def test_each_preference_has_a_section(name, opened):
    assert bpy.ops.wm.doc_view_manual(doc_id=f"{preferences.MotionbridgePreferences.bl_rna.identifier}.{name}") == {
        "FINISHED"
    }
    address = opened.pop()
    assert section(address) == "Installation and preferences"
    page = Path(unquote(urlsplit(address).path)).read_text(encoding="utf-8")
    label = preferences.MotionbridgePreferences.bl_rna.properties[name].name
    assert f"<strong>{label}</strong>" in page


def test_no_two_groups_have_one_name():
    """F1 tells them apart by nothing else."""
    assert len(GROUPS) == len(set(GROUPS))


@pytest.mark.parametrize("kind", SHOWN, ids=lambda kind: kind.__name__)
def test_fields_of_a_game_have_a_section_of_that_game(kind, opened):
    of_game = {
        "arma": {"Arma and Operation Flashpoint"},
        "descent3": {"Descent 3"},
        "xray": {
            *("A model", "A new model", "Motions", "First person in S.T.A.L.K.E.R.", "The editor's motions and bones"),
            *("The editor's models", "Motion paths", "Levels of S.T.A.L.K.E.R."),
        },
    }
    match = re.search(r"\bgames\.(\w+)", kind.__module__)
    game = match[1] if match else "xray"  # whose panels alone show texture and shader of a material
    for name in inspect.get_annotations(kind):
        bpy.ops.wm.doc_view_manual(doc_id=f"{kind.__name__}.{name}")
    assert {section(address) for address in opened} <= of_game[game]


def test_sections_are_those_of_the_subject(opened):
    expected = {
        "motionbridge.add_control_rig": "Control rig",
        "import_scene.xray_omf": "Motions",
        "motionbridge.save_back": "Saving back",
        "motionbridge.hud_save_back": "First person in S.T.A.L.K.E.R.",
        "motionbridge.path_save_back": "Motion paths",
        "export_scene.xray_object": "The editor's models",
        "motionbridge.skeletal_save_back": "The editor's motions and bones",
        "import_scene.xray_level_geometry": "Levels of S.T.A.L.K.E.R.",
        "export_scene.arma_rtm": "Arma and Operation Flashpoint",
        "motionbridge.descent_battery_add": "Descent 3",
        "MotionProperties.speed": "Motions",
        "BoneProperties.mass": "A model",
        "LevelProperties.detail": "Levels of S.T.A.L.K.E.R.",
        "ArmaLevelProperties.resolution": "Arma and Operation Flashpoint",
        "MarkProperties.game_name": "Arma and Operation Flashpoint",
    }
    for name in expected:
        bpy.ops.wm.doc_view_manual(doc_id=name)
    assert dict(zip(expected, map(section, opened), strict=True)) == expected


def test_a_russian_interface_gets_the_russian_pages(opened, monkeypatch):
    monkeypatch.setattr(manual, "translations", SimpleNamespace(locale="ru_RU"))
    bpy.ops.wm.doc_view_manual(doc_id="motionbridge.add_control_rig")
    assert re.search("[а-яё]", section(opened.pop()))
