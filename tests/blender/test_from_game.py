"""From the Game…: files of an installed game are found while the user types, and imported."""

import shutil

import bpy
import pytest

from addon.ui import from_game, game_details, game_offers
from tests.blender.dialogs import Dialog
from tests.blender.test_installed_games import HEADER, game, shown  # noqa: F401 (a fixture)
from tests.blender.test_linked_textures import ARMA, DESCENT3, textured  # noqa: F401 (a fixture)
from tests.blender.test_ui import installed, last_report, refusal
from tests.formats.archives import written

MODEL = "meshes\\samples\\humanoid.ogf"
MOTIONS = "meshes\\samples\\humanoid.omf"


class Rows(list):
    """A collection property of rows."""

    def add(self):
        self.append(
            type(
                "Row",
                (),
                {"name": "", "path": "", "source": "", "is_recent": False, "is_unusable": False, "ticked": False},
            )()
        )
        return self[-1]


@pytest.fixture
def dialog():
    game_offers.forget()
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


def test_an_archive_that_cannot_be_read_is_named_in_the_dialog(game, dialog):  # noqa: F811
    archive = game / "db/more.db0"
    archive.write_bytes((game / "db/meshes.db0").read_bytes()[:-40])
    with installed(game):
        assert typed(dialog) == [MODEL]
        assert "an archive is left out" in dialog.problem
        assert "more.db0" in dialog.problem


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
        opened = game_offers.opened(from_game._source_of(dialog, bpy.context))
        assert dialog.chosen_paths(opened, game_offers.OFFERS[0]) == {
            "meshes\\actors\\hero_399.ogf": folder / "hero_399.ogf"
        }


def test_the_list_is_narrowed_to_a_folder_and_to_where_files_come_from(game, dialog, tmp_path, samples):  # noqa: F811
    mod = tmp_path / "mod/gamedata/meshes/actors/hero.ogf"
    loose = game / "gamedata/meshes/actors/rat.ogf"
    for path in (mod, loose):
        path.parent.mkdir(parents=True)
        shutil.copy(samples / "humanoid.ogf", path)
    with installed(game, mods=(tmp_path / "mod",)) as rows:
        rows[0].recent = MODEL
        names = typed(dialog)
        assert names == [MODEL, "meshes\\actors\\hero.ogf", "meshes\\actors\\rat.ogf"]
        by_origin = {}
        for origin in ("ARCHIVE", "MOD", "LOOSE"):
            dialog.origin = origin
            by_origin[origin] = typed(dialog)
        assert by_origin == {"ARCHIVE": [MODEL], "MOD": [names[1]], "LOOSE": [names[2]]}
        dialog.origin = "ALL"
        folders = from_game._folders(dialog, bpy.context, "")
        assert folders == ["meshes", "meshes\\actors", "meshes\\samples"]
        assert from_game._folders(dialog, bpy.context, "s/act") == ["meshes\\actors"]
        dialog.below = "meshes\\actors"
        assert typed(dialog) == names[1:]
        assert typed(dialog, "rat") == names[2:]
        dialog.kind = "MOTIONS"
        from_game._kind_changed(dialog, bpy.context)
        assert dialog.below == ""
        assert "no game is known" not in dialog.problem
    assert from_game._folders(dialog, bpy.context, "") == []


def test_a_level_in_an_archive_is_imported_whole(game, samples):  # noqa: F811
    files = [(f"levels\\yard\\{path.name}".encode(), path.read_bytes()) for path in (samples / "level").iterdir()]
    (game / "db/levels.db0").write_bytes(written.xray(files, header=HEADER))
    with installed(game):
        assert bpy.ops.motionbridge.from_game(kind="LEVELS", names="levels/yard") == {"FINISHED"}
    level = next(obj for obj in bpy.data.objects if obj.motionbridge_level.kind == "LEVEL")
    assert level.motionbridge_level.path == str(game / "db/levels.db0/levels/yard/level")
    kinds = {obj.motionbridge_level.kind for obj in bpy.data.objects}
    assert {"SURFACE", "CFORM", "HOM", "SOM", "DETAILS", "AI"} <= kinds


def test_textures_are_loaded_as_images(game):  # noqa: F811
    with installed(game):
        assert bpy.ops.motionbridge.from_game(kind="TEXTURES", names="textures/samples/humanoid.png") == {"FINISHED"}
    assert [tuple(image.size) for image in bpy.data.images if image.packed_file is not None] == [(4, 4)]


def test_a_section_makes_a_first_person_scene(tmp_path, samples, dialog):
    folder = tmp_path / "game/gamedata"
    for name, parts in (("configs", ["configs"]), ("meshes/samples", ["."])):
        for part in parts:
            shutil.copytree(samples / part, folder / name, dirs_exist_ok=True)
    with installed(folder.parent):
        names = typed(dialog, kind="HANDS")
        assert names
        assert bpy.ops.motionbridge.from_game(kind="HANDS", names=names[0]) == {"FINISHED"}
    assert bpy.context.scene.camera is not None


