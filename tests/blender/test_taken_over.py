"""Rigs of blender-xray: what it stored is taken over, with it enabled (its classes registered) or without."""

from contextlib import contextmanager

import bpy
import pytest
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from mathutils import Vector

from addon.blender import armature
from addon.core import names
from addon.core.report import Report
from addon.formats.xray import bones
from addon.formats.xray import object as editor_model
from addon.formats.xray.object.chunk_types import Authorship, LodName, ObjectFlags
from addon.formats.xray.ogf.chunk_types import UserData
from tests.blender.scenes import add_object
from tests.blender.test_ui import refusal


class ShapeOfPeer(bpy.types.PropertyGroup):
    type: EnumProperty(items=[(str(number), str(number), "") for number in range(4)])
    flags: EnumProperty(items=[(str(bit), str(bit), "", "NONE", bit) for bit in (1, 2, 4, 8)], options={"ENUM_FLAG"})
    sph_pos: FloatVectorProperty()
    sph_rad: FloatProperty()


class JointOfPeer(bpy.types.PropertyGroup):
    type: EnumProperty(items=[(number, number, "") for number in "401235"])
    lim_x_min: FloatProperty()
    lim_x_max: FloatProperty()


class MassOfPeer(bpy.types.PropertyGroup):
    value: FloatProperty()
    center: FloatVectorProperty()


class BoneOfPeer(bpy.types.PropertyGroup):
    exportable: BoolProperty(default=True)
    gamemtl: StringProperty(default="default_object")
    shape: PointerProperty(type=ShapeOfPeer)
    ikjoint: PointerProperty(type=JointOfPeer)
    mass: PointerProperty(type=MassOfPeer)


class ActionOfPeer(bpy.types.PropertyGroup):
    fps: FloatProperty(default=30)
    flags: IntProperty()
    speed: FloatProperty(default=1)


class MaterialOfPeer(bpy.types.PropertyGroup):
    flags: IntProperty()
    eshader: StringProperty()
    cshader: StringProperty()
    gamemtl: StringProperty()


class ReferenceOfPeer(bpy.types.PropertyGroup):
    pass


class MotionOfPeer(bpy.types.PropertyGroup):
    export_name: StringProperty()


class RevisionOfPeer(bpy.types.PropertyGroup):
    owner: StringProperty()


class ObjectOfPeer(bpy.types.PropertyGroup):
    flags: IntProperty()
    userdata: StringProperty()
    lodref: StringProperty()
    revision: PointerProperty(type=RevisionOfPeer)
    motionrefs_collection: CollectionProperty(type=ReferenceOfPeer)
    motions_collection: CollectionProperty(type=MotionOfPeer)
    use_custom_motion_names: BoolProperty()


NESTED = (ShapeOfPeer, JointOfPeer, MassOfPeer, ReferenceOfPeer, MotionOfPeer, RevisionOfPeer)
OWNERS = {"Bone": BoneOfPeer, "Action": ActionOfPeer, "Material": MaterialOfPeer, "Object": ObjectOfPeer}


@contextmanager
def peer():
    """Blender with the properties of blender-xray."""
    for kind in (*NESTED, *OWNERS.values()):
        bpy.utils.register_class(kind)
    for owner, kind in OWNERS.items():
        getattr(bpy.types, owner).xray = PointerProperty(type=kind)
    try:
        yield
    finally:
        for owner in OWNERS:
            del getattr(bpy.types, owner).xray
        for kind in (*OWNERS.values(), *reversed(NESTED)):
            bpy.utils.unregister_class(kind)


