"""Names that fields of an Arma model suggest: named properties, values, points, proxies, penetration materials."""

import bpy
import pytest

from addon.games.arma import properties
from tests.blender.test_p3d_check import material
from tests.blender.test_p3d_export import cube


@pytest.fixture
def geometry():
    obj = cube("crate")
    obj.motionbridge_arma_level.is_level, obj.motionbridge_arma_level.resolution = True, 1e13
    row = obj.motionbridge_arma_level.properties.add()
    row.name, row.value = "Class", "house"
    return obj


def test_named_properties_of_the_kind_of_lod_are_suggested(geometry):
    suggested = properties.suggested_properties(geometry, "")
    assert "autocenter" in suggested
    assert not {"class", "lodnoshadow"} & set(suggested), "it has the first one; the second one is for what is drawn"
    assert properties.suggested_properties(geometry, "CLASS")[0] == "class", "the field of a row has its own name"
    assert properties.suggested_properties(geometry, "occlu") == ["canbeoccluded", "canocclude"]
    geometry.motionbridge_arma_level.resolution = 1
    assert properties.suggested_properties(geometry, "") == ["lodnoshadow"]
    assert properties.suggested_properties(None, "") == []
    assert properties.suggested_values("SBSource", "shadow") == ["shadowvolume"]
    assert "vehicle" in properties.suggested_values("class", "house"), "a value of the list can be exchanged"


def test_proxies_and_points_in_the_file_come_first(geometry):
    for kind, name in (("PROXY", "p\\gun.007"), ("PROXY", "p\\gun.001"), ("PROXY", "p\\x.p3d"), ("POINT", "axis")):
        empty = bpy.data.objects.new(name, None)
        empty.motionbridge_arma_mark.kind, empty.motionbridge_arma_mark.game_name = kind, name
    assert properties.suggested_marks("PROXY", "")[:2] == ["p\\gun.001", "a3\\data_f\\proxies\\weapon_slots\\top.001"]
    assert properties.suggested_marks("POINT", "")[:2] == ["axis", "boundingbox_min"]


def test_the_material_file_of_an_arma_material_is_the_one_that_is_written(geometry):
    surface = material("metal")
    geometry.data.materials.append(surface)
    surface.motionbridge_arma_rvmat = "p\\my.rvmat"
    assert surface.motionbridge_material.shader == "p\\my.rvmat"
    suggested = properties._suggested_materials(surface, bpy.context, "")
    assert suggested[0] == "a3\\data_f\\penetration\\metal.rvmat"
    assert suggested[-1] == "p\\my.rvmat"
    geometry.motionbridge_arma_level.resolution = 1
    assert properties._suggested_materials(surface, bpy.context, "P\\") == ["p\\my.rvmat"]
