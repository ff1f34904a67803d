"""Channels of keys to curves and back: what camera paths and skeletal motions do alike.

An X-Ray channel and a Blender channel differ by a sign at most (`core.space`), so curves carry over key by key. A
channel nobody touched goes back as the bytes it came from, whatever happens to the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.changes import Item
from ...core.envelope import (
    Curve,
    Curves,
    Display,
    Envelope,
    Envelopes,
    display,
    displayed,
    displays,
    keys_of_curve,
    unchanged,
)
from ...core.envelope.curve import empty_curve
from ...core.envelope.writing import Match, Stored, losses, match
from ...core.errors import WriteError
from ...core.report import Report
from ...core.text import counted
from .envelopes import StoredEnvelope, as_old, as_packed, row_bytes, stored

NAMES = ("X", "Y", "Z", "H", "P", "B")
"""The channels in the order of the engine's numbers: metres, then radians about Y (H), X (P) and Z (B)."""

REACH = 3
"""Keys on either side of an edited one whose numbers may change with it."""
NEW = Envelope.of(np.zeros(0), np.zeros(0), np.zeros(0, np.uint8))


@dataclass(frozen=True)
class Mapping:
    """Which of the six channels each of Blender's is (location x, y, z, rotation x, y, z), and with what sign."""

    channels: tuple[int, ...]
    signs: tuple[float, ...]


SLOPE_WORTH_TELLING = 0.01
"""Metres or radians a second; steps of stored handles cost about that."""
MOST_TOLD = 8
"""Channels that one sentence names."""

OBJECT = Mapping((0, 2, 1, 4, 5, 3), (1.0, 1.0, 1.0, -1.0, -1.0, -1.0))
"""Objects: location (x, z, y), Euler YXZ of x = -P, y = -B, z = -H."""
BONE = Mapping((0, 1, 2, 4, 3, 5), (1.0, 1.0, -1.0, -1.0, -1.0, 1.0))
"""Bones: location (x, y, -z), Euler ZXY of x = -P, y = -H, z = B."""


def lost_slopes(changes: Iterable[Item]) -> str:
    """A sentence about channels that the game continues otherwise than asked for; empty where there are none."""
    lost = [change for change in changes if change.slope_error > SLOPE_WORTH_TELLING]
    if not lost:
        return ""
    which = ", ".join(change.name for change in lost[:MOST_TOLD]) + (", ..." if len(lost) > MOST_TOLD else "")
    return (
        f"outside the keys of {which} the game continues with another slope than Blender; "
        "align the outer handle with its segment"
    )


def _tell_of_oddities(decoded: Envelope, shown: Display, place: str, report: Report) -> None:
    """What of a channel cannot be shown as it is."""
    if decoded.count and not shown.curve.count:
        report.warn(
            "channel contains NaN or infinite values; imported without keys, exported unchanged unless you add keys",
            place,
        )
    elif hidden := shown.hidden(decoded):
        report.warn(
            f"{counted(hidden, 'key')} at the same time or out of order; the jump takes 1/50 of a frame in Blender; "
            "unchanged in the file unless its neighbours are edited",
            place,
        )
    if shown.folded:
        report.warn("the time of a segment runs backwards, which Blender cannot show; kept unless edited", place)
    elif shown.added and not shown.hidden(decoded):
        added = counted(shown.added, "key")
        report.note(f"{added} more than in the file, for handles that Blender would shorten", place)


def _shown(envelopes: Sequence[Envelope], frame: float) -> list[Display]:
    """How channels are shown: those with NaN or infinite values without keys."""
    numbers = [(one.times, one.values, one.tcb, one.parameters) for one in envelopes]
    if _are_finite(numbers):
        shown = displays(envelopes, frame)
        # Numbers near the largest there are can have handles that are none.
        if _are_finite([(one.curve.keys, one.curve.left, one.curve.right) for one in shown]):
            return shown
    if len(envelopes) > 1:
        return [_shown([envelope], frame)[0] for envelope in envelopes]
    nothing = display(NEW, frame)
    nothing.curve, nothing.cut = empty_curve(envelopes[0].before, envelopes[0].after), True
    return [nothing]


