"""Textures of new Arma models: taken from the image that a material shows, or reported."""

from pathlib import Path, PureWindowsPath

import bpy
import numpy as np
import pytest

from addon.core.game import InstalledGame
from addon.core.report import Report
from addon.formats.arma import p3d
from addon.games.arma import sources
from addon.games.arma.textures import game_path, texture_of
from tests.blender.test_p3d_export import cube, exported
from tests.blender.test_ui import last_report


@pytest.fixture
def image(tmp_path):
    """A picture in the folder of an addon."""
    data = tmp_path / "addons" / "Crate" / "data"
    data.mkdir(parents=True)
    picture = bpy.data.images.new("crate", 8, 8)
    picture.filepath_raw, picture.file_format = str(data / "crate_CO.png"), "PNG"
    picture.save()
    bpy.data.images.remove(picture)
    return bpy.data.images.load(str(data / "crate_CO.png"))


def shown(image):
    material = bpy.data.materials.new("crate")
    if material.node_tree is None:
        material.use_nodes = True
    material.node_tree.nodes.new("ShaderNodeTexImage").image = image
    body = cube()
    body.data.materials.append(material)
    bpy.ops.motionbridge.arma_set_lod(kind="RESOLUTION", number=1)
    return body, material


def textures_of(data):
    (lod,) = p3d.read(data, "", Report()).lods
    return {lod.textures()[number] for number in np.unique(lod.face_texts).tolist()}


@pytest.mark.parametrize(
    ("file", "text", "path"),
    [
        ("addons/Crate/$PBOPREFIX$", "x\\tag\\addons\\crate\r\n", "x\\tag\\addons\\crate\\data\\crate_CO.paa"),
        ("addons/Crate/$PBOPREFIX$", "version=1\nprefix = z\\tag\\crate\\;\n", "z\\tag\\crate\\data\\crate_CO.paa"),
        ("addons/Crate/config.cpp", "", "Crate\\data\\crate_CO.paa"),
        ("addons/Crate/data/config.cpp", "", "data\\crate_CO.paa"),
        ("readme.txt", "", ""),
    ],
)
def test_a_texture_is_the_path_of_the_image_in_its_addon(image, tmp_path, file, text, path):
    (tmp_path / file).write_bytes(text.encode())
    _, material = shown(image)
    assert texture_of(material, ()) == path


def test_the_work_drive_is_the_root_of_paths(image, tmp_path):
    _, material = shown(image)
    assert texture_of(material, [InstalledGame(tmp_path)]) == "addons\\Crate\\data\\crate_CO.paa"
    assert game_path("P:\\tag\\data\\wall_ca.tga", ()) == "tag\\data\\wall_ca.paa"
    assert game_path("P:/tag/data/wall_ca.pac", ()) == "tag\\data\\wall_ca.pac"


def test_an_export_takes_the_texture_from_the_image_and_reports_it(image, tmp_path):
    body, material = shown(image)
    assert textures_of(exported(tmp_path)) == {("", "")}
    assert any("no texture is written: its image 'crate_CO.png'" in line for line in last_report())
    Path(tmp_path / "addons/Crate/config.cpp").touch()
    assert textures_of(exported(tmp_path)) == {("Crate\\data\\crate_CO.paa", "")}
    assert any("its texture is that of its image" in line for line in last_report())
    assert material.motionbridge_material.texture == "", "an export changes nothing in the scene"
    material.motionbridge_material.texture = "tag\\typed_co.paa"
    assert textures_of(exported(tmp_path)) == {("tag\\typed_co.paa", "")}
    assert any("shows 'crate_CO.png', but its texture is tag\\typed_co.paa" in line for line in last_report())
    body.data.materials[0] = bpy.data.materials.new("plain")
    assert textures_of(exported(tmp_path)) == {("", "")}
    assert any("the material has no texture" in line for line in last_report())


def test_unused_materials_are_not_warned_of_and_missing_ones_are(image, tmp_path):
    Path(tmp_path / "addons/Crate/config.cpp").touch()
    body, _ = shown(image)
    body.data.materials.append(bpy.data.materials.new("unused"))
    exported(tmp_path)
    assert not any("unused" in line for line in last_report())
    body.data.materials.clear()
    assert textures_of(exported(tmp_path)) == {("", "")}
    assert any("faces without a material have no texture" in line for line in last_report())


def test_lods_that_are_not_drawn_take_no_texture_from_an_image(image, tmp_path):
    Path(tmp_path / "addons/Crate/config.cpp").touch()
    shown(image)
    bpy.ops.motionbridge.arma_set_lod(kind="GEOMETRY")
    assert textures_of(exported(tmp_path)) == {("", "")}
    assert not any("texture" in line for line in last_report())


@pytest.mark.parametrize(
    ("root", "counts"),
    [("P:/", True), ("p:/", True), ("O:/", False), ("Q:/", False), ("//server/share/", False), ("/", False)],
)
def test_of_the_roots_of_disks_only_the_work_drive_counts(root, counts):
    assert bool(sources._marks_of(PureWindowsPath(root))) == counts
