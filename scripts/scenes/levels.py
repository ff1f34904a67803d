"""Scenes for the pictures of levels: surfaces, collision, portals, the AI map, occluders, detail models, checks."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np

from .studio import GAME, SAMPLES, Scene, Steps, area, clear_view, in_area, load, look, picture, space

LEVELS = GAME / "levels"
Colour = tuple[float, float, float]


def light() -> None:
    """Show material colors with studio lighting, without overlays."""
    view, overlay = space(), space().overlay
    view.clip_start, view.clip_end = 0.1, 5000
    view.shading.light, view.shading.studio_light = "STUDIO", "paint.sl"
    view.shading.color_type = "MATERIAL"
    overlay.show_outline_selected = overlay.show_extras = overlay.show_object_origins = False
    clear_view()


def of_kind(kind: str) -> list[bpy.types.Object]:
    """Return the level objects of a kind in the view layer."""
    return [obj for obj in bpy.context.view_layer.objects if obj.motionbridge_level.kind == kind]


def select(result: list[bpy.types.Object]) -> None:
    """Select only these objects; the first becomes active."""
    bpy.ops.object.select_all(action="DESELECT")
    for entry in result:
        entry.select_set(True)
    bpy.context.view_layer.objects.active = result[0]


# ---- levels of which only some collections are shown


def folder(
    name: str,
    level: str,
    kinds: set[str],
    view: tuple[float, float, float],
    finish: Callable[[], None] = lambda: None,
    **colours: Colour,
) -> Scene:
    """Return a picture of a level folder.

    ``kinds``: collections to show; ``view``: arguments of `look`; ``finish``: called before the view is set;
    ``colours``: object colors by kind.
    """

    def show() -> None:
        bpy.ops.import_scene.xray_level(directory=str(LEVELS / level))
        top = bpy.context.view_layer.layer_collection.children[0]
        for below in next(child for child in top.children if child.name == level).children:
            below.exclude = below.name.removesuffix(f" {level}") not in kinds
        bpy.context.view_layer.update()  # updates the list of its objects
        select([obj for obj in bpy.context.view_layer.objects if obj.type == "MESH"])
        light()
        for kind, colour in colours.items():
            space().shading.color_type = "OBJECT"
            objects = of_kind(kind)
            parts = [part for obj in objects for part in getattr(obj.instance_collection, "objects", ())]
            for entry in (*objects, *parts):
                entry.color = (*colour, 1.0)
        finish()
        look(*view)

    return picture(name, show, needs=LEVELS / level, sidebar=True)


def _raise_ai_map() -> None:
    """Raise the AI map a little above the ground to avoid flickering, and make it active."""
    (nodes,) = of_kind("AI")
    nodes.location.z = 0.4
    bpy.context.view_layer.objects.active = nodes


def _draw_collision_as_wires() -> None:
    """Draw the collision as wires in front of the surfaces, and make it active."""
    (mesh,) = of_kind("CFORM")
    mesh.display_type, mesh.show_in_front = "WIRE", True
    bpy.context.view_layer.objects.active = mesh


def _choose_portal() -> None:
    bpy.context.view_layer.objects.active = of_kind("PORTAL")[0]


def _look_at_portals() -> None:
    """Select all portals and draw them in front of the map."""
    select(of_kind("PORTAL"))
    for entry in of_kind("PORTAL"):
        entry.show_in_front = True


# ---- single files


def file(name: str, path: str, *view: Any, finish: Callable[[], Any] = lambda: None) -> Scene:
    """Return a picture of a level's file; ``view``: arguments of `look`."""
    steps = [lambda: load(LEVELS / path), light, lambda: look(*view), finish]
    return picture(name, *steps, needs=LEVELS / path, sidebar=True)


def _show_occluders() -> None:
    bpy.ops.import_scene.xray_level(directory=str(LEVELS / "l05_bar"))
    light()
    sound = next(obj for obj in bpy.data.objects if obj.name.startswith("level.som"))
    bpy.ops.object.select_all(action="SELECT")
    bpy.context.view_layer.objects.active = sound
    look(52, 20, 0.55, (150, 75, 0))


def _show_detail_model() -> Steps:
    load("detail.dm")
    light()
    space().shading.color_type = "TEXTURE"
    bpy.ops.screen.area_split(direction="VERTICAL", factor=0.42)
    yield 0.5
    views = sorted(
        (own_area for own_area in bpy.context.window.screen.areas if own_area.type == "VIEW_3D"),
        key=lambda entry: entry.x,
    )
    views[0].ui_type = "UV"
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    views[0].spaces.active.image = bpy.data.images["build_details.png"]
    yield 0.5
    with in_area(views[0]):
        bpy.ops.image.view_all(fit_view=True)
    with in_area(area()):
        look(78, 25, 0.9)


def _scatter_plants() -> None:
    ground = bpy.context.view_layer.objects.active
    middles = np.empty(3 * len(ground.data.polygons), np.float32)
    ground.data.polygons.foreach_get("center", middles)
    near = np.linalg.norm(middles.reshape(-1, 3)[:, :2] - (-20, -60), axis=1) < 25
    ground.data.polygons.foreach_set("select", near)
    bpy.ops.motionbridge.details_scatter(spacing=0.35)
    look(72, 25, 0.06, (-20, -60, float(np.median(middles.reshape(-1, 3)[near, 2]))))


SEEN = {"Surfaces", "Trees"}
GREY, GREEN, ORANGE = (0.35, 0.34, 0.32), (0.22, 0.35, 0.2), (0.9, 0.3, 0.1)
PALE, LEAVES, WATER, BRIGHT = (0.45, 0.42, 0.36), (0.25, 0.5, 0.2), (0.2, 0.4, 0.45), (0.95, 0.45, 0.1)
FROM_ASIDE = (62, -35, 0.65)
DETAILS = "l08_yantar/level.details"
SCENES = (
    folder("level_visuals", "olr_tss", SEEN, FROM_ASIDE, SURFACE=PALE, TREE=LEAVES),
    folder(
        "level_collision", "olr_tss", {*SEEN, "Collision"}, FROM_ASIDE, _draw_collision_as_wires,
        SURFACE=GREY, TREE=GREEN, CFORM=ORANGE,
    ),
    folder("level_ai", "olr_tss", {*SEEN, "AI Map"}, (50, -35, 0.75), _raise_ai_map),
    folder("level_portal", "bx_test", {"Surfaces", "Portals"}, (60, -35, 0.8), _choose_portal),
    folder(  # only `level` and the AI map exist
        "level_structure", "l06_rostok", {"Portals", "AI Map"}, (45, 20, 0.7), _look_at_portals, AI=WATER, PORTAL=BRIGHT
    ),
    file("level_check", "sample/level.cform", 62, 35, 0.75, finish=lambda: bpy.ops.motionbridge.level_check(number=1)),
    file("collision", "tss/level.cform", 62, -35, 0.3, (8, 10, 2)),
    picture("occluders", _show_occluders, needs=LEVELS / "l05_bar", sidebar=True),
    picture("detail_model", _show_detail_model, needs=SAMPLES / "detail.dm"),
    file("details", DETAILS, 40, 20, 1.25),
    file("plants", DETAILS, 40, 20, 1.25, finish=_scatter_plants),
)  # fmt: skip
