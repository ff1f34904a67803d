"""The pictures of a new model: its panels, the finding of a check, the file browser of its export."""

from collections.abc import Callable

import bpy
from mathutils import Euler
from picture_studio import HERE, Steps, area, shot, sidebar, there

PANELS = "X-Ray"
CHECKED = 12


def _build(*, textured: bool = True) -> bpy.types.Object:
    """Suzanne, the upper half of whom follows a bone of its own; the armature is active."""
    with there():
        bpy.ops.object.armature_add()
    rig = bpy.context.view_layer.objects.active
    rig.name, rig.data.name = "monkey", "monkey"
    bpy.ops.object.mode_set(mode="EDIT")
    lower = rig.data.edit_bones[0]
    lower.name, lower.head, lower.tail = "neck", (0, 0, 0), (0, 0, 0.8)
    upper = rig.data.edit_bones.new("head")
    upper.head, upper.tail, upper.parent = (0, 0, 0.8), (0, 0, 2.2), lower
    bpy.ops.object.mode_set(mode="OBJECT")
    with there():
        bpy.ops.mesh.primitive_monkey_add(location=(0, 0, 1))
        bpy.ops.object.transform_apply()
    shown = bpy.context.view_layer.objects.active
    for name, above in (("neck", False), ("head", True)):
        chosen = [vertex.index for vertex in shown.data.vertices if (vertex.co.z > 0.9) == above]
        shown.vertex_groups.new(name=name).add(chosen, 1.0, "REPLACE")
    skin = bpy.data.materials.new("skin")
    if textured:
        skin.motionbridge_material.texture = "act\\act_monkey"
    skin.motionbridge_material.shader = "models\\model"
    skin.diffuse_color = (0.75, 0.55, 0.35, 1.0)
    shown.data.materials.append(skin)
    shown.parent = rig
    shown.modifiers.new("Armature", "ARMATURE").object = rig
    for one in bpy.context.view_layer.objects:
        one.select_set(one == rig)
    bpy.context.view_layer.objects.active = rig
    rig.show_in_front = True
    space = area().spaces.active
    space.region_3d.view_rotation = Euler((1.3, 0.0, 0.6)).to_quaternion()
    space.shading.type, space.shading.color_type = "SOLID", "MATERIAL"
    with there():
        bpy.ops.view3d.view_all()
    return rig


def _show_panels(context: str, search: str) -> Steps:
    properties = area("PROPERTIES").spaces.active
    yield 0.5
    properties.context = context
    properties.search_filter = search
    yield 0.7


def new_model() -> Steps:
    """The panel of a model that was just begun, the sidebar beside it."""
    rig = _build()
    yield 0.3
    with there():
        bpy.ops.motionbridge.new_game_model()
        rig.motionbridge_editor_model.references.add().name = "actors\\monkey"
        rig.motionbridge_editor_model.user_data = "[sound]\r\nvoice = characters_voice\\monkey\r\n"
        bpy.ops.motionbridge.fit_shapes(shape="BOX")
    yield from _show_panels("OBJECT", "X-Ray Editor Model")
    yield from sidebar()
    yield from shot("new_model")


def new_model_bone() -> Steps:
    """A bone with a box and a joint that bends."""
    rig = _build()
    with there():
        bpy.ops.motionbridge.new_game_model()
        bpy.ops.motionbridge.fit_shapes(shape="BOX")
        rig.data.bones.active = rig.data.bones["head"]
        bpy.ops.object.mode_set(mode="POSE")
    rig.data.bones["head"].motionbridge_xray.joint = "JOINT"
    yield from _show_panels("BONE", PANELS)
    yield from shot("new_model_bone")


def new_model_check() -> Steps:
    """The check has entered edit mode with the vertices that follow no bone."""
    rig = _build(textured=False)
    with there():
        bpy.ops.motionbridge.new_game_model()
    yield from _show_panels("OBJECT", "X-Ray Editor Model")
    with there():
        bpy.data.objects["Suzanne"].vertex_groups["head"].remove(range(CHECKED))
        bpy.ops.motionbridge.editor_model_check()
    area("PROPERTIES").spaces.active.use_pin_id = True
    area("PROPERTIES").spaces.active.pin_id = rig
    yield 0.7
    yield from shot("new_model_check")


def new_model_export() -> Steps:
    """The file browser with the options of a new model."""
    rig = _build()
    with there():
        bpy.ops.motionbridge.new_game_model()
    rig.animation_data_create().action = bpy.data.actions.new("nod")
    for frame, angle in ((0, 0.0), (20, 0.4)):
        rig.pose.bones["head"].rotation_quaternion = (1, angle, 0, 0)
        rig.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=frame)
    yield 0.3
    target = HERE / "gamedata" / "meshes" / "samples" / "monkey.ogf"
    with there():
        bpy.ops.export_scene.xray_ogf("INVOKE_DEFAULT", filepath=str(target), motions_inside=True)
    yield 1.2
    yield from shot("new_model_export")


SCENES: list[Callable[[], Steps]] = [new_model, new_model_check, new_model_export, new_model_bone]
