"""Read and write an `.omf`: bytes <-> `Omf`, its motions (chunk 0xE) and its motion parameters (chunk 0xF).

Chunk 0xE: nested chunk 0 is ``u32 n``; nested chunk ``k + 1`` is motion k: name, u32 frames, one track per bone. An
`.ogf` model can contain the same two chunks. Chunk 0xF: partitions (bone parts), and for every motion how the engine
plays it. Versions 1 to 4 are read and written; the engines of the released games read 3 and 4. Version 4 adds marks.
"""

from __future__ import annotations

import functools
import struct
from dataclasses import replace
from functools import partial
from typing import Any

from ....core.binary import DAMAGED, Bytes, Reader, Writer, warn_not_finite
from ....core.errors import ReadError, WriteError
from ....core.report import Report, say
from ..chunks import (
    Chunk,
    ChunkRun,
    Section,
    listed,
    open_chunk,
    read_chunks,
    starts_like_chunks,
    write_chunks,
)
from ..contents import body_of, unknown_size, write_contents
from ..marks import read_marks, write_marks
from .document import (
    COUNT,
    MOTIONS,
    PARAMETERS,
    Definition,
    Motion,
    MotionLibrary,
    Omf,
    Parameters,
    Partition,
    PartitionBone,
    checksum,
    track_size,
    tracks_by_layout,
)
from .tracks import overlong

_U32 = struct.Struct("<I")
VERSIONS = (1, 2, 3, 4)
MARKS_SINCE = 4
starts_like = starts_like_chunks(MOTIONS, PARAMETERS)


def read(data: bytes, file: str, report: Report) -> Omf:
    """Read an `.omf` file. Raises `ReadError` if one of its two chunks is missing, empty or unreadable."""
    reader = Reader.of_file(data, file)
    run = read_chunks(reader, report)
    sections = [Section(chunk, _read_value(chunk, run.chunks, reader, report)) for chunk in run.chunks]
    document = Omf(sections, run.tail)
    for identifier, kind, what in (
        (MOTIONS, MotionLibrary, "motions"),
        (PARAMETERS, Parameters, "motion parameters"),
    ):
        if document.first(kind) is None:
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
    if any(chunk.plain_id == identifier for chunk in chunks):
        words = "chunk {:#x} ({}) is empty"
        return ReadError(say(words, identifier, what), file=reader.file, remedy=DAMAGED)
    if any(chunk.plain_id & 0xFFFF == identifier for chunk in chunks):
        remedy = "A mod's own tool has encrypted it: get the unprotected file from its author"
    else:
        remedy = "Check that this is an .omf of S.T.A.L.K.E.R. and that it was copied whole"
    words = "no chunk {:#x} ({}); found: {}"
    return ReadError(say(words, identifier, what, listed(chunks)), file=reader.file, remedy=remedy)


def _check_agreement(document: Omf, report: Report) -> None:
    library, parameters = document.motion_set
    bones = sum(len(partition.bones) for partition in parameters.partitions)
    all_motions = library.motions
    if len(all_motions) != len(parameters.definitions):
        words = "{:# motion is|# motions are} defined, {} found"
        report.warn(say(words, len(parameters.definitions), len(all_motions)))
    for motion, label in zip(all_motions, document.motion_set.labels, strict=True):
        if motion.track_count != bones:
            words = "{:# track|# tracks} for {:# bone|# bones} listed in bone parts"
            report.warn(say(words, motion.track_count, bones), label)
    for motion, definition in zip(all_motions, parameters.definitions, strict=False):
        if motion.name.lower() != definition.name.lower():
            words = "{0:# motion has|# motions have} another name than {0:its definition|their definitions}"
            report.warn(say(words, 1), f"{motion.label} / {definition.label}")


def write(document: Omf) -> bytes:
    """Return the bytes of the file. Tracks are copied from the stored bytes of their motions."""
    return write_contents(document, body_of_value)


def recompose(document: Omf) -> bytes:
    """Return the bytes of the file with every track written from its typed fields instead of its stored bytes."""
    return write_contents(document, partial(body_of_value, recompose=True))


