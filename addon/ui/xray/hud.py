"""First person: the operator that makes a scene as the game shows hands and weapon."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpy
from bpy.props import StringProperty

from ...core.errors import MotionbridgeError
from ...core.report import Report
from ...games.xray.hud import pairs, placing, saving, sections
from ...games.xray.hud import scene as hud_scene
from ...games.xray.options import HudSceneOptions
from ..bases import BlenderList, BlenderOperator, BlenderPanel
from ..layouts import SIDEBAR, fields, paragraph
from ..lists import name_filter
from ..operation import Operation, Outcome
from ..options import offered_paths, options_from, properties_from
from ..preferences import folders
from ..sidebar import MotionbridgePanel
from ..translations import said, shown

HudSceneProperties: Any = properties_from(HudSceneOptions)
SEPARATOR = ";"
MOST_LISTED = 200

_listed: dict[tuple[Any, ...], tuple[list[str], list[str]]] = {}
"""Folders, configs and rules -> sections of weapons and of hands, while a dialog is open."""


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(SEPARATOR) if part.strip()]


def options_of(operator: Any, context: Any) -> HudSceneOptions:
    """What is set on the operator, with the user's textures folder."""
    return options_from(
        operator,
        HudSceneOptions,
        section=operator.section,
        folders=tuple(Path(bpy.path.abspath(part)) for part in _parts(operator.folders)),
        configs=tuple(_parts(operator.configs)),
        hands_section=operator.hands_section,
        textures_folder=folders(context)[1],
    )


def sections_of(options: HudSceneOptions) -> tuple[list[str], list[str]]:
    """The sections of weapons and those of hands; none where the configs cannot be read, which creating explains."""
    key = (options.folders, options.configs, options.game)
    if key not in _listed:
        _listed.clear()
        try:
            configs = sections.load_configs(options, Report())
            _listed[key] = sections.hud_sections(configs), sections.hands_sections(configs)
        except MotionbridgeError:
            _listed[key] = [], []
    return _listed[key]


def _containing(names: Iterable[str], typed: str) -> list[str]:
    return [name for name in names if typed.lower() in name][:MOST_LISTED]


def _search_section(operator: Any, context: Any, typed: str) -> list[str]:
    return _containing(sections_of(options_of(operator, context))[0], typed)


def _search_hands(operator: Any, context: Any, typed: str) -> list[str]:
    return _containing(sections_of(options_of(operator, context))[1], typed)


def _search_folders(operator: Any, context: Any, typed: str) -> list[str]:
    """Completes the last of the folders."""
    before, separator, last = typed.rpartition(SEPARATOR)
    return [f"{before}{separator}{one}" for one in offered_paths()(operator, context, last.strip())]


