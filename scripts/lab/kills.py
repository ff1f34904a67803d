"""Kill Blender repeatedly while it exports, and check the files on disk afterwards.

    python3 scripts/lab/kills.py [--kills N] [--seed S] PYTHON

PYTHON is that of an environment with a bpy wheel. For each type of file, a Blender imports a sample and exports it in a
loop, replacing an old file and keeping a backup, until it is killed at a random moment. The file must then be the
complete old or the complete new one, and so must the backup; and the first export of the next Blender must remove what
the killed one left behind. Exit status 1 if this fails. Not for Windows.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "tests" / "samples"
READY = "exports from now on"
LONGEST_START = 120.0
"""Seconds in which a Blender must start to export."""

KINDS: dict[str, tuple[tuple[tuple[str, str], ...], str]] = {
    "humanoid.omf": ((("xray_ogf", "humanoid.ogf"), ("xray_omf", "humanoid.omf")), "xray_omf"),
    "humanoid.ogf": ((("xray_ogf", "humanoid.ogf"),), "xray_ogf"),
    "camera.anm": ((("xray_anm", "camera.anm"),), "xray_anm"),
    "level.details": ((("xray_level_geometry", "level/level.details"),), "xray_level_geometry"),
    "level.cform": ((("xray_level_geometry", "level/level.cform"),), "xray_level_geometry"),
    "walk.rtm": ((("arma_rtm", "arma/walk.rtm"),), "arma_rtm"),
    "ship.oof": ((("descent3_oof", "descent3/ship.oof"),), "descent3_oof"),
}
"""File to write -> what to import before (importer and sample), and the exporter."""
OLD = b"the old file " * 1000


@dataclass
class Outcome:
    """Counts for one type of file: kills, how often files were left behind, how often the new file was complete,
    failures.
    """

    kills: int = 0
    left: int = 0
    new: int = 0
    wrong: int = 0


def main() -> int:
    """Kill this number of Blenders and print a line for each type of file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("python", metavar="PYTHON")
    parser.add_argument("--kills", type=int, default=105)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    chance = random.Random(chosen.seed)  # noqa: S311 (nothing here is secret)
    result = {kind: Outcome() for kind in KINDS}
    with tempfile.TemporaryDirectory(prefix="kills-") as name:
        folders = {kind: Path(name, kind) for kind in KINDS}
        for folder in folders.values():
            folder.mkdir()
        for number in range(chosen.kills):
            kind = list(KINDS)[number % len(KINDS)]
            _kill_one(chosen.python, kind, folders[kind], chance, result[kind])
        for kind, folder in folders.items():
            with contextlib.closing(_Exporting(chosen.python, kind, folder)):
                _check_leftovers(kind, folder, result[kind])
    for kind, entry in result.items():
        print(
            f"{kind}: {entry.kills} kills, {entry.left} left something, {entry.new} the new file, {entry.wrong} wrong"
        )
    total = [sum(getattr(entry, name) for entry in result.values()) for name in ("kills", "left", "new", "wrong")]
    print("all: {} kills, {} left something, {} the new file, {} wrong".format(*total))
    return int(total[-1] > 0)


class _Exporting:
    """A Blender process that exports one file in a loop; created when its first export is done."""

    def __init__(self, python: str, kind: str, folder: Path) -> None:
        command = [python, str(ROOT / "scripts" / "launcher.py"), "--background", "--factory-startup"]
        command += ["--python-exit-code", "1", "--python", __file__, "--", kind, str(folder)]
        self._resources = tempfile.TemporaryDirectory()
        environment = os.environ | {"BLENDER_USER_RESOURCES": self._resources.name}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        started = time.monotonic()
        assert self.process.stdout is not None  # noqa: S101 - it is a pipe
        output = []
        for line in self.process.stdout:
            output.append(line)
            if READY in line:
                self.seconds = float(line.split()[-1])
                return
            if time.monotonic() - started > LONGEST_START:
                break
        self.close()
        raise RuntimeError("".join(output[-20:]))

    def close(self) -> None:
        """Kill the process and wait until it has ended."""
        self.process.kill()
        self.process.communicate()
        self._resources.cleanup()


def _kill_one(python: str, kind: str, folder: Path, chance: random.Random, outcome: Outcome) -> None:
    with contextlib.closing(_Exporting(python, kind, folder)) as exporting:
        _check_leftovers(kind, folder, outcome)
        time.sleep(chance.random() * 3 * exporting.seconds)
    outcome.kills += 1
    names = {path.name for path in folder.iterdir()}
    target = folder / kind
    data = target.read_bytes() if target.is_file() else b""
    outcome.new += data == _new_bytes(kind)
    if data not in (OLD, _new_bytes(kind)):
        _count_failure(f"{kind}: {len(data)} bytes that are neither the old nor the new file", outcome)
    backup = folder / f"{kind}.bak"
    if backup.is_file() and backup.read_bytes() not in (OLD, _new_bytes(kind)):
        _count_failure(f"{kind}: the backup is not whole", outcome)
    outcome.left += bool(names - {kind, f"{kind}.bak"})


def _check_leftovers(kind: str, folder: Path, outcome: Outcome) -> None:
    """Check that the first export of a new Blender has removed what the previous one left behind.

    That Blender has stored the names of the files that it saw after this export.
    """
    seen = (folder.parent / f"{kind}.seen").read_text(encoding="utf-8").splitlines()
    leftovers = [name for name in seen if name not in (kind, f"{kind}.bak")]
    if leftovers:
        _count_failure(f"{kind}: the next export leaves {', '.join(leftovers)}", outcome)


def _count_failure(sentence: str, outcome: Outcome) -> None:
    outcome.wrong += 1
    print(sentence, file=sys.stderr)


def _new_bytes(kind: str) -> bytes:
    imported = KINDS[kind][0][-1][1]
    return (SAMPLES / imported).read_bytes()


# In Blender ----------------------------------------------------------------------------------------------------------


def export_until_killed(kind: str, folder: Path) -> None:
    """Import, export once, print `READY` and the duration of an export, and go on exporting until the process is
    killed.
    """
    import bpy  # noqa: PLC0415 - exists only in Blender

    sys.path.insert(0, str(ROOT))
    from tests import extension  # noqa: PLC0415 - needs a Blender

    extension.pytest_configure()
    imports, exporter = KINDS[kind]
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    for importer, sample in imports:
        getattr(bpy.ops.import_scene, importer)(filepath=str(SAMPLES / sample))
    export, target = getattr(bpy.ops.export_scene, exporter), folder / kind
    _export(export, target)
    seen = "\n".join(path.name for path in folder.iterdir())
    (folder.parent / f"{kind}.seen").write_text(seen, encoding="utf-8")
    begin = time.monotonic()
    _export(export, target)
    print(f"\n{READY} {time.monotonic() - begin:.6f}", flush=True)
    while True:
        _export(export, target)


def _export(export: Any, target: Path) -> None:
    """Replace the file with the old one, remove its backup, and export."""
    old = target.parent.parent / f"{target.name}.old"
    old.write_bytes(OLD)
    old.replace(target)
    target.with_name(f"{target.name}.bak").unlink(missing_ok=True)
    export(filepath=str(target), backup=True)


if "bpy" in sys.modules:
    export_until_killed(sys.argv[-2], Path(sys.argv[-1]))
elif __name__ == "__main__":
    sys.exit(main())
