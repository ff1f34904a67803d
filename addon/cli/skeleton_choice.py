"""`--skeleton` and `--model-cfg`: the parents of bones, for files that do not contain them."""

from __future__ import annotations

import argparse
from pathlib import PurePath

from ..core.errors import WriteError
from ..core.files import read_file
from ..core.report import Report
from ..formats.arma import model_cfg
from ..formats.arma.skeletons import BUILT_IN, Hierarchy


def add_options(command: argparse.ArgumentParser) -> None:
    """Let the user say it."""
    known = ", ".join(BUILT_IN)
    command.add_argument("--model-cfg", metavar="CFG", help="for .rtm: the model.cfg with the skeleton")
    command.add_argument(
        "--skeleton", metavar="NAME", help=f"for .rtm: a skeleton of that model.cfg, or without one: {known}"
    )


def chosen_hierarchy(file: str, cfg: str | None, name: str | None, report: Report) -> Hierarchy | None:
    """The skeleton asked for; None where none was. Raises `ReadError`, and `WriteError` where the choice is open.

    Of a model.cfg without a name it is the one that belongs to ``file``, or the only one that has bones.
    """
    if cfg is None:
        if name is not None and name not in BUILT_IN:
            raise WriteError(f"there is no built-in skeleton {name!r}", remedy=f"Known: {', '.join(BUILT_IN)}")
        return BUILT_IN[name] if name is not None else None
    config = model_cfg.read(read_file(cfg), cfg, report)
    with_bones = [found for found in config.skeletons.values() if found.parents]
    found = config.skeleton(name) if name is not None else config.skeleton_of(PurePath(file).stem)
    if found is None and name is None and len(with_bones) == 1:
        found = with_bones[0]
    if found is None:
        there = ", ".join(skeleton.name for skeleton in with_bones)
        problem = f"there is no skeleton {name!r}" if name is not None else "the file has several skeletons"
        remedy = f"Choose one with --skeleton: {there}" if there else "The file describes no skeleton: give another"
        raise WriteError(problem, file=cfg, remedy=remedy)
    return found
