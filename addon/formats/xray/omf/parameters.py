"""Chunk 0xF: partitions and, for every motion, how the engine plays it.

Versions 1 to 4 are read and written; the engines of the released games read 3 and 4. Version 4 adds the marks.
"""

from __future__ import annotations

from ....core.binary import Reader, Writer
from ....core.errors import ReadError
from ....core.finite import warn_not_finite
from ....core.report import Report
from ..marks import read_marks, write_marks
from .document import Definition, Parameters, Partition, PartitionBone

VERSIONS = (1, 2, 3, 4)
MARKS_SINCE = 4


def read_parameters(reader: Reader, report: Report) -> Parameters:
    """The partitions and definitions of a chunk's body. Raises `ReadError`."""
    start = reader.position
    version = reader.u16("the version of the motion parameters")
    if version not in VERSIONS:
        raise reader.error(
            f"motion parameters of version {version} are unknown (known: 1 to 4)",
            "The file is damaged or encrypted by a mod",
        )
    found = _attempt(reader, start + 2, version, named=version != 1, numbered=version != 2)
    if version >= 3 and (isinstance(found, ReadError) or len(found[0].tail)):
        # An editor bug: for a model without partitions it lists bare numbers although the version promises names.
        # Either layout may parse as the other and a rest: bare numbers are believed only if they explain every byte.
        bare = _attempt(reader, start + 2, version, named=False, numbered=True)
        if not isinstance(bare, ReadError) and not len(bare[0].tail):
            report.warn(
                "partitions list bones without names (an editor's bug): the game cannot read this", reader.chunk
            )
            found = bare
    if isinstance(found, ReadError):
        raise found
    parameters, noticed = found
    report.include(noticed)
    if len(parameters.tail):
        report.warn(f"{len(parameters.tail)} bytes are left over behind the motion parameters; kept", reader.chunk)
    return parameters


def _attempt(
    reader: Reader, start: int, version: int, *, named: bool, numbered: bool
) -> tuple[Parameters, Report] | ReadError:
    """What reading from ``start`` gives, or why it fails."""
    reader.position = start
    report = Report()
    try:
        return _read_body(reader, report, version, named=named, numbered=numbered), report
    except ReadError as wrong:
        return wrong


def _read_body(reader: Reader, report: Report, version: int, *, named: bool, numbered: bool) -> Parameters:
    partitions = [_read_partition(reader, named, numbered) for _ in range(reader.u16("the number of partitions"))]
    definitions = [_read_definition(reader, report, version) for _ in range(reader.u16("the number of motions"))]
    return Parameters(version, partitions, definitions, reader.rest(), named, numbered)


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
    warn_not_finite(report, f"{definition.label}, timing", definition.timing)
    if version >= MARKS_SINCE:
        definition.marks = read_marks(reader, report, definition.label)
    return definition


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
    if version >= MARKS_SINCE:
        write_marks(writer, definition.marks)
