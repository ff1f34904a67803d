"""Materials that were made in Blender and name no texture or shader of the game: what game models and plants get."""

import bpy
import pytest

from addon.core.report import Report
from addon.games.xray.levels import geometry as level_geometry
from addon.games.xray.models import editor_exporting, exporting, making
from addon.games.xray.models.importing import import_editor_model, import_model
from addon.games.xray.options import (
    EditorModelExportOptions,
    LevelExportOptions,
    LevelImportOptions,
    ModelExportOptions,
    ModelImportOptions,
)
from tests.blender import raw_ogf
from tests.blender.scenes import add_object

STAYS = (
    "the material names no texture of the game, so that of the file stays; type the path of another one in "
    "Properties > Material > X-Ray Material"
)
MISSING = "the material has no texture; type its path in Properties > Material > X-Ray Material"


def painted(picture=""):
    """A material that was made in Blender, with an image of this path."""
    material = bpy.data.materials.new("painted")
    if material.node_tree is None:
        material.use_nodes = True
    if picture:
        image = bpy.data.images.new("picture", 4, 4)
        image.filepath = picture
        node = material.node_tree.nodes.new("ShaderNodeTexImage")
        node.image = image
        surface = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
        material.node_tree.links.new(node.outputs["Color"], surface.inputs["Base Color"])
    return material


PICTURE = "/mod/gamedata/textures/act/painted.dds"


@pytest.fixture
def man(samples):
    return import_model(bpy.context, samples / "humanoid.ogf", ModelImportOptions(), Report())


def names_in(data):
    """Texture and shader of the first mesh of a model."""
    return raw_ogf.chunks(raw_ogf.children(data)[0][1])[2][1].split(b"\0")[:2]


@pytest.mark.parametrize("created", [painted, lambda: None])
def test_a_mesh_keeps_texture_and_shader_of_the_file_and_reports_it(created, man, samples):
    man.meshes[0].data.materials[0] = created()
    report = Report()
    plan = exporting.plan_export(bpy.context, man.holder, "man.ogf", ModelExportOptions(), report)
    assert plan.data == (samples / "humanoid.ogf").read_bytes()
    assert list(report.warnings) == [STAYS]


def test_a_mesh_gets_the_texture_of_the_image_and_keeps_the_shader_of_the_file(man):
    man.meshes[0].data.materials[0] = painted(PICTURE)
    report = Report()
    plan = exporting.plan_export(bpy.context, man.holder, "man.ogf", ModelExportOptions(), report)
    assert names_in(plan.data) == [b"act\\painted", b"models\\model"]
    assert not report.warnings
    assert list(report.notes) == ["materials without engine shader get models\\model"]


def test_a_typed_texture_needs_no_typed_shader(man):
    obj = painted()
    obj.motionbridge_material.texture = "act\\typed"
    man.meshes[0].data.materials[0] = obj
    plan = exporting.plan_export(bpy.context, man.holder, "man.ogf", ModelExportOptions(), Report())
    assert names_in(plan.data) == [b"act\\typed", b"models\\model"]


@pytest.mark.parametrize(("picture", "texture"), [(PICTURE, b"act\\painted"), ("", b"")])
def test_replaced_meshes_get_a_shader_and_a_missing_texture_is_reported(picture, texture, man):
    for mesh in man.meshes:
        mesh.data.materials[0] = painted(picture)
    report = Report()
    plan = making.plan_replaced(bpy.context, man.holder, "man.ogf", ModelExportOptions(replace_meshes=True), report)
    assert names_in(plan.data) == [texture, b"models\\model"]
    assert (MISSING in report.warnings) == (not picture)


def planned(holder):
    report = Report()
    return level_geometry.plan_export(bpy.context, holder, "", LevelExportOptions(), report), report


def test_plants_keep_texture_and_shader_of_the_file_or_get_that_of_the_image(samples):
    path = samples / "level" / "grass.dm"
    holder = level_geometry.import_file(bpy.context, path, LevelImportOptions(), Report()).holder
    holder.data.materials[0] = painted()
    plan, report = planned(holder)
    assert plan.data == path.read_bytes()
    assert list(report.warnings) == [STAYS]
    shader = path.read_bytes().split(b"\0")[0]
    holder.data.materials[0] = painted("/mod/gamedata/textures/prop/reed.dds")
    plan, report = planned(holder)
    assert plan.data.split(b"\0")[:2] == [shader, b"prop\\reed"]
    assert not report.warnings


def test_a_plant_that_shows_another_picture_is_reported(samples):
    path = samples / "level" / "grass.dm"
    holder = level_geometry.import_file(bpy.context, path, LevelImportOptions(), Report()).holder
    obj = painted("/mod/gamedata/textures/prop/reed.dds")
    obj.motionbridge_material.texture = holder.data.materials[0].motionbridge_material.texture
    obj.motionbridge_material.shader = holder.data.materials[0].motionbridge_material.shader
    holder.data.materials[0] = obj
    plan, report = planned(holder)
    assert plan.data == path.read_bytes()
    assert any(line.startswith("the material shows 'picture'") for line in report.warnings)


def test_a_plant_of_a_level_that_is_replaced_by_a_drawn_one_has_texture_and_shader(samples):
    path = samples / "level" / "level.details"
    ground = level_geometry.import_file(bpy.context, path, LevelImportOptions(), Report()).holder
    bpy.ops.mesh.primitive_plane_add()
    plant = bpy.context.object
    plant.data.materials.append(painted("/mod/gamedata/textures/prop/reed.dds"))
    level_geometry.level_details.add_models(ground, [plant])
    plan, _ = planned(ground)
    assert b"details\\blend\0prop\\reed\0" in plan.data
    plant.data.materials[0] = painted()
    assert MISSING in planned(ground)[1].warnings


def test_a_drawn_plant_gets_the_shader_of_plants():
    bpy.ops.mesh.primitive_plane_add()
    plant = bpy.context.object
    plant.data.materials.append(painted("/mod/gamedata/textures/prop/reed.dds"))
    level_geometry.begin(bpy.context, plant, "DM")
    plan, report = planned(plant)
    assert plan.data.split(b"\0")[:2] == [b"details\\blend", b"prop\\reed"]
    assert not report.warnings


def test_a_new_surface_without_texture_is_reported(samples):
    weapon = import_editor_model(bpy.context, samples / "weapon.object", ModelImportOptions(), Report())
    for picture in ("", PICTURE):
        weapon.meshes[0].data.materials[0] = painted(picture)
        report = Report()
        editor_exporting.plan_export(bpy.context, weapon.holder, "weapon.object", EditorModelExportOptions(), report)
        assert (MISSING in report.warnings) == (not picture)


def test_instances_below_models_are_reported_to_be_left_out(man, samples):
    weapon = import_editor_model(bpy.context, samples / "weapon.object", ModelImportOptions(), Report())
    message = "its instances are left out (make them real: Object > Apply)"
    for holder, plan in (
        (
            man.holder,
            lambda report: exporting.plan_export(bpy.context, man.holder, "man.ogf", ModelExportOptions(), report),
        ),
        (
            weapon.holder,
            lambda report: editor_exporting.plan_export(
                bpy.context, weapon.holder, "weapon.object", EditorModelExportOptions(), report
            ),
        ),
    ):
        obj = add_object("scope")
        obj.parent = holder
        report = Report()
        plan(report)
        assert message not in report.warnings
        obj.instance_type, obj.instance_collection = "COLLECTION", bpy.data.collections.new("scope")
        plan(report)
        assert report.warnings[message] == [obj.name]
