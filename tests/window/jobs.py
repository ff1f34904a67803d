"""Ten jobs of users, each click simulated and counted: no panel is opened, nothing is looked up in preferences.

Scripts only make what the job begins with. What comes of it is read from the scene, and from the bytes of what is
written by readers of these scenes' own.
"""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector

from addon.games.arma import lod_list
from addon.games.xray.levels import tree_sets
from tests.blender.oof_scene import parts
from tests.window import pointing, retargeting, stage
from tests.window.pointing import Spot
from tests.window.stage import Steps


class Mouse(stage.Hand):
    """Clicks where a person would, and counts."""

    def button(self, call: str, across: float = 0.5) -> Any:
        """Click a button of the sidebar; return where it is."""
        spot = yield from pointing.button(call, across)
        yield from self.at(spot, call)
        return spot

    def at(self, spot: Spot, what: str, **modifiers: bool) -> Steps:
        """Click at a place of the window."""
        self.click(what)
        yield from pointing.click(*spot, **modifiers)

    def menu(self, spot: Spot, call: str) -> Steps:
        """Open the menu at a place, and choose the entry with this call."""
        yield from self.at(spot, "menu")
        yield from self.at((yield from pointing.opened(pointing.calls(call), spot)), call)

    def field(self, is_wanted: Callable[[str], bool], text: str, opened_at: Spot) -> Steps:
        """Type into the field of the open dialog whose value is wanted."""
        spot = yield from pointing.opened(is_wanted, opened_at)
        yield from self.at(spot, "field")
        yield from pointing.key("A", *spot, ctrl=True)
        yield from pointing.typed(text, spot)
        yield from pointing.key("RET", *spot)

    def ok(self) -> Steps:
        """The button of the open dialog, by its key."""
        self.click("OK")
        yield from stage.confirm()

    def written(self, path: Path) -> Steps:
        """Choose a file in the open browser."""
        self.click("button of the browser")
        yield from stage.until(lambda: stage.areas("FILE_BROWSER"), "the file browser")
        yield from stage.until(lambda: stage.area("FILE_BROWSER").spaces.active.params, "the file browser")
        yield
        yield from stage.accept(path)
        yield from stage.reported()


def said_before() -> None:
    """From here on, `stage.sentence` tells what is new; the editor of reports is the viewport."""
    bpy.context.window_manager.motionbridge_report = ""


def viewport() -> Spot:
    """The middle of what the sidebar leaves free of the viewport."""
    area = stage.area()
    return (area.x + pointing.sidebar().x) // 2, area.y + area.height // 2


def drawn_at(point: Any) -> Spot:
    """Where the viewport draws a point of the world."""
    with stage.there():
        region, view = bpy.context.region, bpy.context.space_data.region_3d
        result = view3d_utils.location_3d_to_region_2d(region, view, Vector(point))
    return int(region.x + result.x), int(region.y + result.y)


def boxes(count: int) -> list[Any]:
    """Boxes of one metre beside each other, selected; the last is active."""
    for number in range(count):
        with stage.there():
            bpy.ops.mesh.primitive_cube_add(size=1, location=(2 * number, 0, 0))
    for obj in bpy.context.view_layer.objects:
        obj.select_set(True)
    stage.step("Draw")
    return list(bpy.context.view_layer.objects)


def level(*selected: Any) -> Path:
    """The sample level, imported without the dialog; its folder."""
    folder = stage.sample("level")
    stage.call("import_scene.xray_level", directory=str(folder))
    said_before()
    stage.step("Import")
    return folder


def chunks(data: bytes) -> dict[int, bytes]:
    """Chunks of a file of X-Ray by their numbers."""
    result, at = {}, 0
    while at < len(data):
        number, size = struct.unpack_from("<II", data, at)
        result[number] = data[at + 8 : at + 8 + size]
        at += 8 + size
    return result


# Levels -------------------------------------------------------------------------------------------------------------


def trees(path: Path) -> np.ndarray:
    """(trees, 4, 4) the matrices in a `level`."""
    visuals = [chunks(body) for body in chunks(chunks(path.read_bytes())[3]).values()]
    return np.array([np.frombuffer(entry[12], "<f4", 16).reshape(4, 4) for entry in visuals if 12 in entry])


