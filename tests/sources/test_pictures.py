"""The guide shows pictures that are there, small, and made by the script; and every picture is shown."""

import re
import struct
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
SCRIPTS = DOCS.parent / "scripts"


def test_pictures_are_small_and_shown_and_made_by_the_script():
    pictures = {file.name: file.read_bytes() for file in DOCS.glob("*.png")}
    pages = [path.read_text(encoding="utf-8") for path in DOCS.glob("*.md") if not path.name.endswith(".ru.md")]
    actual = {name for page in pages for name in re.findall(r"\(([a-z_]+\.png)\)", page)}
    scenes = "".join(script.read_text(encoding="utf-8") for script in SCRIPTS.glob("scenes/*.py"))
    created = set(re.findall(r'(?:shot|picture|folder|file)\((?:  #[^\n]*)?\s*"([a-z_]+)"', scenes))
    assert actual == pictures.keys() == {f"{name}.png" for name in created}
    for name, data in pictures.items():
        assert len(data) < 150_000, name
        assert struct.unpack_from(">II", data, 16) == (1280, 800), name


def test_the_film_is_shown_by_both_readmes_and_is_not_large():
    data = (DOCS / "film.gif").read_bytes()
    assert data.startswith(b"GIF89a")
    assert struct.unpack_from("<HH", data, 6) == (720, 450)
    assert len(data) < 1_500_000
    assert "(docs/film.gif)" in (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert "(film.gif)" in (DOCS / "README.ru.md").read_text(encoding="utf-8")
