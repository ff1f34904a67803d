"""First person: the operator that makes the scene, its panel, and Save Back of all its motions and configs together."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ...blender.typed import Context, Object
from ...core.errors import MotionbridgeError
from ...core.report import Report, listed
from ...games.xray.hud import attachments, pairs, placing, sections
from ...games.xray.hud import properties as hud_properties
from ...games.xray.hud import scene as hud_scene
from ...games.xray.hud.state import holder_of, rigs_of
from ...games.xray.motions import library, omf_host
from ...games.xray.options import HudSceneOptions
from .. import playing
from ..bases import (
    BlenderList,
    BlenderMenu,
    BlenderOperator,
    BlenderPanel,
    classes_of,
    iface_,
    options_from,
    path_search,
    properties_from,
    rpt_,
    tell,
)
from ..layouts import SIDEBAR, draw_folded, fields, paragraph
from ..operation import Need, Operation, Outcome, open_editors
from ..preferences import known_games, preferences
from ..saving import Target
from ..searched_lists import SearchedRows
from ..sidebar import MotionbridgePanel
from . import hud_tools
from .motion_choices import ExportChoices, MotionFileSaveBack, draw_bone_limit

if TYPE_CHECKING:
    from ...formats.xray.ltx.tree import Configs
    from ...games.plan import FilePlan


HudSceneProperties: Any = properties_from(HudSceneOptions)
SEPARATOR = ";"
MAX_SUGGESTED = 200
MISSING_SHOWN = 3
DIALOG_LINE = 64
"""Characters in a line of the dialog."""


class Sections(NamedTuple):
    """Names of the sections that the configs have, and what each lacks, as a sentence; "" if it is complete."""

    items: dict[str, str]
    hands: dict[str, str]


_listed: dict[tuple[Any, ...], Sections] = {}
"""(game folders, configs, game) -> sections; kept while the dialog is open."""


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(SEPARATOR) if part.strip()]


def _known_games(_operator: Any, context: Context) -> list[tuple[str, str, str]]:
    """Return the items of the installed games; Python keeps their texts, as Blender needs."""
    names = [row.name for row in preferences(context).known_games if row.kind == "XRAY"]
    _items[:] = [(str(index), name, "") for index, name in enumerate(names)] or [("0", "", "")]
    return _items


_items: list[tuple[str, str, str]] = []


def _folders(operator: Any, context: Context) -> tuple[Path, ...]:
    """Return the folders that are named, else those of the chosen game: its mods, the one that wins first, and it."""
    if named := _parts(operator.folders):
        return tuple(Path(bpy.path.abspath(part)) for part in named)
    games = known_games(context, "XRAY")
    if not games:
        return ()
    return games[min(int(operator.known_game or 0), len(games) - 1)].by_rank


def options_of(operator: Any, context: Context) -> HudSceneOptions:
    """Return the options that are set on the operator, with the games of the preferences."""
    return options_from(
        operator,
        HudSceneOptions,
        section=operator.section,
        folders=_folders(operator, context),
        configs=tuple(bpy.path.abspath(part) for part in _parts(operator.configs)),
        hands_section=operator.hands_section,
        beside=operator.beside,
        games=known_games(context, "XRAY"),
    )


def sections_of(options: HudSceneOptions) -> Sections:
    """Return the sections of weapons and of hands; empty if the configs cannot be read.

    Creating the scene reports why they cannot.
    """

    def with_missing(configs: "Configs", names: Iterable[str]) -> dict[str, str]:
        return {name: _missing_text(configs.missing(name)) for name in names}

    key = (options.folders, options.configs, options.game)
    if key not in _listed:
        _listed.clear()
        try:
            configs = sections.load_configs(options, Report())
            names = sections.hud_sections(configs), sections.hands_sections(configs)
            _listed[key] = Sections(*(with_missing(configs, of_kind) for of_kind in names))
        except MotionbridgeError:
            _listed[key] = Sections({}, {})
    return _listed[key]


def _missing_text(missing: list[str]) -> str:
    return iface_("missing: {}").format(tell(listed(missing, MISSING_SHOWN))) if missing else ""


def _containing(names: Iterable[str], typed: str) -> list[str]:
    return [name for name in names if typed.lower() in name][:MAX_SUGGESTED]


def _search_section(operator: Any, context: Context, typed: str) -> list[str]:
    return _containing(sections_of(options_of(operator, context)).items, typed)


def _search_hands(operator: Any, context: Context, typed: str) -> list[str]:
    return _containing(sections_of(options_of(operator, context)).hands, typed)


def _search_folders(operator: Any, context: Context, typed: str) -> list[str]:
    """Suggest completions of the last folder in the list."""
    before, separator, last = typed.rpartition(SEPARATOR)
    return [f"{before}{separator}{match}" for match in path_search()(operator, context, last.strip())]


class MOTIONBRIDGE_OT_new_hud_scene(HudSceneProperties, Operation, BlenderOperator):
    """Show a weapon of S.T.A.L.K.E.R. (X-Ray) as the player sees it: in the hands, through the game's camera"""

    bl_idname = "motionbridge.new_hud_scene"
    bl_label = "New HUD Scene"

    folders: StringProperty(
        name="Game Folders",
        description="Folders of mods and the game, or their data folders (gamedata), separated by semicolons; the "
        "first folder that has a file is used; if empty, the installed game",
        search=_search_folders,
        search_options={"SUGGESTION"},
    )
    known_game: EnumProperty(
        name="Installed Game", description="Game of the preferences, with its mods in use", items=_known_games
    )
    configs: StringProperty(
        name="Configs",
        description="Config files in reading order, separated by semicolons, such as defines.ltx;weapons/w_pm.ltx: "
        "relative to a game folder or to its configs, or full paths; if empty, system.ltx and what it includes, or all "
        "files of folders without it",
    )
    section: StringProperty(
        name="Section",
        description="Config section of the weapon or of its HUD; if empty, the models below are used without configs",
        search=_search_section,
        search_options={"SUGGESTION"},
    )
    beside: StringProperty(
        name="Other Hand",
        description="Config section of what the other hand holds, such as a detector; if empty, nothing",
        search=_search_section,
        search_options={"SUGGESTION"},
    )
    hands_section: StringProperty(
        name="Hands Section",
        description="Config section of the hands; if empty, the default of the game",
        search=_search_hands,
        search_options={"SUGGESTION"},
    )

    show_options: BoolProperty(name="Options", description="Show the options", options={"SKIP_SAVE", "HIDDEN"})
    show_models: BoolProperty(
        name="Models",
        description="Show the models, which replace those of the section or are used without one",
        options={"SKIP_SAVE", "HIDDEN"},
    )

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The scene, which gets a camera."""
        return (context.scene,)

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Open a dialog with the games of the preferences."""
        self.invoked_by_user()
        _listed.clear()
        return context.window_manager.invoke_props_dialog(self, width=480, confirm_text=iface_("Create"))

    def draw(self, context: Context) -> None:
        """Draw folders and section, and what the section lacks; the rest is folded."""
        layout = self.layout
        column = fields(layout.column())
        column.prop(self, "known_game" if known_games(context, "XRAY") and not self.folders else "folders")
        column.prop(self, "section")
        # Configs are read when the first letter is typed, not while the dialog opens.
        lacks = sections_of(options_of(self, context)).items.get(self.section.lower(), "") if _listed else ""
        paragraph(column, lacks, DIALOG_LINE, "ERROR")
        if body := draw_folded(layout, self, "show_options"):
            for group in (
                ("beside", "hands_section", "configs"),
                ("game", "aspect", "stance"),
                ("motions", "textures"),
            ):
                column = body.column()
                for name in group:
                    column.prop(self, name)
        if body := draw_folded(layout, self, "show_models"):
            for name in ("item", "hands", "hands_motions", *(() if self.section else ("anchor",))):
                body.prop(self, name)

    def run(self, context: Context, report: Report) -> Outcome:
        """Make the scene and look through its camera."""
        scene = hud_scene.new_scene(context, options_of(self, context), report)
        look_through_camera(context)
        counts = len(scene.hands_actions), len(scene.item_actions)
        text = rpt_("Created {}: motions of the hands: {}, of the weapon: {}").format(scene.collection.name, *counts)
        if scene.hidden:
            text += f". {rpt_('Hidden, because it was in the picture: {}').format(listed(scene.hidden))}"
        return Outcome(text)


