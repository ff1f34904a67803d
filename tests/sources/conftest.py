"""Tests about our own sources and pages, run once by lint: nothing here depends on a Python or a Blender."""

import gc

import pytest

from tests.sources import test_architecture, trees


@pytest.fixture(scope="package", autouse=True)
def _trees():
    """Keep the trees away from the garbage collector until the last of these tests."""
    gc.disable()
    yield
    trees.forget()
    test_architecture.modules.cache_clear()
    test_architecture.named_modules.cache_clear()
    gc.enable()
