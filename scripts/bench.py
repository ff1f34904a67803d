"""What things cost, each figure beside a floor measured in the same run.

`python3 scripts/bench.py [--json] [--only WORD] [--times N] [--blender VERSION|PATH]`. With a Blender the rows are
those of import and export, else those that need none. A floor is the least that any program would have to do (read the
file, run one checksum over it); the ratio to it means the same on every machine. Each figure is the minimum of seven,
ours and the floor in turns, each time in a fresh process. Real files come from MOTIONBRIDGE_CORPUS; without it files
are made from the samples.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))
if str(ROOT / "scripts") not in sys.path:
    sys.path.insert(0, str(ROOT / "scripts"))

from bench_editor_motions import made_editor_motions
from bench_library import (
    made_animation,
    made_collision,
    made_details,
    made_hierarchy,
    made_library,
    made_model,
    made_occluders,
    made_path,
)
from environment import blenders

from addon.cli import main as run_command_line
from addon.core import names
from addon.core.files import read_file
from addon.core.report import Report
from addon.formats import Format, detect, format_named
from addon.formats.xray.omf import edit
from addon.formats.xray.omf.codec import numbered
from addon.formats.xray.omf.document import MotionSet, new_omf

SAMPLES = ROOT / "tests" / "samples"
MOTIONS_OF_A_MADE_FILE = (300, 3000)
MOTIONS_OF_A_LIBRARY = (10, 300, 1000)
MOTIONS_OF_A_LIST = 3060
LIMIT = 600
"""Seconds for one process."""

Measurement = Callable[[list[Path]], float]


def _format_of(path: Path) -> Format:
    found = detect(path, b"")
    if found is None:
        raise ValueError(f"{path} is of no known format")
    return found


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    kept = work()  # freeing what was made is not part of it
    seconds = time.perf_counter() - start
    del kept
    return seconds


# ---- what is measured; each function runs in a process of its own


def read(paths: list[Path]) -> float:
    """From the disk to a document."""
    module = _format_of(paths[0]).module
    return _seconds(lambda: module.read(read_file(paths[0]), paths[0].name, Report()))


def check_bytes(paths: list[Path]) -> float:
    """The floor of reading: the bytes, one checksum over them, and all of them as an array of keys."""

    def work() -> object:
        data = paths[0].read_bytes()
        return zlib.crc32(data), np.frombuffer(data, "<i2", len(data) // 2)

    return _seconds(work)


def write(paths: list[Path]) -> float:
    """From an untouched document to bytes."""
    module = _format_of(paths[0]).module
    document = module.read(paths[0].read_bytes(), paths[0].name, Report())
    return _seconds(lambda: module.write(document))


def recompose(paths: list[Path]) -> float:
    """From a document to bytes, every field from its value."""
    module = _format_of(paths[0]).module
    document = module.read(paths[0].read_bytes(), paths[0].name, Report())
    return _seconds(lambda: module.recompose(document))


def copy_bytes(paths: list[Path]) -> float:
    """The floor of writing: all bytes moved once, in pieces of a kilobyte."""
    data = memoryview(paths[0].read_bytes())
    return _seconds(lambda: b"".join([data[at : at + 1024] for at in range(0, len(data), 1024)]))


def memory(paths: list[Path]) -> float:
    """The most memory that was held while reading, the file's own bytes included."""
    module = _format_of(paths[0]).module
    tracemalloc.start()
    document = module.read(paths[0].read_bytes(), paths[0].name, Report())
    peak = tracemalloc.get_traced_memory()[1]
    del document
    return float(peak)


def size(paths: list[Path]) -> float:
    """The floor of memory: the file's bytes."""
    return float(paths[0].stat().st_size)


def verify(paths: list[Path]) -> float:
    """The whole command over folders."""
    output, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: SIM115, PTH123 (the process ends soon)
    try:
        return _seconds(lambda: run_command_line(["verify", *map(str, paths)]))
    finally:
        sys.stdout = output


def check_folders(paths: list[Path]) -> float:
    """The floor of verifying: every file's bytes and two checksums over them."""

    def work() -> None:
        for folder in paths:
            for path in filter(Path.is_file, folder.rglob("*")):
                data = path.read_bytes()
                zlib.crc32(data)
                zlib.crc32(data)

    return _seconds(work)


def start_up(paths: list[Path]) -> float:
    """The command line from nothing to the summary of a small file."""
    return _seconds(lambda: _run([sys.executable, "-m", "addon.cli", "info", *map(str, paths)]))


