"""Contents of a first-person scene, from the game's configs or chosen by hand; and writing changes back.

A scene takes models, positions and actions from a config section. New actions and changed positions are written into
the configs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ....blender.action_lists import label_of
from ....core import files
from ....core.changes import Changes
from ....core.errors import ReadError, WriteError
from ....core.report import Report, listed, say
from ....formats import trees
from ....formats.xray import hud, ltx
from ....formats.xray.game_tree import GameTree, tree_of, tree_over
from ....formats.xray.hud import Action, Generation, Placing
from ....formats.xray.ltx import edit
from ....formats.xray.ltx.codec import parsed
from ....formats.xray.ltx.document import cleaned, unquoted
from ....formats.xray.ltx.tree import Configs, ConfigTree, Section
from ...plan import FilePlan
from ..options import Aspect, Game, HudSceneOptions
from . import placing

if TYPE_CHECKING:
    from ....blender.typed import Object
    from ....core.report import Message


HANDS_SECTIONS = ("actor_hud_05", "actor_hud")
"""Sections of the hands in Call of Pripyat and Anomaly, in Clear Sky; outfits have others (``player_hud_section``)."""
HANDS_PRESET = {
    "visual": "dynamics\\weapons\\wpn_hand\\wpn_hand_04",
    "ancor_0": "lead_gun",
    "ancor_1": "l_hand",
}
"""Values of the hands' section in nearly every game and mod, for mod folders that have no such section."""
WITH_DLTX = (Game.ANOMALY, Game.IX_RAY)
ITEM = "item_visual"
_NAMED = re.compile(rb"(?m)^[ \t]*hud[ \t]*=[ \t]*\"?([^\s;\"]+)")


@dataclass(frozen=True)
class Setup:
    """What a scene is built from.

    ``hands``: None if one model has both arms and the weapon. ``anchor``: the bone of the hands, by the game's name.
    ``values``: of the section; if the models were chosen by hand they are empty, and so are ``actions``.
    ``item_values``: of the weapon's own section, whose ``hud`` is the section: the chosen weapon or the first one;
    empty if there is none.
    """

    name: str
    values: Mapping[str, str]
    item_values: Mapping[str, str]
    item: Path
    hands: Path | None
    anchor: str
    placing: Placing
    actions: list[Action]
    item_tree: GameTree
    hands_tree: GameTree

    @property
    def generation(self) -> Generation:
        """Whether the scene has one model, or hands and item."""
        return Generation.TWO_MODELS if self.hands is not None else Generation.ONE_MODEL


_trees: dict[tuple[tuple[Path, ...], bool], ConfigTree] = {}
"""The last config tree: reading a game's configs again then takes a quarter of the time."""


def load_configs(options: HudSceneOptions, report: Report) -> Configs:
    """Return the configs of the game folders. Raises `ReadError`."""
    if not options.folders:
        raise ReadError("no game folder is chosen", remedy="Choose the gamedata folder of the game")
    missing = [folder for folder in options.folders if not folder.is_dir()]
    if missing:
        raise ReadError("there is no such folder", file=str(missing[0]), remedy="Choose the gamedata folder")
    key = (options.folders, options.game in WITH_DLTX)
    if key not in _trees:
        _trees.clear()
        _trees[key] = ConfigTree(options.folders, dltx=key[1])
    return _trees[key].load(report, options.configs)


def hud_sections(configs: Configs) -> list[str]:
    """Return the sections that items name as their ``hud``, sorted.

    Without ``system.ltx`` also those with a model of an item, since the files of the items may be missing.
    """
    named = {name.decode("latin-1").lower() for file in configs.files for name in _NAMED.findall(file.data)}
    result = named & configs.sections.keys()
    if configs.without_root:
        result |= {name for name, section in configs.sections.items() if _has_item(section)}
    return sorted(result)


