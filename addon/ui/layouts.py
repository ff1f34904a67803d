"""How properties are laid out, everywhere the same."""

from __future__ import annotations

import textwrap
from typing import Any

STATUS_ICONS = {"UNTOUCHED": "BLANK1", "EDITED": "GREASEPENCIL", "NEW": "ADD", "UNKNOWN": "QUESTION"}
"""Whether what is listed is as in its file."""


def fields(layout: Any) -> Any:
    """The same layout; properties have their names on the left, and no buttons that would animate them."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout


def paragraph(layout: Any, text: str, letters: int, icon: str = "NONE") -> None:
    """Labels for a text, which Blender does not break by itself."""
    for line in textwrap.wrap(text, letters):
        layout.label(text=line, icon=icon, translate=False)
