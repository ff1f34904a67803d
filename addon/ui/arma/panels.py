"""Arma animations in the sidebar: the list of an armature's animations, and the one that plays."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import StringProperty

from ...blender import action as actions
from ...blender import scope
from ...blender.compat import PATH_OPTIONS
from ...blender.typed import Action, Context, Object
from ...core import model as core_model
from ...core.errors import ReadError
from ...core.report import Report
from ...games.arma import animation_edit, animation_import, timing
from .. import listed_actions, playing
from ..bases import (
    BlenderList,
    BlenderMenu,
    BlenderOperator,
    BlenderPanel,
    classes_of,
    iface_,
    path_search,
    rpt_,
    tell,
)
from ..bones import draw_restore
from ..files import absolute
from ..layouts import EDITED, ListEdits, Listing, fields
from ..menus import ARMA, is_used
from ..motion_lists import ActionRows, ListMenu, add_list, draw_file, draw_list, edited_text, remove_list
from ..operation import Need, Operation, Outcome, stores_nothing, wrapped_lines
from ..preferences import known_games
from ..saving import IMPORTED_BASES, MotionSaveBack, Target, base_file
from ..searched_lists import PanelList, SearchedRows
from ..sidebar import MotionbridgePanel, in_both_editors, is_of_a_game, is_of_arma
from ..target import RIG, OnAction, active_action, active_rig
from .files import SkeletonFilesPanel

if TYPE_CHECKING:
    from ...games.arma.animation_edit import AnimationPlans
    from ...games.arma.animation_export import AnimationPlan
    from ..listed_actions import Row, Rows


class MOTIONBRIDGE_OT_arma_compare(OnAction, BlenderOperator):
    """Compare the animation with its file; the badge ? means not compared yet, or only possible by sampling"""

    bl_idname = "motionbridge.arma_compare"
    bl_label = "Compare with File"
    edited = stores_nothing  # the status need not be saved

    def run(self, context: Context, report: Report) -> Outcome:
        rig, action = self.chosen(context)
        status = animation_edit.update_status(context, rig, action, report)
        name = action.motionbridge_animation.bl_rna.properties["status"].enum_items[status].name
        return Outcome(f"{action.name}: {rpt_(name)}")


class AnimationSaveBack(MotionSaveBack):
    """Mixin for saves of animations, which always start from the imported file."""

    if_changed: base_file(*IMPORTED_BASES)

    def actions(self, context: Context) -> list[Action]:
        """Return the actions to save. Overridden by every operator."""
        raise NotImplementedError

    def targets(self, context: Context) -> list[Target]:
        rig = active_rig(context)
        return [Target(rig, [action], action.motionbridge_animation) for action in self.actions(context)]

    def edited(self, context: Context) -> Iterable[Any]:
        """The animations; the armature has only their list."""
        return self.actions(context)

    def is_changed(self, target: Target) -> bool:
        return animation_edit.is_changed_on_disk(*target.actions)

    def settle_target(self, _context: Context, target: Target, plan: Any) -> None:
        animation_edit.settle(plan, target.rig, *target.actions)


class MOTIONBRIDGE_OT_arma_save_back(AnimationSaveBack, OnAction, BlenderOperator):
    """Write the animation to its source file, with a backup if none exists"""

    bl_idname = "motionbridge.arma_save_back"
    bl_label = "Save Animation Back"

    def actions(self, context: Context) -> list[Action]:
        return [self.chosen(context)[1]]

    def plan_of(self, context: Context, target: Target, report: Report, _step: Any) -> "AnimationPlan":
        return animation_edit.plan_save_back(
            context,
            target.rig,
            *target.actions,
            if_changed=self.base(),
            report=report,
            hidden=self.hidden_keys_option(),
            games=known_games(context, "ARMA"),
        )


def _listed(context: Context) -> "list[Action]":
    """Return the animations in the list of the active armature."""
    return animation_import.animations_of(active_rig(context))


class MOTIONBRIDGE_OT_arma_save_all(AnimationSaveBack, BlenderOperator):
    """Write all edited animations of the list to their source files, with backups where none exist"""

    bl_idname = "motionbridge.arma_save_all"
    bl_label = "Save All Animations"
    needs = (RIG, Need("The list of the active armature has no animations", _listed))

    folder: StringProperty(
        name="Folder for New Animations",
        description="Folder for copied and new animations, each in a file named after its action; empty for none",
        search=path_search(),
        search_options={"SUGGESTION"},
        options={"SKIP_SAVE", *PATH_OPTIONS},
    )

    def actions(self, context: Context) -> list[Action]:
        return _listed(context)

    def suggest(self, context: Context) -> None:
        """Suggest the folder of the first source file for copies and new animations."""
        if not self.folder and any(map(animation_edit.needs_folder, _listed(context))):
            self.folder = self.path(context)

    def path(self, context: Context) -> str:
        """Return the folder for new animations, else the folder of the first source file."""
        first = super().path(context)
        return self.folder or str(Path(bpy.path.abspath(first)).parent if first else "")

    def planned(self, context: Context, report: Report) -> "AnimationPlans":
        rig = active_rig(context)
        with scope.progress(context, len(self.actions(context))) as step:
            return animation_edit.plan_save_all(
                context,
                rig,
                folder=absolute(self.folder) if self.folder else "",
                if_changed=self.base(),
                report=report,
                hidden=self.hidden_keys_option(),
                games=known_games(context, "ARMA"),
                progress=step,
            )

    def draw_options(self, _context: Context, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "folder")

    def details(self, plan: Any) -> list[str]:
        """Return one line per changed file."""
        return [
            tell(part.line()) if part.new else f"{part.name}: {tell(plan.changes.sentence())}"
            for part, plan in zip(plan.changes.parts, plan.plans, strict=True)
        ]

    def left_out(self, plan: Any) -> list[str]:
        """Return the number of animations that need a folder."""
        number = len(plan.without_file)
        return [iface_("Animations without a file, which need a folder: {}").format(number)] if number else []

    def put(self, context: Context, plan: Any, *, backup: bool) -> None:
        """Write and settle each file before the next one, which may fail."""
        rig = active_rig(context)
        animation_import.adopt_unlisted(rig)
        for action, file_plan in zip(plan.actions, plan.plans, strict=True):
            file_plan.write(backup=backup)
            animation_edit.settle(file_plan, rig, action)
        self.restore_hidden_keys(rig, self.actions(context))

    def sentence(self, plan: Any) -> str:
        return tell(plan.sentence(), rpt_)


class MOTIONBRIDGE_OT_arma_event_add(OnAction, BlenderOperator):
    """Add an event at the current frame"""

    bl_idname = "motionbridge.arma_event_add"
    bl_label = "Add Event"

    def run(self, context: Context, _report: Report) -> Outcome:
        """Add the event and make it active."""
        _, action = self.chosen(context)
        phase = timing.phase_at(action, context.scene.frame_current_final)
        event = timing.add(action, core_model.Event(timing.as_stored(phase), "StepSound", ""))
        properties = action.motionbridge_animation
        properties.active_event = len(properties.events) - 1
        return Outcome(rpt_("Added the event {}").format(event.marker))


EVENTS = PanelList(
    "MOTIONBRIDGE_UL_arma_events",
    lambda context: active_action(context).motionbridge_animation,
    "events",
    "active_event",
)


class MOTIONBRIDGE_OT_arma_event_remove(OnAction, BlenderOperator):
    """Remove the active event and its marker"""

    bl_idname = "motionbridge.arma_event_remove"
    bl_label = "Remove Event"
    needs = (*OnAction.needs, EVENTS.shown)

    def run(self, context: Context, _report: Report) -> Outcome:
        _, action = self.chosen(context)
        properties = action.motionbridge_animation
        index = EVENTS.active_index(properties)
        if index < 0:
            return Outcome(rpt_("No event to remove"), done=False)
        name = properties.events[index].marker
        following = EVENTS.after_removal(context)
        timing.remove(action, index)
        properties.active_event = following
        return Outcome(rpt_("Removed the event {}").format(name))


EVENT_COLUMNS = ("label", "value", "phase")


def _event_columns(layout: bpy.types.UILayout) -> tuple[Any, Any, Any]:
    """Return the layouts for name, value and phase; the one for names is the widest."""
    name = layout.split(factor=0.45, align=True)
    rest = name.split(factor=0.45, align=True)
    return name, rest, rest


class MOTIONBRIDGE_UL_arma_events(SearchedRows, BlenderList):
    """Events of an animation."""

    @staticmethod
    def words(item: Any) -> Sequence[str]:
        return item.label, item.value

    def draw_row(self, layout: Any, item: Any, _owner: Any, _index: int) -> None:
        for column, name in zip(_event_columns(layout), EVENT_COLUMNS, strict=True):
            column.prop(item, name, text="", emboss=False)


class AnimationPanel(MotionbridgePanel):
    """Step, events, phases, bones and file of the animation."""

    bl_label = "Arma Animation"
    bl_order = 11

    @classmethod
    def poll(cls, context: Context) -> bool:
        return is_of_arma(context)

    def draw(self, context: Context) -> None:
        layout = self.layout
        action, rig = active_action(context), active_rig(context)
        draw_restore(layout, rig)
        if action is None:
            layout.label(
                text="No armature is active: select one" if rig is None else "The active armature has no action",
                icon="INFO",
            )
        elif action.motionbridge_animation.is_animation:
            save = (
                "motionbridge.arma_save_all" if len(rig.motionbridge_animations) > 1 else "motionbridge.arma_save_back"
            )
            name = Path(action.motionbridge_animation.path).name
            draw_file(layout, name, edited_text(ANIMATIONS, rig), save, "MOTIONBRIDGE_MT_animation_file")
        else:
            row = layout.row(align=True)
            row.operator("export_scene.arma_rtm", text="Export Animation", icon="EXPORT")
            row.menu("MOTIONBRIDGE_MT_animation_file", text="", icon="DOWNARROW_HLT")
        if rig is not None and (action is not None or len(rig.motionbridge_animations)):
            draw_list(layout, context, ANIMATIONS, rig, can_move=False)
        if action is None:
            column = layout.column(align=True)
            column.operator("import_scene.arma_rtm", text="Import Animation", icon="IMPORT")
            column.operator("motionbridge.choose_retarget_file", icon="ARMATURE_DATA")


class MOTIONBRIDGE_MT_animation_file(BlenderMenu):
    """What can be done with animations besides saving them back"""

    bl_label = "Animation Files"

    def draw(self, _context: Context) -> None:
        layout = self.layout
        layout.operator("motionbridge.arma_save_all", icon="FILE_TICK")
        layout.operator("export_scene.arma_rtm", text="Export As", icon="EXPORT")
        layout.operator("import_scene.arma_rtm", text="Import More", icon="IMPORT")
        layout.separator()
        layout.operator("motionbridge.match_scene", icon="PREVIEW_RANGE")
        layout.separator()
        layout.operator("motionbridge.arma_list_animations", icon="FILE_REFRESH")
        layout.separator()
        layout.operator("motionbridge.report", icon="TEXT")


class NewAnimationPanel(AnimationPanel):
    """The same panel, closed, for an action that was made in Blender on an armature of no game."""

    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The active action can be exported as an animation of Arma."""
        return is_used(context, ARMA) and active_action(context) is not None and not is_of_a_game(context)


