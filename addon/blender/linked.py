"""Data-blocks of other files: Blender shows and plays them, but what is stored in them is gone after reloading.

A library override keeps poses, animation and single values, but takes no new entries in collections of properties, in
which files, motions, marks and points are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.errors import WriteError


def is_local(block: Any) -> bool:
    """Whether what is stored in a data-block stays: it is neither linked nor a library override."""
    return block.library is None and block.override_library is None


def refuse_linked(blocks: Iterable[Any]) -> None:
    """Raises `WriteError` where one of the data-blocks, in which something is to be stored, is of another file.

    None stands for nothing.
    """
    for block in blocks:
        if block is None or is_local(block):
            continue
        kind = str(block.bl_rna.name).lower()
        if block.library is not None:
            raise WriteError(
                f"the {kind} {block.name!r} is linked from another file, so nothing can be stored in it",
                remedy="Make it local first (Object > Relations > Make Local, for an action the link icon beside its "
                "name), or work in its own file",
            )
        raise WriteError(
            f"the {kind} {block.name!r} is a library override, which cannot store this",
            remedy="Make it local first (Object > Relations > Make Local), or work in its own file",
        )
