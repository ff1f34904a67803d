"""What the scenes of the pictures are played with: areas of Blender's window, clicks, keys and the photograph."""

import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import bpy

HERE = Path(__file__).resolve().parent
SAMPLES = HERE / "gamedata" / "meshes" / "samples"
Steps = Iterator[float]
"""Yields the seconds that Blender gets to draw."""


def window() -> bpy.types.Window:
    """The only one."""
    return bpy.context.window_manager.windows[0]


def area(kind: str = "VIEW_3D") -> bpy.types.Area:
    """The largest area of a kind."""
    return max((a for a in window().screen.areas if a.type == kind), key=lambda a: a.width * a.height)


def there(kind: str = "VIEW_3D") -> AbstractContextManager[object]:
    """A context in which operators see an area of a kind."""
    found = area(kind)
    return bpy.context.temp_override(
        window=window(), area=found, region=next(region for region in found.regions if region.type == "WINDOW")
    )


def shot(name: str) -> Steps:
    """A photograph of the whole window."""
    yield 0.4
    subprocess.run(["import", "-window", "root", str(HERE / "taken" / f"{name}.png")], check=True)


def film_frame(film: str, delay: int) -> Steps:
    """A photograph for an animated picture, which shows it for ``delay`` hundredths of a second."""
    yield 0.2
    folder = HERE / "films" / film
    folder.mkdir(exist_ok=True)
    target = folder / f"{len(list(folder.iterdir())):03}_{delay}.png"
    subprocess.run(["import", "-window", "root", str(target)], check=True)


def load(*names: str) -> None:
    """Import samples."""
    for name in names:
        kind = name.rpartition(".")[2]
        operator = bpy.ops.import_scene.xray_ogf if kind == "ogf" else bpy.ops.import_scene.xray_omf
        with there():
            operator(filepath=str(SAMPLES / name))
    with there():
        bpy.ops.view3d.view_selected()
    area().spaces.active.shading.color_type = "TEXTURE"
    area().spaces.active.overlay.show_floor = True


def drop(*names: str) -> None:
    """What a drop of files from the system's file manager calls."""
    with there():
        bpy.ops.wm.drop_import_file("INVOKE_DEFAULT", directory=str(SAMPLES), files=[{"name": n} for n in names])


def click(x: int, y: int, button: str = "LEFTMOUSE") -> Steps:
    """Move there and click; y from the top."""
    y = window().height - y
    window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
    yield 0.3
    for value in ("PRESS", "RELEASE"):
        window().event_simulate(type=button, value=value, x=x, y=y)
        yield 0.2
    yield 0.3


def hover(x: int, y: int) -> Steps:
    """Move the mouse; y from the top."""
    window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=window().height - y)
    yield 0.3


def key(name: str) -> Steps:
    """Press a key."""
    for value in ("PRESS", "RELEASE"):
        window().event_simulate(type=name, value=value, x=window().width // 2, y=window().height // 2)
        yield 0.2


def sidebar(kind: str = "VIEW_3D", tab: str = "Motionbridge") -> Steps:
    """Open an editor's sidebar at a tab."""
    found = area(kind)
    found.spaces.active.show_region_ui = True
    yield 0.5
    region = next(region for region in found.regions if region.type == "UI")
    region.active_panel_category = tab
    found.tag_redraw()
    yield 0.5
