"""The pictures of levels: what is seen, collision, portals, the AI map, occluders, detail models, what is rejected."""

from collections.abc import Callable
from math import radians
from pathlib import Path

import bpy
import numpy as np
from mathutils import Euler
from picture_studio import HERE, Steps, area, shot, sidebar, there

LEVELS = HERE / "gamedata" / "levels"
DETAIL_MODEL = HERE / "gamedata" / "meshes" / "samples" / "detail.dm"


def prepare() -> None:
    """A texture to see the coordinates of a detail model by."""
    picture = bpy.data.images.new("details", 512, 512)
    picture.generated_type = "COLOR_GRID"
    picture.filepath_raw = str(HERE / "gamedata" / "textures" / "build_details.png")
    picture.file_format = "PNG"
    picture.save()


def load_level(*files: Path) -> None:
    """Import files of a level, each by its operator."""
    for file in files:
        with there():
            bpy.ops.import_scene.xray_level_geometry(filepath=str(file))


def look(tilt: float, turn: float, nearer: float = 1.0, at: tuple[float, float, float] | None = None) -> None:
    """From ``tilt`` degrees off straight down and ``turn`` round, at the selection or at a place."""
    space = area().spaces.active
    view = space.region_3d
    view.view_perspective = "PERSP"
    view.view_rotation = Euler((radians(tilt), 0, radians(turn))).to_quaternion()
    space.clip_start, space.clip_end = 0.1, 5000
    with there():
        bpy.ops.view3d.view_selected()
    view.view_distance *= nearer
    if at is not None:
        view.view_location = at


def light() -> None:
    """Colours by material and nothing in the way."""
    space = area().spaces.active
    space.shading.light, space.shading.studio_light = "STUDIO", "paint.sl"
    space.shading.color_type = "MATERIAL"
    overlay = space.overlay
    overlay.show_outline_selected = overlay.show_extras = overlay.show_object_origins = overlay.show_cursor = False
    overlay.show_floor = overlay.show_axis_x = overlay.show_axis_y = False
    space.show_gizmo = False


def load_folder(name: str, *kinds: str) -> None:
    """Import a level's folder and show only the collections of these kinds."""
    with there():
        bpy.ops.import_scene.xray_level(directory=str(LEVELS / name))
    (whole,) = (one for one in bpy.context.view_layer.layer_collection.children[0].children if one.name == name)
    for below in whole.children:
        below.exclude = below.name.removesuffix(f" {name}") not in kinds
    with there():
        bpy.ops.object.select_all(action="DESELECT")
    shown = [one for one in bpy.context.view_layer.objects if one.type == "MESH"]
    for one in shown:
        one.select_set(True)
    bpy.context.view_layer.objects.active = shown[0]


def of_kind(kind: str) -> list[bpy.types.Object]:
    """The objects of a kind that are shown."""
    return [one for one in bpy.context.view_layer.objects if one.motionbridge_level.kind == kind]


def paint(colour: tuple[float, float, float], *kinds: str) -> list[bpy.types.Object]:
    """Colour the objects of these kinds, for a viewport that is coloured by object."""
    found = [one for kind in kinds for one in of_kind(kind)]
    for one in found:
        one.color = (*colour, 1.0)
    area().spaces.active.shading.color_type = "OBJECT"
    return found


def level_visuals() -> Steps:
    """Surfaces and trees of a real level."""
    load_folder("olr_tss", "Surfaces", "Trees")
    light()
    paint((0.45, 0.42, 0.36), "SURFACE")
    paint((0.25, 0.5, 0.2), "TREE")
    yield from sidebar()
    look(62, -35, 0.65)
    yield from shot("level_visuals")


def level_collision() -> Steps:
    """The same with its collision as wires over it."""
    load_folder("olr_tss", "Surfaces", "Trees", "Collision")
    light()
    paint((0.35, 0.34, 0.32), "SURFACE")
    paint((0.22, 0.35, 0.2), "TREE")
    for one in paint((0.9, 0.3, 0.1), "CFORM"):
        one.display_type, one.show_in_front = "WIRE", True
        bpy.context.view_layer.objects.active = one
    yield from sidebar()
    look(62, -35, 0.65)
    yield from shot("level_collision")


