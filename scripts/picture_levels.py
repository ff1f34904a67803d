"""The pictures of levels: collision, occluders, a detail model, a level's folder, what the game would reject."""

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
    SCENES += [collision, occluders, detail_model, details, plants]
