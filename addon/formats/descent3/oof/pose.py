"""Where every sub-object is at a tick: what the engine plays, with exact trigonometry, in the file's axes.

Known from the engine's ``polymodel.cpp``, ``newstyle.cpp`` and ``vector.cpp``, and compared with numbers the engine's
own routines gave. Rotation keys are cumulative: each turns what the keys before it gave, about an axis in the
parent's frame. Between keys the engine blends matrix entries, not angles, and takes heading, pitch and bank of the
result, so that large steps lag behind and bulge. A track of one key is ignored in timed files and obeyed in untimed
ones. The fraction of a track that has passed comes from the rotation track's range, for positions too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core.model import parents_first
from . import properties
from .animation import FULL_TURN, TIMED_SINCE, PositionTracks, RotationTracks, Tracks
from .document import Oof
from .points import Batteries
from .properties import Kind

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

_UPRIGHT = 1e-5
_TURN_BY_FRACTION = 65535
"""The units a rotor or turret turns by in a whole fraction: the engine's one less than a turn."""


@dataclass(frozen=True, eq=False)
class Poses:
    """The poses of n sub-objects at f frames, in column form: ``p_parent = rotation @ p + position``.

    ``fractions`` (f, n) of each track that have passed; ``rotations`` (f, n, 3, 3) and ``positions`` (f, n, 3) in the
    parent's frame; ``model_rotations`` and ``model_positions`` in the model's.
    """

    fractions: Singles
    rotations: Floats
    positions: Floats
    model_rotations: Floats
    model_positions: Floats


def poses(
    document: Oof,
    frames: NDArray[Any],
    game_times: NDArray[Any] | None = None,
    overrides: NDArray[Any] | None = None,
) -> Poses:
    """The model at ``frames`` (f,), ticks or what lies between.

    ``game_times`` (f,) seconds drive rotors, default 0; ``overrides`` (f, n) the fraction of a track in place of the
    frame's (the engine sets it for turrets, which else stand at 0), NaN for none. Raises `ValueError` where parents
    form a ring.
    """
    when = np.asarray(frames, np.float32)
    parts, tracks, aimed = document.sub_objects, motion_tracks(document), aimed_parts(document)
    fractions = np.zeros((len(when), len(parts)), np.float32)
    rotations = np.zeros((len(when), len(parts), 3, 3))
    positions = np.zeros((len(when), len(parts), 3))
    for number, (part, track) in enumerate(zip(parts, tracks, strict=True)):
        given = np.full(len(when), np.nan, np.float32)
        if overrides is not None:
            given = np.asarray(overrides[:, number], np.float32)
        if part.index in aimed:
            given = np.where(np.isnan(given), np.float32(0), given)
        fractions[:, number], rotations[:, number], moved = play(track, when, game_times, given)
        positions[:, number] = part.offset.astype(np.float64) + moved
    return Poses(fractions, rotations, positions, *_accumulated(parent_places(document), rotations, positions))


def play(
    track: Track, frames: NDArray[Any], seconds: NDArray[Any] | None = None, given: Singles | None = None
) -> tuple[Singles, Floats, Floats]:
    """One track at ``frames`` (f,): fractions (f,), rotations (f, 3, 3), displacements (f, 3), as in `poses`.

    ``given`` (f,) fractions count in place of the frames' where they are no NaN.
    """
    when = np.asarray(frames, np.float32)
    fractions = _fractions(track, when)
    if given is not None:
        fractions = np.where(np.isnan(given), fractions, given)
    times = np.zeros(len(when)) if seconds is None else np.asarray(seconds)
    return fractions, _rotations(track, fractions, times), _displacements(track, fractions)


def aimed_parts(document: Oof) -> set[int]:
    """Sub-objects that a weapon battery turns: no frame moves them."""
    batteries = document.last(Batteries)
    return {int(part) for battery in (batteries.batteries if batteries else ()) for part in battery.turrets[:8]}


def parent_places(document: Oof) -> NDArray[np.int32]:
    """(sub-objects,) the place of each one's parent in `Oof.sub_objects`, -1 for none. A part may name itself."""
    places = {part.index: place for place, part in enumerate(document.sub_objects)}
    found = [-1 if part.parent == part.index else places.get(part.parent, -1) for part in document.sub_objects]
    return np.array(found, np.int32)


def _accumulated(parents: NDArray[np.int32], rotations: Floats, positions: Floats) -> tuple[Floats, Floats]:
    turns, places = rotations.copy(), positions.copy()
    for number in parents_first(parents):
        parent = parents[number]
        if parent >= 0:
            turns[:, number] = turns[:, parent] @ rotations[:, number]
            moved = np.einsum("fij,fj->fi", turns[:, parent], positions[:, number])
            places[:, number] = places[:, parent] + moved
    return turns, places


