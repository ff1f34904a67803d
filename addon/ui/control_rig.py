"""Operators and panel buttons of control rigs: add, remove, move motions onto them, match, hold a bone."""

from collections.abc import Iterable
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ..blender import (
    action_lists,
    compat,
    control_edits,
    control_links,
    control_match,
    control_rig,
    control_transfer,
    nla,
    scope,
)
from ..blender.action_lists import label_of
from ..blender.typed import Action, Context, Object
from ..core.errors import WriteError
from ..core.report import Report, listed, say
from ..games.arma import animation_edit, animation_import
from ..games.xray.motions import files as motion_files
from ..games.xray.motions import properties as motion_properties
from ..games.xray.motions import saved_edits
from .bases import BlenderMenu, BlenderOperator, classes_of, iface_, rpt_
from .layouts import fields
from .operation import Need, Operation, Outcome, StartsAtOnce
from .target import RIG, active_action, active_rig, on_rig


class ControlRigOperation(Operation):
    """Base of operators on the active armature, or on the armature of the active control rig."""

    needs: tuple[Need, ...] = (RIG,)

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        return (active_rig(context),)


class OnControlRig(ControlRigOperation):
    """Base of operators on an armature that has a control rig."""

    needs: tuple[Need, ...] = (RIG, Need("The armature has no control rig: add one", on_rig(control_links.controls_of)))


class MOTIONBRIDGE_OT_add_control_rig(ControlRigOperation, BlenderOperator):
    """Add controls that show the same motion, with inverse kinematics for arms and legs; unedited motions stay exact"""

    bl_idname = "motionbridge.add_control_rig"
    bl_label = "Add Control Rig"
    # A copied armature shares the control rig of the original.
    needs = (RIG, Need("The armature has a control rig", on_rig(lambda rig: not control_links.owns_controls(rig))))

    twist: EnumProperty(
        name="Twist Bones",
        items=(
            (
                "FOLLOW",
                "Follow the Hand",
                "Twist bones keep their keys until the hand, foot or joint below them is rotated",
                0,
            ),
            ("KEEP", "Keep Keys", "Twist bones keep their keys even if the hand is rotated", 1),
        ),
    )

    def run(self, context: Context, report: Report) -> Outcome:
        """Add the control rig, move the playing motion onto it, and make it active."""
        rig, action = active_rig(context), active_action(context)
        if control_links.controls_of(rig) is None:
            control_rig.add(context, rig, is_following=self.twist == "FOLLOW")
        if action is not None:
            with scope.only_evaluated(context, [rig]):
                control_transfer.show(context, rig, action)
        else:
            control_rig.own_controls(context, rig)
        controls = control_links.controls_of(rig)
        if context.active_object == rig and context.mode in {"OBJECT", "POSE"}:
            control_rig.hand_over(context, rig, controls)
        limbs = len(control_rig.goals_of(controls))
        if not limbs:
            report.note("no arm or leg of two segments was found, so there is no inverse kinematics", rig.name)
        return Outcome(rpt_("{}: control rig with {} limbs").format(rig.name, limbs))


class MOTIONBRIDGE_OT_remove_control_rig(OnControlRig, BlenderOperator):
    """Remove the control rig with its actions; edits of the controls that were not saved back are lost"""

    bl_idname = "motionbridge.remove_control_rig"
    bl_label = "Remove Control Rig"

    def run(self, context: Context, report: Report) -> Outcome:
        """Remove the control rig and make the armature active instead.

        Motions whose edits were saved get the keys of their file.
        """
        rig = active_rig(context)
        controls = control_links.controls_of(rig)
        was_active, is_posed = context.active_object == controls, context.mode == "POSE"
        selected = control_rig.bones_of_selected(rig, controls)
        with scope.leaving_edit_mode(context):
            affected, edits = _with_controls(rig), control_edits.ControlEdits(rig)
            edited = [action for action in affected if edits.bones(action)]
            saved = {
                **animation_edit.saved_edits(context, rig, edited),
                **saved_edits.saved_edits(context, rig, edited),
            }
            control_rig.remove(context, rig, affected)
            for restore in saved.values():
                restore()
        lost = [label_of(action) for action in edited if action not in saved]
        if lost:
            words = "{:# motion is|# motions are} without the edits made with the controls; undo to keep these"
            report.warn(say(words, len(lost)), listed(lost))
        if was_active:
            control_rig.hand_back(context, rig, selected, is_posed=is_posed)
        return Outcome(rpt_("{}: control rig removed").format(rig.name))