def _has_item(section: Section) -> bool:
    sources = ((file, head) for file, head in section.sources if ITEM.encode() in file.data)
    return any(item.key == ITEM for file, head in sources for item in file.document.items(head))


def hands_sections(configs: Configs) -> list[str]:
    """Return the sections of hands, which have anchors for items, sorted."""
    likely = (
        name for name, section in configs.sections.items() if any(b"ancor_" in f.data for f, _ in section.sources)
    )
    return sorted(name for name in likely if "ancor_0" in configs.values(name))


def texts(configs: Configs, section: str) -> dict[str, str]:
    """Return key -> value of a section, "" for keys without a value. Raises `ReadError`."""
    return {key: value.text or "" for key, value in configs.values(section).items()}


def find_setup(options: HudSceneOptions, report: Report) -> Setup:
    """Find everything a scene needs before anything is created. Raises `ReadError` if something is missing."""
    return _of_section(options, report) if options.section else _by_hand(options, report)


def _by_hand(options: HudSceneOptions, report: Report) -> Setup:
    if not options.item:
        raise ReadError("neither a section nor a weapon is chosen", remedy="Choose a section, or a model of a weapon")
    item, hands = _existing(options.item), _existing(options.hands) if options.hands else None
    still = np.eye(4)
    return Setup(
        name=f"{item.stem} HUD",
        values={},
        item_values={},
        item=item,
        hands=hands,
        anchor=options.anchor,
        placing=Placing(still, still, still, still),
        actions=[],
        item_tree=_tree_around(item, options, report),
        hands_tree=_tree_around(hands or item, options, report),
    )


def _of_section(options: HudSceneOptions, report: Report) -> Setup:
    configs = load_configs(options, report)
    name, values, item_values = _hud_of(configs, options.section)
    _report_missing(configs, name, values, report)
    wide = options.aspect is Aspect.WIDE
    tree = _tree_around(None, options, report)
    two_models = hud.generation(values) is Generation.TWO_MODELS
    anchor, hands = "", None
    if two_models:
        own_values = _hands_values(configs, options, tree, report)
        anchor = hud.anchor_bone(own_values, values)
        hands = _model(
            tree, own_values.get("visual", ""), options.hands, "the model of the hands {!r} was not found ({})"
        )
    words = "the model of the weapon {!r} was not found ({})"
    item = _model(tree, values["item_visual" if two_models else "visual"], options.item, words)
    return Setup(
        name=name,
        values=values,
        item_values=item_values,
        item=item,
        hands=hands,
        anchor=anchor,
        placing=hud.placing(values, report, wide=wide),
        actions=hud.actions(values, wide=wide),
        item_tree=tree,
        hands_tree=tree,
    )


def _report_missing(configs: Configs, name: str, values: Mapping[str, str], report: Report) -> None:
    """Report parents and included files that the configs lack, if loading did not.

    Raises `ReadError` if the section names no model for want of them.
    """
    missing = configs.missing(name)
    if missing and not (values.get(ITEM) or values.get("visual")):
        raise ReadError(
            say("[{}] names no model, and its configs are incomplete: {}", name, listed(missing)),
            remedy="Add the folder of the game or the mod that has them",
        )
    if missing and configs.without_root:
        report.warn(say("[{}] is incomplete; missing: {}", name, listed(missing)))


def _hud_of(configs: Configs, section: str) -> tuple[str, dict[str, str], dict[str, str]]:
    """Return the HUD section, its values and those of the weapon; ``section`` may also be a weapon's own section."""
    values = texts(configs, section)
    named = unquoted(values.get("hud", ""))
    if named:
        return named, texts(configs, named), values
    name = configs.section(section).name
    weapon = next(_naming(configs, name), None)
    return name, values, texts(configs, weapon) if weapon is not None else {}


