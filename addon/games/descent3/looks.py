"""How faces look: a texture, or a plain colour; as Blender's materials and back.

A material drawn in Blender has the texture its picture is called after, or else its own colour.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

import bpy
import numpy as np

from ...blender import material
from ...core.model import Material
from ...core.report import Report
from .textures import Textures

UNKNOWN = "motionbridge_unknown_texture"
"""Property of a material that stands for a number no texture has, or for a texture without a name."""
NOT_THERE = (0.8, 0.0, 0.8, 1.0)
_NUMBERED = re.compile(r"\.\d{3,}$")


def build(look: Material, textures: Textures | None, report: Report) -> Any:
    """A Blender material; the one that is there where it looks the same."""
    if look.colour is not None:
        return material.build_coloured(look.name, (*linear(look.colour), 1.0))
    if not look.texture:
        made = material.build_coloured(look.name, NOT_THERE)
        made[UNKNOWN] = True
        return made
    picture = textures.picture(look.texture, report) if textures is not None else None
    if picture is None:
        if textures is not None:
            report.warn("a texture is not there; set the Descent 3 folder to see it", look.texture)
        return material.build(look)
    return material.build(look, picture.image, see_through=picture.see_through, pictures=picture.pictures)


def gather(made: Any) -> Material:
    """What a Blender material says; an empty slot is a plain face."""
    if made is None:
        return Material("")
    if made.get(UNKNOWN):
        return Material(made.get(material.TITLE, made.name))
    texture = made.motionbridge_material.texture or _picture_name(made)
    if texture:
        return Material(made.name, texture)
    return Material(made.name, colour=_colour(made))


def _picture_name(made: Any) -> str:
    """The name of the picture that gives a material its colour, without suffix; empty where none does."""
    nodes = made.node_tree.nodes if made.node_tree is not None else ()
    pictures = [node for node in nodes if node.type == "TEX_IMAGE" and node.image is not None]
    coloured = [node for node in pictures if any(link.to_socket.name == "Base Color" for link in _links(node))]
    shown = next(iter(coloured or pictures), None)
    if shown is None:
        return ""
    file = bpy.path.abspath(shown.image.filepath)
    return PurePath(file.replace("\\", "/")).stem if file else _NUMBERED.sub("", shown.image.name).partition(".")[0]


def _links(node: Any) -> list[Any]:
    return [link for output in node.outputs for link in output.links]


def _colour(made: Any) -> tuple[int, int, int]:
    nodes = made.node_tree.nodes if made.node_tree is not None else ()
    surface = next((node for node in nodes if node.type == "BSDF_PRINCIPLED"), None)
    values = made.diffuse_color if surface is None else surface.inputs["Base Color"].default_value
    return stored(tuple(values[:3]))


def linear(colour: tuple[int, int, int]) -> tuple[float, ...]:
    """Red, green, blue (0 ... 255, as screens show them) as Blender counts light."""
    shares = np.array(colour, np.float64) / 255
    return tuple(np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4).tolist())


def stored(light: tuple[float, ...]) -> tuple[int, int, int]:
    """The inverse of `linear`."""
    values = np.clip(np.array(light, np.float64), 0, 1)
    shares = np.where(values <= 0.0031308, values * 12.92, 1.055 * values ** (1 / 2.4) - 0.055)
    red, green, blue = np.rint(255 * shares).astype(int).tolist()
    return red, green, blue