class EventsPanel(MotionbridgePanel):
    """Step and events of the active animation."""

    bl_label = "Step and Events"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The active armature has an action."""
        return active_action(context) is not None

    def draw(self, context: Context) -> None:
        layout = self.layout
        properties = active_action(context).motionbridge_animation
        column = fields(layout.column())
        column.prop(properties, "step")
        if properties.is_animation:
            row = column.row()
            row.enabled = False
            row.prop(properties, "step_mode")
        layout.label(text="Events")
        if len(properties.events):
            heading = layout.row()
            for column, name in zip(_event_columns(heading), EVENT_COLUMNS, strict=True):
                column.label(text=properties.events[0].bl_rna.properties[name].name)
            heading.label(icon="BLANK1")  # space above the buttons
        buttons = ("motionbridge.arma_event_add", "ADD"), ("motionbridge.arma_event_remove", "REMOVE")
        EVENTS.draw(layout, properties, *buttons, rows=2, maxrows=5)


class AnimationFilePanel(MotionbridgePanel):
    """What the file of the active animation has: keys, phases, bones."""

    bl_label = "Keys and Bones"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The active action is an animation of Arma."""
        action = active_action(context)
        return action is not None and action.motionbridge_animation.is_animation

    def draw(self, context: Context) -> None:
        _draw_file(self.layout, active_action(context).motionbridge_animation)


