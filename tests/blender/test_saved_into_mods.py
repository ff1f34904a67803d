"""Save Back of every kind of file from a game's archive: into a mod, where the game takes it, and is its file then."""

import os
import sys
from types import SimpleNamespace

import bpy
import pytest

from addon.core.files import FileLocation
from addon.core.game import InstalledGame
from addon.formats import trees
from addon.formats.descent3 import hog2
from addon.games.xray.hud.state import item_of
from addon.games.xray.options import HudSceneOptions
from tests.blender.saved_formats import FORMATS, sample_of
from tests.blender.test_hud_habits import edit, hands_of, play, save_back
from tests.blender.test_hud_scene import build, gamedata  # noqa: F401
from tests.blender.test_installed_games import FSGAME, HEADER
from tests.blender.test_ui import installed, last_report, refusal
from tests.formats.archives import written

FOLDERS = {"anm": "anims", "rtm": "x\\addons\\main", "p3d": "x\\addons\\main", "oof": ""}
"""Kind of file -> the folder in which its game has the file; levels have one of their own."""
LEVELS = ("hom", "som", "cform", "dm", "details", "level", "geom")
_opened: list[str] = []
_watches: list[bool] = []


def _note_writing(event, arguments):
    if event == "open" and _watches:
        path, mode, flags = arguments
        if (mode and set(mode) & set("wax+")) or (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)):
            _opened.append(str(path))


sys.addaudithook(_note_writing)  # cannot be removed: it notes only what is watched


@pytest.fixture
def written_files():
    """Call something and return the files that Python opened for writing meanwhile, deleted ones too."""

    def watched(call, *arguments):
        _opened.clear()
        _watches.append(True)
        try:
            call(*arguments)
        finally:
            _watches.clear()
        return [path for path in _opened if not path.startswith(("/dev/", "/proc/"))]

    return watched


def installed_game(name, folder):
    """A game that has a sample, and what belongs to it, in an archive: its folder, the archive, the file in it."""
    sample = sample_of(name, folder / "sample")
    inner = FOLDERS.get(name, "levels\\sample" if name in LEVELS else "meshes\\samples")
    files = {file.name: file.read_bytes() for file in sorted(sample.parent.iterdir()) if file.is_file()}
    game = folder / "game"
    if name == "oof":
        archive, data = game / "d3.hog", hog2.write(hog2.new_hog2(files))
    elif name in FOLDERS and inner.startswith("x"):
        prefix = [(b"prefix", inner.encode())]
        archive = game / "addons/main.pbo"
        data = written.pbo([(key.encode(), content) for key, content in files.items()], properties=prefix)
    else:
        archive = game / "db/all.db0"
        rows = [(f"{inner}\\{key}".encode(), content) for key, content in files.items()]
        data = written.xray(rows, header=HEADER)
    archive.parent.mkdir(parents=True)
    archive.write_bytes(data)
    if archive.suffix == ".db0":
        (game / "fsgame.ltx").write_text(FSGAME)
    parts = inner.split("\\") if archive.suffix == ".db0" else []
    key = "\\".join(filter(None, [inner, sample.name]))
    return SimpleNamespace(folder=game, archive=archive, path=archive.joinpath(*parts, sample.name), key=key)


def operator(form):
    group, name = form.save.bl_idname.split(".")
    return getattr(getattr(bpy.ops, group), name)


def make_active(name):
    bpy.context.view_layer.objects.active = bpy.data.objects[name]


def saved_again_after_undo(save, mod):
    """Undo the first save into a mod, and save into that again: over what was saved, or what others made of it."""
    paths = [path for path in mod.rglob("*") if path.is_file()]
    first = [path.read_bytes() for path in paths]
    for others in (b"", b"\0")[: 1 if len(paths) > 1 else 2]:  # surfaces are written only onto what is known
        paths[0].write_bytes(first[0] + others)
        bpy.ops.ed.undo_push(message="saved")
        bpy.ops.ed.undo()
        if others:
            assert "no longer the one that was imported" in refusal(save)
        assert save(backup=False, if_changed="IMPORTED" if others else "REFUSE") == {"FINISHED"}
        assert [path.read_bytes() for path in paths] == first


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_of_an_archive_is_saved_into_a_mod_and_is_its_file_from_then_on(name, tmp_path, written_files):
    form, game, mod = FORMATS[name], installed_game(name, tmp_path), tmp_path / "my mod"
    save, packed, blend = operator(form), game.archive.read_bytes(), str(tmp_path / "scene.blend")
    with installed(game.folder):
        assert written_files(form.load, game.path) == []
        form.edit()
        assert "Choose the folder of a mod" in refusal(save)
        bpy.ops.ed.undo_push(message="edited")
        assert save(mod_folder=str(mod)) == {"FINISHED"}
        assert any("does not exist and is created" in line for line in last_report())
        saved_again_after_undo(save, mod)
        tree = trees.tree_at(InstalledGame(game.folder, (mod,)))
        taken, *others = tree.where(game.key)
        assert taken.is_relative_to(mod)
        assert others == [game.path]
        assert game.archive.read_bytes() == packed
        first = taken.read_bytes()
        assert first != FileLocation(str(game.path)).content()
        active = bpy.context.view_layer.objects.active.name
        bpy.ops.wm.save_as_mainfile(filepath=blend)
        bpy.ops.wm.open_mainfile(filepath=blend)
        make_active(active)
        form.edit()
        assert save() == {"FINISHED"}  # nothing is asked again
        second = taken.read_bytes()
        assert second != first
        taken.write_bytes(first + b"\0")
        form.edit()
        if name == "geom":  # written beside the level, and only if it is the known one
            assert save() == {"FINISHED"}
            assert any("level.geom is not the imported one" in line for line in last_report())
            assert taken.read_bytes() == first + b"\0"
        else:
            assert "no longer the one that was imported" in refusal(save)
        taken.write_bytes(second)
        bpy.ops.wm.save_as_mainfile(filepath=blend)
        bpy.ops.wm.read_homefile(use_empty=True)
        with bpy.data.libraries.load(blend) as (source, into):
            into.collections, into.objects = source.collections, source.objects
        for obj in into.objects:
            if not obj.users_collection:
                bpy.context.collection.objects.link(obj)
        for collection in into.collections:
            if collection.name not in bpy.context.scene.collection.children:
                bpy.context.scene.collection.children.link(collection)
        make_active(active)
        form.edit()
        assert save() == {"FINISHED"}
        assert taken.read_bytes() not in (first, second)
    assert game.archive.read_bytes() == packed


