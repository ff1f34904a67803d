"""Tools to take the pictures with: Blender's window, its contents, clicks, keys, screenshots.

A scene begins in an empty file, and each of its steps runs in the viewport.
"""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import radians
from pathlib import Path
from typing import Any

import bpy
from mathutils import Euler

HERE = Path(__file__).resolve().parents[1]
GAME = HERE / "gamedata"
SAMPLES = GAME / "meshes" / "showcase"
TEXTURES = GAME / "textures"
EXTENSION = "bl_ext.dev.motionbridge"
IMPORTERS = {
    ".ogf": "xray_ogf",
    ".omf": "xray_omf",
    ".skls": "xray_skl",
    ".object": "xray_object",
    ".anm": "xray_anm",
    ".rtm": "arma_rtm",
    ".p3d": "arma_p3d",
    ".oof": "descent3_oof",
}
LEVEL_IMPORTER = "xray_level_geometry"
Steps = Iterator[float | Callable[[], None]]
"""Yields the seconds in which Blender may draw, or a function to call outside the viewport."""


# ---- what the tables of scenes consist of


@dataclass(frozen=True)
class Scene:
    """A scene that takes its own screenshots. It is left out if the file or folder that it ``needs`` is missing.

    A step is a number of seconds in which Blender may draw, or a function; if it returns `Steps`, these are played.
    """

    name: str
    steps: Sequence[float | Callable[[], Any]]
    needs: Path = HERE

    def play(self) -> Steps:
        """Play all steps."""
        for step in self.steps:
            result = step() if callable(step) else iter((step,))
            if isinstance(result, Iterator):
                yield from result


def picture(name: str, *steps: float | Callable[[], Any], needs: Path = HERE, sidebar: bool = False) -> Scene:
    """Return a scene that ends with a screenshot, optionally with the sidebar open."""
    return Scene(name, [*steps, *([open_sidebar] if sidebar else []), lambda: shot(name)], needs)


def invoke(name: str, **options: Any) -> Callable[[], object]:
    """Return a step that opens the dialog of an operator of ours."""
    return lambda: getattr(bpy.ops.motionbridge, name)("INVOKE_DEFAULT", **options)


def shot(name: str) -> Steps:
    """Take a screenshot of the whole window."""
    yield 1.0
    _photograph(HERE / "taken" / f"{name}.png")


def film_frame(film: str, delay: int) -> Steps:
    """Take a screenshot for an animated picture, to be shown for ``delay`` hundredths of a second."""
    yield 0.2
    folder = HERE / "films" / film
    folder.mkdir(exist_ok=True)
    _photograph(folder / f"{len(list(folder.iterdir())):03}_{delay}.png")


def _photograph(target: Path) -> None:
    subprocess.run(["import", "-window", "root", str(target)], check=True)


# ---- the window


def window() -> bpy.types.Window:
    """Return the only window."""
    return bpy.context.window_manager.windows[0]


def area(kind: str = "VIEW_3D") -> Any:
    """Return the largest area of a type."""
    return max((a for a in window().screen.areas if a.type == kind), key=lambda a: a.width * a.height)


def space(kind: str = "VIEW_3D") -> Any:
    """Return the active space of the largest area of a type."""
    return area(kind).spaces.active


def in_area(obj: Any) -> AbstractContextManager[object]:
    """Return a context override for operators that run in an area."""
    region = next(region for region in obj.regions if region.type == "WINDOW")
    return bpy.context.temp_override(window=window(), area=obj, region=region)


def move(x: int, y: int) -> Steps:
    """Move the mouse; y is counted from the top."""
    window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=window().height - y)
    yield 0.3


def press(name: str, x: int, y: int) -> Steps:
    """Press and release a key or mouse button at a position; y is counted from the top."""
    for value in ("PRESS", "RELEASE"):
        window().event_simulate(type=name, value=value, x=x, y=window().height - y)
        yield 0.2


