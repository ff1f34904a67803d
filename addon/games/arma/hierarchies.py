"""Which bone hangs on which, for animations that do not say it: a model.cfg, a table of a known man, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from ...core import files
from ...core.errors import ReadError
from ...core.report import Report
from ...formats.arma import model_cfg
from ...formats.arma.hierarchy import Hierarchy
from ...formats.arma.skeletons import BUILT_IN

CONFIG_NAME = "model.cfg"
MOST_UNKNOWN = 0.5
"""Share of a file's bones that a skeleton may lack and still be taken for its own."""


class HierarchyFrom(Enum):
    """Where the hierarchy of bones comes from."""

    AUTOMATIC = "automatic"
    """The model.cfg that is named or lies beside the file, else a man that has the bones, else none."""
    CONFIG = "model.cfg"
    ARMA3 = "arma3"
    ARMA2 = "arma2"
    FLASHPOINT = "flashpoint"
    FLAT = "flat"
    """No bone hangs on another: always the same pose, but no chain to animate."""


FLAT = Hierarchy("flat", {}, for_display=True)


def chosen(source: HierarchyFrom, config: str, file: str, bones: Sequence[str], report: Report) -> Hierarchy:
    """The hierarchy for the bones of an animation ``file``. Raises `ReadError` where what is asked for is not there."""
    if source is HierarchyFrom.FLAT:
        return FLAT
    if source in (HierarchyFrom.AUTOMATIC, HierarchyFrom.CONFIG):
        path = config or beside(file)
        found = of_config(path, file, bones, report) if path else None
        if found is not None:
            return found
        if source is HierarchyFrom.CONFIG:
            raise ReadError(
                "there is no model.cfg beside the animation" if not path else "no skeleton of it has these bones",
                file=path or file,
                remedy="Name the model.cfg of the animation's skeleton, or choose a built-in skeleton",
            )
        return built_in(bones) or FLAT
    return BUILT_IN[source.value]


def beside(file: str) -> str:
    """The model.cfg in the folder of a file, "" where there is none."""
    folder = Path(file).parent
    found = sorted(entry for entry in folder.glob("*.[cC][fF][gG]") if entry.name.lower() == CONFIG_NAME)
    return str(found[0]) if found else ""


def of_config(path: str, file: str, bones: Sequence[str], report: Report) -> Hierarchy | None:
    """The skeleton that a model.cfg gives this file by its name, else the one that lists the most of its bones.

    None where none of its skeletons has half of them. Raises `ReadError`.
    """
    config = model_cfg.read(files.read_file(path), path, report)
    named = config.skeleton_of(Path(file).stem)
    candidates = [named] if named is not None else list(config.skeletons.values())
    fitting = [candidate for candidate in candidates if fits(candidate, bones)]
    if not fitting:
        report.warn(f"no skeleton of {Path(path).name} has the bones of the animation", Path(file).name)
        return None
    return min(fitting, key=lambda candidate: len(candidate.unknown(bones)))


def built_in(bones: Sequence[str]) -> Hierarchy | None:
    """The man that has most of the bones, None where none has half of them."""
    fitting = [candidate for candidate in BUILT_IN.values() if fits(candidate, bones)]
    return min(fitting, key=lambda candidate: len(candidate.unknown(bones))) if fitting else None


def fits(hierarchy: Hierarchy, bones: Sequence[str]) -> bool:
    """Whether it lists enough of the bones."""
    return bool(hierarchy.parents) and len(hierarchy.unknown(bones)) <= MOST_UNKNOWN * len(bones)


def of_armature(rig: Any, known: bool = True) -> Hierarchy:
    """The game's hierarchy that an armature remembers, else its own; ``known`` False for its own in any case."""
    skeleton = rig.data.motionbridge_skeleton
    if known and len(skeleton.bones):
        parents = {entry.name: entry.parent for entry in skeleton.bones}
        return Hierarchy(skeleton.skeleton or rig.name, parents, for_display=skeleton.for_display)
    spelled = {entry.bone: entry.name for entry in skeleton.bones}
    parents = {
        spelled.get(bone.name, bone.name): spelled.get(bone.parent.name, bone.parent.name) if bone.parent else ""
        for bone in rig.data.bones
    }
    return Hierarchy(rig.name, parents)


def remember(rig: Any, hierarchy: Hierarchy, given: dict[str, str]) -> None:
    """Let an armature know the game's spelling, order and parents of bones; ``given`` game's name -> Blender's.

    Bones it knows already stay as they are.
    """
    skeleton = rig.data.motionbridge_skeleton
    known = {entry.name.lower() for entry in skeleton.bones}
    if not known:
        skeleton.skeleton, skeleton.for_display = hierarchy.name, hierarchy.for_display
    above = {bone.lower(): parent for bone, parent in hierarchy.parents.items()}
    for name, bone in given.items():
        if name.lower() not in known:
            entry = skeleton.bones.add()
            entry.name, entry.bone, entry.parent = name, bone, above.get(name.lower(), "")


def spelled_as(hierarchy: Hierarchy, bones: Sequence[str]) -> list[str]:
    """The bones with the hierarchy's own upper and lower case where it lists them."""
    spelling = {bone.lower(): bone for bone in hierarchy.parents}
    return [spelling.get(bone.lower(), bone) for bone in bones]
