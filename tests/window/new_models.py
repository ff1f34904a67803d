"""New models of the games in a window: Suzanne with an armature is set up, checked, given shapes and bones, exported.

A box becomes the Geometry LOD of an Arma model.
"""

from pathlib import Path
from typing import Any

import bpy

from addon.core.report import Report
from addon.formats.arma import p3d
from addon.formats.xray import ogf
from addon.formats.xray.ogf.chunk_types import BoneNames, IkData, Indices
from addon.formats.xray.ogf.document import motion_set_of
from tests.formats.xray.level_bytes import chunk, words
from tests.window import stage
from tests.window.stage import Steps


def suzanne() -> Any:
    """A monkey that follows two bones, one for each half; its armature."""
    with stage.there():
        bpy.ops.object.armature_add()
    rig = bpy.context.view_layer.objects.active
    rig.name = "Body"
    bpy.ops.object.mode_set(mode="EDIT")
    lower = rig.data.edit_bones[0]
    lower.name = "hips"
    upper = rig.data.edit_bones.new("head")
    upper.head, upper.tail, upper.parent = (0, 0, 1), (0, 0, 2), lower
    bpy.ops.object.mode_set(mode="OBJECT")
    with stage.there():
        bpy.ops.mesh.primitive_monkey_add(location=(0, 0, 1))
        bpy.ops.object.transform_apply()
    obj = bpy.context.view_layer.objects.active
    high = [vertex.co.z > 1 for vertex in obj.data.vertices]
    for name, wanted in (("hips", False), ("head", True)):
        chosen = [number for number, entry in enumerate(high) if entry == wanted]
        obj.vertex_groups.new(name=name).add(chosen, 1.0, "REPLACE")
    skin = bpy.data.materials.new("Skin")
    skin.motionbridge_material.texture = "act\\monkey"
    obj.data.materials.append(skin)
    obj.parent = rig
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    select(rig)
    action = rig.animation_data_create().action = bpy.data.actions.new("nod")
    assert action is not None
    for frame, angle in ((0, 0.0), (20, 0.5)):
        rig.pose.bones["head"].rotation_quaternion = (1, angle, 0, 0)
        rig.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=frame)
    settle("Build")
    return rig


def select(obj: Any) -> None:
    """Alone, and active."""
    for other in bpy.context.view_layer.objects:
        other.select_set(other == obj)
    bpy.context.view_layer.objects.active = obj


def settle(message: str) -> None:
    """Nothing is said yet; what was done is a step of undo."""
    stage.forget_reports()
    stage.step(message)


def made_into_a_model() -> Steps:
    """New X-Ray Model, Fit Shapes to Mesh; undone one by one."""
    suzanne()
    stage.invoke("motionbridge.new_game_model")
    yield from stage.reported()
    assert "Body is an X-Ray model now, see Properties > Object; new bones: 2" in stage.sentence(), stage.sentence()
    stage.step("New X-Ray Model")
    stage.forget_reports()
    stage.invoke("motionbridge.fit_shapes", shape="SPHERE")
    yield from stage.reported()
    stage.step("Fit Shapes to Mesh")
    bones = bpy.data.objects["Body"].data.bones
    assert [bone.motionbridge_xray.shape for bone in bones] == ["SPHERE", "SPHERE"]
    yield from stage.undo()
    bones = bpy.data.objects["Body"].data.bones
    assert [bone.motionbridge_xray.shape for bone in bones] == ["NONE", "NONE"]
    yield from stage.undo()
    assert not bpy.data.objects["Body"].motionbridge_editor_model.is_made
    yield from stage.redo()
    assert bpy.data.objects["Body"].motionbridge_editor_model.is_made


def new_model() -> Any:
    """Suzanne's armature as a model."""
    rig = suzanne()
    stage.call("motionbridge.new_game_model")
    settle("New X-Ray Model")
    return rig


def read(path: Path) -> Any:
    """What was written."""
    return ogf.read(path.read_bytes(), path.name, Report())


