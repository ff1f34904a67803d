"""Read, write and convert channels of keys, as stored in `.anm` paths and in motions of the editor.

Source: the engine's ``Envelope.cpp``. There are two layouts. The old one has 40 bytes per key, all floats. The packed
one has 23 bytes, with tensions and parameters as 16-bit numbers from -32 to 32, and 9 bytes for a stepped key, which
has none. With 16 bits 0 is between two steps: what was 0 reads as ±0.000488.

An X-Ray channel and a Blender channel differ by a sign at most (`core.space`), so curves are converted key by key. A
channel that was not edited keeps its bytes, whatever happens to the others.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.binary import DAMAGED, Reader, Writer, not_finite, warn_not_finite
from ...core.changes import Item, Unit
from ...core.envelope import (
    Behaviour,
    Curve,
    Curves,
    Display,
    Envelope,
    Envelopes,
    Shape,
    displayed,
    each_display,
    keys_of_curve,
    unchanged,
)
from ...core.envelope.curve import empty_curve
from ...core.envelope.writing import Match, Stored, losses, match
from ...core.errors import WriteError
from ...core.report import Report, say
from ...core.text import Rows
from ...core.walk import Entries, View, Views

OLD = np.dtype([("value", "<f4"), ("time", "<f4"), ("shape", "<u4"), ("tcb", "<f4", (3,)), ("parameters", "<f4", (4,))])
"""A key of the old layout, 40 bytes; only the lowest byte of the shape is used."""
PACKED = np.dtype(
    [("value", "<f4"), ("time", "<f4"), ("shape", "u1"), ("tcb", "<u2", (3,)), ("parameters", "<u2", (4,))]
)
"""A key of the packed layout, 23 bytes."""
_PACKED_SIZE = PACKED.itemsize
STEPPED_SIZE = 9
SHAPE_OFFSET = 8
"""Offset of the shape in a packed key."""
LIMIT = 32.0
STEPS = 65535
STEP = 2 * LIMIT / STEPS
"""Distance of neighbouring 16-bit numbers: 0.98 ms of a handle's time, 0.98 mm or 0.056° of its value."""
MOST_PACKED_KEYS = 0xFFFF

USUAL_RATE = 30.0
"""Frames per second if the number in the file is NaN, infinite or below 0.001."""

_PACKED_HEAD = struct.Struct("<BBH")
"""The behaviours before and after the keys, and the number of keys."""
_BEHAVIOURS = {member.value: member.name.lower() for member in Behaviour}
_STEPPED = int(Shape.STEPPED)
_SHAPES = {member.value: member.name.lower() for member in Shape}
_COLUMNS = np.dtype([("time", "<f4"), ("value", "<f4"), ("shape", "U11"), ("tcb", "<f4", 3), ("parameters", "<f4", 4)])
"""The keys of a channel as they are shown."""


def usable_rate(fps: np.float32) -> float:
    """Return the frames per second of a motion, `USUAL_RATE` if its number is unusable."""
    return float(fps) if np.isfinite(fps) and fps >= 1e-3 else USUAL_RATE


@dataclass(slots=True)
class StoredEnvelope:
    """A channel as stored: ``before`` and ``after`` (`Behaviour`), ``keys`` (keys,) of dtype `OLD` or `PACKED`.

    Files with packed keys omit the tensions and parameters of stepped keys; here they are 0.
    """

    before: int
    after: int
    keys: NDArray[np.void]

    @property
    def packed(self) -> bool:
        """Whether the channel has the packed layout."""
        return self.keys.dtype == PACKED

    @property
    def shapes(self) -> NDArray[np.uint8]:
        """The shape of each key (keys,), values of `Shape`."""
        return self.keys["shape"].astype(np.uint8)  # the lowest of the old layout's four bytes

    def decoded(self) -> Envelope:
        """Return the channel in float64, as the engine has it after loading."""
        return StoredEnvelope.decoded_all([self])[0]

    @classmethod
    def decoded_all(cls, envelopes: Sequence[StoredEnvelope]) -> Envelopes:
        """Return `decoded` of each channel, at least one; computed together if all have the same layout."""
        if len({envelope.keys.dtype for envelope in envelopes}) != 1:
            return Envelopes.of([envelope.decoded() for envelope in envelopes])
        return Envelopes(
            _decoded(_concatenated(envelopes)),
            np.cumsum([0, *(len(envelope.keys) for envelope in envelopes)]),
            np.array([envelope.before for envelope in envelopes], np.intp),
            np.array([envelope.after for envelope in envelopes], np.intp),
        )


