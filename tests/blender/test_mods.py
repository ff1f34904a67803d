"""Files of a game's archives that were edited go into a mod, where the game takes them; archives are never written."""

from pathlib import Path

import bpy
import pytest

from addon.core.errors import WriteError
from addon.core.files import FileLocation
from addon.core.game import InstalledGame
from addon.core.report import Report
from addon.formats import trees
from addon.games import mods
from tests.blender.test_installed_games import FSGAME, HEADER, game, imported, model_in  # noqa: F401 (a fixture)
from tests.blender.test_ui import installed, last_report, refusal, turn_a_key
from tests.formats.archives import written

OMF = "gamedata/meshes/samples/humanoid.omf"


@pytest.fixture
def edited(game):  # noqa: F811
    """A character of the game with its motions, of which one was edited."""
    rig = imported(game)
    bpy.ops.motionbridge.import_referenced_motions()
    turn_a_key(rig.animation_data.action)
    return rig


def save(mod):
    return bpy.ops.motionbridge.save_back(mod_folder=str(mod))


def test_motions_of_an_archive_are_saved_into_the_mod_and_are_its_file_from_then_on(game, edited, tmp_path):  # noqa: F811
    archive = (game / "db/meshes.db0").read_bytes()
    mod = tmp_path / "my mod"
    for typed in ("", "  ", "my mod", "//"):
        assert "Choose the folder of a mod" in refusal(bpy.ops.motionbridge.save_back, mod_folder=typed)
    with installed(game) as rows:
        assert save(mod) == {"FINISHED"}
        assert [row.folder for row in rows[0].mods] == [str(mod)]
        tree = trees.tree_at(InstalledGame(game, (mod,)))
    path = mod / OMF
    assert tree.where("meshes\\samples\\humanoid.omf") == [path, game / "db/meshes.db0/meshes/samples/humanoid.omf"]
    assert edited.motionbridge_motion_files[0].path == str(path)
    assert edited.motionbridge_model.path == model_in(game)
    assert (game / "db/meshes.db0").read_bytes() == archive
    first = path.read_bytes()
    assert first != FileLocation(str(game / "db/meshes.db0/meshes/samples/humanoid.omf")).content()
    turn_a_key(edited.animation_data.action)
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}  # nothing is asked again
    assert path.read_bytes() != first
    path.write_bytes(first)
    assert "no longer the one that was imported" in refusal(bpy.ops.motionbridge.save_back)


def test_it_is_the_file_of_the_mod_after_save_and_reload_too(game, edited, tmp_path):  # noqa: F811
    save(tmp_path / "mod")
    name = edited.name
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    rig = bpy.data.objects[name]
    bpy.context.view_layer.objects.active = rig
    assert Path(bpy.path.abspath(rig.motionbridge_motion_files[0].path)) == tmp_path / "mod" / OMF
    turn_a_key(rig.animation_data.action)
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}


def test_a_model_goes_into_the_mod_with_what_is_inside_of_it(game, tmp_path):  # noqa: F811
    rig = imported(game)
    rig.children[0].data.vertices[0].co.x += 0.1
    assert bpy.ops.motionbridge.model_save_back(mod_folder=str(tmp_path / "mod")) == {"FINISHED"}
    path = tmp_path / "mod/gamedata/meshes/samples/humanoid.ogf"
    assert rig.motionbridge_model.path == str(path)
    assert path.read_bytes() != FileLocation(model_in(game)).content()


def test_a_save_that_fails_leaves_everything_as_it_was(game, edited, tmp_path, monkeypatch):  # noqa: F811
    path = edited.motionbridge_motion_files[0].path

    def full(*_args, **_options):
        raise WriteError("cannot write it: No space left on device")

    monkeypatch.setattr("addon.core.files.write_atomically", full)
    assert "No space left" in refusal(save, mod=tmp_path / "mod")
    assert edited.motionbridge_motion_files[0].path == path
    assert not (tmp_path / "mod" / OMF).exists()
    (tmp_path / "file").write_bytes(b"")
    assert "nor does the one around it" in refusal(save, mod=tmp_path / "file/mod")
    assert "this is not a folder" in refusal(save, mod=tmp_path / "file")


def test_another_file_of_the_mod_is_not_replaced(game, edited, tmp_path):  # noqa: F811
    (tmp_path / "mod" / OMF).parent.mkdir(parents=True)
    (tmp_path / "mod" / OMF).write_bytes(b"of the mod")
    assert "the mod has this file already" in refusal(save, mod=tmp_path / "mod")
    assert (tmp_path / "mod" / OMF).read_bytes() == b"of the mod"


def test_an_archive_or_a_mod_that_was_removed_is_named(game, edited, tmp_path):  # noqa: F811
    (game / "db/meshes.db0").rename(game / "db/other.db0")
    assert "the archive of this file is missing: " in refusal(bpy.ops.motionbridge.save_back)
    (game / "db/other.db0").rename(game / "db/meshes.db0")
    mod = tmp_path / "mod"
    assert save(mod) == {"FINISHED"}
    mod.rename(tmp_path / "gone")
    turn_a_key(edited.animation_data.action)
    assert f"the folder of this file is missing: {mod}. " in refusal(bpy.ops.motionbridge.save_back)
    with installed(game, mods=(mod,)):
        assert f"the folder of the mod is missing: {mod}. " in refusal(bpy.ops.motionbridge.save_back)


def test_an_archive_that_was_replaced_while_it_is_in_use_is_noticed(game, edited, tmp_path):  # noqa: F811
    new = written.xray([(b"meshes\\samples\\humanoid.omf", b"another one")], header=HEADER)
    (game / "db/meshes.db0").write_bytes(new)
    assert "no longer the one that was imported" in refusal(save, mod=tmp_path / "mod")
    assert not (tmp_path / "mod" / OMF).exists()


