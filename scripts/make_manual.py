"""Generate the manual pages that F1 opens from the guide: one per page and language.

`python3 scripts/make_manual.py`

The pages are in `addon/manual`, so that they are part of the zip and need no network. They have no pictures. Edit the
guide, not the pages; a test compares them.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - explain it to users of older versions
    sys.exit("Motionbridge makes its manual with Python 3.11 or newer: install it and start this again with it.")

import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from environment import virtual

if __name__ == "__main__" and (status := virtual.started_again("dev")) is not None:
    sys.exit(status)  # from here on, markdown can be imported

import markdown
from markdown.extensions.toc import TocExtension, slugify_unicode

DOCS = ROOT / "docs"
GUIDE = (
    "guide",
    "stalker-animations",
    "stalker-models",
    "stalker-levels",
    "stalker-first-person",
    "arma",
    "descent3",
    "command-line",
)
"""Names of the guide's pages, the first of which leads to the others."""
SUFFIXES = {"en": ".md", "ru": ".ru.md"}
"""Language -> suffix of its pages; the headings of a page correspond in all languages, in the same order."""
MANUAL = ROOT / "addon" / "manual"

_TITLE = re.compile(r"^# (.+)\n(?:\n\*In English:.*\n)?")
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)|\s*\(\[[^\]]*\]\([^)]*\.png\)\)")
_LINK = re.compile(r"\[([^\]]*)\]\(([^)#]*)(?:#([^)]*))?\)")
_ANCHOR = re.compile(r'<h\d id="([^"]*)"')
_STYLE = (
    "body{max-width:46em;margin:2em auto;padding:0 1em;font:16px/1.5 sans-serif;color:#ddd;background:#222}"
    "a{color:#8bf}code{background:#333;padding:0 .2em}"
    "td,th{padding:.2em .8em .2em 0;text-align:left;vertical-align:top}"
)


def main() -> int:
    """Write the pages and remove those of sections that no longer exist."""
    created = pages()
    for old in set(MANUAL.rglob("*.html")) - {MANUAL / name for name in created}:
        old.unlink()
    for name, text in created.items():
        (MANUAL / name).parent.mkdir(parents=True, exist_ok=True)
        (MANUAL / name).write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(created)} pages in {MANUAL.relative_to(ROOT)}")
    return 0


def pages() -> dict[str, str]:
    """Return path below `MANUAL` -> content; pages and anchors are named after the English headings."""
    result = {}
    anchors = {name: _anchors(name, "en") for name in GUIDE}
    for language, suffix in SUFFIXES.items():
        guide = {name: _page(name, language) for name in GUIDE}
        targets: dict[tuple[str, str], str] = {}
        for name in GUIDE:
            targets[f"{name}{suffix}", ""] = f"{name}.html"
            for own, english in zip(_anchors(name, language), anchors[name], strict=True):
                targets[f"{name}{suffix}", own] = f"{name}.html#{english}"
        for name, (title, text) in guide.items():
            links = [
                title if other == name else f'<a href="{other}.html">{heading}</a>'
                for other, (heading, _) in guide.items()
            ]
            given = iter(anchors[name])
            content = _html(_with_links(text, targets), lambda *_, given=given: next(given))
            result[f"{language}/{name}.html"] = (
                f'<!DOCTYPE html>\n<html lang="{language}">\n<meta charset="utf-8">\n'
                f"<title>{title} - Motionbridge</title>\n<style>{_STYLE}</style>\n<nav>{' · '.join(links)}</nav>\n"
                f"<h1>{title}</h1>\n{content}\n</html>\n"
            )
    return result


def _anchors(name: str, language: str) -> list[str]:
    """Return the anchors of a page's headings, as Markdown shown on the web has them."""
    return _ANCHOR.findall(_html(_page(name, language)[1], slugify_unicode))


def _with_links(text: str, targets: dict[tuple[str, str], str]) -> str:
    """Return a page's text without pictures; of its links only those to ``targets`` stay."""

    def replaced(link: re.Match[str]) -> str:
        words, page, anchor = link.groups(default="")
        target = targets.get((page, anchor))
        return f"[{words}]({target})" if target else words

    return _LINK.sub(replaced, _PICTURE.sub("", text))


def _page(name: str, language: str) -> tuple[str, str]:
    """Return title and text of a page of the guide."""
    text = (DOCS / f"{name}{SUFFIXES[language]}").read_text(encoding="utf-8")
    title = _TITLE.match(text)
    if title is None:
        raise ValueError(f"{name}{SUFFIXES[language]} does not begin with its title.")
    return title[1], text[title.end() :]


def _html(text: str, name: Callable[[str, str], str]) -> str:
    """Convert a page to HTML; ``name`` returns the anchor of a heading."""
    return markdown.markdown(text, extensions=["extra", "sane_lists", TocExtension(slugify=name)])


if __name__ == "__main__":
    sys.exit(main())
