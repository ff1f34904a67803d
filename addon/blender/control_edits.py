"""Detection of edited controls: whether an export can use an armature's own keys for what its control rig shows.

A transfer stores a digest of the keys of the controls, of the armature's own keys, and of everything between them
(constraints, switches, both rest poses). As long as the digest matches, the armature's own keys define its poses. If it
does not, poses are sampled, and on each frame a bone that still has the pose of its own keys gets exactly their values.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core import affine, control_poses, control_rig, rotation
from ..core.model import Clip
from . import compat
from .armature import matrices_of, moving
from .bone_curves import KeysRead, bone_path, bone_within, keys_read
from .control_links import HOLD, OWN, RESTING, ROLE, SWITCH, control_action, controls_of, hold_path, holds_of, links_of

if TYPE_CHECKING:
    import bpy

    from .typed import Action, Object

Floats = NDArray[np.float64]

CONTROLS = "controls of a control rig that were edited"
"""Reason why a pose is not defined by its keys alone."""
_DIGEST_SIZE = 16
_CONSTRAINT_SETTINGS = (
    "name", "type", "mute", "subtarget", "pole_subtarget", "chain_count", "use_tail", "use_stretch", "use_rotation",
    "iterations", "weight", "orient_weight", "pole_angle", "owner_space", "target_space", "mix_mode", "use_location",
    "remove_target_shear", "space_subtarget",
)  # fmt: skip
"""Constraint settings in the digest, for constraints that have them."""


class ControlEdits:
    """Detects edited controls of one armature; holds what is the same for all its actions."""

    def __init__(self, rig: Object, read: Callable[[Action, Object], KeysRead] = keys_read) -> None:
        """``rig`` may be without a control rig. ``read``: `keys_read`, or `keys_known` for previews."""
        self._rig, self._controls, self._read = rig, controls_of(rig), read
        self._rig_digest, self._added_digest = b"", b""
        self._unkeyed: dict[bytes, list[Any]] = {}
        if self._controls is not None:
            self._rig_digest, self._added_digest = self._compute_rig_digest(), self._compute_added_digest()

    def bones(self, action: Action | None, *, in_play: bool = True) -> set[str]:
        """Return the names of the bones that edited controls may move while ``action`` plays.

        ``in_play``: constraints and drivers that the user has added count as edits; they change no other motion.
        """
        if self._controls is None:
            return set()
        if action is not None:
            mine = control_action(self._rig, action)
            if mine is None:
                return set()
            digest, sealed = self.digest(action).hex(), mine.motionbridge_controls_digest
            if digest and sealed.startswith(digest) and not (in_play and sealed != digest + self._added_digest.hex()):
                return set()
        return {name for name, link in links_of(self._rig).items() if not link.mute}

    def seal(self, action: Any, keys: KeysRead) -> None:
        """Store the digest of the current controls of ``action``; ``keys`` are those of the controls.

        To be called when they show exactly the pose of the action's own keys.
        """
        mine = action.motionbridge_controls
        digest = self._digest_with(action, mine, keys)
        mine.motionbridge_controls_digest = (digest + self._added_digest).hex() if digest else ""

    def digest(self, action: Action | None) -> bytes:
        """Return the digest of an action that has controls; empty if keys do not define what they show."""
        mine = control_action(self._rig, action)
        return self._digest_with(action, mine, self._read(mine, self._controls) if mine is not None else KeysRead())

    def _digest_with(self, action: Any, mine: Any, keys: KeysRead) -> bytes:
        of_controls = keys.digest or _all_values(mine, self._controls)
        own = _keys_of(action, self._rig, self._read)
        if not of_controls or not own:
            return b""
        unkeyed = self._unkeyed.get(keys.identity) if keys.digest else None
        if unkeyed is None:
            # Alike for actions with the same F-curves: nothing changes values without keys in the meantime.
            unkeyed = self._unkeyed[keys.identity] = self._unkeyed_values(mine)
        digest = blake2b(self._rig_digest, digest_size=_DIGEST_SIZE)
        digest.update(of_controls + own + repr(unkeyed).encode())
        return digest.digest()

    def _compute_rig_digest(self) -> bytes:
        controls = self._controls
        digest = blake2b(digest_size=_DIGEST_SIZE)
        for owner in (self._rig, controls):
            digest.update(repr([(bone.name, bone.parent and bone.parent.name) for bone in owner.data.bones]).encode())
            digest.update(matrices_of(owner.data.bones, "matrix_local").astype(np.float32).tobytes())
        settings: list[Any] = [bone.rotation_mode for bone in self._rig.pose.bones]
        settings += [
            (
                bone.name,
                bone.rotation_mode,
                [self._settings_of(constraint) for constraint in bone.constraints if _is_fixed(constraint)],
            )
            for bone in controls.pose.bones
        ]
        links = [(name, self._settings_of(link)) for name, link in links_of(self._rig).items()]
        digest.update(repr((settings, links, self._drivers(own=True))).encode())
        return digest.digest()

    def _compute_added_digest(self) -> bytes:
        """Return a digest of the constraints and drivers that the user has added to the controls, and of constraints of
        the armature's bones: the controls of their descendants were keyed with the effect of these.
        """
        added: list[Any] = [
            (bone.name, [self._settings_of(constraint) for constraint in moving(bone)]) for bone in self._rig.pose.bones
        ]
        added += [
            (
                bone.name,
                [
                    self._settings_of(constraint)
                    for constraint in bone.constraints
                    if not constraint.name.startswith(OWN)
                ],
            )
            for bone in self._controls.pose.bones
        ]
        return blake2b(repr((added, self._drivers(own=False))).encode(), digest_size=_DIGEST_SIZE).digest()

    def _drivers(self, *, own: bool) -> list[Any]:
        """Return what the drivers of the control rig do: its ``own`` ones, or those that the user has added."""
        data = self._controls.animation_data
        return [
            (curve.data_path, curve.mute, curve.driver.type, curve.driver.expression)
            for curve in (data.drivers if data is not None else ())
            if not compat.is_hiding(curve) and self._is_own_driver(curve.data_path) == own
        ]

    def _is_own_driver(self, path: str) -> bool:
        bone = self._controls.data.bones.get(bone_within(path))
        is_twist = bone is not None and bone.get(ROLE) == control_rig.Role.TWIST.value
        return f'.constraints["{OWN}' in path or is_twist

    def _settings_of(self, constraint: bpy.types.Constraint) -> list[Any]:
        return _settings(constraint, self._controls)

    def _unkeyed_values(self, mine: Action | None) -> list[Any]:
        """Return switches and scales without keys, and the targets of Hold Bone constraints with keys."""
        keyed = {curve.data_path for curve in compat.curves_of(mine, self._controls)}
        result: list[Any] = []
        for bone in self._controls.pose.bones:
            path = bone_path(bone.name)
            result += [
                (path, name, round(float(value), 6))
                for name, value in bone.items()
                if isinstance(value, (int, float)) and name != RESTING and f'{path}["{name}"]' not in keyed
            ]
            for hold in holds_of(bone):
                if hold_path(hold) in keyed:
                    result.append((path, hold.mute, [target.subtarget for target in hold.targets]))
            if f"{path}.scale" not in keyed and bone.scale[:] != (1.0, 1.0, 1.0):
                result.append((path, bone.scale[:]))
        return result


def _is_fixed(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint of a control was added with the control rig."""
    return constraint.name.startswith(OWN) and not constraint.name.startswith(HOLD)


