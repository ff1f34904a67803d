"""What the pictures are taken with: Blender's window, what stands in it, clicks, keys, the photograph.

A scene begins in an empty file, and every step of it runs in the viewport.
"""

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from math import radians
from pathlib import Path
from typing import Any

import bpy
from mathutils import Euler

HERE = Path(__file__).resolve().parent
GAME = HERE / "gamedata"
SAMPLES = GAME / "meshes" / "samples"
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
"""Yields the seconds that Blender gets to draw, or what is to be done outside of the viewport."""
SCENES: dict[str, Callable[[], Steps]] = {}
Scene = Callable[[], Any]
"""Gives `Steps`, or nothing."""


# ---- the table of pictures


def scene(name: str, needs: Path = HERE) -> Callable[[Scene], Scene]:
    """Enter a scene that takes its photographs itself, if the file or folder is there that it needs."""

    def enter(play: Scene) -> Scene:
        if needs.exists():
            SCENES[name] = play
        return play

    return enter


def picture(name: str, needs: Path = HERE, *, sidebar: bool = False) -> Callable[[Scene], Scene]:
    """Enter a scene that ends in a photograph, with the sidebar open or not."""

    def enter(play: Scene) -> Scene:
        def played() -> Steps:
            yield from play() or ()
            if sidebar:
                yield from open_sidebar()
            yield from shot(name)

        scene(name, needs)(played)
        return play

    return enter


def shot(name: str) -> Steps:
    """A photograph of the whole window."""
    yield 1.0
    _photograph(HERE / "taken" / f"{name}.png")


def film_frame(film: str, delay: int) -> Steps:
    """A photograph for an animated picture, which shows it for ``delay`` hundredths of a second."""
    yield 0.2
    folder = HERE / "films" / film
    folder.mkdir(exist_ok=True)
    _photograph(folder / f"{len(list(folder.iterdir())):03}_{delay}.png")


def _photograph(target: Path) -> None:
    subprocess.run(["import", "-window", "root", str(target)], check=True)


# ---- the window


def window() -> bpy.types.Window:
    """The only one."""
    return bpy.context.window_manager.windows[0]


def area(kind: str = "VIEW_3D") -> Any:
    """The largest area of a kind."""
    return max((a for a in window().screen.areas if a.type == kind), key=lambda a: a.width * a.height)


def space(kind: str = "VIEW_3D") -> Any:
    """What the largest area of a kind shows."""
    return area(kind).spaces.active


def there(found: Any) -> AbstractContextManager[object]:
    """A context in which operators see an area."""
    region = next(region for region in found.regions if region.type == "WINDOW")
    return bpy.context.temp_override(window=window(), area=found, region=region)


def move(x: int, y: int) -> Steps:
    """Move the mouse; y from the top."""
    window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=window().height - y)
    yield 0.3


def press(name: str, x: int, y: int) -> Steps:
    """Press a key or a button of the mouse at a place; y from the top."""
    for value in ("PRESS", "RELEASE"):
        window().event_simulate(type=name, value=value, x=x, y=window().height - y)
        yield 0.2


def click(x: int, y: int) -> Steps:
    """Move there and click."""
    yield from move(x, y)
    yield from press("LEFTMOUSE", x, y)
    yield 0.3


def key(name: str) -> Steps:
    """Press a key in the middle of the window."""
    yield from press(name, window().width // 2, window().height // 2)


def open_sidebar(kind: str = "VIEW_3D") -> Steps:
    """Open an editor's sidebar at our tab."""
    space(kind).show_region_ui = True
    yield 0.5
    region = next(region for region in area(kind).regions if region.type == "UI")
    region.active_panel_category = "Motionbridge"
    area(kind).tag_redraw()
    yield 0.5


def show_panels(context: str, search: str = "") -> Steps:
    """Open a tab of the properties editor, with the panels alone that a word finds."""
    yield 0.5
    space("PROPERTIES").context = context
    space("PROPERTIES").search_filter = search
    yield 0.7


# ---- what stands in it


def active() -> Any:
    """The active object."""
    return bpy.context.view_layer.objects.active


def activate(one: Any) -> None:
    """Make an object the active and the only selected one."""
    for other in bpy.context.view_layer.objects:
        other.select_set(other == one)
    bpy.context.view_layer.objects.active = one


def load(path: str | Path, **options: Any) -> Any:
    """Import a file, or a sample by its name; what is the active object then."""
    importer = IMPORTERS.get(Path(path).suffix, LEVEL_IMPORTER)
    getattr(bpy.ops.import_scene, importer)(filepath=str(SAMPLES / path), **options)
    return active()


def load_samples(*names: str) -> Any:
    """Import samples and look at the last; what is the active object then."""
    for name in names:
        load(name)
    bpy.ops.view3d.view_selected()
    space().shading.color_type = "TEXTURE"
    return active()


def drop(path: str | Path) -> Steps:
    """What a drop of a file, or of a sample by its name, from the system's file manager calls."""
    path = SAMPLES / path
    bpy.ops.wm.drop_import_file("INVOKE_DEFAULT", directory=str(path.parent), files=[{"name": path.name}])
    yield 1.0


def look(tilt: float, turn: float, nearer: float = 1.0, at: Sequence[float] | None = None, distance: float = 0) -> None:
    """From ``tilt`` degrees off straight down and ``turn`` round, at the selection, or at a place from a distance."""
    view = space().region_3d
    view.view_perspective = "PERSP"
    view.view_rotation = Euler((radians(tilt), 0, radians(turn))).to_quaternion()
    bpy.ops.view3d.view_selected()
    view.view_distance = distance or view.view_distance * nearer
    if at is not None:
        view.view_location = at


def clear_view(*, gizmos: bool = False) -> None:
    """No lines but those of what is shown, and no cursor, unless ``gizmos`` are to be seen."""
    overlay = space().overlay
    overlay.show_floor = overlay.show_axis_x = overlay.show_axis_y = False
    overlay.show_relationship_lines = overlay.show_cursor = space().show_gizmo = gizmos


def start_anew() -> None:
    """An empty file; what pictures before changed of Blender is as it was."""
    view = bpy.context.preferences.view
    view.language, view.ui_scale = "en_US", 1.0
    bpy.ops.preferences.reset_default_theme()
    bpy.ops.wm.read_homefile(use_empty=False, use_factory_startup=True, app_template="")
    bpy.data.batch_remove(list(bpy.data.objects))
