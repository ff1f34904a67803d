"""Where imported objects go, and what is selected afterwards, whatever state the user's scene is in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import bpy

from ..core.report import Report
from . import scope


def target(context: Any, report: Report, name: str = "") -> Any:
    """The collection to link new objects to: the active one, or a new one called ``name`` inside it.

    Blender itself keeps hidden and excluded collections from being active; one of another file cannot take objects:
    then it is the nearest one around it, which is said.
    """
    layer = context.view_layer
    chain = list(_chain(layer.layer_collection, layer.active_layer_collection))
    usable = layer.layer_collection
    for inner in chain:
        if inner.collection.library is not None or inner.collection.override_library is not None:
            report.note(f"the active collection is of another file; new objects are in {usable.name!r}", chain[-1].name)
            break
        usable = inner
    if not name:
        return usable.collection
    made = bpy.data.collections.new(name)
    usable.collection.children.link(made)
    return made


def _chain(root: Any, wanted: Any) -> Iterator[Any]:
    """The layer collections that lead from ``root``, which is not among them, to ``wanted``."""
    for child in root.children:
        if child == wanted:
            yield child
            return
        below = list(_chain(child, wanted))
        if below:
            yield child
            yield from below
            return


def make_current(context: Any, objects: Sequence[Any], active: Any) -> None:
    """Select these objects alone and make one active, in object mode, as importers do."""
    layer = context.view_layer
    if layer.objects.active is not None and layer.objects.active.mode != "OBJECT":
        scope.set_mode("OBJECT")
    for shown in scope.objects_of(layer):
        shown.select_set(False)
    for shown in objects:
        shown.select_set(True)
    layer.objects.active = active
