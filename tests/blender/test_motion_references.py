"""The list of motion files that a model refers to: what each row says, the search, what the buttons import."""

import shutil
from types import SimpleNamespace

import bpy
import pytest

from addon.ui.xray import motion_choices, motion_panels
from tests.blender.test_level_panel import Layout
from tests.blender.test_searched_lists import drawn as drawn_list
from tests.blender.test_ui import game_folder, load, refusal

HANDS = 49
"""References of a first-person model's hands in the game."""


@pytest.fixture
def hands(tmp_path, samples):
    """A model that refers to its own motions, to 48 other files of which one is there, and to a mask."""
    folder = game_folder(tmp_path, samples)
    rig = load(folder, motions="")
    shutil.copy(folder / "humanoid.omf", folder / "weapon_7.omf")
    own = rig.motionbridge_model.references[0].name
    for number in range(1, HANDS - 1):
        rig.motionbridge_model.references.add().name = own.replace("humanoid", f"weapon_{number}")
    rig.motionbridge_model.references.add().name = own.replace("humanoid", "weapon_*")
    motion_choices.forget()
    return rig


class Drawn(Layout):
    """Also keeps the lists, and what operators are given."""

    def __init__(self, kept=None, *, enabled=True):
        super().__init__(kept, enabled=enabled)
        self.buttons = []

    def column(self, **_):
        own_drawn = Drawn(self.kept)
        own_drawn.buttons = self.buttons
        return own_drawn

    row = box = column

    def template_list(self, kind, *_arguments, **_options):
        self.kept.append(kind)

    def operator(self, name, text="", **_):
        super().operator(name, text)
        self.buttons.append((self, text, SimpleNamespace()))
        return self.buttons[-1][2]


def drawn(rig):
    layout = Drawn()
    bpy.context.view_layer.objects.active = rig
    motion_panels.ReferencesPanel.draw(SimpleNamespace(layout=layout), bpy.context)
    return layout


def test_one_list_and_two_buttons_whatever_the_number(hands):
    layout = drawn(hands)
    assert layout.kept == [
        "MOTIONBRIDGE_UL_motion_references",
        "Import",
        "Import All",
    ]
    hands.motionbridge_model.active_reference = 3
    layout = drawn(hands)
    (entry, text, button), _ = layout.buttons
    assert (entry.enabled, text) == (False, "Import")
    assert button.reference.endswith("weapon_3")
    assert " ".join(layout.kept[3:]) == "Not found: add its game to the preferences"


def test_a_row_says_the_files_own_name_and_whether_it_is_imported(hands):
    names = [reference.name for reference in hands.motionbridge_model.references]
    assert motion_panels.own_name(names[7]) == "weapon_7"
    assert motion_panels.own_name("hud\\a\\one, hud\\b\\two_*") == "one, two_*"
    state = motion_panels.state_of
    assert [state(hands, names[index]) for index in (0, 1, 7, -1)] == ["FOUND", "NOT FOUND", "FOUND", "FOUND"]
    assert bpy.ops.motionbridge.import_referenced_motions(reference=names[7]) == {"FINISHED"}
    assert [state(hands, names[index]) for index in (0, 7, -1)] == ["FOUND", "IMPORTED", "IMPORTED"]


def test_all_means_those_that_are_not_imported_yet(hands):
    names = [reference.name for reference in hands.motionbridge_model.references]
    assert bpy.ops.motionbridge.import_referenced_motions(reference=names[0]) == {"FINISHED"}
    assert bpy.ops.motionbridge.import_referenced_motions() == {"FINISHED"}
    assert sorted(file.name for file in hands.motionbridge_motion_files) == ["humanoid.omf", "weapon_7.omf"]
    assert len(bpy.data.actions) == 10
    assert "are imported" in refusal(bpy.ops.motionbridge.import_referenced_motions)
    assert bpy.ops.motionbridge.import_referenced_motions(reference=names[0]) == {"FINISHED"}
    assert len(bpy.data.actions) == 15


def test_the_search_looks_at_the_whole_path(hands):
    for pattern, count in (("", HANDS), ("weapon_1", 11), ("weapon_?7", 4), ("nothing", 0)):
        kind = motion_panels.MOTIONBRIDGE_UL_motion_references
        listed = drawn_list(kind, filter_name=pattern)
        flags, order = kind.filter_items(listed, bpy.context, hands.motionbridge_model, "references")
        assert (sum(map(bool, flags)), order) == (count, [])