class MOTIONBRIDGE_OT_new_hud_scene(HudSceneProperties, Operation, BlenderOperator):
    """Create a first-person scene of S.T.A.L.K.E.R. (X-Ray): hands, weapon, camera, motions, as the game shows them"""

    bl_idname = "motionbridge.new_hud_scene"
    bl_label = "New HUD Scene"
    bl_options = {"REGISTER", "UNDO"}

    folders: StringProperty(
        name="Game Folders",
        description="gamedata folders of mods and the game, separated by semicolons; the first that has a file is used",
        search=_search_folders,
        search_options={"SUGGESTION"},
    )
    configs: StringProperty(
        name="Configs",
        description="Config files below the game folders, in reading order, separated by semicolons; "
        "if empty, system.ltx and what it includes",
    )
    section: StringProperty(
        name="Section",
        description="Config section of the weapon or of its HUD; if empty, the models below are used without configs",
        search=_search_section,
        search_options={"SUGGESTION"},
    )
    hands_section: StringProperty(
        name="Hands Section",
        description="Config section of the hands; if empty, the default of the game",
        search=_search_hands,
        search_options={"SUGGESTION"},
    )

    def edited(self, context: Any) -> Iterable[Any]:
        """The scene, which gets a camera."""
        return (context.scene,)

    def invoke(self, context: Any, _event: bpy.types.Event) -> Any:
        """A dialog with the user's game folder."""
        self.called_by_person()
        _listed.clear()
        game, _ = folders(context)
        if game is not None and not self.folders:
            self.folders = str(game)
        return context.window_manager.invoke_props_dialog(self, width=480, confirm_text="Create")

    def draw(self, _context: bpy.types.Context) -> None:
        """Configs first, then models, then how the game shows them."""
        layout = fields(self.layout)
        for name in ("folders", "configs", "section", "hands_section"):
            layout.prop(self, name)
        text = shown("Instead of the models of the sections") if self.section else shown("Models without configs")
        layout.label(text=text, translate=False)
        names = ("item", "hands", "hands_motions") if self.section else ("item", "hands", "hands_motions", "anchor")
        for group in (names, ("game", "aspect", "stance"), ("motions", "textures")):
            column = layout.column()
            for name in group:
                column.prop(self, name)

    def run(self, context: Any, report: Report) -> Outcome:
        """Make it and look through its camera."""
        made = hud_scene.new_scene(context, options_of(self, context), report)
        look_through_camera(context)
        counts = len(made.hands_actions), len(made.item_actions)
        text = said("Created {}: motions of the hands: {}, of the weapon: {}")
        return Outcome(text.format(made.collection.name, *counts))


def look_through_camera(context: Any) -> None:
    """Let every 3D view of the scene's windows show what its camera shows."""
    # Work in steps goes on in a context that has no screen.
    windows = [one for one in context.window_manager.windows if one.scene == context.scene]
    for area in (area for window in windows for area in window.screen.areas):
        if area.type == "VIEW_3D":
            area.spaces.active.region_3d.view_perspective = "CAMERA"


def _speed_said(row: Any) -> str:
    """The speeds of both motions where they differ."""
    speeds = [action.motionbridge_motion.speed * row.speed for action in (row.hands, row.item) if action is not None]
    return " / ".join(f"{speed:g}" for speed in speeds) if len(set(speeds)) > 1 or speeds[:1] != [1.0] else ""


class MOTIONBRIDGE_OT_hud_add_action(Operation, BlenderOperator):
    """Copy the motions of the active action as two new motions of equal duration, for hands and weapon"""

    bl_idname = "motionbridge.hud_add_action"
    bl_label = "Add HUD Action"
    bl_options = {"REGISTER", "UNDO"}

    alias: StringProperty(name="Key", description="Key of the new action in the config section", default="anm_new")
    motion: StringProperty(name="Motion Name", description="Name of both new motions, without capitals", default="new")

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is a list of actions."""
        cls.poll_message_set("No first-person scene with actions is active")
        holder = pairs.holder_of(context.active_object)
        return holder is not None and len(holder.motionbridge_hud.actions) > 0

    def edited(self, context: Any) -> Iterable[Any]:
        """Hands and weapon."""
        holder = pairs.holder_of(context.active_object)
        return (holder, holder.motionbridge_hud.item)

    def invoke(self, context: Any, _event: bpy.types.Event) -> Any:
        """Ask for the names."""
        return context.window_manager.invoke_props_dialog(self, confirm_text="Add")

    def run(self, context: Any, report: Report) -> Outcome:
        """Add the row and play it."""
        holder = pairs.holder_of(context.active_object)
        hud = holder.motionbridge_hud
        row = pairs.add_action(holder, hud.active_action, self.alias, self.motion)
        line = f"{row.name} = {saving.line_of(row)}"
        hud.active_action = len(hud.actions) - 1
        return Outcome(said("Added the motions; Save HUD Back writes this line into the config: {}").format(line))


class MOTIONBRIDGE_OT_hud_copy_values(Operation, BlenderOperator):
    """Copy the places of hands and weapon, as they are shown now, to the clipboard as lines of a config"""

    bl_idname = "motionbridge.hud_copy_values"
    bl_label = "Copy as LTX"
    bl_options = {"REGISTER", "INTERNAL"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There are values."""
        cls.poll_message_set("No first-person scene with configs is active")
        holder = pairs.holder_of(context.active_object)
        return holder is not None and len(holder.motionbridge_hud.values) > 0

    def run(self, context: Any, report: Report) -> Outcome:
        """Put the lines there."""
        found = placing.texts(pairs.holder_of(context.active_object))
        context.window_manager.clipboard = "".join(f"{key} = {text}\n" for key, text in found.items())
        return Outcome(said("Copied {} lines").format(len(found)))