def click(x: int, y: int) -> Steps:
    """Move the mouse to a position and click."""
    yield from move(x, y)
    yield from press("LEFTMOUSE", x, y)
    yield 0.3


def key(name: str) -> Steps:
    """Press a key in the middle of the window."""
    yield from press(name, window().width // 2, window().height // 2)


def open_sidebar(kind: str = "VIEW_3D") -> Steps:
    """Open the sidebar of an editor at the tab of the extension."""
    space(kind).show_region_ui = True
    yield 0.5
    region = next(region for region in area(kind).regions if region.type == "UI")
    region.active_panel_category = "Motionbridge"
    area(kind).tag_redraw()
    yield 0.5


def show_panels(context: str, search: str = "") -> Steps:
    """Open a tab of the properties editor, filtered by a search word."""
    yield 0.5
    space("PROPERTIES").context = context
    space("PROPERTIES").search_filter = search
    yield 0.7


# ---- what stands in it


def active() -> Any:
    """Return the active object."""
    return bpy.context.view_layer.objects.active


def activate(entry: Any) -> None:
    """Make an object the active and the only selected one."""
    for other in bpy.context.view_layer.objects:
        other.select_set(other == entry)
    bpy.context.view_layer.objects.active = entry


def load(path: str | Path, **options: Any) -> Any:
    """Import a file, or a sample by name; return the object that is active afterwards."""
    importer = IMPORTERS.get(Path(path).suffix, LEVEL_IMPORTER)
    getattr(bpy.ops.import_scene, importer)(filepath=str(SAMPLES / path), **options)
    return active()


def load_samples(*names: str) -> Any:
    """Import samples and view the last from its front; return the object that is active afterwards."""
    for name in names:
        load(name)
    space().region_3d.view_rotation = Euler((radians(76), 0, radians(150))).to_quaternion()
    bpy.ops.view3d.view_selected()
    space().shading.color_type = "TEXTURE"
    return active()


def drop(path: str | Path) -> Steps:
    """Do what Blender does when a file (or a sample by name) is dropped from the system's file manager."""
    path = SAMPLES / path
    bpy.ops.wm.drop_import_file("INVOKE_DEFAULT", directory=str(path.parent), files=[{"name": path.name}])
    yield 1.0


def look(
    tilt: float, rotation: float, nearer: float = 1.0, at: Sequence[float] | None = None, distance: float = 0
) -> None:
    """Set the view direction: ``tilt`` degrees from straight down, rotated by ``rotation``.

    At the selection, or at the location ``at`` from a ``distance``; ``nearer`` scales the distance.
    """
    view = space().region_3d
    view.view_perspective = "PERSP"
    view.view_rotation = Euler((radians(tilt), 0, radians(rotation))).to_quaternion()
    bpy.ops.view3d.view_selected()
    view.view_distance = distance or view.view_distance * nearer
    if at is not None:
        view.view_location = at


def clear_view(*, gizmos: bool = False) -> None:
    """Hide floor and axes; also relationship lines, 3D cursor and gizmos unless ``gizmos``."""
    overlay = space().overlay
    overlay.show_floor = overlay.show_axis_x = overlay.show_axis_y = False
    overlay.show_relationship_lines = overlay.show_cursor = space().show_gizmo = gizmos


def reset_blender() -> None:
    """Begin with an empty file and restore the preferences that earlier pictures changed."""
    view = bpy.context.preferences.view
    view.language, view.ui_scale = "en_US", 1.0
    bpy.ops.preferences.reset_default_theme()
    if "LIGHT" in os.environ:
        theme = bpy.utils.preset_paths("interface_theme")[0]
        menu = "USERPREF_MT_interface_theme_presets"
        bpy.ops.script.execute_preset(filepath=f"{theme}/Blender_Light.xml", menu_idname=menu)
    bpy.ops.wm.read_homefile(use_empty=False, use_factory_startup=True, app_template="")
    bpy.data.batch_remove(list(bpy.data.objects))