def look_through_camera(context: Context) -> None:
    """Set every 3D view that shows the scene to the view of its camera."""
    for area in open_editors(context, "VIEW_3D", context.scene):
        area.spaces.active.region_3d.view_perspective = "CAMERA"


def _speed_text(row: Any) -> str:
    """Return the speeds of hands and weapon, one number if they are the same, "" if both are 1."""
    actions = [action for action in (row.hands, row.item) if action is not None]
    speeds = [f"{action.motionbridge_motion.speed * row.speed:g}" for action in actions]
    if len(set(speeds)) > 1:
        return " / ".join(speeds)
    return speeds[0] if speeds and speeds[0] != "1" else ""


class MOTIONBRIDGE_OT_hud_add_action(Operation, BlenderOperator):
    """Copy the motions of the active action as two new motions of equal duration, for hands and weapon"""

    bl_idname = "motionbridge.hud_add_action"
    bl_label = "Add HUD Action"
    needs = hud_tools.HAS_ACTIONS

    alias: StringProperty(name="Key", description="Key of the new action in the config section", default="anm_new")
    motion: StringProperty(name="Motion Name", description="Name of both new motions, in lower case", default="new")

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        return rigs_of(holder_of(context.active_object))

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        return context.window_manager.invoke_props_dialog(self, confirm_text=iface_("Add"))

    def run(self, context: Context, report: Report) -> Outcome:
        """Add the row and play it."""
        holder = holder_of(context.active_object)
        hud = holder.motionbridge_hud
        row = pairs.add_action(holder, hud.active_action, self.alias, self.motion)
        line = f"{row.name} = {sections.line_of(row)}"
        hud.active_action = len(hud.actions) - 1
        return Outcome(rpt_("Added the motions; Save HUD Back writes this line into the config: {}").format(line))


