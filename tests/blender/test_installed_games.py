"""Games of the preferences, as they are installed: what is in archives is imported and stays known."""

import shutil
import tempfile
from pathlib import Path

import bpy
import pytest

from addon.core.files import FileLocation
from addon.formats import archives
from addon.formats.trees import installed as looked_for
from tests.blender.test_ui import installed, last_report, refusal, turn_a_key
from tests.formats.archives import written

HEADER = b"[header]\r\nentry_point = $fs_root$\\gamedata\\\r\n"
FSGAME = "$arch$ = true|0|$fs_root$|db\\\n$game_data$ = true|0|$fs_root$|gamedata\\\n"


@pytest.fixture
def game(tmp_path, samples):
    """A game whose model, motions and texture are in archives."""
    folder = tmp_path / "game"
    (folder / "db").mkdir(parents=True)
    (folder / "fsgame.ltx").write_text(FSGAME)
    meshes = [
        (f"meshes\\samples\\{name}".encode(), (samples / name).read_bytes())
        for name in ("humanoid.ogf", "humanoid.omf")
    ]
    (folder / "db/meshes.db0").write_bytes(written.xray(meshes, header=HEADER))
    image = bpy.data.images.new("picture", 4, 4)
    image.filepath_raw, image.file_format = str(tmp_path / "picture.png"), "PNG"
    image.save()
    bpy.data.images.remove(image)
    textures = [(b"textures\\samples\\humanoid.png", (tmp_path / "picture.png").read_bytes())]
    (folder / "db/textures.db0").write_bytes(written.xray(textures, header=HEADER))
    return folder


def model_in(game):
    return str(game / "db/meshes.db0/meshes/samples/humanoid.ogf")


def imported(game):
    assert bpy.ops.import_scene.xray_ogf(filepath=model_in(game)) == {"FINISHED"}
    return bpy.context.view_layer.objects.active


def shown(rig):
    nodes = rig.children[0].data.materials[0].node_tree.nodes
    return next(node.image for node in nodes if node.type == "TEX_IMAGE")


def test_an_archive_is_named_as_one_by_every_import(game, tmp_path):
    imported(game)
    packed = written.pbo([(b"walk.rtm", b"x")], properties=[(b"prefix", b"z")])
    (tmp_path / "a.pbo").write_bytes(packed)
    operators = ("xray_ogf", "xray_omf", "xray_object", "xray_anm", "arma_p3d", "arma_rtm", "arma_paa", "descent3_oof")
    for archive in (game / "db/meshes.db0", tmp_path / "a.pbo"):
        for name in operators:
            words = refusal(getattr(bpy.ops.import_scene, name), filepath=str(archive))
            assert words.startswith(f"{archive}: this is an archive of a game. Choose one of its files"), name


def test_missing_textures_do_not_ask_for_a_game_that_is_known(game, tmp_path, samples):
    (game / "db/textures.db0").unlink()
    words = {True: "1 texture is neither beside the file nor in the game", False: "1 texture is missing: add the game"}
    imported(game)
    assert any(line.startswith(words[True]) for line in last_report())
    for folder in (tmp_path / "alone", tmp_path / "listed/meshes"):
        folder.mkdir(parents=True)
        shutil.copy(samples / "humanoid.ogf", folder)
    with installed(tmp_path / "listed"):
        assert bpy.ops.import_scene.xray_ogf(filepath=str(tmp_path / "listed/meshes/humanoid.ogf")) == {"FINISHED"}
        assert any(line.startswith(words[True]) for line in last_report())
    assert bpy.ops.import_scene.xray_ogf(filepath=str(tmp_path / "alone/humanoid.ogf")) == {"FINISHED"}
    assert any(line.startswith(words[False]) for line in last_report())


def files_below(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_a_model_in_an_archive_comes_with_its_texture_and_motions_and_no_file_is_written(game, tmp_path):
    before = files_below(tmp_path)
    temporary = Path(tempfile.gettempdir())
    others = {path for path in temporary.iterdir() if path != tmp_path}
    rig = imported(game)
    assert rig.motionbridge_model.path == model_in(game)
    assert bpy.ops.motionbridge.import_referenced_motions() == {"FINISHED"}
    assert rig.motionbridge_motion_files[0].path == str(game / "db/meshes.db0/meshes/samples/humanoid.omf")
    image = shown(rig)
    assert (tuple(image.size), image.packed_file is not None) == ((4, 4), True)
    assert files_below(tmp_path) == before
    assert {path for path in temporary.iterdir() if path != tmp_path} == others


def test_the_place_in_the_archive_survives_save_reload_and_append(game, tmp_path):
    rig = imported(game)
    bpy.ops.motionbridge.import_referenced_motions()
    name = rig.name
    blend = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    assert tuple(shown(bpy.data.objects[name]).size) == (4, 4)
    assert FileLocation(bpy.path.abspath(bpy.data.objects[name].motionbridge_model.path)).digest() is not None
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(blend)) as (_, into):
        into.objects = [name]
    path = into.objects[0].motionbridge_motion_files[0].path
    assert (
        FileLocation(path).content() == FileLocation(str(game / "db/meshes.db0/MESHES/samples/humanoid.omf")).content()
    )


def test_an_archive_is_never_written(game):
    rig = imported(game)
    bpy.ops.motionbridge.import_referenced_motions()
    before = (game / "db/meshes.db0").read_bytes()
    turn_a_key(rig.animation_data.action)
    assert "is in an archive, which is never written" in refusal(bpy.ops.motionbridge.save_back)
    assert (game / "db/meshes.db0").read_bytes() == before


