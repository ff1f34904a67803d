"""The motions of a model, tick by tick, in Blender's axes: what the game shows at every tick.

Between keys the game blends matrices; sampled at every tick nothing of that is lost.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....core import rotation, space
from ....core.report import Report
from .document import Oof
from .model import Floats, Motion
from .pose import Track, aimed_parts, motion_tracks, play

MOST_TICKS = 150_000
"""Of all parts together: more than an hour. A hostile file of few bytes can ask for billions."""


def moves(track: Track) -> bool:
    """Whether keys move the part; timed tracks of one key do not."""
    least = 1 if track.rotation_range is not None else 0
    turned = len(track.turns) > least and track.spin_axis is None
    return turned or len(track.displacements) > least


def span(track: Track) -> tuple[int, int]:
    """The first and last tick of a track. Without a range of its own the rotation's lets positions jump at once."""
    if track.rotation_range is None:
        return 0, track.length
    first, last = (int(tick) for tick in track.rotation_range)
    return first, max(last, first + 1)


def decode_motions(document: Oof, report: Report) -> list[Motion | None]:
    """The motion of each part, None for those that no key moves or that are turned by a battery."""
    tracks, parts, aimed = motion_tracks(document), document.sub_objects, aimed_parts(document)
    moving = [number for number, track in enumerate(tracks) if moves(track) and parts[number].index not in aimed]
    result: list[Motion | None] = [None] * len(parts)
    spans = {number: span(tracks[number]) for number in moving}
    if sum(last - first + 1 for first, last in spans.values()) > MOST_TICKS:
        report.warn(f"the motions last more than {MOST_TICKS} ticks; left out here, kept for export")
        return result
    for number in moving:
        track = tracks[number]
        first, last = spans[number]
        if track.rotation_range is not None and track.rotation_range[1] <= track.rotation_range[0]:
            report.warn("the rotation's range is empty: positions jump to their last key", parts[number].label)
        if _starts_late(track):
            report.warn("no key has started at the first tick: the game stops there", parts[number].label)
        result[number] = sampled(track, first, last)
    return result


def sampled(track: Track, first: int, last: int) -> Motion:
    """A track at every tick from first to last."""
    _, turns, moved = play(track, np.arange(first, last + 1))
    quaternions = rotation.continuous(rotation.from_matrices(space.descent_turns(turns)))
    return Motion(first, quaternions, space.descent_points(moved), _key_ticks(track, first, last))


def _starts_late(track: Track) -> bool:
    if track.rotation_range is None or track.position_range is None:
        return False
    pairs = ((track.rotation_starts, track.rotation_range), (track.position_starts, track.position_range))
    return any(
        starts is not None and len(starts) > 1 and int(starts.min()) > int(range_[0]) for starts, range_ in pairs
    )


def _key_ticks(track: Track, first: int, last: int) -> NDArray[np.int64]:
    """The ticks at which keys start, the ends included."""
    found = [np.array([first, last])]
    ranges = (track.rotation_range, track.position_range)
    if track.rotation_starts is not None and track.position_starts is not None:
        found.append(track.rotation_starts.astype(np.int64))
        if ranges[0] is not None and ranges[1] is not None and np.array_equal(ranges[0], ranges[1]):
            found.append(track.position_starts.astype(np.int64))
    else:
        counts = [keys for keys in (len(track.turns), len(track.displacements)) if keys > 1]
        found += [np.rint(np.arange(keys) * (track.length / (keys - 1))).astype(np.int64) for keys in counts]
    ticks = np.unique(np.concatenate(found))
    return ticks[(ticks >= first) & (ticks <= last)]


def spin_axis(track: Track) -> Floats | None:
    """The axis a rotor or turret turns about, right-handed in Blender's axes; None for other parts."""
    if track.spin_axis is None:
        return None
    # Mirrored axes turn the other way round.
    turned: Floats = -space.descent_points(track.spin_axis)
    return turned
