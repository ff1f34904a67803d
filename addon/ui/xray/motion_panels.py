"""Panels of X-Ray motions in the sidebars of the viewport and the action editor: files, motions, marks, bone parts."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpy

from ...blender import action_lists
from ...blender.typed import Context, Object
from ...core.errors import WriteError
from ...core.report import Report, say
from ...games.xray.bones import properties as bone_properties
from ...games.xray.models.properties import remembered
from ...games.xray.motions import files as motion_files
from ...games.xray.motions import library
from ...games.xray.motions import properties as motion_properties
from .. import listed_actions, motion_lists
from ..bases import BlenderList, BlenderMenu, BlenderOperator, classes_of, iface_, rpt_
from ..bones import draw_restore
from ..layouts import SIDEBAR, DrawnRows, fields, paragraph
from ..motion_lists import OBJECT, ActionRows, add_list, number_property, remove_list
from ..operation import Need, Operation, Outcome
from ..searched_lists import PanelList, SearchedRows
from ..sidebar import MotionbridgePanel, in_both_editors, is_of_xray
from ..target import active_action, active_rig, rig_to_export
from . import hud_tools, motion_choices
from .motion_operators import EDITOR_MOTIONS, MARKS, MOTIONS, OnMotionFile, play
from .target import active_file

PARTITIONS = PanelList(
    "motionbridge_partitions", lambda context: active_file(active_rig(context)), "partitions", "active_partition"
)
MOTION_REFERENCES = PanelList(
    "MOTIONBRIDGE_UL_motion_references",
    lambda context: remembered(active_rig(context)),
    "references",
    "active_reference",
)
ICONS = {"IMPORTED": "CHECKMARK", "FOUND": "IMPORT", "NOT FOUND": "QUESTION"}


def own_name(reference: str) -> str:
    """Return the short name of a motion reference: the last part of its path, masks included."""
    return ", ".join(part.strip().replace("\\", "/").rpartition("/")[2] for part in reference.split(","))


def state_of(rig: Object, reference: str) -> str:
    """Return a key of `ICONS`. A mask is imported when all files that match it are."""
    paths = motion_choices.paths_of(rig, reference)
    if not paths:
        return "NOT FOUND"
    return "FOUND" if motion_choices.not_imported(rig, paths) else "IMPORTED"


class MOTIONBRIDGE_UL_motion_references(SearchedRows, BlenderList):
    """Motion references of the active armature's model."""

    def draw_row(self, layout: Any, item: Any, model: Any, _index: int) -> None:
        """Draw the short name, and whether the file is imported."""
        row = layout.row(align=True)
        row.label(text=own_name(item.name), translate=False)
        row.label(icon=ICONS[state_of(model.id_data, item.name)])


def _play(rig: Object, number: int) -> None:
    if 0 <= number < len(bpy.data.actions):
        play(rig, bpy.data.actions[number])


class MOTIONBRIDGE_UL_motion_files(DrawnRows, BlenderList):
    """Motion files of an armature."""

    def draw_row(self, layout: Any, item: Any, _owner: Any, _index: int) -> None:
        """Draw the name; the icon tells whether the motions are inside a model."""
        layout.label(text=item.name, icon="FILE_3D" if item.embedded else "FILE", translate=False)


class MOTIONBRIDGE_UL_motions(ActionRows, BlenderList):
    """Actions of a motion file, in its order."""

    listing = MOTIONS