def bones_of_deleted_controls(rig: Object) -> list[str]:
    """Return the names of an armature's bones that depend on deleted controls.

    If a constraint no longer finds its target bone, Blender uses the whole control rig object as its target.
    """
    controls = controls_of(rig)
    if controls is None:
        return []
    bones = controls.data.bones
    broken = {
        bone.name
        for bone in controls.pose.bones
        if not all(map(bones.__contains__, _constraint_targets(bone, controls)))
    }
    broken |= {
        bone.name for bone in bones if bone.get(ROLE) == control_rig.Role.TARGET.value and not _has_control(bone)
    }
    links = {name: link.subtarget for name, link in links_of(rig).items() if not link.mute}
    return [
        name
        for name, target in links.items()
        if target not in bones or (broken and not broken.isdisjoint(_dependencies(controls, target)))
    ]


def deleted_controls(rig: Object, action: Action) -> list[str]:
    """Return the deleted controls that the controls action of ``action`` still has keys for."""
    controls = controls_of(rig)
    mine = control_action(rig, action) if controls is not None else None
    named = (bone_within(curve.data_path) for curve in compat.curves_of(mine, controls)) if mine is not None else ()
    return [name for name in dict.fromkeys(named) if name and name not in controls.data.bones]


def _constraint_targets(bone: Any, controls: Object) -> list[str]:
    """Return the bones of its own rig that the constraints of a control refer to."""
    ends = (("target", "subtarget"), ("pole_target", "pole_subtarget"))
    return [
        getattr(constraint, name)
        for constraint in bone.constraints
        for target, name in ends
        if not constraint.mute and getattr(constraint, target, None) == controls
    ]


