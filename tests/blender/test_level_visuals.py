"""What of a compiled level is seen: surfaces, trees, impostors, portals, lights and glows, judged by reference numbers
and by the bytes."""

import json
import shutil
import struct
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils.bvhtree import BVHTree

from addon.blender import scope
from addon.core import png
from addon.core.errors import ReadError
from addon.core.pausing import Stopped, Work
from addon.core.report import Report
from addon.formats.xray import level as levels
from addon.formats.xray import ps_static
from addon.formats.xray.level.document import Kind
from addon.games.xray.levels import folder as level_folder
from addon.games.xray.levels import geometry as level_geometry
from addon.games.xray.levels import tree_sets, visuals
from addon.games.xray.options import LevelFolderOptions
from tests.blender.scenes import column
from tests.real_files import corpus_files
from tests.scene import differences, snapshot

SETS = ("bx_test", "xray15_mp_test", "olr_tss_cd70ecb", "synthetic_v13_bx_test", "synthetic_v13_olr_tss_cd70ecb")
FILES = ("level", "level.geom")
NONE = dict.fromkeys(level_folder.VISUALS, False)
NEAR = 0.01
"""Metres between what is seen and what collides."""
NORMAL = 1e-4 if bpy.app.version >= (4, 5) else 0.015
"""Of a normal: before 4.5 Blender keeps none that is less than 0.8 degrees from its own."""


def imported(folder, **options):
    report = Report()
    created = level_folder.import_folder(bpy.context, folder, LevelFolderOptions(**options), report, lambda _done: None)
    bpy.context.view_layer.update()
    return {entry.kind: entry for entry in created}, report


def objects_of(entry):
    return [*entry.held, *entry.objects]


def copied(source, target, *names):
    target.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copy(source / name, target / name)
    return target


@pytest.fixture
def yard(samples, tmp_path):
    """Our sample level as far as it is seen."""
    return copied(samples / "level", tmp_path / "gamedata" / "levels" / "yard", *FILES)


def of_vertices(data, values):
    """(vertices, …) of values at corners, which agree."""
    corners = column(data.loops, "vertex_index", 1, np.int32)
    result = np.full((len(data.vertices), values.shape[1]), np.nan)
    result[corners] = values
    assert np.allclose(result[corners], values, atol=1e-3)
    return result


def parts_by_visual(tree):
    parts = tree_sets.parts_of(tree.instance_collection)
    return {visual: parts[number] for number, visual in enumerate(tree_sets.visuals_of(tree))}


def world(part, obj=None):
    obj = part if obj is None else obj
    points = column(part.data.vertices, "co", 3).astype(np.float64)
    matrix = np.array(obj.matrix_world)
    return points @ matrix[:3, :3].T + matrix[:3, 3]


# What the reference numbers say --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SETS)
def test_every_visual_shows_what_the_reference_numbers_say(name, corpus, vectors, tmp_path):
    numbers = json.loads((vectors / "level" / "level_vectors_give.json").read_text())
    numbers = numbers[name.removeprefix("synthetic_v13_")]
    model, _ = imported(copied(corpus / "level" / name, tmp_path / name, *FILES), textures=False)
    surfaces = {entry.motionbridge_level.row: (entry, entry) for entry in model["SURFACE"].held}
    trees = model["TREE"].held if "TREE" in model else []
    parts = {visual: (part, tree) for tree in trees for visual, part in parts_by_visual(tree).items()}
    actual = surfaces | parts
    wanted = [visual for visual in numbers["visuals"] if "samples" in visual]
    assert sorted(actual) == sorted(visual["index"] for visual in wanted)
    for visual in wanted:
        check(*actual[visual["index"]], visual)
    faces = sum(len(part.data.polygons) for part, _ in actual.values())
    assert faces == numbers["totals"]["triangles"]


