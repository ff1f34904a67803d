"""The light of a level in its materials: a node group that all of them share multiplies textures by it.

The engine's first renderer draws twice the texture times the sum of ambient light, static light, sun and sky, in the
numbers of the display, without conversion to linear light. The amounts of sun and sky are stored in the level: in the
lightmaps of a surface, in its vertices, or per place of a tree. Their colours are those of the weather, here of a
weather in which a surface under the open sky shows its texture unchanged.

The switch is a property of the scene, so that it costs the same for any number of objects. Nodes find it, and the
values of trees, by their names in `properties`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ....blender import compat
from .properties import SHOWS_LIGHT

GROUP = "Level Light"
"""Name of the node group; the colours of the weather in it apply to all levels of the file."""
COLOUR, STATIC, SUN, SKY = "Base Color", "Static Light", "Sun", "Sky"
"""Inputs of the group: the texture; what lightmaps say."""
VERTEX_LIGHT, VERTEX_SKY, SUN_LIKE_SKY = "Vertex Light", "Vertex Sky", "Sun Like Sky"
"""Inputs, 0 or 1: whether static light and sun, or the sky, are those of the vertices; whether the sun's share, which
is unknown, is taken to be that of the sky.
"""
GLOW, STRENGTH, SPECULAR = "Emission Color", "Emission Strength", "Specular IOR Level"
"""Outputs, besides `COLOUR`: inputs of the surface of these names."""
WEATHER = {"Ambient": (0.05,) * 3, "Sun Color": (0.25,) * 3, "Sky Color": (0.2,) * 3}
"""Label of a node in the group -> its colour at first. Twice their sum is 1."""
LIGHT_MAP = "Light Map"
"""Name of the second UV map."""
HEMI, LIGHT = "hemi", "light"
"""Attributes: visible share of the sky; static light with the share of the sun."""
LIGHT_MAPS = ("lightmap 1", "lightmap 2")
"""Names of the image nodes: static light and share of the sun (alpha); share of the sky (alpha)."""


def add(used: Any, images: Sequence[Any], *, is_new: bool) -> Any:
    """Let a material of a level show the level's light; return it, or a copy if it shows other lightmaps.

    ``images``: lightmaps, None for a missing one. ``is_new``: whether the import created the material, which may be a
    copy of one with other lightmaps. Nodes that the user connected to the base colour stay as they are.
    """
    nodes = used.node_tree.nodes
    if GROUP in nodes:
        pairs = [(name, image) for name, image in zip(LIGHT_MAPS, images, strict=False) if name in nodes]
        others = [(name, image) for name, image in pairs if image not in (None, nodes[name].image)]
        # Of another level: lightmaps have the same names in each.
        used = used.copy() if others and not is_new else used
        for name, image in others:
            used.node_tree.nodes[name].image = image
        return used
    surface = next((node for node in nodes if node.type == "BSDF_PRINCIPLED"), None)
    links = surface.inputs["Base Color"].links if surface is not None else ()
    if surface is not None and all(link.from_node.type == "TEX_IMAGE" for link in links):
        _connect(used.node_tree, surface, images)
        compat.keep_out_of_lamps(used)
    return used


def _connect(tree: Any, surface: Any, images: Sequence[Any]) -> None:
    """Put the group between texture and surface; ``images``: those of the textures after the first."""
    base = surface.inputs["Base Color"]
    across, up = surface.location
    light = tree.nodes.new("ShaderNodeGroup")
    light.node_tree, light.name, light.label = _group(), GROUP, GROUP
    light.location, surface.location = (across, up), (across + 250, up)
    light.inputs[COLOUR].default_value = base.default_value
    for link in base.links:
        tree.links.new(link.from_socket, light.inputs[COLOUR])
    for output in light.outputs:
        tree.links.new(output, surface.inputs[output.name])
    light.inputs[VERTEX_LIGHT].default_value = float(not images)
    light.inputs[SUN_LIKE_SKY].default_value = float(bool(images) and images[0] is None)
    second = len(images) > 1 and images[1] is not None
    light.inputs[VERTEX_SKY].default_value = float(not second)
    active = tree.nodes.active
    for number, image in enumerate(images):
        if image is None:
            continue
        node = tree.nodes.new("ShaderNodeTexImage")
        node.name, node.image, node.location = LIGHT_MAPS[number], image, (across - 300, up - 300 * (number + 1))
        uv = tree.nodes.new("ShaderNodeUVMap")
        uv.uv_map, uv.location = LIGHT_MAP, (across - 500, node.location[1])
        tree.links.new(uv.outputs["UV"], node.inputs["Vector"])
        if number == 0:
            tree.links.new(node.outputs["Color"], light.inputs[STATIC])
        tree.links.new(node.outputs["Alpha"], light.inputs[(SUN, SKY)[number]])
    tree.nodes.active = active  # solid views show the image of the active node


def as_numbers(image: Any) -> Any:
    """Let an image give the numbers of a lightmap as they are in its file, and return it."""
    if image is not None:
        image.colorspace_settings.name = "Non-Color"
        image.alpha_mode = "CHANNEL_PACKED"
    return image


def keep_tree_light(tree: Any, scale: Sequence[float], bias: Sequence[float]) -> None:
    """Store the light of a tree's place for the nodes; ``scale`` and ``bias``: red, green, blue, sky, sun."""
    properties = tree.motionbridge_level
    properties.light_scale, properties.light_bias = (*scale[:3], scale[4]), (*bias[:3], bias[4])
    properties.light_sky = scale[3], bias[3], 1.0