def rig_of_peer(samples):
    """A rig that has nothing of ours, and what blender-xray would have stored on it."""
    assert bpy.ops.import_scene.xray_object(filepath=str(samples / "weapon.object"), textures=False) == {"FINISHED"}
    rig = bpy.context.view_layer.objects.active
    child = next(own_child for own_child in rig.children if own_child.type == "MESH")
    action = rig.animation_data.action
    for block in (rig, child, *child.data.materials, action, *rig.data.bones):
        for name in [entry for entry in dir(block) if entry.startswith("motionbridge_")]:
            if isinstance(getattr(block, name), bpy.types.PropertyGroup):
                block.property_unset(name)
    group = rig.xray
    group.flags, group.userdata, group.lodref, group.revision.owner = 0x11, "[hit]\r\n", "lod\\a", "somebody"
    group.motionrefs_collection.add().name = "actors\\a"
    group.motionrefs_collection.add().name = "actors\\b"
    group.use_custom_motion_names = True
    entry = group.motions_collection.add()
    entry.name, entry.export_name = action.name, "reload_0"
    action.xray.flags, action.xray.speed = 0x02, 1.5
    metal = child.data.materials[0]
    metal.xray.eshader, metal.xray.cshader, metal.xray.gamemtl = (
        "models\\window",
        "def_shaders\\glass",
        "objects\\glass",
    )
    metal.xray.flags = 1
    bone = rig.data.bones[1]
    bone.xray.gamemtl, bone.xray.shape.type, bone.xray.shape.flags = "objects\\knife", "2", {"1", "4"}
    bone.xray.shape.sph_pos, bone.xray.shape.sph_rad = (1, 2, 3), 0.25
    bone.xray.ikjoint.type, bone.xray.ikjoint.lim_x_min, bone.xray.ikjoint.lim_x_max = "2", -0.5, 0.75
    bone.xray.mass.value, bone.xray.mass.center = 4, (0, 0.5, 0)
    return rig, child, action, bone


def check(rig, obj, action, bone):
    """All that the group says is ours now."""
    ours = bone.motionbridge_xray
    assert (ours.is_bone, ours.game_name, ours.index, ours.material) == (True, bone.name, 1, "objects\\knife")
    assert (ours.shape, ours.shape_flags, ours.sphere_radius) == ("SPHERE", {"NO_PICKING", "NO_PHYSICS"}, 0.25)
    assert tuple(ours.sphere_centre) == (1, 2, 3)
    assert (ours.limit_x.lowest, ours.limit_x.highest, ours.mass) == (-0.5, 0.75, 4)
    assert tuple(ours.centre_of_mass) == (0, 0.5, 0)
    metal = obj.data.materials[0]
    message = metal.motionbridge_surface
    assert (message.compiler_shader, message.game_material, message.two_sided) == (
        "def_shaders\\glass",
        "objects\\glass",
        True,
    )
    assert metal.motionbridge_material.shader == "models\\window"
    motion = action.motionbridge_motion
    assert (motion.motion_name, motion.flags, motion.speed) == ("reload_0", {"STOP_AT_END"}, 1.5)
    model = rig.motionbridge_editor_model
    assert (model.flags, model.user_data, model.lod, model.creator) == ("0x11", "[hit]\r\n", "lod\\a", "somebody")
    assert [reference.name for reference in model.references] == ["actors\\a", "actors\\b"]


def test_with_blender_xray_enabled(samples, tmp_path):
    with peer():
        rig, actual, action, bone = rig_of_peer(samples)
        assert bpy.ops.motionbridge.take_over_xray() == {"FINISHED"}
        check(rig, actual, action, bone)
        assert bone.motionbridge_xray.joint == "JOINT"
    path = tmp_path / "new.object"
    assert bpy.ops.export_scene.xray_object(filepath=str(path), sdk="SOC") == {"FINISHED"}
    model = editor_model.read(path.read_bytes(), path.name, Report()).model
    assert model.first(ObjectFlags).flags == 0x11
    assert model.first(UserData).text == b"[hit]\r\n"
    assert model.first(LodName).name == b"lod\\a"
    assert model.first(Authorship).creator == b"somebody"
    assert model.references == [b"actors\\a", b"actors\\b"]
    assert [motion.label for motion in model.motions] == ["reload_0"]
    assert model.surfaces[0].material == b"objects\\glass"
    assert "objects\\knife" in [physics_material(bone) for bone in model.bones]


