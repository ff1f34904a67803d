"""Build the extension's zip, check its content and print its path; validate it if a Blender is available.

python3 scripts/build.py [--blender 4.2|4.5|5.0|5.2|PATH] [--output FOLDER]

The zip equals that of Blender's own builder (`tests/package` compares them), so building needs no Blender.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - tells users of an older Python what to do
    sys.exit("Motionbridge needs Python 3.11 or newer to be built: install it and start this again with it.")

import argparse
import fnmatch
import os
import tomllib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from environment import ROOT, Unavailable, blenders

LIMIT = 120  # seconds for one call of Blender
MANIFEST = "blender_manifest.toml"
NEEDED = ("__init__.py", MANIFEST, "LICENSE")
EARLIEST = (1980, 1, 1, 0, 0, 0)  # the first time that a zip can hold
FOREIGN = ("__pycache__", "tests", "scripts")


def main() -> int:
    """Build as the command line says."""
    parser = argparse.ArgumentParser(
        description="Build the extension's zip, and validate it if a Blender is available."
    )
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
    judge = f"validated by Blender {blender.label}" if blender else "not validated: no Blender found"
    print(f"{archive} ({archive.stat().st_size} bytes, {judge})")
    print("In Blender: Preferences > Get Extensions > Install from Disk")
    return 0


class BuildFailure(Exception):
    """The zip could not be built, or its content is wrong."""


def build(output: Path) -> Path:
    """Write the zip into the folder `output` and return its path: the manifest, then all files not excluded by it.

    The same sources give the same bytes, whenever and by whom it is built.
    """
    manifest = tomllib.loads((ROOT / MANIFEST).read_text(encoding="utf-8"))
    archive = output.absolute() / f"{manifest['id']}-{manifest['version']}.zip"
    output.mkdir(parents=True, exist_ok=True)
    files = {MANIFEST: ROOT / MANIFEST, "LICENSE": ROOT / "LICENSE"}
    for path in _sources(ROOT / "addon", manifest["build"]["paths_exclude_pattern"]):
        files[path.relative_to(ROOT / "addon").as_posix()] = path
    check_names([*files])
    write_zip(archive, {name: path.read_bytes() for name, path in files.items()})
    return archive


def write_zip(archive: Path, files: Mapping[str, bytes]) -> None:
    """Write an archive of `files` by name: in their order, all of one time, readable by everybody."""
    unfinished = archive.with_name(f".{archive.name}")
    with zipfile.ZipFile(unfinished, "w") as content:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.create_system, entry.external_attr = 3, 0o100644 << 16  # as on Linux, on every system
            content.writestr(entry, data, zipfile.ZIP_DEFLATED, compresslevel=9)
    unfinished.replace(archive)


def _sources(folder: Path, excluded: Sequence[str]) -> Iterator[Path]:
    """Yield the files in and below a folder whose names no pattern of the manifest matches; dir patterns end in /."""
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
    """Return the pattern for a file or folder ``name``: a pattern without a final slash matches both."""
    return f"{pattern}/" if name.endswith("/") and not pattern.endswith("/") else pattern


def validate(archive: Path, command: Sequence[str]) -> None:
    """Raise `BuildFailure` if the Blender started by `command` rejects the zip."""
    call = [*command, "--command", "extension", "validate", str(archive)]
    status, output = blenders.run(call, LIMIT)
    if status != 0:
        raise BuildFailure(f"{' '.join(call)} exited with status {status}:\n{output}")


def check_names(names: Sequence[str]) -> None:
    """Raise `BuildFailure` if a needed file is missing in the zip, or if it contains files that are not for users."""
    for name in names:
        parts = Path(name).parts
        if any(part.startswith(".") for part in parts) or parts[0] in FOREIGN or "__pycache__" in parts:
            raise BuildFailure(f"{name} does not belong in the zip")
    for needed in NEEDED:
        if needed not in names:
            raise BuildFailure(f"{needed} is missing in the zip")


if __name__ == "__main__":
    sys.exit(main())
