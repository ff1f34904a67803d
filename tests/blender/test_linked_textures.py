"""Textures of games: one image for a file of the game, stored in the .blend or loaded from the game again."""

import shutil
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np
import pytest

from addon.blender import compat, material
from addon.core.report import Report
from addon.formats.arma import paa
from addon.formats.descent3 import hog2, ogf_image
from addon.games import linked_textures
from tests.blender.test_installed_games import FSGAME, HEADER
from tests.blender.test_ui import installed, last_report
from tests.formats.archives import written

XRAY, ARMA, DESCENT3 = "XRAY", "ARMA", "DESCENT3"
MODELS = {XRAY: "meshes/samples/humanoid.ogf", ARMA: "man.p3d", DESCENT3: "ship.oof"}
TEXTURES = {XRAY: "textures/samples/humanoid.png", ARMA: "cloth_co.paa", DESCENT3: "SampleHull.ogf"}
ARCHIVES = {XRAY: "db/all.db0", ARMA: "addons/samples.pbo", DESCENT3: "d3.hog"}


class Textured(NamedTuple):
    """A game with a model and its texture in an archive, as bytes of the game."""

    kind: str
    folder: Path
    model: bytes
    data: bytes

    @property
    def archive(self) -> Path:
        return self.folder / ARCHIVES[self.kind]

    @property
    def texture(self) -> str:
        return str(self.archive / TEXTURES[self.kind])

    def write(self, texture: bytes | None, *, into: Path | None = None) -> None:
        """Write the archive, or one in a mod, with a texture or without it."""
        files = {MODELS[self.kind]: self.model} | ({TEXTURES[self.kind]: texture} if texture is not None else {})
        rows = [(name.replace("/", "\\").encode(), data) for name, data in files.items()]
        packed: dict[str, Callable[[], bytes]] = {
            XRAY: lambda: written.xray(rows, header=HEADER),
            ARMA: lambda: written.pbo(rows, properties=[(b"prefix", b"samples")]),
            DESCENT3: lambda: hog2.write(hog2.new_hog2(files)),
        }
        path = (into or self.folder) / ARCHIVES[self.kind]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(packed[self.kind]())

    def imported(self) -> bpy.types.Image:
        """The image of the texture, after another import of the model."""
        operators = bpy.ops.import_scene
        operator = {XRAY: operators.xray_ogf, ARMA: operators.arma_p3d, DESCENT3: operators.descent3_oof}[self.kind]
        assert operator(filepath=str(self.archive / MODELS[self.kind])) == {"FINISHED"}
        return self.image()

    def image(self) -> bpy.types.Image:
        (image,) = (image for image in bpy.data.images if image.size[0] or image.get(material.LINKED))
        return image

    def encoded(self, pixels: np.ndarray) -> bytes:
        """A texture of the game with these pixels."""
        if self.kind == XRAY:
            return material.png.encode(pixels)
        if self.kind == ARMA:
            return paa.write(paa.encode(pixels, paa.usual_coding("cloth_co", pixels)))
        return ogf_image.write(ogf_image.OgfImage([ogf_image.encode(pixels, "SampleHull.ogf")]))


def striped(side: int) -> np.ndarray:
    """Blocks of red and blue, which all three games store as they are."""
    pixels = np.zeros((side, side, 4), np.uint8)
    pixels[..., 0], pixels[..., 3] = 255, 255
    pixels[4:, :, :3] = 0, 0, 255
    return pixels


@pytest.fixture(params=[XRAY, ARMA, DESCENT3])
def textured(request, tmp_path, samples):
    kind = request.param
    model = {XRAY: samples / "humanoid.ogf", ARMA: samples / "arma/man.p3d", DESCENT3: samples / "descent3/ship.oof"}
    if kind == DESCENT3:
        archive = hog2.read((samples / "descent3/ship.hog").read_bytes(), "ship.hog", Report())
        data = bytes(archive.contents[archive.find("ship.oof")])
    else:
        data = model[kind].read_bytes()
    game = Textured(kind, tmp_path / "game", data, b"")
    game = game._replace(data=game.encoded(striped(8)))
    game.write(game.data)
    if kind == XRAY:
        (game.folder / "fsgame.ltx").write_text(FSGAME)
    return game