def _with_controls(rig: Object) -> list[Action]:
    """Return the actions of an armature that have actions of controls.

    If no other armature has a control rig, these are all such actions of the file.
    """
    every: Any = bpy.data.actions
    result = [action for action in every if action.motionbridge_controls is not None]
    others = [
        other for other in motion_files.objects() if other != rig and control_links.controls_of(other) is not None
    ]
    if not others:
        return result
    mine = {*_motions_of(rig), *action_lists.used_by(rig)}
    return [action for action in result if action in mine]


def _motions_of(rig: Object) -> list[Action]:
    """Return the actions of all motion files of an armature, and its animations of Arma."""
    lists = (motion_properties.LISTS, motion_properties.SKL_LISTS)
    of_files = [action for kind in lists for action in action_lists.files_of_actions(rig, kind)]
    return [*of_files, *animation_import.animations_of(rig)]


class MOTIONBRIDGE_OT_move_motions_to_controls(StartsAtOnce, OnControlRig, BlenderOperator):
    """Move every motion of the armature onto the control rig now; otherwise each is moved when it is first played"""

    bl_idname = "motionbridge.move_motions_to_controls"
    bl_label = "Move All Motions to Controls"

    def run(self, context: Context, _report: Report) -> Outcome:
        """Move the motions that have no action of controls yet."""
        rig = active_rig(context)
        control_rig.own_controls(context, rig)
        used = {*_motions_of(rig), *action_lists.used_by(rig)}
        waiting = [action for action in used if action.motionbridge_controls is None]
        waiting.sort(key=lambda action: str(action.name))
        with (
            scope.progress(context, len(waiting)) as step,
            scope.only_evaluated(context, [rig]),
            scope.kept_frame(context),
        ):
            control_transfer.transfer_all(context, rig, waiting, step)
        return Outcome(rpt_("Motions moved to controls: {}").format(len(waiting)), done=bool(waiting))


class MOTIONBRIDGE_OT_show_controls(OnControlRig, BlenderOperator):
    """Show the armature's active motion on the controls, if it was chosen outside of Motionbridge's lists"""

    bl_idname = "motionbridge.show_controls"
    bl_label = "Show This Motion"
    needs = (*OnControlRig.needs, Need("The armature plays no action", active_action))

    def run(self, context: Context, _report: Report) -> Outcome:
        """Play the action of controls of the active motion; create it first if there is none."""
        rig, action = active_rig(context), active_action(context)
        with scope.only_evaluated(context, [rig]):
            control_transfer.show(context, rig, action)
        return Outcome(rpt_("The controls show {}").format(label_of(action)))


