"""Chunk 0xF: partitions and, for every motion, how the engine plays it.

Versions 1 to 4 are read and written; the engines of the released games read 3 and 4. Version 4 adds the marks.
"""

from __future__ import annotations

import numpy as np

from ....core.binary import Reader, Writer
from ....core.errors import ReadError
from ....core.report import Report
from .document import Definition, Mark, Parameters, Partition, PartitionBone

VERSIONS = (1, 2, 3, 4)
MARKS_SINCE = 4
SWALLOWED = (10, 13)
"""After a mark's name the engine skips every byte of these values, also when they begin the number of intervals."""


def read_parameters(reader: Reader, report: Report) -> Parameters:
    """The partitions and definitions of a chunk's body. Raises `ReadError`."""
    start = reader.position
    version = reader.u16("the version of the motion parameters")
    if version not in VERSIONS:
        raise reader.error(
            f"motion parameters of version {version} are unknown (known: 1 to 4)",
            "The file is damaged or encrypted by a mod",
        )
    try:
        return _read_body(reader, report, version, named=version != 1, numbered=version != 2)
    except ReadError:
        if version < 3:
            raise
        # An editor bug: for a model without partitions it lists bare numbers although the version promises names.
        reader.position = start + 2
        try:
            parameters = _read_body(reader, Report(), version, named=False, numbered=True)
        except ReadError:
            pass
        else:
            if not len(parameters.tail):  # anything may look like a few numbers and a rest
                report.warn(
                    "partitions list bones without names (an editor's bug): the game cannot read this", reader.chunk
                )
                return parameters
        reader.position = start + 2
        return _read_body(reader, report, version, named=True, numbered=True)


def _read_body(reader: Reader, report: Report, version: int, *, named: bool, numbered: bool) -> Parameters:
    partitions = [_read_partition(reader, named, numbered) for _ in range(reader.u16("the number of partitions"))]
    definitions = [_read_definition(reader, report, version) for _ in range(reader.u16("the number of motions"))]
    tail = reader.rest()
    if len(tail):
        report.warn(f"{len(tail)} bytes are left over behind the motion parameters; kept", reader.chunk)
    return Parameters(version, partitions, definitions, tail, named, numbered)


def _read_partition(reader: Reader, named: bool, numbered: bool) -> Partition:
    name = reader.string("a partition's name")
    bones = []
    for _ in range(reader.u16("a partition's number of bones")):
        bone = reader.string("a bone's name") if named else None
        bones.append(PartitionBone(bone, reader.u32("a bone's track number") if numbered else None))
    return Partition(name, bones)


def _read_definition(reader: Reader, report: Report, version: int) -> Definition:
    name = reader.string("a motion's name")
    flags = reader.u32("a motion's flags")
    bone_or_part, motion = reader.u16(), reader.u16()
    definition = Definition(name, flags, bone_or_part, motion, reader.array("<f4", 4, what="a motion's timing"))
    if version >= MARKS_SINCE:
        count = reader.u32("a motion's number of marks")
        definition.marks = [_read_mark(reader, report, definition) for _ in range(_bounded(reader, count, 5))]
    return definition


def _bounded(reader: Reader, count: int, smallest: int) -> int:
    """Refuse a count that the bytes left cannot hold before anything is made for it."""
    if count * smallest > reader.remaining:
        raise reader.error(
            f"{count} entries of at least {smallest} bytes are announced, {reader.remaining} bytes are left"
        )
    return count


def _read_mark(reader: Reader, report: Report, definition: Definition) -> Mark:
    line = bytes(reader.data[reader.position : reader.position + 4096]).partition(b"\n")
    if not line[1]:
        raise reader.error("a mark's name does not end")
    reader.take(len(line[0]) + 1)
    line_end = b"\r\n" if line[0].endswith(b"\r") else b"\n"
    count = reader.u32("a mark's number of intervals")
    intervals = reader.array("<f4", count, 2, what="a mark's intervals")
    if count & 0xFF in SWALLOWED:
        report.warn(f"a mark has {count} intervals, a number the game misreads", definition.label)
    return Mark(line[0].removesuffix(b"\r"), intervals, line_end)


def write_parameters(parameters: Parameters) -> bytes:
    """A chunk's body."""
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
    if version < MARKS_SINCE:
        return
    writer.u32(len(definition.marks))
    for mark in definition.marks:
        writer.raw(mark.name + mark.line_end)
        writer.u32(len(mark.intervals))
        writer.array(np.asarray(mark.intervals), "<f4")
