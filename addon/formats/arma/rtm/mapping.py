"""Document <-> `DeltaClip`: model-space matrices in Blender's axes.

A plain file stores these matrices. A binarised file stores for each bone, in game axes rotated by 180° about y (``S``),
the transposed rotation R(q), a scale s and a translation relative to the parent: ``D = S [s R(q)^T | t] S``. The
model-space matrix is the parent's times D. So decoding needs the hierarchy, but not the positions of the joints. The
scale is the square of the quaternion's length: in files with scaled bones, joints of parent and child coincide only
with this rule (without it they are 0.54 m apart).

Encoding keeps the bits of every number that still has the base file's value. Blender cannot represent every matrix (no
shear), so the clip is compared number by number with ``unedited``: what would be gathered from Blender for the base
file without edits. Frames are matched with the base's by index, or by phase if frames were added or removed; bones by
name without regard to case.

Binarised numbers are rounded as by the vendor's tool. Quaternion: to the nearest step, its length the square root of
the scale, its sign such that w is positive for rotations of up to 120 degrees, and beyond that the largest of x, y, z.
Translation: towards zero, except for values that differ from a half-precision number only by the noise of 32-bit
matrices, which become that number. If these were rounded towards zero as well, a file would lose a step on every
conversion to plain and back. Subnormal halves and negative zeros do not occur in real files. Measured on real files:
every quaternion is restored exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import deltas, quantum, rotation, space
from ....core.changes import Changes
from ....core.errors import ReadError
from ....core.model import DeltaClip, absolute
from ....core.names import duplicates
from ....core.report import Message, Report, listed, say
from ..skeletons import Hierarchy
from .document import (
    NAME_SIZE,
    PACKED_BY_FLAG,
    PHASES,
    PLAIN,
    TRANSFORM,
    WITH_EVENTS,
    Binarised,
    Plain,
    Rtm,
    StoredEvent,
    changes_of,
    name_field,
    texts_of,
)
from .sources import (
    Sources,
    check_clip,
    event_of,
    kept_numbers,
    kept_step,
    new_event,
    new_names,
    refuse_long,
    refuse_not_finite,
    same_bits,
    stored_events,
)

Floats = NDArray[np.float64]

TOLERANCE = 2e-6
"""Matrix elements within this of the unedited ones are unedited: error of 32-bit channels along a chain of bones."""
UNIT = 16384.0
"""Stored value of 1 in a binarised quaternion."""
VISIBLE_LENGTH_ERROR = 2e-3
"""Difference of a quaternion's length from 1 above which its scale is visible (4 mm at 1 m)."""
ROUNDING = 5e-4
"""Metres by which rounding may displace a point near a binarised bone, for values computed from such a clip."""
PRELOADED_FRAMES = 3
"""Animations with at most this many frames are marked to be kept in memory by the engine."""
LARGEST_SCALE_ERROR = 2e-3
"""Matrix error above which a rotation and scale that cannot be stored are reported."""
LARGEST_TRANSLATION_ERROR = 0.01
"""Metres of displacement by rounding above which it is reported."""
LARGEST_STEP = 32767
NOISE = 2.0**-20
"""Error of 32-bit matrices along a chain of bones, relative to the magnitude of their values."""
FINEST_STEP = 2.0**-22
"""Steps finer than this, relative to the magnitude, are noise."""


def default_phases(frames: int) -> NDArray[np.float32]:
    """Return (frames,) float32 from 0 to 1 as common exporters compute them: i times the 32-bit 1 / (frames - 1)."""
    return np.arange(frames, dtype=np.float32) * np.float32(1 / max(frames - 1, 1))


def decode(document: Rtm, report: Report, hierarchy: Hierarchy | None = None, name: str = "") -> DeltaClip:
    """Return the animation as a clip named ``name``. Raises `ReadError` for a binarised file without a ``hierarchy``.

    NaN and infinite matrices (broken files) are decoded unchanged.
    """
    if isinstance(document, Plain):
        matrices = space.arma_deltas(np.swapaxes(matrices_of(document), 0, 1))
    else:
        parents = parents_of(document.bones, hierarchy, report)
        stored = np.swapaxes(document.transforms, 0, 1)
        matrices = absolute(transforms_of(stored, turned=bool(document.turned)), parents)
    repeated = duplicates(document.bones)
    if repeated:
        report.warn(say("bones the game treats as one: {}", listed(["/".join(group) for group in repeated])), name)
    with np.errstate(invalid="ignore"):  # signalling NaNs of broken files
        step = document.step.astype(np.float64)
    return DeltaClip(
        name,
        document.bones,
        matrices,
        np.array(document.phases, np.float32),
        space.arma_points(step),
        [event_of(stored) for stored in document.events or ()],
    )


