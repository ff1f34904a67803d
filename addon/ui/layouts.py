"""How properties and results of checks are laid out, everywhere the same."""

from __future__ import annotations

import textwrap
from typing import Any

import bpy

STATUS_ICONS = {"UNTOUCHED": "BLANK1", "EDITED": "GREASEPENCIL", "NEW": "ADD", "UNKNOWN": "QUESTION"}
"""Whether what is listed is as in its file."""
SIDEBAR = 34
"""Letters that fit into one line of the sidebar as wide as Blender opens it."""


def fields(layout: bpy.types.UILayout) -> Any:
    """The same layout; properties have their names on the left, and no buttons that would animate them."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout


def draw_tolerances(layout: bpy.types.UILayout, operator: Any) -> None:
    """How closely curves are fitted, in place and rotation, as a pair."""
    column = layout.column(align=True)
    column.prop(operator, "millimetres")
    column.prop(operator, "degrees")


def paragraph(layout: Any, text: str, letters: int, icon: str = "NONE") -> None:
    """Labels for a text, which Blender does not break by itself; the icon stands at the first."""
    for number, line in enumerate(textwrap.wrap(text, letters)):
        layout.label(text=line, icon="BLANK1" if number and icon != "NONE" else icon, translate=False)
