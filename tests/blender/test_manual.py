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
from addon.ui import manual

OPERATORS = sorted(kind.bl_idname for kind in addon.ui.CLASSES if issubclass(kind, bpy.types.Operator))
GROUPS = sorted(
    {kind.__name__ for added in games.ADDED for kind in added.classes if issubclass(kind, bpy.types.PropertyGroup)}
)
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


@pytest.fixture
def opened(monkeypatch):
    """The addresses that a browser would have opened."""
    found = []
    monkeypatch.setattr(webbrowser, "open", found.append)
    return found


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
    declared = next(iter(inspect.get_annotations(bpy.types.PropertyGroup.bl_rna_get_subclass_py(name))))
    assert bpy.ops.wm.doc_view_manual(doc_id=f"{name}.{declared}") == {"FINISHED"}
    assert section(opened.pop())


def test_sections_are_those_of_the_subject(opened):
    expected = {
        "motionbridge.add_control_rig": "Control rig",
        "import_scene.xray_omf": "Motions",
        "motionbridge.save_back": "Saving back",
        "motionbridge.hud_save_back": "First person",
        "motionbridge.path_save_back": "Motion paths",
        "export_scene.xray_object": "The editor's models",
        "motionbridge.skeletal_save_back": "The editor's motions and bones",
        "import_scene.xray_level_geometry": "A level",
        "export_scene.arma_rtm": "An animation of Arma or Operation Flashpoint",
        "motionbridge.descent_battery_add": "A model of Descent 3",
        "MotionProperties.speed": "Motions",
        "BoneProperties.mass": "A model",
    }
    for name in expected:
        bpy.ops.wm.doc_view_manual(doc_id=name)
    assert dict(zip(expected, map(section, opened), strict=True)) == expected


def test_a_russian_interface_gets_the_russian_pages(opened, monkeypatch):
    monkeypatch.setattr(manual, "translations", SimpleNamespace(locale="ru_RU"))
    bpy.ops.wm.doc_view_manual(doc_id="motionbridge.add_control_rig")
    assert re.search("[а-яё]", section(opened.pop()))
