"""From the Game…: from a game's folder to a motion that plays, with nothing unpacked; a mod's first file; a drop."""

from functools import partial
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


def imported_first(word: str) -> Steps:
    """In the open dialog: a word for the search, Return, and Import brings the first row."""
    stage.forget_reports()
    yield
    yield
    yield from typed(word)
    stage.press("RET")
    yield
    yield from stage.confirm()
    yield from stage.reported()


def an_archive_is_replaced() -> Steps:
    """While the dialog is open, an archive is replaced: what is imported is in the new one, or it is said that the game
    has no such file; the next dialog lists what is there.
    """
    folder = installed()
    archive, other = folder / "db/meshes.db0", "meshes\\samples\\weapon_other.ogf"
    preferences(bpy.context).known_games.add().folder = str(folder)
    stage.invoke("motionbridge.from_game")
    yield
    weapon = (stage.SAMPLES / "weapon.ogf").read_bytes()
    archive.write_bytes(game.xray_archive({"readme.txt": bytes(99), other: weapon}))
    yield from imported_first("weapon")
    assert rig().motionbridge_model.path == str(archive / other.replace("\\", "/")), stage.reports()
    stage.invoke("motionbridge.from_game")
    stage.forget_reports()
    yield
    stage.press("RET")
    yield
    archive.write_bytes(game.xray_archive({"readme.txt": b"x"}))
    yield from stage.confirm()
    yield from stage.until(stage.reports, "a refusal")
    assert any("the game has no file" in line for line in stage.reports()), stage.reports()
    assert not any("Traceback" in line for line in stage.reports()), stage.reports()
    yield from stage.key("ESC")
    stage.invoke("motionbridge.from_game")
    yield from imported_first("")
    assert "no file is chosen" in stage.sentence(), stage.sentence()
    assert len(bpy.data.armatures) == 1
    preferences(bpy.context).known_games.clear()


def two_mods_over_a_game() -> Steps:
    """Ticks and order of mods change which file wins, and From the Game imports the winner."""
    folder = installed()
    row = preferences(bpy.context).known_games.add()
    row.folder = str(folder)
    name = "meshes/samples/humanoid.ogf"
    for mod in ("first", "second"):
        path = stage.folder() / mod / "gamedata" / name
        path.parent.mkdir(parents=True)
        path.write_bytes((stage.SAMPLES / "humanoid.ogf").read_bytes())
        row.mods.add().folder = str(stage.folder() / mod)
    row.active_mod = 0
    # What is done -> who wins.
    for change, winner in (
        ("", "second/gamedata"),
        ("DOWN", "first/gamedata"),
        ("OFF", "second/gamedata"),
        ("OFF", "game/db/meshes.db0"),
    ):
        if change == "OFF":
            next(mod for mod in reversed(row.mods) if mod.use).use = False
        elif change:
            stage.call("motionbridge.change_games", action=change, mods=True)
        stage.invoke("motionbridge.from_game")
        yield from imported_first("humanoid")
        assert rig().motionbridge_model.path == str(stage.folder() / winner / name), (change, stage.sentence())
    preferences(bpy.context).known_games.clear()


def a_folder_without_a_game() -> Steps:
    """An empty folder, named as a game, is refused with what was looked for, and none is in the list."""
    preferences(bpy.context).known_games.clear()
    folder = stage.folder() / "empty"
    folder.mkdir()
    yield from stage.choose("motionbridge.add_game", folder)
    yield from stage.until(stage.reports, "a refusal")
    assert any("this folder has no game" in line and "fsgame.ltx" in line for line in stage.reports()), stage.reports()
    assert not len(preferences(bpy.context).known_games)
    yield from stage.key("ESC")


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


