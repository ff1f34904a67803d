"""Benchmarks: time and memory of each operation, beside a floor measured in the same run.

`python3 scripts/bench.py [--json] [--only WORD] [--times N] [--blender VERSION|PATH]`. With ``--blender`` the rows are
imports and exports in that Blender, else operations that need none. A floor is the least that any program must do (such
as reading the file and computing a checksum of it); the ratio to it is comparable between machines. Each figure is the
minimum of seven measurements. Ours and the floor alternate, each in a fresh process. Real game files are taken from
MOTIONBRIDGE_CORPUS; without it the samples are used, or files made from them.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
import tempfile
import tracemalloc
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))
if str(ROOT / "scripts") not in sys.path:
    sys.path.insert(0, str(ROOT / "scripts"))

from bench_clock import seconds_of
from bench_files import (
    character,
    made_animation,
    made_collision,
    made_configs,
    made_details,
    made_editor_model,
    made_editor_motions,
    made_geometry_of_level,
    made_hierarchy,
    made_level,
    made_library,
    made_model,
    made_occluders,
    made_path,
)
from environment import blenders

from addon.cli import main as run_command_line
from addon.core.files import read_file
from addon.core.report import Report
from addon.formats import detect
from addon.formats.xray.ltx.tree import ConfigTree

SAMPLES = ROOT / "tests" / "samples"
LIMIT = 600
"""Time limit for one process in seconds."""

Measurement = Callable[..., float]
"""Takes one file, or several folders; returns seconds or bytes."""


def _module_of(path: Path) -> Any:
    found = detect(path, b"")
    if found is None:
        raise ValueError(f"{path} is of no known format")
    return found.module


def _document(path: Path) -> Any:
    return _module_of(path).read(read_file(path), path.name, Report())


# ---- what is measured without a Blender; each function runs in a process of its own


def read(path: Path) -> float:
    """Read a file from disk to a document."""
    _module_of(path)
    return seconds_of(lambda: _document(path))


def check_bytes(path: Path) -> float:
    """Floor of reading: read the bytes, compute one checksum, and view them as an array of keys."""

    def work() -> object:
        data = path.read_bytes()
        return zlib.crc32(data), np.frombuffer(data, "<i2", len(data) // 2)

    return seconds_of(work)


def write(path: Path) -> float:
    """Write an unedited document to bytes."""
    module, document = _module_of(path), _document(path)
    return seconds_of(lambda: module.write(document))


def recompose(path: Path) -> float:
    """Write a document to bytes, every field from its typed value."""
    module, document = _module_of(path), _document(path)
    return seconds_of(lambda: module.recompose(document))


def copy_bytes(path: Path) -> float:
    """Floor of writing: copy all bytes once, in blocks of one kilobyte."""
    data = memoryview(path.read_bytes())
    return seconds_of(lambda: b"".join([data[at : at + 1024] for at in range(0, len(data), 1024)]))


def memory(path: Path) -> float:
    """Return the peak memory while reading, in bytes, including the bytes of the file."""
    _module_of(path)
    tracemalloc.start()
    document = _document(path)
    peak = tracemalloc.get_traced_memory()[1]
    del document
    return float(peak)


def size(path: Path) -> float:
    """Floor of memory: the size of the file in bytes."""
    return float(path.stat().st_size)


def verify(*folders: Path) -> float:
    """Run the ``verify`` command on folders."""
    output, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: SIM115, PTH123 (closed when the process ends)
    try:
        return seconds_of(lambda: run_command_line(["verify", *map(str, folders)]))
    finally:
        sys.stdout = output


def check_folders(*folders: Path) -> float:
    """Floor of verifying: read every file and compute two checksums."""

    def work() -> None:
        for path in (path for folder in folders for path in folder.rglob("*") if path.is_file()):
            data = path.read_bytes()
            zlib.crc32(data)
            zlib.crc32(data)

    return seconds_of(work)


def index_configs(game: Path) -> float:
    """Index all sections of a game folder's configs."""
    return seconds_of(lambda: ConfigTree([game]).load(Report()))