def check(part, obj, wanted):
    data = part.data
    assert (len(data.polygons), len(data.vertices)) == (wanted["triangles"], wanted["vertices"])
    assert (
        column(data.loops, "vertex_index", 1, np.int32)[:9].reshape(-1, 3).tolist() == wanted["triangles_first_blender"]
    )
    if "tree" in wanted:
        assert np.allclose(np.array(obj.matrix_world), wanted["tree"]["blender_matrix"], atol=1e-4)
    else:
        assert np.array_equal(np.array(obj.matrix_world), np.eye(4))
    points = world(part, obj)
    uvs = of_vertices(data, column(data.uv_layers["UVMap"].uv, "vector", 2))
    normals = of_vertices(data, column(data.corner_normals, "vector", 3))
    hemi = column(data.attributes["hemi"].data, "value", 1)
    for sample in wanted["samples"]:
        at = sample["vertex"]
        assert np.allclose(points[at], sample["P_blender_world"], atol=2e-4)
        assert np.allclose(uvs[at], sample["uv_blender"], atol=4e-6)
        assert hemi[at] == pytest.approx(sample["hemi"], abs=1e-6)
        normal = np.array(sample["N"])[[0, 2, 1]]
        assert np.allclose(normals[at], normal / np.linalg.norm(normal), atol=NORMAL)
        if "lm" in sample:
            light_map = of_vertices(data, column(data.uv_layers["Light Map"].uv, "vector", 2))
            assert np.allclose(light_map[at] * [1, -1] + [0, 1], sample["lm"], atol=1e-6)
        if "wind" in sample:
            assert data.attributes["wind"].data[at].value == pytest.approx(sample["wind"], abs=1e-6)
        if "rgb" in sample:
            light = data.attributes["light"].data[at].color[:]
            assert np.allclose(light, [*sample["rgb"], sample["sun"]], atol=1e-6)


@pytest.mark.parametrize("name", ["bx_test", "olr_tss_cd70ecb", "xray15_mp_test"])
def test_surfaces_lie_in_register_with_the_collision(name, corpus, tmp_path):
    folder = copied(corpus / "level" / name, tmp_path / name, *FILES, "level.cform")
    model, _ = imported(folder, textures=False, trees=False)
    corners = [(world(mesh), column(mesh.data.loops, "vertex_index", 1, np.int32)) for mesh in model["CFORM"].meshes]
    ((points, indices),) = corners
    collision = BVHTree.FromPolygons(points.tolist(), indices.reshape(-1, 3).tolist())
    seen = np.concatenate([world(entry) for entry in model["SURFACE"].held])
    away = np.array([collision.find_nearest(point)[3] for point in seen.tolist()])
    assert (away < NEAR).all()


# Collections, objects, materials --------------------------------------------------------------------------------------


def test_each_kind_has_its_collection_and_sectors_theirs(yard):
    model, report = imported(yard)
    whole = bpy.context.scene.collection.children["yard"]
    kinds = ("Surfaces", "Trees", "Portals", "Lights")
    assert [below.name for below in whole.children] == [f"{kind} yard" for kind in kinds]
    sectors = {
        below.name: sorted(obj.motionbridge_level.row for obj in below.objects) for below in whole.children[0].children
    }
    assert sectors == {"yard surfaces sector 000": [0], "yard surfaces sector 001": [1]}
    assert [entry.name for entry in model["TREE"].held] == ["bush 00002", "bush 00003"]
    assert {entry.motionbridge_level.kind for entry in model["TREE"].held} == {"TREE"}
    assert report.notes["Surfaces: 2 objects, 12 faces, 2 sectors"] == ["level"]
    assert report.notes["Trees: 2 trees, 1 mesh, 8 faces, 1 sector"] == ["level"]
    layers = bpy.context.view_layer.layer_collection.children["yard"].children
    assert [layer.name for layer in layers if layer.exclude] == ["Portals yard"]
    assert not bpy.context.selected_objects
    assert bpy.context.active_object == model["SURFACE"].held[0]


def test_trees_share_their_mesh_and_are_where_the_file_says(yard):
    model, _ = imported(yard)
    near, far = model["TREE"].held
    assert near.instance_collection == far.instance_collection
    (part,) = near.instance_collection.objects
    assert np.allclose(near.matrix_world.translation, (3.5, 3.5, 0))
    assert np.allclose(far.matrix_world.translation, (-3.5, 3.5, 0))
    assert np.allclose(far.scale, 1.5)
    assert np.allclose(far.rotation_euler, 0)
    low, high = world(part, far).min(axis=0), world(part, far).max(axis=0)
    assert np.allclose((low, high), ((-4.25, 2.75, 0), (-2.75, 4.25, 1.5)))


