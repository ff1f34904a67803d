"""Options that every way of writing motions shares."""

from typing import TYPE_CHECKING, Any

from bpy.props import BoolProperty, EnumProperty

from ...formats.xray import omf
from ...games.xray.motions import exporting as motion_export
from ...games.xray.motions import files as motion_files
from ..hidden_keys import HiddenKeysChoice
from ..layouts import fields
from ..wording import said

if TYPE_CHECKING:
    from ...games.xray.motions.exporting import Plan

WIDTHS = (
    ("AUTOMATIC", "Automatic", "8 bits if that moves no new key by more than 0.1 mm, otherwise 16 bits"),
    ("NARROW", "8 Bit", "Small files, low precision"),
    ("WIDE", "16 Bit", "Twice the size, 256 times the precision"),
)
SMALLEST_ERROR = 5e-7
"""Metres: what is less is 0.000 mm, the rounding of numbers and not of keys."""
REST_CHANGES = (
    ("REFUSE", "Stop", "Cancel the export and ask for a choice"),
    ("GAME_POSE", "Keep Pose in Game", "The motions look the same in the game as before the edit"),
    ("OFFSETS", "Keep Offsets", "The motions follow the new rest pose, as in Blender"),
)


def rest_is_edited(rig: Any, known: str) -> bool:
    """Whether the rest pose is no longer that of an import; ``known``: what ``rig`` calls the files."""
    return rig is not None and any(motion_files.rest_changes(file, rig) for file in getattr(rig, known))


class RestChoice:
    """Mixed into operators that write motions of armatures."""

    rest_change: EnumProperty(
        name="Edited Rest Pose",
        description="How to export motions if the rest pose has changed since import",
        items=REST_CHANGES,
        default="REFUSE",
        options={"SKIP_SAVE"},
    )

    def draw_rest_change(self, layout: Any, rig: Any, known: str) -> None:
        """The choice, where the rest pose is no longer that of an import; ``known``: what ``rig`` calls the files."""
        chosen: Any = self
        if rest_is_edited(rig, known):
            column = layout.column()
            column.alert = chosen.rest_change == "REFUSE"
            column.prop(chosen, "rest_change")


class ExportChoices(RestChoice, HiddenKeysChoice):
    """Mixed into operators that write motions of `.omf`."""

    width: EnumProperty(
        name="Translation Keys",
        description="Precision of edited translation keys; the status bar shows the largest error",
        items=WIDTHS,
        default="AUTOMATIC",
    )
    rename: BoolProperty(
        name="Rename Motions",
        description="Write the new names of motions that were renamed in the panel",
        default=True,
    )

    def motion_options(self, *, backup: bool = False) -> "motion_export.MotionExportOptions":
        """The options as the export takes them."""
        return motion_export.MotionExportOptions(
            omf.Width[self.width],
            self.rename,
            motion_export.RestChange[self.rest_change],
            backup,
            self.hidden_keys_option(),
        )

    def draw_choices(self, layout: Any, rig: Any) -> None:
        """Options; the edited rest pose and hidden keys only where there are such."""
        fields(layout)
        self.draw_rest_change(layout, rig, "motionbridge_motion_files")
        self.draw_hidden_keys(layout, rig)
        layout.prop(self, "width")
        layout.prop(self, "rename")


def worst_error_text(plan: "Plan") -> str:
    """Millimetres, bone and motion where storing translation keys moves one most; empty where it moves none."""
    error, bone, motion = plan.changes.worst_error()
    if error < SMALLEST_ERROR:
        return ""
    return said("Largest rounding of a translation key: {:.3f} mm ({}, {})").format(1000 * error, bone, motion)


def written_sentence(name: str, plan: "Plan") -> str:
    """What was written to the file ``name``, and what rounding did to it."""
    error = worst_error_text(plan)
    return f"{name}: {plan.sentence()}. {error}" if error else f"{name}: {plan.sentence()}"