def index_configs_again(game: Path) -> float:
    """Do the same again when no file has changed."""
    tree = ConfigTree([game])
    tree.load(Report())
    return seconds_of(lambda: tree.load(Report()))


def read_configs(game: Path) -> float:
    """Floor of indexing: read every file and split it into lines."""
    return seconds_of(lambda: [path.read_bytes().splitlines() for path in game.rglob("*.ltx")])


def start_up(path: Path) -> float:
    """Run the command line in a new process until it has printed the summary of a small file."""
    return seconds_of(lambda: _run([sys.executable, "-m", "addon.cli", "info", str(path)]))


def start_up_floor(_path: Path) -> float:
    """Start Python and import numpy."""
    return seconds_of(lambda: _run([sys.executable, "-c", "import numpy"]))


def _run(program: Sequence[str]) -> None:
    subprocess.run(program, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, timeout=LIMIT)


MEASUREMENTS: dict[str, Measurement] = {
    one.__name__: one
    for one in (
        read, check_bytes, write, recompose, copy_bytes, memory, size, verify, check_folders, index_configs,
        index_configs_again, read_configs, start_up, start_up_floor,
    )
}  # fmt: skip


# ---- the tables


@dataclass(frozen=True)
class MadeFile:
    """A generated file, or a folder of generated files by name, created when it is first needed.

    ``beside``: other files that its import reads.
    """

    name: str
    make: Callable[[], bytes | Mapping[str, bytes]]
    beside: tuple[MadeFile, ...] = ()

    def put_into(self, folder: Path) -> Path:
        """Create the files in ``folder`` if they are missing; return the path."""
        path = folder / self.name
        if not path.exists():
            made = self.make()
            for target, data in {path: made}.items() if isinstance(made, bytes) else made.items():
                (path / target).parent.mkdir(parents=True, exist_ok=True)
                (path / target).write_bytes(data)
        for other in self.beside:
            other.put_into(path.parent)
        return path


@dataclass(frozen=True)
class Row:
    """A row of the table: the names of two functions in ``script``, ``ours`` and its ``floor``.

    Both measure the same ``files``, unless ``floor_files`` are given: then the floor is the cost of these times
    ``floor_times``, which shows whether cost is linear. The function ``prepare`` is called once, before the
    measurements.
    """

    title: str
    ours: str
    floor: str
    files: tuple[Path | MadeFile, ...]
    floor_files: tuple[Path | MadeFile, ...] = ()
    floor_times: float = 1.0
    unit: str = "ms"
    script: str = "bench_blender.py"
    prepare: str = ""

    def programs(self, blender: Sequence[str], folder: Path) -> tuple[list[str], list[str]]:
        """Return the commands that measure ours and the floor."""
        if self.prepare:
            measured_once(command(self.script, self.prepare, self._paths_in(folder, self.files), blender))
        return (
            command(self.script, self.ours, self._paths_in(folder, self.files), blender),
            command(self.script, self.floor, self._paths_in(folder, self.floor_files or self.files), blender),
        )

    @staticmethod
    def _paths_in(folder: Path, files: Sequence[Path | MadeFile]) -> list[Path]:
        return [file.put_into(folder) if isinstance(file, MadeFile) else folder / file for file in files]


UNITS = {"ms": 1e3, "MB": 1e-6}
HERE = Path()
"""The folder of generated files."""


