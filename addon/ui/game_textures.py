"""Textures of a game that the .blend does not store are taken out when it is saved and loaded when it is opened."""

import time
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..blender import compat
from ..core import inner_files
from ..core.report import Report, listed, say
from ..games import linked_textures
from .bases import rpt_, tell
from .operation import show_report
from .preferences import all_games, preferences

STEP = 0.2
"""Seconds for which textures are loaded before Blender draws and handles events."""
_loading: Any = None


def _before_saving(*_of_file: Any) -> None:
    if len(bpy.data.images) and not _is_stored():
        linked_textures.take_out()


def _after_saving(*_of_file: Any) -> None:
    if len(bpy.data.images):
        linked_textures.put_back()


def _after_opening(*_of_file: Any) -> None:
    """Load the textures that are missing; in a window others than the first few come later."""
    global _loading  # noqa: PLW0603 (one .blend is open)
    if not len(bpy.data.images):
        return
    context: Any = bpy.context
    _loading = linked_textures.Loading(all_games(context))
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
    sentences = []
    if missing := _loading.missing:
        sentences.append(
            say("{:# texture is|# textures are} no longer in the game: {}", len(missing), listed(missing, 3))
        )
    if linked := _loading.of_libraries:
        sentences.append(
            say(
                "Blender 5.3 does not show {:# texture|# textures} of linked libraries that the libraries do not store:"
                " turn on Pack Textures and save the libraries again: {}",
                len(linked),
                listed(linked, 3),
            )
        )
    if sentences:
        context: Any = bpy.context
        first, *others = sentences
        show_report(context, tell(first, rpt_), Report({sentence: [""] for sentence in others}))
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
    **dict.fromkeys(compat.APPEND_HANDLERS, _after_opening),
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
