"""What is exported as an editor's model, read by a reader that knows the format alone: the geometry is the same."""

from collections import Counter

import bpy
import numpy as np
import pytest

from addon.core.report import Report
from addon.games.xray.models import editor_exporting, importing, making
from addon.games.xray.options import EditorModelExportOptions, ModelImportOptions, Sdk
from tests.blender import raw_object
from tests.real_files import corpus_files, sampled

ODD = {
    "bx_no_mesh": "it has no mesh",
    "bx_old_compressed": "the reader does not unpack",
}
WHOLE = [corpus_file for corpus_file in corpus_files("object") if not any(name in str(corpus_file.id) for name in ODD)]
NEARLY = 2e-4
"""Of joints that Blender's bones hold."""


def imported(path):
    return importing.import_editor_model(bpy.context, path, ModelImportOptions(textures=False), Report())


def new_file(result, sdk=Sdk.SOC):
    """The bytes of the scene as if it had never been a file."""
    result.holder.motionbridge_editor_model.is_model = False
    bpy.context.view_layer.objects.active = result.holder
    options = EditorModelExportOptions(sdk=sdk)
    return making.plan_new_object(bpy.context, result.holder, "new.object", options, Report()).data


def soup_of(data):
    meshes, surfaces, bones = raw_object.model(data)
    return sum((raw_object.soup(mesh, surfaces, bones) for mesh in meshes), Counter())


@pytest.mark.parametrize("path", sampled(WHOLE))
def test_a_new_file_has_the_same_triangles_uv_weights_and_bones(path):
    meshes, surfaces, bones = raw_object.model(path.read_bytes())
    data = new_file(imported(path))
    new_meshes, new_surfaces, new_bones = raw_object.model(data)
    assert soup_of(data) == soup_of(path.read_bytes())
    for name in {name for mesh in meshes for name in mesh.surface}:
        assert surfaces[name][3] in (None, new_surfaces[name][3])
    for new_mesh in new_meshes:
        np.testing.assert_array_equal(new_mesh.box, (new_mesh.points.min(axis=0), new_mesh.points.max(axis=0)))
    assert {name: new_bone[0] for name, new_bone in new_bones.items()} == {
        name: bone[0] for name, bone in bones.items()
    }
    for name, (_, _, matrix) in bones.items():
        np.testing.assert_allclose(new_bones[name][2], matrix, atol=NEARLY)


@pytest.mark.parametrize("path", sampled(WHOLE))
def test_one_moved_vertex_moves_its_triangles_alone(path):
    model = imported(path)
    mesh = model.meshes[-1]
    used = {corner for face in mesh.data.polygons for corner in face.vertices}
    vertex = min(used)
    position = np.array(mesh.data.vertices[vertex].co, np.float32)[[0, 2, 1]]
    mesh.data.vertices[vertex].co.x += 0.25
    options = EditorModelExportOptions()
    data = editor_exporting.plan_export(bpy.context, model.holder, "out.object", options, Report()).data
    before, after = soup_of(path.read_bytes()), soup_of(data)
    gone, come = before - after, after - before
    assert sum(gone.values()) == sum(come.values()) > 0
    assert all(any(np.array_equal(corner[0], position) for corner in corners) for _, corners in gone)


def test_hard_edges_are_the_sharp_ones():
    bpy.ops.mesh.primitive_cube_add()
    obj = bpy.context.object
    obj.data.materials.append(bpy.data.materials.new("Wall"))
    obj.data.shade_smooth()
    wanted = set()
    for edge in [obj.data.edges[number] for number in (0, 3, 5)]:
        edge.use_edge_sharp = True
        wanted.add(frozenset(edge.vertices))
    options = EditorModelExportOptions(sdk=Sdk.COP)
    data = making.plan_new_object(bpy.context, obj, "new.object", options, Report()).data
    ((read,), surfaces, _) = raw_object.model(data)
    assert raw_object.hard_edges(read) == wanted
    assert set(surfaces) == {"wall"}
    assert read.flags == 1
