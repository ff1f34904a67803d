"""One motion from a `Clip`, starting from what the file has: tracks nobody touched keep their bytes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import names, quantum, rotation, space
from ....core.errors import WriteError
from ....core.model import Clip, Skeleton
from .changes import TrackChange
from .decoding import decode_motion
from .document import Motion, Track, TrackFlag
from .quantise import (
    Rotations,
    Width,
    composed,
    edited_rotations,
    edited_translations,
    float_rotations,
    float_translations,
    new_rotations,
    new_translations,
)
from .tracks import overlong, side_by_side, stored_translations
from .tracks_together import edited_together

Floats = NDArray[np.float64]

LARGEST = 1e38
"""What a 32-bit number holds, with room for the sum of three."""


@dataclass(frozen=True)
class Untouched:
    """What of a clip still means what the base says: ``rotations`` (tracks, frames), ``translations`` (…, 3)."""

    rotations: NDArray[np.bool_]
    translations: NDArray[np.bool_]

    @property
    def tracks(self) -> NDArray[np.bool_]:
        """(tracks,) those of which every number is."""
        return np.logical_and(self.rotations.all(axis=1), self.translations.all(axis=(1, 2)))


def compare(
    clip: Clip, base: Motion, *, rest: Skeleton | None = None, sampled: Collection[str] = frozenset()
) -> Untouched:
    """The untouched rule over a whole motion; track i of ``clip`` must be track i of ``base``.

    ``rest``: the pose the clip's keys were offsets from. Blender adds offsets to it and turns the sum, so the rounding
    of a number has the size of the whole vector and of the rest offset.

    ``sampled``: bones that were read from evaluated poses, which are normalised and carry Blender's rounding: one step
    is allowed for them. Frames behind the base's are untouched only in tracks that are one value there.
    """
    old = side_by_side(base)
    looked_at = np.array([bone in sampled for bone in clip.bones])[:, None, None]
    steps = np.where(looked_at, quantum.SAMPLED, quantum.KEYED)
    rows = _rows(clip.frames, base.frames)
    old_translations = old.translations[:, rows]
    old_rotations = old.rotations[:, rows]
    rotation_steps = old.rotation_steps[:, None, None] * steps
    if sampled:
        old_rotations = np.where(looked_at, rotation.normalised(old_rotations), old_rotations)
    rotations = quantum.untouched_rotations(clip.rotations, old_rotations, rotation_steps, steps=1.0)
    if not rotations.all():
        # Between two keys of Blender quaternions are shorter than 1; written they are not.
        written = rotation.normalised(clip.rotations)
        rotations |= quantum.untouched_rotations(written, old_rotations, rotation_steps, steps=1.0)
    translations = quantum.untouched(
        clip.translations,
        old_translations,
        old.translation_steps[:, None] * steps,
        steps=1.0,
        magnitude=np.maximum(np.abs(old_translations).max(axis=-1, keepdims=True), _magnitudes(clip, rest, sampled)),
    )
    rotations |= _not_shown(clip.rotations) & _not_shown(old_rotations)
    translations |= (_not_shown(clip.translations) & _not_shown(old_translations))[..., None]
    behind = max(base.frames, 1)
    rotations[:, behind:] &= ~old.rotation_keyed[:, None]
    translations[:, behind:] &= ~old.translation_keyed[:, None, None]
    return Untouched(rotations, translations)


def _not_shown(rows: Floats) -> NDArray[np.bool_]:
    """(...) which vectors (..., n) come back from Blender as no number: turned into a bone's space one NaN is three."""
    result: NDArray[np.bool_] = np.logical_not(np.all(np.abs(rows) < LARGEST, axis=-1))
    return result


def _rows(frames: int, there: int) -> Any:
    """Which rows of a base of so many frames a motion of ``frames`` is compared with: behind its end the last one."""
    return slice(None) if frames == max(there, 1) else np.minimum(np.arange(frames), max(there, 1) - 1)