def an_addon_is_dropped() -> Steps:
    """A model and an animation of an addon of Arma are imported, each by Import of the dialog's first row."""
    addon = stage.folder() / "main.pbo"
    files = {name: (stage.SAMPLES / "arma" / name).read_bytes() for name in ("man.p3d", "walk.rtm", "model.cfg")}
    addon.write_bytes(game.pbo(files, "x\\man"))
    yield from stage.drop(addon)
    yield from imported_first("")
    meshes = [obj for obj in bpy.data.objects if obj.type == "MESH"]
    assert {obj.motionbridge_arma_level.path for obj in meshes} == {str(addon / "man.p3d")}, stage.sentence()
    stage.invoke("motionbridge.from_game", folder=str(addon), kind="MOTIONS")
    yield from imported_first("walk")
    assert [action.motionbridge_animation.path for action in bpy.data.actions] == [str(addon / "walk.rtm")]


def a_game_of(kind: str) -> Path:
    """A game whose archive has a model with a texture."""
    folder = stage.folder() / "game"
    if kind == "XRAY":
        folder = installed()
        large = bpy.data.images.new("large", 8, 8)
        large.filepath_raw, large.file_format = str(stage.folder() / "humanoid.png"), "PNG"
        large.save()
        bpy.data.images.remove(large)
        texture = (stage.folder() / "humanoid.png").read_bytes()
        (folder / "db/textures.db0").write_bytes(game.xray_archive({"textures\\samples\\humanoid.png": texture}))
    elif kind == "ARMA":
        (folder / "addons").mkdir(parents=True)
        names = {"man.p3d": "man.p3d", "cloth_co.paa": "bricks_co.paa"}
        files = {name: (stage.SAMPLES / "arma" / own).read_bytes() for name, own in names.items()}
        (folder / "addons/samples.pbo").write_bytes(game.pbo(files, "samples"))
    else:
        folder.mkdir()
        (folder / "ship.hog").write_bytes((stage.SAMPLES / "descent3/ship.hog").read_bytes())
    return folder


def textures_stay_in_the_game(kind: str, word: str) -> Steps:
    """With Pack Textures off a .blend that is saved and opened shows the game's texture, after an undo too."""
    blend = stage.folder() / "scene.blend"
    chosen = preferences(bpy.context)
    chosen.known_games.clear()
    chosen.known_games.add().folder = str(a_game_of(kind))
    chosen.pack_textures = False
    stage.invoke("motionbridge.from_game")
    yield from imported_first(word)
    image = next(image for image in bpy.data.images if image.get("motionbridge_linked"))
    name, size, texture = image.name, tuple(image.size), bytes(image.packed_file.data)
    bpy.ops.wm.save_as_mainfile(filepath=str(blend), compress=False)
    assert texture not in blend.read_bytes()
    bpy.ops.wm.open_mainfile(filepath=str(blend), load_ui=False)
    yield from stage.until(lambda: bpy.data.images[name].packed_file is not None, "the texture of the game")
    assert tuple(bpy.data.images[name].size) == size
    with bpy.context.temp_override(window=stage.window()):
        bpy.data.images.new("other", 4, 4)
        bpy.ops.ed.undo_push(message="an edit")
        bpy.ops.ed.undo()
    assert "other" not in bpy.data.images
    yield from stage.until(lambda: bpy.data.images[name].packed_file is not None, "the texture after an undo")
    assert tuple(bpy.data.images[name].size) == size
    chosen = preferences(bpy.context)
    chosen.pack_textures = True
    chosen.known_games.clear()


SCENES = [
    ("a game is read in steps, and Esc ends that", long_work.in_small_steps(reading_is_stopped)),
    ("a game is named, and a model out of its archive plays", a_game_is_named_and_a_model_plays),
    ("a file of the game is copied into a mod, edited and saved back", a_mod_begins),
    ("a game's archive is replaced while its files are listed", an_archive_is_replaced),
    ("two mods lie over a game: ticks and order decide", two_mods_over_a_game),
    ("a folder without a game is refused", a_folder_without_a_game),
    ("an archive is dropped and shows what it has", a_dropped_archive_shows_what_it_has),
    ("an addon of Arma is dropped: its model and its animation", an_addon_is_dropped),
    *(
        (
            f"textures that the .blend does not store are those of the game ({kind})",
            partial(textures_stay_in_the_game, kind, word),
        )
        for kind, word in (("XRAY", "humanoid"), ("ARMA", "man"), ("DESCENT3", "ship"))
    ),
]
