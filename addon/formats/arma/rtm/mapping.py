"""Document <-> `DeltaClip`: model-space matrices in Blender's axes.

A plain file has them. A binarised one stores for each bone, in game axes turned half round about y (``S``), the
transposed rotation R(q), a scale s and a translation relative to the parent: ``D = S [s R(q)^T | t] S``, and the
model-space matrix is the parent's times D. Decoding it takes the hierarchy, but not the positions of the joints. The
scale is the square of the quaternion's length: in files of scaled bones only then do the joints of parent and child
meet (0.54 m apart without it).

Encoding keeps the bits of every number that still means what the base file says. Blender cannot show everything a
matrix holds (no shear), so the clip is compared, number by number, with what an unedited base would have come back as
(``unedited``). Frames are matched with the base's by index, or where frames were added or removed, by phase; bones by
name without regard to case.

Binarised numbers are rounded as the vendor's tool rounds: the quaternion to the nearest step, with the square root of
the scale as length; its sign makes w positive for rotations of up to 120 degrees, and beyond that the largest of x, y,
z. The translation is rounded towards zero, unless it is a half-precision number but for the noise of 32-bit matrices:
if always rounded towards zero, a file would lose a step each time it becomes plain and binarised again. Subnormal
halves and negative zeros do not occur in real files. Measured on real files: every quaternion comes back to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import deltas, quantum, rotation, space
from ....core.binary import as_in_file
from ....core.changes import Changes
from ....core.errors import ReadError, WriteError
from ....core.model import DeltaClip, Event
from ....core.names import duplicates
from ....core.report import Report, counted, listed, said_of
from .. import names
from ..skeletons import Hierarchy
from .document import (
    LONGEST_NAME,
    LONGEST_TEXT,
    MOST_BONES,
    MOST_FRAMES,
    NAME_SIZE,
    PACKED_BY_FLAG,
    PLAIN,
    STEP_SOUND,
    TRANSFORM,
    WITH_EVENTS,
    Binarised,
    Plain,
    Rtm,
    StoredEvent,
    changes_of,
    name_field,
    texts_of,
    too_long,
)

Floats = NDArray[np.float64]

TOLERANCE = 2e-6
"""How far a number of a matrix may be from the unedited one: what 32-bit channels along a chain of bones add up to."""
UNIT = 16384.0
"""What 1 is stored as in a binarised quaternion."""
SLIGHTEST_LENGTH = 2e-3
"""By how much a quaternion's length must differ from 1 for a visible scale (4 mm at a metre)."""
ROUNDING = 5e-4
"""Metres that a point near a binarised bone may be off: for what is computed from such a clip."""
PRELOADED_FRAMES = 3
"""The engine keeps animations of up to so many frames in memory."""
LARGEST_SCALE_ERROR = 2e-3
"""What rotation and scale may leave of a matrix before it is reported."""
LARGEST_TRANSLATION_ERROR = 0.01
"""Metres that rounding may move a bone before it is reported."""
LARGEST_STEP = 32767
NOISE = 2.0**-20
"""Of the magnitude: the error of 32-bit matrices along a chain of bones."""
COARSEST = 2.0**-22
"""Of the magnitude: finer steps than that are noise."""


def default_phases(frames: int) -> NDArray[np.float32]:
    """(frames,) float32 from 0 to 1 as the usual tools compute them: i times the 32-bit 1 / (frames - 1)."""
    return np.arange(frames, dtype=np.float32) * np.float32(1 / max(frames - 1, 1))


def decode(
    document: Rtm, report: Report, hierarchy: Hierarchy | None = None, name: str = "", *, scaled: bool = True
) -> DeltaClip:
    """The animation as a clip of this name. Raises `ReadError` for a binarised one without a ``hierarchy``.

    Matrices that are not finite (broken files) are decoded as they are. ``scaled`` as in `transforms_of`.
    """
    if isinstance(document, Plain):
        matrices = space.arma_deltas(np.swapaxes(matrices_of(document), 0, 1))
    else:
        parents = parents_of(document.bones, hierarchy, report)
        stored = np.swapaxes(document.transforms, 0, 1)
        matrices = deltas.absolute(transforms_of(stored, turned=bool(document.turned), scaled=scaled), parents)
    repeated = duplicates(document.bones)
    if repeated:
        report.warn(f"bones the game treats as one: {listed(['/'.join(group) for group in repeated])}", name)
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
    """(frames, bones, 4, 3) the matrices in the order of the file's bones, also where a frame names them in another."""
    return _in_order(document, document.matrices)