def body_of_value(value: Any, *, recompose: bool = False) -> bytes:
    """Return the body of a chunk of a file or of a model."""
    if isinstance(value, MotionLibrary):
        return write_motions(value, recompose=recompose)
    return write_parameters(value) if isinstance(value, Parameters) else body_of(value)


def raw_size(document: Omf) -> int:
    """Return the number of bytes that are kept without knowing their meaning."""
    return unknown_size(document, raw_size_of_value)


def raw_size_of_value(value: object) -> int:
    """Return the same for a chunk of a file or of a model."""
    if isinstance(value, MotionLibrary):
        return raw_size_of_motions(value)
    return len(value.tail) if isinstance(value, Parameters) else 0


# ---- chunk 0xE: the motions


def read_motions(reader: Reader, report: Report) -> MotionLibrary:
    """Read the motions in the body of chunk 0xE.

    Nested chunks that are not readable as motions are kept and reported.
    """
    run = read_chunks(reader, report)
    library = MotionLibrary([_motion_or_chunk(chunk, reader, report) for chunk in run.chunks], run.tail)
    _check_count(library, reader, report)
    return library


def _motion_or_chunk(chunk: Chunk, parent: Reader, report: Report) -> Motion | Chunk:
    if chunk.id == COUNT or chunk.packed is not None:
        return chunk
    body = open_chunk(chunk, parent)
    try:
        return _read_motion(chunk, body, report)
    except ReadError as wrong:
        report.warn(say("not readable as a motion, kept unchanged: {}", wrong.problem), body.chunk)
        return chunk


def _read_motion(chunk: Chunk, reader: Reader, report: Report) -> Motion:
    motion = read_motion(reader)
    motion.identifier, motion.declared, motion.offset = chunk.id, chunk.declared, chunk.offset
    if motion.leftover:
        report.warn(say("{:# byte does|# bytes do} not make a whole track; kept", motion.leftover), motion.label)
    _check_tracks(motion, report)
    return motion


def read_motion(reader: Reader) -> Motion:
    """Read one motion from the body of its chunk. Raises `ReadError` if name or frame count cannot be read."""
    name = reader.string("the motion's name")
    frames = reader.u32("the number of frames")
    body = reader.rest()
    return Motion(name, frames, body, _track_starts(body, frames))


def _track_starts(body: Bytes, frames: int) -> list[int]:
    """Return the offset of each track in ``body`` and the end of the last complete one. Tracks have no gaps."""
    sizes = _track_sizes(frames)
    end, position, starts = len(body), 0, [0]
    while position < end:
        position += sizes[body[position] & 0xF]
        if position > end:
            break
        starts.append(position)
    return starts


@functools.lru_cache(maxsize=512)
def _track_sizes(frames: int) -> list[int]:
    """Return the size of a track for each of the flags that its layout depends on."""
    return [track_size(flags, frames) for flags in range(16)]


def _check_tracks(motion: Motion, report: Report) -> None:
    """Warn about wrong checksums, and about NaN and infinite values in float keys, single translations and ranges."""
    groups = [motion.rows(tracks, layout) for layout, tracks in tracks_by_layout(motion.all_flags)]
    for rows in groups:
        for what in ("rotation", "translation"):
            if f"{what}_crc" in (rows.dtype.names or ()):
                for keys, stored in zip(rows[what], rows[f"{what}_crc"].tolist(), strict=True):
                    if checksum(keys) != stored:
                        words = "the checksum of translation keys is wrong; kept (ignored by the game)"
                        if what == "rotation":
                            words = "the checksum of rotation keys is wrong; kept (ignored by the game)"
                        report.warn(words, motion.label)
    warn_not_finite(report, motion.label, *groups)