def _magnitudes(clip: Clip, rest: Skeleton | None, sampled: Collection[str]) -> Floats:
    """(bones, 1, 1) metres: how large the numbers were that a bone's translation was computed from."""
    # A sampled pose went through the whole chain of bones: metres.
    smallest = [2.0 if bone in sampled else 0.0 for bone in clip.bones]
    if rest is None:
        return np.array(smallest)[:, None, None]
    reach = np.abs(rest.rest_translation).max(axis=1).tolist()
    sizes = dict(zip(map(str.lower, rest.bones), reach, strict=True))
    found = [max(sizes.get(bone.lower(), 0.0), least) for bone, least in zip(clip.bones, smallest, strict=True)]
    return np.array(found, np.float64)[:, None, None]


def encode_motion(
    clip: Clip,
    bones: list[str],
    base: Motion | None = None,
    *,
    rest: Skeleton | None = None,
    width: Width = Width.AUTOMATIC,
    sampled: Collection[str] = frozenset(),
) -> tuple[Motion, list[TrackChange]]:
    """A motion whose track i moves ``bones[i]``, and what in it differs from ``base``; ``sampled`` as in `compare`.

    Untouched tracks keep the base's bytes. Bones the clip lacks keep the base's track, else stand still in ``rest``.
    Raises `WriteError` where neither has them.
    """
    if not bones:
        problem = f"the motion {clip.name!r} has no tracks" if base is not None else "the file lists no bones"
        raise WriteError(f"{problem}: nothing can move", remedy="Leave the motion out, or export to a new file")
    ordered = in_order(clip, bones, base, rest)
    name = names.encode(clip.name)
    known = base if base is not None and base.track_count == len(bones) and not overlong([base]) else None
    of_file = {bone for bone in bones if bone.lower() in {name.lower() for name in sampled}} if sampled else sampled
    kept = compare(ordered, known, rest=rest, sampled=of_file) if known is not None else None
    untouched = kept.tracks if kept is not None else np.zeros(len(bones), np.bool_)
    if known is not None and ordered.frames == max(known.frames, 1) and untouched.all():
        return replace(known, name=name), []
    if known is None or kept is None or not known.frames:
        tracks = _new_tracks(ordered, width)
        return Motion.of(name, ordered.frames, tracks), [
            TrackChange(bone, ordered.frames, ordered.frames, _error(ordered, number, track))
            for number, (bone, track) in enumerate(zip(bones, tracks, strict=True))
        ]
    pieces: list[Any] = [known.track_bytes(track) for track in range(len(bones))]
    wanted = np.flatnonzero(~untouched) if ordered.frames == known.frames else np.arange(len(bones))
    together = edited_together(ordered, wanted, known, (~kept.rotations, ~kept.translations), width)
    if together is None:
        tracks = [_edited_track(ordered, track, known, kept, width) for track in wanted.tolist()]
        together = tracks, np.array([_error(ordered, *one) for one in zip(wanted.tolist(), tracks, strict=True)])
    turned, moved = (~kept.rotations).sum(axis=1).tolist(), (~kept.translations).any(axis=2).sum(axis=1).tolist()
    changes = []
    for track, edited, error in zip(wanted.tolist(), together[0], together[1].tolist(), strict=True):
        pieces[track] = edited
        if not untouched[track]:
            off = error if moved[track] else 0.0
            changes.append(TrackChange(bones[track], turned[track], moved[track], off))
    return Motion.of(name, ordered.frames, pieces), changes


def _error(clip: Clip, index: int, track: Track) -> float:
    """Metres between a clip's translations and what a track stores of them, at most, on any axis."""
    asked = space.xray_bone_translations(clip.translations[index])
    return float(np.abs(stored_translations(track).decoded() - asked).max(initial=0.0))


