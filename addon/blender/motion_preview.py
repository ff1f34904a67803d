"""An armature shows a motion that is not one of its own yet, until that is kept or everything is given back."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from . import foreign_motions, nla, rotation_modes, scope
from .control_links import remove_action

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from .typed import Context, Object

NAME = ".motionbridge"


class MotionPreview:
    """What ``rig`` shows from `show` to `close`. ``frames``: the first and the last frame of what it shows."""

    def __init__(self, context: Context, rig: Object) -> None:
        scope.refuse_tweaked(rig)
        # Assigning an action to an object that was never evaluated crashes some Blender versions.
        context.view_layer.update()
        scene = context.scene
        self.frames = (scene.frame_current, scene.frame_current)
        self._rig, self._kept, self._shown = rig, ExitStack(), ExitStack()
        self._kept.callback(scene.frame_set, scene.frame_current, subframe=scene.frame_subframe)
        self._kept.enter_context(rotation_modes.modes_set(rig, dict.fromkeys(rig.pose.bones.keys(), "QUATERNION")))

    def show(self, poses: NDArray[np.float64], bones: Sequence[str], root_frame: NDArray[np.float64] | None) -> None:
        """Show poses (frames, bones, 4, 4) instead of what is shown now; arguments as in `foreign_motions.build`."""
        self._shown.close()
        action = foreign_motions.build(self._rig, NAME, poses, bones, root_frame)
        self._shown.callback(remove_action, action)
        self._shown.enter_context(nla.alone(self._rig, action))
        first, last = action.frame_range
        self.frames = (round(first), round(last))

    def close(self) -> None:
        """Give back what the armature played, its pose and rotation modes, and the frame."""
        self._shown.close()
        self._kept.close()