def _in_order(document: Plain, rows: NDArray[Any]) -> NDArray[Any]:
    """Rows (frames, bones, ...) of the frames in the order of the file's bones; the same array where they are."""
    changed = np.flatnonzero(document.frame_names_differ())
    if not len(changed):
        return rows
    ordered = rows.copy()
    for frame in changed:
        ordered[frame] = rows[frame][_frame_order(document, int(frame))]
    return ordered


def _frame_order(document: Plain, frame: int) -> NDArray[np.intp]:
    """(bones,) the index in this frame of each of the file's bones; as it is where the frame names others."""
    wanted = [text.lower() for text in texts_of(document.bone_fields)]
    index = {text.lower(): number for number, text in enumerate(texts_of(document.frame_fields[frame]))}
    if len(index) == len(wanted) and set(index) == set(wanted):
        return np.array([index[text] for text in wanted], np.intp)
    return np.arange(len(wanted))


def encode_plain(
    clip: DeltaClip, base: Plain | None = None, *, unedited: Floats | None = None, tolerance: float | Floats = TOLERANCE
) -> tuple[Plain, Changes]:
    """``base`` with this clip in it, or a new file; and what is no longer the base's.

    ``unedited`` (bones, frames, 4, 4) as the clip's deltas: what an unedited base would be gathered as, where that
    is not what it decodes to; only rows that the base has are looked at. ``tolerance``: by how much numbers may differ
    from that and count as unedited, one or (bones, 1, 1, 1). Raises `WriteError`.
    """
    _check(clip, base)
    if base is None:
        document = _new_plain(clip, _new_names(clip.bones), stored_events(clip.events, (), kinds=False))
        return document, Changes(new="animation")
    rows = space.arma_deltas_back(clip.deltas)
    sources = Sources.of(clip, base)
    matrices, changed = _plain_matrices(rows, base, sources, unedited, tolerance)
    _refuse_not_finite(rows, changed, clip.bones)
    result = replace(base, step=_kept_step(space.arma_points(clip.step), base.step))
    if changed.any() or not sources.complete(len(base.bone_fields), len(base.phases)) or clip.bones != base.bones:
        _replace(result, base, clip, sources, matrices)
    fields_changed = _settle_plain(result, base, clip)
    changes = changes_of(clip.bones, np.array(changed.any(axis=(2, 3))), fields_changed)
    return (result if changes else base), changes


def _new_plain(clip: DeltaClip, bone_names: list[bytes], events: list[StoredEvent]) -> Plain:
    """A file of its own. Raises `WriteError`."""
    rows = space.arma_deltas_back(clip.deltas)
    _refuse_not_finite(rows, np.ones(rows.shape, np.bool_), clip.bones)
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
    """The file's matrices (bones, frames, 4, 3), and which of their numbers are no longer the base's."""
    index, known = sources.grid()
    stored = np.swapaxes(matrices_of(base), 0, 1)[index] if known.any() else np.zeros(rows.shape, "<f4")
    with np.errstate(invalid="ignore"):  # signalling NaNs of broken files
        wanted = stored.astype(np.float64) if unedited is None else space.arma_deltas_back(unedited)
    kept = _kept_numbers(rows, wanted, known, tolerance)
    with np.errstate(over="ignore", invalid="ignore"):
        matrices: NDArray[np.float32] = np.where(kept, stored, rows.astype("<f4"))
    return matrices, ~kept


def _replace(result: Plain, base: Plain, clip: DeltaClip, sources: Sources, matrices: NDArray[np.float32]) -> None:
    """Names and matrices in the clip's order; fields keep the bytes behind their names where the name is the same."""
    fields = _name_fields(sources.names(clip, texts_of(base.bone_fields)))
    same = np.flatnonzero(~sources.renamed)
    fields[same] = base.bone_fields[sources.bones[same]]
    again = np.repeat(fields[None], clip.frames, axis=0)
    known = np.flatnonzero(sources.frames >= 0)
    ordered = _in_order(base, base.frame_fields)
    again[np.ix_(known, same)] = ordered[np.ix_(sources.frames[known], sources.bones[same])]
    matrices = np.swapaxes(matrices, 0, 1)
    if sources.complete(len(base.bone_fields), len(base.phases)):
        # A frame that names its bones in an order of its own keeps it.
        for frame in np.flatnonzero(base.frame_names_differ()):
            back = np.argsort(_frame_order(base, int(frame)))
            again[frame], matrices[frame] = again[frame][back], matrices[frame][back]
    result.bone_fields, result.frame_fields, result.matrices = fields, again, matrices