# Tracks --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Track:
    """The keys of one sub-object with what they mean.

    ``turns`` (keys, 3, 3) after each key, exact; ``rotation_starts`` and ``position_starts`` ticks, ``rotation_range``
    and ``position_range`` first and last tick (all None in untimed files, whose ``length`` is the number of frames);
    ``displacements`` (keys, 3). ``spin_axis`` (3,) where the game turns it (None where keys do), ``spin_seconds`` a
    turn for a rotor, None for a turret.
    """

    turns: Floats
    displacements: Floats
    rotation_starts: NDArray[np.int32] | None
    position_starts: NDArray[np.int32] | None
    rotation_range: NDArray[np.int32] | None
    position_range: NDArray[np.int32] | None
    length: int = 0
    spin_axis: Floats | None = None
    spin_seconds: float | None = None


def motion_tracks(document: Oof) -> list[Track]:
    """The tracks of `Oof.sub_objects`, in that order; still ones where the file has no animation."""
    turning, moving = document.last(RotationTracks), document.last(PositionTracks)
    chunks = [chunk for chunk in (turning, moving) if chunk is not None]
    length = max((chunk.shared_count for chunk in chunks), default=0)
    timed = document.major >= TIMED_SINCE
    return [
        _track(turning, moving, part.index, properties.parse(part.property_text), timed=timed, length=length)
        for part in document.sub_objects
    ]


def _keys(chunk: Tracks | None, index: int) -> NDArray[Any] | None:
    return chunk.keys[index] if chunk is not None and index < len(chunk.keys) else None


def _track(
    turning: Tracks | None,
    moving: Tracks | None,
    index: int,
    said: properties.Property | None,
    *,
    timed: bool,
    length: int,
) -> Track:
    rotation, position = _keys(turning, index), _keys(moving, index)
    turns = cumulative_turns(rotation["axis"], rotation["angle"]) if rotation is not None else np.zeros((0, 3, 3))
    spin, seconds = None, None
    if said is not None and said.works and said.kind in (Kind.ROTATE, Kind.TURRET) and len(turns) >= 2:
        assert rotation is not None  # noqa: S101 - it has turns
        spin = unit_axes(rotation["axis"][1:2])[0]
        seconds = said.numbers[0] if said.kind is Kind.ROTATE else None
    still = np.zeros(2, np.int32)
    return Track(
        turns,
        position["position"].astype(np.float64) if position is not None else np.zeros((0, 3)),
        _starts(rotation) if timed else None,
        _starts(position) if timed else None,
        (turning.ranges[index] if turning is not None and turning.ranges is not None else still) if timed else None,
        (moving.ranges[index] if moving is not None and moving.ranges is not None else still) if timed else None,
        length,
        spin,
        seconds,
    )


def _starts(keys: NDArray[Any] | None) -> NDArray[np.int32]:
    starts: NDArray[np.int32] = keys["start"] if keys is not None else np.zeros(0, np.int32)
    return starts


def unit_axes(axes: NDArray[Any]) -> Floats:
    """Axes (..., 3) of length 1; a zero axis stays one, as in the engine."""
    exact = axes.astype(np.float64)
    length = np.linalg.norm(exact, axis=-1, keepdims=True)
    result: Floats = exact / np.where(length > 0, length, 1.0)
    return result


def turn_matrices(axes: Floats, angles: NDArray[Any]) -> Floats:
    """(n, 3, 3) turns by ``angles`` (n,) in units of `FULL_TURN` about unit ``axes`` (n, 3)."""
    radians = (np.asarray(angles, np.int64) % FULL_TURN) * (2 * np.pi / FULL_TURN)
    cosine, sine = np.cos(radians), np.sin(radians)
    x, y, z = np.moveaxis(axes, -1, 0)
    zero = np.zeros_like(x)
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*x.shape, 3, 3)
    outer = axes[..., :, None] * axes[..., None, :]
    result: Floats = (
        (1 - cosine)[..., None, None] * outer + sine[..., None, None] * cross + cosine[..., None, None] * np.eye(3)
    )
    return result


def cumulative_turns(axes: NDArray[Any], angles: NDArray[Any]) -> Floats:
    """(keys, 3, 3) what each key has turned to: its own turn applied after all before it."""
    steps = turn_matrices(unit_axes(axes), angles)
    # Blocks of doubling size multiplied together: no step a key.
    result = steps
    distance = 1
    while distance < len(steps):
        result = np.concatenate([result[:distance], result[distance:] @ result[:-distance]])
        distance *= 2
    return result


# One track at many frames --------------------------------------------------------------------------------------------


