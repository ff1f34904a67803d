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

from bench_files import (
    character,
    made_animation,
    made_collision,
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
    make_configs,
)
from environment import blenders

from addon.cli import main as run_command_line
from addon.core import names
from addon.core.files import read_file
from addon.core.report import Report
from addon.formats import Format, detect, format_named
from addon.formats.xray.ltx.tree import ConfigTree
from addon.formats.xray.omf import edit
from addon.formats.xray.omf.codec import numbered
from addon.formats.xray.omf.document import MotionSet, new_omf

SAMPLES = ROOT / "tests" / "samples"
MOTIONS_OF_A_MADE_FILE = (300, 3000)
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


def index_configs(paths: list[Path]) -> float:
    """All sections of a game folder's configs."""
    return _seconds(lambda: ConfigTree(paths).load(Report()))


def index_configs_again(paths: list[Path]) -> float:
    """The same when nothing has changed since."""
    tree = ConfigTree(paths)
    tree.load(Report())
    return _seconds(lambda: tree.load(Report()))


def read_configs(paths: list[Path]) -> float:
    """The floor of indexing: every file's bytes and lines."""

    def work() -> object:
        return [path.read_bytes().splitlines() for path in paths[0].rglob("*.ltx")]

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

    def programs(self, _blender: Sequence[str], _folder: Path) -> tuple[list[str], list[str]]:
        """The commands that measure ours and the floor."""
        return command(self.ours, self.files), command(self.floor, self.floor_files or self.files)


@dataclass(frozen=True)
class MadeFile:
    """A file made by rule, when it is first needed; ``beside`` are others that its import reads."""

    name: str
    make: Callable[[], bytes]
    beside: tuple[MadeFile, ...] = ()

    def put_into(self, folder: Path) -> Path:
        """Where it lies now."""
        path = folder / self.name
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            path.write_bytes(self.make())
        for other in self.beside:
            other.put_into(path.parent)
        return path


@dataclass(frozen=True)
class BlenderRow:
    """A line measured inside a Blender, by the names of functions in scripts/bench_blender.py or another ``script``.

    ``prepare`` is called once, before everything else. Without a file the folder is what is measured.
    """

    title: str
    ours: str
    floor: str
    file: MadeFile | None = None
    floor_file: MadeFile | None = None
    floor_times: float = 1.0
    unit: str = "ms"
    script: str = "bench_blender.py"
    prepare: str = ""

    def programs(self, blender: Sequence[str], folder: Path) -> tuple[list[str], list[str]]:
        """The commands that measure ours and the floor."""
        own = self.file.put_into(folder) if self.file else folder
        other = self.floor_file.put_into(folder) if self.floor_file else own
        if self.prepare:
            measured_once(command_in_blender(blender, self.script, self.prepare, own))
        ours = command_in_blender(blender, self.script, self.ours, own)
        return ours, command_in_blender(blender, self.script, self.floor, other)


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
        index_configs,
        index_configs_again,
        read_configs,
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
    configs = [folder / "gamedata"]
    make_configs(configs[0], 3000)
    made += [
        Row("sections of 3,001 configs", index_configs, read_configs, configs),
        Row("sections of 3,001 configs, again", index_configs_again, read_configs, configs),
    ]
    made.append(Row(f"verify {' '.join(folder.name for folder in folders)}", verify, check_folders, folders))
    return made


# Words behind a file's name in a title -> ours, floor, unit.
OF_EACH_KIND = {
    "import": ("import_file", "hand_over", "ms"),
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
    MadeFile("animation.rtm", made_animation, (MadeFile("model.cfg", made_hierarchy),)): (
        "import",
        "export",
        "export, edited",
    ),
    MadeFile("triangles.oof", made_model): ("import", "export"),
    MadeFile("squares.oof", lambda: made_model(corners=4)): ("export, edited",),
    MadeFile("hands.object", made_editor_model): BOTH_WAYS,
    MadeFile("compiled/level", made_level, (MadeFile("level.geom", made_geometry_of_level),)): ("import", "memory"),
    MadeFile("level.cform", made_collision): LEVEL_FILE,
    MadeFile("level.hom", made_occluders): LEVEL_FILE,
    MadeFile("level.som", lambda: made_occluders(of_sound=True)): LEVEL_FILE,
    MadeFile("level.details", made_details): MOTION_FILE,
}
"""300 motions of 47 bones and 60 frames; 100 of the editor's; paths of 6 x 200 TCB keys, and of as many Bezier keys
whose time runs backwards in places; 600 frames of 90 bones; models of Descent 3 as large as the engine takes; hands of
the X-Ray editor (the real ones with MOTIONBRIDGE_CORPUS), 9,200 faces on 42 bones; a compiled level (with
MOTIONBRIDGE_CORPUS a real one of 16,076 visuals and 1.9 million faces) with invented vertices; a cform of 1 000 000
faces, a hom and a som of 200 000; 321 x 321 slots."""