def exported_with_motions_inside() -> Steps:
    """The browser's button writes the model; it can be imported again, undone, and exported again."""
    new_model()
    path = stage.folder() / "monkey.ogf"
    yield from stage.choose("export_scene.xray_ogf", path, motions_inside=True)
    yield from stage.reported()
    assert stage.sentence().startswith("monkey.ogf: "), stage.sentence()
    document = read(path)
    assert [bone.name for bone in document.first(BoneNames).bones] == [b"hips", b"head"]
    assert [motion.name for motion in motion_set_of(document).library.motions] == [b"nod"]
    assert len(document.children[0].first(Indices).corners) == 3 * 968
    yield from stage.undo()
    assert not bpy.data.objects["Body"].motionbridge_editor_model.is_made
    yield from stage.redo()
    stage.forget_reports()
    yield from stage.choose("export_scene.xray_ogf", path, motions_inside=True)
    yield from stage.reported()
    bodies = [
        [bytes(section.chunk.body) for section in created.sections if section.chunk.id != 18]
        for created in (document, read(path))
    ]
    assert bodies[0] == bodies[1], "the second export differs by more than its date"


def exported_where_nothing_can_be_written() -> Steps:
    """A link to itself: one sentence, and nothing is left behind."""
    new_model()
    target = stage.folder() / "loop.ogf"
    target.symlink_to(target)
    yield from stage.choose("export_scene.xray_ogf", target)
    yield from stage.until(stage.reports, "a report")
    yield
    assert len(stage.reports()) == 1, stage.reports()
    assert [path.name for path in stage.folder().iterdir()] == ["loop.ogf"]


def bones_as_in_a_model() -> Steps:
    """The browser's button; undone."""
    rig = new_model()
    source = stage.sample("humanoid.omf")
    yield from stage.choose("motionbridge.bones_as", source)
    yield from stage.reported()
    assert "Bones in the order of humanoid.omf" in stage.sentence(), stage.sentence()
    rig = bpy.data.objects["Body"]
    assert len(rig.motionbridge_editor_model.parts)
    yield from stage.undo()
    assert not len(bpy.data.objects["Body"].motionbridge_editor_model.parts)


def game_material_chosen() -> Steps:
    """The dialog and its button: the list has the dynamic material alone."""
    rig = new_model()
    listed = [
        chunk(number, chunk(0x1000, words(number), name + b"\0"), chunk(0x1001, words(flags)))
        for number, (name, flags) in enumerate(((b"objects\\monkey", 1 << 8), (b"materials\\earth", 0)))
    ]
    (stage.folder() / "gamemtl.xr").write_bytes(chunk(0x1000, b"\1\0") + chunk(0x1002, *listed))
    preferences = bpy.context.preferences.addons["bl_ext.dev.motionbridge"].preferences
    preferences.known_games.add().folder = str(stage.folder())
    try:
        rig.data.bones.active = rig.data.bones["head"]
        stage.invoke("motionbridge.choose_game_material", target="BONE", material_name="objects\\monkey")
        yield
        yield from stage.confirm()
        yield from stage.reported()
    finally:
        preferences.known_games.clear()
    assert bpy.data.objects["Body"].data.bones["head"].motionbridge_xray.material == "objects\\monkey"
    path = stage.folder() / "monkey.ogf"
    stage.call("export_scene.xray_ogf", filepath=str(path))
    assert read(path).first(IkData).bones[1].material == b"objects\\monkey"


def meshes_replaced() -> Steps:
    """Other meshes for an imported model; what is no geometry keeps its bytes."""
    path = stage.sample("humanoid.ogf")
    stage.call("import_scene.xray_ogf", filepath=str(path))
    rig = bpy.data.objects["humanoid"]
    bones = rig.data.bones.keys()
    for obj in [
        target for target in bpy.context.scene.objects if target.type == "MESH" and target.find_armature() == rig
    ]:
        bpy.data.objects.remove(obj)
    with stage.there():
        bpy.ops.mesh.primitive_monkey_add()
    monkey = bpy.context.view_layer.objects.active
    monkey.vertex_groups.new(name=bones[0]).add(range(len(monkey.data.vertices)), 1.0, "REPLACE")
    monkey.parent = rig
    monkey.modifiers.new("Armature", "ARMATURE").object = rig
    skin = bpy.data.materials.new("Skin")
    skin.motionbridge_material.texture, skin.motionbridge_material.shader = "act\\monkey", "models\\model"
    skin.motionbridge_surface.two_sided = True
    monkey.data.materials.append(skin)
    settle("Replace")
    before = read(path)
    select(rig)
    yield from stage.choose("export_scene.xray_ogf", path, replace_meshes=True)
    yield from stage.reported()
    after = read(path)
    assert [len(child.first(Indices).corners) for child in after.children] == [2 * 3 * 968], stage.sentence()
    kept = [
        [bytes(section.chunk.body) for section in created.sections if section.chunk.id not in {1, 9}]
        for created in (before, after)
    ]
    assert kept[0] == kept[1]


