"""Options of imports and exports, each declared once: a field of a dataclass with what the interface says about it.

`ui.options` makes an operator's properties from such a class, and the dataclass from what is set on the operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from enum import Enum
from typing import Any

OPTION, PATH = "option", "path"
"""Keys of a field's metadata: what a property of Blender is declared with; suffixes of the files it may name."""


def option(default: Any, name: str, description: str, **declared: Any) -> Any:
    """A field that users set. ``declared`` are limits, units and what else a property of Blender takes."""
    return field(default=default, metadata={OPTION: {"name": name, "description": description, **declared}})


def choice(
    default: Enum | frozenset[Any], name: str, description: str, items: Sequence[tuple[str, str, str]], **declared: Any
) -> Any:
    """One member of an enumeration, or a set of them; ``items`` are named as its members are."""
    return option(default, name, description, items=items, **declared)


def path(name: str, description: str, *suffixes: str) -> Any:
    """The path of a file, "" for none; folders where there are no ``suffixes``."""
    return field(default="", metadata={OPTION: {"name": name, "description": description}, PATH: suffixes})
