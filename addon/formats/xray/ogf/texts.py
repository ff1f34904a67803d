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
    """Where the model came from. Times are seconds since 1970, of ``time_size`` bytes (4; 8 in later 64-bit builds).

    Mods that protect their models break this chunk: the fields it is too short for are None.
    """

    source: bytes | None = None
    tool: bytes | None = None
    exported: int | None = None
    creator: bytes | None = None
    created: int | None = None
    modifier: bytes | None = None
    modified: int | None = None
    time_size: int = 4

    @property
    def complete(self) -> bool:
        """Whether every field is there."""
        return self.modified is not None

    @classmethod
    def read(cls, reader: Reader) -> Description:
        """With the size of times that makes the chunk end where it should; the short one where none does."""
        start = reader.position
        for size in (4, 8):
            found = cls._read(reader, size)
            if found.complete and not reader.remaining:
                return found
            reader.position = start
        return cls._read(reader, 4)

    @classmethod
    def _read(cls, reader: Reader, size: int) -> Description:
        found = cls(time_size=size)
        start = reader.position
        try:
            for name in DESCRIPTION_FIELDS:
                start = reader.position
                if name in _TIMES:
                    setattr(found, name, int.from_bytes(reader.take(size, "a time"), "little"))
                else:
                    setattr(found, name, reader.string("a name"))
        except ReadError:
            reader.position = start
        return found

    def write(self, writer: Writer) -> None:
        for name in DESCRIPTION_FIELDS:
            value = getattr(self, name)
            if isinstance(value, bytes):
                writer.string(value)
            elif value is not None:
                writer.u32(value & 0xFFFF_FFFF if self.time_size == 8 else value)
                if self.time_size == 8:
                    writer.u32(value >> 32)


DESCRIPTION_FIELDS = ("source", "tool", "exported", "creator", "created", "modifier", "modified")
"""In the file's order."""
_TIMES = ("exported", "created", "modified")


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
