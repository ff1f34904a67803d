"""Textures of Arma in Blender: as images, on models, and back; what is written, byte by byte."""

import os
import shutil
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.blender import material
from addon.core.report import Report
from addon.formats.arma import paa
from addon.games.arma import textures
from addon.games.images import SOURCE
from addon.ui.arma.textures import EXPORT_SCENE_OT_arma_paa
from tests.blender.test_written_motions import as_in_a_window, drawn
from tests.real_files import SAMPLES, corpus_files, sampled

BRICKS, GLASS = SAMPLES / "arma" / "bricks_co.paa", SAMPLES / "arma" / "glass_ca.paa"


def imported(*paths):
    names = [{"name": Path(path).name} for path in paths]
    assert bpy.ops.import_scene.arma_paa(directory=str(Path(paths[0]).parent), files=names) == {"FINISHED"}
    return [bpy.data.images[Path(path).name] for path in paths]


def refused(operator, **options):
    with pytest.raises(RuntimeError) as caught:
        operator(**options)
    return str(caught.value)


def shown(path):
    return paa.picture(paa.read(Path(path).read_bytes(), str(path), Report()))


def paint(image, across, up, colour):
    """Set a pixel; rows of Blender go up."""
    values = np.empty(4 * image.size[0] * image.size[1], np.float32)
    image.pixels.foreach_get(values)
    values.reshape(image.size[1], image.size[0], 4)[up, across] = np.array(colour) / 255
    image.pixels.foreach_set(values)


def test_textures_become_images_with_the_pixels_of_the_game():
    bricks, glass = imported(BRICKS, GLASS)
    assert (tuple(bricks.size), tuple(glass.size)) == ((16, 16), (6, 4))
    for image, path in ((bricks, BRICKS), (glass, GLASS)):
        assert material.gather_pixels(image).tolist() == shown(path).tolist()
        assert image.packed_file is not None
        assert image.use_fake_user
    # Without the tag FLAG the game ignores alpha.
    assert (bricks.alpha_mode, glass.alpha_mode) == ("CHANNEL_PACKED", "STRAIGHT")
    assert imported(BRICKS) == [bricks]


def test_a_texture_is_imported_again_as_it_is_after_its_image_was_painted_and_packed(tmp_path):
    (image,) = imported(BRICKS)
    paint(image, 0, 0, (255, 0, 0, 255))
    image.pack()
    assert not image.is_dirty
    again = textures.import_texture(BRICKS, Report())
    assert again != image
    assert material.gather_pixels(again).tolist() == shown(BRICKS).tolist()
    assert textures.import_texture(BRICKS, Report()) == again
    again.unpack(method="REMOVE")
    assert textures.import_texture(BRICKS, Report()) not in (image, again)


def test_maps_of_values_are_not_colours(tmp_path):
    for name in ("a_nohq.paa", "a_smdi.paa", "a_co.paa", "nohq.paa"):
        shutil.copy(BRICKS, tmp_path / name)
        (image,) = imported(tmp_path / name)
        expected = "Non-Color" if name.startswith("a_") and name != "a_co.paa" else "sRGB"
        assert image.colorspace_settings.name == expected, name
        bpy.data.images.remove(image)


@pytest.mark.parametrize("path", [BRICKS, GLASS, *sampled(corpus_files("paa"), 5)])
def test_unpainted_textures_leave_byte_for_byte(path, tmp_path):
    if path is None:
        pytest.skip("no corpus")
    (image,) = imported(path)
    out = tmp_path / path.name
    assert bpy.ops.export_scene.arma_paa(filepath=str(out), image=image.name) == {"FINISHED"}
    assert out.read_bytes() == path.read_bytes()


