"""An armature for an animation: its hierarchy, and where its joints are as far as somebody knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...core import files, pivots, space
from ...core.joints import skeleton_of_joints
from ...core.model import DeltaClip, Skeleton
from ...core.report import Report
from ...formats.arma import p3d
from ...formats.arma.hierarchy import Hierarchy

Floats = NDArray[np.float64]


FARTHEST = 5.0
"""Metres from the model's origin that the joint of a man or an animal may lie."""


class PivotsFrom(Enum):
    """Where the joints of a new armature come from; any choice shows the same posed mesh."""

    AUTOMATIC = "automatic"
    """Of the model that is named, else of the animation, else of the built-in man."""
    MODEL = "model"
    ANIMATION = "animation"
    BUILT_IN = "built-in"


@dataclass(frozen=True)
class Joints:
    """``points`` (bones, 3) model space, Blender's axes; ``known`` (bones,) which are more than a guess."""

    points: Floats
    known: NDArray[np.bool_]


def bones_of(clip: DeltaClip, hierarchy: Hierarchy, *, whole: bool) -> list[str]:
    """The file's bones, and with ``whole`` those of the hierarchy that it does not move, which follow."""
    listed = {bone.lower() for bone in clip.bones}
    return list(clip.bones) + [bone for bone in hierarchy.parents if whole and bone.lower() not in listed]


def skeleton_for(
    clip: DeltaClip,
    hierarchy: Hierarchy,
    *,
    source: PivotsFrom,
    model: str,
    whole: bool,
    noise: float,
    report: Report,
) -> Skeleton:
    """The skeleton of a new armature for ``clip``; ``noise`` metres of rounding in its matrices.

    Raises `ReadError` for a ``model`` that cannot be read.
    """
    bones = bones_of(clip, hierarchy, whole=whole)
    parents = hierarchy.parent_indices(bones)
    given = _of_model(model, bones, report) if model and source in (PivotsFrom.AUTOMATIC, PivotsFrom.MODEL) else {}
    table = {bone: space.arma_points(np.array(point)) for bone, point in hierarchy.pivots.items()}
    if given:
        joints = joints_at(bones, given)
    elif source in (PivotsFrom.AUTOMATIC, PivotsFrom.ANIMATION):
        placed = joints_at(bones, table if source is PivotsFrom.AUTOMATIC else {})
        joints = _recovered(clip, placed, hierarchy.parent_indices(clip.bones), noise)
    else:
        joints = joints_at(bones, table)
    unknown = int((~joints.known & (parents >= 0)).sum())
    if unknown:
        report.note(
            f"joints whose place is not known: {unknown} of {len(bones)}; these bones begin at their parent's",
            clip.name,
        )
    return skeleton_of_joints(clip.name, bones, parents, settled(joints, parents))


def _of_model(model: str, bones: Sequence[str], report: Report) -> dict[str, Floats]:
    document = p3d.read(files.read_file(model), model, report)
    found = p3d.pivots(document, bones, report)
    if not found:
        report.warn("none of the bones is a selection of the model of pivots", Path(model).name)
    return found


def joints_at(bones: Sequence[str], points: Mapping[str, Floats]) -> Joints:
    """Joints by name."""
    by_name = {bone.lower(): point for bone, point in points.items()}
    result = np.array([by_name.get(bone.lower(), np.full(3, np.nan)) for bone in bones]).reshape(-1, 3)
    known: NDArray[np.bool_] = np.isfinite(result).all(axis=1)
    return Joints(result, known)


def _recovered(clip: DeltaClip, placed: Joints, parents: NDArray[np.int32], noise: float) -> Joints:
    """Joints that the motion itself shows; where it does not, those that are ``placed``, the clip's bones first."""
    own = len(clip.bones)
    near = np.where(placed.known[:own, None], placed.points[:own], 0.0) if placed.known[:own].any() else None
    found = pivots.recover(clip.deltas, parents, near=near, noise=noise)
    # Two frames that hardly turn put joints anywhere.
    accepted = found.accepted & (np.linalg.norm(found.points, axis=1) <= FARTHEST)
    points, known = placed.points.copy(), placed.known.copy()
    points[:own][accepted] = found.points[accepted]
    known[:own] |= accepted
    return Joints(points, known)


def settled(joints: Joints, parents: NDArray[np.int32]) -> Floats:
    """Every bone somewhere: where nothing is known at its parent's joint, a root in the middle of its children's."""
    points, known = joints.points.copy(), joints.known.copy()
    for root in np.flatnonzero((parents < 0) & ~known):
        children = np.flatnonzero((parents == root) & known)
        points[root] = points[children].mean(axis=0) if len(children) else 0.0
        known[root] = True
    while not known.all():
        ready = np.flatnonzero(~known & (parents >= 0) & known[np.maximum(parents, 0)])
        points[ready], known[ready] = points[parents[ready]], True
    return points
