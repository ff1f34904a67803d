"""Motions that lie inside a model: the same two chunks as in an `.omf`."""

from __future__ import annotations

from ..omf.document import MotionLibrary, MotionSet, Parameters
from .document import Ogf


def motion_set_of(document: Ogf) -> MotionSet | None:
    """The motions of a model, or None where it has none (or only one of the two chunks)."""
    library, parameters = document.first(MotionLibrary), document.first(Parameters)
    return MotionSet(library, parameters) if library is not None and parameters is not None else None


def with_motion_set(document: Ogf, changed: MotionSet) -> Ogf:
    """The same model with other motions in the place of its own; `motion_set_of` must have found some."""
    old = motion_set_of(document)
    if old is None:
        raise KeyError(document.name)
    return document.replaced(old.library, changed.library).replaced(old.parameters, changed.parameters)