def a_named_model_of_a_level() -> Steps:
    """A level is imported, and a placed object is found by its name in Blender's outliner."""
    mouse = Mouse(6)
    folder = stage.sample("level")
    spot = yield from pointing.button("import_scene.xray_ogf", 0.5)
    area = pointing.sidebar()
    yield from mouse.menu((area.x + area.width - 50, spot[1]), "import_scene.xray_level(")
    mouse.click("the folder")
    yield from mouse.written(folder)
    placed = next(collection for collection in bpy.data.collections if collection.name.startswith("Placed Objects"))
    wanted = placed.objects[-1]
    outliner = stage.area("IMAGE_EDITOR")
    outliner.type = "OUTLINER"
    try:
        yield
        yield
        search = outliner.x + outliner.width - 12, outliner.y + outliner.height - 14
        yield from mouse.at(search, "search of the outliner")
        yield from pointing.typed("yard_fan", search)
        yield from pointing.key("RET", *search)
        yield from mouse.at((outliner.x + 52, outliner.y + outliner.height - 101), wanted.name)
    finally:
        outliner.type = "IMAGE_EDITOR"
    assert bpy.context.view_layer.objects.active == wanted, bpy.context.view_layer.objects.active
    yield from pointing.key("NUMPAD_PERIOD", *viewport())
    view = stage.area().spaces.active.region_3d.view_location
    assert (view - wanted.matrix_world.translation).length < 0.1
    mouse.rests()


def a_whole_tree() -> Steps:
    """A click, G X 2: bark, leaves and impostor move; Save Back writes their matrices."""
    mouse = Mouse(5)
    folder = level()
    before = trees(folder / "level")
    tree = next(obj for obj in bpy.context.scene.objects if tree_sets.is_tree(obj))
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj == tree)
    stage.call("view3d.view_selected")
    tree.select_set(False)
    bpy.context.view_layer.objects.active = None
    yield
    yield
    part = next(iter(tree_sets.parts_of(tree.motionbridge_level.parts).values()))
    corner = tree.matrix_world @ part.matrix_world @ part.data.vertices[0].co
    yield from mouse.at(drawn_at(corner), "the tree")
    assert bpy.context.view_layer.objects.active == tree, bpy.context.view_layer.objects.active
    old = tree.location.copy()
    for name in ("G", "X"):
        yield from pointing.key(name, *viewport())
    yield from pointing.typed("2", viewport())
    mouse.click("where it ends")
    yield from pointing.key("RET", *viewport())
    assert (tree.location - old - Vector((2, 0, 0))).length < 1e-5, tree.location
    yield from mouse.button("level_save_back")
    yield from mouse.ok()
    yield from stage.until(stage.sentence, "a report")
    moves = trees(folder / "level") - before
    moved = moves[moves.any((1, 2))]
    assert len(moved) == len(tree_sets.parts_of(tree.motionbridge_level.parts)), stage.sentence()
    np.testing.assert_allclose(moved[:, 3], [[2, 0, 0, 0]] * len(moved), atol=1e-5)
    assert not moved[:, :3].any()
    mouse.rests()


