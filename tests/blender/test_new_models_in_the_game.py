"""A humanoid and a weapon built in Blender, exported as `.ogf` with `.omf`, read by a reader of its own (`raw_poses`).

What the game makes of the files is compared with what Blender shows, vertex by vertex.
"""

import bpy
import numpy as np
import pytest
from mathutils import Euler

from tests.blender import raw_ogf, raw_poses
from tests.blender.scenes import add_object, column

HUMANOID = {
    # bone: parent, head, tail, size of its box
    "bip01_pelvis": ("", (0, 0, 1.0), (0, 0, 1.1), (0.3, 0.2, 0.2)),
    "bip01_spine": ("bip01_pelvis", (0, 0, 1.1), (0, 0.02, 1.5), (0.35, 0.22, 0.35)),
    "bip01_head": ("bip01_spine", (0, 0.02, 1.55), (0, 0, 1.8), (0.18, 0.2, 0.24)),
    "bip01_l_upperarm": ("bip01_spine", (0.22, 0, 1.5), (0.5, 0, 1.45), (0.25, 0.1, 0.1)),
    "bip01_l_hand": ("bip01_l_upperarm", (0.5, 0, 1.45), (0.75, -0.05, 1.4), (0.25, 0.08, 0.06)),
    "bip01_r_upperarm": ("bip01_spine", (-0.22, 0, 1.5), (-0.5, 0, 1.45), (0.25, 0.1, 0.1)),
    "bip01_r_hand": ("bip01_r_upperarm", (-0.5, 0, 1.45), (-0.75, -0.05, 1.4), (0.25, 0.08, 0.06)),
    "bip01_l_thigh": ("bip01_pelvis", (0.1, 0, 1.0), (0.12, -0.02, 0.5), (0.13, 0.15, 0.45)),
    "bip01_r_thigh": ("bip01_pelvis", (-0.1, 0, 1.0), (-0.12, -0.02, 0.5), (0.13, 0.15, 0.45)),
}
WEAPON = {
    "wpn_body": ("", (0, 0, 0), (0, 0.2, 0.02), (0.04, 0.3, 0.12)),
    "bolt": ("wpn_body", (0, 0.1, 0.06), (0, 0.2, 0.06), (0.03, 0.12, 0.03)),
    "magazin": ("wpn_body", (0, 0.02, -0.02), (0.01, 0.05, -0.12), (0.03, 0.05, 0.12)),
    "trigger": ("wpn_body", (0, 0.06, -0.01), (0, 0.07, -0.04), (0.01, 0.02, 0.04)),
}
BOX = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def build(bones):
    """The armature, and a mesh with a box for each bone; the lower half of a box follows the parent by a quarter."""
    data = bpy.data.armatures.new("Rig")
    rig = add_object("Rig", data, active=True)
    bpy.ops.object.mode_set(mode="EDIT")
    for number, (name, (parent, head, tail, _)) in enumerate(bones.items()):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail, bone.roll = head, tail, 0.3 * number
        bone.parent = data.edit_bones.get(parent)
    bpy.ops.object.mode_set(mode="OBJECT")
    middles = [(np.array(head) + tail) / 2 for _, head, tail, _ in bones.values()]
    sizes = [size for *_, size in bones.values()]
    positions = [row for middle, size in zip(middles, sizes, strict=True) for row in (BOX * size + middle).tolist()]
    faces = [[8 * number + corner for corner in side] for number in range(len(bones)) for side in SIDES]
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata(positions, [], faces)
    mesh.uv_layers.new(name="UVMap").uv.foreach_set("vector", np.tile(np.float32([0, 0, 1, 0, 1, 1, 0, 1]), len(faces)))
    for name in ("first", "second"):
        material = bpy.data.materials.new(name)
        material.motionbridge_material.texture = f"act\\{name}"
        mesh.materials.append(material)
    mesh.polygons.foreach_set("material_index", np.repeat(np.arange(len(bones)) % 2, len(SIDES)).astype(np.int32))
    obj = add_object("Skin", mesh)
    obj.parent = rig
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    for name in bones:
        obj.vertex_groups.new(name=name)
    for number, (name, (parent, *_)) in enumerate(bones.items()):
        upper = [8 * number + corner for corner in range(8) if corner % 2]
        lower = [8 * number + corner for corner in range(8) if not corner % 2]
        obj.vertex_groups[name].add(upper, 1.0, "REPLACE")
        obj.vertex_groups[name].add(lower, 0.75 if parent else 1.0, "REPLACE")
        if parent:
            obj.vertex_groups[parent].add(lower, 0.25, "REPLACE")
    return rig, obj


def animate(rig, reach):
    """All bones turn about all axes and move."""
    rig.animation_data_create().action = bpy.data.actions.new("move")
    random = np.random.default_rng(7)
    for frame in (0, 7, 15, 24):
        for bone in rig.pose.bones:
            bone.rotation_quaternion = Euler(random.uniform(-0.8, 0.8, 3)).to_quaternion()
            bone.location = random.uniform(-reach, reach, 3)
            for path in ("rotation_quaternion", "location"):
                bone.keyframe_insert(path, frame=frame)


def shown_vertices(obj, frame):
    """(vertices, 3) as Blender shows them."""
    bpy.context.scene.frame_set(frame)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return column(evaluated.data.vertices, "co", 3).astype(float)


@pytest.mark.parametrize(("bones", "reach", "links"), [(HUMANOID, 0.05, "4"), (WEAPON, 0.03, "2")])
def test_what_the_game_shows_is_what_blender_shows(bones, reach, links, tmp_path):
    rig, obj = build(bones)
    animate(rig, reach)
    bpy.context.view_layer.objects.active = rig
    model, motions = tmp_path / "made.ogf", tmp_path / "made.omf"
    assert bpy.ops.motionbridge.new_game_model() == {"FINISHED"}
    assert bpy.ops.motionbridge.fit_shapes(shape="BOX") == {"FINISHED"}
    assert bpy.ops.export_scene.xray_ogf(filepath=str(model), most_links=links) == {"FINISHED"}
    assert bpy.ops.export_scene.xray_omf(filepath=str(motions)) == {"FINISHED"}
    data = model.read_bytes()
    listed = dict(raw_ogf.bone_names(data))
    assert listed == {name.encode(): parent.encode() for name, (parent, *_) in bones.items()}
    assert sum(len(raw_ogf.triangles(child)) for _, child in raw_ogf.children(data)) == 12 * len(bones)
    own_motions, step = raw_poses.motions(motions.read_bytes())
    local = own_motions[b"move"]
    assert local.keys() == listed.keys()
    still, moved = raw_poses.moved_vertices(data, local)
    source = np.array([vertex.co for vertex in obj.data.vertices])
    apart = np.abs(still[:, None, [0, 2, 1]] - source).max(axis=2)
    nearest = apart.argmin(axis=1)
    assert apart.min(axis=1).max() < 1e-6
    assert set(nearest) == set(range(len(source)))
    # A component of a stored rotation is off by one step at most, a turn so by four; each bone above adds its own.
    depth, size = 4, np.ptp(source, axis=0).max()
    limit = depth * (4 / 32767 * size + step)
    assert limit < 2e-3 * size + 4 * step
    errors = [np.abs(moved[:, frame][:, [0, 2, 1]] - shown_vertices(obj, frame)[nearest]).max() for frame in range(25)]
    assert max(errors) < limit
    # The motion is not lost among the tolerances.
    assert np.abs(moved[:, 7] - moved[:, 0]).max() > 50 * limit