def _name_fields(texts: list[bytes]) -> NDArray[np.uint8]:
    """(bones, 32) fields for names."""
    return np.array([name_field(text) for text in texts], np.uint8).reshape(len(texts), NAME_SIZE)


def _settle_plain(result: Plain, base: Plain, clip: DeltaClip) -> list[str]:
    """Take the clip's phases, step and events; the names of the fields that are no longer the base's."""
    changed = []
    if clip.bones != base.bones:
        changed.append("bones")
    if len(clip.phases) != len(base.phases):
        changed.append("frames")
    elif not _same_bits(clip.phases, base.phases):
        changed.append("phases")
    if "phases" in changed or "frames" in changed:
        result.phases = clip.phases.astype("<f4")
    if not _same_bits(result.step, base.step):
        changed.append("step")
        if result.step[:2].any() and result.magic != PLAIN:
            result.magic = PLAIN
            changed.append("version")
    events = stored_events(clip.events, base.events or (), kinds=False)
    if [event.meaning for event in events] != [event.meaning for event in base.events or ()]:
        result.events = events or (None if base.events is None else [])
        changed.append("events")
    return changed


# Binarised ----------------------------------------------------------------------------------------------------------


def parents_of(bones: Sequence[str], hierarchy: Hierarchy | None, report: Report) -> NDArray[np.int32]:
    """(bones,) indices of the parents that a binarised file's bones are relative to, -1 for roots.

    Raises `ReadError` without a hierarchy, for one that is only for display, and for one that lists none of the bones.
    """
    remedy = "Give the skeleton's model.cfg, or choose a built-in skeleton"
    if hierarchy is None or hierarchy.for_display:
        missing = "" if hierarchy is None else f" ({hierarchy.name} has no hierarchy in the game)"
        raise ReadError(
            f"a binarised animation stores each bone relative to its parent, and no file names the parents{missing}",
            remedy=remedy,
        )
    unknown = hierarchy.unknown(bones)
    if unknown and len(unknown) == len(bones):
        raise ReadError(f"the skeleton {hierarchy.name} lists none of the animation's bones", remedy=remedy)
    if unknown:
        report.warn(f"the skeleton {hierarchy.name} does not list {listed(unknown)}; treated as roots")
    return hierarchy.parent_indices(bones)


def transforms_of(stored: NDArray[np.void], *, turned: bool, scaled: bool = True) -> Floats:
    """(..., 4, 4) what transforms (...) relative to the parent mean in Blender's axes; 0 0 0 0 is no rotation.

    Not ``scaled``: without the uniform scales, as version 0.1.0 read them.
    """
    quaternions = stored["rotation"].astype(np.float64)[..., [3, 0, 1, 2]] / UNIT
    with np.errstate(invalid="ignore"):  # signalling NaNs of broken files
        metres = stored["translation"].astype(np.float64)
    rotations, translations = space.arma_parent_transforms(rotation.normalised(quaternions), metres, turned=turned)
    result = rotation.transforms(rotations, translations)
    if scaled:
        squares = np.einsum("...i,...i->...", quaternions, quaternions)
        result[..., :3, :3] *= np.where(squares > 0, squares, 1.0)[..., None, None]
    return result


def scaled_bones(document: Binarised) -> list[str]:
    """The bones whose quaternions hold a visible scale."""
    lengths = np.linalg.norm(document.transforms["rotation"].astype(np.float64), axis=-1) / UNIT
    scaled = (np.abs(lengths - 1.0) > SLIGHTEST_LENGTH) & (lengths > 0)
    return [document.bones[bone] for bone in np.flatnonzero(scaled.any(axis=0))]