def _draw_file(layout: Any, properties: Any) -> None:
    facts = layout.column(align=True)
    phases = None
    try:
        phases = timing.kept_phases(properties)
    except ReadError as damage:
        for number, line in enumerate(wrapped_lines(tell(damage.sentence()), 50)):
            facts.label(text=line, icon="ERROR" if number == 0 else "BLANK1", translate=False)
    if phases is not None and len(phases):
        text = iface_("Keys: {}, phases {:g} to {:g}").format(len(phases), phases[0], phases[-1])
        facts.label(text=text, icon="KEYFRAME", translate=False)
    missing = sum(1 for entry in properties.bones if not entry.bone)
    facts.label(text=iface_("Bones: {}").format(len(properties.bones)), icon="BONE_DATA", translate=False)
    if missing:
        facts.label(text=iface_("Missing from the armature: {}").format(missing), icon="BLANK1", translate=False)


class MOTIONBRIDGE_PT_arma_files(SkeletonFilesPanel, BlenderPanel):
    """Skeleton files below the Import panel, while the active object belongs to no game."""

    bl_parent_id = "MOTIONBRIDGE_PT_begin"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The preferences have Arma."""
        return is_used(context, ARMA)


def _row_of(action: Action, number: int) -> "Row":
    return listed_actions.Row(number, action.name, _status(action) in EDITED)


def _rows(rig: Object) -> "Rows":
    entries = rig.motionbridge_animations
    return listed_actions.cached_rows(
        (rig.session_uid, "motionbridge_animations"),
        len(entries),
        lambda: [hash(entry.action) for entry in entries],
        lambda: (entry.action for entry in entries if entry.action is not None),
        _row_of,
    )


def _play(rig: Object, action: Action) -> None:
    # List the action that played until now, so that it stays available.
    animation_import.adopt(rig)
    context: Any = bpy.context
    actions.play(context, rig, action)
    playing.start(context, _frames(action, rig))


def _status(action: Action) -> str:
    animation = action.motionbridge_animation
    return animation.status if animation.is_animation else "NEW"


def _frames(action: Action, _rig: Object) -> tuple[int, int]:
    return math.floor(action.frame_range[0]), math.ceil(action.frame_range[1])


class AnimationEdits(ListEdits):
    """The buttons beside the list of animations: the armature lists them, each has a file of its own."""

    def active(self, rig: Any) -> Any:
        has_skeleton = len(rig.motionbridge_animations) or len(rig.data.motionbridge_skeleton.bones)
        return rig if has_skeleton else None

    def file_of(self, rig: Any, action: Any) -> Any:
        return rig if action in animation_import.animations_of(rig) else None

    def is_stored(self, file: Any, action: Any) -> bool:
        return animation_import.is_listed(file, action)

    def members(self, file: Any) -> list[Any]:
        return animation_import.animations_of(file)

    def row_of(self, action: Any) -> "Row":
        return _row_of(action, -1)

    def new(self, rig: Any, _file: Any, name: str) -> Any:
        return animation_edit.new(rig, name)

    def copy(self, file: Any, action: Any) -> Any:
        return animation_edit.copy_of(file, action)

    def add(self, file: Any, action: Any) -> Any:
        return animation_edit.list_new(file, action)

    def delete(self, file: Any, action: Any) -> None:
        animation_edit.delete(file, action)

    def deleted_text(self, *, several: bool) -> str:
        if several:
            return rpt_("Deleted animations of {1}: {0}; their files stay")
        return rpt_("Deleted {} of {}; its file stays")


ANIMATIONS = Listing(
    "MOTIONBRIDGE_UL_arma_animations",
    "motionbridge_playing_animation",
    _rows,
    _play,
    _frames,
    AnimationEdits(),
    "MOTIONBRIDGE_MT_animation",
    _status,
    compare="motionbridge.arma_compare",
)
"""List of the animations of an armature."""


class MOTIONBRIDGE_UL_arma_animations(ActionRows, BlenderList):
    """Animations of an armature."""

    listing = ANIMATIONS


class MOTIONBRIDGE_MT_animation(ListMenu, BlenderMenu):
    """What can be done with the animation that is active in the list"""

    listing = ANIMATIONS

    def draw_motion(self, layout: Any) -> None:
        """Draw what only animations have, each of which has a file of its own."""
        layout.operator("motionbridge.arma_save_back", icon="FILE_TICK")
        layout.operator("motionbridge.arma_compare", icon="VIEWZOOM")


class MOTIONBRIDGE_OT_arma_list_animations(Operation, BlenderOperator):
    """Add imported animations of these bones that are in no list, and remove deleted ones"""

    bl_idname = "motionbridge.arma_list_animations"
    bl_label = "List Animations"
    needs = (RIG,)

    def edited(self, context: Context) -> Iterable[Any]:
        return (active_rig(context),)

    def run(self, context: Context, _report: Report) -> Outcome:
        """Add the animations, and remove rows of deleted actions."""
        rig = active_rig(context)
        animation_import.remove_deleted(rig)
        added = animation_import.adopt_all(rig)
        listed = len(rig.motionbridge_animations)
        return Outcome(rpt_("Animations in the list: {}, added: {}").format(listed, added))


def register() -> None:
    """Add the property with the active row of the list."""
    add_list(ANIMATIONS)


def unregister() -> None:
    """Remove the property."""
    remove_list(ANIMATIONS)


CLASSES = (
    *classes_of(__name__),
    *in_both_editors("arma_animation", AnimationPanel),
    *in_both_editors("arma_begin", NewAnimationPanel),
    *(
        panel
        for parent in ("arma_animation", "arma_begin")
        for name, kind in (("events", EventsPanel), ("file", AnimationFilePanel))
        for panel in in_both_editors(f"{parent}_{name}", kind, bl_parent_id=f"MOTIONBRIDGE_PT_{parent}")
    ),
    *in_both_editors("arma_skeleton", SkeletonFilesPanel, bl_parent_id="MOTIONBRIDGE_PT_arma_animation"),
)