def _check_count(library: MotionLibrary, reader: Reader, report: Report) -> None:
    motions = library.motions
    if library.count is None:
        report.warn("the number of motions is missing", reader.chunk)
    elif library.count != len(motions):
        words = "{:# motion is|# motions are} declared, {} found"
        report.warn(say(words, library.count, len(motions)), reader.chunk)
    if len({motion.track_count for motion in motions}) > 1:
        report.warn("the motions have different numbers of tracks", reader.chunk)
    if not motions:
        report.warn("there are no motions in it", reader.chunk)
    for motion in motions:
        if not motion.frames:
            report.warn(say("{:# motion has|# motions have} no frames", 1), motion.label)
    worst = overlong(motions)
    if worst is not None:
        report.warn("motions declare more frames than their data can hold; they cannot be imported", worst.label)


def write_motions(library: MotionLibrary, *, recompose: bool = False) -> bytes:
    """Return the body of chunk 0xE. With ``recompose`` each track is written from its typed fields."""
    chunks = [entry if isinstance(entry, Chunk) else _motion_chunk(entry, recompose) for entry in library.entries]
    return write_chunks(ChunkRun(chunks, library.tail))


def _motion_chunk(motion: Motion, recompose: bool) -> Chunk:
    return Chunk(motion.identifier, write_motion(motion, recompose=recompose), declared=motion.declared)


def write_motion(motion: Motion, *, recompose: bool = False) -> bytes:
    """Return the body of one motion's chunk. With ``recompose`` each track is written from its typed fields.

    Raises `WriteError` if a track is longer or shorter than its flags and the number of frames say.
    """
    if motion.starts != _track_starts(motion.body, motion.frames):
        problem = "the tracks are longer or shorter than their flags and the number of frames say"
        raise WriteError(problem, file=motion.label, remedy="Import the motion again")
    writer = Writer()
    writer.string(motion.name)
    writer.u32(motion.frames)
    if recompose:
        for track in range(motion.track_count):
            writer.raw(motion.track(track).compose())
        writer.raw(motion.body[motion.starts[-1] :])
    else:
        writer.raw(motion.body)
    return writer.getvalue()


def numbered(motions: list[Motion]) -> MotionLibrary:
    """Return a library of these motions with chunk ids from 1 in this order, after a new chunk 0 with their count."""
    entries: list[Motion | Chunk] = [Chunk(COUNT, _U32.pack(len(motions)))]
    for number, motion in enumerate(motions, 1):
        entries.append(Motion(motion.name, motion.frames, motion.body, motion.starts, number, offset=motion.offset))
    return MotionLibrary(entries)


def with_motions(library: MotionLibrary, motions: list[Motion]) -> MotionLibrary:
    """Return ``library`` with ``motions`` in place of its own.

    The engine looks up chunk i + 1 for every i below the count. If there are as many motions as before, the file's
    chunk ids are kept, and so are the chunks between them that are not motions. Otherwise all motions are renumbered
    (see `numbered`).
    """
    index_of = {id(motion): index for index, motion in enumerate(library.motions)}
    if len(motions) != len(index_of):
        return numbered(motions)

    def replacement(entry: Motion) -> Motion:
        motion = motions[index_of[id(entry)]]
        if motion is entry:
            return entry
        # A wrong size that the file declares belongs to the chunk at this position, not to a motion that moved.
        declared = None if id(motion) in index_of else motion.declared
        return replace(motion, identifier=entry.identifier, declared=declared)

    return MotionLibrary(
        [replacement(entry) if isinstance(entry, Motion) else entry for entry in library.entries], library.tail
    )


def raw_size_of_motions(library: MotionLibrary) -> int:
    """Return the number of bytes of chunk 0xE that are kept without knowing their meaning."""
    size = len(library.tail)
    for entry in library.entries:
        if isinstance(entry, Motion):
            size += entry.leftover
        elif entry.id != COUNT or len(entry.body) != _U32.size:
            size += len(entry.body)
    return size


# ---- chunk 0xF: the parameters