def _fractions(track: Track, frames: Singles) -> Singles:
    if track.rotation_range is None:
        if not track.length:
            return np.zeros(len(frames), np.float32)
        return (frames / np.float32(track.length)).astype(np.float32)
    first, last = (np.float32(end) for end in track.rotation_range)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        between = (frames - first) / np.float32(last - first)
    result: Singles = np.where(frames <= first, np.float32(0), np.where(frames >= last, np.float32(1), between))
    return result.astype(np.float32)


def _rotations(track: Track, fractions: Singles, seconds: NDArray[Any]) -> Floats:
    if track.spin_axis is not None:
        if track.spin_seconds is not None:
            passed = np.modf(seconds.astype(np.float64) / track.spin_seconds)[0]
        else:
            passed = fractions.astype(np.float64)
        units = np.trunc(passed * _TURN_BY_FRACTION)
        axes = np.broadcast_to(track.spin_axis, (len(units), 3))
        return by_angles(turn_matrices(axes, units.astype(np.int64)))
    count = len(track.turns)
    if count == 0 or (count == 1 and track.rotation_range is not None):
        return np.broadcast_to(np.eye(3), (len(fractions), 3, 3))
    key, weight = _places(fractions, count, track.rotation_starts, track.rotation_range)
    after = np.minimum(key + 1, count - 1)
    blended = track.turns[key] + (track.turns[after] - track.turns[key]) * weight[:, None, None]
    return by_angles(blended)


def _displacements(track: Track, fractions: Singles) -> Floats:
    count = len(track.displacements)
    if count == 0 or (count == 1 and track.position_range is not None):
        return np.zeros((len(fractions), 3))
    values = track.displacements
    if track.position_range is None and count > 1:
        values = np.concatenate([np.zeros((1, 3)), values[1:]])  # the engine takes the first key for none
    key, weight = _places(fractions, count, track.position_starts, track.position_range)
    after = np.minimum(key + 1, count - 1)
    result: Floats = values[key] + (values[after] - values[key]) * weight[:, None]
    return result


def _places(
    fractions: Singles, count: int, starts: NDArray[np.int32] | None, span: NDArray[np.int32] | None
) -> tuple[NDArray[np.int64], Floats]:
    """The key that holds at each fraction, and how far the next one has come in (0 ... 1)."""
    last = count - 1
    if starts is None or span is None:
        if last == 0:
            return np.zeros(len(fractions), np.int64), np.zeros(len(fractions))
        step = np.float32(1 / np.float32(last))
        key = np.clip(np.trunc(fractions / step), 0, last).astype(np.int64)
        weight = (fractions - key.astype(np.float32) * step) / step
        return key, np.where(key == last, 0.0, weight.astype(np.float64))
    first, end = (np.float32(tick) for tick in span)
    ticks = fractions * np.float32(end - first) + first
    # The highest-numbered key that has started, also where times are not in order.
    order = np.minimum.accumulate(starts[::-1])[::-1]
    key = np.searchsorted(order, np.trunc(ticks), side="right") - 1
    key = np.where(fractions >= 1, last, np.maximum(key, 0))
    after = np.minimum(key + 1, last)
    length = starts[after].astype(np.float32) - starts[key].astype(np.float32)
    weight = (ticks - starts[key].astype(np.float32)) / np.where(length == 0, np.float32(1), length)
    return key, np.where(key == last, 0.0, weight.astype(np.float64))


def by_angles(matrices: Floats) -> Floats:
    """What the engine makes of matrices (f, 3, 3): their heading, pitch and bank, and a rotation of these again."""
    right_y, up_y = matrices[:, 1, 0], matrices[:, 1, 1]
    x, y, z = matrices[:, 0, 2], matrices[:, 1, 2], matrices[:, 2, 2]
    upright = (np.abs(x) < _UPRIGHT) & (np.abs(z) < _UPRIGHT)
    heading = np.where(upright, np.arctan2(-matrices[:, 2, 0], matrices[:, 0, 0]), np.arctan2(x, z))
    pitch = np.where(upright, np.where(y > 0, -np.pi / 2, np.pi / 2), np.arctan2(-y, np.hypot(x, z)))
    bank = np.where(upright, 0.0, np.arctan2(right_y, up_y))
    ch, sh, cp, sp, cb, sb = (f(a) for a in (heading, pitch, bank) for f in (np.cos, np.sin))
    entries = [
        [cb * ch + sp * sb * sh, sp * cb * sh - sb * ch, sh * cp],
        [sb * cp, cb * cp, -sp],
        [sp * sb * ch - cb * sh, sb * sh + sp * cb * ch, ch * cp],
    ]
    return np.stack([np.stack(row, axis=-1) for row in entries], axis=-2)
