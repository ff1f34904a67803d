"""The properties that games add to Blender, there for a test's module whether or not the extension has added them."""

import bpy
import pytest


@pytest.fixture(scope="module", autouse=True)
def _game_properties():
    from addon import games

    there = "motionbridge_model" in bpy.types.Object.bl_rna.properties
    if not there:
        games.register()
    yield
    if not there:
        games.unregister()