def _group() -> Any:
    """Return the node group, the same one for all materials of the file."""
    groups: Any = bpy.data.node_groups
    for existing in groups:
        if existing.name.startswith(GROUP) and existing.bl_idname == "ShaderNodeTree" and existing.library is None:
            return existing
    tree = groups.new(GROUP, "ShaderNodeTree")
    colour, number = "NodeSocketColor", "NodeSocketFloat"
    for name, kind, default in (
        (COLOUR, colour, (0.5, 0.5, 0.5, 1.0)),
        (STATIC, colour, (0.0, 0.0, 0.0, 1.0)),
        (SUN, number, 0.0),
        (SKY, number, 0.0),
        (VERTEX_LIGHT, number, 1.0),
        (VERTEX_SKY, number, 1.0),
        (SUN_LIKE_SKY, number, 0.0),
    ):
        tree.interface.new_socket(name, in_out="INPUT", socket_type=kind).default_value = default
    for name, kind in ((COLOUR, colour), (GLOW, colour), (STRENGTH, number), (SPECULAR, number)):
        tree.interface.new_socket(name, in_out="OUTPUT", socket_type=kind)
    _Nodes(tree).build()
    return tree


class _Nodes:
    """Creates the nodes of the group."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree
        self.inputs = tree.nodes.new("NodeGroupInput").outputs

    def build(self) -> None:
        """Create all nodes and connect the outputs."""
        is_lit = self._is_lit()
        unlit = self._math("SUBTRACT", 1.0, is_lit)
        out = self.tree.nodes.new("NodeGroupOutput").inputs
        colour = self.inputs[COLOUR]
        self._set(out[COLOUR], self._scaled(colour, unlit))
        self._set(out[GLOW], self._multiplied(colour, self._light()))
        self._set(out[STRENGTH], is_lit)
        self._set(out[SPECULAR], self._math("MULTIPLY", 0.5, unlit))
        for number, node in enumerate(self.tree.nodes):
            node.location = (200 * (number // 4), -200 * (number % 4))

    def _is_lit(self) -> Any:
        """Return 1 if the scene shows light and the object is of a level, else 0."""
        shows = self._attribute("VIEW_LAYER", SHOWS_LIGHT).outputs["Fac"]
        row = self._attribute("OBJECT", "motionbridge_level.row").outputs["Fac"]
        return self._math("MULTIPLY", shows, self._math("GREATER_THAN", row, -0.5))

    def _light(self) -> Any:
        """Return the light by which the engine multiplies a texture."""
        hemi = self._attribute("GEOMETRY", HEMI).outputs["Fac"]
        light = self._attribute("GEOMETRY", LIGHT).outputs
        scale, bias, sky_of_tree = (
            self._attribute("INSTANCER", f"motionbridge_level.{name}").outputs
            for name in ("light_scale", "light_bias", "light_sky")
        )
        parts = self.tree.nodes.new("ShaderNodeSeparateXYZ")
        self._set(parts.inputs[0], sky_of_tree["Vector"])
        sky_scale, sky_bias, is_tree = (parts.outputs[axis] for axis in "XYZ")
        is_static = self._math("SUBTRACT", 1.0, is_tree)
        # A missing attribute has alpha 1.
        vertex = self._math("MULTIPLY", self.inputs[VERTEX_LIGHT], is_static)
        rgb = self._sum(
            self.inputs[STATIC],
            self._scaled(light["Color"], vertex),
            self._sum(self._scaled(scale["Color"], hemi), bias["Color"]),
        )
        sun_of_tree = self._math("MULTIPLY_ADD", hemi, scale["Alpha"], bias["Alpha"])
        sun_of_tree = self._math("MULTIPLY", sun_of_tree, is_tree)
        sun = self._math("MULTIPLY_ADD", light["Alpha"], vertex, self._math("ADD", self.inputs[SUN], sun_of_tree))
        sun = self._math("MULTIPLY_ADD", hemi, self.inputs[SUN_LIKE_SKY], sun)
        slope = self._math("ADD", sky_scale, is_static)
        sky = self._math("MULTIPLY_ADD", hemi, slope, sky_bias)
        sky = self._math("MULTIPLY_ADD", sky, self.inputs[VERTEX_SKY], self.inputs[SKY])
        ambient, sun_colour, sky_colour = (self._weather(name) for name in WEATHER)
        total = self._sum(ambient, rgb, self._sum(self._scaled(sun_colour, sun), self._scaled(sky_colour, sky)))
        return self._scaled(total, 2.0)

    def _multiplied(self, colour: Any, light: Any) -> Any:
        """Return a colour in linear light multiplied by the light in the numbers of the display (sRGB)."""
        display = self._vector("MULTIPLY_ADD", self._power(colour, 1 / 2.4), (1.055,) * 3, (-0.055,) * 3)
        product = self._vector("MULTIPLY", self._vector("MAXIMUM", display, (0.0,) * 3), light)
        product = self._vector("MAXIMUM", product, (0.0,) * 3)
        return self._power(self._vector("MULTIPLY_ADD", product, (1 / 1.055,) * 3, (0.055 / 1.055,) * 3), 2.4)

    def _weather(self, name: str) -> Any:
        node = self.tree.nodes.new("ShaderNodeRGB")
        node.name = node.label = name
        node.outputs[0].default_value = (*WEATHER[name], 1.0)
        return node.outputs[0]

    def _attribute(self, kind: str, name: str) -> Any:
        node = self.tree.nodes.new("ShaderNodeAttribute")
        node.attribute_type, node.attribute_name = kind, name
        return node

    def _power(self, colour: Any, exponent: float) -> Any:
        node = self.tree.nodes.new("ShaderNodeGamma")
        self._set(node.inputs["Color"], colour)
        self._set(node.inputs["Gamma"], exponent)
        return node.outputs["Color"]

    def _sum(self, first: Any, second: Any, *others: Any) -> Any:
        result = self._vector("ADD", first, second)
        return self._sum(result, *others) if others else result

    def _scaled(self, vector: Any, factor: Any) -> Any:
        node = self.tree.nodes.new("ShaderNodeVectorMath")
        node.operation = "SCALE"
        self._set(node.inputs[0], vector)
        self._set(node.inputs["Scale"], factor)
        return node.outputs["Vector"]

    def _vector(self, operation: str, *values: Any) -> Any:
        node = self.tree.nodes.new("ShaderNodeVectorMath")
        return self._operation(node, operation, values)

    def _math(self, operation: str, *values: Any) -> Any:
        node = self.tree.nodes.new("ShaderNodeMath")
        return self._operation(node, operation, values)

    def _operation(self, node: Any, operation: str, values: Any) -> Any:
        node.operation = operation
        for socket, value in zip(node.inputs, values, strict=False):
            self._set(socket, value)
        return node.outputs[0]

    def _set(self, socket: Any, value: Any) -> None:
        """Connect a socket to an output, or give it a value."""
        if isinstance(value, bpy.types.NodeSocket):
            self.tree.links.new(value, socket)
        else:
            socket.default_value = value
