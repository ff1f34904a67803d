"""The command `edit`: edits the list of motions of an .omf without Blender. All other motions keep their bytes."""

from __future__ import annotations

import argparse
import fnmatch
from collections.abc import Callable, Iterable
from typing import Any

from ..core import names
from ..core.errors import ReadError, WriteError
from ..core.files import resolved
from ..core.report import counted
from ..core.walk import Walk
from ..formats import format_named
from ..formats.xray.omf import edit, text
from ..formats.xray.omf.document import ALL_PARTITIONS, TIMING, MotionFlag, MotionSet, Omf
from .files import add_output, expanded, opened, refuse_same_file, save
from .output import complain, say

FLAGS = {flag.name.lower().replace("_", "-"): flag for flag in MotionFlag if flag.name}


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the command and its subcommands to the parser."""
    about = "Edit the motions of an .omf. All others keep their bytes. ACTION --help describes one action."
    command = commands.add_parser("edit", help="edit the motions of an .omf", description=about)
    actions = command.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add(actions, "list", _list, "number, name, length and parameters of each motion")
    rename = _add_change(actions, "rename", _rename, "give one motion another name")
    rename.add_argument("old", metavar="OLD", help="the motion's name now")
    rename.add_argument("new", metavar="NEW", help="its new name")
    _add_names(_add_change(actions, "delete", _delete, "take motions out"))
    _add_names(_add_change(actions, "reorder", _reorder, "put motions first, in this order; the others follow"))
    merge = _add_change(actions, "merge", _merge, "add the motions of other files of the same skeleton")
    merge.add_argument("others", nargs="+", metavar="OTHER", help="an .omf whose motions are added")
    merge.add_argument("--replace", action="store_true", help="a motion both have is taken from the other file")
    split = _add(actions, "split", _split, "write motions to a file of their own")
    _add_names(split)
    split.add_argument("-o", "--output", metavar="OUT", required=True, help="the file for the motions named")
    rest = split.add_mutually_exclusive_group()
    rest.add_argument("--rest", metavar="REST", help="a file for the others")
    rest.add_argument("--in-place", action="store_true", help="keep only the others in FILE")
    split.add_argument("--backup", action="store_true", help="keep the old bytes as FILE.bak; an existing one stays")
    _add_parameters(_add_change(actions, "set", _set, "change how motions play"))


def _add(actions: Any, name: str, run: Callable[[argparse.Namespace], int], help_text: str) -> argparse.ArgumentParser:
    action: argparse.ArgumentParser = actions.add_parser(name, help=help_text, description=help_text)
    action.add_argument("file", metavar="FILE", help="an .omf")
    action.set_defaults(run=run)
    return action


def _add_change(
    actions: Any, name: str, change: Callable[[argparse.Namespace, MotionSet], MotionSet], help_text: str
) -> argparse.ArgumentParser:
    def run(chosen: argparse.Namespace) -> int:
        document = _motions_of(chosen.file)
        changed = change(chosen, document.motion_set)
        _save(document, changed, chosen.file if chosen.in_place else chosen.output, chosen)
        return 0

    action = _add(actions, name, run, help_text)
    add_output(action, "write the result here", "FILE")
    return action


def _add_names(action: argparse.ArgumentParser) -> None:
    action.add_argument("names", nargs="+", metavar="MOTION", help="a name, or a pattern with * and ?")


def _add_parameters(action: argparse.ArgumentParser) -> None:
    _add_names(action)
    for field, what in zip(
        TIMING, ("playing speed", "weight in a mix", "fade-in speed", "fade-out speed"), strict=True
    ):
        action.add_argument(f"--{field}", type=float, metavar="X", help=what)
    known = ", ".join(FLAGS)
    action.add_argument("--flag", action="append", default=[], choices=FLAGS, metavar="FLAG", help=f"set it ({known})")
    action.add_argument("--no-flag", action="append", default=[], choices=FLAGS, metavar="FLAG", help="clear it")
    group = action.add_mutually_exclusive_group()
    group.add_argument("--part", metavar="PART", help="the bone part it plays on, by name; 'all' for all")
    group.add_argument("--bone", type=int, metavar="INDEX", help="for an FX: the bone's index in the model")


def _motions_of(path: str) -> Omf:
    """Return the document of an `.omf` and print what the reader reports. Raises `ReadError`."""
    _, source, document, report = opened(path)
    if source is not format_named("omf"):
        raise ReadError(
            f"this is not a motion file: {source.title} ({source.name})",
            file=path,
            remedy="Choose an .omf file",
        )
    for line in report.lines():
        complain(f"{path}: {line}")
    motions: Omf = document
    return motions


def _list(chosen: argparse.Namespace) -> int:
    for line in text.list_motions(_motions_of(chosen.file).motion_set):
        say(line)
    return 0


def _rename(chosen: argparse.Namespace, motions: MotionSet) -> MotionSet:
    return edit.rename(motions, chosen.old, chosen.new)


def _delete(chosen: argparse.Namespace, motions: MotionSet) -> MotionSet:
    return edit.delete(motions, _matching(chosen.names, motions))


def _reorder(chosen: argparse.Namespace, motions: MotionSet) -> MotionSet:
    return edit.reorder(motions, _matching(chosen.names, motions))


def _merge(chosen: argparse.Namespace, motions: MotionSet) -> MotionSet:
    for path in expanded(chosen.others):
        motions = edit.merge(motions, _motions_of(path).motion_set, replace_same=chosen.replace)
    return motions


def _split(chosen: argparse.Namespace) -> int:
    document = _motions_of(chosen.file)
    chosen_motions, others = edit.split(document.motion_set, _matching(chosen.names, document.motion_set))
    rest = chosen.file if chosen.in_place else chosen.rest
    if rest and resolved(rest) == resolved(chosen.output):
        raise WriteError("both halves would be written to one file", file=chosen.output, remedy="Name another")
    if chosen.rest:
        refuse_same_file(chosen.rest, chosen.file, "edited")
    # The new file first: if the second one fails, motions are in both files and none is lost.
    _save(document, chosen_motions, chosen.output, chosen, tell=False)
    if rest:
        _save(document, others, rest, chosen, tell=False)
    return 0


def _set(chosen: argparse.Namespace, motions: MotionSet) -> MotionSet:
    timing = {field: value for field in TIMING if (value := getattr(chosen, field)) is not None}
    rows = _partition(chosen.part, motions) if chosen.part is not None else _bone(chosen.bone, motions)
    if not timing and not chosen.flag and not chosen.no_flag and rows is None:
        raise WriteError("no parameter is given", remedy="Name at least one, such as --speed 1.5")
    both = sorted({*chosen.flag} & {*chosen.no_flag})
    if both:
        raise WriteError(f"the flag {both[0]} is to be set and cleared", remedy="Give only one of the two")
    for name in _matching(chosen.names, motions):
        motions = edit.set_parameters(
            motions,
            name,
            timing=timing,
            set_flags=sum({FLAGS[flag] for flag in chosen.flag}),
            clear_flags=sum({FLAGS[flag] for flag in chosen.no_flag}),
            bone_or_part=rows,
        )
    return motions


def _partition(name: str, motions: MotionSet) -> int:
    labels = [partition.label for partition in motions.parameters.partitions]
    for number, label in enumerate(labels):
        if names.same(label, name):
            return number
    if name == "all":
        return ALL_PARTITIONS
    raise WriteError(f"there is no bone part named {name!r}", remedy=f"There are: {', '.join(labels)}, all")


def _bone(index: int | None, motions: MotionSet) -> int | None:
    count = sum(len(partition.bones) for partition in motions.parameters.partitions)
    if index is not None and not 0 <= index < count:
        raise WriteError(f"there is no bone {index}", remedy=f"The bone parts have {counted(count, 'bone')}, from 0")
    return index


def _matching(wanted: Iterable[str], motions: MotionSet) -> list[str]:
    """Return names unchanged and patterns as all names they match. Raises `WriteError` for a pattern without
    a match.
    """
    labels = [definition.label for definition in motions.parameters.definitions]
    lowered = {label.lower() for label in labels}
    paths: list[str] = []
    for name in wanted:
        if name.lower() in lowered or not any(sign in name for sign in "*?"):
            paths.append(name)
            continue
        pattern = name.lower().replace("[", "[[]")  # brackets occur in names
        matches = [label for label in labels if fnmatch.fnmatchcase(label.lower(), pattern)]
        if not matches:
            raise WriteError(f"no motion matches {name!r}", remedy="List the motions to see their names")
        paths += matches
    return list(dict.fromkeys(paths))


def _save(document: Omf, changed: MotionSet, output: str, chosen: argparse.Namespace, *, tell: bool = True) -> None:
    """Write the file with changed motions, then print the differences."""
    in_place = bool(chosen.in_place)
    if not in_place:
        refuse_same_file(output, chosen.file, "edited")
    omf = format_named("omf").module
    result = document.with_motion_set(changed)
    data = omf.write(result)
    if in_place and data == omf.write(document):
        say(f"{output}: no changes, file not written")
        return
    save(output, data, omf.read, backup=chosen.backup)
    walk = Walk(text.VIEWS, missing="was removed", added="was added")
    for line in walk.differences(document.motion_set, changed) if tell else ():
        say(line)
    say(f"{output}: {counted(len(changed.library.motions), 'motion')}, {len(data)} bytes")