CHARACTER = MadeFile(
    "character.ogf", lambda: character("ogf"), (MadeFile("character.omf", lambda: character("omf")),)
)


def rows_in_blender() -> list[BlenderRow]:
    """The lines that need a Blender."""
    listed = []
    for file, measured in MEASURED_OF.items():
        for words in measured:
            ours, floor, unit = OF_EACH_KIND[words]
            prepare = "prepare_floor" if floor in ("hand_over", "memory_allowed") else ""
            listed.append(BlenderRow(f"{file.name}: {words}", ours, floor, file, unit=unit, prepare=prepare))
    return [*listed, *rows_of_scale(), *rows_of_rigs(), ROW_OF_READABLE_BONES, ROW_OF_FIRST_PERSON, ROW_OF_THE_START]


def rows_of_scale() -> list[BlenderRow]:
    """A hundred times the motions and four hundred times the paths, beside as many times the cost of few."""
    few = MadeFile("motions_10.omf", lambda: made_library(10))
    many = MadeFile("motions_1000.omf", lambda: made_library(1000))
    return [
        BlenderRow("import 1000 motions / 100 x 10", "import_file", "import_file", many, few, 100.0),
        BlenderRow("import 400 paths / 400 x one", "import_many_paths", "import_file", PATH, PATH, 400.0),
    ]


def rows_of_rigs() -> list[BlenderRow]:
    """Save Back on a rig with inverse kinematics and a mesh of 23 000 vertices, and below an NLA track; a long list;
    control rigs.

    The list has as many motions as the game's own people, of 47 bones and few frames.
    """
    sampled = MadeFile("sampled.omf", lambda: made_library(50))
    below = MadeFile("below_strips.omf", lambda: made_library(230))
    listed = MadeFile("list.omf", lambda: made_library(3060, frames=10))
    return [
        BlenderRow("plan save back of 50 motions, IK, mesh", "plan_with_kinematics", "look_at_poses", sampled),
        BlenderRow("plan save back of 230 motions, NLA track", "plan_below_strips", "read_back", below),
        BlenderRow("Update Status of 3060 motions", "update_status", "read_back", listed),
        BlenderRow("redraw of 3060 motions", "redraw_list", "redraw_stock_list", listed),
        BlenderRow("8 motions onto controls: CPU", "move_onto_controls", "look_at_frames", CHARACTER),
        BlenderRow("frames of 8 motions, controls: CPU", "look_at_controls", "look_at_frames", CHARACTER),
        BlenderRow("add a control rig: CPU", "add_controls", "import_character", CHARACTER),
    ]


ROW_OF_READABLE_BONES = BlenderRow("import of a character with readable bones", "import_readable", "import_plain")
"""Beside the same import without them."""
ROW_OF_FIRST_PERSON = BlenderRow("first-person scene of the samples", "open_first_person", "open_its_files")
"""Beside the import of its two models and two motion files."""
ROW_OF_THE_START = BlenderRow(
    "enable the extension: CPU", "enable", "enable_floor", script="bench_start.py", prepare="prepare"
)
"""CPU time of enabling the extension, and of enabling one with the same classes and properties and nothing else."""


# ---- measuring


def command(measurement: Measurement, files: Sequence[Path]) -> list[str]:
    """What starts a fresh process that measures once and prints the number in its last line."""
    return [sys.executable, os.fspath(Path(__file__).resolve()), "--measure", measurement.__name__, *map(str, files)]


def command_in_blender(start: Sequence[str], script: str, measurement: str, file: Path) -> list[str]:
    """The same inside the Blender that ``start`` starts, by a ``script`` beside this one."""
    path = os.fspath(ROOT / "scripts" / script)
    options = ["--background", "--factory-startup", "--python-exit-code", "1", "--python", path]
    return [*start, *options, "--", measurement, str(file)]


def measured_once(program: Sequence[str]) -> float:
    """One figure from a fresh process: seconds or bytes."""
    done = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True, timeout=LIMIT, cwd=ROOT)
    return float(done.stdout.splitlines()[-1])


def measure(row: Row | BlenderRow, times: int, blender: Sequence[str], folder: Path) -> tuple[float, float]:
    """The least of ours and of the floor, measured in turns; made files are put into ``folder``."""
    our_program, floor_program = row.programs(blender, folder)
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
        listed: Sequence[Row | BlenderRow] = rows_in_blender() if chosen.blender else rows(Path(folder))
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