def start_up_floor(_paths: list[Path]) -> float:
    """Python that imports numpy."""
    return _seconds(lambda: _run([sys.executable, "-c", "import numpy"]))


def _run(program: Sequence[str]) -> None:
    subprocess.run(program, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, timeout=LIMIT)


@dataclass(frozen=True)
class Row:
    """A line of the table: what is measured and its floor on the same files.

    ``floor_files`` where the floor is another file's cost (is it linear?), which then counts ``floor_times``.
    """

    title: str
    ours: Measurement
    floor: Measurement
    files: list[Path]
    floor_files: list[Path] | None = None
    floor_times: float = 1.0
    unit: str = "ms"

    def programs(self, _blender: Sequence[str]) -> tuple[list[str], list[str]]:
        """The commands that measure ours and the floor."""
        return command(self.ours, self.files), command(self.floor, self.floor_files or self.files)


@dataclass(frozen=True)
class BlenderRow:
    """A line measured inside a Blender, by the names of functions in scripts/bench_blender.py or another ``script``.

    ``prepare`` is called once, before everything else.
    """

    title: str
    ours: str
    floor: str
    files: list[Path]
    floor_files: list[Path] | None = None
    floor_times: float = 1.0
    unit: str = "ms"
    script: str = "bench_blender.py"
    prepare: str = ""

    def programs(self, blender: Sequence[str]) -> tuple[list[str], list[str]]:
        """The commands that measure ours and the floor."""
        ours = command_in_blender(blender, self.script, self.ours, self.files)
        return ours, command_in_blender(blender, self.script, self.floor, self.floor_files or self.files)


UNITS = {"ms": 1e3, "MB": 1e-6}
MEASUREMENTS: dict[str, Measurement] = {
    measurement.__name__: measurement
    for measurement in (
        read,
        check_bytes,
        write,
        recompose,
        copy_bytes,
        memory,
        size,
        verify,
        check_folders,
        start_up,
        start_up_floor,
    )
}


# ---- the files


def made_omf(count: int) -> bytes:
    """The humanoid's motions over and over, each under a name of its own."""
    omf = format_named("omf").module
    source: MotionSet = omf.read((SAMPLES / "humanoid.omf").read_bytes(), "humanoid.omf", Report()).motion_set
    pairs = edit.pairs(source)
    motions, definitions = [], []
    for number in range(count):
        motion, definition = pairs[number % len(pairs)]
        name = names.encode(f"motion_{number:05}")
        motions.append(replace(motion, name=name))
        definitions.append(replace(definition, name=name, motion=number))
    parameters = replace(source.parameters, definitions=definitions)
    return omf.write(new_omf(MotionSet(numbered(motions), parameters)))


def rows(folder: Path) -> list[Row]:
    """Every line; made files are put into ``folder``."""
    few, many = (folder / f"made_{count}.omf" for count in MOTIONS_OF_A_MADE_FILE)
    for path, count in zip((few, many), MOTIONS_OF_A_MADE_FILE, strict=True):
        path.write_bytes(made_omf(count))
    corpus = os.environ.get("MOTIONBRIDGE_CORPUS")
    motions = Path(corpus) / "omf/human_smart_cover.omf" if corpus else many
    model = Path(corpus) / "ogf/hoc_backpack_hud.ogf" if corpus else SAMPLES / "humanoid.ogf"
    factor = MOTIONS_OF_A_MADE_FILE[1] / MOTIONS_OF_A_MADE_FILE[0]
    made = [
        Row(f"read {motions.name}", read, check_bytes, [motions]),
        Row(f"read {motions.name}: memory", memory, size, [motions], unit="MB"),
        Row(f"write {motions.name}", write, copy_bytes, [motions]),
        Row(f"recompose {motions.name}", recompose, copy_bytes, [motions]),
        Row(f"read {many.name} / {factor:g} x {few.name}", read, read, [many], [few], factor),
        Row(f"memory {many.name} / {factor:g} x {few.name}", memory, memory, [many], [few], factor, "MB"),
        Row(f"read {model.name}", read, check_bytes, [model]),
        Row(f"read {model.name}: memory", memory, size, [model], unit="MB"),
        Row("start of the command line", start_up, start_up_floor, [SAMPLES / "weapon.omf"]),
    ]
    folders = [Path(corpus) / "omf", Path(corpus) / "ogf"] if corpus else [SAMPLES]
    made.append(Row(f"verify {' '.join(folder.name for folder in folders)}", verify, check_folders, folders))
    return made


