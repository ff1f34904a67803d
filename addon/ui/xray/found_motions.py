"""Motion files that a model's references mean on this disk, looked up once: panels are drawn many times per second."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpy

from ...games.xray import game_tree
from ..preferences import folders


def paths_of(holder: Any, reference: str) -> list[str]:
    """The files one reference of a model means; several where it is a mask."""
    path = holder.motionbridge_model.path
    return _look_up(bpy.path.abspath(path), reference, *folders(bpy.context)) if path else []


@functools.lru_cache(maxsize=4096)  # more than the references of every model in a scene
def _look_up(model: str, reference: str, game: Path | None, textures: Path | None) -> list[str]:
    tree = game_tree.tree_of(Path(model), game, textures)
    return [str(path) for part in dict.fromkeys(reference.split(",")) for path in tree.find_motions(part)]


def not_imported(rig: Any, paths: Iterable[str]) -> list[str]:
    """Those of ``paths`` that are not yet motion files of the armature."""
    here = {Path(bpy.path.abspath(file.path)) for file in rig.motionbridge_motion_files}
    return [path for path in paths if Path(path) not in here]


def forget() -> None:
    """Look again: files may have come since."""
    _look_up.cache_clear()
