"""`.anm`: animations of cameras, anomalies and weapon inertia: chunk 0x1100 with one animation of six channels.

Source: the engine's ``Motion.cpp`` and ``ObjectAnimator.cpp``. Versions 3, 4 and 5 occur; 3 stores full floats, the
others packed keys (`envelopes`). In version 4 the channel P is before H.

The engine rotates an object by ``setXYZi`` of P, H, B: in column form Ry(H)·Rx(P)·Rz(B). Exchanging y and z on both
sides gives Rz(-H)·Rx(-P)·Ry(-B), which is Blender's Euler order YXZ (y is applied first) with x = -P, y = -B, z = -H.
So each of Blender's channels is one of the file's, at most with another sign, and nothing is sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...core import names
from ...core.binary import Bytes, Reader, Writer
from ...core.changes import Changes, Item, Noun, Part
from ...core.errors import ReadError, WriteError
from ...core.model import Channels, Path
from ...core.report import Message, Report, joined, say
from ...core.walk import Entries, View, Views, fields
from .chunks import CHUNK_VIEWS, Section, listed, section_view, starts_like_chunks
from .contents import Contents, read_contents, unknown_size, write_contents
from .envelopes import (
    ENVELOPE_VIEWS,
    NAMES,
    OBJECT,
    StoredEnvelope,
    are_sound,
    check,
    decode_channels,
    encode_channels,
    read_old,
    read_packed,
    shape_counts,
    usable_rate,
    write_envelope,
)

ANIMATION = 0x1100
VERSIONS = (3, 4, 5)
FLOAT_VERSION = 3
"""The version that stores full floats; every engine and editor reads it."""
FILE_ORDER = {3: (0, 1, 2, 3, 4, 5), 4: (0, 1, 2, 4, 3, 5), 5: (0, 1, 2, 3, 4, 5)}
"""Version -> index of the channel (X Y Z H P B) at each position in the file."""
LONGEST_TIME = 1e7
"""Largest time of a key in seconds; the longest camera paths of the games last minutes."""


@dataclass(slots=True)
class Animation:
    """The game plays frames ``first`` to ``last`` at ``fps``; keys are in seconds and may be outside that range.

    ``envelopes``: the channels X Y Z H P B, in this order for every version; ``tail`` are the bytes after them.
    """

    name: bytes
    first: int
    last: int
    fps: np.float32
    version: int
    envelopes: list[StoredEnvelope]
    tail: Bytes = b""

    @property
    def label(self) -> str:
        """The name as text."""
        return names.decode(self.name)

    @property
    def rate(self) -> float:
        """Frames per second; 30 if the file's number is unusable."""
        return usable_rate(self.fps)

    @property
    def frame(self) -> float:
        """The length of a frame in seconds."""
        return 1.0 / self.rate


class Anm(Contents):
    """The whole file: its chunks in order; the first 0x1100 has a value."""

    __slots__ = ()

    @property
    def animation(self) -> Animation:
        """The animation of the file."""
        return self.all(Animation)[0]

    def with_animation(self, changed: Animation) -> Anm:
        """Return the same file with its animation replaced."""
        return self.replaced(self.animation, changed)


def new_anm(animation: Animation) -> Anm:
    """Return a new file."""
    return Anm.of([(ANIMATION, animation)])


# Bytes <-> document ---------------------------------------------------------------------------------------------------

starts_like = starts_like_chunks(ANIMATION)


def read(data: bytes, file: str, report: Report) -> Anm:
    """Read the document of an `.anm`. Raises `ReadError`."""
    reader = Reader.of_file(data, file)
    document = read_contents(Anm, reader, report, {ANIMATION: read_animation}.get, once=True)
    if document.first(Animation) is None:
        chunks = [section.chunk for section in document.sections]
        raise ReadError(
            say("no chunk {:#x} (an object's animation); found: {}", ANIMATION, listed(chunks)),
            file=file,
            remedy="Check that this is an .anm of S.T.A.L.K.E.R. and that it was copied whole",
        )
    return document


def write(document: Anm) -> bytes:
    """Return the file's bytes. Raises `WriteError` if a channel is not in the layout of the animation's version."""
    return write_contents(document, write_animation)