def ten_faces() -> Steps:
    """Collision is chosen in the list of layers, ten faces in a box, their game material by its name."""
    mouse = Mouse(7)
    path = level() / "level.cform"
    before = faces(path)
    yield from mouse.button('level_layer_select(layer="Collision', 0.8)
    obj = bpy.context.view_layer.objects.active
    stage.call("view3d.view_selected")
    view = stage.area().spaces.active.region_3d
    view.view_distance *= 2
    view.view_location += view.view_rotation @ Vector((view.view_distance / 5, 0, 0))  # from below the sidebar
    yield
    spots = np.array([drawn_at(obj.matrix_world @ face.center) for face in obj.data.polygons])
    across = np.sort(spots[:, 0])
    chosen = [obj.data.materials[face.material_index].name for face in obj.data.polygons]
    chosen = [name for name, x in zip(chosen, spots[:, 0], strict=True) if x <= across[9]]
    assert len(chosen) == 10
    for name in ("TAB", "THREE"):
        yield from pointing.key(name, *viewport())
    yield from pointing.key("A", *viewport(), alt=True)
    yield from pointing.key("B", *viewport())
    mouse.click("a box around ten faces")
    low, high = int(spots[:, 1].min()) - 40, int(spots[:, 1].max()) + 40
    yield from pointing.drag((40, high), (int(across[9] + across[10]) // 2, low))
    spot = yield from mouse.button("level_collision(")
    yield from mouse.field(lambda value: value.startswith("materials"), "bricks", spot)
    yield from mouse.ok()
    assert stage.sentence().endswith("of 10 selected"), stage.sentence()
    said_before()
    yield from mouse.button("level_save_back(")
    yield from mouse.ok()
    yield from stage.until(stage.sentence, "a report")
    changed, bricks = faces(path) != before, bpy.data.materials["materials\\bricks"].motionbridge_material.number
    assert changed.sum() == len(chosen) - chosen.count("materials\\bricks"), (changed, chosen)
    assert (faces(path)[changed] == before[changed] & (0xFFFFFFFF ^ MATERIAL) | bricks).all()
    mouse.rests()


MATERIAL = 0x3FFF
"""Bits of a collision face with its game material."""


def faces(path: Path) -> np.ndarray:
    """(faces,) material, flags and sector of each face in a `level.cform`, which has a header of 36 bytes."""
    data = path.read_bytes()
    _, vertices, count = struct.unpack_from("<3I", data)
    return np.frombuffer(data, "<u4", 4 * count, 36 + 12 * vertices).reshape(-1, 4)[:, 3]


def an_occluder_of_three_boxes() -> Steps:
    """All boxes are selected, used as occluders and exported as one file."""
    mouse = Mouse(5)
    boxes(3)
    path = stage.folder() / "level.hom"
    mouse.click("select all")
    yield from pointing.key("A", *viewport())
    x, y = yield from pointing.button("descent_begin(")
    yield from mouse.menu((x, y + 22), "level_begin(kind='HOM')")
    yield from stage.until(stage.sentence, "a report")
    said_before()
    yield from mouse.button("export_scene.xray_level_geometry(")
    yield from mouse.written(path)
    corners = np.frombuffer(path.read_bytes()[20:], "<f4").reshape(-1, 10)[:, :9].reshape(-1, 3)
    assert len(corners) == 3 * 36, stage.sentence()
    assert {*corners[:, 0].tolist()} == {-0.5, 0.5, 1.5, 2.5, 3.5, 4.5}
    mouse.rests()


# Arma ---------------------------------------------------------------------------------------------------------------


def crate() -> None:
    """A box with the LODs of a new model."""
    boxes(1)
    stage.call("motionbridge.arma_new_lods")
    stage.step("Make All Arma LODs")
    said_before()


def row_of(lod: str) -> Any:
    """Return where the name of a LOD is in the list."""
    names = [entry.name for entry in lod_list.lods_of(bpy.context)]
    x, y = yield from pointing.button(f"arma_lod_hide(index={names.index(lod)})", 0.69)
    return x - 110, y


def all_lods_of_a_crate() -> Steps:
    """One dialog, confirmed as it opens, and the export."""
    mouse = Mouse(4)
    boxes(1)
    path = stage.folder() / "crate.p3d"
    yield from mouse.button("arma_new_lods(")
    yield from mouse.ok()
    yield from stage.until(stage.sentence, "a report")
    said_before()
    yield from mouse.button("export_scene.arma_p3d(")
    yield from mouse.written(path)
    lods = read_p3d(path)
    assert [*lods] == [1, 2, 1e4, 1e13, 6e15, 7e15], "a box has no third with fewer faces"
    assert all(polygons for polygons, _ in lods.values())
    assert lods[1e13][1] > 0, "a mass"
    mouse.rests()


def one_lod() -> Steps:
    """A click on its row."""
    mouse = Mouse(1)
    crate()
    yield from mouse.at((yield from row_of("Geometry")), "Geometry")
    visible = [entry.name for entry in lod_list.lods_of(bpy.context) if not entry.is_hidden()]
    assert visible == ["Geometry"], visible
    mouse.rests()


def a_mass() -> Steps:
    """The Geometry, Set Mass, a number."""
    mouse = Mouse(6)
    crate()
    path = stage.folder() / "crate.p3d"
    yield from mouse.at((yield from row_of("Geometry")), "Geometry")
    spot = yield from mouse.button("arma_set_mass(")
    yield from mouse.field(lambda value: value.replace(".", "").isdigit(), "75", spot)
    yield from mouse.ok()
    yield from stage.until(stage.sentence, "a report")
    said_before()
    yield from mouse.button("export_scene.arma_p3d(")
    yield from mouse.written(path)
    assert abs(read_p3d(path)[1e13][1] - 75) < 1e-3, read_p3d(path)
    mouse.rests()


def read_p3d(path: Path) -> dict[float, tuple[int, float]]:
    """Resolution of each LOD in a `.p3d` -> its number of faces, and the sum of its points' masses."""
    data, result = path.read_bytes(), {}
    (count,) = struct.unpack_from("<I", data, 8)
    at = 12
    for _ in range(count):
        assert data[at : at + 4] == b"P3DM"
        points, normals, polygons = struct.unpack_from("<3I", data, at + 12)
        at += 28 + 16 * points + 12 * normals
        for _ in range(polygons):
            at += 4 + 4 * 16 + 4
            for _ in range(2):
                at = data.index(b"\0", at) + 1
        at, mass, name = at + 4, 0.0, b""
        while name != b"#EndOfFile#":
            end = data.index(b"\0", at + 1)
            name, (size,) = data[at + 1 : end], struct.unpack_from("<I", data, end + 1)
            if name == b"#Mass#":
                mass = float(np.frombuffer(data, "<f4", size // 4, end + 5).sum())
            at = end + 5 + size
        (resolution,) = struct.unpack_from("<f", data, at)
        result[float(f"{resolution:.4g}")] = polygons, mass
        at += 4
    return result


def an_animation_from_another_rig() -> Steps:
    """Both armatures are selected; the button below Import Animation takes the other one's motion."""
    mouse = Mouse(6)
    with stage.there():
        bpy.ops.import_anim.bvh(filepath=str(retargeting.capture()))
    stage.call("import_scene.arma_p3d", filepath=str(stage.sample("arma/man.p3d")), rig="NEW")
    man = next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE" and obj.name != "strut")
    bpy.context.view_layer.objects.active = man
    stage.step("Import")
    said_before()
    yield
    mouse.click("the other armature", "the man, with Shift")
    yield from pointing.key("A", *viewport())
    yield from mouse.button("choose_retarget_file(")
    yield from mouse.ok()
    yield from stage.until(stage.sentence, "a report")
    assert "got motions of another skeleton: strut" in stage.sentence(), stage.sentence()
    said_before()
    path = stage.folder() / "strut.rtm"
    yield from mouse.button("export_scene.arma_rtm(")
    yield from mouse.written(path)
    data = path.read_bytes()
    frames, bones = struct.unpack_from("<2I", data, 20)
    assert (data[:8], bones) == (b"RTM_0101", len(man.data.bones)), stage.sentence()
    assert len(data) == 28 + 32 * bones + frames * (4 + 80 * bones)
    times = np.frombuffer(data, np.dtype([("phase", "<f4"), ("bones", "V80", bones)]), frames, 28 + 32 * bones)
    assert len({row.tobytes() for row in times["bones"]}) > 30, "it moves"
    mouse.rests()


# Descent 3 ----------------------------------------------------------------------------------------------------------


def a_new_ship() -> Steps:
    """A box becomes a ship, which is exported."""
    mouse = Mouse(3)
    boxes(1)
    path = stage.folder() / "ship.oof"
    yield from mouse.button("descent_begin(")
    yield from stage.until(stage.sentence, "a report")
    said_before()
    yield from mouse.button("export_scene.descent3_oof(")
    yield from mouse.written(path)
    (hull,) = parts(path.read_bytes())
    assert len(hull.faces) == 6
    mouse.rests()


def a_glow_on_it() -> Steps:
    """Add Point, Glow, Save Model Back."""
    mouse = Mouse(4)
    path = stage.folder() / "ship.oof"
    boxes(1)
    stage.call("motionbridge.descent_begin")
    stage.call("export_scene.descent3_oof", filepath=str(path))
    stage.call("object.select_all", action="SELECT")
    stage.call("object.delete")
    stage.call("import_scene.descent3_oof", filepath=str(path))
    said_before()
    yield
    x, y = yield from pointing.button("descent_check(")
    yield from mouse.menu((x, y + 26), "descent_point_add(kind='GLOW')")
    yield from stage.until(stage.sentence, "a report")
    said_before()
    yield from mouse.button("descent_save_back(")
    yield from mouse.ok()
    yield from stage.until(stage.sentence, "a report")
    _, glow = parts(path.read_bytes())
    assert glow.properties.startswith("$glow="), stage.sentence()
    mouse.rests()


SCENES = [
    (f"job: {scene.__name__.replace('_', ' ')}", pointing.in_the_sidebar(scene))
    for scene in (
        a_named_model_of_a_level, a_whole_tree, ten_faces, an_occluder_of_three_boxes,
        all_lods_of_a_crate, one_lod, a_mass, an_animation_from_another_rig,
        a_new_ship, a_glow_on_it,
    )
]  # fmt: skip
