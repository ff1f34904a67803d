"""Benchmarks: time and memory of each operation, beside a floor measured in the same run.

`python3 scripts/bench.py [--json] [--only WORD] [--times N] [--blender VERSION|PATH]`. With ``--blender`` the rows are
imports and exports in that Blender, else operations that need none. A floor is the least that any program must do (such
as reading the file and computing a checksum of it); the ratio to it is comparable between machines. Each figure is the
minimum of seven measurements. Ours and the floor alternate, each in a fresh process, which loads our modules from
cached bytecode as users' Blender does. Real game files are taken from MOTIONBRIDGE_CORPUS; without it the samples are
used, or files made from them.

The rows are in `scripts/benchmarks/cases.py`. A new row is one entry there; it names what is measured: in `plain.py`
without Blender, else in `kinds.py` (imports and exports of each kind of file) or `rigs.py`.
"""

from __future__ import annotations

import argparse
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
from environment import blenders

UNITS = {"ms": 1e3, "MB": 1e-6}


def command(measurement: str, files: Sequence[Path], blender: Sequence[str] = ()) -> list[str]:
    """Return the command that measures once, in a fresh process or Blender, and prints the figure in its last line."""
    script = os.fspath(ROOT / "scripts/benchmarks/run.py")
    start = [*blender, "--background", "--factory-startup", "--python-exit-code", "1", "--python", script, "--"]
    if measurement.startswith("plain."):
        start, measurement = [sys.executable, __file__, "--measure"], measurement.removeprefix("plain.")
    return [*start, measurement, *map(str, files)]


def measured_once(program: Sequence[str], folder: Path) -> float:
    """Run such a command and return its figure: seconds or bytes. Bytecode is kept in ``folder``."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": os.fspath(folder / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(
        program, stdout=subprocess.PIPE, text=True, check=True, timeout=LIMIT, cwd=ROOT, env=environment
    )
    return float(done.stdout.splitlines()[-1])


def measure(row: Row, times: int, blender: Sequence[str], folder: Path) -> tuple[float, float]:
    """Return the minimum of ours and of the floor, measured alternately; generated files are put into ``folder``."""
    files = row.paths(folder)
    if row.prepare:
        measured_once(command(row.prepare, files, blender), folder)
    our_program = command(row.ours, files, blender)
    floor_program = command(row.floor, row.paths(folder, of_floor=True), blender)
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
    parser.add_argument(
        "--blender", metavar="WHICH", help="rows inside this Blender instead: 4.2, 4.5, 5.0, 5.2 or a path"
    )
    parser.add_argument("--measure", choices=MEASUREMENTS, metavar="NAME", help="measure once, in this process")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="for --measure")
    chosen = parser.parse_args(arguments)
    if chosen.measure:
        print(MEASUREMENTS[chosen.measure](*chosen.files))
        return 0
    with tempfile.TemporaryDirectory(prefix="motionbridge-bench-") as folder:
        listed = rows_in_blender() if chosen.blender else rows()
        blender = blenders.find(chosen.blender).started_from() if chosen.blender else []
        wanted = [row for row in listed if chosen.only in row.title]
        if not wanted:
            parser.error(f"no row holds {chosen.only!r}; there are: {', '.join(row.title for row in listed)}")
        for row in wanted:
            ours, floor = measure(row, chosen.times, blender, Path(folder))
            scale = UNITS[row.unit]
            if chosen.json:
                figures = {"ours": ours * scale, "floor": floor * scale, "ratio": ours / floor, "unit": row.unit}
                print(json.dumps({"title": row.title, **figures}), flush=True)
            else:
                line = f"{row.title:<48} {ours * scale:9.2f} {row.unit}   floor {floor * scale:9.2f} {row.unit}"
                print(f"{line}   ratio {ours / floor:6.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
