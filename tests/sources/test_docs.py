"""The pages for developers name files, modules, classes and functions: all of them exist, and so do linked pages."""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import pytest
from markdown.extensions.toc import slugify_unicode

from addon.formats import FORMATS
from addon.formats.arma.p3d import check
from scripts.make_manual import GUIDE
from tests.sources.trees import ADDING_A_FORMAT, code_on, nodes_of, tree_of

ROOT = Path(__file__).resolve().parents[2]
ADDON = ROOT / "addon"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LAYERS = {path.name for path in ADDON.iterdir() if (path / "__init__.py").is_file()}
NOT_YET = re.compile(r"(\b|_)toy")
"""What a page tells the reader to create is named so."""

QUOTED = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"[\w./-]+(\.py|/)")
DOTTED = re.compile(r"[a-z]\w*(\.\w+)+")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


def quoted(page: Path, shape: re.Pattern[str]) -> set[str]:
    """What a page writes in backquotes and looks like ``shape``."""
    text = page.read_text(encoding="utf-8")
    return {result for result in QUOTED.findall(text) if shape.fullmatch(result) and not NOT_YET.search(result)}


def names_in(tree: ast.Module | ast.ClassDef) -> dict[str, ast.AST]:
    """What a module or class defines, or imports under a name, with the definition."""
    result: dict[str, ast.AST] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            result[node.name] = node
        elif isinstance(node, ast.Assign):
            result |= {target.id: node for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            result[node.target.id] = node
        elif isinstance(node, ast.ImportFrom):
            result |= {alias.asname or alias.name: node for alias in node.names}
    return result


@cache
def exists(dotted: str) -> bool:
    """Whether ``formats.xray.omf.codec.read`` and the like can be found in the sources below addon/."""
    parts = dotted.removeprefix("addon.").split(".")
    path = ADDON
    while parts and (path / parts[0]).is_dir():
        path = path / parts.pop(0)
    if parts and (path / f"{parts[0]}.py").is_file():
        path = path / f"{parts.pop(0)}.py"
    elif (path / "__init__.py").is_file():
        path = path / "__init__.py"
    else:
        return False
    inside: ast.AST = tree_of(path.read_text(encoding="utf-8"))
    for part in parts:
        result = names_in(inside) if isinstance(inside, ast.Module | ast.ClassDef) else {}
        if part not in result:
            return False
        inside = result[part]
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_file_that_a_page_names_exists(page):
    missing = [name for name in quoted(page, FILE) if "/" in name and not name.startswith((".", "/"))]
    bases = (ROOT, ADDON, page.parent)
    # `tests/`, `addon/core/`: what begins with one of our folders; others are of a game's tree.
    ours = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")} | LAYERS
    missing = [name for name in missing if name.split("/")[0] in ours - {"dist", "demo"}]
    assert [name for name in missing if not any((base / name).exists() for base in bases)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_dotted_name_on_a_page_exists(page):
    named = [name for name in quoted(page, DOTTED) if name.split(".")[0] in LAYERS and not name.endswith(".py")]
    assert [name for name in named if not exists(name)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_to_a_page_or_picture_leads_somewhere(page):
    targets = [result for result, _ in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in result]
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_to_a_heading_leads_to_one(page):
    links = LINK.findall(page.read_text(encoding="utf-8"))
    missing = []
    for target, anchor in links:
        if anchor and "://" not in target:
            headings = HEADING.findall((page.parent / target).read_text(encoding="utf-8"))
            if anchor[1:] not in {slugify_unicode(heading.replace("`", ""), "-") for heading in headings}:
                missing.append(target + anchor)
    assert missing == []


def test_the_page_of_the_architecture_names_much_that_is_checked():
    page = ROOT / "docs" / "architecture.md"
    assert len([name for name in quoted(page, DOTTED) if name.split(".")[0] in LAYERS]) > 60
    assert len(quoted(page, FILE)) > 30


def test_names_that_do_not_exist_are_seen():
    assert exists("formats.xray.omf.codec.read")
    assert exists("addon.blender.action.ClipWriter.build")
    assert exists("games.xray.motions.files.LISTS")
    assert exists("formats.FORMATS")
    assert not exists("formats.xray.omf.codec.devour")
    assert not exists("blender.action.ClipWriter.demolish")
    assert not exists("blender.nothing.here")


# What pages for users call by the names of the interface --------------------------------------------------------------

BOLD = re.compile(r"\*\*([^*]+)\*\*")
RULE = re.compile(r"^\s*(-|\d\.) \*\*[^*]+\*\*", re.MULTILINE)
"""What a list item begins with in bold is its subject."""
GAMES = ("xray", "arma", "descent3")
COMING_FROM = ("coming-from-xray-tools", "coming-from-arma-tools")
TRANSLATED = {"README.md": "docs/README.ru.md"}
TRANSLATED |= {f"docs/{name}.md": f"docs/{name}.ru.md" for name in (*GUIDE, *COMING_FROM)}
"""Page for users -> its Russian."""
BLENDERS_OWN = {
    "File",
    "Edit",
    "Import",
    "Export",
    "Preferences",
    "Get Extensions",
    "Install from Disk",
    "Manual Frame Range",
    "Paste Pose Flipped",
    "Select Mirror",
    "X-Axis Mirror",
}
"""Names of Blender's own interface; Import and Export are menus."""


@cache
def texts_in(folder: str) -> set[str]:
    """Every text in the sources of the interface; that of several rows is one."""
    result: set[str] = set()
    for file in (ADDON / folder).rglob("*.py"):
        nodes = nodes_of(file.read_text(encoding="utf-8"))
        result |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return result


@cache
def texts_in_menus() -> set[str]:
    """Menus name files by their kinds. `addon.games` needs Blender and its kinds do not: bare packages stand for it."""
    result: set[str] = set()
    with patch.dict(sys.modules):
        for name in ("addon.games", *(f"addon.games.{game}" for game in GAMES)):
            sys.modules[name] = ModuleType(name)
            sys.modules[name].__path__ = [str(ROOT.joinpath(*name.split(".")))]
        shared = import_module("addon.games.kinds")
        for game in GAMES:
            kinds = import_module(f"addon.games.{game}.kinds").KINDS
            result |= {*shared.importers(kinds).values(), *shared.exporters(kinds).values()}
    return result


def bold_names(page: str) -> Iterator[str]:
    """``Step: On the Object`` and ``File > Import > …`` name several things each; a sentence in bold names none."""
    text = RULE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    for bold in BOLD.findall(text):
        if bold[-1] not in ".:?":
            yield from (" ".join(name.split()) for part in bold.split(">") for name in part.split(": "))


@pytest.mark.parametrize("page", TRANSLATED)
def test_names_of_the_interface_exist(page):
    known = texts_in("ui") | texts_in_menus() | texts_in("games") | texts_in("blender") | BLENDERS_OWN
    unknown = [name for name in bold_names(page) if name not in known]
    assert unknown == []


BLENDERS_RUSSIAN = {"Файл", "Правка", "Настройки", "Получить расширения", "Установить с диска", "Manual Frame Range"}
CASES = {"Папку игры": "Папка игры", "Папке Arma": "Папка Arma", "Папку Descent 3": "Папка Descent 3", "Оси": "Ось"}
"""What grammar asks for -> the name."""


def translations() -> dict[str, str]:
    """English -> Russian, as the interface has them."""
    contexts = json.loads((ADDON / "ui" / "ru.json").read_text(encoding="utf-8"))
    return {english: russian for texts in contexts.values() for english, russian in texts.items()}


@pytest.mark.parametrize("page", TRANSLATED.values())
def test_names_of_the_russian_interface_exist(page):
    russian = translations()
    known = set(russian.values()) | ((texts_in("ui") | texts_in_menus()) - russian.keys()) | BLENDERS_RUSSIAN
    assert [name for name in bold_names(page) if CASES.get(name, name) not in known] == []


@pytest.mark.parametrize("page", TRANSLATED)
def test_a_russian_page_has_what_the_english_one_has(page):
    english = (ROOT / page).read_text(encoding="utf-8")
    russian = (ROOT / TRANSLATED[page]).read_text(encoding="utf-8")
    assert len(re.findall("^##+ ", russian, re.MULTILINE)) == len(re.findall("^##+ ", english, re.MULTILINE))
    assert set(re.findall(r"[a-z_]+\.png", russian)) == set(re.findall(r"[a-z_]+\.png", english))
    assert russian.count("bpy.ops.") == english.count("bpy.ops.")
    suffixes = re.compile(r"`\.[a-z0-9]+`")
    assert set(suffixes.findall(english)) <= set(suffixes.findall(russian))


LONGEST_SENTENCE = 30
"""Words. Modders read the guide as a second language."""
BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:-|\d+\.) )|\|")
"""Between paragraphs, items of a list and cells of a table."""


@pytest.mark.parametrize("page", [f"docs/{name}{suffix}" for name in GUIDE for suffix in (".md", ".ru.md")])
def test_no_sentence_of_the_guide_is_long(page):
    text = re.sub(r"```.*?```|!\[[^\]]*\]\([^)]*\)", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    blocks = BLOCK.split(re.sub(r"\]\([^)]*\)", "]", text))
    sentences = [sentence for block in blocks for sentence in re.split(r"(?<=[.!?])\s+", " ".join(block.split()))]
    assert len(sentences) > 10
    counts = {sentence: len(re.findall(r"\S*\w\S*", sentence)) for sentence in sentences}
    assert {sentence: count for sentence, count in counts.items() if count > LONGEST_SENTENCE} == {}


SAME_ABILITIES = {"import": "импорт", "edit": "правка", "export": "экспорт", "save back": "сохранение обратно в файл"}


def rows_of_formats(page: str, byte_for_byte: str) -> dict[str, tuple[str, str]]:
    """Suffixes -> the cells for the command line and for Blender."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split("|")] for line in lines if f"| {byte_for_byte} |" in line]
    return {row[2]: (row[4], row[5]) for row in rows}


def test_the_russian_table_of_formats_promises_what_the_english_one_does():
    english = rows_of_formats("README.md", "byte for byte")
    russian = rows_of_formats("docs/README.ru.md", "байт в байт")
    assert len(english) > 20
    assert english.keys() == russian.keys()
    for suffixes, (commands, abilities) in english.items():
        assert russian[suffixes][0] == commands
        for ability, in_russian in SAME_ABILITIES.items():
            listed = (ability in abilities.split(", "), in_russian in russian[suffixes][1].split(", "))
            assert listed[0] == listed[1], (suffixes, ability)


def test_the_form_for_bugs_knows_every_kind_of_file_and_every_blender():
    form = (ROOT / ".github" / "ISSUE_TEMPLATE" / "bug.yml").read_text(encoding="utf-8")
    suffixes = {suffix for known in FORMATS for suffix in known.suffixes}
    assert suffixes - set(re.findall(r"\.[a-z0-9_]+", form)) == set()
    wheels = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["motionbridge"]["wheels"]
    assert [version for version in wheels if wheels[version].get("gate", True) and f'"{version}' not in form] == []


def severities_in(page):
    """Name of a rule -> its severities, as a page lists them."""
    rows = [line.strip("| ").split(" | ") for line in (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()]
    return {row[0]: row[1] for row in rows if len(row) == 4}


def test_the_guide_lists_each_rule_for_arma_models_with_its_severity():
    words = json.loads((ADDON / "ui" / "ru_reports.json").read_text(encoding="utf-8"))
    russian = {"error": "ошибка", "warning": "предупреждение", "note": "заметка"}
    pages = severities_in("arma.md"), severities_in("arma.ru.md")
    assert len({rule.name for rule in check.RULES.values()}) == len(check.RULES)
    for rule in check.RULES.values():
        worst = pages[0][rule.name].partition(", ")[0]
        assert worst == rule.severity.value
        assert pages[1][words[rule.name]].partition(", ")[0] == russian[worst]


@pytest.mark.parametrize(("english", "russian"), TRANSLATED.items())
def test_what_the_english_page_calls_by_name_the_russian_one_calls_too(english, russian):
    known = translations()
    # Menus have the suffix behind a name: X-Ray Motions (.omf).
    there = {CASES.get(name, name).partition(" (.")[0] for name in bold_names(russian)}
    wanted = {name.partition(" (.")[0] for name in bold_names(english)} & known.keys()
    assert sorted(name for name in wanted if not {name, known[name]} & there) == []


def test_the_toy_format_of_the_page_keeps_its_own_laws(monkeypatch):
    blocks = code_on(ADDING_A_FORMAT)
    assert all(compile(block, "page", "exec", dont_inherit=True) for block in blocks)
    document, model, laws = (
        next(block for block in blocks if f"def {name}(" in block)
        for name in ("starts_like", "encode", "test_every_byte_is_known_or_kept")
    )
    toy = ModuleType("addon.formats.xray.toy")
    toy.__package__ = "addon.formats.xray"
    monkeypatch.setitem(sys.modules, toy.__name__, toy)
    monkeypatch.setattr(import_module(toy.__package__), "toy", toy, raising=False)
    exec(document + model, vars(toy))  # noqa: S102 - the code of our own page
    tests: dict[str, object] = {}
    exec(laws, tests)  # noqa: S102
    for size in range(len(tests["SMALL"]) - 1):
        tests["test_a_file_that_was_cut_is_refused"](size)
    whole = [
        test for name, test in tests.items() if name.startswith("test_") and "size" not in test.__code__.co_varnames
    ]
    assert len(whole) == 3
    for test in whole:
        test()


def test_russian_texts_of_narrow_buttons_are_not_cut_off():
    """Two buttons in a line of the sidebar, or a check box in a file browser of the default size."""
    texts = ("Match to IK", "Match to FK", "Match Head to IK", "Match Head to FK", "Merge within 1 mm")
    russian = translations()
    assert [text for text in texts if len(russian[text]) > 16] == []