def rows() -> list[Row]:
    """Return the rows that need no Blender."""
    corpus = os.environ.get("MOTIONBRIDGE_CORPUS")
    few = MadeFile("made_300.omf", lambda: made_library(300, bones=20, frames=25))
    many = MadeFile("made_3000.omf", lambda: made_library(3000, bones=20, frames=25))
    motions: Path | MadeFile = Path(corpus) / "omf/human_smart_cover.omf" if corpus else many
    model = Path(corpus) / "ogf/hoc_backpack_hud.ogf" if corpus else SAMPLES / "humanoid.ogf"
    folders = (Path(corpus) / "omf", Path(corpus) / "ogf") if corpus else (SAMPLES,)
    configs = (MadeFile("gamedata", lambda: made_configs(3000)),)
    table = (
        Row(f"read {motions.name}", "read", "check_bytes", (motions,)),
        Row(f"read {motions.name}: memory", "memory", "size", (motions,)),
        Row(f"write {motions.name}", "write", "copy_bytes", (motions,)),
        Row(f"recompose {motions.name}", "recompose", "copy_bytes", (motions,)),
        Row(f"read {many.name} / 10 x {few.name}", "read", "read", (many,), (few,), 10.0),
        Row(f"memory {many.name} / 10 x {few.name}", "memory", "memory", (many,), (few,), 10.0),
        Row(f"read {model.name}", "read", "check_bytes", (model,)),
        Row(f"read {model.name}: memory", "memory", "size", (model,)),
        Row("start of the command line", "start_up", "start_up_floor", (SAMPLES / "weapon.omf",)),
        Row("sections of 3,001 configs", "index_configs", "read_configs", configs),
        Row("sections of 3,001 configs, again", "index_configs_again", "read_configs", configs),
        Row(f"verify {' '.join(folder.name for folder in folders)}", "verify", "check_folders", folders),
    )
    return [replace(row, script="bench.py", unit="MB" if row.ours == "memory" else "ms") for row in table]


# Operation in a title, after the file name -> ours, floor, unit.
OF_EACH_KIND = {
    "import": ("import_file", "pass_to_blender", "ms"),
    "memory": ("memory_of_import", "memory_allowed", "MB"),
    "export": ("export_file", "read_back", "ms"),
    "export, edited": ("export_edited", "read_back", "ms"),
    "export as a new file": ("export_as_new", "read_back", "ms"),
    "save back": ("save_back", "read_back", "ms"),
    "list, nothing imported": ("list_names", "list_names", "ms"),
}
BOTH_WAYS = ("import", "export", "export, edited")
MOTION_FILE = (*BOTH_WAYS, "memory")
LEVEL_FILE = (*MOTION_FILE, "export as a new file")
PATH = MadeFile("path.anm", made_path)
FOLDING_PATH = MadeFile("folding.anm", lambda: made_path(folding=True))
MEASURED_OF = {
    MadeFile("motions_300.omf", lambda: made_library(300)): (*MOTION_FILE, "save back", "list, nothing imported"),
    PATH: BOTH_WAYS,
    FOLDING_PATH: ("import",),
    MadeFile("key_each_frame.skls", lambda: made_editor_motions(per_frame=True)): MOTION_FILE,
    MadeFile("few_keys.skls", lambda: made_editor_motions(per_frame=False)): MOTION_FILE,
    MadeFile("animation.rtm", made_animation, (MadeFile("model.cfg", made_hierarchy),)): BOTH_WAYS,
    MadeFile("triangles.oof", made_model): ("import", "export"),
    MadeFile("squares.oof", lambda: made_model(corners=4)): ("export, edited",),
    MadeFile("hands.object", made_editor_model): BOTH_WAYS,
    MadeFile("compiled/level", made_level, (MadeFile("level.geom", made_geometry_of_level),)): ("import", "memory"),
    MadeFile("level.cform", made_collision): LEVEL_FILE,
    MadeFile("level.hom", made_occluders): LEVEL_FILE,
    MadeFile("level.som", lambda: made_occluders(of_sound=True)): LEVEL_FILE,
    MadeFile("level.details", made_details): MOTION_FILE,
}
"""Rows of each generated file.

Sizes: 300 motions of 47 bones and 60 frames; 100 motions of the editor; paths of 6 x 200 TCB keys, and of as many
Bezier keys whose time goes backwards in places; 600 frames of 90 bones; models of Descent 3 as large as the engine
accepts; hands of the X-Ray editor (real ones with MOTIONBRIDGE_CORPUS), 9,200 faces on 42 bones; a compiled level (with
MOTIONBRIDGE_CORPUS a real one of 16,076 visuals and 1.9 million faces) with invented vertices; a cform of 1 000 000
faces, a hom and a som of 200 000; 321 x 321 slots.
"""


