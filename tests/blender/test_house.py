"""The extension inside a Blender: one set of modules, and nothing left when it is disabled."""

import sys

import addon_utils
import bpy
import pytest

MODULE = "bl_ext.dev.motionbridge"


def test_addon_is_another_name_for_the_extension_that_blender_runs():
    import addon
    import addon.core.errors
    from addon.core import errors

    assert addon is sys.modules[MODULE]
    assert errors is sys.modules[MODULE + ".core.errors"]
    assert addon.core.errors is errors
    assert errors.__name__ == MODULE + ".core.errors"
    assert errors.__spec__.name == MODULE + ".core.errors"


def test_a_module_that_is_not_there_is_missed_under_its_own_name():
    with pytest.raises(ModuleNotFoundError, match="nothing_like_this"):
        import addon.nothing_like_this  # noqa: F401


def test_it_can_be_disabled_and_enabled_again():
    assert MODULE in bpy.context.preferences.addons
    addon_utils.disable(MODULE, default_set=True)
    try:
        assert MODULE not in bpy.context.preferences.addons
        assert sys.modules[MODULE].__addon_enabled__ is False
    finally:
        assert addon_utils.enable(MODULE, default_set=True)


def test_each_test_begins_in_an_empty_file():
    assert len(bpy.data.objects) == 0
    bpy.data.objects.new("left behind", None)


def test_and_so_does_the_next():
    assert len(bpy.data.objects) == 0
