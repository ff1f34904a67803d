"""The command `verify`: whether files, and all files in folders, are written byte for byte as they were read."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from ..core.errors import ReadError
from ..core.report import on_one_line
from ..formats import archives, detect
from ..formats.engine_rules import KINDS, Remark
from ..formats.verification import Status, Verdict, file_data, verify
from . import processes
from .files import expanded
from .output import TROUBLE, complain, say

PROBLEMS_SHOWN = 3


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the command to the parser."""
    command = commands.add_parser(
        "verify",
        help="whether files would be written byte for byte as they are",
        description="Say whether files would be written byte for byte as they are: one line for each file that is not "
        "identical or that its game would refuse or misread, then a summary. Exit status: 1 where a file differs or "
        "the code failed on it, else 2 where a file was refused, because it is damaged or nothing here reads it; else "
        "0, also where files are of no format that is known.",
    )
    command.add_argument(
        "paths", nargs="+", metavar="PATH", help="a file, or a folder and everything below it, also in archives"
    )
    command.add_argument("--json", action="store_true", help="one JSON object a line, for every file")
    command.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="list everything that was noticed in each file, down to warnings and notes, and what helps",
    )
    command.add_argument(
        "--deep", action="store_true", help="also decode and encode each file, as an import and an export do"
    )
    processes.add_option(command)
    command.set_defaults(run=_verify)


def _verify(chosen: argparse.Namespace) -> int:
    files = list(_files(expanded(chosen.paths)))
    counts: Counter[Status] = Counter()
    warned = 0
    for verdict in _verdicts(files, chosen.jobs, chosen.deep):
        counts[verdict.status] += 1
        warned += bool(verdict.warnings or verdict.problems) and verdict.status is Status.IDENTICAL
        if chosen.json:
            say(json.dumps(_as_json(verdict)), at_once=True)
        else:
            for line in _lines(verdict, verbose=chosen.verbose):
                say(line, at_once=True)
    if not chosen.json:
        parts = [f"{counts[status]} {status.value}" for status in Status if counts[status]]
        if warned:
            parts[0] += f" ({warned} with warnings)"
        say(f"{len(files)} {'file' if len(files) == 1 else 'files'}: {', '.join(parts)}")
    if counts[Status.DIFFERS] or counts[Status.CRASHED]:
        return 1
    return TROUBLE if counts[Status.REFUSED] else 0


def _as_json(verdict: Verdict) -> dict[str, object]:
    return {
        "file": verdict.file,
        "format": verdict.format,
        "status": verdict.status.value,
        "raw_bytes": verdict.raw_share,
        "detail": "; ".join(filter(None, [verdict.detail, *verdict.problems, *verdict.warnings])),
        "findings": [remark._asdict() for remark in _remarks(verdict)],
    }


def _remarks(verdict: Verdict) -> list[Remark]:
    """Return all that was noticed in a file, the worst first."""
    every = [*verdict.remarks, *(Remark("warning", text) for text in verdict.warnings)]
    return sorted(every, key=lambda remark: KINDS.index(remark.kind))


def _lines(verdict: Verdict, *, verbose: bool) -> Iterator[str]:
    """Yield the lines about a file; none for an identical one of which there is nothing to say."""
    if verdict.status not in (Status.IDENTICAL, Status.LISTED):
        yield f"{verdict.status.value:<9} {_line(verdict.file, verdict.detail)}"
        return
    every = _remarks(verdict)
    if verbose and len(every) > 1:
        yield f"{every[0].kind:<9} {_line(verdict.file, '')}"
        yield from (f"  {remark.kind:<8} {on_one_line(_in_full(remark))}" for remark in every)
    elif verdict.problems and not verbose:
        yield f"{every[0].kind:<9} {_line(verdict.file, _shown(verdict))}"
    elif every and (verbose or verdict.status is Status.LISTED):
        yield f"{every[0].kind:<9} {_line(verdict.file, '; '.join(map(_in_full, every)))}"


def _in_full(remark: Remark) -> str:
    return f"{remark.text}. {remark.remedy}" if remark.remedy else remark.text


