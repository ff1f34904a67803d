"""Whether what panels remember between two redraws still stands.

Blender draws a list many times per second, and reading a few properties of 3,000 actions takes longer than a redraw
may. `stamp` is a number that changes with every property that was declared with ``update=changed``, whoever sets it,
and with undo, redo and the opening of a file, which set properties without telling them. `pointers_stamp` changes
also when objects are evaluated again: nothing else tells that the users of a data-block were remapped to another
(measured in 4.2 and 5.0). Adding, removing and renaming data-blocks changes neither: names are to be compared.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent

_stamp = 0
_evaluations = 0


def stamp() -> int:
    """What was read of properties under the same stamp is what they say now."""
    return _stamp


def pointers_stamp() -> tuple[int, int]:
    """The same for what properties of objects point at."""
    return _stamp, _evaluations


def changed(_owner: Any = None, _context: bpy.types.Context | None = None) -> None:
    """Forget what was remembered; the ``update`` of properties that lists show."""
    global _stamp  # noqa: PLW0603 (one number for the whole of Blender)
    _stamp += 1


def _replaced(*_: Any) -> None:
    changed()


def _evaluated(_scene: Any, depsgraph: Any) -> None:
    global _evaluations  # noqa: PLW0603 (as above)
    if depsgraph.id_type_updated("OBJECT"):
        _evaluations += 1


for _handler in (_replaced, _evaluated):
    persistent(_handler)  # they outlive the file that is open


def _handlers() -> list[tuple[Any, Any]]:
    handlers: Any = bpy.app.handlers
    replacing = [(handler, _replaced) for handler in (handlers.undo_post, handlers.redo_post, handlers.load_post)]
    return [*replacing, (handlers.depsgraph_update_post, _evaluated)]


def register() -> None:
    """Watch undo, redo, the opening of files and evaluation."""
    for handler, called in _handlers():
        handler.append(called)


def unregister() -> None:
    """Watch no more."""
    for handler, called in _handlers():
        if called in handler:
            handler.remove(called)
