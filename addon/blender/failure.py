"""Work that fails leaves nothing behind: data-blocks made meanwhile are removed, and what was there plays as before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from . import compat
from .scope import objects_of

_NOT_MADE = {"libraries", "scenes", "screens", "shape_keys", "window_managers", "workspaces"}
"""Kinds of data-blocks that no import makes; shape keys go with the meshes they belong to."""


_CHANNELS: dict[str, tuple[type, int]] = {
    "rotation_mode": (np.int32, 1),
    "location": (np.float32, 3),
    "rotation_quaternion": (np.float32, 4),
    "rotation_axis_angle": (np.float32, 4),
    "rotation_euler": (np.float32, 3),
    "scale": (np.float32, 3),
}
"""What poses an object or a bone, and how its values come as an array. The mode first: setting it converts angles."""


@contextmanager
def undone_on_failure(context: Any) -> Iterator[None]:
    """If the work inside raises anything, the file is as before and the exception goes on.

    New data-blocks of every kind are removed. Of objects that are animated, armatures or active, what they play, their
    NLA tracks, their transforms and those of their bones are restored; so is the selection. Other values set on
    existing data are the work's own to restore. Work that does not fail costs one pass over the identities of all
    data-blocks and one over the objects.
    """
    before = _File(context)
    with ExitStack() as failure:
        failure.callback(before.restore, context)
        yield
        failure.pop_all()


@contextmanager
def rows_removed_on_failure(owner: Any, name: str) -> Iterator[None]:
    """If the work inside raises anything, rows that it added at the end of a collection property are removed."""
    with ExitStack() as failure:
        failure.callback(_shorten, owner, name, len(getattr(owner, name)))
        yield
        failure.pop_all()


def _shorten(owner: Any, name: str, count: int) -> None:
    rows = getattr(owner, name)
    while len(rows) > count:
        rows.remove(len(rows) - 1)
    if not count:
        owner.property_unset(name)


class _File:
    """What is in the file, what moves, and what is selected. All by identity: work may remove some of it."""

    def __init__(self, context: Any) -> None:
        """Take down what is so now."""
        layer = context.view_layer
        self._known = {kind: _identities(blocks) for kind, blocks in _kinds()}
        self._active = _identity(layer.objects.active)
        self._selected = {shown.session_uid for shown in objects_of(layer) if shown.select_get()}
        self._playing = [
            _Playing(owner)
            for owner in bpy.data.objects
            if owner.animation_data or owner.type == "ARMATURE" or owner == layer.objects.active
        ]

    def restore(self, context: Any) -> None:
        """Let it be so again."""
        objects: dict[int, Any] = {owner.session_uid: owner for owner in bpy.data.objects}
        for before in self._playing:
            before.restore(objects)
        bpy.data.batch_remove([block for kind, blocks in _kinds() for block in _new(blocks, self._known[kind])])
        layer = context.view_layer
        for shown in objects_of(layer):
            shown.select_set(shown.session_uid in self._selected)
        layer.objects.active = objects.get(self._active)


def _kinds() -> Iterator[tuple[str, Any]]:
    for kind in bpy.data.bl_rna.properties:
        if kind.type == "COLLECTION" and kind.identifier not in _NOT_MADE:
            yield kind.identifier, getattr(bpy.data, kind.identifier)


def _identities(blocks: Any) -> NDArray[np.uint32]:
    """(data-blocks,) a number for each that no other of this session has."""
    found = np.empty(len(blocks), np.uint32)
    blocks.foreach_get("session_uid", found)
    return found


def _new(blocks: Any, known: NDArray[np.uint32]) -> list[Any]:
    new = np.flatnonzero(~np.isin(_identities(blocks), known))
    everything = list(blocks) if len(new) else []
    return [everything[place] for place in new]


def _identity(block: Any) -> int:
    return 0 if block is None else int(block.session_uid)


class _Playing:
    """What one object plays, and how it and its bones are posed."""

    def __init__(self, owner: Any) -> None:
        """Take down what is so now."""
        data = owner.animation_data
        self._owner = owner.session_uid
        self._animated = data is not None
        self._action = _identity(data.action) if data is not None else 0
        self._slot = data.action_slot_handle if data is not None and compat.SLOTTED else 0
        self._tracks = len(data.nla_tracks) if data is not None else 0
        self._own = {name: _plain(getattr(owner, name)) for name in _CHANNELS}
        self._pose = _pose(owner)

    def restore(self, objects: dict[int, Any]) -> None:
        """Let it be so again; ``objects`` by identity."""
        owner = objects.get(self._owner)
        if owner is None:
            return
        data = owner.animation_data
        if data is not None and not self._animated:
            owner.animation_data_clear()
        elif data is not None:
            for track in list(data.nla_tracks)[self._tracks :]:
                data.nla_tracks.remove(track)
            if _identity(data.action) != self._action:
                action: Any = next((one for one in bpy.data.actions if one.session_uid == self._action), None)
                slots = action.slots if action is not None and compat.SLOTTED else ()
                compat.assign(owner, action, next((slot for slot in slots if slot.handle == self._slot), None))
        for name, value in self._own.items():
            if _plain(getattr(owner, name)) != value:
                setattr(owner, name, value)
        for name, values in _pose(owner).items():
            if len(values) == len(self._pose[name]) and values.tobytes() != self._pose[name].tobytes():
                owner.pose.bones.foreach_set(name, self._pose[name])


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else tuple(value)


def _pose(owner: Any) -> dict[str, NDArray[Any]]:
    """The channels of an object's bones, flat."""
    bones: Any = owner.pose.bones if owner.pose is not None else ()
    found: dict[str, NDArray[Any]] = {}
    for name, (kind, width) in _CHANNELS.items():
        found[name] = np.empty(width * len(bones), kind)
        if len(bones):
            bones.foreach_get(name, found[name])
    return found