def _are_finite(rows: Sequence[tuple[NDArray[np.float64], ...]]) -> bool:
    return all(bool(np.isfinite(np.concatenate(column)).all()) for column in zip(*rows, strict=True))


@dataclass
class _Base:
    """A channel as the file has it and as it was shown."""

    stored: StoredEnvelope
    decoded: Envelope
    shown: Display


@dataclass
class _Encoded:
    """A channel to be stored. ``differing``: how many of its keys are not the base's, None for an untouched one.

    ``asked``: what to compare it with, None where nothing can be lost; ``converted``: it is the base's in another
    layout, and a change only if that loses something.
    """

    channel: str
    result: StoredEnvelope
    differing: int | None = None
    asked: Stored | None = None
    converted: bool = False


def _encode_channel(curve: Curve, base: _Base | None, frame: float, place: str, *, to_packed: bool) -> _Encoded:
    """A channel to be stored, signs as in the file. Raises `WriteError` for what the game or the layout cannot take."""
    _refuse_odd(curve, place)
    old, decoded, shown = (base.stored, base.decoded, base.shown) if base is not None else (None, None, None)
    matched = match(curve, shown, frame) if shown is not None else None
    if old is not None and shown is not None and unchanged(curve, shown, frame, matched):
        return _in_layout(old, to_packed, curve, place)
    known = decoded if shown is not None and shown.curve.count else None
    keys, source = keys_of_curve(
        curve, known, shown if known else None, frame, stepped_parameters=not to_packed, matched=matched
    )
    result = stored(keys, place, to_packed=to_packed)
    if old is not None and not old.packed and not to_packed:
        _keep_high_bytes(result, old, source)
    touched = _near_edits(matched) if known and matched is not None else _everywhere(curve)
    return _Encoded(place, result, _differing(result, old, source), Stored(curve, result.decoded(), touched))


def _everywhere(curve: Curve) -> NDArray[np.bool_]:
    return np.ones(max(curve.count - 1, 0), np.bool_)


def _near_edits(matched: Match) -> NDArray[np.bool_]:
    """Segments (keys - 1,) so close to an edit that they may be written in another way than the base's."""
    edited = ~(matched.key & matched.left & matched.right & matched.interpolation)
    edited |= np.diff(matched.place, prepend=-1) != 1  # keys before it are gone
    for _ in range(REACH):
        wider = edited.copy()
        wider[1:] |= edited[:-1]
        wider[:-1] |= edited[1:]
        edited = wider
    return edited[:-1] | edited[1:]


def _in_layout(base: StoredEnvelope, to_packed: bool, curve: Curve, place: str) -> _Encoded:
    if base.packed == to_packed:
        return _Encoded(place, base)
    if not to_packed:
        return _Encoded(place, as_old(base))
    result = as_packed(base, place)
    asked = Stored(curve, result.decoded(), _everywhere(curve))
    return _Encoded(place, result, len(result.keys), asked, converted=True)


def _refuse_odd(curve: Curve, place: str) -> None:
    if not all(np.isfinite(part).all() for part in (curve.keys, curve.left, curve.right)):
        raise WriteError(f"{place}: a key or handle is NaN or infinite", remedy="Delete that key")
    if (np.diff(curve.keys[:, 0]) <= 0).any():
        raise WriteError(f"{place}: keys are not in the order of their times", remedy="Sort them")


def _keep_high_bytes(result: StoredEnvelope, base: StoredEnvelope, source: NDArray[np.intp]) -> None:
    """The old layout has four bytes for a shape, of which the game reads one."""
    same = np.flatnonzero(source >= 0)
    old = base.keys["shape"][source[same]]
    ours = result.keys["shape"][same]
    result.keys["shape"][same] = np.where((old & 0xFF) == ours, old, ours)


