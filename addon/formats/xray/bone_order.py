"""Order and parts of the bones of a model or of what motions are for, which a new model takes so that motions fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...core import files, names
from ...core.report import Report
from . import ogf, omf
from .ogf.document import motion_set_of
from .ogf.mesh import bone_labels
from .omf.document import Partition


@dataclass(frozen=True)
class BoneOrder:
    """``bones`` in the order that the game counts by; ``parts`` names with the bones of each, none where unknown."""

    bones: Sequence[str] = ()
    parts: Sequence[tuple[str, Sequence[str]]] = ()


def of_file(path: str) -> BoneOrder:
    """Of the model or the motion file at ``path``. Raises `ReadError`."""
    data = files.read_file(path)
    if Path(path).suffix.lower() == ".omf":
        partitions = omf.read(data, path, Report()).motion_set.parameters.partitions
        bones = sorted((bone.track or 0, names.decode(bone.name or b"")) for part in partitions for bone in part.bones)
        return BoneOrder([label for _, label in bones], _parts(partitions))
    document = ogf.read(data, path, Report())
    inside = motion_set_of(document)
    return BoneOrder(bone_labels(document), _parts(inside.parameters.partitions) if inside is not None else ())


def _parts(partitions: Sequence[Partition]) -> list[tuple[str, list[str]]]:
    return [(part.label, [names.decode(bone.name or b"") for bone in part.bones]) for part in partitions]
