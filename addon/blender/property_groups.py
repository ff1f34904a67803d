"""What is added to Blender's types: classes of properties, and the names under which data-blocks hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import bpy


class AddedProperties(NamedTuple):
    """Classes in the order they need each other, and properties by the type of Blender and the name they get there.

    A property is what `bpy.props` makes; it may point at any of the classes.
    """

    classes: tuple[Any, ...]
    held: Mapping[tuple[Any, str], Any]

    def register(self) -> None:
        """Register the classes, then add the properties."""
        for kind in self.classes:
            bpy.utils.register_class(kind)
        for (owner, name), value in self.held.items():
            setattr(owner, name, value)

    def unregister(self) -> None:
        """Take everything away, in reverse order."""
        for owner, name in reversed(list(self.held)):
            delattr(owner, name)
        for kind in reversed(self.classes):
            bpy.utils.unregister_class(kind)