# Plain --------------------------------------------------------------------------------------------------------------


def matrices_of(document: Plain) -> NDArray[np.float32]:
    """Return the matrices (frames, bones, 4, 3), bones in the file's order even where a frame has another."""
    return _in_order(document, document.matrices)


def _in_order(document: Plain, rows: NDArray[Any]) -> NDArray[Any]:
    """Return rows (frames, bones, ...) with bones in the file's order; ``rows`` itself if all frames have it."""
    changed = np.flatnonzero(document.frame_names_differ())
    if not len(changed):
        return rows
    ordered = rows.copy()
    for frame in changed:
        ordered[frame] = rows[frame][_frame_order(document, int(frame))]
    return ordered


def _frame_order(document: Plain, frame: int) -> NDArray[np.intp]:
    """Return (bones,) the index in this frame of each bone of the file; identity if the frame has other names."""
    wanted = [text.lower() for text in texts_of(document.bone_fields)]
    index = {text.lower(): number for number, text in enumerate(texts_of(document.frame_fields[frame]))}
    if len(index) == len(wanted) and set(index) == set(wanted):
        return np.array([index[text] for text in wanted], np.intp)
    return np.arange(len(wanted))


def encode_plain(
    clip: DeltaClip, base: Plain | None = None, *, unedited: Floats | None = None, tolerance: float | Floats = TOLERANCE
) -> tuple[Plain, Changes]:
    """Return ``base`` with this clip's animation, or a new file without a base, and the changes from the base.

    ``unedited`` (bones, frames, 4, 4), as the clip's deltas: what would be gathered from Blender for an unedited base,
    if that differs from what it decodes to; only rows of the base count. ``tolerance``: largest difference from it that
    counts as unedited, a number or (bones, 1, 1, 1). Raises `WriteError`.
    """
    check_clip(clip, base)
    if base is None:
        document = _new_plain(clip, new_names(clip.bones), stored_events(clip.events, (), kinds=False))
        return document, Changes(new=say("a new animation"))
    rows = space.arma_deltas_back(clip.deltas)
    sources = Sources.of(clip, base)
    matrices, changed = _plain_matrices(rows, base, sources, unedited, tolerance)
    refuse_not_finite(rows, changed, clip.bones)
    result = replace(base, step=kept_step(space.arma_points(clip.step), base.step))
    if changed.any() or not sources.complete(len(base.bone_fields), len(base.phases)) or clip.bones != base.bones:
        _set_rows(result, base, clip, sources, matrices)
    fields_changed = _update_plain_fields(result, base, clip)
    changes = changes_of(clip.bones, np.array(changed.any(axis=(2, 3))), fields_changed)
    return (result if changes else base), changes


def _new_plain(clip: DeltaClip, bone_names: list[bytes], events: list[StoredEvent]) -> Plain:
    """Raises `WriteError` for NaN or infinite matrices."""
    rows = space.arma_deltas_back(clip.deltas)
    refuse_not_finite(rows, np.ones(rows.shape, np.bool_), clip.bones)
    fields = _name_fields(bone_names)
    return Plain(
        PLAIN,
        space.arma_points(clip.step).astype("<f4"),
        fields,
        clip.phases.astype("<f4"),
        np.broadcast_to(fields, (clip.frames, *fields.shape)),
        np.swapaxes(rows, 0, 1).astype("<f4"),
        events or None,
    )


