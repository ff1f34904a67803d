"""Transfer of motions to the controls of a rig, so that the pose stays, and playing what was transferred.

`core.control_poses` computes the poses of the controls. What limbs and twist bones come to be Blender evaluates on a
copy of the controls, alone in a scene of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..core import affine
from ..core.control_rig import KEYED, Role
from . import bone_curves, compat, control_edits, scope
from .armature import matrices_of
from .bone_curves import ActionTemplate, bone_within, keys_at, write_keys
from .control_links import (
    control_action,
    controls_of,
    mute_unkeyed_holds,
    redirect_references,
    references_of,
    reset_unkeyed_switches,
    users_of,
)
from .control_rig import own_controls, structure_of, switched_off
from .keyed_poses import poses_to_copy

if TYPE_CHECKING:
    from .typed import Action, Context, Object

Floats = NDArray[np.float64]
_Solved = Callable[[NDArray[np.float32], Floats, Floats], Floats]

CHANNELS = (("rotation_quaternion", 4), ("location", 3))
RIGID = 1e-5
"""Largest `affine.distortion` that comes from Blender's rounding."""
SCRATCH = ".motionbridge"
"""Name of temporary data-blocks of a transfer: Blender's lists hide names that begin with a dot."""
BATCH_FRAMES = 250
"""Number of frames from which a batch of motions is transferred at once."""
CUT_FRAMES = 500
"""Number of frames from which a copy of the controls without unneeded bones saves more time than it takes to make."""


def frames_of(action: Action, rig: Object) -> NDArray[np.float32]:
    """Return (frames,) all whole frames of an action, and the times of keys between frames."""
    times = bone_curves.key_times(compat.curves_of(action, rig))
    first, last = np.floor(action.frame_range[0]), np.ceil(action.frame_range[1])
    if len(times):
        first, last = min(first, np.floor(times[0])), max(last, np.ceil(times[-1]))
    return np.union1d(np.arange(first, last + 1), times).astype(np.float32)


def transfer(context: Context, rig: Object, action: Action) -> Any:
    """Transfer what ``rig`` shows of ``action`` to its own controls; return the action of the controls.

    The pose stays the same at each of `frames_of`. The action of the armature does not change.
    """
    transfer_all(context, rig, [action])
    return action.motionbridge_controls


def transfer_all(
    context: Context, rig: Object, actions: Sequence[Action], progress: Callable[[int], None] = lambda _: None
) -> None:
    """`transfer` several motions, faster than one by one; ``progress`` is called with the number that is done."""
    done = 0
    with closing(_Transfer(context, rig)) as work, work.solving(_length(actions)) as solved:
        for batch in _batches(actions):
            originals = [work.originals(action) for action in batch]
            frames, poses = [action for action, _ in originals], np.concatenate([other for _, other in originals])
            for action, times, rotations, locations in zip(
                batch, frames, *work.channels(frames, poses, solved), strict=True
            ):
                work.write(action, times, rotations, locations)
                done += 1
                progress(done)


def _length(actions: Sequence[Action]) -> float:
    """Return the number of frames of all these actions."""
    return float(sum(last - first + 1 for first, last in (action.frame_range for action in actions)))


def _batches(actions: Sequence[Action]) -> Iterator[list[Any]]:
    """Yield batches of actions; a batch ends when it has at least `BATCH_FRAMES` frames."""
    batch, frames = list[Any](), 0.0
    for action in actions:
        batch.append(action)
        frames += _length([action])
        if frames >= BATCH_FRAMES:
            yield batch
            batch, frames = [], 0.0
    if batch:
        yield batch


