"""Make the files of a release in dist/: the extension's zip, samples to try, checksums, and the text of its page.

python3 scripts/release.py [--tests all|default] [--draft] [--site] [--output FOLDER]

A release is made of a commit whose tests passed (`python3 scripts/test.py --blender all` notes that in dist/gate.json),
and whose section of the changelog has a date. Nothing is uploaded.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - tells users of an older Python what to do
    sys.exit("A release of Motionbridge is made with Python 3.11 or newer: install it and start this again with it.")

import argparse
import hashlib
import json
import re
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[level]) for level in (1, 0)]

from environment import ROOT, Unavailable, blenders, virtual

if __name__ == "__main__" and (status := virtual.started_again("dev")) is not None:
    sys.exit(status)  # from here on, numpy can be imported

import build
import rings
import website
from samples.game import installed
from samples.showcase import showcase

SECTION = re.compile(
    r"^## (?P<version>\S+) \((?P<date>[^,)]*), (?P<blender>[^)]*)\)\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL
)
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
LEVEL = ROOT / "tests" / "samples" / "level"
TO_TRY = """Files to try Motionbridge with, made for it; in Blender drop them into the viewport.

1. gamedata/meshes/showcase/loner.ogf, then loner.omf: a character of S.T.A.L.K.E.R. with five motions. Click one in the
   Motionbridge tab of the sidebar (key N). rifle.ogf and rifle.omf lie beside it.
2. arma/soldier.p3d, then arma/walk.rtm: a soldier of Arma and his walk.
3. descent3/ship.hog: a ship of Descent 3 out of its archive.
4. gamedata/levels/yard: a small level of S.T.A.L.K.E.R., for File > Import > X-Ray Level Folder.
5. games: the same files in archives, as games have them. In the Motionbridge tab click Choose the Game's Folder…,
   choose games/stalker, games/arma or games/descent3, then click From the Game….
6. Change something and press Save Back: the dialog says what will change in the file before it is written.
"""


class NotReady(Exception):
    """What keeps this commit from being released, and what to do."""


def main() -> int:
    """Make the release that the command line asks for."""
    parser = argparse.ArgumentParser(description="Make the files of a release in dist/; nothing is uploaded.")
    parser.add_argument(
        "--tests", choices=("all", "default"), default="all", help="the run of tests that must have passed (all)"
    )
    parser.add_argument("--draft", action="store_true", help="make the files also if something keeps it from release")
    parser.add_argument("--site", action="store_true", help="also build the site of the project's pages")
    parser.add_argument("--blender", help="version or path of the Blender that validates; else the one found, or made")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="folder for the files (dist/)")
    chosen = parser.parse_args()
    problems = list(obstacles(chosen.tests))
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems and not chosen.draft:
        print("Nothing was made; --draft makes the files all the same.", file=sys.stderr)
        return 1
    try:
        blender = blenders.find(chosen.blender)
        files = make(chosen.output)
        build.validate(files[0], blender.started_from())
        if chosen.site:
            print(website.build(chosen.output))
    except (Unavailable, build.BuildFailure, NotReady, website.LinkNowhere) as failure:
        print(failure, file=sys.stderr)
        return 1
    for path in files:
        print(f"{path} ({path.stat().st_size} bytes)")
    print(f"The zip was built twice with the same bytes and validated by Blender {blender.label}.")
    return 0


def manifest_version() -> str:
    """Return the version that the manifest names."""
    version: str = tomllib.loads((ROOT / build.MANIFEST).read_text(encoding="utf-8"))["version"]
    return version


def section_of(changelog: str, version: str) -> re.Match[str]:
    """Return the changelog's section of a version. Raises `NotReady` if there is none."""
    for section in SECTION.finditer(changelog):
        if section["version"] == version:
            return section
    raise NotReady(f"CHANGELOG.md has no section {version!r}, which blender_manifest.toml names: add it.")


def obstacles(tests: str) -> Iterator[str]:
    """Yield what keeps the commit that is checked out from being released. ``tests``: the run that must have passed."""
    commit = rings.commit()
    if not commit:
        yield "Files differ from the commit that is checked out (git status): commit or remove them."
    try:
        section = section_of((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), manifest_version())
        if not DATE.fullmatch(section["date"]):
            yield f"CHANGELOG.md says {section['date']!r} for {section['version']}: write the date of the release."
    except NotReady as lacking:
        yield str(lacking)
    command = "python3 scripts/test.py" + (" --blender all" if tests == "all" else "")
    try:
        record = json.loads(rings.GATE.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        yield f"No run of the tests is noted in {rings.GATE.relative_to(ROOT)}: run {command}."
        return
    if not record["passed"] or record["tests"] not in {"all", tests}:
        yield f"The last run of the tests ({record['tests']}) is not one that passed all: run {command}."
    elif record["commit"] != commit:
        yield f"The tests ran on another commit ({record['commit'][:12]}): run {command}."


def make(output: Path) -> list[Path]:
    """Write zip, samples, checksums and text into a folder and return their paths; the zip is the first."""
    archive = build.build(output)
    with tempfile.TemporaryDirectory() as folder:
        if build.build(Path(folder)).read_bytes() != archive.read_bytes():
            raise NotReady(
                f"{archive.name} has other bytes when it is built again: something in it depends on the time."
            )
    samples, sums, text = (output / name for name in (f"samples-{manifest_version()}.zip", "SHA256SUMS", "release.md"))
    level = {f"gamedata/levels/yard/{path.name}": path.read_bytes() for path in sorted(LEVEL.iterdir())}
    files = {**showcase(), **level}
    games = {f"games/{name}": data for name, data in installed(files).items()}
    build.write_zip(samples, {"README.txt": TO_TRY.encode(), **files, **games})
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (archive, samples)}
    sums.write_text("".join(f"{digest}  {name}\n" for name, digest in digests.items()), encoding="utf-8")
    section = section_of((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), manifest_version())
    text.write_text(page_of(section, digests), encoding="utf-8")
    return [archive, samples, sums, text]


def page_of(section: re.Match[str], digests: dict[str, str]) -> str:
    """Return the text of the release's page: how to install it, the changelog's section, the checksums."""
    zip_name = next(iter(digests))
    lines = [
        f"# Motionbridge {section['version']}",
        "",
        f"For {section['blender']}. Download `{zip_name}` and drag it onto Blender's window, or use",
        "**Edit > Preferences > Get Extensions > Install from Disk**. The other zip has samples to try.",
        "",
        section["text"].strip(),
        "",
        "SHA-256:",
        "",
        *(f"- `{name}`: `{digest}`" for name, digest in digests.items()),
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
