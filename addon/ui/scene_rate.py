"""The scene beside what plays in it: its frame rate and its length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..blender import action as blender_action
from ..core.report import Report
from .operation import Outcome
from .translations import said


def match_scene(context: Any, rate: float, frames: Any) -> None:
    """Let the scene have the rate and the length of what has these first and last ``frames``."""
    scene = context.scene
    scene.render.fps = max(round(rate), 1)
    scene.render.fps_base = scene.render.fps / rate
    scene.frame_start, scene.frame_end = (round(frame) for frame in frames)


def frames_said(context: Any) -> Outcome:
    """From where to where the scene goes now."""
    scene = context.scene
    return Outcome(said("Frames {} to {}").format(scene.frame_start, scene.frame_end))


def note_other_rates(
    context: Any, actions: list[Any], rate_of: Callable[[Any], float], noun: str, report: Report
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
