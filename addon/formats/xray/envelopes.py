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
    Displays,
    Envelope,
    Envelopes,
    Shape,
    displayed,
    keys_of_curves,
    unchanged,
)
from ...core.envelope.curve import empty_curve
from ...core.envelope.writing import Match, losses, match
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
    envelopes = Envelopes.of([envelope])
    return _split(envelopes, _stored_keys(envelopes, [where], to_packed=to_packed))[0]


def _split(envelopes: Envelopes, keys: NDArray[np.void]) -> list[StoredEnvelope]:
    ends = zip(envelopes.before.tolist(), envelopes.after.tolist(), strict=True)
    parts = np.split(keys, envelopes.bounds[1:-1])
    return [StoredEnvelope(before, after, part) for (before, after), part in zip(ends, parts, strict=True)]


def _stored_keys(envelopes: Envelopes, labels: Sequence[str], *, to_packed: bool) -> NDArray[np.void]:
    """Return the concatenated keys of channels in one of the layouts; ``labels`` names them in messages.

    Raises `WriteError` as `stored`.
    """
    given = envelopes.keys
    keys = np.zeros(given.count, PACKED if to_packed else OLD)
    with np.errstate(over="ignore", invalid="ignore"):
        keys["value"], keys["time"], keys["shape"] = given.values, given.times, given.shapes
        if not to_packed:
            keys["tcb"], keys["parameters"] = given.tcb, given.parameters
            return keys
    _refuse_out_of_range(envelopes, labels)
    with np.errstate(invalid="ignore"):
        keys["tcb"], parameters = packed(given.tcb), packed(given.parameters)
    # Rounding must not move a handle shorter than a step to the other side of its key.
    bezier_2d = given.shapes == Shape.BEZIER_2D
    middle = STEPS // 2
    crossing = bezier_2d & (given.parameters[:, 0] <= 0) & (parameters[:, 0] > middle)
    parameters[crossing, 0] = middle
    keys["parameters"] = parameters
    stepped = given.shapes == Shape.STEPPED
    keys["tcb"][stepped], keys["parameters"][stepped] = 0, 0
    return keys


