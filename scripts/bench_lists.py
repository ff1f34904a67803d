"""Working on a long list of motions, and the least that each of it costs.

The motions are those of scripts/bench_library.py, all of one file.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import bpy
from bench_level import seconds_of
from bench_library import made_skeleton

from addon.blender import armature
from addon.core.report import Report
from addon.games.xray.motions import edit as motion_edit
from addon.games.xray.motions import library, omf_codec
from addon.games.xray.motions.omf_codec import MotionImportOptions
from addon.ui import listed_actions
from addon.ui.xray.motion_panels import MOTIONBRIDGE_UL_motions

REDRAWS = 50
ROWS_DRAWN = 34
"""Questions for the active row in each redraw."""


def _rig(motions: str) -> Any:
    rig, _ = armature.build(bpy.context, made_skeleton())
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    library.import_motions(omf_codec.OMF, bpy.context, rig, motions, options=MotionImportOptions(), report=Report())
    return rig


def update_status(motions: str) -> float:
    """Every motion compared with its file, none edited."""
    rig = _rig(motions)
    listed = library.motions_of(rig.motionbridge_motion_files[0])
    return seconds_of(lambda: motion_edit.update_status(bpy.context, rig, listed, Report()))


def redraw_list(motions: str) -> float:
    """One redraw of the list of motions, filtered by a name: rows, and which of them plays."""
    rig = _rig(motions)
    drawn = SimpleNamespace(pattern="motion_00", regular=False, edited=False, filter_name="", bitflag_filter_item=1)
    layout = SimpleNamespace(template_list=lambda *_, **__: _ask(rig))

    def work() -> None:
        for _ in range(REDRAWS):
            MOTIONBRIDGE_UL_motions.filter_items(drawn, bpy.context, bpy.data, "actions")
            listed_actions.draw(layout, "MOTIONBRIDGE_UL_motions", rig)

    return seconds_of(work) / REDRAWS


def _ask(rig: Any) -> None:
    for _ in range(ROWS_DRAWN):
        listed_actions.number_drawn(rig)


def redraw_stock_list(motions: str) -> float:
    """The floor of a redraw: the same actions in a list of Blender's own, filtered by a name."""
    _rig(motions)
    by_name = bpy.types.UI_UL_list.filter_items_by_name

    def work() -> None:
        for _ in range(REDRAWS):
            by_name("motion_00", 1, bpy.data.actions, "name")

    return seconds_of(work) / REDRAWS


MEASUREMENTS = (update_status, redraw_list, redraw_stock_list)
