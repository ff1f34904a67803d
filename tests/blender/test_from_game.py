"""From the Game…: files of an installed game are found while the user types, and imported."""

import bpy
import pytest

from addon.ui import from_game
from tests.blender.dialogs import Dialog
from tests.blender.test_installed_games import game, shown  # noqa: F401 (a fixture)
from tests.blender.test_ui import installed, last_report, refusal

MODEL = "meshes\\samples\\humanoid.ogf"
MOTIONS = "meshes\\samples\\humanoid.omf"


class Rows(list):
    """A collection property of rows."""

    def add(self):
        self.append(type("Row", (), {"name": "", "path": "", "source": "", "is_recent": False, "ticked": False})())
        return self[-1]


@pytest.fixture
def dialog():
    from_game._opened.clear()
    return Dialog(from_game.MOTIONBRIDGE_OT_from_game, listed=Rows(), game="0")


def typed(dialog, search="", kind="MODELS"):
    dialog.search, dialog.kind = search, kind
    from_game._listing_changed(dialog, bpy.context)
    return [row.name for row in dialog.listed]


def test_a_model_of_an_archive_comes_with_textures_and_the_motions_that_it_references(game):  # noqa: F811
    with installed(game) as rows:
        assert bpy.ops.motionbridge.from_game(kind="MODELS", names=MODEL) == {"FINISHED"}
        rig = bpy.context.view_layer.objects.active
        assert rig.motionbridge_model.path == str(game / "db/meshes.db0" / MODEL.replace("\\", "/"))
        assert shown(rig).packed_file is not None
        assert len(rig.motionbridge_motion_files) == 1
        assert rig.animation_data.action is not None
        assert rows[0].recent == MODEL


def test_a_model_alone_and_its_motions_onto_the_active_armature(game):  # noqa: F811
    with installed(game) as rows:
        assert bpy.ops.motionbridge.from_game(names=MODEL, with_motions=False) == {"FINISHED"}
        rig = bpy.context.view_layer.objects.active
        assert not len(rig.motionbridge_motion_files)
        assert bpy.ops.motionbridge.from_game(kind="MOTIONS", names=MOTIONS) == {"FINISHED"}
        assert len(rig.motionbridge_motion_files) == 1
        assert last_report()[0].startswith("Motions imported onto humanoid")
        assert rows[0].recent.splitlines() == [MOTIONS, MODEL]


def test_the_search_finds_words_in_any_order_and_says_where_a_file_is(game, dialog):  # noqa: F811
    with installed(game):
        assert typed(dialog) == [MODEL]
        assert dialog.listed[0].source == "meshes.db0"
        assert typed(dialog, "HUMANOID samples") == [MODEL]
        assert typed(dialog, "samples/humanoid", kind="MOTIONS") == [MOTIONS]
        assert typed(dialog, "nothing") == []


def test_ticked_and_recent_rows_come_first_and_no_row_is_hidden_that_is_imported(game, dialog):  # noqa: F811
    folder = game / "gamedata/meshes/actors"
    folder.mkdir(parents=True)
    for number in range(400):
        (folder / f"hero_{number:03}.ogf").write_bytes(b"x")
    with installed(game) as rows:
        rows[0].recent = MODEL
        assert typed(dialog)[:2] == [MODEL, "meshes\\actors\\hero_000.ogf"]
        assert (len(dialog.listed), dialog.more, dialog.listed[0].is_recent) == (301, 101, True)
        assert [typed(dialog, "hero 39")[number] for number in (0, -1)] == [
            "meshes\\actors\\hero_039.ogf",
            "meshes\\actors\\hero_399.ogf",
        ]
        dialog.listed[-1].ticked = True
        assert typed(dialog, "humanoid") == ["meshes\\actors\\hero_399.ogf", MODEL]
        assert dialog._paths(from_game._game_of(dialog, bpy.context)[1], from_game.OFFERS[0]) == {
            "meshes\\actors\\hero_399.ogf": str(folder / "hero_399.ogf")
        }


def test_the_dialog_says_what_is_missing(game, tmp_path):  # noqa: F811
    assert "no game is known" in refusal(bpy.ops.motionbridge.from_game, names=MODEL)
    with installed(game):
        words = refusal(bpy.ops.motionbridge.from_game, names="meshes/x.ogf")
        assert words.startswith("the game has no file 'meshes")
        assert "no file is chosen" in refusal(bpy.ops.motionbridge.from_game)
    (tmp_path / "none").mkdir()
    assert "no game" in refusal(bpy.ops.motionbridge.from_game, folder=str(tmp_path / "none"))
