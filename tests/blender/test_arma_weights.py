"""Clean Up Weights: what changes in the scene and in the file."""

import bpy

from addon.core.report import Report
from addon.formats.arma import p3d
from addon.games.arma import model_export
from addon.games.arma.options import ModelExportOptions
from addon.ui.arma import models
from tests.blender.test_ui import last_report


def planned():
    chosen = models.chosen_model(bpy.context)
    return model_export.preview(bpy.context, chosen, ModelExportOptions(), Report())


def test_only_vertices_that_the_game_stores_differently_change(samples):
    path = samples / "arma" / "man.p3d"
    bpy.ops.import_scene.arma_p3d(filepath=str(path), rig="NEW")
    obj = bpy.context.view_layer.objects.active
    assert bpy.ops.motionbridge.arma_clean_weights() == {"CANCELLED"}
    assert planned().data == path.read_bytes()
    bones = [group for group in obj.vertex_groups if group.name in obj.find_armature().data.bones]
    assert len(bones) > 4
    for number, group in enumerate(bones[:5]):
        group.add([7], 0.5 - number / 20, "REPLACE")
    own = obj.vertex_groups.new(name="camo")
    own.add([7], 0.3, "REPLACE")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.motionbridge.arma_clean_weights() == {"FINISHED"}
    assert last_report()[0] == "the weights of 1 vertex change in 1 LOD"
    names = {obj.vertex_groups[member.group].name: member.weight for member in obj.data.vertices[7].groups}
    assert names.pop("camo") == obj.vertex_groups["camo"].weight(7)
    assert [*names] == [group.name for group in bones[:4]]
    assert sum(names.values()) == 1
    before, after = (p3d.read(data, "", Report()).lods[0] for data in (path.read_bytes(), planned().data))
    old, new = p3d.selection_weights(before), p3d.selection_weights(after)
    changed = {int(point) for name in old for point in (old[name] != new[name]).nonzero()[0]}
    assert changed <= {7}
    assert bpy.ops.motionbridge.arma_clean_weights() == {"CANCELLED"}
