"""Borrowing the user's scene: what is changed inside a ``with`` is put back, whatever happens inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import pausing
from ..core.errors import WriteError
from . import compat

_POSE_CHANNELS = {"location": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4, "scale": 3}
"""Channels of pose bones and their widths."""
_kept_frames: set[Any] = set()
"""Scenes whose frame is restored at the end of a context that is open; going there costs as much as any frame."""
_OF_THE_SCENE = (bpy.types.Scene, bpy.types.WindowManager, bpy.types.WorkSpace, bpy.types.Screen)
"""What uses nearly everything, and through which nothing in a pose depends on anything."""


def set_mode(mode: str) -> None:
    """Put the active object into a mode. Blender's operators find no active object in a thread of their own."""
    operator: Any = bpy.ops.object.mode_set
    pausing.at_home(lambda: operator(mode=mode))


@contextmanager
def editing_armature(context: Any, rig: Any) -> Iterator[Any]:
    """The edit bones of ``rig``, which must be new: linked to a collection of its own meanwhile, so that hidden or
    excluded collections of the user do not matter. Mode, active object and selection are as before afterwards.
    """
    layer = context.view_layer
    scratch = bpy.data.collections.new("motionbridge")
    context.scene.collection.children.link(scratch)
    scratch.objects.link(rig)
    with object_mode(context), kept_selection(context):
        # Selected armatures would be edited along with it, and Blender would make their bones anew.
        for shown in objects_of(layer):
            shown.select_set(False)
        layer.objects.active = rig
        set_mode("EDIT")
        try:
            yield rig.data.edit_bones
        finally:
            set_mode("OBJECT")
            layer.objects.active = None
            bpy.data.collections.remove(scratch)


@contextmanager
def object_mode(context: Any) -> Iterator[None]:
    """Object mode inside; the mode the active object was in afterwards."""
    active = context.view_layer.objects.active
    mode: Any = active.mode if active is not None else "OBJECT"
    if mode != "OBJECT":
        set_mode("OBJECT")
    try:
        yield
    finally:
        if mode != "OBJECT":
            context.view_layer.objects.active = active
            set_mode(mode)


@contextmanager
def leaving_edit_mode(context: Any) -> Iterator[None]:
    """Object mode inside and afterwards; the mode the active object was in where the work inside raises anything."""
    active = context.view_layer.objects.active
    mode: Any = active.mode if active is not None else "OBJECT"
    with ExitStack() as failure:
        if mode != "OBJECT":
            set_mode("OBJECT")
            failure.callback(set_mode, mode)
        yield
        failure.pop_all()


def objects_of(layer: Any) -> list[Any]:
    """The objects of a view layer as it is now.

    A layer takes note of what was linked or removed when it is asked for its active object, not when it is walked
    through: selecting on the way would then pull the list from under the walk, and Blender 4.2 crashes.
    """
    _ = layer.objects.active
    return list(layer.objects)


@contextmanager
def kept_selection(context: Any) -> Iterator[None]:
    """The active object and the selected ones are as before afterwards."""
    layer = context.view_layer
    active = layer.objects.active
    selected = [shown for shown in objects_of(layer) if shown.select_get()]
    try:
        yield
    finally:
        for shown in objects_of(layer):
            shown.select_set(shown in selected)
        layer.objects.active = active


@contextmanager
def kept_frame(context: Any) -> Iterator[Any]:
    """The scene, whose current frame is as before afterwards; inside another such context after that one."""
    scene = context.scene
    if scene in _kept_frames:
        yield scene
        return
    frame, fraction = scene.frame_current, scene.frame_subframe
    _kept_frames.add(scene)
    try:
        yield scene
    finally:
        _kept_frames.discard(scene)
        scene.frame_set(frame, subframe=fraction)


