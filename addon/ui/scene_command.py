"""`blender --command motionbridge scene …`, `hud …` and `retarget …`: convert files, make first-person scenes and take
motions from other skeletons without a window.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import bpy

from .. import cli, games
from ..cli.output import TROUBLE, complain
from ..core.report import Report
from ..games.xray import kinds
from ..games.xray.hud import sections
from ..games.xray.options import Aspect, Game, HudSceneOptions, Stance
from .bases import CALL, refusal_in

NAME = "scene"
HUD = "hud"
RETARGET = "retarget"
_NOT_RUN = re.compile(r"^Operator bpy\.ops\.[a-z0-9_.]+\.poll\(\) ")
"""Text that Blender puts before the message of an operator whose `poll` returned False."""
GAMES = ("xray_", "arma_", "descent3_")
_KINDS = tuple(kind for kinds in games.KINDS for kind in kinds)
# If kinds share a suffix, the first one is used: its importer recognises the others by their content.
IMPORTERS = {suffix: kind.operator for kind in reversed(_KINDS) for suffix in kind.suffixes}
EXPORTERS = {suffix: kind.operator for kind in reversed(_KINDS) for suffix in kind.exported_suffixes}
MOTIONS_CHOSEN_ON_IMPORT = (*kinds.MOTIONS.suffixes, *kinds.EDITOR_MOTIONS.suffixes)
MOTIONS_CHOSEN_ON_EXPORT = kinds.MOTIONS.suffixes


def main(arguments: Sequence[str]) -> int:
    """Run the steps in order. Returns 0, or 2 after printing one sentence if a step failed."""
    return _exit_status(lambda: _run(_parser(), arguments))


def _exit_status(steps: Callable[[], None]) -> int:
    """Run a command and return its exit status: 0, or 2 after printing the error of an operator or of this module."""

    def run() -> int:
        try:
            steps()
        except RuntimeError as refusal:  # how Blender raises an operator's error in scripts
            complain(_NOT_RUN.sub("", refusal_in(refusal)).strip())
            return TROUBLE
        return 0

    return cli.exit_status(run)


def _parser() -> argparse.ArgumentParser:
    parser = cli.Parser(prog="motionbridge scene", description="Open, import, export and save files, in this order.")
    parser.add_argument(
        "--open", type=Path, metavar="FILE.blend", help="begin with this file instead of an empty scene"
    )
    parser.add_argument(
        "--import",
        dest="imports",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="models, then their motions; motion paths; animations",
    )
    parser.add_argument("--motions", default="", metavar="A;B", help="names of motions; all if omitted")
    parser.add_argument(
        "--export",
        type=Path,
        metavar="FILE",
        help="write the armature's motions (.omf, .skls) or model (.ogf, .oof), the animation of the active object "
        "(.anm, .rtm), or its level file",
    )
    parser.add_argument("--into", action="store_true", help="--export writes motions into the existing file")
    parser.add_argument(
        "--run",
        nargs="+",
        action="append",
        default=[],
        metavar=("OPERATOR", "NAME=VALUE"),
        help="any operator of Motionbridge by its Python name, such as motionbridge.save_back backup=False",
    )
    parser.add_argument("--save", type=Path, metavar="FILE.blend", help="save the scene at the end")
    return parser


def _run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    chosen = parser.parse_args(arguments)
    if not any(vars(chosen).values()):
        parser.error("nothing is to be done: name files to open, import, export or save")
    if chosen.open is not None:
        bpy.ops.wm.open_mainfile(filepath=absolute(chosen.open))
    else:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    for path in chosen.imports:
        operator = _operator(bpy.ops.import_scene, IMPORTERS, path)
        options = {"motions": chosen.motions} if path.suffix.lower() in MOTIONS_CHOSEN_ON_IMPORT else {}
        operator(filepath=absolute(path), **options)
        print_report()
    if chosen.export is not None:
        operator = _operator(bpy.ops.export_scene, EXPORTERS, chosen.export)
        options = {"motions": chosen.motions} if chosen.export.suffix.lower() in MOTIONS_CHOSEN_ON_EXPORT else {}
        if chosen.motions and not options and not chosen.imports:
            raise RuntimeError(f"--motions chooses motions to import, or to export to .omf, not to {chosen.export}")
        if chosen.into:
            if "onto" not in operator.get_rna_type().properties:  # type: ignore[attr-defined]
                raise RuntimeError(f"--into is for motion files, not for {chosen.export}")
            options["onto"] = "FILE"
        operator(filepath=absolute(chosen.export), **options)
        print_report()
    for name, *values in chosen.run:
        _run_operator(name, dict(map(_option, values)))
        print_report()
    if chosen.save is not None:
        bpy.ops.wm.save_as_mainfile(filepath=absolute(chosen.save))


def _operator(operators: Any, known: dict[str, str], path: Path) -> Callable[..., Any]:
    name = known.get(path.suffix.lower())
    if name is None:
        raise RuntimeError(f"{path} does not have a supported suffix: {', '.join(known)}")
    operator: Callable[..., Any] = getattr(operators, name)
    return operator


def _operator_named(name: str) -> Callable[..., Any]:
    """Return an operator of this extension by its name in `bpy.ops`. Raises `RuntimeError` for all others."""
    group, _, function = name.partition(".")
    if group != "motionbridge" and not function.startswith(GAMES):
        games = ", ".join(f"….{game}…" for game in GAMES)
        raise RuntimeError(f"{name} is not an operator of Motionbridge (these are motionbridge.…, {games})")
    try:
        operator: Callable[..., Any] = getattr(getattr(bpy.ops, group), function)
        operator.get_rna_type()  # type: ignore[attr-defined]
    except (AttributeError, KeyError):
        raise RuntimeError(f"there is no operator named {name}") from None
    return operator


def _run_operator(name: str, options: dict[str, Any]) -> None:
    """Run an operator of this extension. Raises `RuntimeError` for options and values that it does not have."""
    operator: Any = _operator_named(name)
    known = [each.identifier for each in operator.get_rna_type().properties if each.identifier != "rna_type"]
    unknown = [option for option in options if option not in known]
    if unknown:
        raise RuntimeError(f"{name} has no option {unknown[0]!r}; it has: {', '.join(known)}")
    try:
        operator(**options)
    except TypeError as wrong:  # a value of another type, or an unknown item
        raise RuntimeError(f"{name}: {str(wrong).partition(': ')[2]}") from None


def _option(text: str) -> tuple[str, Any]:
    """Parse ``name=value``; a value that is not a Python literal is a string."""
    name, _, value = text.partition("=")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def absolute(path: Path) -> str:
    """Return an absolute path as operators take it."""
    return str(path.absolute())


def print_report() -> None:
    """Print the report of the last operator: its sentence and its findings."""
    manager: Any = bpy.context.window_manager
    print(manager.motionbridge_report, flush=True)


SEPARATOR = ";"


def hud_main(arguments: Sequence[str]) -> int:
    """Make the first-person scene and save it. Returns 0, or 2 after printing one sentence if a step failed."""

    def steps() -> None:
        chosen = _hud_parser().parse_args(arguments)
        (_list_sections if chosen.list else _make_hud_scene)(chosen)

    return _exit_status(steps)


def _hud_parser() -> argparse.ArgumentParser:
    parser = cli.Parser(
        prog=f"motionbridge {HUD}",
        description="Make a first-person scene of a weapon's section, or of a model of a weapon and one of hands.",
    )
    add: Any = parser.add_argument
    add("section", nargs="?", default="", metavar="SECTION", help="section of the weapon or of its HUD")
    add("--folders", type=Path, nargs="+", default=[], metavar="FOLDER", help="gamedata folders, the first wins")
    add("--configs", nargs="+", default=[], metavar="FILE", help="files below them to read, instead of system.ltx")
    add("--hands-section", default="", metavar="SECTION", help="section of the hands")
    add("--beside", default="", metavar="SECTION", help="section of what the other hand holds, such as a detector")
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
    add("--list", action="store_true", help="only print the sections of weapons")
    add("--preview", type=Path, metavar="FILE.png", help="render a preview strip of actions")
    add("--actions", default="*", metavar="KEYS", help="actions of the strip, separated by commas; * for all")
    add("--pictures", type=int, default=6, metavar="NUMBER", help="pictures of each action")
    add("--height", type=int, default=240, metavar="PIXELS", help="height of each picture")
    add("--renderer", choices=["workbench", "cycles"], default="workbench", help="cycles needs no graphics card")
    add("--save", type=Path, metavar="FILE.blend", help="save the scene")
    return parser


def _list_sections(chosen: argparse.Namespace) -> None:
    options = HudSceneOptions(
        folders=tuple(chosen.folders), configs=tuple(chosen.configs), game=Game[chosen.game.upper()]
    )
    print("\n".join(sections.hud_sections(sections.load_configs(options, Report()))))


def _make_hud_scene(chosen: argparse.Namespace) -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    files = {name: getattr(chosen, name) for name in ("item", "hands", "hands_motions")}
    CALL.motionbridge.new_hud_scene(
        section=chosen.section,
        folders=SEPARATOR.join(map(absolute, chosen.folders)),
        configs=SEPARATOR.join(chosen.configs),
        hands_section=chosen.hands_section,
        beside=chosen.beside,
        **{name: absolute(path) for name, path in files.items() if path is not None},
        **{name: getattr(chosen, name).upper() for name in ("game", "aspect", "stance")},
        anchor=chosen.anchor,
    )
    print_report()
    if chosen.preview is not None:
        CALL.motionbridge.hud_preview(
            filepath=absolute(chosen.preview),
            actions=chosen.actions,
            columns=chosen.pictures,
            height=chosen.height,
            renderer=chosen.renderer.upper(),
        )
        print_report()
    if chosen.save is not None:
        bpy.ops.wm.save_as_mainfile(filepath=absolute(chosen.save))


def retarget_main(arguments: Sequence[str]) -> int:
    """Add motions of another skeleton to a motion file. Returns 0, or 2 after printing why a step failed."""

    def steps() -> None:
        parser = _retarget_parser()
        chosen = parser.parse_args(arguments)
        if (chosen.output is None) is not chosen.in_place:
            parser.error("name a new file with -o, or change the motion file with --in-place")
        _retarget(chosen)

    return _exit_status(steps)


def _retarget_parser() -> argparse.ArgumentParser:
    parser = cli.Parser(
        prog=f"motionbridge {RETARGET}",
        description="Put motions of another skeleton (.bvh, .fbx, .glb) onto a model's and add them to a motion file.",
    )
    add: Any = parser.add_argument
    add("source", type=Path, metavar="SOURCE", help="file with the motions")
    add("--onto", type=Path, required=True, metavar="MODEL.ogf", help="model that gets the motions")
    add("--into", type=Path, required=True, metavar="MOTIONS.omf", help="motion file of the model")
    add("--motions", default="", metavar="A;B", help="names of the source's motions; all if omitted")
    add("--root", choices=["kept", "in_place"], default="kept", help="whether the body travels as in the source")
    add("--no-hold", action="store_true", help="do not hold feet where they stand and hands that touch")
    add(
        "--bone-map",
        default="",
        metavar="MAP",
        help="naming scheme of the source, name of a saved map, or FILE.json; found by names if omitted",
    )
    add("-o", "--output", type=Path, metavar="OUT.omf", help="write a new file")
    add("--in-place", action="store_true", help="change the motion file itself")
    add("--backup", action="store_true", help="with --in-place: keep the old file as .bak")
    return parser


def _retarget(chosen: argparse.Namespace) -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    CALL.import_scene.xray_ogf(filepath=absolute(chosen.onto))
    CALL.import_scene.xray_omf(filepath=absolute(chosen.into))
    CALL.motionbridge.retarget_motion(
        filepath=absolute(chosen.source),
        motions=chosen.motions,
        root=chosen.root.upper(),
        feet=not chosen.no_hold,
        bone_map=absolute(Path(chosen.bone_map)) if chosen.bone_map.lower().endswith(".json") else chosen.bone_map,
    )
    print_report()
    if chosen.in_place:
        CALL.motionbridge.save_back(backup=chosen.backup)
    else:
        CALL.export_scene.xray_omf(filepath=absolute(chosen.output), choose="FILE")
    print_report()
