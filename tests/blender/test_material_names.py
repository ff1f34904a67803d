"""Texture, lightmaps and shader of a material in the sidebar: the fields are parts of the one name that files have."""

import shutil

import bpy
import pytest

from addon.blender import material
from addon.core.model import Material


@pytest.fixture
def names():
    return bpy.data.materials.new("wall").motionbridge_material


@pytest.mark.parametrize("texture", ["", "wall\\a", "wall\\a,lmap#1_1", "wall\\a,lmap#1_1,lmap#1_2", ",lmap#1_1"])
def test_the_fields_put_together_are_the_name_in_the_file(names, texture):
    names.texture = texture
    own, lightmaps = names.own_texture, names.lightmaps
    assert [own, *filter(None, [lightmaps])] == [texture.partition(",")[0], *filter(None, [texture.partition(",")[2]])]
    names.own_texture, names.lightmaps = own, lightmaps
    assert names.texture == texture
    names.own_texture = "wall\\b"
    assert (names.own_texture, names.lightmaps) == ("wall\\b", lightmaps)
    names.lightmaps = "lmap#2_1,lmap#2_2"
    assert names.texture == "wall\\b,lmap#2_1,lmap#2_2"


@pytest.fixture
def textured(tmp_path):
    """A material that shows the image of its texture, and another file below a textures folder."""
    folder = tmp_path / "textures" / "wall"
    folder.mkdir(parents=True)
    image = bpy.data.images.new("a", 4, 4)
    image.filepath_raw, image.file_format = str(folder / "a.png"), "PNG"
    image.save()
    other = folder / "B.png"
    shutil.copy(folder / "a.png", other)
    return material.build(Material("wall", "wall\\a,lmap#1_1", "default"), image), other


def test_a_chosen_file_is_the_texture_and_is_shown_and_the_lightmaps_stay(textured):
    used, other = textured
    assert bpy.ops.motionbridge.choose_texture(material=used.name, filepath=str(other)) == {"FINISHED"}
    assert used.motionbridge_material.texture == "wall\\b,lmap#1_1"
    assert bpy.path.abspath(material.image_of(used).filepath) == str(other)
    assert material.other_picture(used) == ""


def test_the_path_of_another_image_on_the_material_can_be_taken(textured):
    used, other = textured
    next(node for node in used.node_tree.nodes if node.type == "TEX_IMAGE").image = bpy.data.images.load(str(other))
    assert material.other_picture(used)
    assert bpy.ops.motionbridge.texture_of_image(material=used.name) == {"FINISHED"}
    assert used.motionbridge_material.texture == "wall\\b,lmap#1_1"
    assert material.other_picture(used) == ""


def test_what_is_no_picture_is_refused_and_changes_nothing(textured, tmp_path):
    used, _ = textured
    (tmp_path / "no.dds").write_bytes(b"no picture")
    with pytest.raises(RuntimeError, match="Blender cannot show this texture"):
        bpy.ops.motionbridge.choose_texture(material=used.name, filepath=str(tmp_path / "no.dds"))
    assert used.motionbridge_material.texture == "wall\\a,lmap#1_1"
    with pytest.raises(RuntimeError, match="no material is chosen"):
        bpy.ops.motionbridge.texture_of_image(material="gone")