CHARACTER = MadeFile("character.ogf", lambda: character("ogf"), (MadeFile("character.omf", lambda: character("omf")),))


def rows_in_blender() -> list[Row]:
    """Return the rows that need a Blender."""
    listed = []
    for file, measured in MEASURED_OF.items():
        for words in measured:
            ours, floor, unit = OF_EACH_KIND[words]
            prepare = "prepare_floor" if floor in ("pass_to_blender", "memory_allowed") else ""
            listed.append(Row(f"{file.name}: {words}", ours, floor, (file,), unit=unit, prepare=prepare))
    few, many, sampled, below = (
        MadeFile(f"motions_{count}.omf", functools.partial(made_library, count)) for count in (10, 1000, 50, 230)
    )
    # As many motions as characters of the game have, with 47 bones and few frames.
    people = MadeFile("list.omf", lambda: made_library(3060, frames=10))
    start = Row(
        "enable the extension: CPU", "enable", "enable_floor", (HERE,), script="bench_start.py", prepare="prepare"
    )
    return [
        *listed,
        Row("import 1000 motions / 100 x 10", "import_file", "import_file", (many,), (few,), 100.0),
        Row("import 400 paths / 400 x one", "import_many_paths", "import_file", (PATH,), (), 400.0),
        Row("plan save back of 50 motions, IK, mesh", "plan_with_kinematics", "evaluate_poses", (sampled,)),
        Row("plan save back of 230 motions, NLA track", "plan_with_nla", "read_back", (below,)),
        Row("Update Status of 3060 motions", "update_status", "read_back", (people,)),
        Row("redraw of 3060 motions", "redraw_list", "redraw_stock_list", (people,)),
        Row("8 motions onto controls: CPU", "transfer_to_controls", "evaluate_frames", (CHARACTER,)),
        Row("frames of 8 motions, controls: CPU", "evaluate_with_controls", "evaluate_frames", (CHARACTER,)),
        Row("add a control rig: CPU", "add_controls", "import_character", (CHARACTER,)),
        Row("import of a character with readable bones", "import_readable", "import_plain", (HERE,)),
        Row("first-person scene of the samples", "open_first_person", "open_its_files", (HERE,)),
        start,
    ]


# ---- measuring


def command(script: str, measurement: str, files: Sequence[Path], blender: Sequence[str] = ()) -> list[str]:
    """Return the command that measures once, in a fresh process or Blender, and prints the figure in its last line."""
    path = os.fspath(ROOT / "scripts" / script)
    options = ["--background", "--factory-startup", "--python-exit-code", "1", "--python", path, "--"]
    start = [*blender, *options] if blender else [sys.executable, path, "--measure"]
    return [*start, measurement, *map(str, files)]


def measured_once(program: Sequence[str]) -> float:
    """Run such a command and return its figure: seconds or bytes."""
    done = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True, timeout=LIMIT, cwd=ROOT)
    return float(done.stdout.splitlines()[-1])


def measure(row: Row, times: int, blender: Sequence[str], folder: Path) -> tuple[float, float]:
    """Return the minimum of ours and of the floor, measured alternately; generated files are put into ``folder``."""
    our_program, floor_program = row.programs(blender, folder)
    ours, floor = [], []
    for _ in range(times):
        floor.append(measured_once(floor_program))
        ours.append(measured_once(our_program))
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