def encode_binarised(
    clip: DeltaClip,
    hierarchy: Hierarchy | None,
    base: Binarised | None = None,
    *,
    unedited: Floats | None = None,
    tolerance: float | Floats = TOLERANCE,
) -> tuple[Binarised, Changes]:
    """``base`` with this clip in it, or a new file of version 5; and what is no longer the base's.

    ``unedited`` and ``tolerance`` as in `encode_plain`. What cannot be held (shear, scale that differs by axis, large
    translations to the millimetre) is listed in ``left_out``. Raises `WriteError`, and `ReadError` for a hierarchy that
    is missing or fits no bone.
    """
    _check(clip, base)
    parents = parents_of(clip.bones, hierarchy, Report())
    if base is None:
        return _new_binarised(clip, parents, _new_names(clip.bones), stored_events(clip.events, (), kinds=True))
    relative = deltas.relative(clip.deltas, parents)
    sources = Sources.of(clip, base)
    result = _with_fields_of(base, clip, sources)
    index, known = sources.grid()
    stored = np.swapaxes(base.transforms, 0, 1)[index] if known.any() else np.zeros(relative.shape[:2], TRANSFORM)
    turned = bool(base.turned)
    if unedited is None:
        # Along the hierarchy and back, as the clip came: what is NaN or infinite then spreads to children in both.
        unedited = deltas.absolute(transforms_of(stored, turned=turned), parents)
    kept = _kept_numbers(relative, deltas.relative(unedited, parents), known, tolerance)
    transforms, rewritten = _onto(stored, relative, kept, _magnitude(clip), turned)
    _refuse_not_finite(relative, np.broadcast_to(rewritten[..., None, None], relative.shape), clip.bones)
    changed: NDArray[np.bool_] = np.array(~known)
    for name in ("rotation", "translation"):
        ours, theirs = (np.ascontiguousarray(side[name]).view(np.uint16) for side in (transforms, stored))
        changed[np.any(ours != theirs, axis=-1)] = True
    left_out = _left_out(relative, transforms_of(transforms, turned=turned), clip.bones, rewritten)
    result.transforms = np.swapaxes(transforms, 0, 1)
    result, fields = _settle_binarised(result, base, clip, sources, changed)
    changes = changes_of(clip.bones, changed, fields, left_out)
    return (result if changes else base), changes


def _onto(
    stored: NDArray[np.void], relative: Floats, kept: NDArray[np.bool_], magnitude: float, turned: bool
) -> tuple[NDArray[np.void], NDArray[np.bool_]]:
    """Transforms (bones, frames) that keep the integers of ``kept`` (bones, frames, 4, 4); and which are rewritten."""
    kept_rotation: NDArray[np.bool_] = np.all(kept[..., :3, :3], axis=(2, 3))
    kept_translation: NDArray[np.bool_] = kept[..., :3, 3]
    rewritten: NDArray[np.bool_] = ~(kept_rotation & np.all(kept_translation, axis=-1))
    result = np.array(stored)
    usable = rewritten & np.isfinite(relative).all(axis=(2, 3))
    result[usable] = _packed(relative[usable], magnitude, turned=turned)
    result["rotation"] = np.where(kept_rotation[..., None], stored["rotation"], result["rotation"])
    # The file's y and z are exchanged in Blender.
    result["translation"] = np.where(kept_translation[..., [0, 2, 1]], stored["translation"], result["translation"])
    return result, rewritten


def _new_binarised(
    clip: DeltaClip, parents: NDArray[np.int32], bone_names: list[bytes], events: list[StoredEvent]
) -> tuple[Binarised, Changes]:
    """A file of version 5 of its own. Raises `WriteError`."""
    relative = deltas.relative(clip.deltas, parents)
    _refuse_not_finite(relative, np.ones(relative.shape, np.bool_), clip.bones)
    transforms = _packed(relative, _magnitude(clip), turned=True)
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
    return document, Changes(left_out=list(left_out), new="animation")


def _with_fields_of(base: Binarised, clip: DeltaClip, sources: Sources) -> Binarised:
    """The base with the clip's names, phases, step and events, its transforms not yet set."""
    bone_names = sources.names(clip, base.bone_names)
    same_bones = [bone.lower() for bone in clip.bones] == [bone.lower() for bone in base.bones]
    return replace(
        base,
        step=_kept_step(space.arma_points(clip.step), base.step),
        first_frame_bones=base.first_frame_bones if same_bones else len(clip.bones),
        bone_names=base.bone_names if same_bones else [name.lower() for name in bone_names],
        phases=clip.phases.astype("<f4"),
        events=stored_events(clip.events, base.events, kinds=True),
        blocks=[b""] * clip.frames,
    )


