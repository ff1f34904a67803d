"""The user's scene: what an import or export borrows, undoes and selects.

What is changed inside a ``with`` is put back, whatever happens inside. Work that fails leaves nothing behind
(`undone_on_failure`): data-blocks made meanwhile are removed, and what was there plays as before. New objects go into
the active collection (`target_collection`) and are selected (`make_current`), whatever state the scene is in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import pausing
from ..core.errors import WriteError
from ..core.report import Report
from . import compat

if TYPE_CHECKING:
    from .typed import Action, Armature, Context, Object, Scene, ViewLayer


_POSE_CHANNELS = {"location": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4, "scale": 3}
"""Channels of pose bones and their widths."""
_kept_frames: set[Scene] = set()
"""Scenes whose frame is restored at the end of a context that is open; going there costs as much as any frame."""
LEAVE_EDIT_MODE = "Leave edit mode (Tab) first"
_OF_THE_SCENE = (bpy.types.Scene, bpy.types.WindowManager, bpy.types.WorkSpace, bpy.types.Screen)
"""What uses nearly everything, and through which nothing in a pose depends on anything."""


def set_mode(mode: str) -> None:
    """Put the active object into a mode. Blender's operators find no active object in a thread of their own."""
    operator: Any = bpy.ops.object.mode_set
    pausing.at_home(lambda: operator(mode=mode))


@contextmanager
def editing_armature(context: Context, rig: Object) -> Iterator[bpy.types.ArmatureEditBones]:
    """The edit bones of ``rig``, which must be new: linked to a collection of its own meanwhile, so that hidden or
    excluded collections of the user do not matter. Mode, active object and selection are as before afterwards.
    """
    layer = context.view_layer
    scratch = bpy.data.collections.new("motionbridge")
    context.scene.collection.children.link(scratch)
    scratch.objects.link(rig)
    with object_mode(context), kept_selection(context):
        # Selected armatures would be edited along with it, and Blender would replace their bones.
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
def object_mode(context: Context) -> Iterator[None]:
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
def leaving_edit_mode(context: Context) -> Iterator[None]:
    """Object mode inside and afterwards; the mode the active object was in where the work inside raises anything."""
    active = context.view_layer.objects.active
    mode: Any = active.mode if active is not None else "OBJECT"
    with ExitStack() as failure:
        if mode != "OBJECT":
            set_mode("OBJECT")
            failure.callback(set_mode, mode)
        yield
        failure.pop_all()


def objects_of(layer: ViewLayer) -> list[Object]:
    """The objects of a view layer as it is now.

    A layer takes note of what was linked or removed when it is asked for its active object, not when it is walked
    through: selecting on the way would then pull the list from under the walk, and Blender 4.2 crashes.
    """
    _ = layer.objects.active
    return list(layer.objects)


@contextmanager
def kept_selection(context: Context) -> Iterator[None]:
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


def go_to(scene: bpy.types.Scene, frame: float) -> None:
    """Show a frame, or what is between two."""
    scene.frame_set(int(np.floor(frame)), subframe=frame % 1.0)


def frames_per_second(scene: Any) -> float:
    """The rate a scene plays at."""
    return float(scene.render.fps / scene.render.fps_base)


@contextmanager
def kept_frame(context: Context) -> Iterator[Scene]:
    """The scene, whose current frame is as before afterwards; inside another such context after that one.

    Frames are those of the keys inside, whatever the time stretching of the render settings.
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


@contextmanager
def playing(rig: Object, action: Action | None) -> Iterator[None]:
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
def kept_pose(rig: Object) -> Iterator[None]:
    """The channels of pose bones are as before afterwards, also those that the action which plays does not set."""
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
    found = {name: np.empty(len(bones) * width, np.float32) for name, width in _POSE_CHANNELS.items()}
    for name, values in found.items():
        bones.foreach_get(name, values)
    return found


@contextmanager
def posed(rig: Object) -> Iterator[None]:
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


def _curves_of_data(armature: Armature) -> list[Any]:
    data = armature.animation_data
    return [*data.drivers, *compat.curves_of(data.action, armature)] if data is not None else []


def refuse_edited(owners: Iterable[Object]) -> None:
    """Raises `WriteError` for an armature that is being edited, of which Blender shows no pose."""
    for owner in owners:
        if owner.type == "ARMATURE" and owner.mode == "EDIT":
            raise WriteError(f"{owner.name!r} is being edited, so it shows no pose", remedy=LEAVE_EDIT_MODE)


@contextmanager
def evaluated(context: Context, owners: Sequence[Object]) -> Iterator[None]:
    """Blender evaluates ``owners`` inside, also those that are hidden, excluded, or in another scene.

    It leaves such objects as they were when they were last shown. All is as before afterwards. Raises `WriteError` for
    an armature that is being edited, of which it shows no pose.
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
def only_evaluated(context: Context, owners: Sequence[Object], without: Sequence[Object] = ()) -> Iterator[None]:
    """Blender evaluates ``owners`` and what they depend on alone inside: the scene's other objects are hidden.

    ``without``: objects of which they need the place at most, such as their parents.
    Flags, selection and active object are as before afterwards, whatever happens inside.
    """
    needed = _used_by(owners).difference(without)
    with kept_selection(context), evaluated(context, owners):
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


