"""Syntax trees of sources: each source is parsed once per run, whichever tests read it."""

import ast
import re
from functools import cache
from pathlib import Path

ADDING_A_FORMAT = Path(__file__).resolve().parents[2] / "docs" / "adding-a-format.md"


@cache
def tree_of(source: str) -> ast.Module:
    """Return the syntax tree of a source."""
    return ast.parse(source)


@cache
def nodes_of(source: str) -> list[ast.AST]:
    """Return every node of that tree."""
    return list(ast.walk(tree_of(source)))


def code_on(page: Path) -> list[str]:
    """Return the blocks of Python on a page of the documentation."""
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def forget() -> None:
    """Drop all trees: the garbage collector would look through millions of nodes in all later tests."""
    tree_of.cache_clear()
    nodes_of.cache_clear()