def test_hidden_and_sheared_trees_are_reported(yard):
    data = bytearray((yard / "level").read_bytes())
    document = levels.read(bytes(data), "level", Report())
    stored = document.visuals.fixed[Kind.TREE]["transform"]
    at = [data.index(entry.tobytes()) for entry in stored]
    hidden, sheared = stored.copy()
    hidden[:3, :3] *= 1e-5
    sheared[0, 1] = 0.5
    for position, matrix in zip(at, (hidden, sheared), strict=True):
        data[position : position + 64] = matrix.astype("<f4").tobytes()
    (yard / "level").write_bytes(data)
    model, report = imported(yard)
    assert report.notes["1 tree is hidden by its scale"] == ["level"]
    assert report.warnings["1 tree is sheared, which Blender's objects cannot show"] == ["level"]
    assert np.allclose(model["TREE"].held[0].scale, 1e-5)


@pytest.mark.parametrize(
    ("detail", "faces"), [(1.0, 10), (0.5, 8), (0.0, 6)], ids=["all faces", "in between", "simplest"]
)
def test_progressive_surfaces_show_the_detail_that_is_asked_for(yard, detail, faces):
    model, _ = imported(yard, detail=detail)
    assert [len(entry.data.polygons) for entry in model["SURFACE"].held] == [2, faces]