def _plain_matrices(
    rows: Floats, base: Plain, sources: Sources, unedited: Floats | None, tolerance: float | Floats
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return the file's matrices (bones, frames, 4, 3), and which of their numbers differ from the base's."""
    index, known = sources.grid()
    stored = np.swapaxes(matrices_of(base), 0, 1)[index] if known.any() else np.zeros(rows.shape, "<f4")
    with np.errstate(invalid="ignore"):  # signalling NaNs of broken files
        wanted = stored.astype(np.float64) if unedited is None else space.arma_deltas_back(unedited)
    kept = kept_numbers(rows, wanted, known, tolerance)
    with np.errstate(over="ignore", invalid="ignore"):
        matrices: NDArray[np.float32] = np.where(kept, stored, rows.astype("<f4"))
    return matrices, ~kept


def _set_rows(result: Plain, base: Plain, clip: DeltaClip, sources: Sources, matrices: NDArray[np.float32]) -> None:
    """Set names and matrices in the clip's order. Fields of unchanged names keep the bytes after the name."""
    fields = _name_fields(sources.names(clip, texts_of(base.bone_fields)))
    same = np.flatnonzero(~sources.renamed)
    fields[same] = base.bone_fields[sources.bones[same]]
    frame_rows = np.repeat(fields[None], clip.frames, axis=0)
    known = np.flatnonzero(sources.frames >= 0)
    ordered = _in_order(base, base.frame_fields)
    frame_rows[np.ix_(known, same)] = ordered[np.ix_(sources.frames[known], sources.bones[same])]
    matrices = np.swapaxes(matrices, 0, 1)
    if sources.complete(len(base.bone_fields), len(base.phases)):
        # Frames that list their bones in another order keep that order.
        for frame in np.flatnonzero(base.frame_names_differ()):
            back = np.argsort(_frame_order(base, int(frame)))
            frame_rows[frame], matrices[frame] = frame_rows[frame][back], matrices[frame][back]
    result.bone_fields, result.frame_fields, result.matrices = fields, frame_rows, matrices


def _name_fields(texts: list[bytes]) -> NDArray[np.uint8]:
    return np.array([name_field(text) for text in texts], np.uint8).reshape(len(texts), NAME_SIZE)


def _update_plain_fields(result: Plain, base: Plain, clip: DeltaClip) -> list[Message]:
    """Set the clip's phases and events, update the version; returns the fields that differ from the base."""
    changed = []
    if clip.bones != base.bones:
        changed.append(say("bones"))
    if len(clip.phases) != len(base.phases):
        changed.append(say("frames"))
    elif not same_bits(clip.phases, base.phases):
        changed.append(PHASES)
    if PHASES in changed or "frames" in changed:
        result.phases = clip.phases.astype("<f4")
    if not same_bits(result.step, base.step):
        changed.append(say("step"))
        if result.step[:2].any() and result.magic != PLAIN:
            result.magic = PLAIN
            changed.append(say("version"))
    events = stored_events(clip.events, base.events or (), kinds=False)
    if [event.meaning for event in events] != [event.meaning for event in base.events or ()]:
        result.events = events or (None if base.events is None else [])
        changed.append(say("events"))
    return changed


# Binarised ----------------------------------------------------------------------------------------------------------


def parents_of(bones: Sequence[str], hierarchy: Hierarchy | None, report: Report) -> NDArray[np.int32]:
    """Return (bones,) the index of the parent that each bone of a binarised file is relative to, -1 for roots.

    Raises `ReadError` if the hierarchy is missing, is for display only, or lists none of the bones.
    """
    remedy = "Give the skeleton's model.cfg, or choose a built-in skeleton"
    if hierarchy is None or hierarchy.for_display:
        words = "a binarised animation stores each bone relative to its parent, and no file names the parents"
        if hierarchy is None:
            raise ReadError(words, remedy=remedy)
        raise ReadError(say("{} ({} has no hierarchy in the game)", say(words), hierarchy.name), remedy=remedy)
    unknown = hierarchy.unknown(bones)
    if unknown and len(unknown) == len(bones):
        raise ReadError(say("the skeleton {} lists none of the animation's bones", hierarchy.name), remedy=remedy)
    if unknown:
        report.warn(say("the skeleton {} does not list {}; treated as roots", hierarchy.name, listed(unknown)))
    return hierarchy.parent_indices(bones)


def transforms_of(stored: NDArray[np.void], *, turned: bool) -> Floats:
    """Convert stored transforms (...) relative to the parent to (..., 4, 4), Blender's axes; 0 0 0 0 is no rotation."""
    quaternions = stored["rotation"].astype(np.float64)[..., [3, 0, 1, 2]] / UNIT
    with np.errstate(invalid="ignore"):  # signalling NaNs of broken files
        metres = stored["translation"].astype(np.float64)
    rotations, translations = space.arma_parent_transforms(rotation.normalised(quaternions), metres, turned=turned)
    result = rotation.transforms(rotations, translations)
    squares = np.einsum("...i,...i->...", quaternions, quaternions)
    result[..., :3, :3] *= np.where(squares > 0, squares, 1.0)[..., None, None]
    return result


def scaled_bones(document: Binarised) -> list[str]:
    """Return the bones whose quaternions contain a visible scale."""
    lengths = np.linalg.norm(document.transforms["rotation"].astype(np.float64), axis=-1) / UNIT
    scaled = (np.abs(lengths - 1.0) > VISIBLE_LENGTH_ERROR) & (lengths > 0)
    return [document.bones[bone] for bone in np.flatnonzero(scaled.any(axis=0))]


def encode_binarised(
    clip: DeltaClip,
    hierarchy: Hierarchy | None,
    base: Binarised | None = None,
    *,
    unedited: Floats | None = None,
    tolerance: float | Floats = TOLERANCE,
) -> tuple[Binarised, Changes]:
    """Return ``base`` with this clip's animation (a new file of version 5 without a base), and the changes from it.

    ``unedited`` and ``tolerance`` as in `encode_plain`. ``left_out`` of the changes lists what the format cannot store
    (shear, scale that differs by axis, large translations to the millimetre). Raises `WriteError`, and `ReadError` for
    a hierarchy that is missing or lists none of the bones.
    """
    check_clip(clip, base)
    parents = parents_of(clip.bones, hierarchy, Report())
    if base is None:
        return _new_binarised(clip, parents, new_names(clip.bones), stored_events(clip.events, (), kinds=True))
    relative = deltas.relative(clip.deltas, parents)
    sources = Sources.of(clip, base)
    result = _with_fields_of(base, clip, sources)
    index, known = sources.grid()
    stored = np.swapaxes(base.transforms, 0, 1)[index] if known.any() else np.zeros(relative.shape[:2], TRANSFORM)
    turned = bool(base.turned)
    if unedited is None:
        # Made absolute and relative again, as the clip was: NaN and infinite values spread to children in both.
        unedited = absolute(transforms_of(stored, turned=turned), parents)
    kept = kept_numbers(relative, deltas.relative(unedited, parents), known, tolerance)
    transforms, rewritten = _with_kept_integers(stored, relative, kept, _noise_magnitude(clip), turned)
    refuse_not_finite(relative, np.broadcast_to(rewritten[..., None, None], relative.shape), clip.bones)
    changed: NDArray[np.bool_] = np.array(~known)
    for name in ("rotation", "translation"):
        ours, theirs = (np.ascontiguousarray(side[name]).view(np.uint16) for side in (transforms, stored))
        changed[np.any(ours != theirs, axis=-1)] = True
    left_out = _left_out(relative, transforms_of(transforms, turned=turned), clip.bones, rewritten)
    result.transforms = np.swapaxes(transforms, 0, 1)
    result, fields = _update_binarised_fields(result, base, clip, sources, changed)
    changes = changes_of(clip.bones, changed, fields, left_out)
    return (result if changes else base), changes


def _with_kept_integers(
    stored: NDArray[np.void], relative: Floats, kept: NDArray[np.bool_], magnitude: float, turned: bool
) -> tuple[NDArray[np.void], NDArray[np.bool_]]:
    """Return transforms (bones, frames) with the stored integers where ``kept`` (bones, frames, 4, 4), else rounded
    from ``relative``; and (bones, frames) which transforms were rewritten at least in part.
    """
    kept_rotation: NDArray[np.bool_] = np.all(kept[..., :3, :3], axis=(2, 3))
    kept_translation: NDArray[np.bool_] = kept[..., :3, 3]
    rewritten: NDArray[np.bool_] = ~(kept_rotation & np.all(kept_translation, axis=-1))
    result = np.array(stored)
    usable = rewritten & np.isfinite(relative).all(axis=(2, 3))
    result[usable] = _stored_transforms(relative[usable], magnitude, turned=turned)
    result["rotation"] = np.where(kept_rotation[..., None], stored["rotation"], result["rotation"])
    # Blender's y and z are the file's z and y.
    result["translation"] = np.where(kept_translation[..., [0, 2, 1]], stored["translation"], result["translation"])
    return result, rewritten


def _new_binarised(
    clip: DeltaClip, parents: NDArray[np.int32], bone_names: list[bytes], events: list[StoredEvent]
) -> tuple[Binarised, Changes]:
    """Return a new file of version 5 and its changes. Raises `WriteError` for NaN or infinite matrices."""
    relative = deltas.relative(clip.deltas, parents)
    refuse_not_finite(relative, np.ones(relative.shape, np.bool_), clip.bones)
    transforms = _stored_transforms(relative, _noise_magnitude(clip), turned=True)
    left_out = _left_out(relative, transforms_of(transforms, turned=True), clip.bones)
    document = Binarised(
        PACKED_BY_FLAG,
        1,
        space.arma_points(clip.step).astype("<f4"),
        int(clip.frames <= PRELOADED_FRAMES),
        len(bone_names),
        [name.lower() for name in bone_names],
        clip.phases.astype("<f4"),
        np.swapaxes(transforms, 0, 1),
        events=events,
        blocks=[b""] * clip.frames,
    )
    return document, Changes(left_out=list(left_out), new=say("a new animation"))


def _with_fields_of(base: Binarised, clip: DeltaClip, sources: Sources) -> Binarised:
    """Return the base with the clip's names, phases, step and events; its transforms are not yet set."""
    bone_names = sources.names(clip, base.bone_names)
    same_bones = [bone.lower() for bone in clip.bones] == [bone.lower() for bone in base.bones]
    return replace(
        base,
        step=kept_step(space.arma_points(clip.step), base.step),
        first_frame_bones=base.first_frame_bones if same_bones else len(clip.bones),
        bone_names=base.bone_names if same_bones else [name.lower() for name in bone_names],
        phases=clip.phases.astype("<f4"),
        events=stored_events(clip.events, base.events, kinds=True),
        blocks=[b""] * clip.frames,
    )


def _update_binarised_fields(
    result: Binarised, base: Binarised, clip: DeltaClip, sources: Sources, changed: NDArray[np.bool_]
) -> tuple[Binarised, list[Message]]:
    """Return the result with the base's compressed blocks for unchanged frames, edited ones compressed like these, and
    the changed fields.
    """
    fields = []
    same_bones = result.bone_names == base.bone_names
    if not same_bones:
        fields.append(say("bones"))
    if len(clip.phases) != len(base.phases):
        fields.append(say("frames"))
        result.preload = int(clip.frames <= PRELOADED_FRAMES)
    elif not same_bits(result.phases, base.phases):
        fields.append(PHASES)
    if "frames" in fields or PHASES in fields:
        result.phases_block = base.packed(result.phases)
    if not same_bits(result.step, base.step):
        fields.append(say("step"))
    kept: NDArray[np.bool_] = same_bones & ~np.any(changed, axis=0)
    rows = zip(sources.frames.tolist(), kept.tolist(), result.transforms, strict=True)
    result.blocks = [base.blocks[source] if is_kept else base.packed(row) for source, is_kept, row in rows]
    if [event.meaning for event in result.events] != [event.meaning for event in base.events]:
        fields.append(say("events"))
        if result.version < WITH_EVENTS and result.events:
            fields.append(say("version"))
            # Only the compression of version 2 is another.
            return result.unpacked() if result.version == 2 else replace(result, version=PACKED_BY_FLAG), fields
    return result, fields


def _noise_magnitude(clip: DeltaClip) -> float:
    """Return the smallest power of two, at least 1, that no coordinate of the clip exceeds: noise is relative to it."""
    sizes = np.abs(clip.deltas[..., :3, 3])
    largest = float(sizes.max(where=np.isfinite(sizes), initial=1.0))
    return float(2.0 ** np.ceil(np.log2(largest)))


def _stored_transforms(relative: Floats, magnitude: float, *, turned: bool) -> NDArray[np.void]:
    """Convert deltas relative to the parent (..., 4, 4) to stored transforms (...). ``magnitude`` as in `halves`."""
    parts = deltas.decompose(relative)
    quaternions, metres = space.arma_parent_transforms_back(parts.rotations, parts.locations, turned=turned)
    w, others = quaternions[..., 0], quaternions[..., 1:]
    largest = np.take_along_axis(others, np.abs(others).argmax(axis=-1)[..., None], -1)[..., 0]
    quaternions *= np.where(np.where(w * w >= 0.25, w, largest) < 0, -1.0, 1.0)[..., None]
    with np.errstate(over="ignore"):
        lengths = np.sqrt(np.cbrt(np.abs(np.linalg.det(relative[..., :3, :3]))))
    result = np.empty(relative.shape[:-2], TRANSFORM)
    steps = quantum.quantised(quaternions * lengths[..., None], 1 / UNIT)[..., [1, 2, 3, 0]]
    result["rotation"] = np.clip(steps, -LARGEST_STEP, LARGEST_STEP)
    result["translation"] = halves(metres, magnitude)
    return result


def halves(values: Floats, magnitude: float) -> NDArray[np.float16]:
    """Round metres in matrices relative to the parent to half-precision numbers, as the vendor's tool does.

    ``magnitude`` (a power of two, metres) is the size of the 32-bit numbers from which the values were computed. A
    value that differs from a half only by their noise becomes that half; others are rounded towards zero. Where halves
    are finer than the noise, values are rounded to the nearest multiple of it, or the next conversion would give other
    bits. Values too small for a normal half (below 0.061 mm) become 0; values beyond the largest half (65504 m) become
    that.
    """
    with np.errstate(over="ignore", under="ignore"):
        nearest = values.astype("<f2")
        exact = nearest.astype(np.float64)
        beyond = (np.abs(exact) > np.abs(values)) & ~(np.abs(exact - values) <= magnitude * NOISE)
        result: NDArray[np.float16] = np.where(beyond, np.nextafter(nearest, np.float16(0)), nearest)
        coarse = magnitude * FINEST_STEP
        result = np.where(np.abs(values) < coarse * 2**10, (np.rint(values / coarse) * coarse).astype("<f2"), result)
    result[np.abs(result) < np.finfo(np.float16).tiny] = 0
    return result


def _left_out(
    relative: Floats, written: Floats, bones: list[str], rewritten: NDArray[np.bool_] | None = None
) -> tuple[Message, ...]:
    """Return sentences about visible differences between ``written`` and ``relative`` (both (bones, frames, 4, 4)).

    ``rewritten`` (bones, frames): the transforms to compare, default all.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(relative - written)[..., :3, :]
    sentences = (
        (
            "shear, or scale that differs by axis or exceeds 4, (up to {:.3g}) of {}: binarised files cannot hold it",
            apart[..., :3].max(axis=(-1, -2), initial=0.0),
            LARGEST_SCALE_ERROR,
        ),
        (
            "positions of {1} are rounded by up to {0:.2g} m: binarised files hold 11 bits of each",
            apart[..., 3].max(axis=-1, initial=0.0),
            LARGEST_TRANSLATION_ERROR,
        ),
    )
    result = []
    for sentence, errors, allowed in sentences:
        lost: NDArray[np.bool_] = errors > allowed
        if rewritten is not None:
            lost &= rewritten
        which = np.flatnonzero(lost.any(axis=1))
        if len(which):
            result.append(say(sentence, errors[lost].max(), listed([bones[bone] for bone in which])))
    return tuple(result)


# Conversion between the kinds ---------------------------------------------------------------------------------------


def to_plain(document: Rtm, hierarchy: Hierarchy | None, report: Report) -> Plain:
    """Convert an animation to a plain file of the current version. Raises `ReadError` without a needed hierarchy."""
    if isinstance(document, Plain):
        return document if document.magic == PLAIN else replace(document, magic=PLAIN)
    clip = decode(document, report, hierarchy)
    check_clip(clip, None)
    refuse_long(document.bones, document.bone_names)
    # Names keep their bytes, which may be in any code page.
    events = [new_event(event.phase, event.name, event.value, kinds=False) for event in document.events]
    result = _new_plain(clip, document.bone_names, events)
    if document.meta:
        report.warn(say("{:# meta name is|# meta names are} left out: plain files have none", len(document.meta)))
    return result


def to_binarised(document: Rtm, hierarchy: Hierarchy | None, report: Report) -> Binarised:
    """Convert an animation to a binarised file of version 5 with uncompressed arrays.

    Raises `ReadError` if the hierarchy is missing; an older binarised file needs none.
    """
    if isinstance(document, Binarised):
        return document if document.version == PACKED_BY_FLAG else document.unpacked()
    parents = parents_of(document.bones, hierarchy, report)
    clip = decode(document, report)
    check_clip(clip, None)
    events = [new_event(event.phase, event.name, event.value, kinds=True) for event in document.events or ()]
    result, changes = _new_binarised(clip, parents, texts_of(document.bone_fields), events)
    for loss in changes.left_out:
        report.warn(loss)
    return result


ALONG_SKELETON: dict[str, Callable[[Rtm, Hierarchy | None, Report], Rtm]] = {
    "plain": to_plain,
    str(PACKED_BY_FLAG): to_binarised,
}
"""Conversions by the name of the result: ``plain``, or the version of a binarised file."""
