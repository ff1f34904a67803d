"""Links between the nodes of an AI map as edges, on demand: there are four times as many as nodes."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ....blender import mesh as meshes
from ....blender.properties import kept
from ....core.model import Mesh
from ....core.report import Report
from ....formats.xray import level_ai

BOTH_WAYS, ONE_WAY = (0.3, 0.8, 0.9, 1.0), (0.95, 0.2, 0.1, 1.0)
LINKS = "motionbridge_ai_links"
"""Property of an object that shows links: whether they lead one way."""


def show(shown: Any) -> tuple[int, int]:
    """Make the links of an AI map's object anew, below it; how many lead both ways, and how many one way.

    Raises `ReadError`.
    """
    hide(shown)
    document = level_ai.read(kept(shown.motionbridge_level, "document"), shown.motionbridge_level.path, Report())
    positions, both, one = level_ai.link_edges(document)
    for edges, is_one_way in ((both, False), (one, True)):
        if not len(edges):
            continue
        # Only nodes with such a link: the others would be loose vertices.
        used, index = np.unique(edges, return_inverse=True)
        name = f"{shown.name} {'one-way links' if is_one_way else 'links'}"
        made: Any = meshes.build(
            Mesh(name, positions[used], np.zeros((0, 3), np.int32), edges=index.reshape(-1, 2).astype(np.int32)),
            [],
            Report(),
        )
        made[LINKS] = is_one_way
        made.color = ONE_WAY if is_one_way else BOTH_WAYS
        made.parent = shown
        for collection in shown.users_collection:
            collection.objects.link(made)
    return len(both), len(one)


def hide(shown: Any) -> bool:
    """Delete the links of an AI map's object; whether there were any."""
    there = of(shown)
    datas = [one.data for one in there]
    bpy.data.batch_remove([*there, *(data for data in datas if data is not None and data.users <= 1)])
    return bool(there)


def of(shown: Any) -> list[Any]:
    """The objects that show the links of an AI map."""
    return [one for one in shown.children if LINKS in one]
