"""A level as text: a summary, a complete dump, differences, and what the game refuses."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ....core import names, text
from ....core.report import agreeing, counted, counted_plural, said_of
from ..chunks import chunk_heading, kept_size, rest_lines
from .codec import KNOWN
from .document import NEWEST, SUN, Kind, Level, VisualType

_NOUNS = {
    VisualType.NORMAL: "surfaces",
    VisualType.HIERARCHY: "nodes",
    VisualType.PROGRESSIVE: "progressive surfaces",
    VisualType.LOD: "impostors",
    VisualType.TREE: "trees",
    VisualType.TREE_PROGRESSIVE: "progressive trees",
}
SHOWN = 12
"""Number of texture names in `describe`."""


def describe(document: Level) -> list[str]:
    """Return a summary: counts, sectors, textures, and the memory that the geometry needs."""
    visuals = document.visuals
    types, counts = np.unique(visuals.types, return_counts=True)
    kinds = ", ".join(
        counted_plural(int(count), _NOUNS.get(kind, f"visuals of type {kind}"))
        for kind, count in zip(types.tolist(), counts.tolist(), strict=True)
    )
    rows = visuals.fixed[Kind.CONTAINER][visuals.owners(Kind.CONTAINER)[1]]
    ranges = np.unique(rows)
    trees = visuals.fixed[Kind.CONTAINER][_tree_rows(document)]
    found = textures(document)
    lines = [
        f"version {document.version}, quality {document.quality}, {counted(len(visuals), 'visual')}: {kinds}",
        (
            f"{counted(len(trees), 'tree')} of {counted(len(np.unique(trees)), 'mesh', 'meshes')}, "
            f"{counted(int(ranges['vertex_count'].sum()), 'vertex', 'vertices')} and "
            f"{counted(int(ranges['index_count'].sum()), 'index', 'indices')} in level.geom "
            f"({(32 * int(ranges['vertex_count'].sum()) + 2 * int(ranges['index_count'].sum())) / 2**20:.1f} MB)"
        ),
        (
            f"{counted(len(document.sectors), 'sector')}, {counted(len(document.portals), 'portal')}, "
            f"{counted(len(document.lights), 'light')}, {counted(len(document.glows), 'glow')}"
        ),
        (
            f"{counted(len(document.shaders), 'shader string')}, {counted(len(found), 'texture')}: "
            f"{', '.join(found[:SHOWN])}{', ...' if len(found) > SHOWN else ''}"
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
    found: set[str] = set()
    for shader in document.shaders:
        listed = names.decode(shader).partition("/")[2]
        found.update(filter(None, listed.split(",")))
    return sorted(found)


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
        yield f"{said_of(len(wrong), 'visuals', 'refer to missing shaders')}, first {wrong[0]}"
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
        yield f"{counted(missing, 'child', 'children')} {agreeing(missing, 'are missing')}"
    too_early_parents = int(((children >= parents) & (children < len(visuals)) & (parents >= 0)).sum())
    if too_early_parents:
        yield f"{counted(too_early_parents, 'child', 'children')} after the parent, where the game does not find them"
    valid_children = children[(children < len(visuals)) & (parents >= 0)]
    repeated = int((np.bincount(valid_children, minlength=1) > 1).sum())
    if repeated:
        yield f"{counted(repeated, 'visual')} with several parents"


def dump(document: Level) -> Iterator[str]:
    """Yield the whole file as text, one line per value or row. Equal texts mean equal bytes."""
    yield f"version {document.version} quality {document.quality}"
    for chunk in document.run.chunks:
        yield chunk_heading(chunk)
    for number, shader in enumerate(document.shaders):
        yield f"shader {number} {text.scalar(shader)}"
    visuals = document.visuals
    yield from text.array_lines("visual chunks", visuals.entries)
    for kind, rows in visuals.fixed.items():
        if kind is Kind.LOD:
            yield from text.array_lines("impostor corners", rows["corners"].reshape(-1))
        else:
            yield from text.array_lines(kind.name.lower(), rows)
    yield from text.value_lines("children", visuals.children)
    yield from text.value_lines("windows", visuals.windows)
    for number, body in enumerate(visuals.opaque):
        yield f"bytes {number} {bytes(body).hex()}"
    for name in ("portals", "lights", "glows"):
        yield from text.array_lines(name, getattr(document, name))
    for chunk, (number, sector) in zip(document.sector_run.chunks, enumerate(document.sectors), strict=True):
        portals = "-" if sector.portals is None else " ".join(map(str, sector.portals.tolist()))
        yield f"sector {number} {chunk_heading(chunk)} root {text.scalar(sector.root)} portals {portals}"
        for inner in sector.run.chunks:
            yield f"sector {number} {chunk_heading(inner)} {bytes(inner.body).hex()}"
    tails = [visuals.tail, document.sector_run.tail, document.run.tail, *(one.run.tail for one in document.sectors)]
    yield f"tails {' '.join(bytes(tail).hex() or '-' for tail in tails)}"
    yield from rest_lines(document.rests)
    for chunk in document.run.others(KNOWN):
        yield f"chunk {chunk.id:#x} {bytes(chunk.body).hex()}"


def differences(first: Level, second: Level) -> Iterator[str]:
    """Yield the differences between two levels: shaders, visuals by index, portals, lights, glows, sectors."""
    for name in ("version", "quality"):
        yield from text.value_differences(name, getattr(first, name), getattr(second, name))
    for number, (mine, theirs) in enumerate(itertools.zip_longest(first.shaders, second.shaders)):
        if mine != theirs:
            yield f"shader {number}: {text.scalar(mine)} / {text.scalar(theirs)}"
    yield from _visual_differences(first, second)
    for name in ("portals", "lights", "glows"):
        yield from text.array_differences(name, getattr(first, name), getattr(second, name))
    if len(first.sectors) != len(second.sectors):
        yield f"sectors: {len(first.sectors)} / {len(second.sectors)}"
    for number, (one, other) in enumerate(zip(first.sectors, second.sectors, strict=False)):
        yield from text.value_differences(f"sector {number} root", one.root, other.root)
        yield from text.value_differences(f"sector {number} portals", one.portals, other.portals)
    if [first.rests, *(one.rests for one in first.sectors)] != [second.rests, *(one.rests for one in second.sectors)]:
        yield "bytes after the values of chunks differ"


def _visual_differences(first: Level, second: Level) -> Iterator[str]:
    one, other = first.visuals, second.visuals
    if one.entries.tobytes() != other.entries.tobytes():
        counts = [Counter(visuals.types.tolist()) for visuals in (one, other)]
        yield f"visuals: {len(one)} / {len(other)}"
        for kind in sorted(counts[0].keys() | counts[1].keys()):
            if counts[0][kind] != counts[1][kind]:
                noun = _NOUNS.get(kind, f"visuals of type {kind}")
                yield f"{noun}: {counts[0][kind]} / {counts[1][kind]}"
        if len(one) == len(other) and counts[0] == counts[1]:
            yield "visuals: chunks in another order or of other kinds"
        return
    for kind in one.fixed:
        mine, theirs = one.fixed[kind], other.fixed[kind]
        if kind is Kind.LOD:
            mine, theirs = mine["corners"].reshape(-1), theirs["corners"].reshape(-1)
        yield from text.array_differences(f"visuals {kind.name.lower()}", mine, theirs)
    yield from text.value_differences("visuals children", one.children, other.children)
    yield from text.value_differences("visuals windows", one.windows, other.windows)
    changed = sum(bytes(mine) != bytes(theirs) for mine, theirs in zip(one.opaque, other.opaque, strict=True))
    if changed:
        yield f"visuals: {counted(changed, 'chunk')} of unknown meaning"
