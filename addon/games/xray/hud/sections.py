"""What a first-person scene consists of: models, places and actions, from the game's configs or chosen by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ....core.errors import ReadError
from ....core.report import Report
from ....formats.xray import hud
from ....formats.xray.hud import Action, Generation, Placing
from ....formats.xray.ltx.document import unquoted
from ....formats.xray.ltx.tree import Configs, ConfigTree
from ..game_tree import GameTree, tree_of, tree_over
from ..options import Aspect, Game, HudSceneOptions

HANDS_SECTIONS = ("actor_hud_05", "actor_hud")
"""Of Call of Pripyat and Anomaly, of Clear Sky; outfits name others (``player_hud_section``)."""
HANDS_PRESET = {
    "visual": "dynamics\\weapons\\wpn_hand\\wpn_hand_04",
    "ancor_0": "lead_gun",
    "ancor_1": "l_hand",
}
"""What the hands section of nearly every game and mod says, for folders of mods that have none."""
WITH_DLTX = (Game.ANOMALY, Game.IX_RAY)
_NAMED = re.compile(rb"(?m)^[ \t]*hud[ \t]*=[ \t]*\"?([^\s;\"]+)")


@dataclass(frozen=True)
class Setup:
    """What a scene is built from.

    ``hands`` None where one model has both arms and the weapon; ``anchor`` the bone of the hands, by the game's name.
    ``values`` of the section, empty where the models were chosen by hand; then ``actions`` is empty too.
    ``item_values`` are those of the weapon itself, whose ``hud`` the section is: the chosen one, or the first; empty
    without one.
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
        """One model, or hands and item."""
        return Generation.TWO_MODELS if self.hands is not None else Generation.ONE_MODEL


_trees: dict[tuple[tuple[Path, ...], bool], ConfigTree] = {}
"""Reading a game's configs again takes a quarter of the time; the last tree is kept."""


def load_configs(options: HudSceneOptions, report: Report) -> Configs:
    """The configs of the game folders. Raises `ReadError`."""
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
    """The sections that items name as their ``hud``, sorted."""
    named = {found.decode("latin-1").lower() for file in configs.files for found in _NAMED.findall(file.data)}
    return sorted(named & configs.sections.keys())


def hands_sections(configs: Configs) -> list[str]:
    """The sections with places for items, sorted."""
    likely = (
        name for name, section in configs.sections.items() if any(b"ancor_" in f.data for f, _ in section.sources)
    )
    return sorted(name for name in likely if "ancor_0" in configs.values(name))


def texts(configs: Configs, section: str) -> dict[str, str]:
    """Key -> value of a section; keys without a value have an empty one. Raises `ReadError`."""
    return {key: value.text or "" for key, value in configs.values(section).items()}


def find_setup(options: HudSceneOptions, report: Report) -> Setup:
    """Everything that a scene needs, before anything is made. Raises `ReadError` where something is missing."""
    return _of_section(options, report) if options.section else _by_hand(options)


def _by_hand(options: HudSceneOptions) -> Setup:
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
        item_tree=_tree_around(item, options),
        hands_tree=_tree_around(hands or item, options),
    )


def _of_section(options: HudSceneOptions, report: Report) -> Setup:
    configs = load_configs(options, report)
    name, values, item_values = _hud_of(configs, options.section)
    wide = options.aspect is Aspect.WIDE
    tree = tree_over(options.folders, options.textures_folder)
    two_models = hud.generation(values) is Generation.TWO_MODELS
    anchor, hands = "", None
    if two_models:
        found = _hands_values(configs, options, tree, report)
        anchor = hud.anchor_bone(found, values)
        hands = _model(tree, found.get("visual", ""), options.hands, "hands")
    item = _model(tree, values["item_visual" if two_models else "visual"], options.item, "weapon")
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


def _hud_of(configs: Configs, section: str) -> tuple[str, dict[str, str], dict[str, str]]:
    """The section, its values, those of the weapon; of a weapon's own section the one that it names."""
    values = texts(configs, section)
    named = unquoted(values.get("hud", ""))
    if named:
        return named, texts(configs, named), values
    name = configs.section(section).name
    weapon = next(_naming(configs, name), None)
    return name, values, texts(configs, weapon) if weapon is not None else {}


def _naming(configs: Configs, hud_section: str) -> Iterator[str]:
    """The sections whose ``hud`` is this one, of the files that name it."""
    label = hud_section.encode("latin-1", "replace")
    files = {file.path for file in configs.files if label in map(bytes.lower, _NAMED.findall(file.data))}
    for name, section in configs.sections.items():
        if any(file.path in files for file, _ in section.sources):
            found = configs.values(name).get("hud")
            if found is not None and unquoted(found.text or "").lower() == hud_section:
                yield name


def _hands_values(configs: Configs, options: HudSceneOptions, tree: GameTree, report: Report) -> dict[str, str]:
    """What the chosen section says, else the first of the game's own of which there is a model."""
    if options.hands_section:
        return texts(configs, options.hands_section)
    found = [
        values for name in HANDS_SECTIONS if name in configs.sections and "ancor_0" in (values := texts(configs, name))
    ]
    if not found:
        report.note("the configs have no section of hands; the usual one of the game is used", HANDS_PRESET["visual"])
        return HANDS_PRESET
    with_model = (values for values in found if tree.find_model(unquoted(values.get("visual", ""))) is not None)
    return next(with_model, found[0])


def _model(tree: GameTree, named: str, chosen: str, what: str) -> Path:
    if chosen:
        return _existing(chosen)
    found = tree.find_model(unquoted(named))
    if found is None:
        folders = ", ".join(map(str, tree.meshes)) or "there is no meshes folder"
        raise ReadError(
            f"the model of the {what} {named!r} was not found ({folders})",
            remedy="Add the game folder that has it, or choose a model",
        )
    return found


def _existing(path: str) -> Path:
    found = Path(path).absolute()
    if not found.is_file():
        raise ReadError("there is no such file", file=str(found), remedy="Choose an existing model (.ogf)")
    return found


def _tree_around(file: Path, options: HudSceneOptions) -> GameTree:
    """The folders around a file, then those that were chosen."""
    near, far = tree_of(file, None, options.textures_folder), tree_over(options.folders)
    return GameTree(near.beside, near.meshes + far.meshes, near.textures + far.textures)
