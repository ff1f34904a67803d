"""`blender --command motionbridge hud …`: a first-person scene without a window."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

from ..core.report import Report
from ..games.xray.hud import sections
from ..games.xray.options import Aspect, Game, HudSceneOptions, Stance
from .bases import CALL
from .scene_command import absolute, carried_out, said_last

NAME = "hud"
SEPARATOR = ";"


def main(arguments: Sequence[str]) -> int:
    """Make the scene and save it; 0, or 2 and one sentence where something was refused."""
    chosen = _parser().parse_args(arguments)
    return carried_out(lambda: _list(chosen) if chosen.list else _make(chosen))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="motionbridge hud",
        description="Make a first-person scene of a weapon's section, or of a model of a weapon and one of hands.",
    )
    add: Any = parser.add_argument
    add("section", nargs="?", default="", metavar="SECTION", help="section of the weapon or of its HUD")
    add("--folders", type=Path, nargs="+", default=[], metavar="FOLDER", help="gamedata folders, the first wins")
    add("--configs", nargs="+", default=[], metavar="FILE", help="files below them to read, instead of system.ltx")
    add("--hands-section", default="", metavar="SECTION", help="section of the hands")
    add("--item", type=Path, metavar="FILE.ogf", help="model of the weapon")
    add("--hands", type=Path, metavar="FILE.ogf", help="model of the hands")
    add("--hands-motions", type=Path, metavar="FILE.omf", help="motion file of the hands besides those of the model")
    for name, kind, default in (
        ("game", Game, Game.ANOMALY),
        ("aspect", Aspect, Aspect.WIDE),
        ("stance", Stance, Stance.HIP),
    ):
        names = [member.name.lower() for member in kind]
        add(f"--{name}", choices=names, default=default.name.lower())
    add("--anchor", default="lead_gun", metavar="BONE", help="without a section: bone of the hands for the weapon")
    add("--list", action="store_true", help="print the sections of weapons instead")
    add("--save", type=Path, metavar="FILE.blend", help="save the scene")
    return parser


def _list(chosen: argparse.Namespace) -> None:
    options = HudSceneOptions(
        folders=tuple(chosen.folders), configs=tuple(chosen.configs), game=Game[chosen.game.upper()]
    )
    print("\n".join(sections.hud_sections(sections.load_configs(options, Report()))))


def _make(chosen: argparse.Namespace) -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    files = {name: getattr(chosen, name) for name in ("item", "hands", "hands_motions")}
    CALL.motionbridge.new_hud_scene(
        section=chosen.section,
        folders=SEPARATOR.join(map(absolute, chosen.folders)),
        configs=SEPARATOR.join(chosen.configs),
        hands_section=chosen.hands_section,
        **{name: absolute(path) for name, path in files.items() if path is not None},
        **{name: getattr(chosen, name).upper() for name in ("game", "aspect", "stance")},
        anchor=chosen.anchor,
    )
    said_last()
    if chosen.save is not None:
        bpy.ops.wm.save_as_mainfile(filepath=absolute(chosen.save))