def _shown(verdict: Verdict) -> str:
    more = len(verdict.problems) - PROBLEMS_SHOWN
    return "; ".join([*verdict.problems[:PROBLEMS_SHOWN], *([f"and {more} more"] if more > 0 else [])])


def _line(file: str, detail: str) -> str:
    # A refusal already begins with the file's name.
    file = on_one_line(file)
    return detail if detail.startswith(file) else f"{file}: {detail}" if detail else file


def _say_unread(wrong: OSError) -> None:
    complain(f"{wrong.filename}: the files in this folder are left out: {wrong.strerror}.")


def _files(paths: Iterator[str]) -> Iterator[str]:
    """Yield the named files and those in the named folders, in a fixed order. Raises `ReadError` for a missing path."""
    has_files = False
    for path in paths:
        if archives.split(path) is not None:
            has_files = True
            yield path
            continue
        if not os.path.lexists(path):
            raise ReadError("there is no such file or folder", file=path, remedy="Check its name")
        if not Path(path).is_dir():
            has_files = True
            yield from _with_inner_files(path)
            continue
        for folder, folders, names in os.walk(path, onerror=_say_unread):
            folders.sort()
            for name in sorted(names):
                has_files = True
                yield from _with_inner_files(os.path.join(folder, name))  # noqa: PTH118 (a Path would drop a "./")
    if not has_files:
        raise ReadError("there are no files in the folders named")


def _with_inner_files(path: str) -> Iterator[str]:
    """Yield a file, and if it is an archive those in it that the game takes."""
    yield path
    if archives.is_archive(path):
        with contextlib.suppress(ReadError):  # the verdict on the archive itself says why
            archive = archives.opened(path)
            yield from (f"{path}{os.sep}{archive.table.names[index]}" for index in archive.below())


def judge(file: str, deep: bool = False) -> Verdict:
    """Return the verdict on one file; runs in a worker process."""
    try:
        if archives.is_only_read(file):
            return Verdict(file, "archive", Status.LISTED, warnings=tuple(archives.verify(file)))
        data = file_data(file)
    except ReadError as refusal:
        known = detect(file, b"")
        return Verdict(file, known.name if known else None, Status.REFUSED, detail=str(refusal))
    try:
        return verify(data, file, deep=deep)
    except Exception as crash:  # noqa: BLE001 (whatever the code does to one file, the others must be judged too)
        call = traceback.extract_tb(crash.__traceback__)[-1]
        where = f"{Path(call.filename).name}:{call.lineno}"
        known = detect(file, bytes(data[:64]))
        last_line = traceback.format_exception_only(crash)[-1].strip()
        return Verdict(file, known.name if known else None, Status.CRASHED, detail=f"{last_line} ({where})")


def _verdicts(files: Sequence[str], jobs: int | None, deep: bool) -> Iterator[Verdict]:
    """Yield the verdicts in the order of the files, from several processes if the files are large enough."""
    jobs = processes.jobs(jobs, files)
    if jobs == 1:
        yield from (judge(file, deep) for file in files)
        return
    with processes.pool(jobs) as pool:
        pending = _submitted(pool, files, deep)
        for file in files:
            try:
                yield pending[file].result() if file in pending else _judged_alone(file, deep)
            except BrokenProcessPool:
                # A process died, and the pool with it. Verifying each file alone shows which file caused it.
                yield _judged_alone(file, deep)


def _submitted(pool: ProcessPoolExecutor, files: Sequence[str], deep: bool) -> dict[str, Future[Verdict]]:
    pending: dict[str, Future[Verdict]] = {}
    for file in files:
        try:
            pending[file] = pool.submit(judge, file, deep)
        except BrokenProcessPool:
            break
    return pending


def _judged_alone(file: str, deep: bool) -> Verdict:
    with processes.pool(1) as pool:
        try:
            return pool.submit(judge, file, deep).result()
        except BrokenProcessPool:
            known = detect(file, b"")
            detail = "the process that read it died (out of memory?)"
            return Verdict(file, known.name if known else None, Status.CRASHED, detail=detail)
