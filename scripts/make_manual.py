"""Makes the pages that F1 on a button or field opens from the guide: one for each section in each language.

`python3 scripts/make_manual.py`

They lie in `addon/manual`, so that they come with the zip and need no network. Pictures stay with the guide. A test
compares the pages with the guide, which is where to edit them.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - said in a sentence, for whoever starts this with an older one
    sys.exit("Motionbridge makes its manual with Python 3.11 or newer: install it and start this again with it.")

import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from environment import virtual

if __name__ == "__main__" and (status := virtual.started_again("dev")) is not None:
    sys.exit(status)  # from here on this is a Python that has markdown

import markdown
from markdown.extensions.toc import TocExtension, slugify

GUIDES = {"en": "guide.md", "ru": "guide.ru.md"}
"""Language -> the guide in it; the sections of all are the same ones in the same order."""
MANUAL = ROOT / "addon" / "manual"

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)|\s*\(\[[^\]]*\]\([^)]*\.png\)\)")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_ANCHOR = re.compile(r'<h\d id="([^"]*)"')
_STYLE = (
    "body{max-width:46em;margin:2em auto;padding:0 1em;font:16px/1.5 sans-serif;color:#ddd;background:#222}"
    "a{color:#8bf}code{background:#333;padding:0 .2em}"
    "td,th{padding:.2em .8em .2em 0;text-align:left;vertical-align:top}"
)


def main() -> int:
    """Writes the pages and removes those that no section has any more."""
    made = pages()
    for old in set(MANUAL.rglob("*.html")) - {MANUAL / name for name in made}:
        old.unlink()
    for name, text in made.items():
        (MANUAL / name).parent.mkdir(parents=True, exist_ok=True)
        (MANUAL / name).write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(made)} pages in {MANUAL.relative_to(ROOT)}")
    return 0


def pages() -> dict[str, str]:
    """Path below `MANUAL` -> content; pages, and headings in them, have the names that the English headings give."""
    guides = {language: (ROOT / "docs" / guide).read_text(encoding="utf-8") for language, guide in GUIDES.items()}
    english = _sections(guides["en"])
    names = [f"{slugify(heading, '-')}.html" for heading, _ in english]
    anchors = [_ANCHOR.findall(_html(text, slugify)) for _, text in english]
    found = {}
    for language, guide in guides.items():
        sections = _sections(guide)
        for place, (heading, text) in enumerate(sections):
            links = [f'<a href="{page}">{other}</a>' for page, (other, _) in zip(names, sections, strict=True)]
            links[place] = heading
            given = iter(anchors[place])
            found[f"{language}/{names[place]}"] = (
                f'<!DOCTYPE html>\n<html lang="{language}">\n<meta charset="utf-8">\n'
                f"<title>{heading} - Motionbridge</title>\n<style>{_STYLE}</style>\n<nav>{' · '.join(links)}</nav>\n"
                f"<h1>{heading}</h1>\n{_html(text, lambda *_, given=given: next(given))}\n</html>\n"
            )
    return found


def _sections(guide: str) -> list[tuple[str, str]]:
    """Heading and text of each section; what comes before the first is not one."""
    found = _SECTION.split(guide)
    return list(zip(found[1::2], found[2::2], strict=True))


def _html(text: str, name: Callable[[str, str], str]) -> str:
    """``name`` gives the anchor of a heading."""
    shown = _LINK.sub(r"\1", _PICTURE.sub("", text))
    return markdown.markdown(shown, extensions=["extra", "sane_lists", TocExtension(slugify=name)])


if __name__ == "__main__":
    sys.exit(main())