def test_readable_bones_of_such_a_rig_change_no_file(samples, tmp_path, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 1.7e9)  # the file says when it was made
    written = []
    for readable in (False, True):
        bpy.ops.wm.read_homefile(use_empty=True)
        with peer():
            rig, *_ = rig_of_peer(samples)
            bpy.context.view_layer.objects.active = rig
            assert bpy.ops.motionbridge.original_bones() == {"FINISHED"}
            if readable:
                assert bpy.ops.motionbridge.readable_bones() == {"FINISHED"}
            assert armature.is_readable(rig) == readable
            assert bpy.ops.motionbridge.take_over_xray() == {"FINISHED"}
        path = tmp_path / f"{readable}.object"
        assert bpy.ops.export_scene.xray_object(filepath=str(path), sdk="SOC") == {"FINISHED"}
        written.append(path.read_bytes())
    assert written[0] == written[1]


def test_readable_bones_of_a_rig_of_arma3objectbuilder_change_no_file(samples, tmp_path):
    """Bones of its own making: all point up, none has anything of ours."""
    bpy.ops.import_scene.arma_p3d(filepath=str(samples / "arma/man.p3d"), rig="NEW", readable_bones=False)
    source = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    wanted = [
        (bone.name, bone.parent.name if bone.parent else "", bone.head_local.copy()) for bone in source.data.bones
    ]
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.armatures, *bpy.data.meshes])
    written = []
    for readable in (False, True):
        rig = add_object("rig", bpy.data.armatures.new("rig"), active=True)
        bpy.ops.object.mode_set(mode="EDIT")
        for name, parent, head in wanted:
            bone = rig.data.edit_bones.new(name)
            bone.head, bone.tail = head, head + Vector((0, 0, 0.1))
            bone.parent = rig.data.edit_bones[parent] if parent else None
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.import_scene.arma_rtm(filepath=str(samples / "arma/walk.rtm"))
        assert rig.animation_data.action is not None
        if readable:
            assert bpy.ops.motionbridge.readable_bones() == {"FINISHED"}
            assert armature.is_readable(rig)
        path = tmp_path / f"{readable}.rtm"
        bpy.context.view_layer.objects.active = rig
        assert bpy.ops.export_scene.arma_rtm(filepath=str(path)) == {"FINISHED"}
        written.append(path.read_bytes())
        bpy.data.objects.remove(rig)
    assert written[0] == written[1] == (samples / "arma/walk.rtm").read_bytes()


def physics_material(bone):
    return names.decode(bones.decode_bone(bone).entry.material)


def test_saved_with_it_and_opened_without(samples, tmp_path):
    path = str(tmp_path / "rig.blend")
    with peer():
        rig, *_ = rig_of_peer(samples)
        name = rig.name
        bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = bpy.data.objects[name]
    assert getattr(rig, "xray", None) is None
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.take_over_xray() == {"FINISHED"}
    child = next(own_child for own_child in rig.children if own_child.type == "MESH")
    check(rig, child, next(action for action in bpy.data.actions), rig.data.bones[1])
    # Blender keeps the index of an item only: the kind of a joint is not guessed.
    assert rig.data.bones[1].motionbridge_xray.joint == "RIGID"


def test_older_references_are_one_text():
    rig = add_object("rig", bpy.data.armatures.new("rig"), active=True)
    rig["xray"] = {"motionrefs": "actors\\a, actors\\b"}
    assert bpy.ops.motionbridge.take_over_xray() == {"FINISHED"}
    assert [reference.name for reference in rig.motionbridge_editor_model.references] == ["actors\\a", "actors\\b"]


@pytest.mark.parametrize("stored", [None, 3, {}])
def test_nothing_stored_is_refused(stored):
    rig = add_object("rig", bpy.data.armatures.new("rig"), active=True)
    if stored is not None:
        rig["xray"] = stored
    assert "no properties of blender-xray" in refusal(bpy.ops.motionbridge.take_over_xray)
    assert not rig.motionbridge_editor_model.is_made
