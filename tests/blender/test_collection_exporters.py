"""Exporters of collections write what these hold, or say that there is nothing: Blender itself says nothing."""

import bpy
import pytest

from tests.blender.saved_formats import FORMATS, sample_of

EXPORTERS = {
    "xray_level_geometry": "holds no file of a level",
    "xray_ogf": "holds no model",
    "xray_omf": "holds no armature",
    "xray_anm": "holds no moving object",
    "arma_rtm": "holds no armature",
    "descent3_oof": "",
}


@pytest.mark.parametrize("name", EXPORTERS)
def test_an_empty_collection_is_refused_with_a_reason(name, tmp_path):
    operator = getattr(bpy.ops.export_scene, name)
    assert not operator.poll()
    collection = bpy.data.collections.new("empty")
    bpy.context.scene.collection.children.link(collection)
    bpy.context.view_layer.active_layer_collection = bpy.context.view_layer.layer_collection.children["empty"]
    assert bpy.ops.collection.exporter_add(name=f"IO_FH_motionbridge_{name}") == {"FINISHED"}
    suffix = getattr(bpy.types, f"IO_FH_motionbridge_{name}").bl_file_extensions.split(";")[0]
    collection.exporters[0].export_properties.filepath = str(tmp_path / f"out{suffix}")
    assert operator.poll()
    bpy.context.window_manager.motionbridge_report = ""
    assert bpy.ops.collection.export_all() == {"CANCELLED"}
    assert list(tmp_path.iterdir()) == []
    message = bpy.context.window_manager.motionbridge_report
    assert message
    assert EXPORTERS[name] in message


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if form.export])
def test_a_collection_exports_what_it_holds(name, tmp_path):
    form, path = FORMATS[name], sample_of(name, tmp_path / "of")
    form.load(path)
    collection = bpy.data.collections.new("whole")
    bpy.context.scene.collection.children.link(collection)
    for obj in bpy.context.scene.objects:
        collection.objects.link(obj)
    bpy.context.view_layer.objects.active = None
    export, out = getattr(bpy.ops.export_scene, form.export), path.with_name(f"exported{path.suffix}")
    assert export(filepath=str(out), collection="whole") == {"FINISHED"}
    assert out.read_bytes() == path.read_bytes()


def test_another_suffix_is_refused(tmp_path):
    FORMATS["hom"].load(sample_of("hom", tmp_path / "of"))
    with pytest.raises(RuntimeError, match="needs a file with the suffix"):
        bpy.ops.export_scene.xray_level_geometry(filepath=str(tmp_path / "out.ogf"))


def test_a_name_without_a_suffix_gets_that_of_the_format(samples, tmp_path):
    bpy.ops.import_scene.arma_rtm(filepath=str(samples / "arma" / "walk.rtm"))
    assert bpy.ops.export_scene.arma_rtm(filepath=str(tmp_path / "walk")) == {"FINISHED"}
    assert bpy.ops.export_scene.xray_omf(filepath=str(tmp_path / "walk")) == {"FINISHED"}
    assert bpy.ops.export_scene.xray_omf(filepath=str(tmp_path / "walk.new")) == {"FINISHED"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["walk.new", "walk.omf", "walk.rtm"]
