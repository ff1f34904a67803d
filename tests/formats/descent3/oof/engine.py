"""Models of our own with the numbers the game's own code computed from them, found by MOTIONBRIDGE_VECTORS."""

import pytest

from tests.real_files import VECTORS


def engine_models() -> list:
    """Their names, for `pytest.mark.parametrize`; one skipped parameter where there are none."""
    if VECTORS is None:
        return [pytest.param("", id="no vectors", marks=pytest.mark.skip(reason="MOTIONBRIDGE_VECTORS is not set"))]
    return [path.stem for path in sorted(VECTORS.glob("oof/*.oof"))]
