"""How the view moves while an action plays: the camera effects (`.anm`) that the game plays with the hands' motions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import bpy

from ....blender import compat
from ....core.errors import ReadError
from ....core.report import Report
from ....formats.xray import hud
from ..game_tree import GameTree
from ..paths import path


def add_carrier(name: str, camera: Any, into: Any) -> Any:
    """An empty that moves the camera, which is at its origin and looks along its +Y, as the game's do."""
    carrier = bpy.data.objects.new(f"{name} View", None)
    carrier.empty_display_size = 0.02
    into.objects.link(carrier)
    camera.parent = carrier
    return carrier


def import_effects(carrier: Any, folders: Sequence[Path], names: Iterable[str], report: Report) -> dict[str, Any]:
    """Name of a hands' motion -> the action of its camera effect, of those that have one in the game folders.

    A file that cannot be read is reported and left out.
    """
    trees = [GameTree(folder) for folder in folders]
    found: dict[str, Any] = {}
    for name in dict.fromkeys(names):
        files = (tree.find_below(hud.CAMERA_EFFECTS.format(name)) for tree in trees)
        file = next((file for file in files if file is not None), None)
        if file is None:
            continue
        try:
            found[name] = path.import_action(str(file), compat.slot_name(carrier), report)
        except ReadError as refusal:
            report.warn(f"camera effect left out: {str(refusal).rstrip('.')}")
    return found
