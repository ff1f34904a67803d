"""Benchmarks: CPU time and memory of each operation, beside a floor measured in the same run.

`python3 scripts/bench.py [--json] [--only WORD] [--times N] [--blender VERSION|PATH | --window SUITE]`. With
``--blender`` the rows are imports, exports and clicks in that Blender, else operations that need none. With
``--window`` they are the same in the window of Debian's Blender, where a click is measured until its result is drawn;
redraws of the viewport are counted apart. A floor is the least that any program must do (such
as reading the file and computing a checksum of it); the ratio to it is comparable between machines. Each figure is the
minimum of seven measurements. Ours and the floor alternate, each in a fresh process, which loads our modules from
cached bytecode as users' Blender does. Real game files are taken from MOTIONBRIDGE_CORPUS; without it the samples are
used, or files made from them.

The rows are in `scripts/benchmarks/cases.py`. A new row is one entry there; it names what is measured: in `plain.py`
without Blender, else in `kinds.py` (imports and exports of each kind of file), `rigs.py` or `clicks.py`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[level]) for level in (1, 0)]

from benchmarks import LIMIT, ROOT
from benchmarks.cases import Row, rows, rows_in_blender
from benchmarks.plain import MEASUREMENTS
from environment import blenders, chroot, window

UNITS = {"ms": 1e3, "MB": 1e-6}


class Figure(float):
    """Seconds or bytes. ``redraws``: how often a window drew the viewport meanwhile, in ``redrawing`` seconds."""

    redraws: int = 0
    redrawing: float = 0.0


def command(
    measurement: str, files: Sequence[Path], blender: Sequence[str] = (), session: blenders.Session | None = None
) -> list[str]:
    """Return the command that measures once, in a fresh process or Blender, and prints the figure in its last line.

    ``session``: a Blender in a chroot, whose window is opened; ``files`` are in its folder.
    """
    if session is not None and session.blender.root is not None:
        script = str(session.root / "scripts/benchmarks/run.py")
        inside = [str(session.scratch / file.relative_to(session.outside)) for file in files]
        variables = session.variables | {"LIBGL_ALWAYS_SOFTWARE": "1"}
        start = [*chroot.entering(session.blender.root, variables), *window.call(*window.SMALL), "--python", script]
        return [*start, "--", measurement, *inside]
    script = os.fspath(ROOT / "scripts/benchmarks/run.py")
    start = [*blender, "--background", "--factory-startup", "--python-exit-code", "1", "--python", script, "--"]
    if measurement.startswith("plain."):
        start, measurement = [sys.executable, __file__, "--measure"], measurement.removeprefix("plain.")
    return [*start, measurement, *map(str, files)]


def measured_once(program: Sequence[str], folder: Path) -> Figure:
    """Run such a command and return its figure. Bytecode is kept in ``folder``."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": os.fspath(folder / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(
        program, stdout=subprocess.PIPE, text=True, check=True, timeout=LIMIT, cwd=ROOT, env=environment
    )
    number, *redraws = done.stdout.splitlines()[-1].split()
    result = Figure(number)
    if redraws:
        result.redraws, result.redrawing = int(redraws[0]), float(redraws[1])
    return result


def measure(
    row: Row, times: int, blender: Sequence[str], folder: Path, session: blenders.Session | None = None
) -> tuple[float, float]:
    """Return the minimum of ours and of the floor, measured alternately; generated files are put into ``folder``.

    ``session`` as in `command`.
    """
    files = row.paths(folder)
    if row.prepare:
        measured_once(command(row.prepare, files, blender, session), folder)
    our_program = command(row.ours, files, blender, session)
    floor_program = command(row.floor, row.paths(folder, of_floor=True), blender, session)
    ours, floor = [], []
    for _ in range(times):
        floor.append(measured_once(floor_program, folder))
        ours.append(measured_once(our_program, folder))
    return min(ours), min(floor) * row.floor_times


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the chosen rows and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--only", default="", metavar="WORD", help="only rows whose title holds the word")
    parser.add_argument("--times", type=int, default=7, metavar="N", help="how often each is measured (7)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--blender", metavar="WHICH", help="rows inside this Blender: 4.2, 4.5, 5.0, 5.2 or a path")
    where.add_argument("--window", metavar="SUITE", help="the same rows in a window of Debian's: sid or trixie")
    parser.add_argument("--measure", choices=MEASUREMENTS, metavar="NAME", help="measure once, in this process")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="for --measure")
    chosen = parser.parse_args(arguments)
    if chosen.measure:
        print(MEASUREMENTS[chosen.measure](*chosen.files))
        return 0
    listed = rows_in_blender() if chosen.blender or chosen.window else rows()
    wanted = [row for row in listed if chosen.only in row.title]
    if not wanted:
        parser.error(f"no row holds {chosen.only!r}; there are: {', '.join(row.title for row in listed)}")
    with contextlib.ExitStack() as until_the_end:
        blender = blenders.find(chosen.blender).started_from() if chosen.blender else []
        session = None
        if chosen.window:
            debian = blenders.debian(chosen.window)
            if debian.root is not None:
                window.ready(debian.root)
            session = until_the_end.enter_context(blenders.session(debian, {}))
            folder = session.outside
        else:
            folder = Path(until_the_end.enter_context(tempfile.TemporaryDirectory(prefix="motionbridge-bench-")))
        for row in wanted:
            ours, floor = measure(row, chosen.times, blender, folder, session)
            print(_line(row, ours, floor, as_json=chosen.json), flush=True)
    return 0


def _line(row: Row, ours: float, floor: float, *, as_json: bool) -> str:
    scale = UNITS[row.unit]
    redraws = (ours.redraws, ours.redrawing * scale) if isinstance(ours, Figure) else (0, 0.0)
    if as_json:
        figures: dict[str, object] = {"title": row.title, "ours": ours * scale, "floor": floor * scale}
        figures |= {"ratio": ours / floor, "unit": row.unit}
        return json.dumps(figures | ({"redraws": redraws[0], "redrawing": redraws[1]} if redraws[0] else {}))
    line = f"{row.title:<48} {ours * scale:9.2f} {row.unit}   floor {floor * scale:9.2f} {row.unit}"
    line += f"   ratio {ours / floor:6.2f}"
    return f"{line}   and {redraws[0]} redraws in {redraws[1]:.0f} {row.unit}" if redraws[0] else line


if __name__ == "__main__":
    sys.exit(main())