def _values_of(context: Context) -> bool:
    """Return whether the active object's scene has values of configs."""
    holder = holder_of(context.active_object)
    return holder is not None and len(holder.motionbridge_hud.values) > 0


class MOTIONBRIDGE_OT_hud_copy_values(Operation, BlenderOperator):
    """Copy the shown positions of hands and weapon to the clipboard, as lines of a config"""

    bl_idname = "motionbridge.hud_copy_values"
    bl_label = "Copy as LTX"
    needs = (Need("No first-person scene with configs is active", _values_of),)
    bl_options = {"REGISTER", "INTERNAL"}

    key: StringProperty(name="Key", description="Key of the line to copy; if empty, all lines")

    @classmethod
    def description(cls, context: Context, properties: Any) -> str:
        """Return the tooltip: for one line the whole line, for which the panel can be too narrow."""
        holder = holder_of(context.active_object)
        texts_of_file = placing.texts(holder) if properties.key and holder is not None else {}
        if properties.key not in texts_of_file:
            return iface_(cls.__doc__ or "")
        line = f"{properties.key} = {texts_of_file[properties.key]}"
        return iface_("{}. Click to copy this line to the clipboard").format(line)

    def run(self, context: Context, report: Report) -> Outcome:
        texts = placing.texts(holder_of(context.active_object))
        if self.key:
            texts = {key: text for key, text in texts.items() if key == self.key}
        context.window_manager.clipboard = "".join(f"{key} = {text}\n" for key, text in texts.items())
        return Outcome(rpt_("Copied {} lines").format(len(texts)))


