"""Real game files: they are nobody's to copy, so they lie outside and are found by MOTIONBRIDGE_CORPUS.

MOTIONBRIDGE_VECTORS names the folder of numbers that were computed with the engines' own arithmetic.
"""

import os
from pathlib import Path

import pytest


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
        found = sorted((CORPUS / part).iterdir()) if (CORPUS / part).is_dir() else sorted(CORPUS.glob(part))
        if not found:
            raise FileNotFoundError(f"no file matches {part} in the corpus {CORPUS}")
        files += found
    return [pytest.param(file, id=f"{file.parent.name}/{file.name}") for file in files]