class MotionsPanel(MotionbridgePanel):
    """Motion files and motions of the active armature."""

    bl_label = "Motions"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return is_of_xray(context)

    def draw(self, context: Context) -> None:
        layout = self.layout
        rig = active_rig(context)
        draw_restore(layout, rig)
        file = active_file(rig)
        if file is not None:
            _draw_files(layout, rig)
            edited = motion_lists.edited_text(MOTIONS, rig, len(file.deleted))
            name = Path(bpy.path.abspath(file.path)).name
            motion_lists.draw_file(layout, name, edited, "motionbridge.save_back", "MOTIONBRIDGE_MT_motion_file")
            motion_lists.draw_list(layout, context, MOTIONS, rig)
            return
        has_other_list = bool(len(rig.motionbridge_skeletal_files))
        if not has_other_list:
            layout.label(text="No motions imported", icon="INFO")
        column = layout.column(align=True)
        if _references(rig):
            column.operator("motionbridge.import_referenced_motions", icon="IMPORT")
        column.operator("import_scene.xray_omf", text="Import Motions", icon="IMPORT")
        if not has_other_list:
            column.operator("motionbridge.choose_retarget_file", icon="ARMATURE_DATA")


def _draw_files(layout: bpy.types.UILayout, rig: Object) -> None:
    if len(rig.motionbridge_motion_files) > 1:
        layout.template_list(
            "MOTIONBRIDGE_UL_motion_files",
            "",
            rig,
            "motionbridge_motion_files",
            rig,
            "motionbridge_motion_file",
            rows=2,
            maxrows=5,
        )


class MOTIONBRIDGE_MT_motion_file(BlenderMenu):
    """What can be done with a motion file besides saving it back"""

    bl_label = "Motion File"

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.operator("export_scene.xray_omf", text="Export As", icon="EXPORT")
        layout.operator("import_scene.xray_omf", text="Import More", icon="IMPORT")
        layout.separator()
        layout.operator("motionbridge.match_scene", icon="PREVIEW_RANGE")
        layout.separator()
        layout.operator("motionbridge.update_status", text="Find Edited", icon="VIEWZOOM")
        layout.operator("motionbridge.revert_motion", text="Restore", icon="LOOP_BACK")
        if hud_tools.character_and_weapon(context) is not None:
            layout.separator()
            layout.operator("motionbridge.attach_weapon", icon="CONSTRAINT_BONE")
        layout.separator()
        layout.operator("motionbridge.report", icon="TEXT")


class MOTIONBRIDGE_MT_motion(motion_lists.ListMenu, BlenderMenu):
    """What can be done with the motion that is active in the list"""

    listing = MOTIONS

    def draw_motion(self, layout: Any) -> None:
        """Draw what only the game's files have: they can be restored, and have an order."""
        layout.operator("motionbridge.revert_motion", icon="LOOP_BACK")
        top = layout.operator("motionbridge.move_motion", text="Move to Top", icon="TRIA_UP_BAR")
        bottom = layout.operator("motionbridge.move_motion", text="Move to Bottom", icon="TRIA_DOWN_BAR")
        top.direction, bottom.direction = "TOP", "BOTTOM"