def _naming(configs: Configs, hud_section: str) -> Iterator[str]:
    """Yield the sections whose ``hud`` is this one."""
    label = hud_section.encode("latin-1", "replace")
    files = {file.path for file in configs.files if label in map(bytes.lower, _NAMED.findall(file.data))}
    for name, section in configs.sections.items():
        if any(file.path in files for file, _ in section.sources):
            config = configs.values(name).get("hud")
            if config is not None and unquoted(config.text or "").lower() == hud_section:
                yield name


def _hands_values(configs: Configs, options: HudSceneOptions, tree: GameTree, report: Report) -> dict[str, str]:
    """Return the values of the chosen hands' section, else of the game's first one whose model is found."""
    if options.hands_section:
        return texts(configs, options.hands_section)
    sections = [
        values for name in HANDS_SECTIONS if name in configs.sections and "ancor_0" in (values := texts(configs, name))
    ]
    if not sections:
        report.note("the configs have no section of hands; the usual one of the game is used", HANDS_PRESET["visual"])
        return HANDS_PRESET
    with_model = (values for values in sections if tree.find_model(unquoted(values.get("visual", ""))) is not None)
    return next(with_model, sections[0])


def _model(tree: GameTree, named: str, chosen: str, words: str) -> Path:
    if chosen:
        return _existing(chosen)
    result = tree.find_model(unquoted(named))
    if result is None:
        raise ReadError(
            say(words, named, ", ".join(f"{game.root}: meshes" for game in tree.trees)),
            remedy="Add the game folder that has it, or choose a model",
        )
    return result


def _existing(path: str) -> Path:
    result = Path(path).absolute()
    if not files.FileLocation(str(result)).is_present():
        raise ReadError("there is no such file", file=str(result), remedy="Choose an existing model (.ogf)")
    return result


def _tree_around(file: Path | None, options: HudSceneOptions, report: Report) -> GameTree:
    """Return the tree around a file, followed by that of the chosen game folders, and the games of the preferences."""
    chosen = [trees.tree_over(options.folders)] if options.folders else []
    if file is None:
        near = tree_over(options.games, report)
        all_trees = (*chosen, *near.trees)
    else:
        near = tree_of(file, options.games, report)
        all_trees = (*near.trees[:1], *chosen, *near.trees[1:])
    return GameTree(near.beside, all_trees, is_listed=near.is_listed or bool(chosen))


# Writing back ---------------------------------------------------------------------------------------------------------

SEPARATOR = ";"


class Inherited(Enum):
    """Where to write a changed value that the section inherits."""

    SECTION = "section"
    """A new line in the section itself."""
    PARENT = "parent"
    """The parent's line: the value changes for every section that inherits it."""
    MOD = "mod"
    """A DLTX file beside ``system.ltx``: all changed values go there, and the game's files stay unchanged."""


class ConfigChanges(Changes):
    """Changes of a config: one text for each changed line."""

    def sentence(self) -> Message:
        """Return the number of lines."""
        return say("{:# line|# lines}", len(self.lines))


def remember(hands: Object, options: HudSceneOptions) -> None:
    """Store which configs the scene comes from."""
    properties = hands.motionbridge_hud
    properties.folders = SEPARATOR.join(map(str, options.folders))
    properties.configs = SEPARATOR.join(options.configs)
    properties.game = options.game.name


def use_mod(hands: Object, mod: Path) -> None:
    """Let the configs of a mod win over those that the scene comes from."""
    properties = hands.motionbridge_hud
    folders = properties.folders.split(SEPARATOR)
    if properties.folders and str(mod) not in folders:
        properties.folders = SEPARATOR.join([str(mod), *folders])


def load_again(hands: Object, report: Report) -> Configs:
    """Return the configs as they are on disk now. Raises `ReadError`."""
    properties = hands.motionbridge_hud
    folders = (Path(bpy.path.abspath(part)) for part in properties.folders.split(SEPARATOR) if part)
    configs = tuple(part for part in properties.configs.split(SEPARATOR) if part)
    options = HudSceneOptions(folders=tuple(folders), configs=configs, game=Game[properties.game])
    return load_configs(options, report)