def level_ai() -> Steps:
    """The AI map of the same level, by cover, a little above the ground that would shimmer through it."""
    load_folder("olr_tss", "Surfaces", "Trees", "AI Map")
    light()
    (nodes,) = of_kind("AI")
    nodes.location.z = 0.4
    bpy.context.view_layer.objects.active = nodes
    yield from sidebar()
    look(50, -35, 0.75)
    yield from shot("level_ai")


def level_portal() -> Steps:
    """The portal between two sectors, from its front."""
    load_folder("bx_test", "Surfaces", "Portals")
    light()
    bpy.context.view_layer.objects.active = of_kind("PORTAL")[0]
    yield from sidebar()
    look(60, -35, 0.8)
    yield from shot("level_portal")


def level_structure() -> Steps:
    """A real level of which only `level` and the AI map are there: its portals over the map."""
    load_folder("l06_rostok", "Portals", "AI Map")
    light()
    paint((0.2, 0.4, 0.45), "AI")
    openings = paint((0.95, 0.45, 0.1), "PORTAL")
    with there():
        bpy.ops.object.select_all(action="DESELECT")
    for one in openings:
        one.show_in_front = True
        one.select_set(True)
    bpy.context.view_layer.objects.active = openings[0]
    yield from sidebar()
    look(45, 20, 0.7)
    yield from shot("level_structure")


def collision() -> Steps:
    """A level's collision by game material, with the legend."""
    load_level(LEVELS / "tss" / "level.cform")
    light()
    yield from sidebar()
    look(62, -35, 0.3, (8, 10, 2))
    yield from shot("collision")


def occluders() -> Steps:
    """A level's occluders, and over them what muffles its sound, each in a collection."""
    with there():
        bpy.ops.import_scene.xray_level(directory=str(LEVELS / "l05_bar"))
    light()
    sound = next(one for one in bpy.data.objects if one.name.startswith("level.som"))
    bpy.context.view_layer.objects.active = sound
    yield from sidebar()
    look(52, 20, 0.55, (150, 75, 0))
    yield from shot("occluders")


def detail_model() -> Steps:
    """A detail model beside its texture coordinates."""
    load_level(DETAIL_MODEL)
    light()
    area().spaces.active.shading.color_type = "TEXTURE"
    with there():
        bpy.ops.screen.area_split(direction="VERTICAL", factor=0.42)
    yield 0.5
    views = sorted((one for one in bpy.context.window.screen.areas if one.type == "VIEW_3D"), key=lambda one: one.x)
    views[0].ui_type = "UV"
    with there():
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="SELECT")
    views[0].spaces.active.image = bpy.data.images["build_details.png"]
    yield 0.5
    with bpy.context.temp_override(area=views[0], region=views[0].regions[-1]):
        bpy.ops.image.view_all(fit_view=True)
    look(78, 25, 0.9)
    yield from shot("detail_model")


def level_check() -> Steps:
    """What the game would reject, selected."""
    load_level(LEVELS / "sample" / "level.cform")
    light()
    look(62, 35, 0.75)
    with there():
        bpy.ops.motionbridge.level_check(number=1)
    yield from sidebar()
    yield from shot("level_check")


def details() -> Steps:
    """What grows on a level: its ground in the colours of the models."""
    load_level(LEVELS / "l08_yantar" / "level.details")
    light()
    yield from sidebar()
    look(40, 20, 1.25)
    yield from shot("details")


def plants() -> Steps:
    """What grows on some slots, scattered as a preview, with the models in the panel."""
    load_level(LEVELS / "l08_yantar" / "level.details")
    light()
    ground = bpy.context.active_object
    middles = np.empty(3 * len(ground.data.polygons), np.float32)
    ground.data.polygons.foreach_get("center", middles)
    near = np.linalg.norm(middles.reshape(-1, 3)[:, :2] - (-20, -60), axis=1) < 25
    ground.data.polygons.foreach_set("select", near)
    with there():
        bpy.ops.motionbridge.details_scatter(spacing=0.35)
    yield from sidebar()
    look(72, 25, 0.06, (-20, -60, float(np.median(middles.reshape(-1, 3)[near, 2]))))
    yield from shot("plants")


SCENES: list[Callable[[], Steps]] = [level_check]
if (LEVELS / "tss").is_dir():
    SCENES += [level_visuals, level_collision, level_ai, level_portal, level_structure]
    SCENES += [collision, occluders, detail_model, details, plants]
