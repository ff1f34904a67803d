"""Selections of an Arma model: weights cleaned up for the game, and names changed by a table."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, IntProperty, StringProperty

from ...blender import scope
from ...blender.typed import Context, Object
from ...core import files
from ...core.errors import MotionbridgeError, ReadError, WriteError
from ...core.report import Message, Report, listed, say
from ...formats.arma import renaming
from ...games.arma import lod_list, model_export, renamed_selections, selections
from ..bases import BlenderList, BlenderOperator, classes_of, iface_, path_search, rpt_, tell
from ..layouts import fields, paragraph
from ..operation import Need, Operation, Outcome
from ..preferences import known_games
from ..searched_lists import SearchedRows
from .lods import PART
from .model_tools import can_undo_groups
from .models import chosen_model

if TYPE_CHECKING:
    from ...formats.arma.p3d.weights import CleanWeights

LETTERS = 60
"""Characters that fit into one line of the dialog."""


def _animated(context: Context) -> list[Object]:
    """Return the LODs of the active model that follow an armature, each mesh once."""
    meshes = [lod.obj for lod in lod_list.lods_of(context) if lod.is_mesh and lod.obj.find_armature() is not None]
    return scope.one_for_each_mesh(meshes)


class MOTIONBRIDGE_OT_arma_clean_weights(Operation, BlenderOperator):
    """Limit each vertex of all LODs to four bones whose weights add up to 1, as the game stores them"""

    bl_idname = "motionbridge.arma_clean_weights"
    bl_label = "Clean Up Weights"
    needs = (
        PART,
        Need("No LOD of the model follows an armature: its bones have the weights", _animated),
        Need("Leave edit mode first (Tab): this Blender cannot undo new vertex groups there", can_undo_groups),
    )

    summary: StringProperty(options={"HIDDEN", "SKIP_SAVE"})

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        return [block for obj in _animated(context) for block in (obj, obj.data)]

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Count what changes before the dialog opens."""
        changes = _changes(context)
        if not changes:
            return self.execute(context)
        self.summary = _reasons(changes)
        return context.window_manager.invoke_props_dialog(self, width=420)

    def draw(self, _context: Context) -> None:
        for line in self.summary.splitlines():
            paragraph(self.layout, line, LETTERS)

    def run(self, context: Context, _report: Report) -> Outcome:
        changes = _changes(context)
        if not changes:
            return Outcome(rpt_("All weights are as the game stores them"), done=False)
        with scope.object_mode(context):
            for obj, change in changes.items():
                selections.clean_weights(obj, change)
        return Outcome(tell(_total(changes), rpt_))


def _changes(context: Context) -> "dict[Object, CleanWeights]":
    with scope.object_mode(context):
        plans = {obj: selections.cleaned_weights(obj) for obj in _animated(context)}
    return {obj: plan for obj, plan in plans.items() if plan is not None and len(plan.vertices)}


def _total(changes: "dict[Object, CleanWeights]") -> Message:
    """Return how many vertices change, and how many LODs have them."""
    vertices = sum(len(plan.vertices) for plan in changes.values())
    return say("the weights of {:# vertex|# vertices} change in {:# LOD|# LODs}", vertices, len(changes))


def _reasons(changes: "dict[Object, CleanWeights]") -> str:
    """Return one line for all that changes, and one for each reason."""
    plans = changes.values()
    reasons = {
        iface_("More than four bones: {}"): sum(plan.crowded for plan in plans),
        iface_("Sum of weights is not 1: {}"): sum(plan.uneven for plan in plans),
        iface_("Bones that the game's skeleton lacks: {}"): sum(plan.foreign for plan in plans),
    }
    return "\n".join([tell(_total(changes)), *(text.format(count) for text, count in reasons.items() if count)])


# Renaming -------------------------------------------------------------------------------------------------------------


class SelectionName(bpy.types.PropertyGroup):
    """A selection, whose ``name`` it has; ``lods``: number of the LODs that have it."""

    new_name: StringProperty(name="New Name", description="New name of the selection in all LODs; empty to keep it")
    lods: IntProperty(name="")