recompose = write
"""The same as `write`, which already writes all typed values from their fields."""


def read_animation(reader: Reader, report: Report) -> Animation:
    """Read the body of the chunk. Raises `ReadError` for unknown versions and misaligned data."""
    name = reader.string("the animation's name")
    first, last = reader.i32("the first frame"), reader.i32("the last frame")
    fps = reader.f32("the frames per second")
    version = reader.u16("the version")
    if version not in VERSIONS:
        raise reader.error(say("animations of version {} are unknown (known: 3 to 5)", version))
    animation = Animation(name, first, last, fps, version, [])
    envelopes = {}
    for channel in FILE_ORDER[version]:
        what = say("channel {}", NAMES[channel])
        envelopes[channel] = read_old(reader, what) if version == FLOAT_VERSION else read_packed(reader, what)
        _refuse_misaligned(reader, envelopes[channel].keys["time"], what)
    animation.envelopes = [envelopes[channel] for channel in range(len(NAMES))]
    if not are_sound(animation.envelopes):
        for channel, envelope in envelopes.items():
            check(envelope, NAMES[channel], report)
    animation.tail = reader.rest()
    if len(animation.tail):
        report.warn(say("{:# extra byte|# extra bytes} after the channels; kept", len(animation.tail)), reader.chunk)
    if not (np.isfinite(fps) and fps >= 1e-3):
        words = "{} is not a valid frame rate; 30 frames per second are used, the value is kept"
        report.warn(say(words, fps), reader.chunk)
    return animation


def write_animation(animation: Animation) -> bytes:
    """Return the body of the chunk. Raises `WriteError` if a channel is not in the layout of the version."""
    writer = Writer()
    writer.string(animation.name)
    writer.i32(animation.first)
    writer.i32(animation.last)
    writer.f32(animation.fps)
    writer.u16(animation.version)
    for channel in FILE_ORDER[animation.version]:
        envelope = animation.envelopes[channel]
        if envelope.packed == (animation.version == FLOAT_VERSION):
            raise WriteError(say("channel {} is not in the layout of version {}", NAMES[channel], animation.version))
        write_envelope(writer, envelope)
    writer.raw(animation.tail)
    return writer.getvalue()


def _refuse_misaligned(reader: Reader, times: np.ndarray, what: str) -> None:
    """Raise `ReadError` for keys later than `LONGEST_TIME`.

    Misaligned bytes read as arbitrary floats, such as times of years.
    """
    with np.errstate(invalid="ignore"):
        too_late = np.flatnonzero(np.abs(times) > LONGEST_TIME)
    if len(too_late):
        raise reader.error(
            say("{} has a key at {:g} seconds: its data is misaligned", what, times[too_late[0]]),
            "A text tool has damaged the file: copy it again from its source",
        )


def raw_size(document: Anm) -> int:
    """Return the number of bytes that are kept without knowing their meaning."""
    return unknown_size(document, lambda animation: len(animation.tail))


# Document <-> model ---------------------------------------------------------------------------------------------------


def decode(document: Anm, report: Report) -> Path:
    """Return the animation as curves in Blender's axes."""
    animation = document.animation
    curves = decode_channels(animation.envelopes, OBJECT, animation.frame, "", report)
    return Path(
        animation.label,
        animation.rate,
        animation.first,
        animation.last,
        Channels(curves[:3], curves[3:]),
    )