# Where files go -------------------------------------------------------------------------------------------------------


def placed(file, mod, *known):
    path, findings = mods.destination_in(mod, Path(file), known)
    return path.relative_to(mod).as_posix(), findings.lines()


def test_a_mod_gets_its_files_where_its_other_files_are(game, tmp_path):  # noqa: F811
    for name, folders, wanted in (
        ("new", (), "gamedata/meshes/samples/humanoid.ogf"),
        ("with", ("GameData/Meshes",), "GameData/Meshes/samples/humanoid.ogf"),
        ("gamedata", (), "meshes/samples/humanoid.ogf"),
        ("unpacked", ("textures",), "meshes/samples/humanoid.ogf"),
    ):
        for folder in folders:
            (tmp_path / name / folder).mkdir(parents=True)
        assert placed(model_in(game), tmp_path / name) == (wanted, [])
    assert placed(model_in(game), game) == ("gamedata/meshes/samples/humanoid.ogf", [])


def test_it_is_said_where_the_game_would_not_look(game, tmp_path):  # noqa: F811
    (game / "fsgame.ltx").write_text(FSGAME.replace("$game_data$ = true", "$game_data$ = false"))
    ((finding,),) = [placed(model_in(game), tmp_path / "mod")[1]]
    assert "no line of fsgame.ltx names this folder" in finding
    (game / "fsgame.ltx").write_text("\n".join(reversed(FSGAME.splitlines())))
    ((finding,),) = [placed(model_in(game), tmp_path / "mod")[1]]
    assert "meshes.db0 instead: it wins over loose files" in finding
    (game / "fsgame.ltx").write_text(FSGAME)
    other = tmp_path / "other/gamedata/meshes/samples/humanoid.ogf"
    other.parent.mkdir(parents=True)
    other.write_bytes(b"x")
    known = InstalledGame(game, (tmp_path / "mod", tmp_path / "other"))
    assert "its mod wins over this one" in placed(model_in(game), tmp_path / "mod", known)[1][0]
    assert placed(model_in(game), tmp_path / "mod", known._replace(mods=(tmp_path / "other",)))[1] == []


def test_a_folder_inside_the_game_that_is_no_mod_is_named(game, edited):  # noqa: F811
    with installed(game) as rows:
        assert save(game / "db") == {"FINISHED"}
        assert any("this folder of the game is not a mod of it" in line for line in last_report())
        mod = game / "mods/mine"
        assert placed(model_in(game), mod, InstalledGame(game))[1] != []
        assert placed(model_in(game), mod, InstalledGame(game, (mod,)))[1] == []
        assert len(rows[0].mods) == 0
    for folder in (game, game / "gamedata"):
        assert placed(model_in(game), folder, InstalledGame(game))[1] == []


def test_files_of_arma_go_below_the_prefix_of_the_sources(tmp_path):
    addon = tmp_path / "Arma/Addons/x.pbo"
    addon.parent.mkdir(parents=True)
    addon.write_bytes(written.pbo([(b"data\\walk.rtm", b"x")], properties=[(b"prefix", b"z\\x\\addons\\main")]))
    sources = tmp_path / "sources"
    (sources / "main").mkdir(parents=True)
    (sources / "main/$PBOPREFIX$").write_text("z\\x\\addons\\main")
    path, (finding,) = placed(addon / "data/walk.rtm", sources)
    assert (path, "-filePatching" in finding) == ("main/data/walk.rtm", True)
    assert placed(addon / "data/walk.rtm", tmp_path / "p")[0] == "z/x/addons/main/data/walk.rtm"
    with pytest.raises(WriteError, match="packed addons"):
        mods.destination_in(tmp_path / "Arma", addon / "data/walk.rtm", ())


def test_files_are_copied_into_a_mod_as_they_are(game, tmp_path):  # noqa: F811
    mod, report = tmp_path / "mod", Report()
    path, is_new = mods.copy_into(mod, Path(model_in(game)), (), report)
    assert is_new
    assert path.read_bytes() == FileLocation(model_in(game)).content()
    assert mods.copy_into(mod, Path(model_in(game)), (), report) == (path, False)
    path.write_bytes(b"edited")
    with pytest.raises(WriteError, match="the mod has this file already"):
        mods.copy_into(mod, Path(model_in(game)), (), report)
    texture = game / "db/textures.db0/textures/samples/humanoid.png"
    with pytest.raises(WriteError, match="the mod has this file already"):
        mods.refuse_others(mod, [texture, Path(model_in(game))], ())
    mods.copy_into(mod, texture, (), report).path.write_bytes(b"edited")
    with pytest.raises(WriteError, match="nothing is copied: the mod has other files at these paths"):
        mods.refuse_others(mod, [texture, Path(model_in(game)), tmp_path / "none.ogf"], ())
    assert path.read_bytes() == b"edited"
    loose = tmp_path / "lone.ogf"
    loose.write_bytes(b"x")
    with pytest.raises(WriteError, match="not known where the game has this file"):
        mods.copy_into(mod, loose, (), report)
    with pytest.raises(WriteError, match="this is not a folder"):
        mods.copy_into(loose, Path(model_in(game)), (), report)
    assert report.lines() == [f"the folder of the mod does not exist and is created ({mod})"]


def test_a_read_only_game_is_no_obstacle(game, edited, tmp_path):  # noqa: F811
    for path in (game / "db/meshes.db0", game / "db", game):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert save(tmp_path / "mod") == {"FINISHED"}
    finally:
        for path in (game, game / "db"):
            path.chmod(0o755)
    assert last_report() is not None
