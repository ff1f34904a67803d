"""Mirror Motion: the motion that plays with left and right exchanged, as a new one beside it."""

from ..blender import action as actions
from ..blender import mirror
from ..blender.action_lists import label_of
from ..blender.typed import Context
from ..core.report import Report
from ..games.arma import animation_edit
from .bases import BlenderOperator, classes_of, rpt_
from .list_operators import listing_of
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
        before = label_of(action)
        copy = mirror.mirrored_action(context, rig, action, f"{before}_mirrored")
        if copy.motionbridge_animation.is_animation:
            animation_edit.reflect_step(copy)
        known = listing_of(rig, action)
        if known is None:
            actions.play(context, rig, copy)
        else:
            listing, file = known
            copy = listing.edits.add(file, copy)
            listing.play(rig, copy)
        label = label_of(copy)
        return Outcome(rpt_("{} is {} with left and right exchanged").format(label, before))


CLASSES = classes_of(__name__)
