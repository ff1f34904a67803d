"""What a level marks: named points of the memory level, and the places of proxies, other models that hang on it.

A selection ``proxy:path.001`` is one triangle. Tools draw it with a right angle, where the other model's origin lies;
the longer of the two sides there leads along it, the shorter up. How the game itself reads other shapes is not known
here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ....core import space
from .document import Lod
from .mesh import selection_weights

Floats = NDArray[np.float64]
PROXY = "proxy:"


@dataclass(frozen=True)
class NamedPoint:
    """``name`` of the selection, "" for a point in none; ``point`` its row; ``place`` (4, 4) metres, Blender's axes.

    ``bones``: selection -> weight of those that the point is in, the heaviest first.
    """

    name: str
    point: int
    place: Floats
    bones: dict[str, float] = field(default_factory=dict)


def named_points(lod: Lod) -> list[NamedPoint]:
    """Every point of the level under the name of its first selection; its place is not turned."""
    table = selection_weights(lod)
    labels = list(table)
    stacked = np.array(list(table.values()), np.float32).reshape(len(table), len(lod.points))
    points, numbers = np.nonzero(stacked.T)
    starts = np.searchsorted(points, np.arange(len(lod.points) + 1))
    found = []
    for point, position in enumerate(_places(lod)):
        own = numbers[starts[point] : starts[point + 1]].tolist()
        bones = {labels[number]: float(stacked[number, point]) for number in own}
        found.append(NamedPoint(labels[own[0]] if own else "", point, _at(position, np.eye(3)), _heaviest_first(bones)))
    return found


def proxies(lod: Lod) -> Iterator[NamedPoint]:
    """The proxies in the order of their selections; a selection without a triangle gives none."""
    table = selection_weights(lod)
    positions = _places(lod)
    for name, _, faces in lod.selections():
        chosen = np.flatnonzero(faces)
        if not name.lower().startswith(PROXY) or not len(chosen):
            continue
        corners = lod.faces["corners"]["point"][chosen[0], :3].astype(np.int64)
        place, turn = _frame(positions[corners])
        yield NamedPoint(
            name[len(PROXY) :],
            int(corners[place]),
            _at(positions[corners[place]], turn),
            _weights_at(table, corners.tolist()),
        )


@np.errstate(invalid="ignore", over="ignore")  # broken files: what is not finite becomes the identity
def _frame(triangle: Floats) -> tuple[int, Floats]:
    """Which of three corners (the one with the largest angle) is the origin, and (3, 3) the axes of the model there.

    Its y is exactly the shorter leg (the file's z, forward), its z about the longer one (the file's y, up), as the
    engine takes them: shortest side first.
    """
    sides = np.linalg.norm(np.roll(triangle, -1, axis=0) - np.roll(triangle, 1, axis=0), axis=1)
    origin = int(np.argmax(np.nan_to_num(sides)))
    legs = [triangle[(origin + step) % 3] - triangle[origin] for step in (1, 2)]
    along, up = sorted(legs, key=lambda leg: float(np.nan_to_num(leg @ leg)))
    across = np.cross(along, up)
    if not np.isfinite(across).all() or np.linalg.norm(across) < 1e-12:
        return origin, np.eye(3)
    y, x = along / np.linalg.norm(along), across / np.linalg.norm(across)
    return origin, np.stack((x, y, np.cross(x, y)), axis=-1)


def _at(position: Floats, turn: Floats) -> Floats:
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = turn, np.nan_to_num(position)
    return result


def _places(lod: Lod) -> Floats:
    with np.errstate(invalid="ignore"):  # signalling NaNs of broken files
        result: Floats = space.arma_points(lod.points["position"]).astype(np.float64)
    return result


def _weights_at(table: dict[str, NDArray[np.float32]], points: list[int]) -> dict[str, float]:
    found = {name: float(weights[points].sum()) for name, weights in table.items()}
    return _heaviest_first({name: weight for name, weight in found.items() if weight})


def _heaviest_first(bones: dict[str, float]) -> dict[str, float]:
    return dict(sorted(bones.items(), key=lambda pair: -pair[1]))
