"""Builds the extension's zip, looks inside and says where it lies; where a Blender is at hand, that validates it.

python3 scripts/build.py [--blender 4.2|4.5|5.0|5.2|PATH] [--output FOLDER]

The zip is what Blender's own builder makes (`tests/package` compares the two), so that no Blender is needed for it.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - said in a sentence, for whoever starts this with an older one
    sys.exit("Motionbridge needs Python 3.11 or newer to be built: install it and start this again with it.")

import argparse
import fnmatch
import os
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from environment import ROOT, Unavailable, blenders

LIMIT = 120  # seconds for one call of Blender
MANIFEST = "blender_manifest.toml"
NEEDED = ("__init__.py", MANIFEST, "LICENSE")
FOREIGN = ("__pycache__", "tests", "scripts")


def main() -> int:
    """Builds as the command line says."""
    parser = argparse.ArgumentParser(description="Build the extension's zip, and validate it where a Blender is there.")
    parser.add_argument("--blender", help="version (4.2, 4.5, 5.0, 5.2) or path that validates; else the one found")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="folder for the zip (dist/)")
    chosen = parser.parse_args()
    try:
        blender = blenders.find(chosen.blender) if chosen.blender else blenders.at_hand()
        archive = build(chosen.output)
        if blender is not None:
            validate(archive, blender.started_from())
    except (Unavailable, BuildFailure) as failure:
        print(failure, file=sys.stderr)
        return 1
    judge = f"validated by Blender {blender.label}" if blender else "no Blender is here to validate it"
    print(f"{archive} ({archive.stat().st_size} bytes, {judge})")
    print("In Blender: Preferences > Get Extensions > Install from Disk")
    return 0


class BuildFailure(Exception):
    """The zip could not be built, or is not what it should be."""


def build(output: Path) -> Path:
    """The zip, in the folder `output`: the manifest first, then everything that it does not exclude."""
    manifest = tomllib.loads((ROOT / MANIFEST).read_text(encoding="utf-8"))
    archive = output.absolute() / f"{manifest['id']}-{manifest['version']}.zip"
    output.mkdir(parents=True, exist_ok=True)
    unfinished = archive.with_name(f".{archive.name}")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as content:
        content.write(ROOT / MANIFEST, MANIFEST)
        content.write(ROOT / "LICENSE", "LICENSE")
        for path in _sources(ROOT / "addon", manifest["build"]["paths_exclude_pattern"]):
            content.write(path, path.relative_to(ROOT / "addon").as_posix())
        check_names(content.namelist())
    unfinished.replace(archive)
    return archive


def _sources(folder: Path, excluded: Sequence[str]) -> Iterator[Path]:
    """The files below a folder whose names no pattern of the manifest matches; one that ends in / is for folders."""
    if unknown := [pattern for pattern in excluded if "/" in pattern[:-1] or pattern.startswith("!")]:
        raise BuildFailure(f"{MANIFEST} excludes {unknown[0]}: build.py knows patterns of single names only")
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        name = f"{entry.name}/" if entry.is_dir() else entry.name
        if entry.is_symlink() or any(fnmatch.fnmatchcase(name, _of_kind(pattern, name)) for pattern in excluded):
            continue
        if entry.is_dir():
            yield from _sources(Path(entry.path), excluded)
        else:
            yield Path(entry.path)


def _of_kind(pattern: str, name: str) -> str:
    """A pattern without a slash is for files and folders alike."""
    return f"{pattern}/" if name.endswith("/") and not pattern.endswith("/") else pattern


def validate(archive: Path, command: Sequence[str]) -> None:
    """Raises `BuildFailure` where the Blender that `command` starts finds fault with the zip."""
    call = [*command, "--command", "extension", "validate", str(archive)]
    status, said = blenders.run(call, LIMIT)
    if status != 0:
        raise BuildFailure(f"{' '.join(call)} left with status {status}:\n{said}")


def check_names(names: Sequence[str]) -> None:
    """Raises `BuildFailure` where the zip lacks what it needs or carries what does not belong to users."""
    for name in names:
        parts = Path(name).parts
        if any(part.startswith(".") for part in parts) or parts[0] in FOREIGN or "__pycache__" in parts:
            raise BuildFailure(f"{name} does not belong into the zip")
    for needed in NEEDED:
        if needed not in names:
            raise BuildFailure(f"{needed} is missing in the zip")


if __name__ == "__main__":
    sys.exit(main())
