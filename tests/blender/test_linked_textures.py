"""Textures out of archives: one image for a file of the game, stored in the .blend or loaded from the game again."""

import shutil
from contextlib import contextmanager
from pathlib import Path

import bpy
import pytest

from addon.blender import compat, material
from addon.games import linked_textures
from tests.blender.test_installed_games import HEADER, game, imported, shown  # noqa: F401 (a fixture)
from tests.blender.test_ui import installed, last_report
from tests.formats.archives import written

TEXTURE = "db/textures.db0/textures/samples/humanoid.png"


@contextmanager
def linked():
    """With **Pack Textures** off."""
    preferences = bpy.context.preferences.addons["bl_ext.dev.motionbridge"].preferences
    preferences.pack_textures = False
    try:
        yield
    finally:
        preferences.pack_textures = True


def saved(tmp_path: Path) -> Path:
    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    return path


def picture(game):  # noqa: F811
    """The bytes of the texture."""
    return material.files.read_file(game / TEXTURE)


def test_two_models_with_one_texture_have_one_image(game, tmp_path):  # noqa: F811
    first = shown(imported(game))
    assert shown(imported(game)) == first
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.ops.file.make_paths_relative()
    assert shown(imported(game)) == first
    assert [image.filepath for image in bpy.data.images if image.packed_file] == [first.filepath]


@pytest.mark.parametrize("packs", [True, False])
def test_the_blend_has_the_bytes_of_a_texture_only_if_it_is_to_store_them(packs, game, tmp_path):  # noqa: F811
    if packs:
        image = shown(imported(game))
        assert picture(game) in saved(tmp_path).read_bytes()
        return
    with linked():
        image = shown(imported(game))
        blend = saved(tmp_path)
        assert picture(game) not in blend.read_bytes()
        assert (tuple(image.size), image.packed_file is not None) == ((4, 4), True)
        assert Path(image.filepath) == game / TEXTURE
        name = image.name
        for _ in range(2):
            bpy.ops.wm.open_mainfile(filepath=str(blend))
            image = bpy.data.images[name]
            assert (tuple(image.size), image.packed_file is not None, len(image.pixels)) == ((4, 4), True, 64)
            assert picture(game) not in saved(tmp_path).read_bytes()
    # Who wants them stored, has them stored by the next save.
    assert picture(game) in saved(tmp_path).read_bytes()


def test_what_the_game_takes_when_the_blend_is_opened_is_shown(game, tmp_path):  # noqa: F811
    with linked(), installed(game):
        name = shown(imported(game)).name
        blend = saved(tmp_path)
        loose = game / "gamedata/textures/samples/humanoid.png"
        loose.parent.mkdir(parents=True)
        large = bpy.data.images.new("large", 8, 8)
        large.filepath_raw, large.file_format = str(loose), "PNG"
        large.save()
        bpy.ops.wm.open_mainfile(filepath=str(blend))
        image = bpy.data.images[name]
        assert (tuple(image.size), image.packed_file) == ((8, 8), None)
        assert Path(bpy.path.abspath(image.filepath)) == loose
        saved(tmp_path)
        loose.unlink()
        bpy.ops.wm.open_mainfile(filepath=str(blend))
        image = bpy.data.images[name]
        assert (tuple(image.size), image.filepath) == ((4, 4), str(game / TEXTURE))


def test_a_texture_that_the_game_lacks_stays_in_the_blend_and_one_that_is_gone_is_named(game, tmp_path):  # noqa: F811
    with linked():
        imported(game)
        data = picture(game)
        other = tmp_path / "other.db0"
        shutil.move(game / "db/textures.db0", other)
        assert data in saved(tmp_path).read_bytes()
        shutil.move(other, game / "db/textures.db0")
        blend = saved(tmp_path)
        assert data not in blend.read_bytes()
        (game / "db/textures.db0").write_bytes(written.xray([(b"textures\\other.png", data)], header=HEADER))
        bpy.ops.wm.open_mainfile(filepath=str(blend))
        assert last_report()[0] == f"1 texture is no longer in the game: {game / TEXTURE}"


def test_a_painted_texture_stays_in_the_blend(game, tmp_path):  # noqa: F811
    with linked():
        image = shown(imported(game))
        image.pixels[0] = 1.0
        image.pack()
        data = bytes(image.packed_file.data)
        assert data != picture(game)
        assert data in saved(tmp_path).read_bytes()


def test_a_save_that_fails_gives_the_textures_back(game, tmp_path):  # noqa: F811
    with linked():
        image = shown(imported(game))
        with pytest.raises(RuntimeError):
            bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "missing/folder/scene.blend"))
        assert image.packed_file is not None
        assert linked_textures._taken_out == {}


@pytest.mark.parametrize("link", [False, True])
def test_an_appended_texture_and_that_of_a_library_are_shown(link, game, tmp_path):  # noqa: F811
    with linked():
        name = shown(imported(game)).name
        blend = saved(tmp_path)
        bpy.ops.wm.read_homefile(use_empty=True)
        with bpy.data.libraries.load(str(blend), link=link) as (_, into):
            into.images = [name]
        bpy.context.scene["user"] = into.images[0]
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "other.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "other.blend"))
        image = bpy.data.images[name]
        if link and not compat.LINKED_IMAGES_PACKED:
            assert "does not show 1 texture of linked libraries" in last_report()[0]
            return
        assert (tuple(image.size), image.library is not None) == ((4, 4), link)
