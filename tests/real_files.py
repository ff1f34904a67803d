"""Real game files: they are nobody's to copy, so they lie outside and are found by MOTIONBRIDGE_CORPUS.

MOTIONBRIDGE_VECTORS names the folder of numbers that were computed with the engines' own arithmetic.
"""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet


def _folder(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value) if value else None


CORPUS = _folder("MOTIONBRIDGE_CORPUS")
VECTORS = _folder("MOTIONBRIDGE_VECTORS")


def corpus_files(*parts: str) -> list:
    """Parameters for `pytest.mark.parametrize`: each real file of these folders ("omf") or patterns ("omf/odd_*").

    Without a corpus it is one parameter that is skipped, so that the gap is counted.
    """
    if CORPUS is None:
        return [pytest.param(None, id="no corpus", marks=pytest.mark.skip(reason="MOTIONBRIDGE_CORPUS is not set"))]
    files: list[Path] = []
    for part in parts:
        path = sorted((CORPUS / part).iterdir()) if (CORPUS / part).is_dir() else sorted(CORPUS.glob(part))
        if not path:
            raise FileNotFoundError(f"no file matches {part} in the corpus {CORPUS}")
        files += path
    return [pytest.param(file, id=f"{file.parent.name}/{file.name}") for file in files]


def sampled(parameters: Iterable, count: int = 6) -> list:
    """These parameters for `pytest.mark.parametrize`: ``count`` of them, taken evenly, in every run; the rest deep."""
    every = [
        parameter
        if isinstance(parameter, ParameterSet)
        else pytest.param(*(parameter if isinstance(parameter, tuple) else (parameter,)))
        for parameter in parameters
    ]
    kept = {number * len(every) // count for number in range(count)}
    return [
        result if index in kept else result._replace(marks=[*result.marks, pytest.mark.deep])
        for index, result in enumerate(every)
    ]


# Skeleton -> motions that belong to it, as the corpus' own list says.
REAL_MOTIONS_OF_MODELS = {
    "coc_detector1_hud": ["coc_detector1", "coc_detector1_16bit"],
    "coc_detector2_hud": ["coc_detector2_16bit"],
    "coc_dev_bolt_hud": ["coc_dev_bolt_tiny"],
    "gwr_beretta_hud": ["gwr_beretta_hud"],
    "gwr_wpn_hand_04": ["gwr_hand_beretta_marks92", "gwr_hand_pb_v3"],
    "gwr_knife_hud": ["gwr_knife_tiny_marks"],
    "headflash_hud": ["headflash_tiny"],
    "hoc_backpack_hud": ["hoc_backpack_64bones_marks"],
    "human_stalker_hero_1": ["human_smart_cover"],
    "ixray_wpn_hand_0": ["coc_hand_bolt_marks"],
    "medkit_exo_hud": ["medkit_exo"],
    "nlc_pp91_hud": ["nlc_pp91_hud_v4"],
    "nlc_walter99_hud": ["nlc_walter99_hud_v3"],
    "radium_bloodsucker": ["radium_bloodsucker"],
    "radium_cat": ["radium_cat"],
    "radium_chimera": ["radium_chimera"],
    "radium_psevdogigant": ["radium_psevdogigant"],
    "radium_rat": ["radium_rat"],
    "radium_zombi_trup": ["radium_zombi_v3"],
    "soc_bolt_hud": ["soc_bolt_hud"],
}
SAMPLES = Path(__file__).resolve().parent / "samples"
MOTIONS_OF_MODELS = {"humanoid": ["humanoid"], "weapon": ["weapon"]} | (REAL_MOTIONS_OF_MODELS if CORPUS else {})
"""The same with our samples; real files where they are there."""


def motions_of_model(model: str) -> tuple[Path, list[Path]]:
    """The files of a model of `MOTIONS_OF_MODELS` and of its motions."""
    if (SAMPLES / f"{model}.ogf").is_file():
        return SAMPLES / f"{model}.ogf", [SAMPLES / f"{name}.omf" for name in MOTIONS_OF_MODELS[model]]
    corpus = Path(os.environ["MOTIONBRIDGE_CORPUS"])
    return corpus / "ogf" / f"{model}.ogf", [corpus / "omf" / f"{name}.omf" for name in MOTIONS_OF_MODELS[model]]


MOVING = ("twenty_irregular", "position_other_range", "v1908_rotation_position")
SHIPS = [
    SAMPLES / "descent3" / "ship.oof",
    *(sorted((CORPUS / "oof").glob("*.oof")) if CORPUS else ()),
    *((VECTORS / "oof" / f"{name}.oof" for name in MOVING) if VECTORS else ()),
]
"""Models of Descent 3: our sample; real files, and models with motions, where they are there."""
