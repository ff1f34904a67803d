"""Arrays for a moment: what they hold, and that their memory goes back."""

import gc
from pathlib import Path

import numpy as np
import pytest

from addon.core.scratch import scratch, without_garbage_collection

STATM = Path("/proc/self/statm")


@pytest.mark.parametrize(
    ("shape", "kind"), [((3, 4), np.float32), ((5,), np.int32), ((0, 3), np.float32), ((), np.bool_)]
)
def test_it_is_an_array_of_zeros_that_can_be_written(shape, kind):
    array = scratch(shape, kind)
    assert (array.shape, array.dtype) == (shape, np.dtype(kind))
    assert not array.any()
    array[...] = 1
    assert array.all()


@pytest.mark.skipif(not STATM.exists(), reason="this system does not say how much memory is held")
def test_its_memory_goes_back_at_once():
    def held():
        return int(STATM.read_text(encoding="ascii").split()[1]) * 4096

    before = held()
    array = scratch((4_000_000,), np.float32)
    array[:] = 1
    assert held() - before > 15_000_000
    view = array.view(np.int32)[::2]
    del array
    assert held() - before > 15_000_000
    assert view[0] != 0
    del view
    assert held() - before < 2_000_000


def test_undisturbed_work_is_not_interrupted_by_collections_and_they_go_on_afterwards():
    seen = []

    @without_garbage_collection()
    def work():
        with without_garbage_collection():
            seen.append(gc.isenabled())
        seen.append(gc.isenabled())
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        work()
    assert seen == [False, False]
    assert gc.isenabled()


def test_undisturbed_leaves_collections_off_where_they_were_off():
    gc.disable()
    try:
        with without_garbage_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