def _settle_binarised(
    result: Binarised, base: Binarised, clip: DeltaClip, sources: Sources, changed: NDArray[np.bool_]
) -> tuple[Binarised, list[str]]:
    """The result with the base's compressed blocks where a frame is still the base's; the names of changed fields."""
    fields = []
    same_bones = result.bone_names == base.bone_names
    if not same_bones:
        fields.append("bones")
    if len(clip.phases) != len(base.phases):
        fields.append("frames")
        result.preload = int(clip.frames <= PRELOADED_FRAMES)
    elif not _same_bits(result.phases, base.phases):
        fields.append("phases")
    if "frames" in fields or "phases" in fields:
        result.phases_block = b""
    if not _same_bits(result.step, base.step):
        fields.append("step")
    if [event.meaning for event in result.events] != [event.meaning for event in base.events]:
        fields.append("events")
        if result.version < WITH_EVENTS and result.events:
            fields.append("version")
            return result.unpacked(), fields
    if same_bones:
        blocks = zip(sources.frames.tolist(), (~np.any(changed, axis=0)).tolist(), strict=True)
        result.blocks = [base.blocks[source] if is_kept else b"" for source, is_kept in blocks]
    return result, fields


def _magnitude(clip: DeltaClip) -> float:
    """The power of two that no coordinate of the clip's matrices exceeds, at least 1: their noise grows with it."""
    sizes = np.abs(clip.deltas[..., :3, 3])
    largest = float(sizes.max(where=np.isfinite(sizes), initial=1.0))
    return float(2.0 ** np.ceil(np.log2(largest)))


def _packed(relative: Floats, magnitude: float, *, turned: bool) -> NDArray[np.void]:
    """Transforms (...) of deltas relative to the parent (..., 4, 4); ``magnitude`` as in `halves`."""
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
    """Half-precision numbers for metres in matrices relative to the parent, as close to the vendor's as noise allows.

    ``magnitude`` (a power of two, metres) is the size of the 32-bit numbers that the values were computed from. A value
    within their noise of a half is that half, others are rounded towards zero. Where halves are finer than that noise,
    the nearest multiple of it is taken, or the next cycle would give other bits. 0 for what has no normal half (below
    0.061 mm); what exceeds the largest half (65504 m) becomes that.
    """
    with np.errstate(over="ignore", under="ignore"):
        nearest = values.astype("<f2")
        exact = nearest.astype(np.float64)
        beyond = (np.abs(exact) > np.abs(values)) & ~(np.abs(exact - values) <= magnitude * NOISE)
        result: NDArray[np.float16] = np.where(beyond, np.nextafter(nearest, np.float16(0)), nearest)
        coarse = magnitude * COARSEST
        result = np.where(np.abs(values) < coarse * 2**10, (np.rint(values / coarse) * coarse).astype("<f2"), result)
    result[np.abs(result) < np.finfo(np.float16).tiny] = 0
    return result


def _left_out(
    relative: Floats, written: Floats, bones: list[str], rewritten: NDArray[np.bool_] | None = None
) -> tuple[str, ...]:
    """Sentences on how what is ``written`` (bones, frames, 4, 4) differs visibly from what was wanted.

    ``rewritten`` (bones, frames): the transforms to look at, default all.
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
            result.append(sentence.format(errors[lost].max(), listed([bones[bone] for bone in which])))
    return tuple(result)


# From one kind to the other -----------------------------------------------------------------------------------------


def to_plain(document: Rtm, hierarchy: Hierarchy | None, report: Report) -> Plain:
    """The same animation as a plain file of today's version. Raises `ReadError` where a hierarchy is missing."""
    if isinstance(document, Plain):
        return document if document.magic == PLAIN else replace(document, magic=PLAIN)
    clip = decode(document, report, hierarchy)
    _check(clip, None)
    _refuse_long(document.bones, document.bone_names)
    # Names keep their bytes, whatever code page these are in.
    events = [_new_event(event.phase, event.name, event.value, kinds=False) for event in document.events]
    result = _new_plain(clip, document.bone_names, events)
    if document.meta:
        report.warn(said_of(len(document.meta), "meta names", "are left out: plain files have none"))
    return result


