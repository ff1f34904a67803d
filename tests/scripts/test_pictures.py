"""The guide shows pictures that are there, small, and made by the script; and every picture is shown."""

import re
import struct
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
SCRIPTS = DOCS.parent / "scripts"


def test_pictures_are_small_and_shown_and_made_by_the_script():
    pictures = {file.name: file.read_bytes() for file in DOCS.glob("*.png")}
    shown = set(re.findall(r"\(([a-z_]+\.png)\)", (DOCS / "guide.md").read_text(encoding="utf-8")))
    scenes = "".join(script.read_text(encoding="utf-8") for script in SCRIPTS.glob("picture_*.py"))
    made = set(re.findall(r'shot\("([a-z_]+)"\)', scenes))
    assert shown == pictures.keys() == {f"{name}.png" for name in made}
    for name, data in pictures.items():
        assert len(data) < 150_000, name
        assert struct.unpack_from(">II", data, 16) == (1280, 800), name
