"""What an edited curve asks of the keys to be written, with the base's own keys put back where nobody touched them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .curve import Curve, Interpolation, control_points
from .display import Display
from .keys import Envelope, Floats
from .matching import Flags, Match

UNPLAYED = 3
"""The kind of a segment that no time falls into, besides the numbers of `Interpolation`."""


@dataclass
class Plan:
    """Keys to be written, in the file's order.

    ``keys`` (n, 2) time and value; ``kind_before`` and ``kind_after`` (n,) of the segments beside each, an
    `Interpolation` or `UNPLAYED`; ``before`` and ``after`` (n, 2) the handles as offsets from the key, for linear
    segments at thirds; ``source`` the base's key or -1.
    """

    keys: Floats
    kind_before: NDArray[np.uint8]
    kind_after: NDArray[np.uint8]
    before: Floats
    after: Floats
    source: NDArray[np.intp]


def plan(
    curve: Curve, base: Envelope | None = None, shown: Display | None = None, matched: Match | None = None
) -> Plan:
    """What to write for a curve; where the base is known, its numbers stand for all that still mean them."""
    keys, left, right = curve.keys, curve.left, curve.right
    source = np.full(curve.count, -1)
    if shown is not None and matched is not None:
        old, place = shown.curve, matched.place
        if old.count:
            keys = np.where(matched.key[:, None], old.keys[place], keys)
            # A handle that no segment of the base used counts as unchanged, wherever it points: it is the curve's own
            # where a segment uses it now.
            known_left = matched.left & matched.key & (_uses_left(old)[place] | ~_uses_left(curve))
            known_right = matched.right & matched.key & (_uses_right(old)[place] | ~_uses_right(curve))
            left = np.where(known_left[:, None], old.left[place], left)
            right = np.where(known_right[:, None], old.right[place], right)
            source = np.where(place >= 0, shown.base_key[place], -1)
    kinds = np.append(curve.interpolation[:-1], np.uint8(UNPLAYED))[: curve.count]
    planned = Plan(
        keys, np.append(np.uint8(UNPLAYED), kinds[:-1])[: curve.count], kinds, left - keys, right - keys, source
    )
    if base is not None and shown is not None and matched is not None and not shown.exact[:-1].all():
        planned = _with_cut_segments_whole(planned, base, shown, matched, curve.count)
    _straighten(planned)
    return planned


def _uses_left(curve: Curve) -> Flags:
    """Whether a cubic ends at each key."""
    return np.append(False, _uses_right(curve)[:-1])[: curve.count]


def _uses_right(curve: Curve) -> Flags:
    """Whether a cubic begins at each key."""
    used: Flags = curve.interpolation == Interpolation.BEZIER
    return np.append(used[:-1], False)[: curve.count]


def _straighten(planned: Plan) -> None:
    """Handles of linear segments on the line, at thirds: how they are written where they must be Bezier segments."""
    chord = np.diff(planned.keys, axis=0) / 3
    line = (planned.kind_after[:-1] == Interpolation.LINEAR)[:, None]
    planned.after[:-1] = np.where(line, chord, planned.after[:-1])
    planned.before[1:] = np.where(line, -chord, planned.before[1:])


def _with_cut_segments_whole(planned: Plan, base: Envelope, shown: Display, matched: Match, count: int) -> Plan:
    """Segments that had to be cut for showing are put together again where none of their parts was touched.

    Their first key, too, where the shown curve had no key for it (several keys at one time, or one out of order).
    """
    index = np.full(shown.curve.count, -1)
    index[matched.place[matched.place >= 0]] = np.flatnonzero(matched.place >= 0)
    begin, end = index[:-1], index[1:]
    alive = (begin >= 0) & (end == begin + 1)
    same = alive & matched.key[begin] & matched.key[end] & matched.interpolation[begin]
    same &= matched.right[begin] & matched.left[end]
    remove = np.zeros(count, np.bool_)
    kinds, points = control_points(base)
    inserted: list[tuple[int, int]] = []
    segments = shown.segment[:-1]
    for segment in np.unique(segments[~shown.exact[:-1] & (segments >= 0)]):
        parts = _run(segments, segment)
        if not same[parts].all() or shown.base_key[parts[-1] + 1] != segment + 1:
            continue
        first, last = index[parts[0]], index[parts[-1] + 1]
        remove[first + 1 : last] = True
        planned.kind_before[last], planned.before[last] = kinds[segment], points[segment, 2] - points[segment, 3]
        if shown.base_key[parts[0]] == segment:
            planned.kind_after[first], planned.after[first] = kinds[segment], points[segment, 1] - points[segment, 0]
        else:
            if shown.base_key[parts[0]] == 0:  # a first key that made room for the jump after it
                planned.keys[first] = base.times[0], base.values[0]
            planned.kind_after[first] = UNPLAYED
            inserted.append((int(segment), int(last)))
    return _rearranged(planned, ~remove, kinds, points, np.array(inserted, np.intp).reshape(-1, 2))


def _run(segments: NDArray[np.intp], segment: int) -> NDArray[np.intp]:
    """The places of a number in a rising row."""
    return np.arange(np.searchsorted(segments, segment), np.searchsorted(segments, segment, "right"))


def _rearranged(
    planned: Plan, keep: Flags, kinds: NDArray[np.uint8], points: Floats, insertions: NDArray[np.intp]
) -> Plan:
    """The keys to keep, and first keys of segments put in: rows of ``insertions`` name one and the key it precedes."""
    inserted = insertions[:, 0]
    order = np.argsort(np.concatenate((np.flatnonzero(keep), insertions[:, 1] - 0.5)), kind="stable")
    added = points[inserted]

    def together(ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
        joined: NDArray[Any] = np.concatenate((ours[keep], theirs))[order]
        return joined

    unplayed = np.full(len(inserted), np.uint8(UNPLAYED))
    return Plan(
        together(planned.keys, added[:, 0]),
        together(planned.kind_before, unplayed),
        together(planned.kind_after, kinds[inserted]),
        together(planned.before, np.zeros((len(inserted), 2))),
        together(planned.after, added[:, 1] - added[:, 0]),
        together(planned.source, inserted),
    )
