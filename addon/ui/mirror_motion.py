"""Mirror Motion: the motion that plays with left and right exchanged, as a new one beside it."""

from ..blender import action as actions
from ..blender import action_lists, mirror
from ..blender.typed import Context
from ..core.report import Report
from ..games.arma import animation_edit, animation_import
from ..games.xray.motions import library, omf_codec, skl_codec
from . import playing
from .bases import BlenderOperator, classes_of, rpt_
from .operation import Outcome
from .target import OnAction


class MOTIONBRIDGE_OT_mirror_motion(OnAction, BlenderOperator):
    """Add the motion with left and right exchanged as a new motion and play it; its file gets it on the next save"""

    bl_idname = "motionbridge.mirror_motion"
    bl_label = "Mirror Motion"

    def edited(self, context: Context) -> tuple:
        """The action, and the armature with its list."""
        return self.chosen(context)

    def run(self, context: Context, _report: Report) -> Outcome:
        """Mirror what the motion shows, list the result where the original is listed, and play it."""
        rig, action = self.chosen(context)
        label = action.motionbridge_motion.motion_name or action.name
        copy = mirror.mirrored_action(context, rig, action, f"{label}_mirrored")
        if copy.motionbridge_animation.is_animation:
            animation_edit.reflect_step(copy)
        for codec in (omf_codec.OMF, skl_codec.SKL):
            file = action_lists.file_of(rig, action, codec.lists)
            if file is not None:
                copy = library.add(codec, file, copy)
        actions.play(context, rig, copy)
        animation_import.adopt_unlisted(rig)
        first, last = copy.frame_range
        playing.start(context, (round(first), round(last)))
        return Outcome(rpt_("{} is {} with left and right exchanged").format(copy.name, action.name))


CLASSES = classes_of(__name__)