def _differing(result: StoredEnvelope, base: StoredEnvelope | None, source: NDArray[np.intp]) -> int:
    if base is None or base.packed != result.packed:
        return len(result.keys)
    known = source >= 0
    same = (row_bytes(result.keys[known]) == row_bytes(base.keys[source[known]])).all(axis=1)
    # Keys that went count as well, where none came in their place.
    return max(len(result.keys) - int(same.sum()), len(base.keys) - int(same.sum()))


def decode_channels(
    envelopes: Sequence[StoredEnvelope], mapping: Mapping, frame: float, place: str, report: Report
) -> list[Curve]:
    """Six channels in the file's order as Blender's: location x, y, z, then rotation x, y, z."""
    curves = decode_tracks([(place, envelopes)], mapping, frame, report)
    return [curves.numbered(number) for number in range(len(curves))]


def decode_tracks(
    tracks: Sequence[tuple[str, Sequence[StoredEnvelope]]], mapping: Mapping, frame: float, report: Report
) -> Curves:
    """`decode_channels` of each of several, with what their channels' names are put behind; ``frame`` in seconds."""
    stored_ones = [one for _, envelopes in tracks for one in envelopes]
    if not stored_ones:
        return Curves.of([])
    decoded = StoredEnvelope.decoded_all(stored_ones)
    curves, odd = _displayed(decoded, frame)
    order = [number * len(NAMES) + channel for number in range(len(tracks)) for channel in mapping.channels]
    if any(one.cut for one in odd.values()):
        labels = [f"{place}{NAMES[channel]}" for place, _ in tracks for channel in mapping.channels]
        for number, label in zip(order, labels, strict=True):
            if number in odd and odd[number].cut:
                _tell_of_oddities(decoded[number], odd[number], label, report)
    return curves.take(np.array(order)).signed(np.tile(mapping.signs, len(tracks)))


def _displayed(envelopes: Envelopes, frame: float) -> tuple[Curves, dict[int, Display]]:
    """As `displayed`; channels that hold or lead to what is no number without keys."""
    keys = envelopes.keys
    if _are_finite([(keys.times, keys.values, keys.tcb, keys.parameters)]):
        curves, odd = displayed(envelopes, frame)
        if _are_finite([(curves.keys, curves.left, curves.right)]):
            return curves, odd
    shown = _shown(list(envelopes), frame)
    return Curves.of([one.curve for one in shown]), dict(enumerate(shown))


def encode_channels(
    curves: Sequence[Curve],
    base: Sequence[StoredEnvelope] | None,
    mapping: Mapping,
    frame: float,
    place: str,
    *,
    to_packed: bool,
) -> tuple[list[StoredEnvelope], list[Item]]:
    """Blender's six channels as the file's, and those that changed."""
    known: list[_Base] = []
    if base is not None:
        decoded = list(StoredEnvelope.decoded_all(base))
        known = [_Base(*each) for each in zip(base, decoded, _shown(decoded, frame), strict=True)]
    encoded = [
        _encode_channel(
            curve if sign > 0 else curve.signed(sign),
            known[channel] if known else None,
            frame,
            f"{place}{NAMES[channel]}",
            to_packed=to_packed,
        )
        for curve, channel, sign in zip(curves, mapping.channels, mapping.signs, strict=True)
    ]
    in_file = {channel: one.result for channel, one in zip(mapping.channels, encoded, strict=True)}
    return [in_file[channel] for channel in range(len(NAMES))], _changes(encoded, frame)


def _changes(encoded: Sequence[_Encoded], frame: float) -> list[Item]:
    lost = iter(losses([one.asked for one in encoded if one.asked is not None], frame))
    changes = []
    for one in encoded:
        error, slope = next(lost) if one.asked is not None else (0.0, 0.0)
        if one.differing is not None and not (one.converted and not error and not slope):
            changes.append(Item(one.channel, one.differing, error, slope))
    return changes
