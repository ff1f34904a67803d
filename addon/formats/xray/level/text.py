"""A level as text: a summary, a complete dump, differences, and what the game refuses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ....core import names, text
from ....core.report import counted, say
from ....core.walk import Entries, View, Views, fields
from ..chunks import CHUNK_VIEWS, headings, kept_size, with_chunks
from .codec import KNOWN
from .document import NEWEST, SUN, Kind, Level, Sector, Visuals, VisualType, Windows

_NOUNS = {
    VisualType.NORMAL: "surface",
    VisualType.HIERARCHY: "node",
    VisualType.PROGRESSIVE: "progressive surface",
    VisualType.LOD: "impostor",
    VisualType.TREE: "tree",
    VisualType.TREE_PROGRESSIVE: "progressive tree",
}
SHOWN = 12
"""Number of texture names in `describe`."""


def describe(document: Level) -> list[str]:
    """Return a summary: counts, sectors, textures, and the memory that the geometry needs."""
    visuals = document.visuals
    types, counts = np.unique(visuals.types, return_counts=True)
    kinds = ", ".join(
        counted(int(count), _NOUNS.get(kind, f"visual of type {kind}|visuals of type {kind}"))
        for kind, count in zip(types.tolist(), counts.tolist(), strict=True)
    )
    rows = visuals.fixed[Kind.CONTAINER][visuals.owners(Kind.CONTAINER)[1]]
    ranges = np.unique(rows)
    trees = visuals.fixed[Kind.CONTAINER][_tree_rows(document)]
    texts = textures(document)
    lines = [
        f"version {document.version}, quality {document.quality}, {counted(len(visuals), 'visual')}: {kinds}",
        (
            f"{counted(len(trees), 'tree')} of {counted(len(np.unique(trees)), 'mesh|meshes')}, "
            f"{counted(int(ranges['vertex_count'].sum()), 'vertex|vertices')} and "
            f"{counted(int(ranges['index_count'].sum()), 'index|indices')} in level.geom "
            f"({(32 * int(ranges['vertex_count'].sum()) + 2 * int(ranges['index_count'].sum())) / 2**20:.1f} MB)"
        ),
        (
            f"{counted(len(document.sectors), 'sector')}, {counted(len(document.portals), 'portal')}, "
            f"{counted(len(document.lights), 'light')}, {counted(len(document.glows), 'glow')}"
        ),
        (
            f"{counted(len(document.shaders), 'shader string')}, {counted(len(texts), 'texture')}: "
            f"{', '.join(texts[:SHOWN])}{', ...' if len(texts) > SHOWN else ''}"
        ),
    ]
    boxes = visuals.fixed[Kind.HEADER]["box"].reshape(-1, 3)
    lines.append(f"bounds (file axes): {text.extent(boxes)}")
    return lines


def _tree_rows(document: Level) -> NDArray[np.int64]:
    owners, rows = document.visuals.owners(Kind.CONTAINER)
    types = document.visuals.types[owners]
    return rows[np.isin(types, (VisualType.TREE, VisualType.TREE_PROGRESSIVE))]


def textures(document: Level) -> list[str]:
    """Return the names of textures, sorted, including lightmaps, which are in the level's folder."""
    texts: set[str] = set()
    for shader in document.shaders:
        listed = names.decode(shader).partition("/")[2]
        texts.update(filter(None, listed.split(",")))
    return sorted(texts)


def raw_size(document: Level) -> int:
    """Return the number of bytes that are kept without knowing their meaning."""
    kept = sum(map(len, document.visuals.opaque)) + len(document.visuals.tail)
    kept += len(document.sector_run.tail) + kept_size(document.run, KNOWN, document.rests)
    return kept + sum(kept_size(sector.run, (1, 2), sector.rests) for sector in document.sectors)


def problems(document: Level) -> Iterator[str]:
    """Yield what the game refuses or misreads."""
    visuals = document.visuals
    if document.version != NEWEST:
        yield f"version {document.version}; the released games accept {NEWEST} only"
    if not (document.lights["type"] == SUN).any():
        yield "there is no sun (a light of type 3)"
    if not (visuals.ids == np.arange(len(visuals))).all():
        yield "the numbers of visuals have gaps; the game reads them up to the first one"
    types, shaders = visuals.types, visuals.shaders
    if (types < 0).any():
        which = np.flatnonzero(types < 0)
        yield f"{counted(len(which), 'visual')} without a readable header, first {which[0]}"
    wrong = np.flatnonzero(shaders >= len(document.shaders))
    if len(wrong):
        yield say("{:# visual refers|# visuals refer} to missing shaders, first {}", len(wrong), wrong[0])
    yield from _child_problems(document)
    roots = [sector.root for sector in document.sectors]
    for number, root in enumerate(roots):
        if root is None or root >= len(visuals):
            yield f"sector {number} has no root visual"
    sides = np.concatenate((document.portals["front"], document.portals["back"]))
    if (sides >= len(roots)).any():
        yield f"{counted(int((sides >= len(roots)).sum()), 'side')} of portals without a sector"
    if ((document.portals["count"] < 3) | (document.portals["count"] > 6)).any():
        yield "a portal with fewer than 3 or more than 6 vertices"


def _child_problems(document: Level) -> Iterator[str]:
    visuals = document.visuals
    owners, lists = visuals.owners(Kind.CHILDREN)
    counts = visuals.children.counts
    parent = np.full(len(counts), -1, np.int64)
    parent[lists] = owners
    parents = np.repeat(parent, counts)
    children = visuals.children.rows.astype(np.int64)
    missing = int(((children >= len(visuals)) & (parents >= 0)).sum())
    if missing:
        yield say("{:# child is|# children are} missing", missing)
    too_early_parents = int(((children >= parents) & (children < len(visuals)) & (parents >= 0)).sum())
    if too_early_parents:
        yield f"{counted(too_early_parents, 'child|children')} after the parent, where the game does not find them"
    valid_children = children[(children < len(visuals)) & (parents >= 0)]
    repeated = int((np.bincount(valid_children, minlength=1) > 1).sum())
    if repeated:
        yield f"{counted(repeated, 'visual')} with several parents"


def _entries(document: Level) -> Entries:
    yield from fields(document, "shaders", "visuals", "run", "sector_run", words={"sectors": "sector"})
    yield "shader", dict(enumerate(document.shaders))
    yield "visuals", document.visuals
    yield "", headings(document.run, KNOWN)
    yield "sectors", headings(document.sector_run, (chunk.plain_id for chunk in document.sector_run.chunks))


def _visual_entries(visuals: Visuals) -> Entries:
    counts = Counter(visuals.types.tolist())
    yield "", {_NOUNS.get(kind, f"of type {kind}"): counts[kind] for kind in sorted(counts)}
    yield "chunks", visuals.entries
    for kind, rows in visuals.fixed.items():
        yield kind.name.lower(), rows["corners"].reshape(-1) if kind is Kind.LOD else rows
    yield from fields(visuals, "entries", "fixed", words={"opaque": "bytes"})


VIEWS: Views = {
    **CHUNK_VIEWS,
    Level: View(entries=_entries),
    Sector: with_chunks(lambda _: (1, 2)),
    Visuals: View(entries=_visual_entries),
    Windows: View(words={"lists": ""}),
}
