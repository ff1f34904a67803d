"""Detail models as objects: of a `.dm` of their own, or of a level's `.details`.

Where such an object stands says nothing: its origin is the point that stands in the ground.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ....blender import mesh as meshes
from ....blender.mesh import positions_of
from ....blender.properties import keep
from ....core.model import FILE_VERTEX, Attribute, Domain
from ....core.report import Report
from ....formats.xray import dm
from ....formats.xray.dm import Dm
from ..game_tree import GameTree
from . import materials as level_materials

LEAST_STEP = 1.0
"""Metres between the origins of models that are laid out, at least."""


def build(document: Dm, tree: GameTree, report: Report, *, textures: bool = True, name: str = "") -> Any:
    """The object of a model, linked nowhere yet, which remembers its bytes. ``name``, else the file's.

    Textures, if they are wanted, are looked for in ``tree``, which remembers the folders it has seen.
    """
    mesh = dm.decode(document, report, name)
    mesh.attributes[FILE_VERTEX] = Attribute(Domain.VERTEX, np.arange(len(mesh.positions), dtype=np.int32))
    materials = [level_materials.textured(one, tree, textures, report) for one in mesh.materials]
    shown = meshes.build(mesh, materials, report, flat=True)
    properties, said = shown.motionbridge_level, document.properties
    properties.waving, properties.min_scale, properties.max_scale = said.waving, said.min_scale, said.max_scale
    properties.kind = "DM"
    shown.color = level_materials.DETAIL_MODEL
    keep(properties, "document", dm.write(document))
    return shown


def lay_out(models: Iterable[Any], start: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
    """Put models side by side along x, none over another, the first one's origin at ``start``."""
    edge = None
    for shown in models:
        positions = positions_of(shown.data)[:, 0].astype(np.float64)
        positions = positions[np.isfinite(positions)]
        low, high = (min(positions.min(), 0.0), max(positions.max(), 0.0)) if len(positions) else (0.0, 0.0)
        place = 0.0 if edge is None else edge + max(LEAST_STEP / 2 - low, LEAST_STEP)
        shown.location = (start[0] + place, start[1], start[2])
        edge = place + max(high, 0.0)