class OnFrames(OnControlRig):
    """Base of operators on a control rig within a frame range, which a dialog asks for."""

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Open the dialog with the preview range, else from the current frame to the end of the scene."""
        scene = context.scene
        self.first, self.last = scene.frame_current, scene.frame_end
        if scene.use_preview_range:
            self.first, self.last = scene.frame_preview_start, scene.frame_preview_end
        return context.window_manager.invoke_props_dialog(self)


class MOTIONBRIDGE_OT_match_controls(OnFrames, BlenderOperator):
    """Key the IK or FK controls to the pose on this frame and switch to them; with Shift on a range of frames"""

    bl_idname = "motionbridge.match_controls"
    bl_label = "Match and Switch"

    to: EnumProperty(
        name="Switch To",
        items=(
            ("IK", "IK", "Move the IK targets and poles to the pose of the FK controls", 0),
            ("FK", "FK", "Move the FK controls to the pose of the IK targets", 1),
        ),
    )
    what: EnumProperty(
        name="Body Part",
        items=(
            ("LIMBS", "Arms and Legs", "Limbs of the selected controls, or all limbs", 0),
            ("HEAD", "Head", "Head and neck: the target that they look at (IK), or their own controls (FK)", 1),
        ),
    )
    control: StringProperty(
        name="Control", description="IK target or look-at target to switch; if empty, those of the body part"
    )
    first: IntProperty(name="First Frame", default=0)
    last: IntProperty(name="Last Frame", default=0)
    asks: BoolProperty(name="Ask for Frames", options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: Context, event: bpy.types.Event) -> Any:
        """Match on the current frame at once, or open the dialog."""
        if self.asks or event.shift:
            return OnFrames.invoke(self, context, event)
        self.first = self.last = context.scene.frame_current
        return self.execute(context)

    def draw(self, _context: Context) -> None:
        """Draw what to switch, if no button of one limb says it, and the frames."""
        layout = fields(self.layout)
        for name in ("to", *(() if self.control else ("what",)), "first", "last"):
            layout.prop(self, name)

    def run(self, context: Context, _report: Report) -> Outcome:
        """Match one limb or head, or those of the selected controls, or all."""
        rig = active_rig(context)
        controls = control_links.controls_of(rig)
        heads, limbs = (
            [bone.name for bone in bones(controls)] for bones in (control_rig.looks_of, control_rig.goals_of)
        )
        is_head = self.control in heads if self.control else self.what == "HEAD"
        every = heads if is_head else limbs
        chosen = [self.control] if self.control else _selected_goals(context, rig)
        goals = [name for name in chosen if name in every] or every
        count = control_match.match(context, rig, goals, (self.first, self.last), to_goals=self.to == "IK")
        text = rpt_("Heads switched: {}") if is_head else rpt_("Limbs switched: {}")
        return Outcome(text.format(count), done=count > 0)


class MOTIONBRIDGE_OT_hold_bone(OnFrames, BlenderOperator):
    """Make the selected boxes (IK targets) follow a bone on a range of frames; where none is chosen they let go"""

    bl_idname = "motionbridge.hold_bone"
    bl_label = "Hold Bone"

    bone: StringProperty(
        name="Bone",
        description="Bone to follow; if empty, the boxes let go of the bone that they follow on these frames",
    )
    first: IntProperty(name="First Frame", default=0)
    last: IntProperty(name="Last Frame", default=0)

    def draw(self, context: Context) -> None:
        """Draw a search field with the armature's bones, and the frames."""
        layout = fields(self.layout)
        layout.prop_search(self, "bone", active_rig(context).data, "bones")
        if not self.bone:
            layout.label(text="Without a bone the boxes let go on these frames", icon="INFO")
        layout.prop(self, "first")
        layout.prop(self, "last")

    def run(self, context: Context, _report: Report) -> Outcome:
        rig = active_rig(context)
        goals = _selected_goals(context, rig)
        if not goals:
            raise WriteError("no box of a hand or foot is selected", remedy="Select some in pose mode")
        held = control_match.hold(context, rig, goals, (self.first, self.last), self.bone)
        if self.bone:
            return Outcome(rpt_("Boxes that follow {}: {}").format(self.bone, held), done=held > 0)
        return Outcome(rpt_("Boxes that follow no bone: {}").format(held), done=held > 0)


def _selected_goals(context: Context, rig: Object) -> list[str]:
    """Return the goals of limbs of which any control is selected: the goal itself is hidden while its limb uses FK."""
    controls = control_links.controls_of(rig)
    if context.mode != "POSE":
        return []
    selected = {bone.name for bone in controls.data.bones if compat.is_selected(controls, bone)}
    return control_match.goals_of_limbs(rig, selected)


