"""What stands at places of a level as empties: particle effects, weather, sounds, spawned objects, by their names."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ....core import names, space, text
from ....core.report import Report
from ....formats.xray import env_mod, ps_static, snd_static, spawn
from ....formats.xray.placed import Placed
from ..options import LevelImportOptions
from .file import ImportedLevelFile

FILES: dict[str, tuple[str, ModuleType, str]] = {
    "ps_static": ("PARTICLES", ps_static, "ARROWS"),
    "env_mod": ("WEATHER", env_mod, "SPHERE"),
    "snd_static": ("SOUNDS", snd_static, "SINGLE_ARROW"),
    "spawn": ("SPAWNED", spawn, "PLAIN_AXES"),
}
"""Format -> kind of what it becomes, module, what empties look like."""
_EXCHANGED = [0, 2, 1, 3]


def read(name: str, data: bytes, path: Path, _options: LevelImportOptions, report: Report) -> ImportedLevelFile:
    """An empty for each entry of a file of one of `FILES`. Raises `ReadError`."""
    kind, module, looks = FILES[name]
    document: Placed = module.read(data, str(path), report)
    shown = []
    for number, (words, row) in enumerate(zip(document.words, document.after, strict=True)):
        title = " ".join(filter(None, map(names.decode, words))) or f"{document.layout.what} {number:03}"
        made: Any = bpy.data.objects.new(title, None)
        made.empty_display_type = looks
        made.motionbridge_level.row = number
        _place(made, row)
        shown.append(made)
    return ImportedLevelFile(kind, path.name, None, shown, text.counted(len(shown), document.layout.what))


def _place(made: Any, row: np.void) -> None:
    """Put an empty where an entry says; what is NaN or infinite in a broken file counts as 0."""
    fields = row.dtype.names or ()
    if "transform" in fields:
        stored = np.nan_to_num(row["transform"].astype(np.float64), posinf=0.0, neginf=0.0)
        made.matrix_world = Matrix(stored.T[np.ix_(_EXCHANGED, _EXCHANGED)].tolist())
        return
    position = np.nan_to_num(row["position"].astype(np.float64), posinf=0.0, neginf=0.0)
    made.location = space.xray_points(position).tolist()
    if "radius" in fields:
        radius = float(row["radius"])
        made.empty_display_size = radius if np.isfinite(radius) and radius > 0 else 1.0
