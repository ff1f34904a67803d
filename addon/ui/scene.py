"""The scene around what was imported: its frame rate and length, and how far its 3D views show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ..blender import action as blender_action
from ..core.report import Report
from .operation import Outcome
from .translations import said

if TYPE_CHECKING:
    from ..blender.typed import Action, Context, Object


FAR = 4.0
"""How many times the size of what is seen as a whole its farthest point may be away, with a usual lens."""
DEPTHS = 1e5
"""Far end by near end, as Blender's own: with more of it, faces that lie close to each other flicker."""


def show_far(context: Context, objects: Sequence[Object], report: Report) -> None:
    """Let the 3D views of the open workspaces show the objects as a whole, where they are too large for that.

    Views are never made to show less, and cameras stay as they are.
    """
    needed = FAR * _size(objects)
    near = [view for view in _views(context) if view.clip_end < needed]
    for view in near:
        view.clip_end = needed
        view.clip_start = max(view.clip_start, needed / DEPTHS)
    if near:
        report.note(f"3D views show up to {needed:.0f} m now (View > Clip End), to show the whole level")


def _views(context: Context) -> Iterator[bpy.types.SpaceView3D]:
    # Not the screen of the context: while a file browser fills the window, the view lies behind it, in the same area.
    for window in context.window_manager.windows:
        for screen in {window.screen, *window.workspace.screens}:
            for area in screen.areas:
                yield from (space for space in area.spaces if space.type == "VIEW_3D")


def _size(objects: Sequence[Object]) -> float:
    """Metres from corner to corner of the box around meshes."""
    users: dict[Any, list[Any]] = {}
    for shown in objects:
        if shown.type == "MESH" and len(shown.data.vertices):
            users.setdefault(shown.data, []).append(shown)
    if not users:
        return 0.0
    corners = np.concatenate([_corners(sharing) for sharing in users.values()])
    size = np.linalg.norm(corners.max(axis=0) - corners.min(axis=0))
    return float(size) if np.isfinite(size) else 0.0


def _corners(sharing: list[Object]) -> Any:
    """(8 objects, 3) corners of the boxes of objects that share one mesh, which is measured once."""
    places = np.array([shown.matrix_world for shown in sharing], np.float64)
    with np.errstate(invalid="ignore", over="ignore"):  # vertices of broken files
        turned = np.array(sharing[0].bound_box, np.float64) @ np.swapaxes(places[:, :3, :3], 1, 2)
        return (turned + places[:, None, :3, 3]).reshape(-1, 3)


def match_scene(context: Context, rate: float, frames: Any) -> None:
    """Let the scene have the rate and the length of what has these first and last ``frames``."""
    scene = context.scene
    scene.render.fps = max(round(rate), 1)
    scene.render.fps_base = scene.render.fps / rate
    scene.frame_start, scene.frame_end = (round(frame) for frame in frames)


def frames_said(context: Context) -> Outcome:
    """From where to where the scene goes now."""
    scene = context.scene
    return Outcome(said("Frames {} to {}").format(scene.frame_start, scene.frame_end))


def note_other_rates(
    context: Context, actions: list[Action], rate_of: Callable[[Any], float], noun: str, report: Report
) -> None:
    """Say of which actions the game has another rate than the scene; ``noun`` is what the game calls them."""
    rate = blender_action.frames_per_second(context.scene)
    for action in actions:
        own = rate_of(action)
        if abs(rate - own) > 1e-3:
            report.note(
                f"the scene plays {rate:g} frames per second, the {noun} {own:g}; frames are not converted",
                action.name,
            )