class _Transfer:
    """Transfers motions of one armature to its controls."""

    def __init__(self, context: Context, rig: Object) -> None:
        self._context, self._rig, self._controls = context, rig, controls_of(rig)
        self._structure, self._edits = structure_of(rig, self._controls), control_edits.ControlEdits(rig)
        self._left_over = self._structure.rows(Role.LEFT_OVER)
        self._rows = self._structure.rows(*KEYED)
        names_of_rows = [self._controls.data.bones[row].name for row in self._rows.tolist()]
        self._template = ActionTemplate(names_of_rows, CHANNELS, compat.slot_name(self._controls))
        self._identity = bone_curves.identity_of(self._template.bag, list(self._template.bag.fcurves)) or b""
        self._replaced: list[Action] = []
        self._made: list[Any] = [self._template.action]

    def close(self) -> None:
        """Remove temporary data-blocks, and replaced actions of controls that no action points at any more."""
        data = self._controls.animation_data
        unused = [old for old in self._replaced if not users_of(old)]
        if data is not None and data.action in unused:
            compat.assign(self._controls, None)
        if unused:
            bpy.data.batch_remove(unused)
        _remove_unused(self._made)

    def originals(self, action: Action) -> tuple[NDArray[np.float32], Floats]:
        """Return `frames_of` the action, and (frames, bones, 4, 4) the poses of the armature there without controls."""
        frames = frames_of(action, self._rig)
        poses = poses_to_copy(self._context, self._rig, action, frames)
        return frames, poses if affine.distortion(poses).max(initial=0.0) <= RIGID else affine.rigid(poses)

    def channels(
        self, frames: list[NDArray[np.float32]], originals: Floats, solved: _Solved | None
    ) -> tuple[list[Floats], list[Floats]]:
        """Return quaternions (controls, frames, 4) and locations (controls, frames, 3) of each motion.

        ``originals`` (frames, bones, 4, 4): the poses of all motions, concatenated. ``solved``: the function of
        `solving`.
        """
        ends = np.cumsum([len(times) for times in frames])[:-1]
        poses = self._structure.poses(originals)
        rotations, locations = self._structure.channels(poses)
        left_over = self._left_over
        if solved is not None:
            # These have no keys yet, so they do not affect the solved poses.
            split = np.split(rotations, ends, axis=1), np.split(locations, ends, axis=1)
            solved_poses = np.concatenate([solved(*arguments) for arguments in zip(frames, *split, strict=True)])
            rotations[left_over], locations[left_over] = self._structure.channels_of(left_over, poses, solved_poses)
        return np.split(rotations, ends, axis=1), np.split(locations, ends, axis=1)

    def write(self, action: Action, frames: NDArray[np.float32], rotations: Floats, locations: Floats) -> None:
        """Create an action of the controls with these channels, and let ``action`` point at it."""
        copy, keys = self._template.copy(f"{action.name} Controls"), _keys(self._rows, frames, rotations, locations)
        write_keys(list(compat.curve_bag(copy).fcurves), keys)
        copy.use_frame_range = True
        copy.frame_start, copy.frame_end = float(frames[0]), float(frames[-1])
        if action.motionbridge_controls is not None:
            self._replaced.append(action.motionbridge_controls)
        action.motionbridge_controls = copy
        counts = np.full(len(keys), len(frames), np.int64)
        self._edits.seal(action, bone_curves.keys_written(self._identity, counts, keys.reshape(-1, 2)))

    @contextmanager
    def solving(self, frames: float) -> Iterator[_Solved | None]:
        """Yield a function that evaluates solved controls: channels of all controls -> poses (frames, controls, 4, 4).

        Only the rows of controls that are parents of left-over controls are filled. Yields None if no control is
        solved. ``frames``: how many will be evaluated.
        """
        if not len(self._left_over):
            yield None
            return
        wanted = set(self._structure.parents[self._left_over].tolist())
        needed = _with_dependencies(self._controls, wanted)
        keyed = self._structure.rows(*KEYED - {Role.LEFT_OVER})
        keyed = keyed[[row in needed for row in keyed.tolist()]]
        copy = _copy_for_evaluation(self._controls, needed, self._made)
        if frames >= CUT_FRAMES and not self._is_cut(copy, needed):
            copy = _copy_for_evaluation(self._controls, needed, self._made)
        with _evaluated_alone(self._rig, copy, keyed, np.array(sorted(wanted)), self._made) as poses:
            yield poses

    def _is_cut(self, copy: Object, needed: set[int]) -> bool:
        """Remove all bones but ``needed`` from a copy of the controls; return whether the others rest where they did:
        Blender may round rest poses that were edited.
        """
        names = [self._controls.data.bones[row].name for row in sorted(needed)]
        with scope.editing_armature(self._context, copy) as edit_bones:
            for bone in [bone for bone in edit_bones if bone.name not in names]:
                edit_bones.remove(bone)
        index = {name: row for row, name in enumerate(copy.data.bones.keys())}
        rest = matrices_of(copy.data.bones, "matrix_local")[[index[name] for name in names]]
        return np.array_equal(rest, self._structure.rest[sorted(needed)])


