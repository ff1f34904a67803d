"""A `.bones` in words: a summary, a complete dump for text tools, and what differs between two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from ....core import names
from ..chunks import chunk_heading
from .document import Bone, Bones, Mass, Parts

TITLES = {
    1: "version",
    2: "naming",
    3: "placement",
    4: "material",
    5: "shape",
    6: "joint",
    7: "mass",
    8: "joint flags",
    9: "breaking",
    0x10: "friction",
}


def describe(document: Bones) -> list[str]:
    """A few lines for people."""
    bones = document.bones
    masses = [found.mass for bone in bones if (found := bone.first(Mass)) is not None]
    with np.errstate(all="ignore"):  # masses of broken files may be none
        mass = float(np.sum(masses, dtype=np.float64))
    parts = ", ".join(f"{names.decode(part.name)} ({len(part.bones)} bones)" for part in document.parts)
    return [
        f"{len(bones)} bones, {mass:g} kg",
        f"bones: {', '.join(bone.name for bone in bones)}",
        f"parts: {parts or 'none'}",
    ]


def dump(document: Bones) -> Iterator[str]:
    """Everything, a value a line."""
    for section in document.sections:
        yield chunk_heading(section.chunk)
        if isinstance(section.value, Bone):
            yield from (f"  {line}" for line in _dump_bone(section.value))
        elif isinstance(section.value, Parts):
            for part in section.value.parts:
                yield f"  part {names.decode(part.name)!r}: {', '.join(map(names.decode, part.bones))}"
        else:
            yield f"  bytes {bytes(section.chunk.body).hex()}"
    if len(document.tail):
        yield f"tail {document.tail.hex()}"


def _dump_bone(bone: Bone) -> Iterator[str]:
    for section in bone.sections:
        yield chunk_heading(section.chunk)
        if section.value is None:
            yield f"  bytes {bytes(section.chunk.body).hex()}"
            continue
        for name, value in _numbers(section.value):
            yield f"  {TITLES[section.chunk.plain_id]} {name} {value}"
    if len(bone.tail):
        yield f"tail {bone.tail.hex()}"


def _numbers(value: Any) -> Iterator[tuple[str, str]]:
    """The fields of a typed chunk as text; a float is the shortest text that names it."""
    for each in fields(value):
        number = getattr(value, each.name)
        if number is None:
            continue
        if isinstance(number, np.ndarray):
            yield each.name, " ".join(_float(one) for one in number.ravel())
        elif isinstance(number, np.float32):
            yield each.name, _float(number)
        elif isinstance(number, list):
            yield each.name, ", ".join(repr(names.decode(text)) for text in number)
        else:
            yield each.name, repr(names.decode(number)) if isinstance(number, bytes) else str(number)


def _float(number: np.float32) -> str:
    return f"nan:{number.tobytes().hex()}" if np.isnan(number) else str(number)


def differences(first: Bones, second: Bones) -> Iterator[str]:
    """What differs, bone by bone, by name."""
    ones = {bone.name: bone for bone in first.bones}
    others = {bone.name: bone for bone in second.bones}
    if list(ones) != list(others):
        yield f"bones: {', '.join(ones)} / {', '.join(others)}"
    for name, one in ones.items():
        if name in others:
            lines = [list(_dump_bone(bone)) for bone in (one, others[name])]
            yield from (f"bone {name!r}: {line}" for line in _pairs(*lines))
    parts = [[(part.name, part.bones) for part in document.parts] for document in (first, second)]
    if parts[0] != parts[1]:
        yield f"parts: {len(parts[0])} / {len(parts[1])}, or their bones"


def _pairs(ones: list[str], others: list[str]) -> Iterator[str]:
    if len(ones) != len(others):
        yield "it has other properties"
        return
    for one, other in zip(ones, others, strict=True):
        if one != other:
            yield f"{one.strip()} / {other.strip()}"