@contextmanager
def playing(rig: Any, action: Any) -> Iterator[None]:
    """``rig`` plays ``action`` inside, and what it played before afterwards.

    Raises `WriteError` while a strip of the NLA is being tweaked: Blender then plays that one's action alone, in the
    strip's time.
    """
    data = rig.animation_data
    if data is not None and data.use_tweak_mode:
        raise WriteError(
            f"a strip of {rig.name!r} is in tweak mode in the NLA editor, so its action plays in the time of the strip",
            remedy="Leave tweak mode (Tab in the NLA editor), then export again",
        )
    before = data.action if data is not None else None
    slot = data.action_slot if data is not None and compat.SLOTTED else None
    if before != action:
        compat.assign(rig, action)
    try:
        yield
    finally:
        if before != action:
            compat.assign(rig, before, slot)
            if data is None:
                rig.animation_data_clear()


@contextmanager
def kept_pose(rig: Any) -> Iterator[None]:
    """The channels of pose bones are as before afterwards, also those that the action which plays does not set."""
    before = _channels(rig)
    try:
        yield
    finally:
        for name, values in _channels(rig).items():
            if not np.array_equal(values, before[name], equal_nan=True):
                rig.pose.bones.foreach_set(name, before[name])
                rig.update_tag(refresh={"DATA"})


def _channels(rig: Any) -> dict[str, NDArray[np.float32]]:
    bones = rig.pose.bones
    found = {name: np.empty(len(bones) * width, np.float32) for name, width in _POSE_CHANNELS.items()}
    for name, values in found.items():
        bones.foreach_get(name, values)
    return found


@contextmanager
def posed(rig: Any) -> Iterator[None]:
    """The armature shows its pose inside, also where it, a driver or keys of its data set the rest position."""
    armature, before = rig.data, rig.data.pose_position
    switches = [curve for curve in _curves_of_data(armature) if curve.data_path == "pose_position" and not curve.mute]
    for curve in switches:
        curve.mute = True
    if before != "POSE":
        armature.pose_position = "POSE"
    try:
        yield
    finally:
        for curve in switches:
            curve.mute = False
        if before != "POSE":
            armature.pose_position = before
        if switches:
            armature.update_tag()


def _curves_of_data(armature: Any) -> list[Any]:
    data = armature.animation_data
    return [*data.drivers, *compat.curves_of(data.action, armature)] if data is not None else []


@contextmanager
def only_evaluated(context: Any, owners: Sequence[Any]) -> Iterator[None]:
    """Blender evaluates ``owners`` and what they depend on alone inside: the scene's other objects are hidden.

    Flags, selection and active object are as before afterwards, whatever happens inside.
    """
    needed = _used_by(owners)
    with kept_selection(context):
        hidden = []
        try:
            for shown in list(context.scene.objects):
                if shown not in needed and not shown.hide_viewport and _may_be_hidden(shown):
                    shown.hide_viewport = True
                    hidden.append(shown)
            yield
        finally:
            for shown in hidden:
                shown.hide_viewport = False
            if hidden:
                context.view_layer.update()  # only then can they be selected again


def _may_be_hidden(shown: Any) -> bool:
    """Whether others depend on an object by pointers alone, and hiding it is no edit."""
    simulates = shown.rigid_body is not None or (shown.field is not None and shown.field.type != "NONE")
    collides = any(modifier.type == "COLLISION" for modifier in shown.modifiers)
    return shown.mode == "OBJECT" and not simulates and not collides


def _used_by(owners: Iterable[Any]) -> set[Any]:
    """These data-blocks and all that they point at: targets of constraints and drivers, parents, data, modifiers."""
    data: Any = bpy.data
    uses: dict[Any, list[Any]] = {}
    for used, users in data.user_map().items():
        for user in users:
            uses.setdefault(user, []).append(used)
    found: set[Any] = set()
    waiting = list(owners)
    while waiting:
        one = waiting.pop()
        if one not in found and not isinstance(one, _OF_THE_SCENE):
            found.add(one)
            waiting += uses.get(one, ())
    return found


@contextmanager
def progress(context: Any, steps: int) -> Iterator[Callable[[int], None]]:
    """A function that shows how many of ``steps`` are done, at the mouse pointer; silent without a window.

    Work that can pause does so there instead, and shows it in the status bar.
    """
    if pausing.pausable():
        yield lambda done: pausing.pause(min(done / max(steps, 1), 1.0))
        return
    manager = context.window_manager
    manager.progress_begin(0, max(steps, 1))
    try:
        yield manager.progress_update
    finally:
        manager.progress_end()