@contextmanager
def _evaluated_alone(
    rig: Object, copy: Any, keyed: NDArray[np.intp], wanted: NDArray[np.intp], created: list[Any]
) -> Iterator[_Solved]:
    """Yield a function: frames and channels of all controls -> poses (frames, controls, 4, 4), filled for the
    ``wanted`` controls only.

    They are evaluated on a ``copy`` of the controls with all switches off, in a scene of its own: nothing else is
    evaluated and the user's scene does not change. Controls that are not ``keyed`` have their current channels. What is
    made is added to ``created``, whose contents the caller removes.
    """
    scene, played = bpy.data.scenes.new(SCRATCH), _idle_action(copy)
    created += [scene, played]
    scene.collection.objects.link(copy)
    layer, names_of_all, own = scene.view_layers[0], controls_of(rig).data.bones.keys(), copy.pose.bones.keys()
    own_keyed, own_wanted = ([own.index(names_of_all[row]) for row in rows.tolist()] for rows in (keyed, wanted))

    def poses(frames: NDArray[np.float32], *values: Floats) -> Floats:
        channels = []
        for (name, width), given in zip(CHANNELS, values, strict=True):
            current = np.empty(len(own) * width, np.float32)
            copy.pose.bones.foreach_get(name, current)
            rows = np.tile(current.reshape(-1, width), (len(frames), 1, 1))
            rows[:, own_keyed] = given[keyed].swapaxes(0, 1)
            channels.append((name, rows.reshape(len(frames), -1)))
        result = np.empty((len(frames), len(names_of_all), 4, 4))
        with scope.posed(copy), scope.playing(rig, None) if copy.parent is not None else nullcontext():
            for number, frame in enumerate(frames.tolist()):
                # F-curves of all channels would take half of the time. Blender does not copy these to the evaluated
                # object before the frame changes, so they are written to both.
                for obj in (copy, copy.evaluated_get(layer.depsgraph)):
                    for name, rows in channels:
                        obj.pose.bones.foreach_set(name, rows[number])
                scope.set_frame(scene, frame)
                evaluated = copy.evaluated_get(layer.depsgraph).pose.bones
                result[number, wanted] = matrices_of(evaluated, "matrix")[own_wanted]
        return result

    with scope.playing(copy, played), switched_off(copy):
        mute_unkeyed_holds(copy, played)
        layer.update()
        yield poses


def _idle_action(controls: Object) -> Action:
    """Create an action that changes nothing. It lets Blender evaluate all bones on each frame, since it has keys for
    those without a parent: their scale, which a transfer does not set.
    """
    action, _, bag = compat.new_action(SCRATCH, "OBJECT", compat.slot_name(controls))
    make = compat.curve_maker(action, bag)
    for bone in (bone for bone in controls.pose.bones if bone.parent is None):
        curve = make(bone_curves.channel_path(bone.name, "scale"), 0, bone.name)
        write_keys([curve], np.array([[[0.0, bone.scale[0]]]], np.float32))
    return action