def encode(path: Path, base: Anm | None = None, *, version: int | None = None) -> tuple[Anm, Changes]:
    """Return ``base`` with this path, or a new file, and what changed.

    ``version`` is 3, 4 or 5; the default is that of the base, for a new file 3, which stores handles exactly. Raises
    `WriteError` for an unknown version, another rotation order, an unusable frame rate, and channels that do not fit.
    """
    old = base.animation if base is not None else None
    if version is None:
        version = old.version if old is not None else FLOAT_VERSION
    if version not in VERSIONS:
        raise WriteError(say("there is no version {} of .anm files", version), remedy="Known: 3, 4, 5")
    if path.rotation_order != path.__class__.rotation_order:
        words = "the rotation is in the order {}"
        raise WriteError(say(words, path.rotation_order), remedy="The game's is YXZ: convert it")
    frame = old.frame if old is not None else 1.0 / _checked_rate(path.fps)
    envelopes, changes = encode_channels(
        list(path.channels),
        old.envelopes if old is not None else None,
        OBJECT,
        frame,
        "",
        to_packed=version != FLOAT_VERSION,
    )
    result = Animation(names.encode(path.name), path.first, path.last, np.float32(path.fps), version, envelopes)
    if old is None or base is None:
        _checked_rate(path.fps)
        return new_anm(result), _changes(changes, [], new=say("a new path"))
    fields = _keep_unedited_fields(result, path, old)
    if not fields and not changes:
        return base, _changes([], [])
    return base.with_animation(result), _changes(changes, fields)


def _checked_rate(fps: float) -> float:
    if not (np.isfinite(fps) and fps >= 1e-3):
        raise WriteError(say("a frame rate of {} cannot be written", fps), remedy="Give the path a frame rate")
    return fps


def _changes(channels: Sequence[Item], fields: Sequence[Message], new: Message | None = None) -> Changes:
    """Return what an encoding changed: channels and fields (name, frames, fps, version), or all of a new file."""
    keys = sum(channel.keys for channel in channels)
    return Changes(
        {"": list(fields)},
        parts=[Part(channel.name, Noun.CHANNEL, items=(channel,)) for channel in channels],
        unchanged=6 - len(channels),
        new=new,
        noun=Noun.CHANNEL,
        extent=None if new else say("{:# key|# keys} ({})", keys, joined(channel.name for channel in channels)),
    )


def _keep_unedited_fields(result: Animation, path: Path, old: Animation) -> list[Message]:
    """Copy the stored fields of the base that were not edited into ``result``; return the others."""
    result.tail = old.tail
    fields = []
    if path.name == old.label:
        result.name = old.name
    else:
        fields.append(say("name"))
    if (path.first, path.last) != (old.first, old.last):
        fields.append(say("frames"))
    if np.float32(path.fps) == np.float32(old.rate):
        result.fps = old.fps
    else:
        _checked_rate(path.fps)
        fields.append(say("fps"))
    if result.version != old.version:
        fields.append(say("version"))
    return fields


def converted(document: Anm, report: Report, *, version: int) -> Anm:
    """Return the same animation in another version; losses of 16-bit handles are reported. Raises `WriteError`."""
    result, changes = encode(decode(document, Report()), document, version=version)
    metres, radians = changes.worst_errors()
    if metres or radians:
        words = "version {} stores handles in steps of 0.98 ms: the motion changes by at most {:.3g} mm and {:.3g}°"
        report.note(say(words, version, 1000 * metres, radians * 57.29578))
    return result


CONVERSIONS: dict[str, Callable[[Anm, Report], Anm]] = {
    str(version): partial(converted, version=version) for version in VERSIONS
}
"""Conversions by the name of the result: the number of the version."""


# Text output ----------------------------------------------------------------------------------------------------------


def describe(document: Anm) -> list[str]:
    """Return a summary in a few lines."""
    animation = document.animation
    named = f"{animation.label!r}, " if animation.name else ""
    seconds = (animation.last - animation.first) * animation.frame
    keys = "  ".join(f"{name} {len(envelope.keys)}" for name, envelope in zip(NAMES, animation.envelopes, strict=True))
    played = f"frames {animation.first} to {animation.last} at {animation.fps:g} a second ({seconds:.2f} s)"
    return [
        f"{named}version {animation.version}, {played}",
        f"keys: {keys}",
        f"shapes: {shape_counts(animation.envelopes)}",
    ]


def _entries(animation: Animation) -> Entries:
    yield from fields(animation, "envelopes")
    yield "channel", dict(zip(NAMES, animation.envelopes, strict=True))


VIEWS: Views = {
    **CHUNK_VIEWS,
    **ENVELOPE_VIEWS,
    Section: section_view({Animation: ""}),
    Animation: View(entries=_entries),
}
