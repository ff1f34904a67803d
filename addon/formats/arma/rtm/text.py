"""An `.rtm` as text: a summary, a complete dump for text tools, and the differences between two animations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from numpy.typing import NDArray

from ....core.report import counted, listed
from ....core.text import Rows, row, scalar
from ....core.walk import Entries, View, Views, fields
from ..names import decode
from .document import Binarised, Plain, Rtm, StoredEvent, texts_of


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


class _Bone(NamedTuple):
    """A bone: its name with the bytes after it in its field of 32, its names in the frames where they differ, and its
    poses (frames,).
    """

    name: str
    after_name: memoryview
    names: Rows | None
    poses: Rows


def _bones(document: Rtm) -> Iterator[_Bone]:
    for index, name in enumerate(document.bones):
        if isinstance(document, Binarised):
            yield _Bone(name, memoryview(b""), None, Rows(document.transforms[:, index], "frame", counted=True))
            continue
        field, in_frames = document.bone_fields[index], document.frame_fields[:, index]
        rest = field.tobytes()[len(texts_of(field[None])[0]) :]
        names = Rows(in_frames, "frame", counted=True) if (in_frames != field).any() else None
        poses = Rows(document.matrices[:, index].reshape(-1, 12), "frame", counted=True)
        yield _Bone(name, memoryview(rest if any(rest) else b""), names, poses)


def _entries(document: Rtm) -> Entries:
    if isinstance(document, Plain):
        yield "mark", document.magic
        yield "properties version", document.properties_version if document.events is not None else None
    else:
        yield from fields(
            document, "step", "bone_names", "phases", "transforms", "events", "phases_block", "blocks", "tail"
        )
        yield "compressed phases", len(document.phases_block) > 0
        yield "compressed frames", [frame for frame, block in enumerate(document.blocks) if len(block)]
    yield "step", document.step
    yield "frames", len(document.phases)
    yield "phases", Rows(document.phases, counted=True)
    yield "events", document.events
    yield "bones", list(_bones(document))
    yield "tail", memoryview(document.tail)


VIEWS: Views = {
    **dict.fromkeys((Plain, Binarised), View(entries=_entries)),
    _Bone: View(
        lambda bone: f"bone {bone.name!r}",
        (lambda bone: bone.name.lower(),),
        {"name": None, "after_name": "bytes after the name", "names": "names in the frames", "poses": ""},
    ),
}
