"""Numbers and names that declarations of properties repeat, so that nothing has to be loaded for them."""

import bpy

from addon.formats.descent3.oof.model import NEW
from addon.formats.xray import occluders
from addon.formats.xray.omf import document
from addon.games.descent3.model_properties import DescentPartProperties, DescentPointProperties
from addon.games.xray.levels import geometry as level_geometry
from addon.games.xray.motions import properties as motion_properties
from addon.games.xray.options import Split
from addon.ui.xray import levels


def test_flags_of_motions_are_the_files():
    declared = {item[0]: item[3] for item in motion_properties.FLAG_ITEMS}
    assert declared == {flag.name: flag.value for flag in document.MotionFlag}
    assert motion_properties.ALL_PARTITIONS == document.ALL_PARTITIONS


def test_the_import_of_levels_offers_what_its_options_know():
    properties = bpy.ops.import_scene.xray_level_geometry.get_rna_type().properties
    assert set(properties["split"].enum_items.keys()) == set(Split.__members__)
    assert round(properties["weld_distance"].default, 6) == occluders.ENGINE_MERGES_WITHIN


def test_kinds_of_new_level_meshes_have_defaults():
    assert {item[0] for item in levels.NEW_KINDS} == set(level_geometry.DEFAULTS)


def test_parts_and_points_that_are_in_no_file_have_the_files_number_for_it():
    for kind in (DescentPartProperties, DescentPointProperties):
        assert kind.bl_rna.properties["source"].default == NEW