def to_binarised(document: Rtm, hierarchy: Hierarchy | None, report: Report) -> Binarised:
    """The same animation as a binarised file of version 5, its arrays uncompressed.

    Raises `ReadError` where a hierarchy is missing; an older binarised file needs none.
    """
    if isinstance(document, Binarised):
        return document if document.version == PACKED_BY_FLAG else document.unpacked()
    parents = parents_of(document.bones, hierarchy, report)
    clip = decode(document, report)
    _check(clip, None)
    events = [_new_event(event.phase, event.name, event.value, kinds=True) for event in document.events or ()]
    result, changes = _new_binarised(clip, parents, texts_of(document.bone_fields), events)
    for loss in changes.left_out:
        report.warn(loss)
    return result


ALONG_SKELETON: dict[str, Callable[[Rtm, Hierarchy | None, Report], Rtm]] = {
    "plain": to_plain,
    str(PACKED_BY_FLAG): to_binarised,
}
"""By the name of the result: ``plain``, or a binarised file's version."""


# What both kinds share ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sources:
    """Where a clip's bones and frames come from: index in the base of each, -1 for none.

    ``bones`` (bones,), ``frames`` (frames,); ``renamed`` (bones,) False where the name is the same.
    """

    bones: NDArray[np.intp]
    frames: NDArray[np.intp]
    renamed: NDArray[np.bool_]

    @staticmethod
    def of(clip: DeltaClip, base: Rtm) -> Sources:
        """The sources of a clip's bones and frames in a base file."""
        names_of_base = base.bones
        index = {bone.lower(): number for number, bone in reversed(list(enumerate(names_of_base)))}
        rows = [index.get(bone.lower(), -1) for bone in clip.bones]
        if clip.bones == names_of_base:  # also where a file gives two bones one name
            rows = list(range(len(rows)))
        renamed = [row < 0 or names_of_base[row] != bone for bone, row in zip(clip.bones, rows, strict=True)]
        frames = frame_sources(clip.phases, base.phases)
        return Sources(np.array(rows, np.intp), frames, np.array(renamed, np.bool_))

    def complete(self, bones: int, frames: int) -> bool:
        """Whether nothing was added, removed or moved."""
        return all(
            len(sources) == count and bool((sources == np.arange(count)).all())
            for sources, count in ((self.bones, bones), (self.frames, frames))
        )

    def grid(self) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """An index that takes (bones, frames, ...) of the base to the clip's, and which of it the base really has."""
        known = (self.bones >= 0)[:, None] & (self.frames >= 0)[None, :]
        return np.ix_(np.maximum(self.bones, 0), np.maximum(self.frames, 0)), known  # type: ignore[return-value]

    def names(self, clip: DeltaClip, base_names: Sequence[bytes]) -> list[bytes]:
        """The bytes of the clip's bone names: the base's where the name is the same. Raises `WriteError`."""
        new = iter(_new_names([bone for bone, renamed in zip(clip.bones, self.renamed, strict=True) if renamed]))
        pairs = zip(self.bones.tolist(), self.renamed.tolist(), strict=True)
        return [next(new) if renamed else base_names[source] for source, renamed in pairs]


def frame_sources(phases: NDArray[np.float32], base: NDArray[np.float32]) -> NDArray[np.intp]:
    """By index where there are as many frames, else by phases that are the same to the bit."""
    if len(phases) == len(base):
        return np.arange(len(base), dtype=np.intp)
    bits, wanted = base.view(np.uint32), np.ascontiguousarray(phases, np.float32).view(np.uint32)
    values, first = np.unique(bits, return_index=True)
    if not len(values):
        return np.full(len(wanted), -1, np.intp)
    nearest = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
    return np.where(values[nearest] == wanted, first[nearest], -1)


def _kept_numbers(
    values: Floats, unedited: Floats, known: NDArray[np.bool_], tolerance: float | Floats
) -> NDArray[np.bool_]:
    """Which numbers (bones, frames, ...) are not edited; ``known`` (bones, frames) as `Sources.grid` gives it."""
    with np.errstate(invalid="ignore"):
        near = np.abs(values - unedited) <= tolerance
    near |= quantum.untouched(values, unedited)
    result: NDArray[np.bool_] = near & known[(...,) + (None,) * (values.ndim - 2)]
    return result


