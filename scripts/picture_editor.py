"""The pictures of the editor's files: a dropped list of motions, a model's panel with its check, its Save Back."""

from collections.abc import Callable

import bpy
from picture_studio import HERE, Steps, area, shot, sidebar, there

MODEL = HERE / "gamedata" / "meshes" / "samples" / "humanoid"


def editor_motions() -> Steps:
    """The dialog of a dropped file, beside the panel with the motions that came before."""
    written = HERE / "humanoid.skls"
    with there():
        bpy.ops.import_scene.xray_ogf(filepath=str(MODEL.with_suffix(".ogf")))
        bpy.ops.import_scene.xray_omf(filepath=str(MODEL.with_suffix(".omf")))
        bpy.ops.export_scene.xray_skl(filepath=str(written), choose="ALL")
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.actions])
    yield 0.3
    with there():
        bpy.ops.import_scene.xray_ogf(filepath=str(MODEL.with_suffix(".ogf")))
        bpy.ops.view3d.view_selected()
        bpy.ops.import_scene.xray_skl(filepath=str(written), match_scene=True)
    opened = bpy.types.MOTIONBRIDGE_PT_skeletal_v
    # Panels remember that they are closed: a new one with another place and no such option is open.
    bpy.utils.unregister_class(opened)
    opened.bl_options, opened.bl_order = set(), 0
    bpy.utils.register_class(opened)
    yield from sidebar()
    with there():
        bpy.ops.wm.drop_import_file("INVOKE_DEFAULT", directory=str(HERE), files=[{"name": written.name}])
    yield 1.0
    yield from shot("editor_motions")


def _load_model() -> Steps:
    """A model whose panel is shown, the mesh of which has two vertices that follow no bone."""
    with there():
        bpy.ops.import_scene.xray_object(filepath=str(MODEL.with_name("weapon.object")))
        bpy.ops.view3d.view_selected()
    properties = area("PROPERTIES")
    yield 0.5
    properties.spaces.active.context = "OBJECT"
    properties.spaces.active.search_filter = "X-Ray Editor Model"  # no other panel
    area().spaces.active.shading.type = "SOLID"
    yield 0.5


def editor_model() -> Steps:
    """The check has selected what the editor refuses."""
    yield from _load_model()
    rig = bpy.context.view_layer.objects.active
    shown = next(one for one in rig.children if one.type == "MESH")
    for group in shown.vertex_groups:
        group.remove([2, 3])
    with there():
        bpy.ops.motionbridge.editor_model_check()
    yield 0.7
    yield from shot("editor_model")


def editor_model_save() -> Steps:
    """The preview of a model that is saved with its motions."""
    yield from _load_model()
    rig = bpy.context.view_layer.objects.active
    shown = next(one for one in rig.children if one.type == "MESH")
    shown.data.vertices[2].co.z += 0.1
    rig.data.bones[1].motionbridge_xray.mass = 3.5
    rig.animation_data.action.motionbridge_motion.speed = 1.5
    with there():
        bpy.ops.motionbridge.editor_model_save_back("INVOKE_DEFAULT")
    yield 1.0
    yield from shot("editor_model_save")


SCENES: list[Callable[[], Steps]] = [editor_motions, editor_model, editor_model_save]