def in_order(clip: Clip, bones: list[str], base: Motion | None, rest: Skeleton | None) -> Clip:
    """The clip with exactly these bones, names compared without case; missing ones filled as `encode_motion` says."""
    places = {bone.lower(): place for place, bone in reversed(list(enumerate(clip.bones)))}
    found = [places.get(bone.lower(), -1) for bone in bones]
    if found == list(range(len(clip.bones))):
        return clip
    missing = [bone for bone, place in zip(bones, found, strict=True) if place < 0]
    filling = _filling(clip, bones, base, rest) if missing else clip
    if filling is None:
        raise WriteError(
            f"the motion {clip.name!r} lacks {len(missing)} bones of the file: {', '.join(missing[:8])}",
            remedy="Give the model's skeleton, so that they stand in its rest pose, or key them",
        )
    index = np.array(found)
    lacking = index < 0
    take = np.where(lacking, 0, index)

    def mixed(ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
        chosen = lacking.reshape(-1, *[1] * (ours.ndim - 1))
        return np.where(chosen, theirs, ours[take]) if missing else ours[take]

    return Clip(
        clip.name,
        list(bones),
        mixed(clip.rotations, filling.rotations),
        mixed(clip.translations, filling.translations),
        mixed(clip.rotation_keyed, filling.rotation_keyed),
        mixed(clip.translation_keyed, filling.translation_keyed),
        clip.fps,
        clip.space,
        clip.markers,
    )


def _filling(clip: Clip, bones: list[str], base: Motion | None, rest: Skeleton | None) -> Clip | None:
    """A clip of all ``bones`` as long as ``clip``: the base's tracks, cut or held at their end, else the rest pose."""
    still = np.zeros(len(bones), np.bool_)
    if base is not None and base.track_count == len(bones) and not overlong([base]):
        filling = decode_motion(base, bones)
        rows = _rows(clip.frames, base.frames)
        filling.rotations, filling.translations = filling.rotations[:, rows], filling.translations[:, rows]
        return filling
    if rest is None:
        return None
    places = {bone.lower(): place for place, bone in enumerate(rest.bones)}
    index = [places.get(bone.lower(), -1) for bone in bones]
    if any(
        place < 0 and bone.lower() not in (b.lower() for b in clip.bones)
        for place, bone in zip(index, bones, strict=True)
    ):
        return None
    rotations = np.repeat(rest.rest_rotation[index][:, None], clip.frames, axis=1)
    translations = np.repeat(rest.rest_translation[index][:, None], clip.frames, axis=1)
    return Clip(clip.name, list(bones), rotations, translations, still, still, clip.fps, clip.space)


def _stored(clip: Clip, track: int) -> tuple[Floats, Floats]:
    """A track's rows in the file's axes: (frames, 4) x, y, z, w and (frames, 3)."""
    return (
        space.xray_bone_rotations_back(clip.rotations[track]),
        space.xray_bone_translations(clip.translations[track]),
    )


def _new_tracks(clip: Clip, width: Width) -> list[Track]:
    tracks = []
    for track in range(len(clip.bones)):
        quaternions, metres = _stored(clip, track)
        tracks.append(composed(new_rotations(quaternions), new_translations(metres, width)))
    return tracks


def _edited_track(clip: Clip, index: int, base: Motion, kept: Untouched, width: Width) -> Track:
    quaternions, metres = _stored(clip, index)
    old = _resized(base.track(index), clip.frames)
    rotations = Rotations(old.rotation, bool(old.flags & TrackFlag.SINGLE_ROTATION))
    translations = stored_translations(old)
    for values, untouched in ((quaternions, kept.rotations[index]), (metres, kept.translations[index].all(axis=1))):
        if not np.isfinite(values[~untouched]).all():
            raise WriteError(
                f"keys of {clip.bones[index]!r} in {clip.name!r} are NaN or infinite",
                remedy="Delete these keys, or restore the motion from its file",
            )
    turned, moved = ~kept.rotations[index].all(), ~kept.translations[index].all()
    floats = bool(old.flags & TrackFlag.FLOAT_KEYS)
    if turned:
        if floats:
            rotations = float_rotations(quaternions, old.rotation, kept.rotations[index])
        elif rotations.single:
            rotations = new_rotations(quaternions)
        else:
            rotations = edited_rotations(quaternions, old.rotation, kept.rotations[index])
    if moved:
        if floats:
            translations = float_translations(metres, translations, kept.translations[index])
        else:
            translations = edited_translations(metres, translations, kept.translations[index], width)
    return composed(rotations, translations, old.flags)


def _resized(track: Track, frames: int) -> Track:
    """A track of so many keys, where it has keys: cut off, or the last one held."""

    def keys(there: NDArray[Any], *, keyed: bool) -> NDArray[Any]:
        return there[_rows(frames, len(there))] if keyed else there

    return replace(
        track,
        rotation=keys(track.rotation, keyed=not track.flags & TrackFlag.SINGLE_ROTATION),
        translation=keys(track.translation, keyed=bool(track.flags & TrackFlag.TRANSLATION_KEYS)),
    )
