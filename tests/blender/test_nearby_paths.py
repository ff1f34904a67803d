"""Fields for paths in dialogs offer the files and folders beside the dialog's file, and complete what is typed."""

import sys
from types import SimpleNamespace

import bpy
import pytest

from addon.ui.arma import files
from addon.ui.bases import MAX_SUGGESTED, path_search
from addon.ui.descent3 import models as descent_models
from addon.ui.xray import motion_files


@pytest.fixture
def folder(tmp_path):
    for name in ("stalker.ogf", "Hands.OGF", "walk.omf", ".hidden.ogf"):
        (tmp_path / name).touch()
    (tmp_path / "actors").mkdir()
    (tmp_path / "actors" / "bandit.ogf").touch()
    return tmp_path


def names(folder, typed, *suffixes, **dialog):
    dialog = SimpleNamespace(**({"directory": str(folder), "filepath": ""} | dialog))
    return [path.removeprefix(f"{folder}/") for path in path_search(*suffixes)(dialog, bpy.context, typed)]


def test_what_lies_beside_the_file_is_offered(folder):
    assert names(folder, "", ".ogf") == ["actors/", "Hands.OGF", "stalker.ogf"]
    assert names(folder, "", ".ogf", directory="", filepath=str(folder / "walk.omf")) == [
        "actors/", "Hands.OGF", "stalker.ogf"
    ]  # fmt: skip
    assert names(folder, "") == ["actors/"]


def test_what_is_typed_is_completed_in_its_folder(folder):
    assert names(folder, "ALK", ".ogf") == ["stalker.ogf"]
    assert names(folder, f"{folder}/actors/", ".ogf") == ["actors/bandit.ogf"]
    assert names(folder, f"{folder}\\actors\\b", ".ogf") == ["actors/bandit.ogf"]
    assert names(folder, f"{folder}/nowhere/", ".ogf") == []


def test_a_crowded_folder_is_cut_short(folder):
    for number in range(MAX_SUGGESTED):
        (folder / f"{number}.ogf").touch()
    assert len(names(folder, "", ".ogf")) == MAX_SUGGESTED


ASKED = {
    motion_files.IMPORT_SCENE_OT_xray_omf: ["model"],
    descent_models.IMPORT_SCENE_OT_descent3_oof: ["animated_textures"],
    files.IMPORT_SCENE_OT_arma_rtm: ["config", "pivots_model", "bone_table"],
    files.IMPORT_SCENE_OT_arma_p3d: ["config", "pivots_model", "bone_table"],
}


@pytest.mark.parametrize("operator", ASKED)
def test_no_dialog_asks_for_a_path_without_offering_some(operator):
    declared = {}
    for kind in operator.__mro__:
        module = vars(sys.modules[kind.__module__])
        for name, entry in getattr(kind, "__annotations__", {}).items():
            declared[name] = eval(entry, module) if isinstance(entry, str) else entry  # noqa: S307 - our own annotations
    for name in ASKED[operator]:
        assert "subtype" not in declared[name].keywords, "its button would close the pop-up"
        assert callable(declared[name].keywords["search"])
        assert declared[name].keywords["search_options"] == {"SUGGESTION"}, "any other path can be typed"
