"""Temporary changes to the user's scene, undo after a failure, and the collection and selection of new objects.

The context managers restore what they change, even if the code inside fails. `undone_on_failure` removes the
data-blocks that failed work created and restores what existing objects play. `target_collection` returns the collection
for new objects and `make_current` selects them, whatever state the scene is in.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import pausing
from ..core.errors import WriteError
from ..core.report import Report, say
from . import compat

if TYPE_CHECKING:
    from .typed import Action, Armature, Context, Object, Scene, ViewLayer


_POSE_CHANNELS = {"location": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4, "scale": 3}
"""Transform channels of pose bones and the number of values of each."""
_kept_frames: set[Scene] = set()
"""Scenes whose frame an outer `kept_frame` restores. Nested ones do not restore it, because a frame change is
expensive.
"""
PROGRESS_INTERVAL = 0.1
"""Seconds between two numbers at the mouse pointer."""
LEAVE_EDIT_MODE = "Leave edit mode (Tab) first"
_NOT_FOLLOWED = (bpy.types.Scene, bpy.types.WindowManager, bpy.types.WorkSpace, bpy.types.Screen)
"""Types of data-blocks that use nearly all others. A pose does not depend on anything through them."""


def set_mode(mode: str) -> None:
    """Set the mode of the active object, in the main thread: in others, operators find no active object."""
    operator: Any = bpy.ops.object.mode_set
    pausing.in_callers_thread(lambda: operator(mode=mode))


def set_select_mode(scene: Any, *, vertices: bool, faces: bool) -> None:
    """Choose what edit mode selects. `context.tool_settings` would be the same, but makes Blender 4.2 and 4.3 use the
    scene's memory after the scene is gone.
    """
    scene.tool_settings.mesh_select_mode = (vertices, False, faces)


@contextmanager
def editing_armature(context: Context, rig: Object) -> Iterator[bpy.types.ArmatureEditBones]:
    """Enter edit mode of the new armature object ``rig`` and return its edit bones.

    The object is linked to a temporary collection, so it does not matter if the user's collections are hidden or
    excluded. Mode, active object and selection are restored afterwards.
    """
    layer = context.view_layer
    scratch = bpy.data.collections.new("motionbridge")
    context.scene.collection.children.link(scratch)
    scratch.objects.link(rig)
    with object_mode(context), kept_selection(context):
        # Selected armatures would enter edit mode as well, and Blender would rebuild their bones.
        for obj in objects_of(layer):
            obj.select_set(False)
        layer.objects.active = rig
        set_mode("EDIT")
        try:
            yield rig.data.edit_bones
        finally:
            set_mode("OBJECT")
            layer.objects.active = None
            bpy.data.collections.remove(scratch)


@contextmanager
def object_mode(context: Context) -> Iterator[None]:
    """Switch to object mode; afterwards restore the mode of the active object."""
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
def leaving_edit_mode(context: Context) -> Iterator[None]:
    """Switch to object mode and stay in it; restore the mode of the active object only if the work inside raises."""
    active = context.view_layer.objects.active
    mode: Any = active.mode if active is not None else "OBJECT"
    with ExitStack() as failure:
        if mode != "OBJECT":
            set_mode("OBJECT")
            failure.callback(set_mode, mode)
        yield
        failure.pop_all()


def objects_of(layer: ViewLayer) -> list[Object]:
    """Return the current objects of a view layer.

    A view layer notices linked and removed objects when its active object is read, not when its objects are iterated.
    Without that first read, selecting objects during the iteration changes the list, and Blender 4.2 crashes.
    """
    _ = layer.objects.active
    return list(layer.objects)


def one_for_each_mesh(objects: Iterable[Object]) -> list[Object]:
    """Return the objects without those that share their mesh with an earlier one."""
    result: dict[Any, Object] = {}
    for obj in objects:
        result.setdefault(obj.data, obj)
    return list(result.values())


@contextmanager
def kept_selection(context: Context) -> Iterator[None]:
    """Restore the active object and the selection afterwards."""
    layer = context.view_layer
    active = layer.objects.active
    selected = [target for target in objects_of(layer) if target.select_get()]
    try:
        yield
    finally:
        for obj in objects_of(layer):
            obj.select_set(obj in selected)
        layer.objects.active = active


def set_frame(scene: bpy.types.Scene, frame: float) -> None:
    """Go to a frame, which may be a fraction."""
    scene.frame_set(int(np.floor(frame)), subframe=frame % 1.0)


def frames_per_second(scene: Any) -> float:
    """Return the frame rate of a scene."""
    return float(scene.render.fps / scene.render.fps_base)


@contextmanager
def kept_frame(context: Context) -> Iterator[Scene]:
    """Yield the scene and restore its current frame afterwards; nested uses leave that to the outermost.

    Time stretching of the render settings is off inside, so that frames are those of the keys.
    """
    scene = context.scene
    if scene in _kept_frames:
        yield scene
        return
    frame, fraction = scene.frame_current, scene.frame_subframe
    stretched = scene.render.frame_map_old, scene.render.frame_map_new
    _kept_frames.add(scene)
    try:
        if stretched[0] != stretched[1]:
            scene.render.frame_map_old = scene.render.frame_map_new = 100
        yield scene
    finally:
        _kept_frames.discard(scene)
        if stretched[0] != stretched[1]:
            scene.render.frame_map_old, scene.render.frame_map_new = stretched
        scene.frame_set(frame, subframe=fraction)


def refuse_tweaked(rig: Object) -> None:
    """Raise `WriteError` while an NLA strip is in tweak mode: Blender then lets nothing else play."""
    data = rig.animation_data
    if data is not None and data.use_tweak_mode:
        words = "a strip of {!r} is in tweak mode in the NLA editor, so no other motion can be played"
        raise WriteError(say(words, rig.name), remedy="Leave tweak mode (Tab in the NLA editor), then export again")


@contextmanager
def playing(rig: Object, action: Action | None) -> Iterator[None]:
    """Assign ``action`` to ``rig``; restore the assigned action and slot afterwards.

    Raises `WriteError` as `refuse_tweaked`.
    """
    refuse_tweaked(rig)
    data = rig.animation_data
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
def kept_pose(rig: Object) -> Iterator[None]:
    """Restore the transform channels of all pose bones afterwards, including those that the assigned action has no keys
    for.
    """
    before = _channels(rig)
    try:
        yield
    finally:
        for name, values in _channels(rig).items():
            if not np.array_equal(values, before[name], equal_nan=True):
                rig.pose.bones.foreach_set(name, before[name])
                rig.update_tag(refresh={"DATA"})


def _channels(rig: Object) -> dict[str, NDArray[np.float32]]:
    bones = rig.pose.bones
    result = {name: np.empty(len(bones) * width, np.float32) for name, width in _POSE_CHANNELS.items()}
    for name, values in result.items():
        bones.foreach_get(name, values)
    return result


@contextmanager
def posed(rig: Object) -> Iterator[None]:
    """Show the pose of the armature, even if its **Rest Position** switch is on, by itself or by a driver or keys."""
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


def _curves_of_data(armature: Armature) -> list[Any]:
    data = armature.animation_data
    return [*data.drivers, *compat.curves_of(data.action, armature)] if data is not None else []


def refuse_edited(owners: Iterable[Object]) -> None:
    """Raise `WriteError` if an armature among ``owners`` is in edit mode, in which Blender shows no pose."""
    for owner in owners:
        if owner.type == "ARMATURE" and owner.mode == "EDIT":
            raise WriteError(say("{!r} is being edited, so it shows no pose", owner.name), remedy=LEAVE_EDIT_MODE)


@contextmanager
def evaluated(context: Context, owners: Sequence[Object]) -> Iterator[None]:
    """Let Blender evaluate ``owners`` even if they are hidden, excluded, or in another scene.

    Without this Blender leaves such objects as they were when last visible. Everything is restored afterwards. Raises
    `WriteError` for an armature in edit mode, in which Blender shows no pose.
    """
    refuse_edited(owners)
    layer = context.view_layer
    unseen = [owner for owner in owners if not owner.visible_get(view_layer=layer)]
    if not unseen:
        yield
        return
    switched_off = [owner for owner in unseen if owner.hide_viewport]
    scratch = bpy.data.collections.new("motionbridge")
    hidden: list[Object] = []
    try:
        context.scene.collection.children.link(scratch)
        for owner in unseen:
            scratch.objects.link(owner)
            owner.hide_viewport = False
        hidden += [owner for owner in unseen if owner.hide_get(view_layer=layer)]
        for owner in hidden:
            owner.hide_set(False, view_layer=layer)
        layer.update()
        yield
    finally:
        for owner in hidden:
            owner.hide_set(True, view_layer=layer)
        for owner in switched_off:
            owner.hide_viewport = True
        bpy.data.collections.remove(scratch)


@contextmanager
def without_modifiers(enabled: Sequence[Any]) -> Iterator[None]:
    """Disable these modifiers, which are enabled, inside the ``with`` block."""
    try:
        for modifier in enabled:
            modifier.show_viewport = False
        yield
    finally:
        for modifier in enabled:
            modifier.show_viewport = True


@contextmanager
def only_evaluated(context: Context, owners: Sequence[Object]) -> Iterator[None]:
    """Let Blender evaluate only ``owners`` and what they depend on, by hiding the other objects of the scene.

    Visibility, selection and active object are restored afterwards, even if the work inside fails.
    """
    needed = _with_dependencies(owners)
    with kept_selection(context), evaluated(context, owners):
        hidden = []
        try:
            for obj in list(context.scene.objects):
                if obj not in needed and not obj.hide_viewport and _can_be_hidden(obj):
                    obj.hide_viewport = True
                    hidden.append(obj)
            yield
        finally:
            for obj in hidden:
                obj.hide_viewport = False
            if hidden:
                context.view_layer.update()  # needed before they can be selected again


def _can_be_hidden(obj: Object) -> bool:
    """Whether an object affects others only through references to it, so that hiding it is safe and is not an edit."""
    simulates = obj.rigid_body is not None or (obj.field is not None and obj.field.type != "NONE")
    collides = any(modifier.type == "COLLISION" for modifier in obj.modifiers)
    return obj.mode == "OBJECT" and not simulates and not collides


def _with_dependencies(owners: Iterable[Object]) -> set[Any]:
    """Return these data-blocks and everything they refer to, directly or not: constraint and driver targets, parents,
    data, modifiers.
    """
    data: Any = bpy.data
    uses: dict[Any, list[Any]] = {}
    for used, users in data.user_map().items():
        for user in users:
            uses.setdefault(user, []).append(used)
    result: set[Any] = set()
    waiting = list(owners)
    while waiting:
        block = waiting.pop()
        if block not in result and not isinstance(block, _NOT_FOLLOWED):
            result.add(block)
            waiting += uses.get(block, ())
    return result


@contextmanager
def progress(context: Context, steps: int) -> Iterator[Callable[[float], None]]:
    """Yield a function that shows at the mouse pointer how many of ``steps`` are done; it does nothing without a
    window.

    Work that can be paused does so there, and shows its progress in the status bar instead. Blender makes a new mouse
    pointer for each number, so at most ten per second are shown.
    """
    if pausing.pausable():
        yield lambda done: pausing.pause(min(done / max(steps, 1), 1.0))
        return
    manager = context.window_manager
    manager.progress_begin(0, max(steps, 1))
    next_time = 0.0

    def update(done: float) -> None:
        nonlocal next_time
        if time.monotonic() >= next_time:
            manager.progress_update(done)
            next_time = time.monotonic() + PROGRESS_INTERVAL

    try:
        yield update
    finally:
        manager.progress_end()


_NEVER_CREATED = {"libraries", "scenes", "screens", "shape_keys", "window_managers", "workspaces"}
"""Types of data-blocks that no import creates. Shape keys are removed with their meshes."""


_CHANNELS: dict[str, tuple[type, int]] = {
    "rotation_mode": (np.int32, 1),
    "location": (np.float32, 3),
    "rotation_quaternion": (np.float32, 4),
    "rotation_axis_angle": (np.float32, 4),
    "rotation_euler": (np.float32, 3),
    "scale": (np.float32, 3),
}
"""Transform channels of objects and pose bones, with the type and number of their values. The rotation mode is first,
because setting it converts the rotation.
"""


@contextmanager
def undone_on_failure(context: bpy.types.Context) -> Iterator[None]:
    """If the work inside raises, restore the file and re-raise the exception.

    New data-blocks of every type are removed. For objects that are animated, armatures or active, the assigned action,
    NLA tracks, transforms and bone poses are restored; so is the selection. The work itself must restore other values
    that it sets on existing data. Successful work costs one pass over the session ids of all data-blocks and one over
    the objects.
    """
    before = _FileState(context)
    with ExitStack() as failure:
        failure.callback(before.restore, context)
        yield
        failure.pop_all()


@contextmanager
def new_data_removed() -> Iterator[set[Any]]:
    """Remove all data-blocks that the work inside creates, whether it raises or not, but for those that it adds to the
    set.
    """
    known = {kind: _identities(blocks) for kind, blocks in _id_collections()}
    kept = set[Any]()
    try:
        yield kept
    finally:
        new = (block for kind, blocks in _id_collections() for block in _new(blocks, known[kind]))
        bpy.data.batch_remove([block for block in new if block not in kept])


@contextmanager
def rows_removed_on_failure(owner: Object, name: str) -> Iterator[None]:
    """If the work inside raises, remove the entries that it added at the end of a collection property."""
    with ExitStack() as failure:
        failure.callback(_truncate, owner, name, len(getattr(owner, name)))
        yield
        failure.pop_all()


def _truncate(owner: Object, name: str, count: int) -> None:
    rows = getattr(owner, name)
    # The copy that Blender evaluates would go on pointing at the actions of these entries, which are removed next.
    owner.update_tag()
    while len(rows) > count:
        rows.remove(len(rows) - 1)
    if not count:
        owner.property_unset(name)


class _FileState:
    """Snapshot of existing data-blocks, animation and selection. It holds session ids, because work may remove
    data-blocks.
    """

    def __init__(self, context: Any) -> None:
        layer = context.view_layer
        self._known_ids = {kind: _identities(blocks) for kind, blocks in _id_collections()}
        self._active = _identity(layer.objects.active)
        self._selected = {obj.session_uid for obj in objects_of(layer) if obj.select_get()}
        self._playing = [
            _ObjectState(owner)
            for owner in bpy.data.objects
            if owner.animation_data or owner.type == "ARMATURE" or owner == layer.objects.active
        ]

    def restore(self, context: Any) -> None:
        """Remove newer data-blocks; restore animation, poses and selection."""
        objects: dict[int, Any] = {owner.session_uid: owner for owner in bpy.data.objects}
        for before in self._playing:
            before.restore(objects)
        bpy.data.batch_remove(
            [block for kind, blocks in _id_collections() for block in _new(blocks, self._known_ids[kind])]
        )
        layer = context.view_layer
        for obj in objects_of(layer):
            obj.select_set(obj.session_uid in self._selected)
        layer.objects.active = objects.get(self._active)


def _id_collections() -> Iterator[tuple[str, Any]]:
    for kind in bpy.data.bl_rna.properties:
        if kind.type == "COLLECTION" and kind.identifier not in _NEVER_CREATED:
            yield kind.identifier, getattr(bpy.data, kind.identifier)


def _identities(blocks: Any) -> NDArray[np.uint32]:
    """Return (data-blocks,) the session id of each, which is unique in this session."""
    result = np.empty(len(blocks), np.uint32)
    blocks.foreach_get("session_uid", result)
    return result


def _new(blocks: Any, known: NDArray[np.uint32]) -> list[Action | Object]:
    new = np.flatnonzero(~np.isin(_identities(blocks), known))
    everything = list(blocks) if len(new) else []
    return [everything[index] for index in new]


def _identity(block: bpy.types.ID | None) -> int:
    return 0 if block is None else int(block.session_uid)


class _ObjectState:
    """Snapshot of the action, NLA tracks and transforms of one object, and of the pose of its bones."""

    def __init__(self, owner: Any) -> None:
        data = owner.animation_data
        self._owner = owner.session_uid
        self._animated = data is not None
        self._action = _identity(data.action) if data is not None else 0
        self._slot = data.action_slot_handle if data is not None and compat.SLOTTED else 0
        self._tracks = len(data.nla_tracks) if data is not None else 0
        self._own = {name: _comparable(getattr(owner, name)) for name in _CHANNELS}
        self._pose = _pose(owner)

    def restore(self, objects: dict[int, Any]) -> None:
        """Restore the snapshot. ``objects`` are all objects by session id."""
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
                action: Any = next((action for action in bpy.data.actions if action.session_uid == self._action), None)
                slots = action.slots if action is not None and compat.SLOTTED else ()
                compat.assign(owner, action, next((slot for slot in slots if slot.handle == self._slot), None))
        for name, value in self._own.items():
            if _comparable(getattr(owner, name)) != value:
                setattr(owner, name, value)
        for name, values in _pose(owner).items():
            if len(values) == len(self._pose[name]) and values.tobytes() != self._pose[name].tobytes():
                owner.pose.bones.foreach_set(name, self._pose[name])


def _comparable(value: Any) -> Any:
    return value if isinstance(value, str) else tuple(value)


def _pose(owner: Object) -> dict[str, NDArray[Any]]:
    """Return the transform channels of an object's pose bones, each as a flat array."""
    bones: Any = owner.pose.bones if owner.pose is not None else ()
    result: dict[str, NDArray[Any]] = {}
    for name, (kind, width) in _CHANNELS.items():
        result[name] = np.empty(width * len(bones), kind)
        if len(bones):
            bones.foreach_get(name, result[name])
    return result


