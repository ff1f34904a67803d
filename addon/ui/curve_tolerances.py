"""How closely curves are fitted where keys cannot be taken as they are."""

import math
from typing import Any

import bpy
from bpy.props import FloatProperty


class Tolerances:
    """Mixed into operators that fit curves."""

    millimetres: FloatProperty(
        name="Tolerance (mm)",
        description="Largest distance between a fitted curve and the sampled values",
        default=0.1,
        min=0.001,
        soft_max=10.0,
        precision=3,
    )
    degrees: FloatProperty(
        name="Tolerance (°)",
        description="Largest error of a fitted rotation, in degrees",
        default=0.01,
        min=0.0001,
        soft_max=1.0,
        precision=4,
    )

    def tolerance(self) -> tuple[float, float]:
        """In metres and radians."""
        chosen: Any = self
        return chosen.millimetres / 1000, math.radians(chosen.degrees)

    def draw_tolerances(self, layout: bpy.types.UILayout) -> None:
        """Both, as a pair."""
        column = layout.column(align=True)
        column.prop(self, "millimetres")
        column.prop(self, "degrees")