def test_materials_are_shader_strings_with_textures_of_the_level_and_the_game(yard):
    red = png.encode(np.full((2, 2, 4), (255, 0, 0, 255), np.uint8))
    game = yard.parents[1] / "textures"
    for path in (
        yard / "Bricks.png",
        game / "ground" / "earth.png",
        game / "wall" / "bricks.png",
        game / "trees" / "bush.png",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(red)
    (yard / "wall").mkdir()
    shutil.move(yard / "Bricks.png", yard / "wall" / "bricks.png")
    model, report = imported(yard)
    ground, walls = (entry.data.materials[0] for entry in model["SURFACE"].held)
    (leaves,) = model["TREE"].held[0].instance_collection.objects[0].data.materials
    assert [entry.name for entry in (ground, walls, leaves)] == ["earth", "bricks", "bush"]
    names = walls.motionbridge_material
    assert (names.shader, names.texture) == ("default", "wall\\bricks,lmap#1_1,lmap#1_2")
    assert image_of(ground) == game / "ground" / "earth.png"
    assert image_of(walls) == yard / "wall" / "bricks.png"
    alpha = [entry.node_tree.nodes["Principled BSDF"].inputs["Alpha"].is_linked for entry in (ground, walls, leaves)]
    assert alpha == [False, False, True]
    assert not report.warnings


def image_of(created):
    (node,) = [node for node in created.node_tree.nodes if node.type == "TEX_IMAGE"]
    return Path(bpy.path.abspath(node.image.filepath))


def test_missing_textures_are_one_warning_and_unwanted_ones_give_none(yard):
    _, report = imported(yard)
    assert report.lines()[0].startswith("3 textures are missing: add the game to the preferences to see them (")
    _, report = imported(yard, textures=False)
    assert not report.warnings


KINDS = {"surfaces": "SURFACE", "trees": "TREE", "portals": "PORTAL", "lights": "LIGHT", "glows": "GLOW"}
"""Options and what they make of our sample, which has no impostors."""


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_ticked_alone_is_made_alone(kind, yard):
    model, _ = imported(yard, **(NONE | {kind: True}))
    assert list(model) == [KINDS[kind]]


@pytest.mark.parametrize("kind", level_folder.VISUALS)
def test_what_is_not_ticked_is_not_made(kind, yard):
    model, _ = imported(yard, **{kind: False})
    assert set(model) == {made_of for option, made_of in KINDS.items() if option != kind}


def test_without_visuals_a_folder_that_has_nothing_else_is_refused(yard):
    with pytest.raises(ReadError, match="no supported file in it"):
        imported(yard, **NONE)


def test_without_sectors_all_surfaces_are_in_one_collection(yard):
    imported(yard, sectors=False)
    whole = bpy.context.scene.collection.children["yard"]
    assert [len(below.objects) for below in whole.children] == [2, 2, 1, 3]
    assert not whole.children[0].children


def test_a_portal_faces_its_front_sector(yard):
    model, _ = imported(yard)
    (portal,) = model["PORTAL"].objects
    assert portal.name == "yard portal 000 (0|1)"
    # Sector 0 is the yard, in front of the door at y = -2; v0, v1, v2 are clockwise from there in the file's axes.
    corners = np.array([(-0.5, 0, -2), (0.5, 0, -2), (0.5, 2, -2)])
    into_front = np.cross(corners[1] - corners[0], corners[2] - corners[0])[[0, 2, 1]]
    normal = column(portal.data.polygon_normals, "vector", 3)[0]
    assert np.allclose(normal, into_front / np.linalg.norm(into_front))
    assert column(portal.data.vertices, "co", 3)[0].tolist() == [-0.5, -2, 0]
    assert len(portal.data.vertices) == 4


@pytest.mark.parametrize("path", corpus_files("level/nlc_*/level"))
def test_portals_of_real_levels_are_planar_faces_between_their_sectors(path):
    report = Report()
    options = LevelFolderOptions(**(NONE | {"portals": True}))
    (document,) = visuals.read(path, options, report, lambda _done: None)
    rows = levels.read(path.read_bytes(), str(path), Report()).portals
    assert len(document.objects) == len(rows)
    for obj, row in zip(document.objects, rows, strict=True):
        points = column(obj.data.vertices, "co", 3).astype(np.float64)
        assert len(points) == row["count"]
        assert f"({row['front']}|{row['back']})" in obj.name
        (normal,) = column(obj.data.polygon_normals, "vector", 3)
        assert np.abs((points - points[0]) @ normal).max() < 2e-3


def test_lights_shine_where_the_file_says(yard):
    model, _ = imported(yard)
    sun, lamp = model["LIGHT"].objects
    assert (sun.data.type, lamp.data.type) == ("SUN", "POINT")
    direction = np.array(sun.matrix_world)[:3, :3] @ (0, 0, -1)
    assert np.allclose(direction, np.array((0.5, 0.25, -0.75)) / np.linalg.norm((0.5, 0.25, -0.75)), atol=1e-6)
    assert np.allclose(lamp.location, (0, 0, 2))
    assert np.allclose(lamp.data.color, (1, 1.25 / 1.5, 0))
    assert lamp.data.energy == pytest.approx(10 * 1.5 * 4**2)
    (glow,) = model["GLOW"].objects
    assert glow.name == "yard glow 000 lamp"
    assert (glow.empty_display_size, tuple(glow.location)) == (0.5, (0, 0, 2.25))


def test_impostors_face_who_looks_at_them(corpus, tmp_path):
    source = corpus / "level" / "olr_tss_cd70ecb"
    model, _ = imported(copied(source, tmp_path / "tss", *FILES, "level_lods.dds"))
    document = levels.read((source / "level").read_bytes(), "level", Report())
    corners = document.visuals.fixed[Kind.LOD]["corners"]
    impostors = model["LOD"].objects
    assert [len(obj.data.polygons) for obj in impostors] == [8] * len(corners) == [8, 8]
    facing = np.array([(0, 1), (-0.71, 0.71), (-1, 0), (-0.71, -0.71), (0, -1), (0.71, -0.71), (1, 0), (0.71, 0.71)])
    normals = np.concatenate([column(obj.data.polygon_normals, "vector", 3) for obj in impostors])
    # The engine's facet normals point away from the viewer.
    assert np.allclose(normals[:, :2], np.tile(-facing, (2, 1)), atol=0.02)
    firsts = np.array([column(obj.data.vertices, "co", 3)[0] for obj in impostors])
    assert np.allclose(firsts, corners[:, 0]["position"][:, 0][:, [0, 2, 1]])
    assert [obj.motionbridge_level.row for obj in impostors] == document.visuals.owners(Kind.LOD)[0].tolist()
    assert [obj.parent for obj in impostors] == model["TREE"].held
    assert [obj.name for obj in impostors] == [f"{tree.name} LOD" for tree in model["TREE"].held]
    (material,) = {material for obj in impostors for material in obj.data.materials}
    assert image_of(material).name == "level_lods.dds"
    layers = bpy.context.view_layer.layer_collection.children["tss"].children
    assert [layer.name for layer in layers if layer.exclude] == ["Impostors tss"]


# What is missing or broken --------------------------------------------------------------------------------------------


def test_level_alone_gives_boxes_and_portals(yard):
    (yard / "level.geom").unlink()
    model, report = imported(yard)
    assert report.warnings["level.geom is not beside it: surfaces and trees are shown as boxes"] == ["level"]
    outside, inside = model["SURFACE"].held
    assert (len(outside.data.edges), len(outside.data.polygons)) == (12, 0)
    assert np.allclose(bounds(outside), ((-5.001, -5.001, -0.001), (5.001, 5.001, 0.001)))
    assert np.allclose(bounds(inside), ((-2.001, -2.001, -0.001), (2.001, 2.001, 2.501)))
    (trees,) = model["TREE"].held
    assert len(trees.data.vertices) == 16
    assert column(trees.data.attributes["visual"].data, "value", 1, np.int32).tolist() == [2] * 8 + [3] * 8
    layers = bpy.context.view_layer.layer_collection.children["yard"].children
    assert [layer.name for layer in layers if layer.exclude] == ["Portals yard"]


def bounds(actual):
    return world(actual).min(axis=0), world(actual).max(axis=0)


def test_a_broken_level_geom_gives_boxes_and_says_why(yard):
    (yard / "level.geom").write_bytes((yard / "level.geom").read_bytes()[:100])
    model, report = imported(yard)
    (message,) = [warning for warning in report.warnings if "shown as boxes" in warning]
    assert "level.geom" in message
    assert len(model["SURFACE"].held) == 2


def test_a_broken_level_does_not_stop_the_other_files(samples, tmp_path):
    folder = copied(samples / "level", tmp_path / "yard", *FILES, "level.cform")
    (folder / "level").write_bytes((folder / "level").read_bytes()[:200])
    model, report = imported(folder)
    assert list(model) == ["CFORM"]
    assert any(warning.startswith("left out: ") for warning in report.warnings)
    assert {obj.motionbridge_level.kind for obj in bpy.data.objects} == {"CFORM"}


def test_an_import_that_is_stopped_leaves_nothing(yard):
    before = snapshot()

    def call():
        with scope.undone_on_failure(bpy.context), scope.progress(bpy.context, 1) as step:
            return level_folder.import_folder(bpy.context, yard, LevelFolderOptions(), Report(), step)

    pauses = 0
    while True:
        work = Work(call)
        for _ in range(pauses + 1):
            if work.advance(0.0):
                break
        if work.ended:
            break
        pauses += 1
        work.stop()
        with pytest.raises(Stopped):
            work.result()
        assert differences(before, snapshot()) == []
    assert pauses > 4
    assert work.result()


def test_values_that_are_not_finite_do_no_harm(yard):
    data = bytearray((yard / "level").read_bytes())
    nan, infinite = struct.pack("<f", np.nan), struct.pack("<f", np.inf)
    light = data.index(struct.pack("<2I4f", 2, 1, 1.5, 1.25, -1e-5, 1))
    data[light + 8 : light + 12] = nan
    data[light + 56 : light + 60] = infinite
    tree = data.index(struct.pack("<3f", 3.5, 0, 3.5))
    data[tree : tree + 4] = nan
    (yard / "level").write_bytes(data)
    model, report = imported(yard)
    assert len(model["TREE"].held) == 2
    assert np.allclose(model["LIGHT"].objects[1].location, (0, 0, 2))
    assert any("NaN or infinite" in warning for warning in report.warnings)


def test_the_operator_takes_a_folder_with_its_ticks(yard):
    assert bpy.ops.import_scene.xray_level(directory=str(yard), trees=False, sectors=False) == {"FINISHED"}
    kinds = {obj.motionbridge_level.kind for obj in bpy.data.objects}
    assert kinds == {"SURFACE", "PORTAL", "LIGHT", "GLOW", "LEVEL"}
    assert bpy.context.window_manager.motionbridge_report.startswith("Imported 1 file, 6 objects")
    with pytest.raises(RuntimeError, match="holds no file of a level"):
        bpy.ops.export_scene.xray_level_geometry(filepath=str(yard / "out.cform"))


def test_what_is_seen_does_not_stand_in_as_of_exporting_collision(samples, tmp_path):
    folder = copied(samples / "level", tmp_path / "yard", *FILES, "level.cform")
    bpy.ops.import_scene.xray_level(directory=str(folder))
    active = bpy.context.view_layer.objects.active
    assert active.motionbridge_level.kind == "SURFACE"
    out = tmp_path / "out.cform"
    assert bpy.ops.export_scene.xray_level_geometry(filepath=str(out)) == {"FINISHED"}
    assert out.read_bytes() == (folder / "level.cform").read_bytes()


def test_the_ai_map_and_wallmarks_of_the_folder(samples, tmp_path):
    folder = copied(samples / "level", tmp_path / "yard", *FILES, "level.ai", "level.wallmarks")
    model, report = imported(folder, **NONE)
    assert set(model) == {"AI", "WALLMARKS"}
    assert report.notes["AI Map: 11 nodes, 1 isolated, 1 with one-way links"] == ["level.ai"]
    assert report.notes["Wallmarks: 1 mark, 1 face"] == ["level.wallmarks"]
    (nodes,), (marks,) = model["AI"].objects, model["WALLMARKS"].objects
    assert len(nodes.data.polygons) == 11
    isolated = column(nodes.data.attributes["isolated"].data, "value", 1, np.bool_)
    assert isolated.tolist() == [True] + [False] * 10
    assert all("open" in material.name for material in nodes.data.materials)
    assert marks.data.materials[0].motionbridge_material.texture == "wm\\wm_dirt"
    layers = bpy.context.view_layer.layer_collection.children["yard"].children
    assert {layer.name: layer.exclude for layer in layers} == {"Wallmarks yard": False, "AI Map yard": False}
    model, _ = imported(folder, ai_map=False, wallmarks=False)
    assert not {"AI", "WALLMARKS"} & set(model)


def test_placed_objects_are_empties_with_their_names(samples, tmp_path):
    names = ("level.ps_static", "level.env_mod", "level.snd_static", "level.spawn")
    folder = copied(samples / "level", tmp_path / "yard", *names)
    model, report = imported(folder)
    assert {kind: [obj.name for obj in result.objects] for kind, result in model.items()} == {
        "PARTICLES": ["anomaly\\smoke_01"],
        "WEATHER": ["weather modifier 000"],
        "SOUNDS": ["ambient\\wind_1", "ambient\\fan_1"],
        "SPAWNED": ["graph_point yard_point", "physic_object yard_fan"],
    }
    positions = {obj.name: tuple(obj.matrix_world.translation) for result in model.values() for obj in result.objects}
    assert positions["anomaly\\smoke_01"] == (1, -3, 0.5)
    assert positions["weather modifier 000"] == (0, 0, 1)
    assert positions["ambient\\wind_1"] == (4, 4, 1)
    assert positions["graph_point yard_point"] == (3, -3, 0)
    assert model["WEATHER"].objects[0].empty_display_size == 8
    assert report.notes["Placed Objects: 2 static sounds"] == ["level.snd_static"]
    with pytest.raises(ReadError, match="no supported file in it"):
        imported(folder, placed=False)


@pytest.mark.parametrize("path", corpus_files("level/*/level.ps_static"))
def test_real_particles_are_where_their_matrix_says(path):
    document = ps_static.read(path.read_bytes(), str(path), Report())
    result = level_geometry.read_file(path, LevelFolderOptions(), Report())
    exchange = np.eye(4)[[0, 2, 1, 3]]
    for mesh, row in zip(result.meshes, document.after, strict=True):
        wanted = exchange @ row["transform"].T.astype(np.float64) @ exchange
        assert np.allclose(np.array(mesh.matrix_world), wanted, atol=2e-4)
