"""An object's animation as a `Path` and back.

The engine turns an object by ``setXYZi`` of P, H, B: in column form Ry(H)·Rx(P)·Rz(B). Exchanging y and z on both sides
gives Rz(-H)·Rx(-P)·Ry(-B), which is Blender's Euler order YXZ (y turns first) with x = -P, y = -B, z = -H. So every
channel is one of the file's with a sign at most, and nothing is sampled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....core import names
from ....core.errors import WriteError
from ....core.model import Channels, Path
from ....core.report import Report
from ....core.text import counted
from ..channels import OBJECT, ChannelChange, decode_channels, encode_channels
from .document import FLOATS, VERSIONS, Animation, Anm, new_anm


@dataclass(frozen=True)
class PathChanges:
    """What of a file an encoding changed: ``channels``, ``fields`` (name, frames, fps, version), or all of it."""

    new: bool
    channels: tuple[ChannelChange, ...]
    fields: tuple[str, ...]

    @property
    def any(self) -> bool:
        """Whether anything changed."""
        return bool(self.new or self.channels or self.fields)

    def worst_errors(self) -> tuple[float, float]:
        """How far, at most, the stored motion lies from the one asked for: metres and radians."""
        metres = [change.error for change in self.channels if change.channel in "XYZ"]
        radians = [change.error for change in self.channels if change.channel not in "XYZ"]
        return max(metres, default=0.0), max(radians, default=0.0)

    def sentence(self) -> str:
        """``channels X, H changed (3 keys); name changed; 4 channels untouched``."""
        if self.new:
            return "a new path"
        parts = []
        if self.channels:
            keys = sum(change.keys for change in self.channels)
            noun = "channel" if len(self.channels) == 1 else "channels"
            which = ", ".join(change.channel for change in self.channels)
            parts.append(f"{noun} {which} changed ({keys} {'key' if keys == 1 else 'keys'})")
        if self.fields:
            parts.append(f"{', '.join(self.fields)} changed")
        return "; ".join([*parts, f"{counted(6 - len(self.channels), 'channel')} untouched"])


def decode(document: Anm, report: Report) -> Path:
    """The animation as curves in Blender's axes."""
    animation = document.animation
    curves = decode_channels(animation.envelopes, OBJECT, animation.frame, "", report)
    return Path(
        animation.label,
        animation.rate,
        animation.first,
        animation.last,
        Channels(curves[:3], curves[3:]),
    )


def encode(path: Path, base: Anm | None = None, *, version: int | None = None) -> tuple[Anm, PathChanges]:
    """``base`` with this path in it, or a new file; and what is no longer the base's.

    ``version`` 3, 4 or 5; default the base's, for a new file 3, which stores handles exactly. Raises `WriteError`.
    """
    old = base.animation if base is not None else None
    if version is None:
        version = old.version if old is not None else FLOATS
    if version not in VERSIONS:
        raise WriteError(f"there is no version {version} of .anm files", remedy="Known: 3, 4, 5")
    if path.rotation_order != path.__class__.rotation_order:
        raise WriteError(f"the rotation is in the order {path.rotation_order}", remedy="The game's is YXZ: convert it")
    frame = old.frame if old is not None else 1.0 / _checked_rate(path.fps)
    envelopes, changes = encode_channels(
        list(path.channels),
        old.envelopes if old is not None else None,
        OBJECT,
        frame,
        "",
        to_packed=version != FLOATS,
    )
    result = Animation(names.encode(path.name), path.first, path.last, np.float32(path.fps), version, envelopes)
    if old is None or base is None:
        _checked_rate(path.fps)
        return new_anm(result), PathChanges(True, tuple(changes), ())
    fields = _settle_fields(result, path, old)
    if not fields and not changes:
        return base, PathChanges(False, (), ())
    return base.with_animation(result), PathChanges(False, tuple(changes), tuple(fields))


def _checked_rate(fps: float) -> float:
    if not (np.isfinite(fps) and fps >= 1e-3):
        raise WriteError(f"{fps} frames a second cannot be written", remedy="Give the path a frame rate")
    return fps


def _settle_fields(result: Animation, path: Path, old: Animation) -> list[str]:
    """Take the base's bits where they still mean what the path says; the names of the fields that do not."""
    result.tail = old.tail
    fields = []
    if path.name == old.label:
        result.name = old.name
    else:
        fields.append("name")
    if (path.first, path.last) != (old.first, old.last):
        fields.append("frames")
    if np.float32(path.fps) == np.float32(old.rate):
        result.fps = old.fps
    else:
        _checked_rate(path.fps)
        fields.append("fps")
    if result.version != old.version:
        fields.append("version")
    return fields
