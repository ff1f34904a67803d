"""An `.oof` of an older version as one of version 2300."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ....core.report import Report
from . import surface
from .animation import TIMED_SINCE, PositionTracks, RotationTracks
from .decoding import decode
from .document import NEWEST, Oof, Value
from .encoding import encode
from .faces import SIZES_SINCE, Faces
from .geometry import ALPHA_SINCE, SubObject
from .points import POINT, GunPoints


def to_newest(document: Oof, report: Report) -> Oof:
    """The same model with all that version 2300 has besides; keys without times are written anew. Raises errors."""
    sections = [replace(section, value=_newer(section.value, document)) for section in document.sections]
    if document.major >= TIMED_SINCE:
        return replace(document, version=NEWEST, sections=sections)
    still = [section for section in sections if not isinstance(section.value, RotationTracks | PositionTracks)]
    if len(still) == len(sections):
        return replace(document, version=NEWEST, sections=sections)
    result, changes = encode(decode(document, report), replace(document, version=NEWEST, sections=still))
    report.note("keys had no times: a tick is now what one key was apart from the next in the longest track")
    for line in changes.left_out:
        report.warn(line)
    return result


def _newer(value: Value | None, document: Oof) -> Value | None:
    if isinstance(value, SubObject):
        alphas = value.alphas if document.major >= ALPHA_SINCE else np.ones(len(value.positions), np.float32)
        return replace(value, alphas=alphas, faces=_with_sizes(value, document.major))
    if isinstance(value, GunPoints) and "parent" not in (value.rows.dtype.names or ()):
        rows = np.zeros(len(value.rows), POINT)
        rows["position"], rows["direction"] = value.rows["position"], value.rows["direction"]
        return GunPoints(rows)
    return value


def _with_sizes(part: SubObject, major: int) -> Faces:
    faces = part.faces
    corners = faces.corners["vertex"]
    there = len(corners) == 0 or bool((corners.min() >= 0) and (corners.max() < len(part.positions)))
    if major >= SIZES_SINCE or not there:
        return faces
    rows = faces.rows.copy()
    rows["sizes"] = surface.face_sizes(part.positions, rows["normal"], faces.counts, corners)
    return Faces(rows, faces.counts, faces.corners)


CONVERSIONS: dict[str, Callable[[Oof, Report], Oof]] = {str(NEWEST): to_newest}
"""By the name of what comes out: a version's number."""