def _decoded(keys: NDArray[np.void]) -> Envelope:
    shapes = keys["shape"].astype(np.uint8)
    with np.errstate(invalid="ignore"):  # a signalling NaN of a broken file becomes a quiet one
        times, values = keys["time"].astype(np.float64), keys["value"].astype(np.float64)
        if keys.dtype == PACKED:
            tcb, parameters = unpacked(keys["tcb"]), unpacked(keys["parameters"])
            stepped = shapes == Shape.STEPPED
            if stepped.any():
                tcb[stepped] = parameters[stepped] = 0.0
        else:
            tcb, parameters = keys["tcb"].astype(np.float64), keys["parameters"].astype(np.float64)
    return Envelope(times, values, shapes, tcb, parameters)


def _concatenated(envelopes: Sequence[StoredEnvelope]) -> NDArray[np.void]:
    """Return the keys of several channels of one layout; `numpy.concatenate` is slow for structured types."""
    return np.frombuffer(b"".join([envelope.keys.tobytes() for envelope in envelopes]), envelopes[0].keys.dtype)


def unpacked(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Return 16-bit numbers (..., n) as floats from -32 to 32. Columns are contiguous, which is fastest in numpy."""
    result: NDArray[np.float64] = np.moveaxis(np.ascontiguousarray(np.moveaxis(numbers, -1, 0)) * STEP, 0, -1)
    result -= LIMIT
    return result


def packed(numbers: NDArray[Any]) -> NDArray[np.uint16]:
    """Return numbers as 16-bit numbers, clamped to -32 to 32, NaN as the middle. The inverse of `unpacked`."""
    steps = np.floor((np.clip(numbers, -LIMIT, LIMIT) + LIMIT) / (2 * LIMIT) * STEPS + 0.5)
    result: NDArray[np.uint16] = np.nan_to_num(steps, nan=STEPS / 2).astype("<u2")
    return result


def read_old(reader: Reader, what: str) -> StoredEnvelope:
    """Read an envelope of the old layout; ``what`` names it in messages. Raises `ReadError`."""
    before, after = reader.i32(say("what comes before {}", what)), reader.i32(say("what comes after {}", what))
    count = reader.u32(say("the number of keys of {}", what))
    return StoredEnvelope(before, after, reader.array(OLD, count, what=_keys_of(count, what)))


def read_packed(reader: Reader, what: str) -> StoredEnvelope:
    """Read an envelope of the packed layout; ``what`` names it in messages. Raises `ReadError`."""
    data, start = reader.data, reader.position + _PACKED_HEAD.size
    if start > len(data):
        reader.take(_PACKED_HEAD.size, what)
    before, after, count = _PACKED_HEAD.unpack_from(data, reader.position)
    # Files have tens of thousands of channels, nearly all without stepped keys.
    end = start + count * _PACKED_SIZE
    if end <= len(data) and _STEPPED not in bytes(data[start + SHAPE_OFFSET : end : _PACKED_SIZE]):
        reader.position = end
        return StoredEnvelope(before, after, np.frombuffer(data, PACKED, count, start))
    reader.position = start
    return StoredEnvelope(before, after, _read_stepped_keys(reader, count, what))


def _read_stepped_keys(reader: Reader, count: int, what: str) -> NDArray[np.void]:
    """Read packed keys of which some are stepped. Raises `ReadError` if bytes are missing."""
    data, start = reader.data, reader.position
    end = start + count * STEPPED_SIZE
    if end > len(data):
        reader.take(count * STEPPED_SIZE, _keys_of(count, what))
    rows = np.zeros((count, PACKED.itemsize), np.uint8)
    if bytes(data[start + SHAPE_OFFSET : end : STEPPED_SIZE]).count(_STEPPED) == count:
        rows[:, :STEPPED_SIZE] = np.frombuffer(data, np.uint8, end - start, start).reshape(count, STEPPED_SIZE)
        reader.position = end
    else:
        starts = _mixed_starts(reader, count, what)
        source = np.frombuffer(reader.take(starts.pop()), np.uint8)
        begin = np.array(starts, np.intp)[:, None]
        rows[:, :STEPPED_SIZE] = source[begin + np.arange(STEPPED_SIZE)]
        long = rows[:, SHAPE_OFFSET] != Shape.STEPPED
        rows[long, STEPPED_SIZE:] = source[begin[long] + np.arange(STEPPED_SIZE, PACKED.itemsize)]
    return rows.view(PACKED)[:, 0]


def _mixed_starts(reader: Reader, count: int, what: str) -> list[int]:
    """Return the offset of each key and the end of the last one, if stepped and other keys are mixed.

    The size of each key gives the offset of the next. Raises `ReadError` if bytes are missing.
    """
    data = reader.data[reader.position :]
    starts, position, limit = [0], 0, len(data)
    for _ in range(count):
        if position + STEPPED_SIZE > limit:
            break
        position += STEPPED_SIZE if data[position + STEPPED_SIZE - 1] == Shape.STEPPED else PACKED.itemsize
        starts.append(position)
    if len(starts) <= count or position > limit:
        raise reader.error(say("{}: more bytes than are left ({})", _keys_of(count, what), limit), DAMAGED)
    return starts


def _keys_of(count: int, what: str) -> str:
    return say("the {:# key|# keys} of {}", count, what)


def write_envelope(writer: Writer, envelope: StoredEnvelope) -> None:
    """Write an envelope in its own layout. Raises `WriteError` if the packed layout cannot hold it."""
    count = len(envelope.keys)
    if not envelope.packed:
        writer.i32(envelope.before)
        writer.i32(envelope.after)
        writer.u32(count)
        writer.raw(envelope.keys.tobytes())
        return
    if count > MOST_PACKED_KEYS:
        words = "a channel has {:# key|# keys}, the file's version holds {}"
        raise WriteError(say(words, count, MOST_PACKED_KEYS), remedy="Write version 3")
    data = envelope.keys.tobytes()
    stepped = data[SHAPE_OFFSET :: PACKED.itemsize].count(_STEPPED)
    if stepped:
        rows = np.frombuffer(data, np.uint8).reshape(count, PACKED.itemsize)
        kept = np.ones(rows.shape, np.bool_)
        kept[rows[:, SHAPE_OFFSET] == _STEPPED, STEPPED_SIZE:] = False
        data = (rows[:, :STEPPED_SIZE] if stepped == count else rows[kept]).tobytes()
    if not (0 <= envelope.before <= 0xFF and 0 <= envelope.after <= 0xFF):
        writer.u8(envelope.before)
        writer.u8(envelope.after)
    writer.raw(_PACKED_HEAD.pack(envelope.before, envelope.after, count))
    writer.raw(data)


def are_sound(envelopes: Sequence[StoredEnvelope]) -> bool:
    """Return whether `check` would report nothing for any of these channels, computed for all at once."""
    if not all(envelope.before in _BEHAVIOURS and envelope.after in _BEHAVIOURS for envelope in envelopes):
        return False
    counts = [len(envelope.keys) for envelope in envelopes]
    if not sum(counts):
        return True
    keys = _concatenated(envelopes)
    if (keys["shape"] & 0xFF).max() > max(_SHAPES) or not_finite(keys):
        return False
    first = np.zeros(len(keys) + 1, np.bool_)
    first[np.cumsum(counts)] = True
    times = keys["time"]
    return bool((first[1:-1] | (times[1:] > times[:-1])).all())


def check(envelope: StoredEnvelope, where: str, report: Report) -> None:
    """Report unknown values, NaN or infinite values, and keys whose times do not ascend."""
    for behaviour in (envelope.before, envelope.after):
        if behaviour not in _BEHAVIOURS:
            report.warn(say("the behaviour {} outside the keys is unknown; kept", behaviour), where)
    keys = envelope.keys
    if not len(keys):
        return
    shapes = envelope.shapes
    if shapes.max() > max(_SHAPES):
        report.warn(say("the shape {} of a key is unknown; kept, shown as stepped", shapes.max()), where)
    warn_not_finite(report, where, keys)
    if len(keys) > 1 and np.isfinite(keys["time"]).all():
        before, after = keys["time"][:-1], keys["time"][1:]  # not subtracted: that could overflow
        if (after < before).any():
            report.warn("keys are out of order in time: the game jumps there", where)
        elif (after == before).any():
            report.note("several keys at one time: the game jumps there", where)


# ---- conversion between layouts


def as_old(envelope: StoredEnvelope) -> StoredEnvelope:
    """Return the same channel in the old layout, without loss."""
    if not envelope.packed:
        return envelope
    decoded = envelope.decoded()
    keys = np.zeros(decoded.count, OLD)
    for name in ("value", "time", "shape"):
        keys[name] = envelope.keys[name]
    keys["tcb"], keys["parameters"] = decoded.tcb, decoded.parameters
    return StoredEnvelope(envelope.before, envelope.after, keys)


def as_packed(envelope: StoredEnvelope, where: str = "") -> StoredEnvelope:
    """Return the same channel in the packed layout. Raises `WriteError` if a number that the game uses does not fit."""
    if envelope.packed:
        return envelope
    return stored(envelope.decoded(), where, to_packed=True)


def stored(envelope: Envelope, where: str = "", *, to_packed: bool) -> StoredEnvelope:
    """Return a channel in one of the layouts; numbers from `StoredEnvelope.decoded` become the same bytes again.

    Raises `WriteError` for numbers that the layout cannot hold.
    """
    keys = np.zeros(envelope.count, PACKED if to_packed else OLD)
    with np.errstate(over="ignore", invalid="ignore"):
        keys["value"], keys["time"], keys["shape"] = envelope.values, envelope.times, envelope.shapes
        if not to_packed:
            keys["tcb"], keys["parameters"] = envelope.tcb, envelope.parameters
            return StoredEnvelope(envelope.before, envelope.after, keys)
    if not (0 <= envelope.before <= 0xFF and 0 <= envelope.after <= 0xFF):
        words = "{}: the behaviour outside the keys does not fit one byte"
        raise WriteError(say(words, where), remedy="Write version 3")
    _refuse_out_of_range(envelope, where)
    with np.errstate(invalid="ignore"):
        keys["tcb"], parameters = packed(envelope.tcb), packed(envelope.parameters)
    # Rounding must not move a handle shorter than a step to the other side of its key.
    bezier_2d = envelope.shapes == Shape.BEZIER_2D
    middle = STEPS // 2
    crossing = bezier_2d & (envelope.parameters[:, 0] <= 0) & (parameters[:, 0] > middle)
    parameters[crossing, 0] = middle
    keys["parameters"] = parameters
    stepped = envelope.shapes == Shape.STEPPED
    keys["tcb"][stepped], keys["parameters"][stepped] = 0, 0
    return StoredEnvelope(envelope.before, envelope.after, keys)


def _refuse_out_of_range(envelope: Envelope, where: str) -> None:
    """Raise `WriteError` for tensions and handles beyond ±32 that the game uses, which cannot be packed."""
    shapes, parameters = envelope.shapes, envelope.parameters
    used = np.zeros(parameters.shape, np.bool_)
    used[:, :2] = ((shapes == Shape.HERMITE) | (shapes == Shape.BEZIER_1D))[:, None]
    used[shapes == Shape.BEZIER_2D] = True
    used[:-1, 1] |= (shapes[1:] == Shape.BEZIER_2D) & (shapes[:-1] != Shape.STEPPED)
    out_of_range = used & ~(np.abs(parameters) <= LIMIT)
    tcb_out_of_range = (shapes == Shape.TCB)[:, None] & ~(np.abs(envelope.tcb) <= LIMIT)
    if out_of_range.any() or tcb_out_of_range.any():
        worst = parameters[out_of_range][0] if out_of_range.any() else envelope.tcb[tcb_out_of_range][0]
        raise WriteError(
            say("{}: a handle or tension of {:g} does not fit this version (-32 to 32)", where, worst),
            remedy="Write version 3, or add keys so that the handles are shorter",
        )


# ---- text output


def _envelope_entries(envelope: StoredEnvelope) -> Entries:
    yield "before the keys", _BEHAVIOURS.get(envelope.before, envelope.before)
    yield "after the keys", _BEHAVIOURS.get(envelope.after, envelope.after)
    keys = as_old(envelope).keys  # channels of both layouts are compared as floats
    rows = np.empty(len(keys), _COLUMNS)
    for name in ("time", "value", "tcb", "parameters"):
        rows[name] = keys[name]
    rows["shape"] = [_SHAPES.get(shape, str(shape)) for shape in keys["shape"].tolist()]
    yield "", Rows(rows, "key")


ENVELOPE_VIEWS: Views = {
    StoredEnvelope: View(
        entries=_envelope_entries,
        bits=lambda envelope: (envelope.before, envelope.after, envelope.packed, envelope.keys.tobytes()),
    )
}


def shape_counts(envelopes: list[StoredEnvelope]) -> str:
    """Return the numbers of keys by shape as text, such as ``tcb 27, linear 1``."""
    counts = np.zeros(256, np.intp)
    for envelope in envelopes:
        counts += np.bincount(envelope.shapes, minlength=256)
    present = [(shape, int(count)) for shape, count in enumerate(counts) if count]
    return ", ".join(f"{_SHAPES.get(shape, shape)} {count}" for shape, count in present) or "none"


def row_bytes(rows: NDArray[Any]) -> NDArray[np.uint8]:
    """Return (rows, bytes per row) the stored bytes."""
    return np.frombuffer(rows.tobytes(), np.uint8).reshape(len(rows), rows.nbytes // max(len(rows), 1))


# Channels as curves ---------------------------------------------------------------------------------------------------

NAMES = ("X", "Y", "Z", "H", "P", "B")
"""Names of the channels in the engine's order: metres, then radians about Y (H), X (P) and Z (B)."""
ANGLES_FROM = 3

AFFECTED_KEYS = 3
"""Number of keys on either side of an edited key whose stored numbers may change with it."""


@dataclass(frozen=True)
class Mapping:
    """The file's channel for each of Blender's (location x, y, z, rotation x, y, z), and its sign."""

    channels: tuple[int, ...]
    signs: tuple[float, ...]


REPORTED_SLOPE = 0.01
"""Smallest change of a slope that is reported, in metres or radians per second; rounding of handles causes about that.
"""
MOST_NAMED = 8
"""Largest number of channels named in one message."""

OBJECT = Mapping((0, 2, 1, 4, 5, 3), (1.0, 1.0, 1.0, -1.0, -1.0, -1.0))
"""Objects: location (x, z, y), Euler YXZ of x = -P, y = -B, z = -H."""
BONE = Mapping((0, 1, 2, 4, 3, 5), (1.0, 1.0, -1.0, -1.0, -1.0, 1.0))
"""Bones: location (x, y, -z), Euler ZXY of x = -P, y = -H, z = B."""


def lost_slopes(changes: Iterable[Item]) -> str:
    """Return a sentence about channels that the game continues with another slope than asked for, or an empty text."""
    reported = [change for change in changes if change.slope_error > REPORTED_SLOPE]
    if not reported:
        return ""
    which = ", ".join(change.name for change in reported[:MOST_NAMED]) + (", ..." if len(reported) > MOST_NAMED else "")
    return say(
        "outside the keys of {} the game continues with another slope than Blender; align the "
        "outer handle with its segment",
        which,
    )


def _report_display_changes(decoded: Envelope, display: Display, where: str, report: Report) -> None:
    """Report what of a channel Blender cannot show as stored, and keys added to show it."""
    if decoded.count and not display.curve.count:
        report.warn(
            "channel contains NaN or infinite values; imported without keys, exported unchanged unless you add keys",
            where,
        )
    elif hidden := display.hidden(decoded):
        sentence = (
            "{:# key|# keys} at the same time or out of order; the jump takes 1/50 of a frame in Blender; unchanged "
            "in the file unless its neighbours are edited"
        )
        report.warn(say(sentence, hidden), where)
    if display.folded:
        report.warn("the time of a segment runs backwards, which Blender cannot show; kept unless edited", where)
    elif display.added and not display.hidden(decoded):
        words = "{:# key|# keys} more than in the file, for handles that Blender would shorten"
        report.note(say(words, display.added), where)


@dataclass
class _Base:
    """A channel as stored in the file, decoded, and as shown in Blender."""

    stored: StoredEnvelope
    decoded: Envelope
    display: Display


@dataclass
class _Encoded:
    """A channel to be stored.

    ``changed_keys``: the number of its keys that differ from the base, None if it was not edited. ``comparison``: what
    to measure losses against, None if nothing can be lost. ``converted``: it is the base's channel in another layout,
    and counts as changed only if that loses something.
    """

    channel: str
    result: StoredEnvelope
    changed_keys: int | None = None
    comparison: Stored | None = None
    converted: bool = False


def _encode_channel(curve: Curve, base: _Base | None, frame: float, where: str, *, to_packed: bool) -> _Encoded:
    """Return a channel to be stored; signs are those of the file.

    Raises `WriteError` for NaN or infinite values, keys that are not in the order of their times, and numbers that the
    layout cannot hold.
    """
    _refuse_unusable(curve, where)
    old, decoded, display = (base.stored, base.decoded, base.display) if base is not None else (None, None, None)
    matched = match(curve, display, frame) if display is not None else None
    if old is not None and display is not None and unchanged(curve, display, frame, matched):
        return _in_layout(old, to_packed, curve, where)
    known = decoded if display is not None and display.curve.count else None
    keys, source = keys_of_curve(
        curve, known, display if known else None, frame, stepped_parameters=not to_packed, matched=matched
    )
    result = stored(keys, where, to_packed=to_packed)
    if old is not None and not old.packed and not to_packed:
        _keep_high_bytes(result, old, source)
    near_edits = _near_edits(matched) if known and matched is not None else _all_segments(curve)
    return _Encoded(where, result, _changed_keys(result, old, source), Stored(curve, result.decoded(), near_edits))


def _all_segments(curve: Curve) -> NDArray[np.bool_]:
    return np.ones(max(curve.count - 1, 0), np.bool_)


def _near_edits(matched: Match) -> NDArray[np.bool_]:
    """Return (keys - 1,): which segments are within `AFFECTED_KEYS` keys of an edit.

    These may be stored differently than in the base.
    """
    edited = ~(matched.key & matched.left & matched.right & matched.interpolation)
    edited |= np.diff(matched.indices, prepend=-1) != 1  # keys before it were removed
    for _ in range(AFFECTED_KEYS):
        wider = edited.copy()
        wider[1:] |= edited[:-1]
        wider[:-1] |= edited[1:]
        edited = wider
    return edited[:-1] | edited[1:]


def _in_layout(base: StoredEnvelope, to_packed: bool, curve: Curve, where: str) -> _Encoded:
    if base.packed == to_packed:
        return _Encoded(where, base)
    if not to_packed:
        return _Encoded(where, as_old(base))
    result = as_packed(base, where)
    comparison = Stored(curve, result.decoded(), _all_segments(curve))
    return _Encoded(where, result, len(result.keys), comparison, converted=True)


def _refuse_unusable(curve: Curve, where: str) -> None:
    if not all(np.isfinite(part).all() for part in (curve.keys, curve.left, curve.right)):
        raise WriteError(say("{}: a key or handle is NaN or infinite", where), remedy="Delete that key")
    if (np.diff(curve.keys[:, 0]) <= 0).any():
        raise WriteError(say("{}: keys are not in the order of their times", where), remedy="Sort them")


def _keep_high_bytes(result: StoredEnvelope, base: StoredEnvelope, source: NDArray[np.intp]) -> None:
    """Copy the upper bytes of unedited shapes: the old layout has four bytes for one, of which the game reads one."""
    same = np.flatnonzero(source >= 0)
    old = base.keys["shape"][source[same]]
    ours = result.keys["shape"][same]
    result.keys["shape"][same] = np.where((old & 0xFF) == ours, old, ours)


def _changed_keys(result: StoredEnvelope, base: StoredEnvelope | None, source: NDArray[np.intp]) -> int:
    if base is None or base.packed != result.packed:
        return len(result.keys)
    known = source >= 0
    same = (row_bytes(result.keys[known]) == row_bytes(base.keys[source[known]])).all(axis=1)
    # Removed keys count as well, unless others replace them.
    return max(len(result.keys) - int(same.sum()), len(base.keys) - int(same.sum()))


def decode_channels(
    envelopes: Sequence[StoredEnvelope], mapping: Mapping, frame: float, where: str, report: Report
) -> list[Curve]:
    """Return six channels in the file's order as Blender's: location x, y, z, then rotation x, y, z.

    ``frame`` is the length of a frame in seconds; ``where`` is put before the names of channels in reports.
    """
    curves = decode_tracks([(where, envelopes)], mapping, frame, report)
    return [curves.numbered(number) for number in range(len(curves))]


def decode_tracks(
    tracks: Sequence[tuple[str, Sequence[StoredEnvelope]]], mapping: Mapping, frame: float, report: Report
) -> Curves:
    """Return the curves of `decode_channels` for several tracks, each a name for reports and its six channels.

    ``frame`` is the length of a frame in seconds.
    """
    envelopes_stored = [envelopes[channel] for _, envelopes in tracks for channel in mapping.channels]
    if not envelopes_stored:
        return Curves.of([])
    decoded = StoredEnvelope.decoded_all(envelopes_stored)
    curves, altered = _displayed(decoded, frame)
    if any(display.cut for display in altered.values()):
        labels = [f"{index}{NAMES[channel]}" for index, _ in tracks for channel in mapping.channels]
        for number, label in enumerate(labels):
            if number in altered and altered[number].cut:
                _report_display_changes(decoded[number], altered[number], label, report)
    return curves.signed(np.tile(mapping.signs, len(tracks)))


def _displayed(envelopes: Envelopes, frame: float) -> tuple[Curves, dict[int, Display]]:
    """Return the result of `displayed`; a channel whose keys or handles are NaN or infinite has no keys."""
    keys = envelopes.keys
    if _are_finite(keys.times, keys.values, keys.tcb, keys.parameters):
        curves, altered = displayed(envelopes, frame)
        # Numbers near the largest float can have handles that are infinite.
        if _are_finite(curves.keys, curves.left, curves.right):
            return curves, altered
    if len(envelopes) > 1:
        alone = [_displayed(Envelopes.of([envelope]), frame) for envelope in envelopes]
        alone_of = {number: channel for number, (_, altered) in enumerate(alone) for channel in altered.values()}
        return Curves.joined([curves for curves, _ in alone]), alone_of
    curve, empty = empty_curve(int(envelopes.before[0]), int(envelopes.after[0])), np.zeros(0, np.intp)
    return Curves.of([curve]), {0: Display(curve, empty, empty, np.zeros(0, np.bool_), cut=True)}


def _are_finite(*parts: NDArray[np.float64]) -> bool:
    return all(bool(np.isfinite(part).all()) for part in parts)


def encode_channels(
    curves: Sequence[Curve],
    base: Sequence[StoredEnvelope] | None,
    mapping: Mapping,
    frame: float,
    where: str,
    *,
    to_packed: bool,
) -> tuple[list[StoredEnvelope], list[Item]]:
    """Return Blender's six channels as the file's, and those that changed.

    Unedited channels keep the bytes of ``base``. ``frame`` is in seconds; ``where`` is put before the names of
    channels. Raises `WriteError` for channels that the layout cannot store.
    """
    known: list[_Base] = []
    if base is not None:
        decoded = StoredEnvelope.decoded_all(base)
        own_displayed = each_display(*_displayed(decoded, frame))
        known = [_Base(*each) for each in zip(base, decoded, own_displayed, strict=True)]
    encoded = [
        _encode_channel(
            curve if sign > 0 else curve.signed(sign),
            known[channel] if known else None,
            frame,
            f"{where}{NAMES[channel]}",
            to_packed=to_packed,
        )
        for curve, channel, sign in zip(curves, mapping.channels, mapping.signs, strict=True)
    ]
    in_file = {
        channel: channel_result.result for channel, channel_result in zip(mapping.channels, encoded, strict=True)
    }
    return [in_file[channel] for channel in range(len(NAMES))], _changes(encoded, mapping, frame)


def _changes(encoded: Sequence[_Encoded], mapping: Mapping, frame: float) -> list[Item]:
    lost = iter(
        losses([own_channel.comparison for own_channel in encoded if own_channel.comparison is not None], frame)
    )
    changes = []
    for channel, number in zip(encoded, mapping.channels, strict=True):
        error, slope = next(lost) if channel.comparison is not None else (0.0, 0.0)
        if channel.changed_keys is not None and not (channel.converted and not error and not slope):
            unit = Unit.METRES if number < ANGLES_FROM else Unit.RADIANS
            changes.append(Item(channel.channel, channel.changed_keys, error, slope, unit))
    return changes
