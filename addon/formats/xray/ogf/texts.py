"""The chunks of a model that are words: user data, who made it, the motion files it plays, its distant stand-in."""

from __future__ import annotations

from dataclasses import dataclass

from ....core.binary import Reader, Writer
from ....core.errors import ReadError


@dataclass(slots=True)
class UserData:
    """Settings in the form of an ini file, lines ended by CR LF."""

    text: bytes

    @classmethod
    def read(cls, reader: Reader) -> UserData:
        return cls(reader.string("the user data"))

    def write(self, writer: Writer) -> None:
        writer.string(self.text)


@dataclass(slots=True)
class Description:
    """Where the model came from. Times are seconds since 1970, of ``time_size`` bytes (4; 8 in 64-bit builds of a later engine)."""

    source: bytes
    tool: bytes
    exported: int
    creator: bytes
    created: int
    modifier: bytes
    modified: int
    time_size: int = 4

    @classmethod
    def read(cls, reader: Reader) -> Description:
        """With the size of times that makes the chunk end where it should; the short one where none does."""
        start = reader.position
        for size in (4, 8):
            try:
                found = cls._read(reader, size)
            except ReadError:
                pass
            else:
                if not reader.remaining:
                    return found
            reader.position = start
        return cls._read(reader, 4)

    @classmethod
    def _read(cls, reader: Reader, size: int) -> Description:
        def time() -> int:
            return int.from_bytes(reader.take(size, "a time"), "little")

        source, tool, exported = reader.string("the source's name"), reader.string("the tool's name"), time()
        creator, created = reader.string("the creator's name"), time()
        return cls(source, tool, exported, creator, created, reader.string("the modifier's name"), time(), size)

    def write(self, writer: Writer) -> None:
        for text in (self.source, self.tool):
            writer.string(text)
        self._write_time(writer, self.exported)
        writer.string(self.creator)
        self._write_time(writer, self.created)
        writer.string(self.modifier)
        self._write_time(writer, self.modified)

    def _write_time(self, writer: Writer, time: int) -> None:
        writer.u32(time & 0xFFFF_FFFF if self.time_size == 8 else time)
        if self.time_size == 8:
            writer.u32(time >> 32)


@dataclass(slots=True)
class MotionReferences:
    """Names of motion files as Shadow of Chernobyl has them: one string with commas. Without suffix, usually."""

    names: list[bytes]

    @classmethod
    def read(cls, reader: Reader) -> MotionReferences:
        return cls(reader.string("the names of motion files").split(b","))

    def write(self, writer: Writer) -> None:
        writer.string(b",".join(self.names))


@dataclass(slots=True)
class MotionReferences2:
    r"""Names of motion files as the later games have them: a list, which may hold a mask such as ``actors\*.omf``."""

    names: list[bytes]

    @classmethod
    def read(cls, reader: Reader) -> MotionReferences2:
        count = reader.u32("the number of motion files")
        if count > reader.remaining:
            raise reader.error(f"{count} motion files are announced, {reader.remaining} bytes are left")
        return cls([reader.string("the name of a motion file") for _ in range(count)])

    def write(self, writer: Writer) -> None:
        writer.u32(len(self.names))
        for name in self.names:
            writer.string(name)


@dataclass(slots=True)
class LodPath:
    """The model that stands in at a distance; ``line_end`` as the file ends the path."""

    path: bytes
    line_end: bytes = b"\r\n"

    @classmethod
    def read(cls, reader: Reader) -> LodPath:
        text = bytes(reader.data[reader.position : reader.position + 4096])
        for end in (b"\r\n", b"\n", b"\0"):
            path, found, _ = text.partition(end)
            if found:
                reader.take(len(path) + len(end))
                return cls(path, end)
        raise reader.error("the path of the distant model does not end")

    def write(self, writer: Writer) -> None:
        writer.raw(self.path + self.line_end)