class MOTIONBRIDGE_UL_arma_selections(SearchedRows, BlenderList):
    """Selections of a model, each with its new name and the number of LODs that have it."""

    @staticmethod
    def words(item: Any) -> tuple[str, str]:
        return item.name, item.new_name

    def draw_row(self, layout: Any, item: Any, _owner: Any, _index: int) -> None:
        row = layout.split(factor=0.4)
        row.label(text=item.name, icon="GROUP_VERTEX", translate=False)
        row = row.split(factor=0.85)
        row.prop(item, "new_name", text="")
        row.label(text=str(item.lods), translate=False)


def _tables(operator: Any, context: Context, typed: str) -> list[str]:
    """Suggest texts of the file, and files."""
    texts: Any = bpy.data.texts
    known = [text.name for text in texts if typed.lower() in text.name.lower()]
    return [*known, *path_search(".txt", ".csv", ".tsv")(operator, context, typed)]


class MOTIONBRIDGE_OT_arma_rename_selections(Operation, BlenderOperator):
    """Rename selections in all LODs of the model, by hand or by a table of old and new names"""

    bl_idname = "motionbridge.arma_rename_selections"
    bl_label = "Rename Selections"
    needs = (
        PART,
        Need("Leave edit mode first (Tab)", lambda context: not context.mode.startswith("EDIT")),
    )

    table: StringProperty(
        name="Table",
        description=(
            "Text of this file, or a text file, with two names in each line, the old and the new one, with a tab, "
            "comma or semicolon between them"
        ),
        search=_tables,
        search_options={"SUGGESTION"},
        options={"SKIP_SAVE"},
    )
    merge: BoolProperty(
        name="Merge",
        description="Join selections that get the same name: their weights are added, at most 1",
        options={"SKIP_SAVE"},
    )
    selections: CollectionProperty(type=SelectionName, options={"SKIP_SAVE", "HIDDEN"})
    active_selection: IntProperty(options={"SKIP_SAVE", "HIDDEN"})
    table_read: StringProperty(options={"SKIP_SAVE", "HIDDEN"})  # the table that the rows were filled in from
    if TYPE_CHECKING:  # as in `LongWork`
        _unknown: int = 0
        _lods: list[list[str]] = []
        _config: tuple[str, set[str]] = ("", set())
        _refusal: MotionbridgeError | None = None
    else:
        _unknown, _lods, _config, _refusal = 0, (), ("", frozenset()), None

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        chosen = chosen_model(context)
        return [chosen.model, *chosen.parts, *(obj.data for obj in chosen.levels)]

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """List the selections; a table that is given already fills in new names."""
        return self.answer(context, self._ask)

    def _ask(self, context: Context, _report: Report) -> Outcome | None:
        self._list(context)
        if not self.selections:
            return Outcome(rpt_("The model has no selections"), done=False)
        self._config = renamed_selections.quoted_by_config(chosen_model(context), known_games(context, "ARMA"))
        self.check(context)
        context.window_manager.invoke_props_dialog(self, width=480, confirm_text=iface_("Rename"))
        return None

    def _list(self, context: Context) -> None:
        """Fill the rows with the selections of the model. Raises `WriteError`."""
        new = {row.name.lower(): row.new_name for row in self.selections}
        self.selections.clear()
        spelled: dict[str, str] = {}
        lods = Counter[str]()
        self._lods = model_export.selections_by_lod(context, chosen_model(context))
        for names in self._lods:
            lods.update(list(dict.fromkeys(name.lower() for name in names)))
            spelled = {name.lower(): name for name in reversed(names)} | spelled
        for lower, count in lods.items():  # a row must not be kept while others are added: Blender moves it
            row = self.selections.add()
            row.name, row.new_name, row.lods = spelled[lower], new.get(lower) or spelled[lower], count

    def check(self, _context: Context) -> bool:
        """Fill in the new names of another table; show counts again."""
        if self.table != self.table_read:
            self.table_read, self._unknown, self._refusal = self.table, 0, None
            try:
                self._fill()
            except MotionbridgeError as refusal:
                self._refusal = refusal
        return True

    def _fill(self) -> None:
        """Fill in the new names of the table. Raises `ReadError`."""
        table = renaming.read_table(*_text_of(self.table)) if self.table else {}
        new = {old.lower(): name for old, name in table.items()}
        for row in self.selections:
            row.new_name = new.pop(row.name.lower(), row.name)
        self._unknown = len(new)

    def _renamed(self) -> dict[str, str]:
        """Return old name -> new name of the rows that have another one."""
        return {row.name: row.new_name for row in self.selections if row.new_name.strip() not in {"", row.name}}

    def draw(self, _context: Context) -> None:
        fields(self.layout.column()).prop(self, "table")
        self.layout.template_list(
            "MOTIONBRIDGE_UL_arma_selections", "", self, "selections", self, "active_selection", rows=10, maxrows=10
        )
        if self._refusal is not None:
            paragraph(self.layout, tell(self._refusal.sentence()), LETTERS, icon="ERROR")
        for line in self._lines(self._renamed()):
            paragraph(self.layout, tell(line), LETTERS, icon="INFO")
        fields(self.layout.column()).prop(self, "merge")

    def _lines(self, table: Mapping[str, str]) -> list[Message]:
        """Return what the dialog says before it runs."""
        renamed = {name.lower() for name in table}
        lods = [names for names in self._lods if any(name.lower() in renamed for name in names)]
        words = "{:# selection is|# selections are} renamed in {:# LOD|# LODs}"
        result = [say(words, len(table), len(lods)) if table else say("Type new names, or choose a table of them")]
        if self._unknown:
            result.append(say("{:# name|# names} of the table that the model does not have", self._unknown))
        if (clash := _clash(self._lods, table)) is not None:
            result.append(clash)
        if (config := _config_line(self._config, table)) is not None:
            result.append(config)
        return result

    def run(self, context: Context, report: Report) -> Outcome:
        config = self._config
        self._list(context)
        if self.table != self.table_read:
            self._fill()
            self.table_read = self.table
        table = {old: new.strip() for old, new in self._renamed().items()}
        if not table and self._refusal is not None:
            raise self._refusal
        if not table:
            return Outcome(rpt_("No selection gets another name"), done=False)
        clash = _clash(self._lods, table)
        if clash is not None and not self.merge:
            raise WriteError(clash, remedy="Choose other names, or tick Merge to join them")
        chosen = chosen_model(context)
        if not config[0]:
            config = renamed_selections.quoted_by_config(chosen, known_games(context, "ARMA"))
        lines = self._lines(table)
        with scope.object_mode(context):
            renamed_selections.rename(chosen, {old.lower(): new for old, new in table.items()})
        if self._unknown:
            report.note(say("{:# name|# names} of the table that the model does not have", self._unknown))
        if (line := _config_line(config, table)) is not None:
            report.warn(line)
        return Outcome(tell(lines[0], rpt_))


