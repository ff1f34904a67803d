"""What differs between two grids of slots, in the words of an export."""

from __future__ import annotations

from ....core.changes import Changes
from ....core.report import Report
from .. import dm
from .document import Details
from .ground import decode, encode


def compare(before: Details, after: Details) -> Changes:
    """Return what differs in the slots and models of ``after``. Raises `WriteError` if the grids differ."""
    changes = Changes()
    for number, model in after.models.items():
        if number in before.models:
            changes.include(dm.compare(before.models[number], model), f"detail {number}")
    changes.include(encode(decode(after, Report()), before, after.models)[1])
    return changes