class OnActiveMotion(MotionbridgePanel):
    """Base of panels that show the active action, below the list."""

    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The active armature plays an action that is a motion."""
        action = active_action(context)
        return action is not None and action.motionbridge_motion.is_motion


class PlayingPanel(OnActiveMotion):
    """How the game plays the active motion."""

    bl_label = "Timing and Flags"

    def draw(self, context: Context) -> None:
        layout = fields(self.layout)
        action = active_action(context)
        motion = action.motionbridge_motion
        layout.prop(motion, "motion_name")
        file = active_file(active_rig(context))
        copies = action_lists.copies([action], motion_properties.LISTS) if file is not None else {}
        if copies:
            layout.label(text="This is a copy of another motion", icon="INFO")
            name = library.name_of_copy(action, copies[action], motion_properties.LISTS)
            text = iface_("Name in the file: {}").format(name)
            layout.label(text=text, icon="BLANK1", translate=False)
            layout.operator("motionbridge.add_motion", icon="ADD").action = action.name
        layout.prop(motion, "target")
        column = layout.column(align=True)
        for name in ("speed", "power", "accrue", "falloff"):
            column.prop(motion, name)
        flags = layout.column(align=True)
        flags.use_property_split = False
        flags.label(text="Flags")
        grid = flags.grid_flow(columns=2, align=True, even_columns=True)
        grid.prop(motion, "flags")


class MarksPanel(OnActiveMotion):
    """Marks of the active motion."""

    bl_label = "Marks"

    def draw(self, context: Context) -> None:
        """Draw the marks, and the intervals of the active one."""
        layout = self.layout
        motion = active_action(context).motionbridge_motion
        buttons = (("add", "ADD"), ("remove", "REMOVE"), ("rename", "GREASEPENCIL"))
        MARKS.draw(layout, motion, *((f"motionbridge.marks_{name}", icon) for name, icon in buttons), rows=3)
        if (active := MARKS.active_index(motion)) >= 0:
            box = layout.column(align=True)
            for number, interval in enumerate(motion.marks[active].intervals):
                line = box.row(align=True)
                line.prop(interval, "start", text="")
                line.prop(interval, "end", text="")
                line.operator("motionbridge.marks_remove_interval", text="", icon="X").interval = number
            box.operator("motionbridge.marks_add_interval", icon="ADD")
            layout.operator("motionbridge.marks_from_markers", icon="MARKER")
        if self.bl_space_type == "DOPESHEET_EDITOR":
            layout.prop(context.space_data, "show_pose_markers")


def _references(rig: Object | None) -> Any:
    model = remembered(rig) if rig is not None else None
    return model.references if model is not None else ()


class ReferencesPanel(MotionbridgePanel):
    """Motion files to which the model of the active armature refers."""

    bl_label = "References"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The model has references."""
        return len(_references(active_rig(context))) > 0

    def draw_header_preset(self, context: Context) -> None:
        """Draw how many of the files are imported, and how many were not found."""
        rig = active_rig(context)
        states = [state_of(rig, reference.name) for reference in _references(rig)]
        text = iface_("{} of {} files").format(states.count("IMPORTED"), len(states))
        if missing := states.count("NOT FOUND"):
            text = f"{text}, {iface_('{} missing').format(missing)}"
        self.layout.label(text=text, translate=False)

    def draw(self, context: Context) -> None:
        """Draw the references with buttons that import the active one or all."""
        layout, rig = self.layout, active_rig(context)
        model, references = remembered(rig), _references(rig)
        MOTION_REFERENCES.draw(layout, model, rows=min(len(references), 4), maxrows=8)
        active = references[min(max(model.active_reference, 0), len(references) - 1)]
        state = state_of(rig, active.name)
        row = layout.row(align=True)
        button_row = row.row(align=True)
        button_row.enabled = state == "FOUND" and not MOTION_REFERENCES.is_hidden(context)
        button = button_row.operator("motionbridge.import_referenced_motions", text="Import", icon="IMPORT")
        button.reference = active.name
        if len(references) > 1:
            row.operator("motionbridge.import_referenced_motions", text="Import All")
        if state == "NOT FOUND":
            paragraph(layout, iface_("Not found: add its game to the preferences"), SIDEBAR, "INFO")


class PartitionsPanel(MotionbridgePanel):
    """Bone parts (partitions) of the active motion file."""

    bl_label = "Bone Parts"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The active armature has a motion file."""
        return active_file(active_rig(context)) is not None

    def draw(self, context: Context) -> None:
        """Draw the file's path and bone parts in order, and the bones of the active one with their tracks."""
        layout = self.layout
        file = active_file(active_rig(context))
        layout.prop(file, "path", text="")
        PARTITIONS.draw(layout, file, rows=3)
        if (active := PARTITIONS.active_index(file)) >= 0:
            partition = file.partitions[active]
            text = iface_("Index {}, bones: {}").format(active, len(partition.bones))
            layout.label(text=text, translate=False)
            grid = layout.box().grid_flow(columns=2, align=True, even_columns=True)
            grid.active = False
            for bone in partition.bones:
                grid.label(text=f"{bone.track}  {bone.name}", translate=False)
        column = layout.column(align=True)
        column.operator("motionbridge.move_to_partition", icon="BONE_DATA")
        column.operator("motionbridge.show_partitions", icon="GROUP_BONE")