def has_configs(hands: Object) -> bool:
    """Return whether the scene comes from a config section."""
    properties = hands.motionbridge_hud
    return bool(properties.folders and properties.section)


def wanted(hands: Object, configs: Configs | None = None) -> dict[str, str]:
    """Return key -> text of every line to write: changed positions and angles, then added actions.

    If ``configs`` is given, actions of items held in the left hand also get their wide-screen key.
    """
    result = placing.changed(hands)
    properties = hands.motionbridge_hud
    twins = configs is not None and hud.attach_place(texts(configs, properties.section)) == 1
    for row in properties.actions:
        if row.is_new and row.hands is not None:
            result[row.name] = line = line_of(row)
            if twins:
                result[row.name + hud.WIDE_SUFFIX] = line
    return result


def line_of(row: Any) -> str:
    """Return the config value of an action: the current names of its motions, two if they differ.

    For Anomaly also speed and end; other games do not read them.
    """
    actions = [action for action in (row.hands, row.item) if action is not None]
    names = [label_of(action) for action in actions]
    has_more = Game[row.id_data.motionbridge_hud.game] is Game.ANOMALY
    more = (row.speed, row.end) if has_more else ()
    return hud.Action(row.name, names[0], names[-1], *more).value()


def plan_configs(hands: Object, inherited: Inherited, report: Report) -> list[FilePlan]:
    """Return a plan for each config file to be written; empty if no line would change.

    Raises `ReadError` if a config no longer exists, `WriteError` if a line cannot be written.
    """
    if not has_configs(hands) or not wanted(hands):
        return []
    configs = load_again(hands, Report())  # problems in them were reported when the scene was created
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
    edits = [own_edit for own_edit in edits if own_edit.changes]
    for change in edits:
        files.warn_of_replacing(change.path, report)
        for line in change.changes:
            report.note(say("changed line: {}", line))
    return [
        FilePlan(
            str(own_edit.path),
            ltx.write(own_edit.document),
            ConfigChanges({"": [say("{}", line) for line in own_edit.changes]}),
        )
        for own_edit in edits
    ]


def _is_inherited(configs: Configs, section: str, key: str) -> bool:
    value = configs.values(section).get(key)
    return value is not None and value.section != configs.section(section).name


def _in_mod_file(hands: Object, configs: Configs, section: str, texts: Mapping[str, str]) -> edit.ConfigEdit:
    """Return the DLTX file of one section with the new values, beside the root config."""
    root = configs.files[0].path
    if Game[hands.motionbridge_hud.game] not in WITH_DLTX or root.name.lower() != "system.ltx":
        raise WriteError(
            "a mod file (DLTX) needs Anomaly's or IX-Ray's rules, and configs that were read from system.ltx",
            remedy="Choose another place for inherited values",
        )
    path = root.with_name(f"mod_system_{section}.ltx")
    data = path.read_bytes() if path.is_file() else b""
    document = parsed(data)
    head = f"![{section}]"
    if not any(f"{own_head.change}[{own_head.name}]" == head for own_head in document.heads):
        whole = data.rstrip(b"\0")
        new_line = b"\r\n" if whole and not whole.endswith(b"\n") else b""
        document = parsed(whole + new_line + f"{head}\r\n".encode() + bytes(document.zeros))
    changes: list[str] = []
    for key, text in texts.items():
        done = edit.with_value(document, head, key, text)
        document, changes = done.document, [*changes, *done.changes]
    return edit.ConfigEdit(path, document, changes)


def settle(hands: Object) -> None:
    """Store the values that were written into the configs."""
    configs = load_again(hands, Report())
    section = hands.motionbridge_hud.section
    written = {key: text for key, text in wanted(hands, configs).items() if configs.text(section, key) == cleaned(text)}
    placing.settle(hands, written)
    for row in hands.motionbridge_hud.actions:
        row.is_new = row.is_new and row.name not in written
