"""An `.anm` in words: a summary, a complete dump for text tools, and what differs between two."""

from __future__ import annotations

from collections.abc import Iterator

from ..channels import NAMES
from ..chunks import chunk_heading
from ..envelopes import dump_envelope, envelope_differences, shape_counts
from .document import FILE_ORDER, Animation, Anm


def describe(document: Anm) -> list[str]:
    """A few lines for people."""
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


def dump(document: Anm) -> Iterator[str]:
    """Everything, a key a line, channels in the file's order."""
    for section in document.sections:
        yield chunk_heading(section.chunk)
        if section.value is None:
            yield f"  bytes {bytes(section.chunk.body).hex()}"
        else:
            yield from (f"  {line}" for line in _dump_animation(section.value))
    if len(document.tail):
        yield f"tail {bytes(document.tail).hex()}"


def _dump_animation(animation: Animation) -> Iterator[str]:
    yield f"name {animation.label!r}"
    yield f"frames {animation.first} to {animation.last}"
    yield f"fps {animation.fps}"
    yield f"version {animation.version}"
    for channel in FILE_ORDER[animation.version]:
        heading, *keys = dump_envelope(animation.envelopes[channel])
        yield f"channel {NAMES[channel]} {heading}"
        yield from keys
    if len(animation.tail):
        yield f"bytes {bytes(animation.tail).hex()}"


def differences(first: Anm, second: Anm) -> Iterator[str]:
    """What differs: fields, then channels by name (the order of two versions does not count)."""
    one, other = first.animation, second.animation
    for field in ("version", "name", "first", "last", "fps"):
        a, b = getattr(one, field), getattr(other, field)
        if a != b and not (a != a and b != b):  # noqa: PLR0124 (NaN)
            shown = (one.label, other.label) if field == "name" else (a, b)
            yield f"{field}: {shown[0]!r} / {shown[1]!r}" if field == "name" else f"{field}: {a} / {b}"
    for name, a, b in zip(NAMES, one.envelopes, other.envelopes, strict=True):
        yield from (f"channel {name}: {line}" for line in envelope_differences(a, b))
    if one.tail != other.tail:
        yield "bytes behind the channels differ"
    ids = [[section.chunk.id for section in document.sections] for document in (first, second)]
    if ids[0] != ids[1]:
        yield f"chunks: {' '.join(map(hex, ids[0]))} / {' '.join(map(hex, ids[1]))}"
    for a, b in zip(first.sections, second.sections, strict=False):
        if a.value is None and b.value is None and a.chunk.body != b.chunk.body:
            yield f"chunk {a.chunk.id:#x}: its bytes differ"
    if first.tail != second.tail:
        yield "bytes behind the last chunk differ"
