"""Writing a first-person scene back: lines of new actions, and places that were changed, into the game's configs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import bpy

from ....core.errors import WriteError
from ....core.report import Report
from ....formats.xray import hud, ltx
from ....formats.xray.ltx import edit
from ....formats.xray.ltx.codec import parsed
from ....formats.xray.ltx.document import cleaned
from ....formats.xray.ltx.tree import Configs
from ...plan import FilePlan
from ..options import Game, HudSceneOptions
from . import placing, sections

SEPARATOR = ";"


class Inherited(Enum):
    """Where a changed value goes that the section inherits."""

    SECTION = "section"
    """A new line of the section itself."""
    PARENT = "parent"
    """The line of the parent: it changes for every section that inherits it."""
    MOD = "mod"
    """A file of DLTX beside ``system.ltx``; every changed value goes there, and the game's files stay as they are."""


@dataclass(frozen=True)
class ConfigChanges:
    """What is different in a config: a text for each changed line."""

    lines: list[str]

    def sentence(self) -> str:
        """All of them."""
        return ", ".join(self.lines)


def remember(hands: Any, options: HudSceneOptions) -> None:
    """Store which configs the scene is from."""
    properties = hands.motionbridge_hud
    properties.folders = SEPARATOR.join(map(str, options.folders))
    properties.configs = SEPARATOR.join(options.configs)
    properties.game = options.game.name


def load(hands: Any, report: Report) -> Configs:
    """The configs as they are on the disk now. Raises `ReadError`."""
    properties = hands.motionbridge_hud
    folders = (Path(bpy.path.abspath(part)) for part in properties.folders.split(SEPARATOR) if part)
    configs = tuple(part for part in properties.configs.split(SEPARATOR) if part)
    options = HudSceneOptions(folders=tuple(folders), configs=configs, game=Game[properties.game])
    return sections.load_configs(options, report)


def has_configs(hands: Any) -> bool:
    """Whether the scene is from a section of configs."""
    properties = hands.motionbridge_hud
    return bool(properties.folders and properties.section)


def wanted(hands: Any, configs: Configs | None = None) -> dict[str, str]:
    """Key -> text of every line to write: places that were changed, then actions that were added.

    With the ``configs`` an action of the left hand gets its twin for wide screens too.
    """
    found = placing.changed(hands)
    properties = hands.motionbridge_hud
    twins = configs is not None and hud.place_of(sections.texts(configs, properties.section)) == 1
    for row in properties.actions:
        if row.is_new and row.hands is not None:
            found[row.name] = line = line_of(row)
            if twins:
                found[row.name + hud.WIDE_SUFFIX] = line
    return found


def line_of(row: Any) -> str:
    """The value of an action: its motions as they are named now, both where their names differ.

    Of Anomaly's sections also the speed and the end; other games do not read them.
    """
    actions = [action for action in (row.hands, row.item) if action is not None]
    names = [str(action.motionbridge_motion.motion_name) or action.name for action in actions]
    has_more = Game[row.id_data.motionbridge_hud.game] is Game.ANOMALY
    more = (row.speed, row.end) if has_more else ()
    return hud.Action(row.name, names[0], names[-1], *more).value()


def plan_configs(hands: Any, inherited: Inherited, report: Report) -> list[FilePlan]:
    """The configs as they would be written, a plan for each file; nothing where no line would change.

    Raises `ReadError` where a config is missing by now, `WriteError` where a line cannot be written.
    """
    if not has_configs(hands) or not wanted(hands):
        return []
    configs = load(hands, Report())  # what is wrong in them was said when the scene was made
    section = hands.motionbridge_hud.section
    texts = wanted(hands, configs)
    if inherited is Inherited.MOD:
        edits = [_in_mod_file(hands, configs, section, texts)]
    else:
        edits = edit.change_values(configs, section, texts, of_parents=inherited is Inherited.PARENT)
    if inherited is Inherited.PARENT:
        shared = [key for key in texts if _is_inherited(configs, section, key)]
        if shared:
            report.warn("a value of a parent changes, for every section that inherits it", ", ".join(shared))
    return [
        FilePlan(str(one.path), ltx.write(one.document), ConfigChanges(one.changes)) for one in edits if one.changes
    ]


def _is_inherited(configs: Configs, section: str, key: str) -> bool:
    value = configs.values(section).get(key)
    return value is not None and value.section != configs.section(section).name


def _in_mod_file(hands: Any, configs: Configs, section: str, texts: Mapping[str, str]) -> edit.ConfigEdit:
    """The file of DLTX for one section, beside the file that all begins with."""
    root = configs.files[0].path
    if Game[hands.motionbridge_hud.game] not in sections.WITH_DLTX or root.name.lower() != "system.ltx":
        raise WriteError(
            "a mod file (DLTX) needs Anomaly's or IX-Ray's rules, and configs that were read from system.ltx",
            remedy="Choose another place for inherited values",
        )
    path = root.with_name(f"mod_system_{section}.ltx")
    data = path.read_bytes() if path.is_file() else b""
    document = parsed(data)
    head = f"![{section}]"
    if not any(f"{one.change}[{one.name}]" == head for one in document.heads):
        document = parsed(data + (b"\r\n" if data and not data.endswith(b"\n") else b"") + f"{head}\r\n".encode())
    changes: list[str] = []
    for key, text in texts.items():
        done = edit.with_value(document, head, key, text)
        document, changes = done.document, [*changes, *done.changes]
    return edit.ConfigEdit(path, document, changes)


def settle(hands: Any) -> None:
    """Remember which values the configs have, after they were written."""
    configs = load(hands, Report())
    section = hands.motionbridge_hud.section
    found = {key: text for key, text in wanted(hands, configs).items() if configs.text(section, key) == cleaned(text)}
    placing.settle(hands, found)
    for row in hands.motionbridge_hud.actions:
        row.is_new = row.is_new and row.name not in found