def test_a_painted_pixel_changes_its_block_and_the_mean_colour(tmp_path):
    path = tmp_path / "wall_co.paa"
    shutil.copy(BRICKS, path)
    (image,) = imported(path)
    before = path.read_bytes()
    paint(image, 5, 2, (255, 0, 0, 255))
    assert bpy.ops.export_scene.arma_paa(filepath=str(path), image=image.name, backup=True) == {"FINISHED"}
    after = path.read_bytes()
    assert path.with_name("wall_co.paa.bak").read_bytes() == before
    changed = {at for at in range(len(before)) if before[at] != after[at]}
    mean = set(range(before.index(b"CGVA") + 8, before.index(b"CGVA") + 12))
    levels = paa.read(before, "", Report()).levels
    start = before.index(bytes(levels[0].data))
    block = start + 8 * (4 * (13 // 4) + 5 // 4)  # row 13 from the top
    smaller = start + 128 + 7 + 8 * (2 * (6 // 4) + 2 // 4)
    assert changed <= mean | set(range(block, block + 8)) | set(range(smaller, smaller + 8))
    assert changed & set(range(block, block + 8))
    pixel = shown(path)[13, 5].astype(int)
    assert pixel[0] >= 200
    # It is the base of the next export, and says the same again.
    assert bpy.ops.export_scene.arma_paa(filepath=str(path), image=image.name) == {"FINISHED"}
    assert path.read_bytes() == after


def test_a_new_image_gets_the_type_of_its_name_and_alpha(tmp_path):
    image = bpy.data.images.new("sign", 16, 8, alpha=True)
    pixels = np.ones((8, 16, 4), np.float32)
    pixels[:, :8] = 0.2, 0.4, 0.6, 0.5
    image.pixels.foreach_set(pixels.ravel())
    out = tmp_path / "sign_ca.paa"
    assert bpy.ops.export_scene.arma_paa(filepath=str(out), image="sign") == {"FINISHED"}
    document = paa.read(out.read_bytes(), "", Report())
    assert (document.kind, document.alpha) == (paa.TextureType.DXT5, paa.Alpha.BLEND)
    assert np.abs(shown(out)[0, 0].astype(int) - (51, 102, 153, 128)).max() <= 4
    assert bpy.ops.export_scene.arma_paa(filepath=str(out), image="sign", kind="ARGB8888") == {"FINISHED"}
    assert shown(out)[7, 0].tolist() == [51, 102, 153, 128]
    assert shown(out)[7, 15].tolist() == [255, 255, 255, 255]


def test_float_images_are_written_as_they_look(tmp_path):
    image = bpy.data.images.new("light", 4, 4, alpha=True, float_buffer=True)
    image.colorspace_settings.name = "Linear Rec.709"
    image.pixels.foreach_set(np.tile(np.array((0.21404, 0.0, 1.0, 1.0), np.float32), 16))
    out = tmp_path / "light_co.paa"
    assert bpy.ops.export_scene.arma_paa(filepath=str(out), image="light", kind="ARGB8888") == {"FINISHED"}
    assert shown(out)[0, 0].tolist() == [127, 0, 255, 255] or shown(out)[0, 0].tolist() == [128, 0, 255, 255]


def test_a_map_of_values_in_linear_light_is_warned_of(tmp_path):
    image = bpy.data.images.new("baked", 4, 4, float_buffer=True)

    def message(name):
        report = Report()
        textures.preview_texture(image, str(tmp_path / name), textures.TextureExportOptions(), report)
        return any("set its color space to Non-Color" in line for line in report.lines())

    assert (message("wall_nohq.paa"), message("wall_co.paa")) == (True, False)
    for name in ("sRGB", "Non-Color"):
        image.colorspace_settings.name = name
        assert not message("wall_nohq.paa")


def test_transparent_colours_of_float_images_are_not_darkened(tmp_path):
    """Blender multiplies the colors of a PNG of 16 bits by alpha; those of one of 8 bits it keeps."""
    image = bpy.data.images.new("soft", 4, 4, alpha=True, float_buffer=True)
    image.pixels.foreach_set(np.tile(np.array((0.05, 0.02, 0.0, 0.5), np.float32), 16))
    assert material.gather_pixels(image)[0, 0].tolist() == [89, 56, 0, 128]
    image.filepath_raw, image.file_format = str(tmp_path / "soft.png"), "PNG"
    image.save()
    loaded = bpy.data.images.load(str(tmp_path / "soft.png"))
    assert loaded.is_float
    result = []
    for alpha_mode in ("STRAIGHT", "CHANNEL_PACKED"):
        loaded.alpha_mode = alpha_mode
        result.append(material.gather_pixels(loaded)[0, 0].astype(int))
    assert 0 < result[1][1] < result[1][0] < 255
    assert np.abs(result[0] - result[1]).max() <= 1
    image.pixels.foreach_set(np.tile(np.array((0.5, np.nan, 0.0, 0.0), np.float32), 16))
    assert material.gather_pixels(image)[0, 0].tolist() == [188, 0, 0, 0]


def test_what_a_texture_does_not_store_is_reported_before_it_is_written(tmp_path):
    image = bpy.data.images.new("x", 8, 8, alpha=True)
    values = np.linspace(0, 1, 8 * 8 * 4, dtype=np.float32)
    image.pixels.foreach_set(values)
    for name, options, words in (
        ("a_co.paa", {"kind": "DXT1", "alpha": "CLIP"}, "alpha is only 0 or 255"),
        ("a_co.paa", {"kind": "DXT1", "alpha": "OPAQUE"}, "the game does not use its alpha"),
        ("a_smdi.paa", {}, "does not store red"),
        ("a_co.paa", {}, "approximated"),
    ):
        for tell in (textures.preview_texture, textures.plan_texture):
            report = Report()
            tell(image, str(tmp_path / name), textures.TextureExportOptions(**options), report)
            assert any(words in line for line in report.lines()), (name, report.lines())
            assert not (tmp_path / name).exists()


def test_the_file_browser_looks_at_the_file_that_would_be_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    shutil.copy(BRICKS, tmp_path / "there" / "new_co.paa")
    image = bpy.data.images.new("new", 8, 8)
    dialog = as_in_a_window(EXPORT_SCENE_OT_arma_paa, image=image.name, filepath=str(tmp_path / "new_co.paa"))
    message = [" ".join(drawn(dialog))]
    dialog.filepath = str(tmp_path / "there" / "new_co.paa")
    message.append(" ".join(drawn(dialog)))
    assert ["all of the texture changes" in text for text in message] == [False, True]


def test_another_name_of_the_texture_that_is_replaced_is_reported_before_and_after(tmp_path):
    path = tmp_path / "wall_co.paa"
    shutil.copy(BRICKS, path)
    os.link(path, tmp_path / "staging.paa")
    (image,) = imported(path)
    paint(image, 5, 2, (255, 0, 0, 255))
    words = "1 other hard link to the file keeps the old content"
    dialog = as_in_a_window(EXPORT_SCENE_OT_arma_paa, image=image.name, filepath=str(path))
    assert words in " ".join(drawn(dialog))
    assert bpy.ops.export_scene.arma_paa(image=image.name, filepath=str(path)) == {"FINISHED"}
    assert words in bpy.context.window_manager.motionbridge_report
    assert (tmp_path / "staging.paa").read_bytes() == BRICKS.read_bytes() != path.read_bytes()


def test_the_file_browser_says_it_only_of_painted_images(tmp_path):
    path = tmp_path / "wall_co.paa"
    shutil.copy(BRICKS, path)
    (image,) = imported(path)

    def message(**options):
        report = Report()
        textures.preview_texture(image, str(path), textures.TextureExportOptions(**options), report)
        return "; ".join(report.lines())

    assert message() == ""
    assert "all of the texture changes" in message(kind="DXT5")
    paint(image, 5, 2, (255, 0, 0, 255))
    assert message() == "DXT1: the colors of painted blocks are approximated"
    path.write_bytes(b"no texture")
    assert "written as a new texture" in message()


def test_what_cannot_be_kept_of_the_imported_texture_is_reported(tmp_path):
    path = tmp_path / "wall_co.paa"
    document = paa.read(BRICKS.read_bytes(), "", Report())
    document.levels.append(document.levels[-1])
    path.write_bytes(paa.write(document))
    (image,) = imported(path)

    def message():
        texts = []
        for tell in (textures.preview_texture, textures.plan_texture):
            report = Report()
            tell(image, str(tmp_path / "out_co.paa"), textures.TextureExportOptions(), report)
            texts.append("; ".join(report.lines()))
        return texts

    assert message() == ["", ""]
    paint(image, 5, 2, (255, 0, 0, 255))
    assert all("its smaller levels have other sides" in text for text in message())
    path.unlink()
    assert all(f"the file that it was imported from is missing, {path}" in text for text in message())


def test_refusals_have_a_remedy_and_write_nothing(tmp_path):
    bpy.data.images.new("odd", 24, 16)
    out = tmp_path / "odd_co.paa"
    assert "powers of two" in refused(bpy.ops.export_scene.arma_paa, filepath=str(out), image="odd")
    assert "there is no image 'gone'" in refused(bpy.ops.export_scene.arma_paa, filepath=str(out), image="gone")
    bpy.data.images.new("other", 8, 8)
    assert "no image is chosen" in refused(bpy.ops.export_scene.arma_paa, filepath=str(out))
    lost = bpy.data.images.new("lost", 8, 8)
    lost.source, lost.filepath = "FILE", str(tmp_path / "lost.png")
    assert "has no pixels" in refused(bpy.ops.export_scene.arma_paa, filepath=str(out), image="lost")
    assert not out.exists()
    broken = tmp_path / "broken.paa"
    broken.write_bytes(BRICKS.read_bytes()[:100])
    assert "the file is damaged" in refused(bpy.ops.import_scene.arma_paa, filepath=str(broken)).lower()
    assert "broken.paa" not in bpy.data.images


def model_beside(tmp_path, **files):
    folder = tmp_path / "data"
    folder.mkdir()
    shutil.copy(SAMPLES / "arma" / "man.p3d", tmp_path / "man.p3d")
    for name, source in files.items():
        shutil.copy(source, folder / f"{name}.paa")
    assert bpy.ops.import_scene.arma_p3d(filepath=str(tmp_path / "man.p3d"), levels={"FIRST"}) == {"FINISHED"}
    return {used_material.motionbridge_material.texture: used_material for used_material in bpy.data.materials}


def test_models_show_their_textures(tmp_path):
    path = model_beside(tmp_path, cloth_co=BRICKS, skin_co=GLASS)
    cloth, skin = path["samples\\cloth_co.paa"], path["samples\\skin_co.paa"]
    assert material.image_of(cloth).get(SOURCE) == str(tmp_path / "data" / "cloth_co.paa")

    def has_alpha(entry):
        return any(link.to_socket.name == "Alpha" for link in entry.node_tree.links)

    # Whether alpha is drawn is a tag of the texture, not a matter of its name.
    assert (has_alpha(cloth), has_alpha(skin)) == (False, True)


def test_a_painted_texture_is_named_by_the_models_export(tmp_path):
    path = model_beside(tmp_path, cloth_co=BRICKS)
    plan = {"filepath": str(tmp_path / "out.p3d")}
    assert bpy.ops.export_scene.arma_p3d(**plan) == {"FINISHED"}
    assert "painted" not in bpy.context.window_manager.motionbridge_report
    mesh = next(obj for obj in bpy.context.scene.objects if obj.type == "MESH").data
    mesh.vertices[0].co.x += 0.5
    paint(material.image_of(path["samples\\cloth_co.paa"]), 1, 1, (255, 0, 0, 255))
    assert bpy.ops.export_scene.arma_p3d(**plan) == {"FINISHED"}
    assert "the painted image 'cloth_co.paa' is not part of the model" in (
        bpy.context.window_manager.motionbridge_report
    )


def test_the_smaller_level_that_a_model_shows_is_not_the_whole_texture(tmp_path):
    path = tmp_path / "wall_co.paa"
    shutil.copy(BRICKS, path)
    document = textures.read_texture(path, Report())
    smaller = textures.build_image(document, path, largest=8)
    report = Report()
    textures.preview_texture(smaller, str(path), textures.TextureExportOptions(), report)
    assert any("all of the texture changes" in line for line in report.lines()), report.lines()


def test_a_damaged_texture_is_named_and_the_model_is_imported(tmp_path):
    broken = tmp_path / "broken.paa"
    broken.write_bytes(BRICKS.read_bytes()[:100])
    path = model_beside(tmp_path, cloth_co=broken)
    assert material.image_of(path["samples\\cloth_co.paa"]) is None
    message = bpy.context.window_manager.motionbridge_report
    assert "a texture is not readable" in message
    assert "cloth_co.paa" in message


def test_a_new_material_with_an_imported_texture_has_its_path_in_the_game(tmp_path):
    (tmp_path / "config.cpp").write_text("")
    addon = tmp_path / "data"
    addon.mkdir()
    shutil.copy(BRICKS, addon / "wall_co.paa")
    (image,) = imported(addon / "wall_co.paa")
    used_material = bpy.data.materials.new("wall")
    if used_material.node_tree is None:
        used_material.use_nodes = True
    used_material.node_tree.nodes.new("ShaderNodeTexImage").image = image
    assert textures.texture_of(used_material, ()) == f"{tmp_path.name}\\data\\wall_co.paa"


def test_a_linked_image_is_suggested_beside_its_own_file(tmp_path):
    folder = tmp_path / "library"
    folder.mkdir()
    image = bpy.data.images.new("skin", 4, 4)
    image.filepath_raw = "//skin.png"
    image.use_fake_user = True
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "skins.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    with bpy.data.libraries.load(str(folder / "skins.blend"), link=True) as (_, wanted):
        wanted.images = ["skin"]
    dialog = as_in_a_window(EXPORT_SCENE_OT_arma_paa)
    dialog.image = "skin"
    dialog.suggest(bpy.context)
    assert Path(dialog.filepath) == folder / "skin.paa"
