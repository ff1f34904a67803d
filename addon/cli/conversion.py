"""The command `convert`: files to another version of their format, motions, models and textures to another kind of
file.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from ..core.errors import MotionbridgeError, WriteError
from ..core.files import read_file
from ..core.report import Report
from ..formats import Format, GameModelChoice
from ..formats.arma import model_cfg
from ..formats.arma.skeletons import BUILT_IN, Hierarchy
from . import processes
from .files import add_output, expanded, make_folder, opened, refuse_same_file, save
from .output import TROUBLE, complain, say


@dataclass(frozen=True)
class Task:
    """One file and how to convert it; with ``output`` None the result replaces the file."""

    file: str
    output: str | None
    to: str
    backup: bool
    model_cfg: str | None
    skeleton: str | None
    model: str | None = None
    making: GameModelChoice = field(default_factory=GameModelChoice)


@dataclass
class Outcome:
    """Messages about a task: ``lines`` for the standard output, ``complaints`` for the standard error."""

    lines: list[str]
    complaints: list[str]
    refused: bool = False


MODEL = "object"
"""Kind of file into which motions are written together with the model they belong to."""
GAME_MODEL = "ogf"
KINDS = ("png", "omf", "skls", GAME_MODEL, MODEL)
"""Kinds of files to which textures, motions and models are converted; also their suffixes."""


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the command to the parser."""
    text = "write files in another version of their format, motions and textures as another kind of file"
    command = commands.add_parser(
        "convert",
        help=text,
        description=f"{text[0].upper()}{text[1:]}. Exit status: 2 where a file was refused; the others are written.",
    )
    command.add_argument("files", nargs="+", metavar="FILE", help="a file, or a pattern with * and ?")
    command.add_argument(
        "--to",
        required=True,
        metavar="VERSION",
        help="for .anm: 3, 4 or 5; for .rtm: plain, or 5 (binarised); for .oof: 2300; for textures: png; "
        "for .skl, .skls and .object: omf; for .omf and .object: skls; for .object: ogf; "
        "for .omf, .skl, .skls and .object: object, with --model",
    )
    add_output(command, "write the result here; for several files a folder (ending in /)", "each FILE")
    command.add_argument(
        "--model",
        metavar="OBJECT",
        help="with --to object: the .object that gets the motions; those of the same name are replaced, "
        "and everything else keeps its bytes. The result is written to OUT",
    )
    command.add_argument(
        "--game",
        choices=("soc", "cop"),
        default="cop",
        help="with --to ogf: cop (default) for Clear Sky and Call of Pripyat, up to four bones per vertex; "
        "soc for Shadow of Chernobyl, up to two",
    )
    command.add_argument(
        "--merge", action="store_true", help="with --to ogf: merge vertices nearer than a millimetre, as the SDK does"
    )
    command.add_argument(
        "--bones-as",
        metavar="FILE",
        help="with --to ogf: the .ogf or .omf whose order of bones the model gets, so that its motions fit",
    )
    command.add_argument(
        "--most-bones",
        metavar="NUMBER",
        type=int,
        default=GameModelChoice().most_bones,
        help="with --to ogf: the largest number of bones (64 in the games, 128 and more in some rebuilt engines)",
    )
    known = ", ".join(BUILT_IN)
    command.add_argument("--model-cfg", metavar="CFG", help="for .rtm: the model.cfg with the skeleton")
    command.add_argument(
        "--skeleton", metavar="NAME", help=f"for .rtm: a skeleton of that model.cfg, or without one: {known}"
    )
    processes.add_option(command)
    command.set_defaults(run=_convert)


def _convert(chosen: argparse.Namespace) -> int:
    files = list(expanded(chosen.files))
    outputs = _outputs(files, None if chosen.in_place else chosen.output, chosen.to)
    making = GameModelChoice(chosen.game == "soc", chosen.merge, chosen.bones_as or "", chosen.most_bones)
    tasks = [
        Task(file, output, chosen.to, chosen.backup, chosen.model_cfg, chosen.skeleton, chosen.model, making)
        for file, output in zip(files, outputs, strict=True)
    ]
    refused = 0
    for outcome in _outcomes(tasks, chosen.jobs):
        for line in outcome.complaints:
            complain(line)
        for line in outcome.lines:
            say(line)
        refused += outcome.refused
    if len(tasks) > 1:
        say(f"{len(tasks)} files: {len(tasks) - refused} converted" + (f", {refused} refused" if refused else ""))
    return TROUBLE if refused else 0


def _outputs(files: Sequence[str], output: str | None, to: str) -> list[str | None]:
    """Return the path of each result: in the output folder under the file's own name, if there are several files or it
    is a folder, or ends like one.
    """
    to_folder = output is not None and (output.endswith(("/", os.sep)) or Path(output).is_dir())
    if output is None or (len(files) == 1 and not to_folder):
        return [output] * len(files)
    names = [Path(file).name for file in files]
    if to in KINDS:
        names = [Path(name).with_suffix(f".{to}").name for name in names]
    folded = [os.path.normcase(name) for name in names]  # Windows writes Walk.rtm over walk.rtm
    repeated = sorted({name for name in folded if folded.count(name) > 1}) if len(set(folded)) < len(folded) else []
    if repeated:
        raise WriteError(
            f"several files are named {repeated[0]}", file=output, remedy="Convert them one folder at a time"
        )
    folder = make_folder(output)
    return [str(folder / name) for name in names]