def rows_in_blender(folder: Path) -> list[BlenderRow]:
    """The lines that need a Blender: 300 motions of 47 bones and 60 frames, other numbers of them, a path, a level."""
    made = {count: folder / f"library_{count}.omf" for count in MOTIONS_OF_A_LIBRARY}
    for count, path in made.items():
        path.write_bytes(made_library(count))
    few, library, many = made.values()
    path = folder / "path.anm"
    path.write_bytes(made_path())
    return [
        BlenderRow("import 300 motions", "import_all", "hand_over", [library]),
        BlenderRow("export them to a new file", "export_new", "read_keys", [library]),
        BlenderRow("save them back", "save_back", "read_keys", [library]),
        BlenderRow("list them, nothing imported", "list_names", "list_names", [library]),
        BlenderRow("memory of importing them", "memory_of_import", "memory_of_keys", [library], unit="MB"),
        BlenderRow("import 1000 motions / 100 x 10", "import_all", "import_all", [many], [few], 100.0),
        BlenderRow("import a path of 6 x 200 TCB keys", "import_a_path", "hand_over_path", [path]),
        BlenderRow("import 400 such paths / one x 400", "import_many_paths", "import_a_path", [path], [path], 400.0),
        BlenderRow("export the path to a new file", "export_a_path", "read_path_keys", [path]),
        BlenderRow("export the path, all channels edited", "export_an_edited_path", "read_path_keys", [path]),
        *rows_of_a_level(folder),
        *rows_of_an_animation(folder),
        *rows_of_editor_motions(folder),
        *rows_of_sampling(folder),
        *rows_of_lists(folder),
        *rows_of_a_model(folder),
        row_of_the_start(folder),
    ]


def row_of_the_start(folder: Path) -> BlenderRow:
    """CPU time of enabling the extension, and of enabling one with the same classes and properties and nothing else."""
    place = folder / "start"
    place.mkdir()
    title = "enable the extension: CPU"
    return BlenderRow(title, "enable", "enable_floor", [place], script="bench_start.py", prepare="prepare")


def rows_of_sampling(folder: Path) -> list[BlenderRow]:
    """Save Back of motions on a rig with inverse kinematics and a mesh of 23 000 vertices, and below an NLA track."""
    few, many = folder / "sampled_50.omf", folder / "below_strips_230.omf"
    few.write_bytes(made_library(50))
    many.write_bytes(made_library(230))
    return [
        BlenderRow("plan save back of 50 motions, IK, mesh", "plan_with_kinematics", "look_at_poses", [few]),
        BlenderRow("plan save back of 230 motions, NLA track", "plan_below_strips", "read_keys", [many]),
    ]


def rows_of_lists(folder: Path) -> list[BlenderRow]:
    """A list of as many motions as the game's own people have, of 47 bones and few frames."""
    path = folder / f"list_{MOTIONS_OF_A_LIST}.omf"
    path.write_bytes(made_library(MOTIONS_OF_A_LIST, frames=10))
    return [
        BlenderRow(f"Update Status of {MOTIONS_OF_A_LIST} motions", "update_status", "read_keys", [path]),
        BlenderRow(f"redraw of {MOTIONS_OF_A_LIST} motions", "redraw_list", "redraw_stock_list", [path]),
    ]


def rows_of_an_animation(folder: Path) -> list[BlenderRow]:
    """An animation of Arma of 600 frames of 90 bones, and its skeleton beside it."""
    path = folder / "animation.rtm"
    path.write_bytes(made_animation())
    (folder / "model.cfg").write_text(made_hierarchy(), encoding="ascii")
    return [
        BlenderRow(f"import {path.name}", "import_animation_once", "hand_over_animation", [path]),
        BlenderRow(f"export {path.name}", "export_animation", "read_animation", [path]),
        BlenderRow(f"export {path.name}, edited", "export_edited_animation", "read_animation", [path]),
    ]


def rows_of_a_model(folder: Path) -> list[BlenderRow]:
    """Models of Descent 3 as large as the engine takes: 141 000 triangles, and as many in squares to be edited."""
    path, squares = folder / "triangles.oof", folder / "squares.oof"
    path.write_bytes(made_model())
    squares.write_bytes(made_model(corners=4))
    return [
        BlenderRow(f"import {path.name}", "import_oof", "hand_over_oof", [path]),
        BlenderRow(f"export {path.name}", "export_oof", "read_oof", [path]),
        BlenderRow(f"export {squares.name}, edited", "export_edited_oof", "read_oof", [squares]),
    ]