def test_models_that_are_made_for_the_game_are_grey_and_refused(tmp_path, samples, dialog):
    model, odol = (samples / "arma/man.p3d").read_bytes(), b"ODOL" + bytes(200)
    archive = tmp_path / "arma/addons/men.pbo"
    archive.parent.mkdir(parents=True)
    rows = [(b"man.p3d", model), (b"soldier.p3d", odol), (b"walk.rtm", (samples / "arma/walk.rtm").read_bytes())]
    archive.write_bytes(written.pbo(rows, properties=[(b"prefix", b"a3\\men")]))
    with installed(tmp_path / "arma"):
        assert typed(dialog) == ["a3\\men\\man.p3d", "a3\\men\\soldier.p3d"]
        assert [row.is_unusable for row in dialog.listed] == [False, True]
        assert "made for the game" in refusal(bpy.ops.motionbridge.from_game, names="a3/men/soldier.p3d")
        assert bpy.ops.motionbridge.from_game(names="a3/men/man.p3d") == {"FINISHED"}
        assert bpy.ops.motionbridge.from_game(kind="MOTIONS", names="a3/men/walk.rtm") == {"FINISHED"}


def test_what_an_archive_has_is_shown_where_it_is_dropped(game, dialog):  # noqa: F811
    dialog.folder = str(game / "db/meshes.db0")
    assert typed(dialog) == [MODEL]
    assert bpy.ops.motionbridge.from_game(folder=dialog.folder, names=MODEL) == {"FINISHED"}
    assert shown(bpy.context.view_layer.objects.active).packed_file is not None
    suffixes = from_game.IO_FH_motionbridge_archive.bl_file_extensions
    assert len(suffixes) < 512
    assert {".db0", ".xdb1", ".pbo", ".xrp"} <= set(suffixes.split(";"))


def test_files_are_copied_into_the_mod_as_they_are_and_the_game_takes_them_from_there(game, tmp_path, samples):  # noqa: F811
    mod = tmp_path / "mod"
    mod.mkdir()
    with installed(game):
        assert "has a mod" in refusal(bpy.ops.motionbridge.copy_into_mod, names=MODEL)
    with installed(game, mods=(mod,)):
        assert bpy.ops.motionbridge.copy_into_mod(names=MODEL) == {"FINISHED"}
        copy = mod / "gamedata/meshes/samples/humanoid.ogf"
        assert copy.read_bytes() == (samples / "humanoid.ogf").read_bytes()
        assert bpy.ops.motionbridge.from_game(names=MODEL) == {"FINISHED"}
        rig = bpy.context.view_layer.objects.active
        assert rig.motionbridge_model.path == str(copy)
        assert rig.motionbridge_motion_files[0].path == str(game / "db/meshes.db0" / MOTIONS.replace("\\", "/"))
        assert bpy.ops.motionbridge.copy_into_mod(names=MODEL) == {"CANCELLED"}
        assert last_report() == ["Nothing to copy: mod has these files already"]
        assert copy.read_bytes() == (samples / "humanoid.ogf").read_bytes()
        copy.write_bytes(b"edited")
        files = "meshes/samples/weapon.ogf"
        (game / "gamedata/meshes/samples").mkdir(parents=True)
        (game / "gamedata" / files).write_bytes((samples / "weapon.ogf").read_bytes())
        assert bpy.ops.motionbridge.copy_into_mod(names=f"{MODEL};{files}") == {"FINISHED"}
        own = f"the file of the mod differs from that of the game, and stays ({copy})"
        assert last_report() == ["Copied into mod, files: 1; there already: 1", own]
        assert copy.read_bytes() == b"edited"


def test_the_dialog_says_what_is_missing(game, tmp_path):  # noqa: F811
    assert "no game is known" in refusal(bpy.ops.motionbridge.from_game, names=MODEL)
    with installed(game):
        words = refusal(bpy.ops.motionbridge.from_game, names="meshes/x.ogf")
        assert words.startswith("the game has no file 'meshes")
        assert "no file is chosen" in refusal(bpy.ops.motionbridge.from_game)
    (tmp_path / "none").mkdir()
    assert "no game" in refusal(bpy.ops.motionbridge.from_game, folder=str(tmp_path / "none"))