class MOTIONBRIDGE_UL_hud_actions(SearchedRows, BlenderList):
    """Actions of a config section."""

    def draw_row(self, layout: Any, item: Any, _owner: Any, _index: int) -> None:
        """Draw the config key and the speeds; the panel shows the motions of the active row below the list."""
        row = layout.row()
        row.label(text=item.name, icon="ERROR" if item.hands is None else "NONE", translate=False)
        if speeds := _speed_text(item):
            right = row.row()
            right.alignment, right.active = "RIGHT", False
            right.label(text=speeds, translate=False)

    @staticmethod
    def words(item: Any) -> Sequence[str]:
        """Return the key and the names of the motions."""
        return item.name, item.hands_motion, item.item_motion


class MOTIONBRIDGE_MT_hud(BlenderMenu):
    """What can be done with a first-person scene besides saving it back"""

    bl_label = "First Person"

    def draw(self, _context: Context) -> None:
        layout = self.layout
        layout.operator("motionbridge.hud_add_action", icon="ADD")
        layout.operator("motionbridge.hud_attach", icon="CONSTRAINT_BONE")
        layout.operator("motionbridge.hud_preview", icon="RENDER_STILL")
        layout.separator()
        layout.operator("motionbridge.report", icon="TEXT")


class MOTIONBRIDGE_PT_hud(MotionbridgePanel, BlenderPanel):
    """Actions of the weapon in first person; a click plays hands and weapon together."""

    bl_label = "First Person"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return holder_of(context.active_object) is not None

    def draw(self, context: Context) -> None:
        """Draw the section, its actions, and what is missing for the active one."""
        layout = self.layout
        hud = holder_of(context.active_object).motionbridge_hud
        layout.label(text=hud.section, translate=False)
        row = layout.row(align=True)
        row.operator("motionbridge.hud_save_back", icon="FILE_TICK")
        row.menu("MOTIONBRIDGE_MT_hud", text="", icon="DOWNARROW_HLT")
        if len(hud.actions):
            hud_tools.ACTIONS.draw(layout, hud, rows=6)
            _draw_active(context, layout, hud, hud.actions[min(max(hud.active_action, 0), len(hud.actions) - 1)])
        else:
            layout.label(text="No actions: the scene was made without configs", icon="INFO")


def _draw_active(context: Context, layout: Any, hud: Any, row: Any) -> None:
    """Draw the motions of the active action, what is missing for it, and the speed and end of a new one."""
    _draw_motions(layout, row)
    if row.is_new and hud.game == "ANOMALY":
        column = layout.column(align=True)
        column.enabled = not hud_tools.ACTIONS.is_hidden(context)
        column.prop(row, "speed")
        column.prop(row, "end")
    if row.hands is None:
        text = iface_("The hands motion is in none of the motion files that were found")
        paragraph(layout, text, SIDEBAR, "ERROR")
    elif row.fallback:
        text = iface_("The weapon has no motion of that name and plays 'idle', as in the game")
        paragraph(layout, text, SIDEBAR, "INFO")


def _draw_motions(layout: Any, row: Any) -> None:
    """Draw the names of the motions that an action plays, one a line; grey what is not played."""
    column = layout.column(align=True)
    for icon, name, is_active in (
        ("VIEW_PAN", row.hands_motion, row.hands is not None),
        ("OBJECT_DATA", row.item_motion, not row.fallback),
    ):
        if name:
            line = column.row()
            line.active = is_active
            line.label(text=name, icon=icon, translate=False)