def _has_control(bone: Any) -> bool:
    """Whether the control that is to move a target is still its parent, except for the bones allowed in between."""
    between = {role.value for role in control_rig.BETWEEN}
    above = next((ancestor for ancestor in bone.parent_recursive if ancestor.get(ROLE) not in between), None)
    return above is not None and above.get(ROLE) == control_rig.Role.FREE.value


def _dependencies(controls: Object, target: str) -> set[str]:
    """Return the controls that a target depends on, up to those that move one bone of the game."""
    result: set[str] = set()
    waiting = [target]
    while waiting:
        bone = controls.pose.bones.get(waiting.pop())
        if bone is None or bone.name in result:
            continue
        result.add(bone.name)
        if bone.bone.get(ROLE) != control_rig.Role.FREE.value:
            waiting += [*_constraint_targets(bone, controls), *([bone.parent.name] if bone.parent is not None else [])]
    return result


def digest_of_keys(rig: Object, action: Action) -> str:
    """Return a digest of the keys of an action and of its controls; "" if modifiers change them."""
    mine, controls = control_action(rig, action), controls_of(rig)
    digests = [
        _keys_of(action, rig),
        *([_keys_of(mine, controls)] if mine is not None and controls is not None else []),
    ]
    return b"".join(digests).hex() if all(digests) else ""


def _keys_of(action: Any, owner: Object, read: Callable[[Action, Object], KeysRead] = keys_read) -> bytes:
    """Return the digest of the keys that are ``read``; if it is empty, one of all values of the keys; empty if
    modifiers change them.
    """
    return read(action, owner).digest or _all_values(action, owner)


def _all_values(action: Any, owner: Object) -> bytes:
    """Return a digest of all values of the keys of an action; empty if modifiers change them."""
    digest = blake2b(digest_size=_DIGEST_SIZE)
    for curve in compat.curves_of(action, owner):
        if len(curve.modifiers) or not len(curve.keyframe_points):
            return b""
        digest.update(repr((curve.data_path, curve.array_index, curve.extrapolation, compat.is_muted(curve))).encode())
        for name, width in (("co", 2), ("handle_left", 2), ("handle_right", 2), ("interpolation", 1)):
            values = np.empty(width * len(curve.keyframe_points), np.uint8 if width == 1 else np.float32)
            curve.keyframe_points.foreach_get(name, values)
            digest.update(values.tobytes())
    return digest.digest()


@cache
def _properties_of(kind: Any) -> set[str]:
    """Return the names of the properties of a constraint type."""
    return set(kind.bl_rna.properties.keys())


def _settings(constraint: bpy.types.Constraint, controls: Object) -> list[Any]:
    kind: Any = type(constraint)
    had = _properties_of(kind)
    settings = [getattr(constraint, name) if name in had else None for name in _CONSTRAINT_SETTINGS]
    settings += [target == controls for target in (getattr(constraint, "target", None),) if target is not None]
    return settings if constraint.name == SWITCH else [*settings, round(constraint.influence, 6)]


def keep_baseline(sampled: Clip, base: Clip) -> None:
    """Copy the values of ``base`` to ``sampled`` on frames on which a bone has the same pose in both within the
    tolerance.

    Rotation and translation are compared separately.
    """
    alike = control_poses.unedited_rotations(sampled.rotations, base.rotations)
    sampled.rotations[alike] = base.rotations[alike]
    near = control_poses.unedited_locations(sampled.translations, base.translations)
    sampled.translations[near] = base.translations[near]
    still = alike.all(axis=1), near.all(axis=1)
    sampled.rotation_keyed[still[0]] = base.rotation_keyed[still[0]]
    sampled.translation_keyed[still[1]] = base.translation_keyed[still[1]]


def keep_deltas(visible: Floats, base: Floats, rests: Floats) -> None:
    """Do the same for deltas (bones, frames, 4, 4) of a whole pose, relative to the rest pose ``rests`` (bones, 4, 4).

    Controls have no scale and shear, so these keep the values of the bone's own keys, along the axes of the bone.
    """
    first, other = visible @ rests[:, None], base @ rests[:, None]
    placed = affine.rigid(other)
    same = control_poses.unedited_locations(first[..., :3, 3], other[..., :3, 3])
    same &= control_poses.unedited_rotations(
        *(rotation.from_matrices(poses[..., :3, :3]) for poses in (affine.rigid(first), placed))
    )
    stretched = first.copy()
    stretched[..., :3, :3] = first[..., :3, :3] @ placed[..., :3, :3].swapaxes(-1, -2) @ other[..., :3, :3]
    visible[:] = np.where(same[..., None, None], base, stretched @ np.linalg.inv(rests)[:, None])
