"""From the Game…: from a game's folder to a motion that plays, with nothing unpacked; a mod's first file; a drop."""

from pathlib import Path
from typing import Any

import bpy

from addon.formats import trees
from addon.ui import operation
from addon.ui.preferences import preferences
from scripts.samples import game
from tests.window import exports, identity, long_work, stage
from tests.window.stage import Steps

NAMES = ("humanoid.ogf", "humanoid.omf", "weapon.ogf", "weapon.omf")


def installed() -> Path:
    """A game whose model and motions are in an archive."""
    folder = stage.folder() / "game"
    (folder / "db").mkdir(parents=True)
    (folder / "fsgame.ltx").write_bytes(game.FSGAME)
    files = {f"meshes\\samples\\{name}": (stage.SAMPLES / name).read_bytes() for name in NAMES}
    (folder / "db/meshes.db0").write_bytes(game.xray_archive(files))
    preferences(bpy.context).known_games.clear()
    return folder


def files_below(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def typed(text: str) -> Steps:
    """Letters of the keyboard, for the field that is being edited."""
    for letter in text:
        stage.window().event_simulate(type=letter.upper(), value="PRESS", unicode=letter, x=400, y=300)
        stage.window().event_simulate(type=letter.upper(), value="RELEASE", x=400, y=300)
        yield
    yield


def rig() -> Any:
    return bpy.context.view_layer.objects.active


def a_game_is_named_and_a_model_plays() -> Steps:
    """Nine clicks and a word from an empty scene: the folder is named, the model found, its motion plays."""
    folder, hand = installed(), stage.Hand(15)
    before = files_below(folder)
    hand.click("tab Motionbridge", "Choose the Game's Folder…", "the folder", "Add Game")
    yield from stage.choose("motionbridge.add_game", folder)
    assert [row.kind for row in preferences(bpy.context).known_games] == ["XRAY"], stage.reports()
    stage.forget_reports()
    hand.click("From the Game…", "the word weapon", "Import", "play")
    stage.invoke("motionbridge.from_game")
    yield
    yield
    yield from typed("weapon")
    stage.press("RET")
    yield
    yield from stage.confirm()
    yield from stage.until(lambda: len(bpy.data.armatures) == 1, "the model", 60)
    yield from stage.reported()
    assert rig().motionbridge_model.path == str(folder / "db/meshes.db0/meshes/samples/weapon.ogf")
    assert rig().animation_data.action is not None, stage.sentence()
    start = bpy.context.scene.frame_current
    stage.call("screen.animation_play")
    yield from stage.until(lambda: bpy.context.scene.frame_current != start, "the motion to play")
    stage.call("screen.animation_cancel", restore_frame=False)
    yield from stage.undo()
    yield from stage.until(lambda: not bpy.data.armatures, "undo to remove the model")
    assert files_below(folder) == before, "something was unpacked"
    preferences(bpy.context).known_games.clear()
    hand.rests()


def reading_is_stopped() -> Steps:
    """A game whose archives take long to read: the status bar says how far it is, Esc ends it and no dialog comes."""
    preferences(bpy.context).known_games.add().folder = str(installed())
    progress: list[float] = []
    actual = operation.LongWork._show

    def watched(self: Any, context: Any, work: Any) -> None:
        progress.append(work.fraction)
        actual(self, context, work)

    operation.LongWork._show = watched  # type: ignore[method-assign]
    try:
        stage.invoke("motionbridge.from_game")
        yield from stage.until(lambda: progress and long_work.running(), "a step")
        stage.press("ESC")
        yield from stage.until(lambda: not long_work.running(), "the reading to stop")
    finally:
        operation.LongWork._show = actual  # type: ignore[method-assign]
    assert stage.sentence() == "Stopped: no changes were made", stage.sentence()
    stage.forget_reports()
    stage.invoke("motionbridge.from_game")
    yield from stage.until(lambda: not long_work.running(), "the reading to end")
    yield
    stage.press("RET")  # the search field is being edited
    yield
    yield from stage.confirm()
    yield from stage.until(lambda: len(bpy.data.armatures) == 1, "the model", 60)
    yield from stage.reported()
    preferences(bpy.context).known_games.clear()


def a_mod_begins() -> Steps:
    """A file is copied into the game's mod, its motion edited and saved back: the game then takes the mod's file."""
    folder = installed()
    mod = stage.folder() / "mod"
    mod.mkdir()
    row = preferences(bpy.context).known_games.add()
    row.folder = str(folder)
    row.mods.add().folder = str(mod)
    archive = (folder / "db/meshes.db0").read_bytes()
    stage.call("motionbridge.from_game", names="meshes/samples/humanoid.ogf", with_motions=False)
    stage.invoke("motionbridge.copy_into_mod", kind="MOTIONS", names="meshes/samples/humanoid.omf")
    copy = mod / "gamedata/meshes/samples/humanoid.omf"
    before = copy.read_bytes()
    assert before == (stage.SAMPLES / "humanoid.omf").read_bytes(), stage.sentence()
    stage.call("motionbridge.from_game", kind="MOTIONS", names="meshes/samples/humanoid.omf")
    assert rig().motionbridge_motion_files[0].path == str(copy), stage.sentence()
    identity.settle("Import")
    exports.key_bone()
    identity.settle("Edit")
    yield from identity.save_back()
    assert copy.read_bytes() != before, stage.sentence()
    tree = trees.tree_at(trees.InstalledGame(folder, (mod,)))
    assert tree.find("meshes\\samples\\humanoid.omf") == copy
    assert (folder / "db/meshes.db0").read_bytes() == archive
    preferences(bpy.context).known_games.clear()


def a_dropped_archive_shows_what_it_has() -> Steps:
    """What is dropped opens the dialog, whose first row Import brings."""
    archive = installed() / "db/meshes.db0"
    yield from stage.drop(archive)
    yield
    stage.press("RET")  # the search field is being edited
    yield
    yield from stage.confirm()
    yield from stage.until(lambda: len(bpy.data.armatures) == 1, "the model", 60)
    yield from stage.reported()
    assert rig().motionbridge_model.path == str(archive / "meshes/samples/humanoid.ogf")


SCENES = [
    ("a game is read in steps, and Esc ends that", long_work.in_small_steps(reading_is_stopped)),
    ("a game is named, and a model out of its archive plays", a_game_is_named_and_a_model_plays),
    ("a file of the game is copied into a mod, edited and saved back", a_mod_begins),
    ("an archive is dropped and shows what it has", a_dropped_archive_shows_what_it_has),
]
