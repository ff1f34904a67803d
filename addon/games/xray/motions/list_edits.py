"""What the buttons beside a list of motions do: new, moved and deleted motions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....blender import action as actions
from ....blender import action_lists
from ....blender.armature import rest_of
from ....blender.control_links import remove_action
from ....core import names, space
from ....formats.xray.omf.document import FRAMES_PER_SECOND
from .files import lists_of
from .library import add, imported_name, motions_of

if TYPE_CHECKING:
    from ....blender.typed import Action, Object
    from .library import AnyCodec
    from .properties import MotionFile, SkeletalFile


def new(codec: AnyCodec, rig: Object, file: MotionFile | SkeletalFile, name: str) -> Action:
    """Add a motion to a file with the pose that ``rig`` shows now; ``name`` gets a number if the file has it."""
    label = names.distinct(name, {action.motionbridge_motion.motion_name for action in motions_of(file)})
    rest, bones = rest_of(rig, space.XRAY_ROOT_FRAME), codec.bones_of_new(rig, file)
    return add(codec, file, actions.action_of_pose(rig, rest, label, bones, FRAMES_PER_SECOND))


def move(file: MotionFile, action: Action, steps: int) -> None:
    """Move an action up (negative ``steps``) or down in the list of its file."""
    listed = motions_of(file)
    index = listed.index(action)
    listed.insert(min(max(index + steps, 0), len(listed) - 1), listed.pop(index))
    for order, moved in enumerate(listed):
        moved.motionbridge_motion.order = order


def delete(file: MotionFile | SkeletalFile, action: Action) -> None:
    """Remove an action from the list of its file, which loses its motion on the next save, and delete it unless
    another armature's file lists it too.
    """
    lists = lists_of(file)
    index = action_lists.members(file, lists)[action]
    if index >= 0:
        deleted = file.deleted.add()
        deleted.name, deleted.index = imported_name(action, lists), index
    action_lists.remove(file, action)
    if not action_lists.is_listed(action, lists):
        remove_action(action)
