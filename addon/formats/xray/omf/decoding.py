"""Motions as an animator has them: `Motion` and `Definition` -> `Clip`.

A key is the bone's whole parent-local transform, not a difference from the rest pose. Track i belongs to the bone whose
partition entry carries the number i: neither the listing order nor the model's bone order says so (engine:
``motions_value::load``). Quaternions are stored x, y, z, w; a page of the modders' wiki that puts w first is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ....core import names, rotation
from ....core.model import Clip, Space
from ....core.report import Report
from ..marks import decode_marks
from .document import FRAMES_PER_SECOND, Definition, Motion, MotionSet, Parameters
from .tracks import refuse_overlong, side_by_side

Floats = NDArray[np.float64]


def track_bones(parameters: Parameters, tracks: int, report: Report, model_bones: Sequence[str] = ()) -> list[str]:
    """The bone of each track, by partition number; bare numbers and gaps are filled from the model's list by index.

    Where neither knows a bone the track is called ``track_<number>`` and reported.
    """
    bones: list[str | None] = [None] * tracks
    entries = [bone for partition in parameters.partitions for bone in partition.bones]
    for place, bone in enumerate(entries):
        track = place if bone.track is None else bone.track
        if track >= tracks:
            report.warn(f"a partition names track {track}, the motions have {tracks}", _bone_label(bone.name))
        elif bone.name is not None:
            if bones[track] is not None:
                report.warn(f"track {track} is given to two bones; the last one counts", _bone_label(bone.name))
            bones[track] = names.decode(bone.name)
    known = model_bones if len(model_bones) == tracks else ()
    for track, name in enumerate(bones):
        if name is None:
            found = known and known[track] not in bones
            bones[track] = known[track] if found else f"track_{track}"
            report.warn(
                "tracks without a bone's name: "
                + ("taken from the model by number" if found else "nobody knows their bones"),
                f"track {track}",
            )
    return [name or "" for name in bones]


def _bone_label(name: bytes | None) -> str:
    return names.decode(name) if name is not None else ""


def decode(motions: MotionSet, report: Report, model_bones: Sequence[str] = ()) -> list[Clip]:
    """Every motion as a `Clip`, in the engine's order. Raises `ReadError` as `refuse_overlong` does."""
    refuse_overlong(motions.library.motions)
    clips = []
    known: dict[int, list[str]] = {}
    for place, motion in enumerate(motions.library.motions):
        if motion.track_count not in known:
            known[motion.track_count] = track_bones(motions.parameters, motion.track_count, report, model_bones)
        definitions = motions.parameters.definitions
        definition = definitions[place] if place < len(definitions) else None
        clips.append(decode_motion(motion, known[motion.track_count], definition))
    return clips


def decode_motion(motion: Motion, bones: list[str], definition: Definition | None = None) -> Clip:
    """One motion as a `Clip`, parent-local, signs of neighbouring quaternions alike.

    Raises `ReadError` for a motion that claims more frames than its bytes bear (`refuse_overlong`).
    """
    tracks = side_by_side(motion)
    return Clip(
        definition.label if definition else motion.label,
        list(bones),
        rotation.continuous(tracks.rotations),
        tracks.translations,
        tracks.rotation_keyed,
        tracks.translation_keyed,
        FRAMES_PER_SECOND,
        Space.PARENT_LOCAL,
        decode_marks(definition.marks) if definition else [],
    )
