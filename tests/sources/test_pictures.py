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
    scripts = (script for script in SCRIPTS.glob("scenes/*.py") if script.stem != "listing")
    scenes = "".join(script.read_text(encoding="utf-8") for script in scripts)
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


def test_what_the_scenes_call_by_name_exists():
    """Operators, properties and panels: a picture of something that was renamed would show an error, or nothing."""
    scenes = "".join(script.read_text(encoding="utf-8") for script in sorted(SCRIPTS.glob("scenes/*.py")))
    public = (DOCS.parent / "tests" / "blender" / "public_names.txt").read_text(encoding="utf-8").splitlines()
    operators = set(re.findall(r"bpy\.ops\.((?:motionbridge|import_scene|export_scene)\.\w+)\(", scenes))
    operators |= {f"motionbridge.{name}" for name in re.findall(r'(?:invoke|_dialog)\("(\w+)"', scenes)}
    assert len(operators) > 15
    assert sorted(name for name in operators if not any(line.startswith(f"{name}") for line in public)) == []
    stored = set(re.findall(r"\.(motionbridge_\w+)", scenes))
    assert len(stored) > 5
    sources = "".join(path.read_text(encoding="utf-8") for path in (DOCS.parent / "addon").rglob("*.py"))
    assert sorted(name for name in stored if f'"{name}"' not in sources) == []
    panels = set(re.findall(r'show_panels\("\w+", "([^"]+)"\)', scenes))
    assert panels
    assert sorted(name for name in panels if f'bl_label = "{name}' not in sources) == []
