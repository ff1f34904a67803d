"""Kills Blender while it exports, again and again, and looks at what is on the disk afterwards.

    python3 scripts/kills.py [--kills N] [--seed S] PYTHON

PYTHON is that of an environment with a bpy wheel. For each kind of file a Blender imports a sample and exports it over
and over, in place of an old file, with a backup, until it is killed at a random moment. The law: the file is the old
one or the new one, whole, and so is the backup; and the first export of the next Blender removes what the killed one
left. Exit status 1 where that is not so. Not for Windows.
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

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "tests" / "samples"
READY = "exports from now on"
LONGEST_START = 120.0
"""Seconds that a Blender may take until it exports."""

KINDS: dict[str, tuple[tuple[tuple[str, str], ...], str]] = {
    "humanoid.omf": ((("xray_ogf", "humanoid.ogf"), ("xray_omf", "humanoid.omf")), "xray_omf"),
    "humanoid.ogf": ((("xray_ogf", "humanoid.ogf"),), "xray_ogf"),
    "camera.anm": ((("xray_anm", "camera.anm"),), "xray_anm"),
    "level.details": ((("xray_level_geometry", "level/level.details"),), "xray_level_geometry"),
    "level.cform": ((("xray_level_geometry", "level/level.cform"),), "xray_level_geometry"),
    "walk.rtm": ((("arma_rtm", "arma/walk.rtm"),), "arma_rtm"),
    "ship.oof": ((("descent3_oof", "descent3/ship.oof"),), "descent3_oof"),
}
"""The file to write: what to import before, and the exporter."""
OLD = b"the old file " * 1000


@dataclass
class Outcome:
    """Of one kind: ``kills``, how many left something in the folder, how many left the new file, and what is wrong."""

    kills: int = 0
    left: int = 0
    new: int = 0
    wrong: int = 0


def main() -> int:
    """Kill so many Blenders and print a line for each kind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("python", metavar="PYTHON")
    parser.add_argument("--kills", type=int, default=105)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    chance = random.Random(chosen.seed)  # noqa: S311 (nothing here is secret)
    found = {kind: Outcome() for kind in KINDS}
    with tempfile.TemporaryDirectory(prefix="kills-") as name:
        folders = {kind: Path(name, kind) for kind in KINDS}
        for folder in folders.values():
            folder.mkdir()
        for number in range(chosen.kills):
            kind = list(KINDS)[number % len(KINDS)]
            _kill_one(chosen.python, kind, folders[kind], chance, found[kind])
        for kind, folder in folders.items():
            with contextlib.closing(_Exporting(chosen.python, kind, folder)):
                _check_clean(kind, folder, found[kind])
    for kind, one in found.items():
        print(f"{kind}: {one.kills} kills, {one.left} left something, {one.new} the new file, {one.wrong} wrong")
    total = [sum(getattr(one, name) for one in found.values()) for name in ("kills", "left", "new", "wrong")]
    print("all: {} kills, {} left something, {} the new file, {} wrong".format(*total))
    return int(total[-1] > 0)


class _Exporting:
    """A Blender that exports one file over and over, once it has done so for the first time."""

    def __init__(self, python: str, kind: str, folder: Path) -> None:
        command = [python, str(ROOT / "scripts" / "launcher.py"), "--background", "--factory-startup"]
        command += ["--python-exit-code", "1", "--python", __file__, "--", kind, str(folder)]
        self._resources = tempfile.TemporaryDirectory()
        environment = os.environ | {"BLENDER_USER_RESOURCES": self._resources.name}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        begin = time.monotonic()
        assert self.process.stdout is not None  # noqa: S101 - it is a pipe
        said = []
        for line in self.process.stdout:
            said.append(line)
            if READY in line:
                self.seconds = float(line.split()[-1])
                return
            if time.monotonic() - begin > LONGEST_START:
                break
        self.close()
        raise RuntimeError("".join(said[-20:]))

    def close(self) -> None:
        """Kill it and wait until it is gone."""
        self.process.kill()
        self.process.communicate()
        self._resources.cleanup()


def _kill_one(python: str, kind: str, folder: Path, chance: random.Random, found: Outcome) -> None:
    with contextlib.closing(_Exporting(python, kind, folder)) as exporting:
        _check_clean(kind, folder, found)
        time.sleep(chance.random() * 3 * exporting.seconds)
    found.kills += 1
    names = {path.name for path in folder.iterdir()}
    target = folder / kind
    data = target.read_bytes() if target.is_file() else b""
    found.new += data == _whole(kind)
    if data not in (OLD, _whole(kind)):
        _complain(f"{kind}: {len(data)} bytes that are neither the old nor the new file", found)
    backup = folder / f"{kind}.bak"
    if backup.is_file() and backup.read_bytes() not in (OLD, _whole(kind)):
        _complain(f"{kind}: the backup is not whole", found)
    found.left += bool(names - {kind, f"{kind}.bak"})


def _check_clean(kind: str, folder: Path, found: Outcome) -> None:
    """After the first export of a new Blender, which noted what it saw then: nothing is left of the one before."""
    seen = (folder.parent / f"{kind}.seen").read_text(encoding="utf-8").splitlines()
    strange = [name for name in seen if name not in (kind, f"{kind}.bak")]
    if strange:
        _complain(f"{kind}: the next export leaves {', '.join(strange)}", found)


def _complain(sentence: str, found: Outcome) -> None:
    found.wrong += 1
    print(sentence, file=sys.stderr)


def _whole(kind: str) -> bytes:
    imported = KINDS[kind][0][-1][1]
    return (SAMPLES / imported).read_bytes()


# In Blender ----------------------------------------------------------------------------------------------------------


def export_for_ever(kind: str, folder: Path) -> None:
    """Import, export once, say so, and go on until somebody kills us."""
    import bpy  # noqa: PLC0415 - only there in a Blender

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
    """Export in place of an old file that has no backup."""
    old = target.parent.parent / f"{target.name}.old"
    old.write_bytes(OLD)
    old.replace(target)
    target.with_name(f"{target.name}.bak").unlink(missing_ok=True)
    export(filepath=str(target), backup=True)


if "bpy" in sys.modules:
    export_for_ever(sys.argv[-2], Path(sys.argv[-1]))
elif __name__ == "__main__":
    sys.exit(main())