class MOTIONBRIDGE_UL_hud_actions(BlenderList):
    """Actions of a section."""

    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: Any,
        _data: Any,
        item: Any,
        _icon: int,
        _active: Any,
        _property: str,
    ) -> None:
        """Key of the config, motions of hands and weapon, speeds."""
        row = layout.split(factor=0.4)
        row.label(text=item.name, icon="ERROR" if item.hands is None else "NONE", translate=False)
        names = row.row(align=True)
        names.active = item.hands is not None
        names.label(text=item.hands_motion, translate=False)
        weapon = names.row(align=True)
        weapon.active = not item.fallback
        weapon.label(text=item.item_motion, translate=False)
        if speeds := _speed_said(item):
            names.label(text=speeds, translate=False)

    def filter_items(self, _context: bpy.types.Context, data: Any, _property: str) -> tuple[list[int], list[int]]:
        """The actions whose key, or the name of a motion, contains the typed text."""
        fits = name_filter(self.filter_name, regular=False)
        rows = data.actions
        known = [any(map(fits, (row.name, row.hands_motion, row.item_motion))) for row in rows]
        return [self.bitflag_filter_item if one else 0 for one in known], []


class MOTIONBRIDGE_PT_hud(MotionbridgePanel, BlenderPanel):
    """The actions of the weapon in first person; a click plays hands and weapon together."""

    bl_label = "First Person"

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Something of a first-person scene is active."""
        return pairs.holder_of(context.active_object) is not None

    def draw(self, context: Any) -> None:
        """Section and list; what a sign means for the active action."""
        layout = self.layout
        hud = pairs.holder_of(context.active_object).motionbridge_hud
        layout.label(text=hud.section, translate=False)
        column = layout.column(align=True)
        column.operator("motionbridge.hud_save_back", icon="FILE_TICK")
        column.operator("motionbridge.report", icon="TEXT")
        if len(hud.values):
            _draw_place(layout, hud)
        if not len(hud.actions):
            layout.label(text="No actions: the scene was made without configs", icon="INFO")
            return
        layout.template_list("MOTIONBRIDGE_UL_hud_actions", "", hud, "actions", hud, "active_action", rows=6)
        layout.operator("motionbridge.hud_add_action", icon="ADD")
        row = hud.actions[min(max(hud.active_action, 0), len(hud.actions) - 1)]
        if row.hands is None:
            paragraph(layout, shown("No motion file that was found has the motion of the hands"), SIDEBAR, "ERROR")
        elif row.fallback:
            paragraph(
                layout, shown("The weapon has no motion of that name and plays 'idle', as in the game"), SIDEBAR, "INFO"
            )


def _draw_place(layout: Any, hud: Any) -> None:
    """Stance and aspect, and the values of what is shown; those that were changed stand out."""
    column = layout.column(align=True)
    column.prop(hud, "stance")
    column.prop(hud, "aspect")
    changed = placing.changed(hud.id_data)
    lines = layout.column(align=True)
    for key, text in placing.texts(hud.id_data).items():
        lines.label(text=f"{key} = {text}", icon="GREASEPENCIL" if key in changed else "NONE", translate=False)
    layout.operator("motionbridge.hud_copy_values", icon="COPYDOWN")


CLASSES = (
    MOTIONBRIDGE_OT_new_hud_scene,
    MOTIONBRIDGE_OT_hud_add_action,
    MOTIONBRIDGE_OT_hud_copy_values,
    MOTIONBRIDGE_UL_hud_actions,
    MOTIONBRIDGE_PT_hud,
)
