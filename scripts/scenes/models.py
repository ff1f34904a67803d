"""Scenes for the pictures of X-Ray models: files of the editor, and creating a new model."""

from typing import Any

import bpy
from mathutils import Euler

from .studio import (
    HERE,
    SAMPLES,
    Steps,
    activate,
    active,
    drop,
    invoke,
    load,
    open_sidebar,
    picture,
    show_panels,
    space,
)

CHECKED = 12
"""Number of vertices that follow no bone."""
WRITTEN = HERE / "loner.skls"


# ---- the editor's files


def _write_motions() -> None:
    load("loner.ogf")
    load("loner.omf")
    bpy.ops.export_scene.xray_skl(filepath=str(WRITTEN), choose="ALL")
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.actions])


def _show_motions() -> None:
    load("loner.ogf")
    bpy.ops.view3d.view_selected()
    load(WRITTEN, match_scene=True)
    opened = bpy.types.MOTIONBRIDGE_PT_editor_motions_v
    bpy.utils.unregister_class(opened)  # to show it above the panel of all motions
    opened.bl_order = 0
    bpy.utils.register_class(opened)


def _show_panel() -> Steps:
    return show_panels("OBJECT", "X-Ray Editor Model")


def _show_editor_model() -> Steps:
    load("weapon.object")
    bpy.ops.view3d.view_selected()
    space().shading.type = "SOLID"
    return _show_panel()


def _mesh_of(rig: Any) -> Any:
    return next(child for child in rig.children if child.type == "MESH")


def _free_two_vertices() -> None:
    for group in _mesh_of(active()).vertex_groups:
        group.remove([2, 3])


def _edit_model() -> None:
    rig = active()
    _mesh_of(rig).data.vertices[2].co.z += 0.1
    rig.data.bones[1].motionbridge_xray.mass = 3.5
    rig.animation_data.action.motionbridge_motion.speed = 1.5


# ---- a new model


def _begin_model(*, textured: bool = True) -> Any:
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
    obj = active()
    for name, above in (("neck", False), ("head", True)):
        chosen = [vertex.index for vertex in obj.data.vertices if (vertex.co.z > 0.9) == above]
        obj.vertex_groups.new(name=name).add(chosen, 1.0, "REPLACE")
    skin = bpy.data.materials.new("skin")
    skin.motionbridge_material.texture = "act\\act_monkey" if textured else ""
    skin.motionbridge_material.shader = "models\\model"
    skin.diffuse_color = (0.75, 0.55, 0.35, 1.0)
    obj.data.materials.append(skin)
    obj.parent = rig
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    activate(rig)
    rig.show_in_front = True
    space().region_3d.view_rotation = Euler((1.3, 0.0, 0.6)).to_quaternion()
    space().shading.type, space().shading.color_type = "SOLID", "MATERIAL"
    bpy.ops.view3d.view_all()
    bpy.ops.motionbridge.new_game_model()
    return rig


def _describe_model() -> None:
    rig = _begin_model()
    rig.motionbridge_editor_model.references.add().name = "actors\\monkey"
    rig.motionbridge_editor_model.user_data = "[sound]\r\nvoice = characters_voice\\monkey\r\n"
    bpy.ops.motionbridge.fit_shapes(shape="BOX")


def _check_model() -> Steps:
    rig = _begin_model(textured=False)
    yield from _show_panel()
    _mesh_of(rig).vertex_groups["head"].remove(range(CHECKED))
    bpy.ops.motionbridge.editor_model_check()
    space("PROPERTIES").use_pin_id = True
    space("PROPERTIES").pin_id = rig


def _animate_model() -> None:
    rig = _begin_model()
    rig.animation_data_create().action = bpy.data.actions.new("nod")
    for frame, angle in ((0, 0.0), (20, 0.4)):
        rig.pose.bones["head"].rotation_quaternion = (1, angle, 0, 0)
        rig.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=frame)


def _browse() -> None:
    bpy.ops.export_scene.xray_ogf("INVOKE_DEFAULT", filepath=str(SAMPLES / "monkey.ogf"), motions_inside=True)


def _shape_bones() -> None:
    bones = _begin_model().data.bones
    bpy.ops.motionbridge.fit_shapes(shape="BOX")
    bones.active = bones["head"]
    bpy.ops.object.mode_set(mode="POSE")
    bones["head"].motionbridge_xray.joint = "JOINT"


SCENES = (
    picture("editor_motions", _write_motions, 0.3, _show_motions, open_sidebar, lambda: drop(WRITTEN)),
    # The check selects what the editor refuses: two vertices that follow no bone.
    picture("editor_model", _show_editor_model, _free_two_vertices, bpy.ops.motionbridge.editor_model_check),
    picture("editor_model_save", _show_editor_model, _edit_model, invoke("editor_model_save_back")),
    picture("new_model", _describe_model, _show_panel, sidebar=True),
    picture("new_model_check", _check_model),
    picture("new_model_export", _animate_model, 0.3, _browse),
    picture("new_model_bone", _shape_bones, lambda: show_panels("BONE", "X-Ray")),
)