def test_the_dialog_says_what_textures_add_and_how_many_bones_fit(game, samples, tmp_path):  # noqa: F811
    size = (tmp_path / "picture.png").stat().st_size
    (game / "gamedata/rawdata").mkdir(parents=True)
    shutil.copy(samples / "weapon.object", game / "gamedata/rawdata")
    with installed(game):
        opened = game_offers.opened(from_game._source_of(Dialog(from_game.MOTIONBRIDGE_OT_from_game), bpy.context))
        models, motions, *_ = (offer for offer in game_offers.OFFERS if offer.game == "XRAY")
        chosen = {MODEL: opened.path(models, MODEL)}
        wanted = f"Textures: 1, which add about {size / game_details.MEGABYTE:.1f} MB to the .blend"
        assert game_details.textures(opened, models, chosen) == wanted
        texture = str(game / "db/textures.db0/textures/samples/humanoid.png")
        assert opened.details == {("MODELS", MODEL): {texture: size}}
        editor = "rawdata\\weapon.object"
        assert opened.path(models, editor) is not None
        assert game_details.textures(opened, models, {editor: opened.path(models, editor)}) == ""
        assert game_details.textures(opened, motions, {}) == ""
        bpy.ops.motionbridge.from_game(names=MODEL, with_motions=False)
        assert game_details.textures(opened, models, chosen) == ""
        rig = bpy.context.view_layer.objects.active
        count = len(rig.data.bones)
        lines = game_details.bones(opened, rig, {MOTIONS: opened.path(motions, MOTIONS)})
        assert lines == [f"humanoid.omf: {count} of {count} bones are in this armature"]
        (game / "db/broken.db0").write_bytes(
            written.xray([(b"meshes\\x.omf", b"x"), (b"meshes\\x.ogf", b"x")], header=HEADER)
        )
        broken = game / "db/broken.db0/meshes/x"
        assert game_details.textures(opened, models, {"x": broken.with_suffix(".ogf")}) == ""
        assert game_details.bones(opened, rig, {"x": broken.with_suffix(".omf")}) == []


@pytest.mark.parametrize("textured", [ARMA, DESCENT3], indirect=True)
@pytest.mark.parametrize("kind", ["MODELS", "TEXTURES"])
def test_the_dialog_knows_the_size_of_textures_that_blender_cannot_read(kind, textured):  # noqa: F811
    with installed(textured.folder):
        opened = game_offers.opened(from_game._source_of(Dialog(from_game.MOTIONBRIDGE_OT_from_game), bpy.context))
        offer = game_offers.offer_of(textured.kind, kind)
        (name,) = opened.search(offer, "")[0]
        chosen = {name: opened.path(offer, name)}
        assert game_details.textures(opened, offer, chosen) == "Textures: 1, which add about 0.0 MB to the .blend"
        (sizes,) = opened.details.values()
        image = textured.imported()
        assert sizes == {textured.texture: len(image.packed_file.data)}
        assert game_details.textures(opened, offer, chosen) == ""


def test_bones_of_an_animation_of_arma_are_counted(tmp_path, samples):
    archive = tmp_path / "arma/addons/men.pbo"
    archive.parent.mkdir(parents=True)
    rows = [(name.encode(), (samples / "arma" / name).read_bytes()) for name in ("man.p3d", "walk.rtm")]
    archive.write_bytes(written.pbo(rows, properties=[(b"prefix", b"men")]))
    with installed(tmp_path / "arma"):
        opened = game_offers.opened(from_game._source_of(Dialog(from_game.MOTIONBRIDGE_OT_from_game), bpy.context))
        offer = game_offers.offer_of("ARMA", "MOTIONS")
        rig = bpy.data.objects.new("rig", bpy.data.armatures.new("rig"))
        (line,) = game_details.bones(opened, rig, {"men\\walk.rtm": opened.path(offer, "men\\walk.rtm")})
        assert line.startswith("walk.rtm: 0 of ")


def test_an_archive_that_was_replaced_is_read_again(game, dialog, samples):  # noqa: F811
    with installed(game):
        assert typed(dialog) == [MODEL]
        other = "meshes\\samples\\other.ogf"
        rows = [(other.encode(), (samples / "weapon.ogf").read_bytes())]
        (game / "db/meshes.db0").write_bytes(written.xray(rows, header=HEADER))
        assert "the game has no file" in refusal(bpy.ops.motionbridge.from_game, names=MODEL)
        assert typed(dialog) == [other]
        assert bpy.ops.motionbridge.from_game(names=other) == {"FINISHED"}
        (game / "db/meshes.db0").unlink()
        assert typed(dialog) == []


def test_what_blender_cannot_show_is_refused_everywhere_with_one_sentence(game, tmp_path):  # noqa: F811
    (tmp_path / "x.dds").write_bytes(b"x")
    (game / "gamedata/textures").mkdir(parents=True)
    shutil.copy(tmp_path / "x.dds", game / "gamedata/textures")
    used = bpy.data.materials.new("used").name
    with installed(game):
        first = refusal(bpy.ops.motionbridge.from_game, kind="TEXTURES", names="textures/x.dds")
    second = refusal(bpy.ops.motionbridge.choose_texture, filepath=str(tmp_path / "x.dds"), material=used)
    assert "Blender cannot show this texture" in first
    assert first.rpartition(": ")[2] == second.rpartition(": ")[2]
