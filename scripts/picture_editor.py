"""The scene of the picture about the editor's motions: a dropped list of motions, and the panel that shows them."""

from collections.abc import Callable

import bpy
from picture_studio import HERE, Steps, shot, sidebar, there

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


SCENES: list[Callable[[], Steps]] = [editor_motions]
