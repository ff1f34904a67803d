"""A level that is larger than what a view shows is shown as a whole; cameras stay as they are."""

import bpy
import pytest

from addon.core.report import Report
from addon.games.xray.levels.file import extend_clipping
from tests.blender.test_levels import drawn


@pytest.fixture
def view():
    area = bpy.context.screen.areas[0]
    kind, area.type = area.type, "VIEW_3D"
    space = area.spaces.active
    space.clip_start, space.clip_end = 0.01, 1000.0
    yield space
    space.clip_start, space.clip_end = 0.01, 1000.0
    area.type = kind


def square(size):
    return drawn("wide", [(0, 0, 0), (size, 0, 0), (size, size, 0), (0, size, 0)], [(0, 1, 2, 3)], "HOM")


def test_a_large_level_is_within_the_view(view):
    camera = bpy.data.cameras.new("mine")
    before = camera.clip_end
    report = Report()
    extend_clipping(bpy.context, [square(900)], report)
    assert view.clip_end > 3 * 900 * 2**0.5
    assert view.clip_end / view.clip_start <= 1.001e5
    assert camera.clip_end == before
    assert any("3D views show up to 5091 m now" in line for line in report.lines())
    again = Report()
    extend_clipping(bpy.context, [square(500)], again)
    assert (view.clip_end > 5000, again.lines()) == (True, []), "a view is never made to show less"


def test_a_view_behind_a_file_browser_shows_the_level_too(view):
    area = bpy.context.screen.areas[0]
    area.type = "FILE_BROWSER"
    extend_clipping(bpy.context, [square(900)], Report())
    area.type = "VIEW_3D"
    assert area.spaces.active.clip_end > 5000


@pytest.mark.parametrize("size", [10, 100, float("inf")])
def test_views_stay_as_they_are_where_all_is_seen(view, size):
    extend_clipping(bpy.context, [square(size)], Report())
    assert round(view.clip_end) == 1000