def rows_of_editor_motions(folder: Path) -> list[BlenderRow]:
    """Two lists of 100 motions of 47 bones of the X-Ray editor: as editors export them, and with few keys."""
    listed = []
    for title, per_frame in (("keys in every frame", True), ("few keys", False)):
        path = folder / f"{title.replace(' ', '_')}.skls"
        path.write_bytes(made_editor_motions(per_frame=per_frame))
        read = "read_editor_motions"
        listed += [
            BlenderRow(
                f"import 100 editor motions, {title}", "import_editor_motions", "hand_over_editor_motions", [path]
            ),
            BlenderRow(f"export editor motions, {title}", "export_editor_motions", read, [path]),
            BlenderRow(f"export editor motions, {title}, edited", "export_edited_editor_motions", read, [path]),
        ]
    return listed


def rows_of_a_level(folder: Path) -> list[BlenderRow]:
    """A cform of 1 000 000 faces, a hom and a som of 200 000."""
    files = {"cform": made_collision(), "hom": made_occluders(), "som": made_occluders(of_sound=True)}
    listed = []
    for suffix, data in files.items():
        path = folder / f"level.{suffix}"
        path.write_bytes(data)
        listed += [
            BlenderRow(f"import {path.name}", "import_level", "hand_over_level", [path]),
            BlenderRow(f"import {path.name}: memory", "memory_of_level", "memory_allowed", [path], unit="MB"),
            BlenderRow(f"export {path.name}", "export_level", "read_level", [path]),
            BlenderRow(f"export {path.name}, edited", "export_edited_level", "read_level", [path]),
            BlenderRow(f"export {path.name} as a new file", "export_drawn_level", "read_level", [path]),
        ]
    return [*listed, *rows_of_details(folder)]


def rows_of_details(folder: Path) -> list[BlenderRow]:
    """Detail objects of 321 x 321 slots and 37 models."""
    path = folder / "level.details"
    path.write_bytes(made_details())
    allowed = "memory_allowed_of_details"
    return [
        BlenderRow("import level.details", "import_details", "hand_over_details", [path]),
        BlenderRow("import level.details: memory", "memory_of_details", allowed, [path], unit="MB"),
        BlenderRow("export level.details", "export_details", "read_details", [path]),
        BlenderRow("export level.details, edited", "export_edited_details", "read_details", [path]),
    ]


# ---- measuring


def command(measurement: Measurement, files: Sequence[Path]) -> list[str]:
    """What starts a fresh process that measures once and prints the number in its last line."""
    return [sys.executable, os.fspath(Path(__file__).resolve()), "--measure", measurement.__name__, *map(str, files)]


def command_in_blender(start: Sequence[str], script: str, measurement: str, files: Sequence[Path]) -> list[str]:
    """The same inside the Blender that ``start`` starts, by a ``script`` beside this one."""
    path = os.fspath(ROOT / "scripts" / script)
    options = ["--background", "--factory-startup", "--python-exit-code", "1", "--python", path]
    return [*start, *options, "--", measurement, *map(str, files)]


def measured_once(program: Sequence[str]) -> float:
    """One figure from a fresh process: seconds or bytes."""
    done = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True, timeout=LIMIT, cwd=ROOT)
    return float(done.stdout.splitlines()[-1])


def measure(row: Row | BlenderRow, times: int, blender: Sequence[str]) -> tuple[float, float]:
    """The least of ours and of the floor, measured in turns."""
    if isinstance(row, BlenderRow) and row.prepare:
        measured_once(command_in_blender(blender, row.script, row.prepare, row.files))
    our_program, floor_program = row.programs(blender)
    ours, floor = [], []
    for _ in range(times):
        floor.append(measured_once(floor_program))
        ours.append(measured_once(our_program))
    return min(ours), min(floor) * row.floor_times


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
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
        print(MEASUREMENTS[chosen.measure](chosen.files))
        return 0
    with tempfile.TemporaryDirectory(prefix="motionbridge-bench-") as folder:
        listed: Sequence[Row | BlenderRow] = rows_in_blender(Path(folder)) if chosen.blender else rows(Path(folder))
        blender = blenders.find(chosen.blender).started_from() if chosen.blender else []
        wanted = [row for row in listed if chosen.only in row.title]
        if not wanted:
            parser.error(f"no row holds {chosen.only!r}; there are: {', '.join(row.title for row in listed)}")
        for row in wanted:
            ours, floor = measure(row, chosen.times, blender)
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