def _check(clip: DeltaClip, base: Rtm | None) -> None:
    """Refuse what the game's files cannot hold. Raises `WriteError`."""
    base_bones = base.bones if base is not None else []
    count, frames = clip.deltas.shape[:2]
    if not frames and (base is None or len(base.phases)):
        raise WriteError("the animation has no frames", remedy="A static pose has two, of phase 0 and 1")
    if frames > MOST_FRAMES or count > MOST_BONES:
        raise WriteError(
            f"{counted(frames, 'frame')} of {counted(count, 'bone')}: "
            f"more than the game reads ({MOST_FRAMES} and {MOST_BONES})",
            remedy="Export every second frame or fewer bones",
        )
    if len(clip.phases) != frames or len(clip.bones) != count:
        raise WriteError(
            f"the numbers of phases ({len(clip.phases)}) and frames ({frames}), or of bones ({count}) and their names "
            f"({len(clip.bones)}), differ",
            remedy="Give each frame a phase and each bone a name",
        )
    repeated = duplicates(clip.bones)
    if repeated and clip.bones != base_bones:
        raise WriteError(
            f"the game treats these bones as one: {listed(['/'.join(group) for group in repeated])}",
            remedy="Rename or leave out all but one of each",
        )


def _new_names(bones: Sequence[str]) -> list[bytes]:
    """The bytes of new names. Raises `WriteError` for those that the format or its code page has no room for."""
    texts = [names.encode(bone) for bone in bones]
    _refuse_long(bones, texts)
    return texts


def _refuse_long(bones: Sequence[str], texts: Sequence[bytes]) -> None:
    long = [bone for bone, text in zip(bones, texts, strict=True) if len(text) > LONGEST_NAME]
    if long:
        raise WriteError(
            f"names of more than {LONGEST_NAME} bytes: {', '.join(long)}",
            remedy="Rename these bones, or leave them out",
        )


def _refuse_not_finite(values: Floats, written: NDArray[np.bool_], bones: Sequence[str]) -> None:
    """Refuse NaN and infinite values among those (bones, frames, ...) that are ``written``. Raises `WriteError`."""
    broken = (written & ~np.isfinite(values)).reshape(len(bones), -1).any(axis=1) if values.size else np.zeros(0, bool)
    if broken.any():
        which = [bones[bone] for bone in np.flatnonzero(broken)[:5]]
        raise WriteError(
            f"the pose of {', '.join(which)} holds NaN or infinite values", remedy="Check its keys and drivers"
        )


def event_of(stored: StoredEvent) -> Event:
    """An event as text."""
    return Event(stored.phase, names.decode(stored.name), names.decode(stored.value))


def stored_events(events: Sequence[Event], base: Sequence[StoredEvent], *, kinds: bool) -> list[StoredEvent]:
    """Events as files hold them: the base's own where the base has the same. Raises `WriteError`.

    ``kinds``: new ones have a binarised file's number.
    """
    exact, held = {}, {}
    for stored in reversed(base):
        event = event_of(stored)
        exact[event.phase.tobytes(), event.name, event.value] = stored
        held[_as_held(event.phase), event.name, event.value] = stored
    result = []
    for event in events:
        phase, name, value = np.float32(event.phase), event.name, event.value
        known = exact.get((phase.tobytes(), name, value)) or held.get((_as_held(phase), name, value))
        result.append(known or _new_event(phase, names.encode(name), names.encode(value), kinds=kinds))
    return result


def _new_event(phase: np.float32, name: bytes, value: bytes, *, kinds: bool) -> StoredEvent:
    for text in (name, value):
        if len(text) > LONGEST_TEXT:
            raise too_long(text)
    return StoredEvent(phase, name, value, -1 if kinds and name.lower() != STEP_SOUND.lower() else 0)


def _as_held(phase: np.float32) -> float | str:
    """A phase as Blender's properties hold it: they know one NaN, and infinity as the largest number."""
    limit = np.finfo(np.float32).max
    return "nan" if np.isnan(phase) else float(np.clip(phase, -limit, limit))


def _same_bits(one: NDArray[np.float32], other: NDArray[np.float32]) -> bool:
    """Whether two arrays hold the same 32-bit numbers, NaNs included."""
    return one.shape == other.shape and one.tobytes() == other.tobytes()


def _kept_step(step: Floats, base: NDArray[np.float32]) -> NDArray[np.float32]:
    """The step (3,) in the file's axes, with the base's bits where it still is what they say."""
    with np.errstate(over="ignore", invalid="ignore"):  # signalling NaNs of broken files
        near = quantum.untouched(step, base.astype(np.float64))
        result: NDArray[np.float32] = np.where(near, base, step.astype(np.float32))
    return as_in_file(result, base)
