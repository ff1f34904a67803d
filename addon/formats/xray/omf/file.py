"""The `.omf` file as a whole: bytes <-> `Omf`."""

from __future__ import annotations

from ....core.binary import Reader
from ....core.errors import ReadError
from ....core.report import Report
from ..chunks import Chunk, ChunkRun, Section, open_chunk, read_chunks, starts_like_chunks, with_body, write_chunks
from . import motions
from .document import MOTIONS, PARAMETERS, MotionLibrary, Omf, Parameters
from .motions import read_motions, write_motions
from .parameters import read_parameters, write_parameters

starts_like = starts_like_chunks(MOTIONS, PARAMETERS)


def read(data: bytes, file: str, report: Report) -> Omf:
    """The document of an `.omf`. Raises `ReadError` where either of its two chunks is missing or unreadable."""
    reader = Reader(data, file)
    if not len(data):
        raise reader.error("the file is empty", "Copy it again")
    run = read_chunks(reader, report)
    sections: list[Section[MotionLibrary | Parameters]] = [
        Section(chunk, _read_value(chunk, run.chunks, reader, report)) for chunk in run.chunks
    ]
    document = Omf(sections, run.tail)
    for identifier, kind, what in (
        (MOTIONS, MotionLibrary, "motions"),
        (PARAMETERS, Parameters, "motion parameters"),
    ):
        if not any(isinstance(section.value, kind) for section in sections):
            raise _missing(identifier, what, run.chunks, reader)
    _check_agreement(document, report)
    return document


def _read_value(chunk: Chunk, chunks: list[Chunk], parent: Reader, report: Report) -> MotionLibrary | Parameters | None:
    first = next(other for other in chunks if other.plain_id == chunk.plain_id)
    if chunk is not first or not len(chunk.body):
        return None
    if chunk.plain_id == MOTIONS:
        return read_motions(open_chunk(chunk, parent), report)
    if chunk.plain_id == PARAMETERS:
        return read_parameters(open_chunk(chunk, parent), report)
    return None


def _missing(identifier: int, what: str, chunks: list[Chunk], reader: Reader) -> ReadError:
    there = ", ".join(f"{chunk.id:#x}" for chunk in chunks[:6]) or "none"
    if any(chunk.plain_id == identifier for chunk in chunks):
        return ReadError(
            f"chunk {identifier:#x} ({what}) is empty",
            file=reader.file,
            remedy="The file is damaged: copy it again from its source",
        )
    if any(chunk.plain_id & 0xFFFF == identifier for chunk in chunks):
        remedy = "A mod's own tool has encrypted it: get the unprotected file from its author"
    else:
        remedy = "The file is damaged: copy it again from its source"
    return ReadError(f"no chunk {identifier:#x} ({what}); found: {there}", file=reader.file, remedy=remedy)


def _check_agreement(document: Omf, report: Report) -> None:
    library, parameters = document.motion_set
    bones = sum(len(partition.bones) for partition in parameters.partitions)
    there = library.motions
    if len(there) != len(parameters.definitions):
        report.warn(f"{len(parameters.definitions)} motions are defined, {len(there)} are there")
    for motion in there:
        if motion.track_count != bones:
            report.warn(f"{motion.track_count} tracks for {bones} bones listed in partitions", motion.label)
    for motion, definition in zip(there, parameters.definitions, strict=False):
        if motion.name.lower() != definition.name.lower():
            report.warn("a motion and its definition have different names", f"{motion.label} / {definition.label}")


def write(document: Omf) -> bytes:
    """The file's bytes."""
    return _write(document, recompose=False)


def recompose(document: Omf) -> bytes:
    """The file's bytes with every track written from its typed fields."""
    return _write(document, recompose=True)


def _write(document: Omf, *, recompose: bool) -> bytes:
    chunks = []
    for section in document.sections:
        if isinstance(section.value, MotionLibrary):
            chunks.append(with_body(section.chunk, write_motions(section.value, recompose=recompose)))
        elif isinstance(section.value, Parameters):
            chunks.append(with_body(section.chunk, write_parameters(section.value)))
        else:
            chunks.append(section.chunk)
    return write_chunks(ChunkRun(chunks, document.tail))


def raw_size(document: Omf) -> int:
    """Bytes kept without knowing what they mean."""
    size = len(document.tail)
    for section in document.sections:
        if isinstance(section.value, MotionLibrary):
            size += motions.raw_size(section.value)
        elif isinstance(section.value, Parameters):
            size += len(section.value.tail)
        else:
            size += len(section.chunk.body)
    return size
