"""What modifiers make of a mesh, where an export asks for it, or the warning that they do not count."""

from __future__ import annotations

from collections.abc import Container, Iterator
from contextlib import contextmanager
from typing import Any

from ..core.report import Report


@contextmanager
def evaluated(
    context: Any, shown: Any, report: Report, *, modifiers: bool, without: Container[str] = ()
) -> Iterator[Any]:
    """The mesh that modifiers make of an object, or None for its own: ``modifiers`` False, or there are none.

    Modifiers of the types ``without`` are not what anybody means: where there are no others, the mesh is its own.
    """
    if not modifiers:
        warn_of_modifiers(shown, report, without)
    if not modifiers or not _active(shown, without):
        yield None
        return
    if shown.mode == "EDIT":
        shown.update_from_editmode()
    result = shown.evaluated_get(context.evaluated_depsgraph_get())
    try:
        yield result.to_mesh()
    finally:
        result.to_mesh_clear()


def warn_of_modifiers(shown: Any, report: Report, without: Container[str] = ()) -> None:
    """Say which modifiers do not count."""
    if active := _active(shown, without):
        report.warn(f"modifiers are not applied ({', '.join(active)})", shown.name)


def _active(shown: Any, without: Container[str]) -> list[str]:
    return [change.name for change in shown.modifiers if change.show_viewport and change.type not in without]