def _refuse_out_of_range(envelopes: Envelopes, labels: Sequence[str]) -> None:
    """Raise `WriteError` for behaviours that do not fit one byte, and for tensions and handles beyond ±32 that the game
    uses.
    """
    for before, after, where in zip(envelopes.before.tolist(), envelopes.after.tolist(), labels, strict=True):
        if not (0 <= before <= 0xFF and 0 <= after <= 0xFF):
            words = "{}: the behaviour outside the keys does not fit one byte"
            raise WriteError(say(words, where), remedy="Write version 3")
    shapes, parameters, tcb = envelopes.keys.shapes, envelopes.keys.parameters, envelopes.keys.tcb
    used = np.zeros(parameters.shape, np.bool_)
    used[:, :2] = ((shapes == Shape.HERMITE) | (shapes == Shape.BEZIER_1D))[:, None]
    flat = shapes == Shape.BEZIER_2D
    used[flat] = True
    before_flat = np.append(flat[1:], False)[: len(flat)] & (shapes != Shape.STEPPED)
    before_flat[envelopes.ends[2]] = False
    used[:, 1] |= before_flat
    out_of_range = used & ~(np.abs(parameters) <= LIMIT)
    tcb_out_of_range = (shapes == Shape.TCB)[:, None] & ~(np.abs(tcb) <= LIMIT)
    if out_of_range.any() or tcb_out_of_range.any():
        row = int(np.flatnonzero(out_of_range.any(axis=1) | tcb_out_of_range.any(axis=1))[0])
        number = int(np.searchsorted(envelopes.bounds, row, "right")) - 1
        part = slice(*envelopes.bounds[number : number + 2])
        worst = np.append(parameters[part][out_of_range[part]], tcb[part][tcb_out_of_range[part]])[0]
        raise WriteError(
            say("{}: a handle or tension of {:g} does not fit this version (-32 to 32)", labels[number], worst),
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
    """Channels as stored in the file, decoded, and as shown in Blender."""

    stored: Sequence[StoredEnvelope]
    decoded: Envelopes
    display: Displays

    @classmethod
    def of(cls, envelopes: Sequence[StoredEnvelope], frame: float) -> _Base:
        decoded = StoredEnvelope.decoded_all(envelopes)
        return cls(envelopes, decoded, Displays.of(*_displayed(decoded, frame), decoded.bounds))

    @property
    def packed(self) -> bool:
        return self.stored[0].packed


@dataclass
class _Encoded:
    """Channels to be stored.

    ``changed_keys``: the number of keys that differ from the base, of each channel that was edited or whose layout
    loses something. ``converted``: those of them that were not edited; they count as changed only if that loses
    something. ``compared``: for each channel which segments (keys,) to measure the losses of.
    """

    result: list[StoredEnvelope]
    changed_keys: dict[int, int]
    converted: set[int]
    compared: list[NDArray[np.bool_]]


def _encoded(
    curves: Curves, sources: Sequence[Any], base: _Base | None, frame: float, labels: Sequence[str], *, to_packed: bool
) -> _Encoded:
    """Return channels to be stored; signs are those of the file, ``sources`` are the `Curve.source` of all curves.

    Raises `WriteError` for NaN or infinite values, keys that are not in the order of their times, and numbers that the
    layout cannot hold.
    """
    _refuse_unusable(curves, labels)
    everything = [np.ones(count, np.bool_) for count in curves.counts.tolist()]
    if base is None:
        keys, _ = keys_of_curves(curves, None, None, None, stepped_parameters=not to_packed)
        result = _split(keys, _stored_keys(keys, labels, to_packed=to_packed))
        return _Encoded(result, {number: len(each.keys) for number, each in enumerate(result)}, set(), everything)
    matched = match(curves, base.display.curves, frame, sources)
    edited = ~unchanged(curves, base.display.curves, matched)
    encoded = _Encoded(list(base.stored), {}, set(), everything)
    if base.packed != to_packed:
        for number in np.flatnonzero(~edited).tolist():
            envelope = encoded.result[number]
            encoded.result[number] = as_packed(envelope, labels[number]) if to_packed else as_old(envelope)
            if to_packed:
                encoded.changed_keys[number] = len(envelope.keys)
                encoded.converted.add(number)
    if edited.any():
        near_edits = np.split(_near_edits(matched, curves, base.display.curves), curves.bounds[1:-1])
        keys, source = keys_of_curves(curves, base.decoded, base.display, matched, stepped_parameters=not to_packed)
        numbers = np.flatnonzero(edited).tolist()
        source = np.concatenate([source[slice(*keys.bounds[number : number + 2])] for number in numbers])
        keys = Envelopes.of([keys[number] for number in numbers])
        rows = _stored_keys(keys, [labels[number] for number in numbers], to_packed=to_packed)
        counts = _changed_keys(rows, keys.bounds, base, source, [len(base.stored[number].keys) for number in numbers])
        for number, envelope, count in zip(numbers, _split(keys, rows), counts, strict=True):
            encoded.result[number], encoded.changed_keys[number] = envelope, count
            encoded.compared[number] = near_edits[number]
    return encoded


def _near_edits(matched: Match, curves: Curves, old: Curves) -> NDArray[np.bool_]:
    """Return (keys,): whether the segment after each key is within `AFFECTED_KEYS` keys of an edit.

    These may be stored differently than in the base.
    """
    keyed, first, last = curves.ends
    previous = np.append(-1, matched.indices[:-1])
    previous[first] = old.bounds[keyed] - 1
    edited = ~matched.keys_unchanged
    edited |= matched.indices - previous != 1  # keys before it were removed
    inside, outside = np.ones(len(edited), np.bool_), np.ones(len(edited), np.bool_)
    inside[first] = outside[last] = False
    for _ in range(AFFECTED_KEYS):
        edited = edited | (np.roll(edited, 1) & inside) | (np.roll(edited, -1) & outside)
    return edited | np.roll(edited, -1)


def _refuse_unusable(curves: Curves, labels: Sequence[str]) -> None:
    columns = curves.keys, curves.left, curves.right
    backwards = np.diff(curves.keys[:, 0]) <= 0
    backwards[curves.ends[2][:-1]] = False
    if all(np.isfinite(column).all() for column in columns) and not backwards.any():
        return
    for where, curve in zip(labels, curves, strict=True):
        if not all(np.isfinite(part).all() for part in (curve.keys, curve.left, curve.right)):
            raise WriteError(say("{}: a key or handle is NaN or infinite", where), remedy="Delete that key")
        if (np.diff(curve.keys[:, 0]) <= 0).any():
            raise WriteError(say("{}: keys are not in the order of their times", where), remedy="Sort them")


def _changed_keys(
    keys: NDArray[np.void],
    bounds: NDArray[np.intp],
    base: _Base,
    source: NDArray[np.intp],
    counts_before: Sequence[int],
) -> list[int]:
    """Return how many of the stored ``keys`` of each channel differ from the base; copy from it what no edit changes.

    ``bounds``: index of the first key of each channel; ``counts_before``: the number of its keys in the base.
    """
    counts = np.diff(bounds)
    same = np.zeros(len(keys), np.bool_)
    if base.packed == (keys.dtype == PACKED):
        old = _concatenated(base.stored)
        known = np.flatnonzero(source >= 0)
        old = old[source[known]]
        if not base.packed:
            # The old layout has four bytes for a shape, of which the game reads the lowest.
            ours, theirs = keys["shape"][known], old["shape"]
            keys["shape"][known] = np.where((theirs & 0xFF) == ours, theirs, ours)
        same[known] = (row_bytes(keys[known]) == row_bytes(old)).all(axis=1)
        # Removed keys count as well, unless others replace them.
        counts = np.maximum(counts, counts_before)
    unedited = np.diff(np.append(0, np.cumsum(same))[bounds])
    result: list[int] = (counts - unedited).tolist()
    return result


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
    labels = [f"{where}{NAMES[channel]}" for channel in mapping.channels]
    known = _Base.of([base[channel] for channel in mapping.channels], frame) if base is not None else None
    in_file = Curves.of(curves).signed(np.array(mapping.signs))
    encoded = _encoded(in_file, [curve.source for curve in curves], known, frame, labels, to_packed=to_packed)
    of_channel = dict(zip(mapping.channels, encoded.result, strict=True))
    return [of_channel[channel] for channel in range(len(NAMES))], _changes(in_file, encoded, mapping, frame, labels)


def _changes(curves: Curves, encoded: _Encoded, mapping: Mapping, frame: float, labels: Sequence[str]) -> list[Item]:
    numbers = sorted(encoded.changed_keys)
    if not numbers:
        return []
    lost = losses(
        Curves.of([curves[number] for number in numbers]),
        StoredEnvelope.decoded_all([encoded.result[number] for number in numbers]),
        np.concatenate([encoded.compared[number] for number in numbers]),
        frame,
    )
    changes = []
    for number, (error, slope) in zip(numbers, lost, strict=True):
        if number not in encoded.converted or error or slope:
            unit = Unit.METRES if mapping.channels[number] < ANGLES_FROM else Unit.RADIANS
            changes.append(Item(labels[number], encoded.changed_keys[number], error, slope, unit))
    return changes
