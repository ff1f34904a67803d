"""Syntax trees of sources: each source is parsed once per run, whichever tests read it."""

import ast
from functools import cache


@cache
def tree_of(source: str) -> ast.Module:
    """Return the syntax tree of a source."""
    return ast.parse(source)


@cache
def nodes_of(source: str) -> list[ast.AST]:
    """Return every node of that tree."""
    return list(ast.walk(tree_of(source)))


def forget() -> None:
    """Drop all trees: the garbage collector would look through millions of nodes in all later tests."""
    tree_of.cache_clear()
    nodes_of.cache_clear()