def _may_be_hidden(shown: Object) -> bool:
    """Whether others depend on an object by pointers alone, and hiding it is no edit."""
    simulates = shown.rigid_body is not None or (shown.field is not None and shown.field.type != "NONE")
    collides = any(modifier.type == "COLLISION" for modifier in shown.modifiers)
    return shown.mode == "OBJECT" and not simulates and not collides


def _used_by(owners: Iterable[Object]) -> set[Any]:
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
def progress(context: Context, steps: int) -> Iterator[Callable[[float], None]]:
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
def undone_on_failure(context: bpy.types.Context) -> Iterator[None]:
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
def rows_removed_on_failure(owner: Object, name: str) -> Iterator[None]:
    """If the work inside raises anything, rows that it added at the end of a collection property are removed."""
    with ExitStack() as failure:
        failure.callback(_shorten, owner, name, len(getattr(owner, name)))
        yield
        failure.pop_all()


def _shorten(owner: Object, name: str, count: int) -> None:
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


def _new(blocks: Any, known: NDArray[np.uint32]) -> list[Action | Object]:
    new = np.flatnonzero(~np.isin(_identities(blocks), known))
    everything = list(blocks) if len(new) else []
    return [everything[place] for place in new]


def _identity(block: bpy.types.ID | None) -> int:
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


def _pose(owner: Object) -> dict[str, NDArray[Any]]:
    """The channels of an object's bones, flat."""
    bones: Any = owner.pose.bones if owner.pose is not None else ()
    found: dict[str, NDArray[Any]] = {}
    for name, (kind, width) in _CHANNELS.items():
        found[name] = np.empty(width * len(bones), kind)
        if len(bones):
            bones.foreach_get(name, found[name])
    return found


def target_collection(context: Context, report: Report, name: str = "") -> bpy.types.Collection:
    """The collection to link new objects to: the active one, or a new one called ``name`` inside it.

    Blender itself keeps hidden and excluded collections from being active; one of another file cannot take objects:
    then it is the nearest one around it, which is said.
    """
    layer = context.view_layer
    chain = list(_layers_to(layer.layer_collection, layer.active_layer_collection))
    usable = layer.layer_collection
    for inner in chain:
        if inner.collection.library is not None or inner.collection.override_library is not None:
            report.note(f"the active collection is of another file; new objects are in {usable.name!r}", chain[-1].name)
            break
        usable = inner
    if not name:
        return usable.collection
    made = bpy.data.collections.new(name)
    usable.collection.children.link(made)
    return made


def exclude(context: Context, collections: Sequence[bpy.types.Collection]) -> None:
    """Exclude collections from the active view layer, as their check boxes in the outliner do."""
    wanted = {made.session_uid for made in collections}
    waiting = list(context.view_layer.layer_collection.children) if wanted else []
    while waiting:
        layer = waiting.pop()
        if layer.collection.session_uid in wanted:
            layer.exclude = True
        else:
            waiting += layer.children


def _layers_to(root: bpy.types.LayerCollection, wanted: bpy.types.LayerCollection | None) -> Iterator[Any]:
    """The layer collections that lead from ``root``, which is not among them, to ``wanted``."""
    for child in root.children:
        if child == wanted:
            yield child
            return
        below = list(_layers_to(child, wanted))
        if below:
            yield child
            yield from below
            return


def make_current(context: Context, objects: Sequence[Object], active: bpy.types.Object | None) -> None:
    """Select these objects alone and make one active, in object mode, as importers do."""
    layer = context.view_layer
    if layer.objects.active is not None and layer.objects.active.mode != "OBJECT":
        set_mode("OBJECT")
    for shown in objects_of(layer):
        shown.select_set(False)
    for shown in objects:
        shown.select_set(True)
    layer.objects.active = active
