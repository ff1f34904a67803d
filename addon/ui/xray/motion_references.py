"""The motion files that a model refers to: a searchable list which says of each whether it is imported."""

from __future__ import annotations

from typing import Any

from ..bases import BlenderList
from ..name_filter import name_filter
from ..wording import shown
from . import found_motions

ICONS = {"IMPORTED": "CHECKMARK", "FOUND": "IMPORT", "NOT FOUND": "QUESTION"}


def own_name(reference: str) -> str:
    """What tells a reference from the others: the last part of its path, masks included."""
    return ", ".join(part.strip().replace("\\", "/").rpartition("/")[2] for part in reference.split(","))


def state_of(rig: Any, reference: str) -> str:
    """A key of `ICONS`; of a mask that means several files, whether all of them are imported."""
    paths = found_motions.paths_of(rig, reference)
    if not paths:
        return "NOT FOUND"
    return "FOUND" if found_motions.not_imported(rig, paths) else "IMPORTED"


class MOTIONBRIDGE_UL_motion_references(BlenderList):
    """References of the active armature's model."""

    def draw_item(
        self, _context: Any, layout: Any, data: Any, item: Any, _icon: int, _active: Any, _property: str
    ) -> None:
        """The file's own name, and whether it is imported."""
        row = layout.row(align=True)
        row.label(text=own_name(item.name), translate=False)
        row.label(icon=ICONS[state_of(data.id_data, item.name)])

    def filter_items(self, _context: Any, data: Any, _property: str) -> tuple[list[int], list[int]]:
        """Those whose whole path the filter fits, in the model's order."""
        references = data.references
        if not self.filter_name:
            return [self.bitflag_filter_item] * len(references), []
        fits = name_filter(self.filter_name, regular=False)
        return [self.bitflag_filter_item if fits(reference.name) else 0 for reference in references], []


def draw(layout: Any, rig: Any) -> None:
    """The list, and buttons that import the active reference or all of them; nothing where there are none."""
    model = rig.motionbridge_model
    references = model.references
    if not len(references):
        return
    column = layout.column(align=True)
    column.label(text="Motion References")
    column.template_list(
        "MOTIONBRIDGE_UL_motion_references",
        "",
        model,
        "references",
        model,
        "active_reference",
        rows=min(len(references), 4),
        maxrows=8,
    )
    active = references[min(max(model.active_reference, 0), len(references) - 1)]
    state = state_of(rig, active.name)
    row = column.row(align=True)
    one = row.row(align=True)
    one.enabled = state == "FOUND"
    button = one.operator(
        "motionbridge.import_referenced_motions",
        text=shown("Import {}").format(own_name(active.name)),
        icon="IMPORT",
        translate=False,
    )
    button.reference = active.name
    if len(references) > 1:
        row.operator("motionbridge.import_referenced_motions", text="Import All")
    if state == "NOT FOUND":
        column.label(text="Not found: set the game folder in the preferences", icon="INFO")


CLASSES = (MOTIONBRIDGE_UL_motion_references,)
