"""What differs between two models, in the words of an export."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....core import rebase
from ....core.changes import Changes
from ....core.report import Report
from .document import Oof
from .mapping import decode, encode
from .model import Point, PointKind


def compare(before: Oof, after: Oof) -> Changes:
    """Return what differs in ``after``. Raises `WriteError` for content that an export would refuse."""
    base, model = decode(before, Report()), decode(after, Report())
    model.name = base.name
    own = rebase.named_or_in_order([part.name for part in model.parts], [part.name for part in base.parts])
    for part, source in zip(model.parts, own, strict=True):
        part.source = source
        if source >= 0:
            rebase.follow(part.mesh, base.parts[source].mesh)
    for kind in PointKind:
        points = model.of_kind(kind)
        for point, source in zip(points, _sources(points, base.of_kind(kind)), strict=True):
            point.source = source
    return encode(model, before, base)[1]


def _sources(points: Sequence[Point], base: Sequence[Point]) -> list[int]:
    """Return the index in ``base`` of each point: of an equal one, of the next, or -1."""
    rows = [
        np.array(
            [[*point.position, *(point.direction if point.direction is not None else ())] for point in side], np.float32
        )
        for side in (points, base)
    ]
    return rebase.matched(*rows).tolist() if len(points) and len(base) else [-1] * len(points)
