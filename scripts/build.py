"""Builds the extension's zip with Blender's own builder, validates it, looks inside and says where it lies.

python3 scripts/build.py [--blender 4.2|4.5|5.0|PATH] [--output FOLDER]
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - said in a sentence, for whoever starts this with an older one
    sys.exit("Motionbridge needs Python 3.11 or newer to be built: install it and start this again with it.")

import argparse
import shutil
import tempfile
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

from environment import ROOT, Unavailable, blenders

LIMIT = 120  # seconds for one call of Blender
NEEDED = ("__init__.py", "blender_manifest.toml", "LICENSE")
FOREIGN = ("__pycache__", "tests", "scripts")


def main() -> int:
    """Builds as the command line says."""
    parser = argparse.ArgumentParser(description="Build and validate the extension's zip.")
    parser.add_argument("--blender", help="version (4.2, 4.5, 5.0) or path; else the one found or made")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="folder for the zip (dist/)")
    chosen = parser.parse_args()
    try:
        archive = build(blenders.find(chosen.blender).command, chosen.output)
    except (Unavailable, BuildFailure) as failure:
        print(failure, file=sys.stderr)
        return 1
    print(f"{archive} ({archive.stat().st_size} bytes): in Blender, Preferences > Get Extensions > Install from Disk")
    return 0


class BuildFailure(Exception):
    """The zip could not be built, or is not what it should be."""


def build(command: Sequence[str], output: Path) -> Path:
    """The zip, built and validated by the Blender that `command` starts, in the folder `output`."""
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    archive = output.absolute() / f"{manifest['id']}-{manifest['version']}.zip"
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        stage = Path(temporary) / manifest["id"]
        shutil.copytree(ROOT / "addon", stage, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        for name in ("blender_manifest.toml", "LICENSE"):
            shutil.copy2(ROOT / name, stage)
        _call([*command, "--command", "extension", "validate", str(stage)])
        _call(
            [*command, "--command", "extension", "build", "--source-dir", str(stage), "--output-filepath", str(archive)]
        )
    _call([*command, "--command", "extension", "validate", str(archive)])
    with zipfile.ZipFile(archive) as content:
        check_names(content.namelist())
    return archive


def check_names(names: Sequence[str]) -> None:
    """Raises `BuildFailure` where the zip lacks what it needs or carries what does not belong to users."""
    for name in names:
        parts = Path(name).parts
        if any(part.startswith(".") for part in parts) or parts[0] in FOREIGN or "__pycache__" in parts:
            raise BuildFailure(f"{name} does not belong into the zip")
    for needed in NEEDED:
        if needed not in names:
            raise BuildFailure(f"{needed} is missing in the zip")


def _call(command: Sequence[str]) -> None:
    status, said = blenders.run(command, LIMIT)
    if status != 0:
        raise BuildFailure(f"{' '.join(command)} left with status {status}:\n{said}")


if __name__ == "__main__":
    sys.exit(main())
