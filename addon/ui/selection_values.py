"""Dialogs that begin with the values of the selection, and write only what the user changes in them."""

from collections.abc import Callable, Mapping
from typing import Any

from bpy.props import BoolProperty, StringProperty

from .bases import MixedIn, iface_

VALUE: Any = {"SKIP_SAVE"}
"""Options of a value's property: not that of the last dialog, but that of the selection."""
NOT_DRAWN = {"SKIP_SAVE", "SKIP_PRESET", "HIDDEN"}
"""Options of what a dialog remembers."""


def changed(name: str, then: Callable[[Any], None] = lambda _operator: None) -> Callable[[Any, Any], None]:
    """Return the `update` callback of the property of a value: notes that it was changed, then calls ``then``."""

    def update(operator: Any, _context: Any) -> None:
        operator.changed = " ".join(sorted({*operator.changed.split(), name}))
        then(operator)

    return update


class SelectionValues(MixedIn):
    """Mixin for operators whose properties are values of the selection. Scripts write the values that they give."""

    is_dialog: BoolProperty(name="", options=NOT_DRAWN)
    changed: StringProperty(options=NOT_DRAWN)
    mixed: StringProperty(options=NOT_DRAWN)

    def begin_with(self, columns: Mapping[str, Any]) -> None:
        """Fill the dialog in: ``columns`` maps properties to the values (n, …) of the selection; the first is shown."""
        given = [name for name in columns if self.properties.is_property_set(name)]
        mixed = []
        for name, column in columns.items():
            if len(column) and name not in given:
                setattr(self, name, column[0].tolist())
                mixed += [name] if (column != column[0]).any() else []
        self.changed, self.mixed, self.is_dialog = " ".join(given), " ".join(mixed), True

    def is_changed(self, name: str) -> bool:
        """Return whether a value is to be written."""
        return name in self.changed.split() if self.is_dialog else bool(self.properties.is_property_set(name))

    def label(self, name: str, text: str) -> str:
        """Return the label of a value, whose ``text`` is translated; marked if the selection has several values."""
        is_mixed = name in self.mixed.split() and name not in self.changed.split()
        return iface_("{} (mixed)").format(text) if is_mixed else text
