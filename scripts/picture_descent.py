"""The pictures of Descent 3: a real ship with textures and points, its panel, and the list of an archive's models.

The ship's own textures are nobody's to copy; those it wears here are made for the picture and carry their names.
"""

import colorsys
import subprocess
from collections.abc import Callable
from importlib import import_module
from math import radians

import bpy
import numpy as np
from mathutils import Euler
from picture_studio import HERE, Steps, area, shot, sidebar, there

SHIP = HERE / "gamedata" / "descent3" / "purplepyro.oof"
ARCHIVE = HERE / "gamedata" / "descent3" / "pictures.hog"
FORMATS = "bl_ext.dev.motionbridge.formats.descent3"
SIZE = 256


def prepare() -> None:
    """A texture in the game's format for every name in the ship's table, lettered with it, and an archive of models."""
    if not SHIP.is_file():
        return
    oof, report = import_module(f"{FORMATS}.oof"), import_module("bl_ext.dev.motionbridge.core.report")
    document = oof.read(SHIP.read_bytes(), SHIP.name, report.Report())
    for number, name in enumerate(dict.fromkeys(name.lower() for name in document.textures)):
        _texture(name, number)
    hog2 = import_module(f"{FORMATS}.hog2")
    names = ["purplepyro", "PurplePyroMedium", "PurplePyroLow", "PurplePyroDeathModel", "GreenFlare", "Shield"]
    files = {f"{name}.oof": SHIP.read_bytes() for name in names}
    ARCHIVE.write_bytes(hog2.write(hog2.new_hog2(files)))


def _texture(name: str, number: int) -> None:
    """Panels of one hue with rivets, and the texture's name across."""
    red, green, blue = (round(255 * part) for part in colorsys.hsv_to_rgb(number * 0.618 % 1, 0.35, 0.75))
    drawn = HERE / f"{name}.png"
    colour, line = f"rgb({red},{green},{blue})", f"rgb({red // 2},{green // 2},{blue // 2})"
    grid = [f"line {at},0 {at},{SIZE} line 0,{at} {SIZE},{at}" for at in range(0, SIZE, 64)]
    letters = ["-font", "DejaVu-Sans-Bold", "-pointsize", "30", "-fill", "rgb(20,20,30)", "-gravity", "center"]
    label = name.removeprefix("bl").removeprefix("pyro") or name
    command = ["convert", "-size", f"{SIZE}x{SIZE}", f"xc:{colour}", "-fill", "none", "-stroke", line]
    command += ["-draw", " ".join(grid), "-stroke", "none", *letters]
    command += ["-annotate", "+0-64", label, "-annotate", "+0+64", label, str(drawn)]
    subprocess.run(command, check=True)
    picture = bpy.data.images.load(str(drawn))
    pixels = np.array(picture.pixels[:]).reshape(SIZE, SIZE, 4)[::-1]
    bpy.data.images.remove(picture)
    (SHIP.parent / f"{name}.ogf").write_bytes(_ogf(name, pixels))


def _ogf(name: str, pixels: np.ndarray) -> bytes:
    """Red, green, blue, alpha (0 to 1, top row first) as an image of 4 bits each."""
    ogf_image = import_module(f"{FORMATS}.ogf_image")
    parts = np.rint(15 * pixels).astype(np.uint16).reshape(-1, 4)
    runs = np.zeros(len(parts), ogf_image.RUN)
    runs["pixel"] = parts[:, 3] << 12 | parts[:, 0] << 8 | parts[:, 1] << 4 | parts[:, 2]
    height, width, _ = pixels.shape
    kind, label = ogf_image.ImageType.RUNS_4444, f"{name}.ogf".encode()
    image = ogf_image.Image(kind, 0, label, 1, bytes(9), width, height, 32, 0x28, b"", [runs])
    return ogf_image.write(ogf_image.OgfImage([image]))


def _look(tilt: float, turn: float, nearer: float) -> None:
    space = area().spaces.active
    view = space.region_3d
    view.view_perspective = "PERSP"
    view.view_rotation = Euler((radians(tilt), 0, radians(turn))).to_quaternion()
    space.shading.light, space.shading.color_type = "STUDIO", "TEXTURE"
    space.overlay.show_floor = space.overlay.show_axis_x = space.overlay.show_axis_y = False
    space.overlay.show_relationship_lines = False
    with there():
        bpy.ops.view3d.view_selected()
    view.view_distance *= nearer


def _load() -> None:
    with there():
        bpy.ops.import_scene.descent3_oof(filepath=str(SHIP))


def _show(tilt: float, turn: float, nearer: float) -> None:
    _load()
    holder = bpy.context.view_layer.objects.active
    _look(tilt, turn, nearer)
    part = next(shown for shown in holder.children_recursive if shown.motionbridge_descent_part.kind == "GLOW")
    for shown in bpy.data.objects:
        shown.select_set(shown == part)
    bpy.context.view_layer.objects.active = part


def descent_ship() -> Steps:
    """The ship with its textures, and its points as arrows."""
    _show(55, 145, 0.8)
    yield 0.5
    yield from shot("descent_ship")


def descent_panel() -> Steps:
    """The panel of one of its glows, with the weapon battery."""
    _show(60, 150, 1.25)
    yield from sidebar()
    yield 0.5
    yield from shot("descent_panel")


def descent_archive() -> Steps:
    """A dropped archive: which of its models."""
    with there():
        bpy.ops.wm.drop_import_file("INVOKE_DEFAULT", directory=str(ARCHIVE.parent), files=[{"name": ARCHIVE.name}])
    yield 1.0
    yield from shot("descent_archive")


def descent_animation() -> Steps:
    """The motions of a small ship: ticks and keys, those between ticks, whether they are edited."""
    with there():
        bpy.ops.import_scene.descent3_oof(filepath=str(HERE / "descent3" / "ship.oof"))
        bpy.ops.motionbridge.descent_compare()
    _look(60, 150, 1.25)
    parts = bpy.context.view_layer.objects.active.children_recursive
    moving = next(shown for shown in parts if shown.animation_data is not None and shown.animation_data.action)
    for shown in bpy.data.objects:
        shown.select_set(shown == moving)
    bpy.context.view_layer.objects.active = moving
    bpy.context.scene.frame_set(10)
    yield from sidebar()
    yield 0.5
    yield from shot("descent_animation")


SCENES: list[Callable[[], Steps]] = [descent_animation]
if SHIP.is_file():
    SCENES = [descent_ship, descent_panel, descent_archive, descent_animation]