def _copy_for_evaluation(controls: Object, needed: set[int], created: list[Any]) -> Any:
    """Copy the controls, with the same world transform; the copy keeps the parent only if it must.

    ``needed``: controls to evaluate, including all that they depend on; drivers are removed from the others and their
    constraints are muted. The copy and its armature are added to ``created``.
    """
    scope.refuse_edited([controls])
    copy: Any = controls.copy()
    created.append(copy)
    copy.data = controls.data.copy()
    created.append(copy.data)
    copy.name = copy.data.name = SCRATCH
    copy.data.animation_data_clear()
    copy.hide_viewport = False
    moved = {controls.data.bones[row].name for row in needed}
    for curve in list(copy.animation_data.drivers) if copy.animation_data is not None else ():
        if compat.is_hiding(curve) or bone_within(curve.data_path) not in moved:
            copy.animation_data.drivers.remove(curve)
    for bone in copy.pose.bones:
        bone.custom_shape = None
        for constraint in bone.constraints if bone.name not in moved else ():
            constraint.mute = True
    redirect_references(copy, controls)
    world = controls.parent.matrix_world if controls.parent is not None else Matrix()
    world = world @ controls.matrix_parent_inverse @ controls.matrix_basis
    is_alone = all(getattr(owner, name) in (None, copy) for owner, name in references_of(copy))
    # The solution for nearly straight limbs changes if one bit of the transform is different.
    if is_alone and np.array_equal(np.array(world), np.eye(4)):
        copy.parent = None
        copy.matrix_basis = world
    return copy


def _keys(
    rows: NDArray[np.intp], frames: NDArray[np.float32], rotations: Floats, locations: Floats
) -> NDArray[np.float32]:
    """Return (curves, frames, 2) keys of the controls ``rows``, of channels of all controls."""
    return keys_at(frames, rotations[rows], locations[rows]).reshape(-1, len(frames), 2)


def _remove_unused(blocks: Sequence[Any]) -> None:
    """Remove scenes, their objects with the data of these, and actions. Nothing else uses them, so Blender need not
    search the whole file for users, which would take most of the time.

    A data-block is removed before what it uses: Blender looks at the objects of a scene once more to remove the scene,
    and would read memory that is free already.
    """
    kinds: dict[Any, Any] = {
        bpy.types.Scene: bpy.data.scenes,
        bpy.types.Object: bpy.data.objects,
        bpy.types.Armature: bpy.data.armatures,
        bpy.types.Action: bpy.data.actions,
    }
    for kind, data in kinds.items():
        for unused in (block for block in blocks if isinstance(block, kind)):
            unused.user_clear()
            data.remove(unused, do_unlink=False)


def _with_dependencies(controls: Object, rows: set[int]) -> set[int]:
    """Return these controls and all controls that they depend on."""
    index = {bone.name: number for number, bone in enumerate(controls.data.bones)}
    uses: dict[str, set[str]] = {name: set() for name in index}
    for bone in controls.pose.bones:
        needed = uses[bone.name]
        if bone.parent is not None:
            needed.add(bone.parent.name)
        for constraint in bone.constraints:
            needed |= {getattr(constraint, name, "") for name in ("subtarget", "pole_subtarget")}
            needed |= {target.subtarget for target in getattr(constraint, "targets", ())}
    drivers = controls.animation_data.drivers if controls.animation_data is not None else ()
    for curve in (driver for driver in drivers if not compat.is_hiding(driver)):
        for target in (target for variable in curve.driver.variables for target in variable.targets):
            used = uses.setdefault(bone_within(curve.data_path), set())
            used.update({target.bone_target, bone_within(target.data_path)})
    names = list(index)
    waiting, known = list(rows), set(rows)
    while waiting:
        new = {index[name] for name in uses[names[waiting.pop()]] if name in index} - known
        known |= new
        waiting += new
    return known


def show(context: Context, rig: Object, action: Action) -> None:
    """Let the controls of ``rig`` play what belongs to ``action``; transfer the motion if that was not done yet. An
    armature that follows the controls of another gets its own. Does nothing without controls.
    """
    own_controls(context, rig)
    controls = controls_of(rig)
    if controls is None:
        return
    mine = control_action(rig, action)
    if mine is None:
        mine = transfer(context, rig, action)
    elif mine != action.motionbridge_controls:
        action.motionbridge_controls = mine
    elif len(users_of(mine)) > 1:
        mine = mine.copy()
        action.motionbridge_controls = mine
    data = controls.animation_data
    reset_unkeyed_switches(controls, data.action if data is not None else None, mine)
    compat.assign(controls, mine)
    mute_unkeyed_holds(controls, mine)