@contextmanager
def linked():
    """With **Pack Textures** off."""
    preferences = bpy.context.preferences.addons["bl_ext.dev.motionbridge"].preferences
    preferences.pack_textures = False
    try:
        yield
    finally:
        preferences.pack_textures = True


def saved(tmp_path: Path, name: str = "scene.blend") -> Path:
    path = tmp_path / name
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    return path


def pixels(image):
    return material.gather_pixels(image).tobytes()


def packed(image):
    return bytes(image.packed_file.data)


def test_two_models_with_one_texture_have_one_image(textured, tmp_path):
    first = textured.imported()
    assert textured.imported() == first
    saved(tmp_path)
    bpy.ops.file.make_paths_relative()
    assert textured.imported() == first


@pytest.mark.parametrize("packs", [True, False])
def test_the_blend_has_the_bytes_of_a_texture_only_if_it_is_to_store_them(packs, textured, tmp_path):
    if packs:
        data = packed(textured.imported())
        assert data in saved(tmp_path).read_bytes()
        return
    with linked():
        image = textured.imported()
        data, before = packed(image), striped(8).tobytes()
        assert pixels(image) == before
        blend = saved(tmp_path)
        assert data not in blend.read_bytes()
        for _ in range(2):
            assert (pixels(textured.image()), packed(textured.image())) == (before, data)
            bpy.ops.wm.open_mainfile(filepath=str(blend))
            assert (pixels(textured.image()), packed(textured.image())) == (before, data)
            assert last_report() == []
            assert data not in saved(tmp_path).read_bytes()
        bpy.data.use_autopack = True
        assert data in saved(tmp_path).read_bytes()
        bpy.data.use_autopack = False
    # Who wants them stored, has them stored by the next save.
    assert data in saved(tmp_path).read_bytes()


@pytest.mark.parametrize(
    ("textured", "is_loose"),
    [(XRAY, True), (ARMA, False), (DESCENT3, True), (DESCENT3, False)],
    indirect=["textured"],
)
def test_what_the_game_takes_when_the_blend_is_opened_is_shown(is_loose, textured, tmp_path):
    mod, other = tmp_path / "mod", textured.encoded(striped(8)[::-1])
    loose = mod / {XRAY: f"gamedata/{TEXTURES[XRAY]}"}.get(textured.kind, TEXTURES[textured.kind])
    loose.parent.mkdir(parents=True)
    with linked(), installed(textured.folder, mods=[mod]):
        textured.imported()
        blend = saved(tmp_path)
        if is_loose:
            loose.write_bytes(other)
        else:
            textured.write(other, into=mod)
        for _ in range(2):
            bpy.ops.wm.open_mainfile(filepath=str(blend))
            image = textured.image()
            assert pixels(image) == striped(8)[::-1].tobytes()
            # Blender itself reads a loose texture of X-Ray.
            assert (image.packed_file is None) == (textured.kind == XRAY)
            saved(tmp_path)
        shutil.rmtree(mod)
        bpy.ops.wm.open_mainfile(filepath=str(blend))
        assert pixels(textured.image()) == striped(8).tobytes()


def test_a_texture_that_the_game_lacks_stays_in_the_blend_and_one_that_is_gone_is_named(textured, tmp_path):
    with linked():
        data = packed(textured.imported())
        other = tmp_path / "other"
        shutil.move(textured.archive, other)
        assert data in saved(tmp_path).read_bytes()
        shutil.move(other, textured.archive)
        blend = saved(tmp_path)
        assert data not in blend.read_bytes()
        textured.write(None)
        bpy.ops.wm.open_mainfile(filepath=str(blend))
        assert last_report() == [
            "1 texture is not loaded",
            f"the texture is no longer in the game ({textured.texture})",
        ]
        textured.write(b"damaged")
        bpy.ops.wm.open_mainfile(filepath=str(blend))
        if textured.kind != XRAY:  # Blender shows what it cannot read in pink
            assert last_report()[1].startswith("a texture is not readable: ")


