"""The light of a level in its materials: rendered colours are those of the engine's formula."""

import shutil
import struct

import bpy
import numpy as np
import pytest

from addon.blender import material
from addon.core import model as core_model
from addon.games.xray.levels import light
from addon.games.xray.models import exporting as model_export

EARTH, BRICKS, BUSH = (90, 120, 60), (150, 80, 60), (60, 110, 40)
TERRAIN, STATIC, SKY = (20, 30, 40, 102), (40, 20, 10, 51), (0, 0, 0, 153)
"""Texels of the lightmaps: static light and sun of the terrain's and of the walls', sky of the walls'."""
HEMI = {"ground": 200 / 255, "walls": 120 / 255, "bush": 160 / 255}
AMBIENT, SUN, ABOVE = 0.05, 0.25, 0.2
"""The weather of the node group."""
STEPS = 4 / 255
"""How far a rendered channel may be off: the curve of sRGB has a linear start, which the nodes leave out."""


def texture(path, texel):
    """Write a .dds of four equal texels: red, green, blue, alpha."""
    red, green, blue, *alpha = texel
    size, masks = 2, (0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    header = struct.pack("<7I44x", 124, 0x100F, size, size, 4 * size, 0, 0)
    header += struct.pack("<8I", 32, 0x41, 0, 32, *masks) + struct.pack("<5I", 0x1000, 0, 0, 0, 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"DDS " + header + bytes([blue, green, red, *(alpha or [255])]) * size * size)


@pytest.fixture
def folder(samples, tmp_path):
    """The sample level in a game, with its textures and lightmaps."""
    result = tmp_path / "gamedata" / "levels" / "yard"
    shutil.copytree(samples / "level", result)
    textures = tmp_path / "gamedata" / "textures"
    for name, texel in (
        ("ground/earth", EARTH),
        ("wall/bricks", BRICKS),
        ("trees/bush", BUSH),
        ("terrain/terrain_yard_lm", TERRAIN),
    ):
        texture(textures / f"{name}.dds", texel)
    texture(result / "lmap#1_1.dds", STATIC)
    texture(result / "lmap#1_2.dds", SKY)
    return result


def imported(folder, **options):
    assert bpy.ops.import_scene.xray_level(directory=str(folder), **options) == {"FINISHED"}
    scene = bpy.context.scene
    scene.motionbridge_level_light = True
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.cycles.max_bounces, scene.cycles.use_denoising = 0, False
    scene.render.filter_size = 0.01
    scene.render.resolution_x = scene.render.resolution_y = 4
    scene.view_settings.view_transform = "Standard"
    scene.render.image_settings.file_format = "PNG"
    camera = bpy.data.cameras.new("camera")
    camera.type, camera.ortho_scale = "ORTHO", 0.05
    scene.camera = bpy.data.objects.new("camera", camera)
    scene.collection.objects.link(scene.camera)
    return {obj.name: obj for obj in scene.objects}


def seen(tmp_path, location, rotation=(0, 0, 0)):
    """Return the colour (3,), as displayed, that a camera sees; it looks down if it is not rotated."""
    scene = bpy.context.scene
    scene.camera.location, scene.camera.rotation_euler = location, np.radians(rotation)
    scene.render.filepath = str(tmp_path / "seen.png")
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(scene.render.filepath)
    pixels = np.array(image.pixels[:]).reshape(-1, 4)
    bpy.data.images.remove(image)
    return pixels[5, :3]


def in_game(base, static, sun, sky):
    """Return the engine's colour of a texel, 0 to 1: twice the texture times the sum of the lights."""
    total = AMBIENT + np.array(static[:3]) + SUN * sun + ABOVE * sky
    return np.clip(2 * np.array(base) / 255 * total, 0, 1)


PLACES = {
    "ground": ((-4.5, -4.5, 5), (0, 0, 0)),
    "walls": ((1.5, -5, 1), (90, 0, 0)),
    "bush": ((3.2, 3, 0.5), (90, 0, 0)),
}
"""Where the camera is, and its rotation in degrees."""


def assert_seen(tmp_path, what, wanted):
    np.testing.assert_allclose(seen(tmp_path, *PLACES[what]), wanted, atol=STEPS)


def test_surfaces_and_trees_are_lit_as_in_the_engine(folder, tmp_path):
    imported(folder)
    terrain, walls = np.array(TERRAIN) / 255, np.array(STATIC) / 255
    assert_seen(tmp_path, "ground", in_game(EARTH, terrain, terrain[3], HEMI["ground"]))
    assert_seen(tmp_path, "walls", in_game(BRICKS, walls, walls[3], SKY[3] / 255))
    hemi = HEMI["bush"]
    assert_seen(tmp_path, "bush", in_game(BUSH, [0.25 * hemi] * 3, 0.5 * hemi + 0.125, hemi + 0.25))


def test_a_copied_tree_keeps_its_light(folder, tmp_path):
    objects = imported(folder)
    tree = next(obj for obj in objects.values() if obj.motionbridge_level.kind == "TREE")
    copy = tree.copy()
    copy.location = (40, 40, 0)
    copy.rotation_euler, copy.scale = (0, 0, 0), (1, 1, 1)
    bpy.context.scene.collection.objects.link(copy)
    hemi = HEMI["bush"]
    wanted = in_game(BUSH, [0.25 * hemi] * 3, 0.5 * hemi + 0.125, hemi + 0.25)
    np.testing.assert_allclose(seen(tmp_path, (39.8, 39, 0.5), (90, 0, 0)), wanted, atol=STEPS)


def test_surfaces_without_lightmaps_are_lit_by_their_vertices(folder, tmp_path):
    """By the light of their vertices, and where a lightmap is missing by the sky, which stands for the sun too."""
    for name in ("lmap#1_1.dds", "lmap#1_2.dds"):
        (folder / name).unlink()
    objects = imported(folder)
    assert "2 lightmaps are missing: light is that of the vertices" in bpy.context.window_manager.motionbridge_report
    assert_seen(tmp_path, "walls", in_game(BRICKS, (0, 0, 0), HEMI["walls"], HEMI["walls"]))
    (ground,) = (obj for name, obj in objects.items() if name.startswith("earth "))
    used = material.build(core_model.Material("vertex", "ground\\earth", "default"), find("earth"))
    ground.data.materials[0] = light.add(used, [], is_new=True)
    stored = ground.data.attributes.new(light.LIGHT, "FLOAT_COLOR", "POINT")
    stored.data.foreach_set("color", [0.3, 0.2, 0.1, 0.4] * len(stored.data))
    assert_seen(tmp_path, "ground", in_game(EARTH, (0.3, 0.2, 0.1), 0.4, HEMI["ground"]))


def find(name):
    return next((image for image in bpy.data.images if image.name.startswith(name)), None)


def lit_materials():
    return [used for used in bpy.data.materials if light.GROUP in used.node_tree.nodes]


def test_one_switch_of_the_scene_lights_levels_and_nothing_else(folder, tmp_path):
    """Without light, and on an object that is not of a level, the surface reflects as it does without the nodes."""
    objects = imported(folder, lights=False)
    assert len(lit_materials()) == 3
    assert len({used.node_tree.nodes[light.GROUP].node_tree for used in lit_materials()}) == 1
    lamp = bpy.data.objects.new("lamp", bpy.data.lights.new("lamp", "SUN"))
    bpy.context.scene.collection.objects.link(lamp)
    (ground,) = (obj for name, obj in objects.items() if name.startswith("earth "))
    lit = seen(tmp_path, *PLACES["ground"])
    bpy.context.scene.motionbridge_level_light = False
    unlit = seen(tmp_path, *PLACES["ground"])
    assert np.abs(lit - unlit).max() > 0.1
    bpy.context.scene.motionbridge_level_light = True
    ground.motionbridge_level.property_unset("row")
    ground.update_tag()
    np.testing.assert_array_equal(seen(tmp_path, *PLACES["ground"]), unlit)
    plain = ground.data.materials[0].copy()
    ground.data.materials[0] = plain
    nodes = plain.node_tree.nodes
    surface = next(node for node in nodes if node.type == "BSDF_PRINCIPLED")
    nodes.remove(nodes[light.GROUP])
    plain.node_tree.links.new(nodes.active.outputs["Color"], surface.inputs["Base Color"])
    np.testing.assert_allclose(seen(tmp_path, *PLACES["ground"]), unlit, atol=1 / 255)


def test_levels_of_one_file_keep_their_own_lightmaps_and_a_second_import_shares_materials(folder, tmp_path):
    imported(folder)
    first = lit_materials()
    imported(folder)
    assert lit_materials() == first
    other = folder.parent / "other"
    shutil.copytree(folder, other)
    texture(other / "lmap#1_1.dds", (200, 0, 0, 0))
    imported(other)
    (added,) = set(lit_materials()) - set(first)
    assert added.node_tree.nodes[light.LIGHT_MAPS[0]].image.filepath.endswith("other/lmap#1_1.dds")


def test_materials_show_and_export_what_they_did_without_light(folder):
    imported(folder)
    for used in lit_materials():
        nodes = used.node_tree.nodes
        assert nodes.active.type == "TEX_IMAGE"  # what solid views show
        assert material.image_of(used) == nodes.active.image
        assert nodes.active.name not in light.LIGHT_MAPS
        assert not material.other_picture(used)
    bricks = next(used for used in lit_materials() if used.name == "bricks")
    assert model_export.texture_name(bricks) == "wall\\bricks"
    other = find("earth")
    bricks.node_tree.nodes.active.image = other
    assert material.image_of(bricks) == other
    assert material.other_picture(bricks) == other.name
