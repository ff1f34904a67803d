"""Build the project's site of its pages, in English and Russian: `release.py --site` calls it.

The pages are those that lie in docs/ and beside it; links between them are changed to where they are on the site, and
one that leads nowhere stops the build. The site is a folder of files that any web server can show.
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path, PurePosixPath

from environment import ROOT, virtual

SETTINGS = ROOT / "scripts" / "website.yml"
FROM_THE_TOP = {
    "README.md": "index.md",
    **{name: name for name in ("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "ROADMAP.md", "SECURITY.md")},
}
"""Path of a page that is not in docs/ -> its path on the site."""
_RENAMED = {"docs/README.ru.md": "index.ru.md"}
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")


class LinkNowhere(Exception):
    """Pages link to files that are not on the site."""


def build(output: Path) -> Path:
    """Write the site into `site` in the folder ``output`` and return that path. Raises `LinkNowhere`."""
    result = output / "site"
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder) / "docs"
        for source, target in placed().items():
            (pages / target).parent.mkdir(parents=True, exist_ok=True)
            if source.endswith(".md"):
                text = (ROOT / source).read_text(encoding="utf-8")
                (pages / target).write_text(as_on_the_site(text, source), encoding="utf-8")
            else:
                shutil.copyfile(ROOT / source, pages / target)
        settings = shutil.copyfile(SETTINGS, Path(folder) / "mkdocs.yml")
        command = [virtual.environment("site", virtual.group("site")), "-m", "mkdocs", "build", "--quiet", "--strict"]
        ended = subprocess.run(
            [*command, "--config-file", settings, "--site-dir", result.absolute()],
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    if ended.returncode != 0:
        raise LinkNowhere(f"The site was not built: {ended.stderr.strip()}")
    return result


def placed() -> dict[str, str]:
    """Return path of each file of the site, relative to the checkout -> its path on the site."""
    docs = (path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*")) if path.is_file())
    return FROM_THE_TOP | {name: _RENAMED.get(name, name.removeprefix("docs/")) for name in docs}


def as_on_the_site(text: str, source: str) -> str:
    """Return a page with its links as they are on the site. A link to what the site does not have stays."""
    sites = placed()
    here = PurePosixPath(sites[source]).parent

    def moved(link: re.Match[str]) -> str:
        target = sites.get(os.path.normpath(PurePosixPath(source).parent / link[1]).replace(os.sep, "/"))
        return os.path.relpath(target, here).replace(os.sep, "/") if target else link[1]

    # Without the word, mkdocs would show the tables inside as they are written.
    return _LINK.sub(moved, text).replace("<details>", "<details markdown>")