def test_a_loose_model_finds_what_is_in_the_archives_of_an_installed_game_and_its_mods(game, tmp_path, samples):
    lone = tmp_path / "lone"
    lone.mkdir()
    shutil.copy(samples / "humanoid.ogf", lone)
    mod = tmp_path / "mod/gamedata/meshes/samples/humanoid.omf"
    mod.parent.mkdir(parents=True)
    shutil.copy(samples / "humanoid.omf", mod)
    for mods, path in (((), game / "db/meshes.db0/meshes/samples/humanoid.omf"), ((tmp_path / "mod",), mod)):
        with installed(game, mods=mods):
            bpy.ops.import_scene.xray_ogf(filepath=str(lone / "humanoid.ogf"))
            rig = bpy.context.view_layer.objects.active
            bpy.ops.motionbridge.import_referenced_motions()
        assert rig.motionbridge_motion_files[0].path == str(path)
        assert shown(rig).packed_file is not None


def test_a_mod_that_is_not_in_use_is_not_looked_in(game, tmp_path):
    with installed(game, mods=(tmp_path,)) as rows:
        rows[-1].mods[0].use = False
        from addon.ui.preferences import known_games

        assert known_games(bpy.context, "XRAY")[0].mods == ()


def test_the_kind_of_a_game_is_recognised_and_a_folder_without_one_says_what_was_looked_for(game, tmp_path):
    with installed() as rows:
        assert bpy.ops.motionbridge.add_game(directory=str(game)) == {"FINISHED"}
        assert [(row.name, row.kind) for row in rows] == [("game", "XRAY")]
        (tmp_path / "empty").mkdir()
        assert "fsgame.ltx" in refusal(bpy.ops.motionbridge.add_game, directory=str(tmp_path / "empty"))
        assert bpy.ops.motionbridge.add_game(directory=str(tmp_path / "empty"), mod=True) == {"FINISHED"}
        assert [mod.folder for mod in rows[0].mods] == [str(tmp_path / "empty")]


def test_games_and_mods_are_moved_and_removed(game, tmp_path):
    preferences = bpy.context.preferences.addons["bl_ext.dev.motionbridge"].preferences
    with installed(game, tmp_path, mods=(game, tmp_path)) as rows:
        preferences.active_game = 1
        assert bpy.ops.motionbridge.change_games(action="UP") == {"FINISHED"}
        assert [row.folder for row in rows] == [str(tmp_path), str(game)]
        assert bpy.ops.motionbridge.change_games(action="DOWN", mods=True) == {"FINISHED"}
        assert [mod.folder for mod in rows[0].mods] == [str(tmp_path), str(game)]
        assert "end of the list" in refusal(bpy.ops.motionbridge.change_games, action="UP")
        assert bpy.ops.motionbridge.change_games(action="REMOVE") == {"FINISHED"}
        assert [row.folder for row in rows] == [str(game)]


def test_games_are_found_in_steams_libraries_only_when_asked(game, tmp_path, monkeypatch):
    steam, library = tmp_path / "steam", tmp_path / "library"
    (steam / "steamapps").mkdir(parents=True)
    text = str(library).replace("\\", "\\\\")
    (steam / "steamapps/libraryfolders.vdf").write_text(f'"libraryfolders" {{ "1" {{ "path" "{text}" }} }}')
    (library / "steamapps/common").mkdir(parents=True)
    (library / "steamapps/appmanifest_41700.acf").write_text('"AppState" { "installdir" "Stalker CoP" }')
    shutil.copytree(game, library / "steamapps/common/Stalker CoP")
    (library / "steamapps/appmanifest_107410.acf").write_text('"AppState" { "installdir" "Arma 3" }')
    arma = library / "steamapps/common/Arma 3"
    for name in ("Addons", "@own/addons", "!Workshop/@CBA_A3/addons"):
        (arma / name).mkdir(parents=True)
        (arma / name / "x.pbo").write_bytes(written.pbo([]))
    monkeypatch.setattr(looked_for, "_steam_folders", lambda: [steam])
    monkeypatch.setattr(looked_for, "_of_gog", list)
    with installed() as rows:
        assert bpy.ops.motionbridge.find_games() == {"FINISHED"}
        assert [(row.name, row.kind) for row in rows] == [
            ("S.T.A.L.K.E.R.: Call of Pripyat", "XRAY"),
            ("Arma 3", "ARMA"),
        ]
        assert [Path(mod.folder).name for mod in rows[1].mods] == ["@CBA_A3", "@own"]
        assert "no further game" in refusal(bpy.ops.motionbridge.find_games)
        assert len(rows) == 2
    assert last_report() is not None


def test_tables_of_large_archives_are_kept_in_the_folder_of_the_extension(game):
    names = [(f"meshes\\{number}.ogf".encode(), b"") for number in range(archives.kept.WORTH)]
    (game / "db/many.db0").write_bytes(written.xray(names, header=HEADER, packed_table=False))
    folder = Path(bpy.utils.extension_path_user("bl_ext.dev.motionbridge", path="archives"))
    before = set(folder.glob("*.table"))
    first = archives.opened(game / "db/many.db0")
    assert len(set(folder.glob("*.table")) - before) == 1
    archives._opened.cache_clear()
    again = archives.opened(game / "db/many.db0")
    assert (again is first, again.table.names) == (False, first.table.names)
