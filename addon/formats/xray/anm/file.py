"""The `.anm` file: bytes <-> `Anm`."""

from __future__ import annotations

import numpy as np

from ....core.binary import Reader, Writer
from ....core.errors import ReadError, WriteError
from ....core.report import Report
from ..channels import NAMES
from ..chunks import ChunkRun, Section, open_chunk, read_chunks, starts_like_chunks, with_body, write_chunks
from ..envelopes import check, read_old, read_packed, write_envelope
from .document import ANIMATION, FILE_ORDER, FLOATS, VERSIONS, Animation, Anm

starts_like = starts_like_chunks(ANIMATION)


def read(data: bytes, file: str, report: Report) -> Anm:
    """The document of an `.anm`. Raises `ReadError`."""
    reader = Reader(data, file)
    if not len(data):
        raise reader.error("the file is empty", "Copy it again")
    run = read_chunks(reader, report)
    sections: list[Section[Animation]] = []
    found = False
    for chunk in run.chunks:
        value = None
        if chunk.plain_id == ANIMATION and len(chunk.body) and not found:
            found = True
            value = read_animation(open_chunk(chunk, reader), report)
        sections.append(Section(chunk, value))
    if not found:
        there = ", ".join(f"{chunk.id:#x}" for chunk in run.chunks[:6])
        raise ReadError(
            f"no chunk {ANIMATION:#x} (an object's animation); found: {there}",
            file=file,
            remedy="The file is damaged or something else: copy it again from its source",
        )
    return Anm(sections, run.tail)


def read_animation(reader: Reader, report: Report) -> Animation:
    """A chunk's body. Raises `ReadError`."""
    name = reader.string("the animation's name")
    first, last = reader.i32("the first frame"), reader.i32("the last frame")
    fps = reader.f32("the frames a second")
    version = reader.u16("the version")
    if version not in VERSIONS:
        raise reader.error(
            f"animations of version {version} are unknown (known: 3 to 5)", "The file is damaged: copy it again"
        )
    animation = Animation(name, first, last, fps, version, [])
    envelopes = {}
    for channel in FILE_ORDER[version]:
        what = f"channel {NAMES[channel]}"
        envelopes[channel] = read_old(reader, what) if version == FLOATS else read_packed(reader, what)
        _refuse_scrambled(reader, envelopes[channel].keys["time"], what)
        check(envelopes[channel], NAMES[channel], report)
    animation.envelopes = [envelopes[channel] for channel in range(len(NAMES))]
    animation.tail = reader.rest()
    if len(animation.tail):
        report.warn(f"{len(animation.tail)} bytes are left over behind the channels; kept", reader.chunk)
    if not (np.isfinite(fps) and fps >= 1e-3):
        report.warn(f"{fps} frames a second make no sense; 30 are taken, the number is kept", reader.chunk)
    return animation


def _refuse_scrambled(reader: Reader, times: np.ndarray, what: str) -> None:
    """Bytes that slipped read as any float: times of years, which no file has."""
    with np.errstate(invalid="ignore"):
        wild = np.flatnonzero(np.abs(times) > LONGEST)
    if len(wild):
        raise reader.error(
            f"{what} has a key at {times[wild[0]]:g} seconds: its bytes have slipped",
            "A text tool has damaged the file: get it again from its source",
        )


LONGEST = 1e7
"""Seconds; the longest camera paths of the games last minutes."""


def write_animation(animation: Animation) -> bytes:
    """A chunk's body. Raises `WriteError`."""
    writer = Writer()
    writer.string(animation.name)
    writer.i32(animation.first)
    writer.i32(animation.last)
    writer.f32(animation.fps)
    writer.u16(animation.version)
    for channel in FILE_ORDER[animation.version]:
        envelope = animation.envelopes[channel]
        if envelope.packed == (animation.version == FLOATS):
            raise WriteError(f"channel {NAMES[channel]} is not in the layout of version {animation.version}")
        write_envelope(writer, envelope)
    writer.raw(animation.tail)
    return writer.getvalue()


def write(document: Anm) -> bytes:
    """The file's bytes."""
    chunks = [
        with_body(section.chunk, write_animation(section.value)) if section.value is not None else section.chunk
        for section in document.sections
    ]
    return write_chunks(ChunkRun(chunks, document.tail))


recompose = write
"""The same: nothing of a file that has a type is kept as bytes."""


def raw_size(document: Anm) -> int:
    """Bytes kept without knowing what they mean."""
    return len(document.tail) + sum(
        len(section.value.tail) if section.value is not None else len(section.chunk.body)
        for section in document.sections
    )
