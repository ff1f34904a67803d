"""An `.rtm` as text: a summary, a complete dump for text tools, and the differences between two animations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core.report import counted, listed
from ....core.text import array_differences, array_lines, row, scalar
from ..names import decode
from .document import Binarised, Plain, Rtm, StoredEvent
from .mapping import matrices_of


def describe(document: Rtm) -> list[str]:
    """Return a summary of a few lines."""
    frames, bones = _shape(document)
    kind = document.version if isinstance(document, Plain) else f"binarised, version {document.version}"
    lines = [f"{kind}, {counted(frames, 'frame')} of {counted(bones, 'bone')}, step {row(document.step)}"]
    if frames:
        lines.append(f"phases {scalar(document.phases[0])} to {scalar(document.phases[-1])}")
    if bones:
        lines.append(f"bones: {listed(document.bones)}")
    if document.events:
        lines.append(f"events: {listed([_event(event) for event in document.events])}")
    return lines


def _shape(document: Rtm) -> tuple[int, int]:
    rows: NDArray[Any] = document.matrices if isinstance(document, Plain) else document.transforms
    return int(rows.shape[0]), int(rows.shape[1])


def _event(event: StoredEvent) -> str:
    value = f" {decode(event.value)!r}" if event.value else ""
    return f"{decode(event.name)!r}{value} at {scalar(event.phase)}"


def dump(document: Rtm) -> Iterator[str]:
    """Yield the whole document as text. Numbers are written exactly, so that every bit can be compared."""
    yield from _head(document)
    for number, event in enumerate(document.events or ()):
        texts = f"{decode(event.name)!r} {decode(event.value)!r}"
        yield f"event {number} phase {scalar(event.phase)} kind {event.kind} {texts}"
    yield from array_lines("phases", document.phases)
    if isinstance(document, Binarised):
        for number, bone in enumerate(document.bones):
            yield f"bone {number} {bone!r}"
            yield from array_lines(f"bone {number} frame", document.transforms[:, number])
    else:
        for number, bone in enumerate(document.bones):
            yield f"bone {number} {bone!r} field {document.bone_fields[number].tobytes().hex()}"
            yield from array_lines(f"bone {number} frame", document.matrices[:, number].reshape(-1, 12))
            yield from array_lines(f"bone {number} field", document.frame_fields[:, number])
    yield f"bytes behind: {bytes(document.tail).hex() or '-'}"


def _head(document: Rtm) -> Iterator[str]:
    if isinstance(document, Plain):
        yield f"mark {decode(document.magic)}"
        if document.events is not None:
            yield f"properties version {document.properties_version}"
    else:
        yield f"binarised version {document.version} turned {document.turned} preload {document.preload}"
        yield f"first frame bones {document.first_frame_bones}"
        yield f"meta {' '.join(repr(decode(name)) for name in document.meta) or '-'}"
        packed = [str(frame) for frame, block in enumerate(document.blocks) if len(block)]
        yield f"compressed: phases {'yes' if len(document.phases_block) else 'no'}, frames {' '.join(packed) or '-'}"
    yield f"step {row(document.step)}"


def differences(first: Rtm, second: Rtm) -> Iterator[str]:
    """Yield the differences between two documents, bone by bone."""
    if isinstance(first, Plain) != isinstance(second, Plain):
        yield f"{' / '.join('plain' if isinstance(side, Plain) else 'binarised' for side in (first, second))}"
    heads = [list(_head(side)) for side in (first, second)]
    for one, other in zip(*heads, strict=False):
        if one != other and one.split()[0] == other.split()[0]:
            yield f"{one} / {other}"
    yield from array_differences("phases", first.phases, second.phases)
    events = [[_event(event) for event in side.events or ()] for side in (first, second)]
    if events[0] != events[1]:
        yield f"events: {'; '.join(events[0]) or 'none'} / {'; '.join(events[1]) or 'none'}"
    yield from _bone_differences(first.bones, second.bones)
    if isinstance(first, Plain) and isinstance(second, Plain):
        yield from _plain_differences(first, second)
    elif isinstance(first, Binarised) and isinstance(second, Binarised):
        yield from _binarised_differences(first, second)
    if bytes(first.tail) != bytes(second.tail):
        yield "bytes behind the last frame differ"


def _bone_differences(one: list[str], other: list[str]) -> Iterator[str]:
    """Compare the bones of both files by name; case is ignored, as in the game."""
    mine, theirs = ([bone.lower() for bone in side] for side in (one, other))
    for word, side, lowered, rest in (("missing", one, mine, set(theirs)), ("new", other, theirs, set(mine))):
        bones = [bone for bone, low in zip(side, lowered, strict=True) if low not in rest]
        if bones:
            yield f"bones {word}: {', '.join(bones)}"
    shared = _shared(one, other)
    if (np.diff(shared[1]) < 0).any():
        yield "bones: in another order"
    respelt = sum(one[a] != other[b] for a, b in shared.T.tolist())
    if respelt:
        yield f"names in other upper and lower case: {respelt}"


def _shared(one: list[str], other: list[str]) -> NDArray[np.intp]:
    """Return (2, bones) the indices in each list of the bones both have, in the order of ``one``. Of duplicate names in
    ``other`` the first counts.
    """
    indices: dict[str, int] = {}
    for index, bone in enumerate(other):
        indices.setdefault(bone.lower(), index)
    if [bone.lower() for bone in one] == [bone.lower() for bone in other]:
        return np.tile(np.arange(len(one)), (2, 1))
    pairs = [(index, indices[bone.lower()]) for index, bone in enumerate(one) if bone.lower() in indices]
    return np.array(pairs, np.intp).reshape(-1, 2).T


def _plain_differences(first: Plain, second: Plain) -> Iterator[str]:
    if len(first.matrices) == len(second.matrices):
        names = first.bones
        shared = _shared(names, second.bones)
        one, other = (
            matrices_of(side).reshape(len(side.phases), len(side.bones), 12)[:, indices]
            for side, indices in zip((first, second), shared, strict=True)
        )
        # Compared as bits: a NaN is equal to itself, 0 and -0 are not equal.
        differ = (one.view(np.uint32) != other.view(np.uint32)).any(axis=2)
        with np.errstate(invalid="ignore", over="ignore"):
            largest = np.nan_to_num(np.abs(one.astype(np.float64) - other)).max(axis=(0, 2), initial=0.0)
        for bone in np.flatnonzero(differ.any(axis=0)):
            frames = f"{int(differ[:, bone].sum())} of {counted(len(one), 'frame')}"
            yield f"bone {names[shared[0, bone]]!r}: {frames} differ, by at most {largest[bone]:.3g}"
    else:
        yield f"frames: {len(first.matrices)} / {len(second.matrices)}"
    for word, a, b in (
        ("names of the bones", first.bone_fields, second.bone_fields),
        ("names in the frames", first.frame_fields, second.frame_fields),
    ):
        if first.bones == second.bones and a.shape == b.shape and (a != b).any():
            yield f"the bytes behind the {word} differ"


def _binarised_differences(first: Binarised, second: Binarised) -> Iterator[str]:
    if len(first.transforms) != len(second.transforms):
        yield f"frames: {len(first.transforms)} / {len(second.transforms)}"
        return
    names = first.bones
    for mine, theirs in _shared(names, second.bones).T.tolist():
        for line in array_differences("", first.transforms[:, mine], second.transforms[:, theirs]):
            yield f"bone {names[mine]!r}{line}"
