"""The animated picture of the README: drop a model and 231 motions, play one, edit it, save it back."""

import bpy
from mathutils import Quaternion
from picture_studio import SAMPLES, Steps, area, drop, film_frame, key, load, sidebar, there, window

MOTIONS = 231


def film() -> Steps:
    """From an empty scene to the sentence of what was saved."""
    _make_library()
    bpy.ops.wm.read_homefile(use_empty=False, use_factory_startup=True, app_template="")
    bpy.data.batch_remove(list(bpy.data.objects))
    yield 0.7
    yield from film_frame("film", 80)
    drop("humanoid.ogf")
    yield 1.0
    yield from film_frame("film", 120)
    yield from key("RET")
    yield 1.0
    with there():
        bpy.ops.view3d.view_selected()
    area().spaces.active.shading.color_type = "TEXTURE"
    yield from sidebar()
    yield from film_frame("film", 80)
    drop("library.omf")
    yield 1.0
    yield from film_frame("film", 180)
    yield from key("RET")
    while len(bpy.data.actions) < MOTIONS:
        yield 0.5
    yield 1.0
    rig = bpy.context.view_layer.objects.active
    rig.animation_data.action = bpy.data.actions["walk"]
    for frame in (*range(0, 25, 3), *range(0, 9, 3)):
        bpy.context.scene.frame_set(frame)
        yield from film_frame("film", 12)
    yield from _turn_the_head(rig)
    yield 1.0
    yield from film_frame("film", 120)
    with there():
        bpy.ops.motionbridge.save_back("INVOKE_DEFAULT")
    while window().modal_operators:  # until its dialog opens
        yield 0.5
    yield 1.5
    yield from film_frame("film", 300)
    yield from key("RET")
    yield 1.0
    yield from film_frame("film", 250)


def _turn_the_head(rig: bpy.types.Object) -> Steps:
    head = next(bone for bone in rig.pose.bones if "head" in bone.name)
    before, after = head.rotation_quaternion.copy(), Quaternion((0.9, 0.0, 0.0, 0.43))
    for step in range(1, 6):
        head.rotation_quaternion = before.slerp(before @ after.normalized(), step / 5)
        yield from film_frame("film", 10)
    head.keyframe_insert("rotation_quaternion", frame=bpy.context.scene.frame_current)


def _make_library() -> None:
    """A file of many motions: copies of the sample's."""
    load("humanoid.ogf", "humanoid.omf")
    rig = bpy.context.view_layer.objects.active
    listed = list(bpy.data.actions)
    for number in range(MOTIONS - len(listed)):
        source = listed[number % len(listed)]
        copy = source.copy()
        copy.name = f"{source.name}_{number // len(listed) + 2:02}"
        copy.use_fake_user = True
        rig.animation_data.action = copy
        with there():
            bpy.ops.motionbridge.add_motion()
    with there():
        bpy.ops.export_scene.xray_omf(filepath=str(SAMPLES / "library.omf"))