def wrong_weights_found_and_selected() -> Steps:
    """The check enters edit mode with the vertices that follow no bone; a scaled armature is said."""
    rig = new_model()
    monkey = bpy.data.objects["Suzanne"]
    monkey.vertex_groups["head"].remove([5, 6, 7])
    monkey.vertex_groups["hips"].remove([5, 6, 7])
    rig.scale = (-1, 1, 1)
    settle("Damage")
    stage.invoke("motionbridge.editor_model_check")
    yield from stage.reported()
    assert bpy.context.mode == "EDIT_MESH", bpy.context.mode
    message = str(bpy.context.window_manager.motionbridge_report)
    assert "the object is scaled (-1, 1, 1)" in message, message
    bpy.ops.object.mode_set(mode="OBJECT")
    chosen = [vertex.index for vertex in bpy.data.objects["Suzanne"].data.vertices if vertex.select]
    assert chosen == [5, 6, 7], chosen
    path = stage.folder() / "monkey.ogf"
    stage.forget_reports()
    select(bpy.data.objects["Body"])
    yield from stage.choose("export_scene.xray_ogf", path)
    yield from stage.until(stage.reports, "a report")
    assert "not assigned to a bone: 3 of 507" in stage.reports()[0], stage.reports()
    assert not path.exists()


def arma_geometry_checked_and_finished() -> Steps:
    """Components and a mass are missing; both are made, undone, made again and exported."""
    with stage.there():
        bpy.ops.mesh.primitive_cube_add()
        bpy.ops.motionbridge.arma_set_lod(kind="GEOMETRY")
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.primitive_uv_sphere_add(segments=8, ring_count=5, location=(4, 0, 0))
        bpy.ops.mesh.delete(type="ONLY_FACE")
    settle("Build")
    stage.invoke("motionbridge.arma_model_check")
    yield from stage.reported()
    message = str(bpy.context.window_manager.motionbridge_report)
    assert "it has no components" in message, message
    assert bpy.context.mode == "EDIT_MESH", bpy.context.mode
    with stage.there():
        bpy.ops.object.mode_set(mode="OBJECT")
    settle("Leave Edit Mode")
    stage.invoke("motionbridge.arma_find_components")
    yield from stage.reported()
    assert stage.sentence() == "Components of Cube: 1", stage.sentence()
    stage.step("Find Components")
    stage.forget_reports()
    stage.invoke("motionbridge.arma_set_mass")
    yield
    yield from stage.confirm()
    yield from stage.reported()
    assert stage.sentence() == "Cube has a mass of 100 kg", stage.sentence()
    for again, groups in (
        (stage.undo, ["Component01"]),
        (stage.undo, []),
        (stage.redo, ["Component01"]),
        (stage.redo, None),
    ):
        yield from again()
        cube = bpy.data.objects["Cube"]
        assert groups is None or [group.name for group in cube.vertex_groups] == groups, again
    stage.forget_reports()
    stage.invoke("motionbridge.arma_model_check")
    yield from stage.reported()
    assert stage.sentence() == "No errors or warnings found", stage.sentence()
    path = stage.folder() / "box.p3d"
    stage.forget_reports()
    yield from stage.choose("export_scene.arma_p3d", path)
    yield from stage.reported()
    (lod,) = p3d.read(path.read_bytes(), path.name, Report()).lods
    assert [name for name, _, _ in lod.selections()] == ["Component01"]
    (mass,) = (tag.data for tag in lod.tags if tag.name == b"#Mass#")
    assert len(mass) == 4 * len(lod.points)


SCENES = [
    (f"new model: {scene.__name__.replace('_', ' ')}", scene)
    for scene in (
        made_into_a_model,
        exported_with_motions_inside,
        exported_where_nothing_can_be_written,
        bones_as_in_a_model,
        game_material_chosen,
        meshes_replaced,
        wrong_weights_found_and_selected,
        arma_geometry_checked_and_finished,
    )
]