class MOTIONBRIDGE_PT_hud_values(MotionbridgePanel, BlenderPanel):
    """Stance, aspect and values of the configs."""

    bl_label = "Stance and Values"
    bl_parent_id = "MOTIONBRIDGE_PT_hud"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The scene has values of configs."""
        return _values_of(context)

    def draw(self, context: Context) -> None:
        _draw_values(self.layout, holder_of(context.active_object).motionbridge_hud)


def _draw_values(layout: Any, hud: Any) -> None:
    """Draw stance, aspect and the config values that apply to them; changed values have another icon."""
    column = layout.column(align=True)
    if hud.follows is None:
        column.prop(hud, "stance")
    column.prop(hud, "aspect")
    if fitting := attachments.bones(hud.id_data):
        row = column.row(align=True)
        for name in fitting:
            row.prop_enum(hud, "attached", name)
    column.prop(hud, "gizmos")
    if any(row.view is not None for row in hud.actions):
        column.prop(hud, "camera_effects")
    changed = placing.changed(hud.id_data)
    lines = layout.column(align=True)
    for key, text in placing.texts(hud.id_data).items():
        row = lines.row()
        row.alignment = "LEFT"
        icon = "GREASEPENCIL" if key in changed else "DOT"
        value = placing.shortened(text)
        whole = f"{key} = {value}"
        if len(whole) > SIDEBAR:
            row.label(text=f"{key} =", icon=icon, translate=False)
            row = lines.row()
            row.alignment = "LEFT"
            icon, whole = "BLANK1", value
        copy = row.operator("motionbridge.hud_copy_values", text=whole, icon=icon, emboss=False, translate=False)
        copy.key = key
    layout.operator("motionbridge.hud_copy_values", icon="COPYDOWN")


INHERITED = (
    ("SECTION", "Section", "A new line in the weapon's own section"),
    ("PARENT", "Parent Section", "The line of the parent section, which changes every section that inherits it"),
    ("MOD", "Mod File (DLTX)", "All changed lines go into a file mod_system_*.ltx; the game's files stay as they are"),
)


def _hands(context: Context) -> Any:
    """Return the hands of the active object's scene, or None; works in the context of long work too."""
    return holder_of(context.view_layer.objects.active)


def _has_files(context: Context) -> bool:
    hands = _hands(context)
    return sections.has_configs(hands) or any(_files_of(hands))


class MOTIONBRIDGE_OT_hud_save_back(ExportChoices, MotionFileSaveBack, BlenderOperator):
    """Write the motions of hands and weapon and the changed config lines to their files, after a preview of all"""

    bl_idname = "motionbridge.hud_save_back"
    bl_label = "Save HUD Back"
    needs = (
        Need("No first-person scene is active", _hands),
        Need("The scene has neither motion files nor configs", _has_files),
    )

    inherited: EnumProperty(
        name="Inherited Values",
        description="Where to write a changed value that the section inherits from another section",
        items=INHERITED,
        default="SECTION",
    )

    is_together = True

    def targets(self, context: Context) -> list[Target]:
        return [Target(rig, library.motions_of(file), file) for rig, file in _files_of(_hands(context))]

    def path(self, context: Context) -> str:
        return super().path(context) or str(_hands(context).motionbridge_hud.folders)

    def others(self, context: Context, report: Report) -> "list[FilePlan]":
        """Return the plans of the configs."""
        return list(sections.plan_configs(_hands(context), sections.Inherited[self.inherited], report))

    def settle(self, context: Context, plan: Any) -> None:
        if isinstance(plan, omf_host.MotionPlan):
            super().settle(context, plan)
        else:
            sections.settle(_hands(context))

    def uses_mod(self, context: Context, mod: Path) -> None:
        """Let the configs of the mod win over those in the archives."""
        sections.use_mod(_hands(context), mod)

    def questions(self, context: Context) -> dict[str, bool]:
        hands = _hands(context)
        return super().questions(context) | {"inherited": sections.has_configs(hands) and bool(sections.wanted(hands))}

    def draw_options(self, context: Context, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "width")
        layout.prop(self, "rename")
        draw_bone_limit(layout, self, _hands(context))

    def title(self) -> str:
        return iface_("Save HUD Scene Back")


def _files_of(hands: Object) -> Iterator[tuple[Any, Any]]:
    """Yield pairs of armature and motion file, those of the hands first."""
    for rig in rigs_of(hands):
        for file in rig.motionbridge_motion_files:
            yield rig, file


def _choose(hud: Any, context: Context) -> None:
    """Play the action that was chosen in the list."""
    frames = pairs.play(context, hud.id_data, hud.active_action)
    if frames is not None:
        playing.start(context, frames)


hud_properties.action_chosen.follow = _choose
CLASSES = classes_of(__name__)
