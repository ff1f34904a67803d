"""Scenes for the pictures of Descent 3 and Arma.

The original textures of a ship must not be copied; generated ones with the same names are shown instead.
"""

import colorsys
import subprocess
from importlib import import_module
from typing import Any

import bpy
import numpy as np

from .studio import EXTENSION, GAME, HERE, activate, clear_view, drop, load, look, picture, space

SHIP = GAME / "descent3" / "purplepyro.oof"
ARCHIVE = SHIP.with_name("pictures.hog")
FORMATS = f"{EXTENSION}.formats.descent3"
SIZE = 256


# ---- Descent 3


def _make_textures() -> None:
    """Write a texture in the game's format for every name in the ship's table; the name is drawn on it."""
    report = import_module(f"{EXTENSION}.core.report").Report()
    document = import_module(f"{FORMATS}.oof").read(SHIP.read_bytes(), SHIP.name, report)
    for number, name in enumerate(dict.fromkeys(name.lower() for name in document.textures)):
        (SHIP.parent / f"{name}.ogf").write_bytes(_encoded(name, _drawn_texture(name, number)))


def _drawn_texture(name: str, number: int) -> Any:
    """Draw panels of one hue and the texture's name: (SIZE, SIZE, 4), linear, 0 to 1, top row first."""
    red, green, blue = (round(255 * part) for part in colorsys.hsv_to_rgb(number * 0.618 % 1, 0.35, 0.75))
    colour, line = f"rgb({red},{green},{blue})", f"rgb({red // 2},{green // 2},{blue // 2})"
    grid = [f"line {at},0 {at},{SIZE} line 0,{at} {SIZE},{at}" for at in range(0, SIZE, 64)]
    letters = ["-font", "DejaVu-Sans-Bold", "-pointsize", "30", "-fill", "rgb(20,20,30)", "-gravity", "center"]
    label = name.removeprefix("bl").removeprefix("pyro") or name
    command = ["convert", "-size", f"{SIZE}x{SIZE}", f"xc:{colour}", "-fill", "none", "-stroke", line]
    command += ["-draw", " ".join(grid), "-stroke", "none", *letters]
    command += ["-annotate", "+0-64", label, "-annotate", "+0+64", label]
    # Linear, so the colours are darker than the named sRGB ones.
    command += ["-colorspace", "RGB", "-depth", "16", "rgba:-"]
    drawn = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return np.frombuffer(drawn, np.uint16).reshape(SIZE, SIZE, 4) / 65535


def _encoded(name: str, pixels: Any) -> bytes:
    """Encode pixels as an image of the game with 4 bits per channel."""
    ogf_image = import_module(f"{FORMATS}.ogf_image")
    parts = np.rint(15 * pixels).astype(np.uint16).reshape(-1, 4)
    runs = np.zeros(len(parts), ogf_image.RUN)
    runs["pixel"] = parts[:, 3] << 12 | parts[:, 0] << 8 | parts[:, 1] << 4 | parts[:, 2]
    kind, label = ogf_image.ImageType.RUNS_4444, f"{name}.ogf".encode()
    image = ogf_image.Image(kind, 0, label, 1, bytes(9), SIZE, SIZE, 32, 0x28, b"", [runs])
    return ogf_image.write(ogf_image.OgfImage([image]))


def _look_at_ship(tilt: float, rotation: float, nearer: float) -> None:
    space().shading.light, space().shading.color_type = "STUDIO", "TEXTURE"
    clear_view(gizmos=True)
    space().overlay.show_relationship_lines = False
    look(tilt, rotation, nearer)


def _show_ship(tilt: float, rotation: float, nearer: float) -> None:
    """Load the real ship and make one of its glows active."""
    _make_textures()
    holder = load(SHIP)
    _look_at_ship(tilt, rotation, nearer)
    activate(next(part for part in holder.children_recursive if part.motionbridge_descent_part.kind == "GLOW"))


def _show_own_ship() -> None:
    load(HERE / "descent3" / "ship.oof")
    _look_at_ship(58, 145, 0.85)


def _write_archive() -> None:
    names = ["purplepyro", "PurplePyroMedium", "PurplePyroLow", "PurplePyroDeathModel", "GreenFlare", "Shield"]
    hog2 = import_module(f"{FORMATS}.hog2")
    ARCHIVE.write_bytes(hog2.write(hog2.new_hog2({f"{name}.oof": SHIP.read_bytes() for name in names})))


def _show_animation() -> None:
    panel = bpy.types.MOTIONBRIDGE_PT_descent_animation
    bpy.utils.unregister_class(panel)
    panel.bl_options = set()  # shown open
    bpy.utils.register_class(panel)
    holder = load(HERE / "descent3" / "ship.oof")
    bpy.ops.motionbridge.descent_compare()
    _look_at_ship(60, 150, 1.25)
    activate(next(part for part in holder.children_recursive if part.animation_data and part.animation_data.action))
    bpy.context.scene.frame_set(10)


# ---- Arma

DOG = GAME / "arma" / "dog.p3d"
MAN = HERE / "arma" / "soldier.p3d"
DOG_SCALE, DOG_PLACE = 0.54, (0, 0.058, 0.011)
"""The only available mesh is of another dog: with this scale and location it fits the joints best."""


def _show_dog() -> None:
    """Show an armature whose joints are derived from its animation, at rest, inside a mesh."""
    rig = load(DOG.with_name("swim.rtm"), pivots="ANIMATION")
    body = load(DOG, rig="ACTIVE")
    body.scale, body.location, body.color = (DOG_SCALE,) * 3, DOG_PLACE, (0.75, 0.8, 0.86, 1)
    activate(rig)
    rig.data.pose_position = "REST"
    rig.data.display_type = "STICK"
    space().shading.color_type = "OBJECT"
    clear_view()
    look(84, 72, at=(0, 0.05, 0.38), distance=1.5)


def _show_man() -> None:
    body = load(MAN, rig="NEW", levels={"FIRST", "MEMORY"})
    bpy.context.view_layer.objects.active = body.parent
    load(MAN.with_name("walk.rtm"))
    bpy.context.scene.frame_set(1)
    bpy.context.view_layer.objects.active = body
    clear_view()
    space().shading.color_type = "TEXTURE"
    look(78, 28, at=(0.2, 0, 0.95), distance=3.2)


SCENES = (
    picture("descent_ship", _show_own_ship),
    picture("descent_panel", lambda: _show_ship(60, 150, 1.25), needs=SHIP, sidebar=True),
    picture("descent_archive", _write_archive, lambda: drop(ARCHIVE), needs=SHIP),
    picture("descent_animation", _show_animation, sidebar=True),
    picture("arma_dog", _show_dog, needs=DOG),
    picture("arma_panel", _show_man, sidebar=True),
)
