"""Checks of what the game would refuse: the operator that reports all findings and selects one, and its last result."""

from collections.abc import Iterable, Sequence
from typing import Any

import bpy
from bpy.props import IntProperty

from ..blender import mesh as meshes
from ..blender import scope
from ..core.report import Report
from .operation import Operation, Outcome
from .translations import said, shown

_findings: dict[int, int] = {}
"""Object (its number in this session) -> how many findings its last check had."""


class Check(Operation):
    """Mixed into operators that look for problems; see `find` for what they look at.

    A finding has the object ``shown`` or None, its ``problem``, and the indices of its ``faces`` and ``vertices``.
    """

    bl_options = {"REGISTER", "UNDO"}

    number: IntProperty(name="Finding", description="Index of the finding to select", default=0, min=0)

    def find(self, context: Any, report: Report) -> tuple[Any, Sequence[Any]]:
        """The object that remembers the file, if any, and the findings. Overridden by every check."""
        raise NotImplementedError

    def selectable(self, _context: Any, found: Sequence[Any], _report: Report) -> list[Any]:
        """Those of which something can be selected."""
        return [one for one in found if len(one.faces) or len(one.vertices)]

    def select(self, context: Any, chosen: Any) -> None:
        """The faces or vertices of one finding, in edit mode."""
        meshes.select_elements(chosen.shown, chosen.faces, chosen.vertices)
        context.view_layer.objects.active = chosen.shown
        chosen.shown.select_set(True)
        context.tool_settings.mesh_select_mode = (not len(chosen.faces), False, bool(len(chosen.faces)))
        scope.set_mode("EDIT")

    def edited(self, _context: bpy.types.Context) -> Iterable[Any]:
        """Nothing: elements are selected."""
        return ()

    def run(self, context: bpy.types.Context, report: Report) -> Outcome:
        """Report everything, select the elements of one finding."""
        with scope.leaving_edit_mode(context):
            holder, found = self.find(context, report)
        if holder is not None:
            _findings[holder.session_uid] = len(found)
        if not found:
            return Outcome(said("No errors or warnings found"))
        for one in found:
            report.warn(one.problem.line, one.shown.name if one.shown is not None else "")
        selectable = self.selectable(context, found, report)
        if not selectable:
            return Outcome(said("Findings: {}").format(len(found)))
        number = min(self.number, len(selectable) - 1)
        self.select(context, selectable[number])
        words = (number + 1, len(selectable), selectable[number].problem.sentence)
        return Outcome(said("Selected finding {} of {}: {}").format(*words))


def draw_last_check(layout: bpy.types.UILayout, holder: bpy.types.Object) -> None:
    """The result of the last check, if there was one."""
    count = _findings.get(holder.session_uid)
    if count is None:
        return
    text = shown("Last check, findings: {}").format(count) if count else shown("Last check: no findings")
    layout.label(text=text, icon="ERROR" if count else "CHECKMARK", translate=False)
