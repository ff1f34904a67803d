"""Generate the manual pages that F1 opens from the guide: one per section and language.

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
from markdown.extensions.toc import TocExtension, slugify

GUIDES = {"en": "guide.md", "ru": "guide.ru.md"}
"""Language -> guide; the sections of all guides correspond, in the same order."""
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
    guides = {language: (ROOT / "docs" / guide).read_text(encoding="utf-8") for language, guide in GUIDES.items()}
    english = _sections(guides["en"])
    names = [f"{slugify(heading, '-')}.html" for heading, _ in english]
    anchors = [_ANCHOR.findall(_html(text, slugify)) for _, text in english]
    result = {}
    for language, guide in guides.items():
        sections = _sections(guide)
        for index, (heading, text) in enumerate(sections):
            links = [f'<a href="{page}">{other}</a>' for page, (other, _) in zip(names, sections, strict=True)]
            links[index] = heading
            given = iter(anchors[index])
            result[f"{language}/{names[index]}"] = (
                f'<!DOCTYPE html>\n<html lang="{language}">\n<meta charset="utf-8">\n'
                f"<title>{heading} - Motionbridge</title>\n<style>{_STYLE}</style>\n<nav>{' · '.join(links)}</nav>\n"
                f"<h1>{heading}</h1>\n{_html(text, lambda *_, given=given: next(given))}\n</html>\n"
            )
    return result


def _sections(guide: str) -> list[tuple[str, str]]:
    """Return heading and text of each section, without the text before the first."""
    result = _SECTION.split(guide)
    return list(zip(result[1::2], result[2::2], strict=True))


def _html(text: str, name: Callable[[str, str], str]) -> str:
    """Convert a section to HTML; ``name`` returns the anchor of a heading."""
    actual = _LINK.sub(r"\1", _PICTURE.sub("", text))
    return markdown.markdown(actual, extensions=["extra", "sane_lists", TocExtension(slugify=name)])


if __name__ == "__main__":
    sys.exit(main())