def target_collection(context: Context, report: Report, name: str = "") -> bpy.types.Collection:
    """Return the collection for new objects: the active one, or a new child of it called ``name``.

    Blender does not let hidden and excluded collections be active. A linked or overridden collection cannot take new
    objects; then the nearest parent collection that can is used, and this is reported.
    """
    layer = context.view_layer
    chain = list(_path_to_layer(layer.layer_collection, layer.active_layer_collection))
    usable = layer.layer_collection
    for inner in chain:
        if inner.collection.library is not None or inner.collection.override_library is not None:
            words = "the active collection is of another file; new objects are in {!r}"
            report.note(say(words, usable.name), chain[-1].name)
            break
        usable = inner
    if not name:
        return usable.collection
    collection = bpy.data.collections.new(name)
    usable.collection.children.link(collection)
    return collection


def exclude(context: Context, collections: Sequence[bpy.types.Collection]) -> None:
    """Exclude collections from the view layer, like their check boxes in the outliner."""
    for switch in [switch for collection in collections for switch in switches_of(context, collection)]:
        switch.exclude = True


def switches_of(context: Context, collection: bpy.types.Collection | None) -> list[Any]:
    """Return the layer collections of a collection in the view layer: their eyes and check boxes in the outliner."""
    waiting, result = [context.view_layer.layer_collection], []
    while waiting:
        layer = waiting.pop()
        if layer.collection == collection:
            result.append(layer)
        else:
            waiting += layer.children
    return result


def show(switches: Sequence[Any]) -> None:
    """Show the objects of layer collections, whatever hides them in the outliner."""
    for switch in switches:
        switch.exclude = switch.hide_viewport = switch.collection.hide_viewport = False


def _path_to_layer(root: bpy.types.LayerCollection, wanted: bpy.types.LayerCollection | None) -> Iterator[Any]:
    """Yield the layer collections on the way from ``root`` (not included) to ``wanted`` (included)."""
    for child in root.children:
        if child == wanted:
            yield child
            return
        below = list(_path_to_layer(child, wanted))
        if below:
            yield child
            yield from below
            return


def make_current(context: Context, objects: Sequence[Object], active: bpy.types.Object | None) -> None:
    """Select only these objects and make one of them active, in object mode, as importers do."""
    layer = context.view_layer
    if layer.objects.active is not None and layer.objects.active.mode != "OBJECT":
        set_mode("OBJECT")
    for obj in objects_of(layer):
        obj.select_set(False)
    for obj in objects:
        obj.select_set(True)
    layer.objects.active = active
