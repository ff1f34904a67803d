"""Scenes for the pictures of X-Ray models: files of the editor, and creating a new model."""

from typing import Any

import bpy
from mathutils import Euler
from picture_studio import HERE, SAMPLES, Steps, activate, active, drop, load, open_sidebar, picture, show_panels, space

EDITOR_MODEL = "X-Ray Editor Model"
CHECKED = 12
"""Number of vertices that follow no bone."""


# ---- the editor's files


@picture("editor_motions")
def editor_motions() -> Steps:
    """Show the dialog of a dropped file, beside the panel with the motions imported before."""
    written = HERE / "humanoid.skls"
    load("humanoid.ogf")
    load("humanoid.omf")
    bpy.ops.export_scene.xray_skl(filepath=str(written), choose="ALL")
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.actions])
    yield 0.3
    load("humanoid.ogf")
    bpy.ops.view3d.view_selected()
    load(written, match_scene=True)
    opened = bpy.types.MOTIONBRIDGE_PT_editor_motions_v
    # Show it above the panel of all motions.
    bpy.utils.unregister_class(opened)
    opened.bl_order = 0
    bpy.utils.register_class(opened)
    yield from open_sidebar()
    yield from drop(written)


def show_editor_model() -> Steps:
    """Load a model and show only its panel."""
    load("weapon.object")
    bpy.ops.view3d.view_selected()
    space().shading.type = "SOLID"
    yield from show_panels("OBJECT", EDITOR_MODEL)


def mesh_of(rig: Any) -> Any:
    """Return the mesh object that is a child of an armature."""
    return next(one for one in rig.children if one.type == "MESH")


@picture("editor_model")
def editor_model() -> Steps:
    """Run the check, which selects what the editor refuses: two vertices that follow no bone."""
    yield from show_editor_model()
    for group in mesh_of(active()).vertex_groups:
        group.remove([2, 3])
    bpy.ops.motionbridge.editor_model_check()


@picture("editor_model_save")
def editor_model_save() -> Steps:
    """Show the preview of saving a model with its motions."""
    yield from show_editor_model()
    rig = active()
    mesh_of(rig).data.vertices[2].co.z += 0.1
    rig.data.bones[1].motionbridge_xray.mass = 3.5
    rig.animation_data.action.motionbridge_motion.speed = 1.5
    bpy.ops.motionbridge.editor_model_save_back("INVOKE_DEFAULT")


# ---- a new model


def begin_model(*, textured: bool = True) -> Any:
    """Create a new game model of Suzanne; her upper half follows a bone of its own. The armature is active."""
    bpy.ops.object.armature_add()
    rig = active()
    rig.name = rig.data.name = "monkey"
    bpy.ops.object.mode_set(mode="EDIT")
    lower = rig.data.edit_bones[0]
    lower.name, lower.head, lower.tail = "neck", (0, 0, 0), (0, 0, 0.8)
    upper = rig.data.edit_bones.new("head")
    upper.head, upper.tail, upper.parent = (0, 0, 0.8), (0, 0, 2.2), lower
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.mesh.primitive_monkey_add(location=(0, 0, 1))
    bpy.ops.object.transform_apply()
    shown = active()
    for name, above in (("neck", False), ("head", True)):
        chosen = [vertex.index for vertex in shown.data.vertices if (vertex.co.z > 0.9) == above]
        shown.vertex_groups.new(name=name).add(chosen, 1.0, "REPLACE")
    skin = bpy.data.materials.new("skin")
    skin.motionbridge_material.texture = "act\\act_monkey" if textured else ""
    skin.motionbridge_material.shader = "models\\model"
    skin.diffuse_color = (0.75, 0.55, 0.35, 1.0)
    shown.data.materials.append(skin)
    shown.parent = rig
    shown.modifiers.new("Armature", "ARMATURE").object = rig
    activate(rig)
    rig.show_in_front = True
    space().region_3d.view_rotation = Euler((1.3, 0.0, 0.6)).to_quaternion()
    space().shading.type, space().shading.color_type = "SOLID", "MATERIAL"
    bpy.ops.view3d.view_all()
    bpy.ops.motionbridge.new_game_model()
    return rig


@picture("new_model", sidebar=True)
def new_model() -> Steps:
    """Show the panel of a model that was just created, beside the sidebar."""
    rig = begin_model()
    rig.motionbridge_editor_model.references.add().name = "actors\\monkey"
    rig.motionbridge_editor_model.user_data = "[sound]\r\nvoice = characters_voice\\monkey\r\n"
    bpy.ops.motionbridge.fit_shapes(shape="BOX")
    yield from show_panels("OBJECT", EDITOR_MODEL)


@picture("new_model_check")
def new_model_check() -> Steps:
    """Run the check, which enters edit mode and selects the vertices that follow no bone."""
    rig = begin_model(textured=False)
    yield from show_panels("OBJECT", EDITOR_MODEL)
    mesh_of(rig).vertex_groups["head"].remove(range(CHECKED))
    bpy.ops.motionbridge.editor_model_check()
    space("PROPERTIES").use_pin_id = True
    space("PROPERTIES").pin_id = rig


@picture("new_model_export")
def new_model_export() -> Steps:
    """Show the file browser with the export options of a new model."""
    rig = begin_model()
    rig.animation_data_create().action = bpy.data.actions.new("nod")
    for frame, angle in ((0, 0.0), (20, 0.4)):
        rig.pose.bones["head"].rotation_quaternion = (1, angle, 0, 0)
        rig.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=frame)
    yield 0.3
    bpy.ops.export_scene.xray_ogf("INVOKE_DEFAULT", filepath=str(SAMPLES / "monkey.ogf"), motions_inside=True)


@picture("new_model_bone")
def new_model_bone() -> Steps:
    """Show the panel of a bone with a box shape and a joint with limits."""
    bones = begin_model().data.bones
    bpy.ops.motionbridge.fit_shapes(shape="BOX")
    bones.active = bones["head"]
    bpy.ops.object.mode_set(mode="POSE")
    bones["head"].motionbridge_xray.joint = "JOINT"
    yield from show_panels("BONE", "X-Ray")