def _outcomes(tasks: Sequence[Task], jobs: int | None) -> Iterator[Outcome]:
    """Yield the outcomes in the order of the tasks, from several processes if the files are large enough."""
    jobs = processes.jobs(jobs, [task.file for task in tasks])
    if jobs == 1:
        yield from map(convert, tasks)
        return
    with processes.pool(jobs) as pool:
        pending = [pool.submit(convert, task) for task in tasks]
        for task, future in zip(tasks, pending, strict=True):
            try:
                yield future.result()
            except BrokenProcessPool:
                died = "a process died (out of memory?) before it was converted. Try again with --jobs 1."
                yield Outcome([], [f"{task.file}: {died}"], refused=True)


def convert(task: Task) -> Outcome:
    """Convert one file; runs in a worker process. A refusal becomes an outcome, too."""
    outcome = Outcome([], [])
    try:
        _convert_one(task, outcome)
    except MotionbridgeError as refusal:
        refusal.file = refusal.file or task.file
        outcome.complaints.append(str(refusal))
        outcome.refused = True
    return outcome


def _convert_one(task: Task, outcome: Outcome) -> None:
    data, source, document, report = opened(task.file)
    outcome.complaints += [f"{task.file}: {line}" for line in report.warning_lines()]
    findings = Report()
    rendering = _into_model(task, source) if task.to == MODEL else source.renderings.get(task.to)
    if rendering is not None and task.to == GAME_MODEL:
        rendering = source.game_model(Path(task.file).name, task.making)
    if rendering is not None:
        _render(task, rendering, document, findings, outcome)
        return
    conversion = _conversion(task, source, findings)
    output = task.output if task.output is not None else task.file
    if task.output is not None:
        refuse_same_file(output, task.file, "converted")
    converted = source.module.write(conversion(document, findings))
    outcome.lines += findings.lines()
    if task.output is None and converted == data:
        outcome.lines.append(f"{output}: no changes, file not written")
        return
    save(output, converted, source.module.read, outcome.complaints.append, backup=task.backup)
    outcome.lines.append(f"{output}: {source.name} {task.to}, {len(converted)} bytes (from {len(data)})")


def _conversion(task: Task, source: Format, findings: Report) -> Callable[[Any, Report], Any]:
    conversion = source.conversions.get(task.to)
    if conversion is not None:
        return conversion
    convert_along = source.along_skeleton.get(task.to)
    if convert_along is not None:
        hierarchy = _chosen_hierarchy(task.file, task.model_cfg, task.skeleton, findings)
        return lambda document, report: convert_along(document, hierarchy, report)
    known = ", ".join((*source.conversions, *source.along_skeleton, *source.renderings))
    raise WriteError(
        f"{source.title} ({source.name}) cannot be converted to {task.to!r}",
        file=task.file,
        remedy=f"Known: {known}" if known else "This format has one version",
    )


def _chosen_hierarchy(file: str, cfg: str | None, name: str | None, report: Report) -> Hierarchy | None:
    """Return the chosen skeleton, None if none was chosen. Raises `ReadError`, and `WriteError` if the choice is not
    clear.

    From a model.cfg without a skeleton's name: the one that belongs to ``file``, or the only one that has bones.
    """
    if cfg is None:
        if name is not None and name not in BUILT_IN:
            raise WriteError(f"there is no built-in skeleton {name!r}", remedy=f"Known: {', '.join(BUILT_IN)}")
        return BUILT_IN[name] if name is not None else None
    config = model_cfg.read(read_file(cfg), cfg, report)
    with_bones = [skeleton for skeleton in config.skeletons.values() if skeleton.parents]
    result = config.skeleton(name) if name is not None else config.skeleton_of(PurePath(file).stem)
    if result is None and name is None and len(with_bones) == 1:
        result = with_bones[0]
    if result is None:
        names_found = ", ".join(skeleton.name for skeleton in with_bones)
        problem = f"there is no skeleton {name!r}" if name is not None else "the file has several skeletons"
        remedy = (
            f"Choose one with --skeleton: {names_found}"
            if names_found
            else "The file describes no skeleton: give another"
        )
        raise WriteError(problem, file=cfg, remedy=remedy)
    return result


def _into_model(task: Task, source: Format) -> Callable[[Any, Report], list[bytes]]:
    """Return the function that writes the motions of a file into the model given with --model."""
    into = source.into_model
    if into is None:
        raise WriteError(f"{source.title} ({source.name}) holds no motions of X-Ray", remedy="Choose a motion file")
    if task.model is None:
        raise WriteError("motions are written into a model", remedy="Name an .object with --model")
    _, kind, target, read = opened(task.model)
    if kind.name != MODEL:
        raise WriteError(f"this is not an .object, but {kind.title}", file=task.model, remedy="Name an .object")

    def write(document: Any, report: Report) -> list[bytes]:
        report.include(Report(read.warnings))
        return [kind.module.write(into(document, target, report))]

    return write


def _render(
    task: Task, rendering: Callable[[Any, Report], list[bytes]], document: Any, findings: Report, outcome: Outcome
) -> None:
    """Write the files of another kind. If there are several, numbers are appended to their names."""
    if task.output is None:
        raise WriteError(f"a .{task.to} file does not replace it", file=task.file, remedy="Name another file with -o")
    files = rendering(document, findings)
    outcome.lines += findings.lines()
    output = Path(task.output)
    for number, data in enumerate(files):
        path = output if len(files) == 1 else output.with_name(f"{output.stem}_{number:04}{output.suffix}")
        refuse_same_file(path, task.file, "converted", "Name another")
        save(path, data, None, outcome.complaints.append, backup=task.backup)
        if path.suffix.lower() != f".{task.to}":
            outcome.complaints.append(f"{path}: it is a .{task.to} file; programs may expect another by its name")
        outcome.lines.append(f"{path}: {task.to}, {len(data)} bytes")
