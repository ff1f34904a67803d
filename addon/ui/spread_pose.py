"""Spread Pose: what was changed in the pose on one frame is added to the frames around it."""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, IntProperty

from ..blender import compat, scope, spread
from ..blender.typed import Context, Object
from ..core import spread as spans
from ..core.errors import MotionbridgeError
from ..core.report import Report, listed, say
from ..games.xray.motions import omf_codec
from .bases import BlenderOperator, classes_of, iface_, rpt_, tell
from .layouts import fields, paragraph
from .operation import Need, Operation, Outcome
from .target import active_action, active_object, active_rig

if TYPE_CHECKING:
    from ..blender.spread import Spreading


LINE = 60
"""Characters that fit into one line of the dialog."""
RESCALED = say("tracks get another range in the file, so their other frames are rounded again")


def _posed(context: Context) -> Any:
    """Return the active armature object if it is in pose mode, or None."""
    active = active_object(context)
    return active if active is not None and active.type == "ARMATURE" and active.mode == "POSE" else None


class MOTIONBRIDGE_OT_spread_pose(Operation, BlenderOperator):
    """Add what you changed in the pose on this frame, with or without keys, to a range of frames with smooth fades"""

    bl_idname = "motionbridge.spread_pose"
    bl_label = "Spread Pose"
    needs = (Need("Pose bones or controls in pose mode first", _posed),)

    first: IntProperty(name="First Frame", description="First frame with the whole change", default=0)
    last: IntProperty(name="Last Frame", description="Last frame with the whole change", default=0)
    fade_in: IntProperty(
        name="Fade In", description="Frames before the first on which the change grows", default=5, min=0, soft_max=100
    )
    fade_out: IntProperty(
        name="Fade Out", description="Frames after the last on which the change fades", default=5, min=0, soft_max=100
    )
    keeps_loop: BoolProperty(
        name="Keep the Loop",
        description="The motion ends in the pose in which it begins: a change beyond one of its ends continues at "
        "the other",
        default=True,
    )
    frame: IntProperty(
        name="Show Frame",
        description="Frame that the viewport shows while this dialog is open",
        options={"SKIP_SAVE"},
    )
    if TYPE_CHECKING:  # as in `LongWork`
        _spreading: Spreading | None = None
        _open: ExitStack | None = None
        _refusal: MotionbridgeError | None = None
        _previewed: tuple[int, ...] = ()
        _rescaled: Sequence[str] = ()
    else:
        _spreading = _open = _refusal = None
        _previewed = _rescaled = ()

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        owner: Any = _posed(context)
        return (owner, owner.animation_data.action if owner.animation_data is not None else None)

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Open the dialog with the change spread around the current frame."""
        self.frame = context.scene.frame_current
        if not any(map(self.properties.is_property_set, ("first", "last"))):
            self.first = self.last = self.frame
        return self.execute(context) if bpy.app.background else self.answer(context, self._ask)

    def _ask(self, context: Context, _report: Report) -> None:
        owner = _posed(context)
        self._spreading = spread.spreading(context, owner, _selected(owner))
        self._open = ExitStack()
        self._open.enter_context(scope.kept_pose(owner))
        self._open.callback(context.scene.frame_set, context.scene.frame_current, subframe=context.scene.frame_subframe)
        self.check(context)
        context.window_manager.invoke_props_dialog(self, width=360)

    def check(self, context: Context) -> bool:
        """Show the change with the fields of the dialog in the viewport; nothing where the operator is repeated."""
        if self._open is None:
            return False
        fields_now = self.first, self.last, self.fade_in, self.fade_out, self.keeps_loop
        if self._spreading is not None and fields_now != self._previewed:
            self._previewed, self._refusal, self._rescaled = fields_now, None, ()
            try:
                self._spreading.apply(context, self._span(), keeps_loop=self.keeps_loop)
                self._rescaled = _rescaled(context, self._spreading)
            except MotionbridgeError as refusal:
                self._refusal = refusal
        if self.frame != context.scene.frame_current:
            scope.set_frame(context.scene, self.frame)
        return True

    def draw(self, _context: Context) -> None:
        """Draw the range; in the dialog also the frame to look at, and what the change leaves out."""
        layout = fields(self.layout)
        for names in (("first", "last"), ("fade_in", "fade_out")):
            column = layout.column(align=True)
            for name in names:
                column.prop(self, name)
        if self._open is None or self._spreading is None:
            return
        if self._spreading.crosses_an_end(self._span()):
            layout.prop(self, "keeps_loop")
        layout.prop(self, "frame")
        layout.label(text=iface_("Changed: {}").format(listed(self._spreading.bones)), translate=False)
        refused = [self._refusal.sentence()] if self._refusal is not None else []
        for line in [*refused, *(say("{}: {}", words, listed(bones)) for words, bones in self._spreading.left.items())]:
            paragraph(layout, tell(line), LINE, icon="ERROR")
        if self._rescaled:
            paragraph(layout, tell(say("{}: {}", RESCALED, listed(self._rescaled))), LINE, icon="INFO")

    def cancel(self, context: Context) -> None:
        """Give keys, pose and frame back; called by Blender when the dialog is left without a confirmation."""
        self._close()
        super().cancel(context)

    def _close(self) -> None:
        """Restore what the dialog has changed."""
        if self._open is not None and self._spreading is not None:
            self._spreading.restore()
            self._open.close()
            self._open = None

    def _span(self) -> "spans.Span":
        first, last = sorted((self.first, self.last))
        return spans.Span(first, last, self.fade_in, self.fade_out)

    def run(self, context: Context, report: Report) -> Outcome:
        """Spread the change; what was changed is known if the dialog was open, also when the operator is repeated."""
        self._close()
        owner, span = _posed(context), self._span()
        known = self._spreading
        spreading = known.of(owner) if known is not None else spread.spreading(context, owner, _selected(owner))
        count = spreading.apply(context, span, keeps_loop=self.keeps_loop)
        if self.keeps_loop and spreading.crosses_an_end(span):
            report.note("the motion is a loop, so a change beyond one of its ends continues at the other")
        for words, bones in spreading.left.items():
            report.warn(words, listed(bones))
        rescaled = _rescaled(context, spreading)
        if rescaled:
            report.note(RESCALED, listed(rescaled))
        text = rpt_("Bones spread over {} frames: {}")
        return Outcome(text.format(count, listed(spreading.bones)))


def _selected(owner: Object) -> list[str]:
    return [bone.name for bone in owner.data.bones if compat.is_selected(owner, bone)]


def _rescaled(context: Context, spreading: "Spreading") -> list[str]:
    """Return the bones of a game's motion whose tracks have to be stored in another range to hold the change."""
    rig, action = active_rig(context), active_action(context)
    if action is None or not action.motionbridge_motion.is_motion or not spreading.moves_joints:
        return []
    return omf_codec.rescaled(context, rig, action)


CLASSES = classes_of(__name__)
