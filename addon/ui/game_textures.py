"""Textures of a game that the .blend does not store are taken out when it is saved and loaded when it is opened."""

import time
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..blender import compat
from ..core import inner_files
from ..core.report import say
from ..games import linked_textures
from .bases import rpt_, tell
from .operation import show_report
from .preferences import all_games, preferences

STEP = 0.2
"""Seconds for which textures are loaded before Blender draws and handles events."""
_loading: Any = None
_failed: set[str] = set()
"""Paths of the textures that could not be loaded since the .blend was opened."""


def _before_saving(*_of_file: Any) -> None:
    if len(bpy.data.images) and not _is_stored() and not bpy.data.use_autopack:
        linked_textures.take_out()


def _after_saving(*_of_file: Any) -> None:
    if len(bpy.data.images):
        linked_textures.put_back()


def _after_opening(*_of_file: Any) -> None:
    _failed.clear()
    _load()


def _load(*_of_file: Any) -> None:
    """Load the textures that are missing; in a window others than the first few come later."""
    global _loading  # noqa: PLW0603 (one .blend is open)
    if not len(bpy.data.images):
        return
    context: Any = bpy.context
    _loading = linked_textures.Loading(all_games(context), _failed)
    if bpy.app.background:
        while _load_later() is not None:
            pass
    elif not bpy.app.timers.is_registered(_load_later):
        bpy.app.timers.register(_load_later, first_interval=0.0)


def _load_later() -> float | None:
    global _loading  # noqa: PLW0603
    end = time.monotonic() + STEP
    while (more := _loading.step()) and time.monotonic() < end:
        pass
    if more:
        return 0.01
    if report := _loading.report:
        context: Any = bpy.context
        paths = [path for named in report.warnings.values() for path in named]
        show_report(context, tell(say("{:# texture is|# textures are} not loaded", len(paths)), rpt_), report)
        _failed.update(paths)
    _loading = None
    return None


def _is_stored() -> bool:
    context: Any = bpy.context
    return bool(preferences(context).pack_textures)


_HANDLERS = {
    "save_pre": _before_saving,
    "save_post": _after_saving,
    "save_post_fail": _after_saving,
    "load_post": _after_opening,
    # Undo brings back images as they were before their textures were loaded.
    **dict.fromkeys(("undo_post", "redo_post", *compat.APPEND_HANDLERS), _load),
}


def register() -> None:
    """Register the handlers."""
    inner_files.are_saved = _is_stored
    for name, called in _HANDLERS.items():
        getattr(bpy.app.handlers, name).append(persistent(called))


def unregister() -> None:
    """Remove the handlers and the timer."""
    inner_files.are_saved = inner_files.always
    for name, called in _HANDLERS.items():
        getattr(bpy.app.handlers, name).remove(called)
    if bpy.app.timers.is_registered(_load_later):
        bpy.app.timers.unregister(_load_later)