def test_a_level_of_which_only_its_file_is_in_the_mod_keeps_the_surfaces_of_the_archive(tmp_path):
    form, game, mod = FORMATS["level"], installed_game("level", tmp_path), tmp_path / "mod"
    folder, packed, blend = mod / "gamedata/levels/sample", game.archive.read_bytes(), str(tmp_path / "scene.blend")
    with installed(game.folder):
        form.load(game.path)
        form.edit()
        assert operator(form)(mod_folder=str(mod)) == {"FINISHED"}
        assert [path.name for path in folder.iterdir()] == ["level"]
        bpy.ops.wm.save_as_mainfile(filepath=blend)
        bpy.ops.wm.open_mainfile(filepath=blend)
        surface = next(obj for obj in bpy.data.objects if obj.motionbridge_level.kind == "SURFACE")
        make_active(surface.name)
        FORMATS["geom"].edit()
        assert operator(form)() == {"FINISHED"}
        assert not any("level.geom is" in line for line in last_report())
        assert {path.name for path in folder.iterdir()} == {"level", "level.bak", "level.geom", "level.geomx"}
        assert game.archive.read_bytes() == packed
        for name in ("level.geom", "level.geomx"):
            (folder / name).unlink()
        bpy.ops.wm.read_homefile(use_empty=True)
        form.load(folder / "level")
        assert any("level.geom is not beside it; that of the game is used" in line for line in last_report())
        kinds = [obj.motionbridge_level for obj in bpy.data.objects if obj.motionbridge_level.kind == "SURFACE"]
        assert kinds
        assert all(level.row >= 0 for level in kinds)


def test_a_first_person_scene_of_an_archive_is_saved_into_a_mod(tmp_path, gamedata):  # noqa: F811
    game, mod, blend = tmp_path / "game", tmp_path / "mod", str(tmp_path / "scene.blend")
    (game / "db").mkdir(parents=True)
    (game / "fsgame.ltx").write_text(FSGAME)
    names = [file.relative_to(gamedata) for file in sorted(gamedata.rglob("*")) if file.is_file()]
    rows = [(str(name).replace(os.sep, "\\").encode(), (gamedata / name).read_bytes()) for name in names]
    (game / "db/all.db0").write_bytes(written.xray(rows, header=HEADER))
    packed = (game / "db/all.db0").read_bytes()
    with installed(game):
        created, _ = build(HudSceneOptions(section="wpn_sample", folders=(game,), games=(InstalledGame(game),)))
        play(created.hands, "anm_reload")
        edit(created.hands, "hand_r")
        item_of(created.hands).location.x += 0.01
        bpy.context.view_layer.objects.active = created.hands
        assert "Choose the folder of a mod" in refusal(bpy.ops.motionbridge.hud_save_back)
        bpy.ops.ed.undo_push(message="edited")
        assert save_back(created.hands, mod_folder=str(mod)) == {"FINISHED"}
        saved_again_after_undo(bpy.ops.motionbridge.hud_save_back, mod)
        tree = trees.tree_at(InstalledGame(game, (mod,)))
        taken = [tree.where(name)[0] for name in ("configs\\w_sample.ltx", "meshes\\samples\\humanoid.omf")]
        assert all(path.is_relative_to(mod) for path in taken)
        assert sum(file.is_file() for file in mod.rglob("*")) == len(taken)
        first = [path.read_bytes() for path in taken]
        bpy.ops.wm.save_as_mainfile(filepath=blend)
        bpy.ops.wm.open_mainfile(filepath=blend)
        hands = hands_of("wpn_sample_hud")
        assert save_back(hands) == {"CANCELLED"}  # the files of the mod are those of the scene
        item_of(hands).location.x += 0.01
        assert save_back(hands) == {"FINISHED"}  # nothing is asked again
        assert [path.read_bytes() == data for path, data in zip(taken, first, strict=True)] == [False, True]
    assert (game / "db/all.db0").read_bytes() == packed