def read_parameters(reader: Reader, report: Report) -> Parameters:
    """Read partitions and definitions from the body of chunk 0xF.

    Raises `ReadError` for unknown versions and damaged data.
    """
    start = reader.position
    version = reader.u16("the version of the motion parameters")
    if version not in VERSIONS:
        raise reader.error(
            say("motion parameters of version {} are unknown (known: 1 to 4)", version),
            "A mod's own tool may have encrypted it: get the unprotected file from its author",
        )
    layout = _try_layout(reader, start + 2, version, named=version != 1, numbered=version != 2)
    if version >= 3 and (isinstance(layout, ReadError) or len(layout[0].tail)):
        # An editor bug: for a model without partitions it lists bare numbers although the version promises names.
        # Data of one layout may be readable in the other, with bytes left over. Bare numbers are accepted only if no
        # byte is left over.
        bare = _try_layout(reader, start + 2, version, named=False, numbered=True)
        if not isinstance(bare, ReadError) and not len(bare[0].tail):
            report.warn(
                "bone parts list bones without names (an editor's bug): the game cannot read this", reader.chunk
            )
            layout = bare
    if isinstance(layout, ReadError):
        raise layout
    reader.rest()  # a failed attempt leaves the position anywhere
    parameters, found_report = layout
    report.include(found_report)
    if len(parameters.tail):
        words = "{:# extra byte|# extra bytes} after the motion parameters; kept"
        report.warn(say(words, len(parameters.tail)), reader.chunk)
    return parameters


def _try_layout(
    reader: Reader, start: int, version: int, *, named: bool, numbered: bool
) -> tuple[Parameters, Report] | ReadError:
    """Read the body from ``start`` with this layout of bone entries. Return parameters and report, or the error."""
    reader.position = start
    report = Report()
    try:
        return _read_body(reader, report, version, named=named, numbered=numbered), report
    except ReadError as wrong:
        return wrong


def _read_body(reader: Reader, report: Report, version: int, *, named: bool, numbered: bool) -> Parameters:
    partitions = [_read_partition(reader, named, numbered) for _ in range(reader.u16("the number of bone parts"))]
    definitions = [_read_definition(reader, report, version) for _ in range(reader.u16("the number of motions"))]
    return Parameters(version, partitions, definitions, reader.rest(), named, numbered)


def _read_partition(reader: Reader, named: bool, numbered: bool) -> Partition:
    name = reader.string("a bone part's name")
    bones = []
    for _ in range(reader.u16("a bone part's number of bones")):
        bone = reader.string("a bone's name") if named else None
        bones.append(PartitionBone(bone, reader.u32("a bone's track number") if numbered else None))
    return Partition(name, bones)


def _read_definition(reader: Reader, report: Report, version: int) -> Definition:
    name = reader.string("a motion's name")
    flags = reader.u32("a motion's flags")
    bone_or_part, motion = reader.u16(), reader.u16()
    definition = Definition(name, flags, bone_or_part, motion, reader.array("<f4", 4, what="a motion's timing"))
    warn_not_finite(report, say("{}, timing", definition.label), definition.timing)
    if version >= MARKS_SINCE:
        definition.marks = read_marks(reader, report, definition.label)
    return definition


def write_parameters(parameters: Parameters) -> bytes:
    """Return the body of chunk 0xF."""
    writer = Writer()
    writer.u16(parameters.version)
    writer.u16(len(parameters.partitions))
    for partition in parameters.partitions:
        writer.string(partition.name)
        writer.u16(len(partition.bones))
        for bone in partition.bones:
            if parameters.named:
                writer.string(bone.name or b"")
            if parameters.numbered:
                writer.u32(bone.track or 0)
    writer.u16(len(parameters.definitions))
    for definition in parameters.definitions:
        _write_definition(writer, definition, parameters.version)
    writer.raw(parameters.tail)
    return writer.getvalue()


def _write_definition(writer: Writer, definition: Definition, version: int) -> None:
    writer.string(definition.name)
    writer.u32(definition.flags)
    writer.u16(definition.bone_or_part)
    writer.u16(definition.motion)
    writer.array(definition.timing, "<f4")
    if version >= MARKS_SINCE:
        write_marks(writer, definition.marks)
