"""Save back: one button, and before anything is written the sentence that says what will change."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..blender.linked import refuse_linked
from ..blender.scope import progress
from ..core import files
from ..core.errors import MotionbridgeError, WriteError
from ..core.report import Report
from ..games.renamed_bones import follow_renames
from ..games.xray import motion_edit
from ..games.xray.motion_export import Plan
from .bases import BlenderOperator
from .export_choices import ExportChoices, worst_error_text, written_sentence
from .export_motions import active_file
from .file_export import draw_backup
from .motion_operators import active_action
from .operation import Operation, Outcome, broken_lines
from .preferences import preferences
from .target import active_rig, rig_to_export
from .wording import said, shown

BASES = (
    ("REFUSE", "Ask", "Do not write before it is decided"),
    ("DISK", "The File on Disk", "What others changed in it meanwhile stays; only your motions are replaced"),
    ("IMPORTED", "The File as Imported", "What others changed in it meanwhile is overwritten"),
)
NAMES_SHOWN = WARNINGS_SHOWN = 6
LETTERS_SHOWN = 70


class MOTIONBRIDGE_OT_save_back(Operation, ExportChoices, BlenderOperator):
    """Write the motions into the file they came from; says before what will change, and keeps a backup"""

    bl_idname = "motionbridge.save_back"
    bl_label = "Save Back"
    bl_options = {"REGISTER", "UNDO"}

    file: StringProperty(
        name="Motion File",
        description="Name of the motion file in the list; empty for the active one",
        options={"SKIP_SAVE", "HIDDEN"},
    )
    if_changed: EnumProperty(
        name="Start From",
        description="The file on disk is no longer the one that was imported",
        items=BASES,
        default="REFUSE",
        options={"SKIP_SAVE"},
    )
    only_active: BoolProperty(
        name="Only the Active Motion",
        description="Save the motion that plays; all others stay in the file as they are",
        default=False,
        options={"SKIP_SAVE"},
    )
    backup: BoolProperty(
        name="Keep a Backup",
        description="Keep the old file beside it, with .bak added; an existing backup is kept",
        default=True,
    )

    _plan: Plan | None = None
    _planned: Report | None = None
    _refusal: MotionbridgeError | None = None
    _on_disk: str | None = None
    _samples: dict[Any, Any] | None = None

    @classmethod
    def poll(cls, context: Any) -> bool:
        """The active armature has a motion file."""
        if active_rig(context) is None:
            cls.poll_message_set("Click the armature whose motions are meant")
            return False
        cls.poll_message_set("No motions were imported onto this armature")
        return active_file(active_rig(context)) is not None

    def invoke(self, context: Any, _event: Any) -> Any:
        """Say what would change."""
        self.backup, self._samples = preferences(context).backup, {}
        if bpy.app.background:
            return self.execute(context)
        self.check(context)
        return context.window_manager.invoke_props_dialog(
            self, width=480, title=shown("Save Motions Back"), confirm_text=shown("Save")
        )

    def check(self, context: Any) -> bool:
        """Plan again with the options as they are now."""
        self._refusal, self._planned = None, Report()
        try:
            refuse_linked(self.edited(context))
            follow_renames(self._planned)
            self._prepare(context, self._planned)
        except MotionbridgeError as refusal:
            self._plan, self._refusal = None, refusal
        return True

    def _prepare(self, context: Any, report: Report) -> Plan:
        rig, file = self._target(context)
        path = Path(bpy.path.abspath(file.path))
        self._on_disk = _digest(path)
        with progress(context, len(motion_edit.motions_of(file))) as step:
            self._plan = motion_edit.plan_save_back(
                context,
                rig,
                file,
                options=self.motion_options(backup=self.backup),
                if_changed=motion_edit.OtherBase[self.if_changed],
                report=report,
                progress=step,
                only=self._only(context, rig),
                samples=self._samples,
            )
        self._plan.path = str(path)
        return self._plan

    def _only(self, context: Any, rig: Any) -> Any:
        """The action to save alone, None for the whole list."""
        action = active_action(context)
        if self.only_active and action is None:
            raise WriteError(f"{rig.name!r} plays no action", remedy="Choose one in the list of motions, or save all")
        return action if self.only_active else None

    def edited(self, context: Any) -> Iterable[Any]:
        """The armature and the motions: what was saved counts as untouched afterwards."""
        rig, file = self._target(context)
        return (rig, *motion_edit.motions_of(file))

    def _target(self, context: Any) -> tuple[Any, Any]:
        rig = rig_to_export(context, "")
        file = rig.motionbridge_motion_files.get(self.file) if self.file else active_file(rig)
        if file is None:
            raise WriteError(
                f"{rig.name!r} has no motion file {self.file!r}" if self.file else f"{rig.name!r} has no motion file",
                remedy="Import motions onto it first, or export to a new file",
            )
        return rig, file

    def draw(self, context: Any) -> None:
        """The sentence, the names, the options."""
        layout = self.layout
        rig, file = self._target(context)
        column = layout.column(align=True)
        column.label(text=file.path, icon="FILE", translate=False)
        if self._refusal is not None:
            for number, line in enumerate(broken_lines(str(self._refusal), LETTERS_SHOWN)):
                column.label(text=line, icon="ERROR" if number == 0 else "BLANK1", translate=False)
        elif self._plan is not None:
            self._draw_plan(column, self._plan)
        if self._planned is not None:
            draw_warnings(column, self._planned)
        if self._on_disk is not None and self._on_disk != file.sha256:
            row = layout.column()
            row.use_property_split = True
            row.alert = self.if_changed == "REFUSE"
            row.prop(self, "if_changed")
        if len(motion_edit.motions_of(file)) > 1:
            layout.prop(self, "only_active")
        self.draw_choices(layout, rig)
        draw_backup(layout, self, file.path)

    def _draw_plan(self, column: Any, plan: Plan) -> None:
        if self._is_same(plan):
            column.label(text="Nothing was changed: there is nothing to save", icon="INFO")
            return
        column.label(text=plan.sentence(), icon="GREASEPENCIL", translate=False)
        for change in plan.changes.motions[:NAMES_SHOWN]:
            column.label(text=_change_text(change), icon="DOT", translate=False)
        if len(plan.changes.motions) > NAMES_SHOWN:
            column.label(text=shown("and {} more").format(len(plan.changes.motions) - NAMES_SHOWN), icon="BLANK1")
        for old, new in plan.renamed:
            column.label(text=f"{old} > {new}", icon="DOT", translate=False)
        for name in plan.deleted:
            column.label(text=shown("{} leaves the file").format(name), icon="X", translate=False)
        error = worst_error_text(plan)
        if error:
            column.label(text=error, icon="INFO", translate=False)

    def _is_same(self, plan: Plan) -> bool:
        return hashlib.sha256(plan.data).hexdigest() == self._on_disk

    def run(self, context: Any, report: Report) -> Outcome:
        """Write what was said, or plan now where nothing was said."""
        if self._refusal is not None:
            raise self._refusal
        rig, file = self._target(context)
        plan = self._planned_before(file, report) or self._prepare(context, report)
        self._plan = self._planned = None
        if self._is_same(plan):
            return Outcome(said("{}: nothing was changed, nothing to save").format(file.name), done=False)
        plan.write(backup=self.backup)
        self.restore_hidden_keys(rig, motion_edit.motions_of(file))
        motion_edit.settle(plan, rig, file, options=self.motion_options())
        return Outcome(written_sentence(file.name, plan))

    def _planned_before(self, file: Any, report: Report) -> Plan | None:
        """The plan that the dialog showed, unless the file on disk is another one by now; and what it warned of."""
        if self._plan is None or self._planned is None or self._on_disk != _digest(Path(bpy.path.abspath(file.path))):
            return None
        report.include(self._planned)
        return self._plan


def _digest(path: Path) -> str | None:
    return hashlib.sha256(files.read_file(path)).hexdigest() if path.is_file() else None


def draw_warnings(layout: Any, report: Report) -> None:
    """What will be lost: each warning once, broken into lines; the rest of many is counted."""
    lines = report.lines()[: len(report.warnings)]
    for warning in lines[:WARNINGS_SHOWN]:
        for number, line in enumerate(broken_lines(warning, LETTERS_SHOWN)):
            layout.label(text=line, icon="BLANK1" if number else "ERROR", translate=False)
    if len(lines) > WARNINGS_SHOWN:
        layout.label(text=shown("and {} more").format(len(lines) - WARNINGS_SHOWN), icon="BLANK1", translate=False)


def _change_text(change: Any) -> str:
    """``walk_0: bip01_head, bip01_spine; marks``."""
    if change.new:
        return shown("{}: new").format(change.name)
    bones = ", ".join(track.bone for track in change.tracks[:4])
    more = f" +{len(change.tracks) - 4}" if len(change.tracks) > 4 else ""
    parts = [bones + more] if bones else []
    return f"{change.name}: {'; '.join([*parts, *change.fields])}"


CLASSES = (MOTIONBRIDGE_OT_save_back,)