class MOTIONBRIDGE_MT_control_rig(BlenderMenu):
    """Matching on a range of frames, moving all motions to the controls, removing the controls"""

    bl_label = "Control Rig"

    def draw(self, _context: Context) -> None:
        layout = self.layout
        match = "motionbridge.match_controls"
        entries = (
            (layout.operator(match, text="Match to IK"), "IK", "LIMBS"),
            (layout.operator(match, text="Match to FK"), "FK", "LIMBS"),
            (layout.operator(match, text="Match Head to IK"), "IK", "HEAD"),
            (layout.operator(match, text="Match Head to FK"), "FK", "HEAD"),
        )
        for button, to, what in entries:
            button.to, button.what, button.asks = to, what, True
        layout.separator()
        layout.operator("motionbridge.move_motions_to_controls", icon="CON_ARMATURE")
        layout.separator()
        layout.operator("motionbridge.remove_control_rig", icon="X")


def draw_control_rig(layout: bpy.types.UILayout, context: Context) -> None:
    """Draw one row if an armature is active: the button that adds a control rig, or IK and FK for the limbs of the
    selected controls and the menu. A second row appears if the controls show another motion.
    """
    rig = active_rig(context)
    if rig is None:
        return
    row = layout.row(align=True)
    if not control_links.owns_controls(rig):
        row.operator("motionbridge.add_control_rig", icon="CON_ARMATURE")
        if control_links.controls_of(rig) is not None:
            row.operator("motionbridge.remove_control_rig", icon="X", text="")
        return
    for to in ("IK", "FK"):
        row.operator("motionbridge.match_controls", text=to, translate=False).to = to
    row.menu(MOTIONBRIDGE_MT_control_rig.__name__, icon="DOWNARROW_HLT", text="")
    if active_action(context) is not None and not nla.plays_controls_action(rig):
        row = layout.row(align=True)
        row.alert = True
        row.label(text="The controls show another motion", icon="ERROR")
        row.operator("motionbridge.show_controls", icon="PLAY", text="")


def _labels_of(owners: list[Any]) -> list[str]:
    """Return what the sliders of IK targets and look-at targets are called; names of controls tell equal ones apart."""
    known = {
        "Left Arm": iface_("Left Hand"),
        "Right Arm": iface_("Right Hand"),
        "Left Leg": iface_("Left Foot"),
        "Right Leg": iface_("Right Foot"),
        "Head": iface_("Head"),
    }
    limbs = [control_rig.limb_of(owner) for owner in owners]
    return [
        known[limb] if limb in known and limbs.count(limb) == 1 else owner.name
        for limb, owner in zip(limbs, owners, strict=True)
    ]


def has_limbs(context: Context) -> bool:
    """Return whether `draw_limbs` draws anything: the active armature has a control rig of its own."""
    rig = active_rig(context)
    return rig is not None and control_links.owns_controls(rig)


def draw_limbs(layout: bpy.types.UILayout, context: Context) -> None:
    """Draw the sliders of limbs and heads, with buttons that match and switch them, and the sliders of twist bones."""
    controls = control_links.controls_of(active_rig(context))
    owners = [*control_rig.goals_of(controls), *control_rig.looks_of(controls)]
    column = layout.column(align=True)
    for owner, label in zip(owners, _labels_of(owners), strict=True):
        row, switch = column.row(align=True), control_rig.switch_of(owner)
        row.prop(owner, f'["{switch}"]', text=label, translate=False, slider=True)
        for to, is_on in (("IK", owner[switch] >= 1), ("FK", owner[switch] <= 0)):
            match = row.operator("motionbridge.match_controls", text=to, translate=False, depress=is_on)
            match.to, match.control = to, owner.name
    layout.operator("motionbridge.hold_bone", icon="CONSTRAINT_BONE")
    twists = control_rig.twists_of(controls)
    if twists:
        layout.label(text="Twist Bones Follow the Hand")
        column = layout.column(align=True)
        for owner in twists:
            label = str(owner.bone.get(control_links.BONE, owner.name))
            column.prop(owner, f'["{control_rig.switch_of(owner)}"]', text=label, translate=False, slider=True)


CLASSES = classes_of(__name__)