def _text_of(table: str) -> tuple[str, str]:
    """Return the text of a table and its name for messages. Raises `ReadError` if it is not a text."""
    texts: Any = bpy.data.texts
    text = texts.get(table)
    if text is not None:
        return text.as_string(), table
    path = bpy.path.abspath(table)
    try:
        return files.read_file(path).decode("utf-8-sig"), path
    except UnicodeDecodeError:
        raise ReadError("the table is not a text in UTF-8", file=path, remedy="Save it as UTF-8") from None


def _clash(lods: list[list[str]], table: Mapping[str, str]) -> Message | None:
    """Return which selections would become one, None if there are none."""
    joined, count = renaming.clashes(lods, {old.lower(): new for old, new in table.items()})
    if not joined:
        return None
    words = [f"{' + '.join(old)} → {new}" for new, old in joined.items()]
    return say("selections would become one in {:# LOD|# LODs}: {}", count, listed(words, 4))


def _config_line(config: tuple[str, set[str]], table: Mapping[str, str]) -> Message | None:
    """Return which renamed selections the model.cfg names, None if there are none."""
    names = [name for name in table if name.lower() in config[1]]
    if not names:
        return None
    return say("{} is not changed and names {}", Path(config[0]).name, listed(names, 6))


CLASSES = classes_of(__name__)