@pytest.mark.parametrize("save", ["PACK", "UNPACK", "NOT AT ALL"])
def test_what_the_user_painted_stays_as_the_user_saved_it(save, textured, tmp_path):
    with linked():
        image = textured.imported()
        original = packed(image)
        saved(tmp_path)
        image.pixels[0] = 1.0
        painted = pixels(image)
        assert painted != striped(8).tobytes()
        if save == "NOT AT ALL":  # Blender asks when it is closed
            assert original in saved(tmp_path).read_bytes()
            return
        image.pack()
        data = packed(image)
        if save == "UNPACK":
            image.unpack(method="WRITE_LOCAL")
        blend = saved(tmp_path)
        assert (data in blend.read_bytes()) == (save == "PACK")
        bpy.ops.wm.open_mainfile(filepath=str(blend))
        assert (pixels(textured.image()), last_report()) == (painted, [])


def test_a_copy_of_an_image_is_loaded_too(textured, tmp_path):
    with linked():
        image = textured.imported()
        data = packed(image)
        image.copy().name = "copy"
        bpy.data.images["copy"].use_fake_user = True
        blend = saved(tmp_path)
        assert data not in blend.read_bytes()
        bpy.ops.wm.open_mainfile(filepath=str(blend))
        images = [image for image in bpy.data.images if image.get(material.LINKED)]
        assert [pixels(image) for image in images] == [striped(8).tobytes()] * 2


def test_undo_loads_a_texture_again_that_was_not_loaded_then(textured):
    with linked():
        image = textured.imported()
        image.unpack(method="REMOVE")  # as in a .blend that was just opened
        bpy.ops.ed.undo_push(message="opened")
        linked_textures.Loading([]).step()
        assert packed(textured.image())
        bpy.data.images.new("other", 4, 4)
        bpy.ops.ed.undo_push(message="edited")
        bpy.ops.ed.undo()
        assert "other" not in bpy.data.images
        assert pixels(textured.image()) == striped(8).tobytes()


def test_a_save_that_fails_gives_the_textures_back(textured, tmp_path):
    with linked():
        image = textured.imported()
        with pytest.raises(RuntimeError):
            bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "missing/folder/scene.blend"))
        assert image.packed_file is not None
        assert linked_textures._taken_out == {}


@pytest.mark.parametrize("link", [False, True])
def test_an_appended_texture_and_that_of_a_library_are_shown(link, textured, tmp_path):
    with linked():
        name = textured.imported().name
        blend = saved(tmp_path)
        bpy.ops.wm.read_homefile(use_empty=True)
        with bpy.data.libraries.load(str(blend), link=link) as (_, into):
            into.images = [name]
        bpy.context.scene["user"] = into.images[0]
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "other.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "other.blend"))
        image = bpy.data.images[name]
        if link and not compat.LINKED_IMAGES_PACKED:
            assert "does not show textures of linked libraries" in last_report()[1]
            return
        assert (pixels(image), image.library is not None) == (striped(8).tobytes(), link)


@pytest.mark.parametrize("textured", [ARMA, DESCENT3], indirect=True)
def test_an_image_that_was_loaded_again_is_exported_as_its_texture(textured, tmp_path):
    export = {ARMA: "arma_paa", DESCENT3: "descent3_ogf"}[textured.kind]
    with linked():
        textured.imported()
        blend = saved(tmp_path)
        bpy.ops.wm.open_mainfile(filepath=str(blend))
        out = tmp_path / TEXTURES[textured.kind]
        operator = getattr(bpy.ops.export_scene, export)
        assert operator(filepath=str(out), image=textured.image().name) == {"FINISHED"}
        assert out.read_bytes() == textured.data
        assert not any("new texture" in line for line in last_report())