def _panels() -> list[type]:
    """Return the classes of all panels, for both editors."""
    result = in_both_editors("motions", MotionsPanel)
    below = {"motion": PlayingPanel, "marks": MarksPanel, "partitions": PartitionsPanel, "references": ReferencesPanel}
    for order, (name, kind) in enumerate(below.items(), start=1):
        result += in_both_editors(name, kind, bl_order=order, bl_parent_id="MOTIONBRIDGE_PT_motions")
    return result


def _playing(rig: Object) -> int:
    return listed_actions.number_playing(rig)  # loads the module when it is asked


def register() -> None:
    """Add the property with the index of the playing action, and those with the active rows of the lists."""
    OBJECT.motionbridge_playing = number_property(_playing, _play)
    for listing in (MOTIONS, EDITOR_MOTIONS):
        add_list(listing)


def unregister() -> None:
    """Remove these properties."""
    del OBJECT.motionbridge_playing
    for listing in (MOTIONS, EDITOR_MOTIONS):
        remove_list(listing)


class MOTIONBRIDGE_OT_show_partitions(OnMotionFile, BlenderOperator):
    """Create a bone collection per bone part (partition); the file does not depend on them"""

    bl_idname = "motionbridge.show_partitions"
    bl_label = "Create Bone Collections"

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The armature data, which has the bone collections."""
        return (rig_to_export(context, "").data,)

    def run(self, context: Context, report: Report) -> Outcome:
        """Assign exactly the bones of each bone part to the collection of the same name."""
        rig = rig_to_export(context, "")
        armature = rig.data
        bones = {bone_properties.game_name(bone).lower(): bone for bone in armature.bones}
        file = active_file(rig)
        for partition in file.partitions:
            collection = armature.collections_all.get(partition.name) or armature.collections.new(partition.name)
            wanted = [bones[bone.name.lower()] for bone in partition.bones if bone.name.lower() in bones]
            for bone in list(collection.bones):
                collection.unassign(bone)
            for bone in wanted:
                collection.assign(bone)
        return Outcome(rpt_("Bone collections: {}").format(len(file.partitions)))


def _active_part_and_bones(context: Context) -> bool:
    file = active_file(active_rig(context))
    return file is not None and PARTITIONS.active_index(file) >= 0 and bool(context.selected_pose_bones)


class MOTIONBRIDGE_OT_move_to_partition(Operation, BlenderOperator):
    """Move the selected bones to the active bone part (partition) of the list; written on the next save"""

    bl_idname = "motionbridge.move_to_partition"
    bl_label = "Assign Selected Bones"
    needs = (
        Need("Select bones in Pose Mode, and a bone part in the list", _active_part_and_bones),
        PARTITIONS.shown,
    )

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The armature, which stores the file."""
        return (rig_to_export(context, ""),)

    def run(self, context: Context, report: Report) -> Outcome:
        """Move the selected bones that have a track in the file and are in another bone part."""
        file = active_file(rig_to_export(context, ""))
        bones = [bone_properties.game_name(bone.bone) for bone in context.selected_pose_bones]
        moved = motion_files.move_to_partition(file, file.active_partition, bones)
        partition = file.partitions[file.active_partition]
        inside = {bone.name.lower() for bone in partition.bones}
        outside = [bone for bone in bones if bone.lower() not in inside]
        if not moved:
            words = "none of the selected bones can be moved to {!r}: they are in it, or the file has no track of them"
            raise WriteError(say(words, partition.name), remedy="Select bones of another bone part")
        if outside:
            report.warn(say("bones without a track in this file: {}", len(outside)), ", ".join(outside))
        return Outcome(rpt_("Bones moved to {}: {}").format(partition.name, moved))


CLASSES = (
    *classes_of(__name__),
    *_panels(),
)
