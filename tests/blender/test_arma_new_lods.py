"""All LODs of a new model from its visual mesh: what the file has, what a second run changes, what is reported."""

import bmesh
import bpy
import numpy as np
import pytest

from addon.core.report import Report
from addon.formats.arma import p3d
from addon.games.arma import lod_list, mass, model_export
from addon.games.arma.options import ModelExportOptions
from addon.ui.arma import models
from tests.blender.scenes import editing
from tests.blender.test_p3d_check import material
from tests.blender.test_p3d_export import cube, exported
from tests.blender.test_ui import last_report, refusal
from tests.real_files import corpus_files

ALL = {"RESOLUTIONS", "GEOMETRY", "VIEW", "FIRE", "SHADOW", "MEMORY", "PROPERTIES"}


def real_models(*names):
    return [path for name in names for path in corpus_files(f"{name}.p3d")]


def make(**options):
    return bpy.ops.motionbridge.arma_new_lods(**{"lods": ALL, **options})


def monkey():
    bpy.ops.mesh.primitive_monkey_add(calc_uvs=True)
    obj = bpy.context.view_layer.objects.active
    obj.name = "monkey"
    obj.data.materials.append(material("fur"))
    bpy.ops.object.shade_smooth()
    with editing(obj.data) as edited:
        for edge in edited.edges:
            edge.smooth = len(edge.link_faces) == 2 and edge.calc_face_angle() < 0.7
    return obj


def lods_in(folder):
    path = folder / "out.p3d"
    path.unlink(missing_ok=True)
    return {lod.name: lod for lod in p3d.read(exported(folder), "", Report()).lods}


def findings():
    """Rules that the model breaks, without those of its first Resolution."""
    gathered = model_export.gather_lods(bpy.context, models.chosen_model(bpy.context), ModelExportOptions())
    rules_of = {lod.content.mesh.name: [finding.rule for finding in lod.problems()] for lod in gathered}
    return {name: rules for name, rules in rules_of.items() if rules}


def mirrored(uvs):
    u, v = uvs[:, 1] - uvs[:, 0], uvs[:, 2] - uvs[:, 0]
    return int((u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0] < 0).sum())


def triangle_uvs(obj):
    data = obj.data
    data.calc_loop_triangles()
    uvs = np.zeros((len(data.loops), 2), np.float32)
    data.uv_layers[0].uv.foreach_get("vector", uvs.ravel())
    return np.array([[uvs[loop] for loop in triangle.loops] for triangle in data.loop_triangles])


def test_all_lods_of_a_monkey(tmp_path):
    obj = monkey()
    assert make(game="DAYZ", model="HOUSE") == {"FINISHED"}
    assert last_report()[0].startswith("Created 7 LODs (Resolution 2, Resolution 3, Resolution 4, Geometry, ")
    visible = [lod.name for lod in lod_list.lods_of(bpy.context) if not lod.is_hidden()]
    assert (bpy.context.view_layer.objects.active, visible) == (obj, ["Resolution 1"])
    file = lods_in(tmp_path)
    assert list(file) == [
        *(f"Resolution {number}" for number in (1, 2, 3, 4)),
        *("Shadow Volume 0", "Geometry", "Memory", "View Geometry", "Fire Geometry"),
    ]
    whole = sum(len(polygon.vertices) - 2 for polygon in obj.data.polygons)
    for number, share in ((2, 0.5), (3, 0.25), (4, 0.1)):
        assert len(file[f"Resolution {number}"].faces) <= max(share, 0.34) * whole, "its UVs allow no fewer"
        assert file[f"Resolution {number}"].textures() == file["Resolution 1"].textures()
    assert file["Geometry"].properties() == {"class": "house", "map": "house", "autocenter": "0"}
    assert file["View Geometry"].properties() == {"autocenter": "0"}
    assert file["Shadow Volume 0"].properties() == {"lodnoshadow": "1"}
    assert file["Fire Geometry"].textures() == [("", "dz\\data\\data\\penetration\\metalplate.rvmat")]
    names = {point.name for point in p3d.named_points(file["Memory"])}
    assert names == {"boundingbox_min", "boundingbox_max", "ce_center", "ce_radius"}
    assert findings() == {}


def sharp_ends(obj, *, sharp=True):
    """Pairs of positions at the ends of the sharp edges, or of all."""
    positions = [tuple(np.round(vertex.co, 5)) for vertex in obj.data.vertices]
    return {
        frozenset(positions[number] for number in edge.vertices)
        for edge in obj.data.edges
        if edge.use_edge_sharp or not sharp
    }


def test_resolutions_turn_no_uv_over_and_keep_sharp_edges():
    obj = monkey()
    before, sharp = mirrored(triangle_uvs(obj)), sharp_ends(obj)
    assert make(lods={"RESOLUTIONS"}, ratios="50, 20") == {"FINISHED"}
    for lod in lod_list.lods_of(bpy.context)[1:]:
        assert mirrored(triangle_uvs(lod.obj)) <= before
        left = sharp_ends(lod.obj)
        assert left, "some are left"
        assert sharp & sharp_ends(lod.obj, sharp=False) <= left, "each that still exists is sharp"


def test_a_mesh_that_is_flat_everywhere_gets_fewer_faces_and_stays_flat():
    bpy.ops.mesh.primitive_uv_sphere_add(segments=24, ring_count=16)
    obj = bpy.context.view_layer.objects.active
    assert not any(polygon.use_smooth for polygon in obj.data.polygons)
    triangles = sum(len(polygon.vertices) - 2 for polygon in obj.data.polygons)
    assert make(lods={"RESOLUTIONS"}, ratios="50 25") == {"FINISHED"}
    for lod, share in zip(lod_list.lods_of(bpy.context)[1:], (0.5, 0.25), strict=True):
        assert len(lod.obj.data.polygons) <= (share + 0.15) * triangles, "its UVs allow no fewer"
        assert all(edge.use_edge_sharp for edge in lod.obj.data.edges)


def test_a_second_run_changes_nothing_or_makes_the_same_again(tmp_path):
    monkey()
    assert make(model="ITEM", game="DAYZ") == {"FINISHED"}
    first = p3d.write(p3d.read(exported(tmp_path), "", Report()))
    assert make(model="ITEM", game="DAYZ") == {"CANCELLED"}
    assert last_report()[0] == "Everything that was chosen exists"
    objects = len(bpy.data.objects)
    assert make(model="ITEM", game="DAYZ", replace=True) == {"FINISHED"}
    assert len(bpy.data.objects) == objects
    (tmp_path / "out.p3d").unlink()
    assert p3d.write(p3d.read(exported(tmp_path), "", Report())) == first


def test_only_what_is_chosen_is_replaced():
    monkey()
    assert make() == {"FINISHED"}
    before = {lod.name: lod.obj.data for lod in lod_list.lods_of(bpy.context)}
    assert make(lods={"GEOMETRY", "PROPERTIES"}, shape="BOX", replace=True, model="VEHICLE") == {"FINISHED"}
    after = {lod.name: lod.obj.data for lod in lod_list.lods_of(bpy.context)}
    assert {name for name in after if after[name] != before.get(name)} == {"Geometry"}
    geometry = next(lod.obj for lod in lod_list.lods_of(bpy.context) if lod.name == "Geometry")
    assert len(geometry.data.vertices) == 8 * len(geometry.vertex_groups)
    properties = {row.name: row.value for row in geometry.motionbridge_arma_level.properties}
    assert properties == {"class": "vehicle", "autocenter": "0"}


def test_proxies_and_selections_of_the_source_are_in_each_resolution(tmp_path):
    obj = monkey()
    obj.vertex_groups.new(name="camo").add([0, 1, 2], 1.0, "REPLACE")
    assert bpy.ops.motionbridge.arma_set_lod(kind="RESOLUTION", number=1) == {"FINISHED"}
    assert bpy.ops.motionbridge.arma_mark_add(kind="PROXY", label="tag\\gun.001") == {"FINISHED"}
    assert make(lods={"RESOLUTIONS"}, ratios="10") == {"FINISHED"}
    file = lods_in(tmp_path)
    for lod in file.values():
        assert [proxy.name for proxy in p3d.proxies(lod)] == ["tag\\gun.001"]
        assert "camo" in [name for name, points, _ in lod.selections() if points.any()]
    assert make(lods={"RESOLUTIONS"}, ratios="10", replace=True) == {"FINISHED"}
    assert [len(list(p3d.proxies(lod))) for lod in lods_in(tmp_path).values()] == [1, 1]


@pytest.mark.parametrize("shape", ["HULL", "BOX"])
@pytest.mark.parametrize("kind", ["closed", "open", "flat"])
def test_findings_of_closed_open_and_flat_sources(kind, shape):
    obj = cube("part", size=2)
    obj.data.materials.append(material("paint"))
    obj.scale = (1, -2, 0.5)
    obj.location = (3, 0, 1)
    with editing(obj.data) as edited:
        faces = list(edited.faces)
        if kind != "closed":
            bmesh.ops.delete(edited, geom=faces[:1] if kind == "open" else faces[1:], context="FACES")
    assert make(shape=shape, fire="COPY", model="HOUSE") == {"FINISHED"}
    opened = [line for line in last_report() if "open" in line]
    assert len(opened) == (kind != "closed")
    assert findings() == {}
    geometry = next(lod.obj for lod in lod_list.lods_of(bpy.context) if lod.name == "Geometry")
    assert (
        mass.mass_of(geometry) == pytest.approx({"flat": 200 * 0.0401}.get(kind, 200 * 8), rel=0.01) or kind == "flat"
    )
    size = np.ptp([geometry.matrix_world @ vertex.co for vertex in geometry.data.vertices], axis=0)
    assert size.min() >= 0.01


def test_shares_that_are_not_numbers_are_refused_before_anything_is_made():
    obj = monkey()
    assert "are not numbers between 0 and 100" in refusal(make, ratios="half")
    assert not obj.motionbridge_arma_level.is_level


def test_a_resolution_with_no_fewer_faces_than_the_one_before_is_left_out():
    bpy.ops.mesh.primitive_cube_add()
    for expected in ({"FINISHED"}, {"CANCELLED"}):
        assert make(lods={"RESOLUTIONS"}) == expected
        assert [lod.name for lod in lod_list.lods_of(bpy.context)] == ["Resolution 1", "Resolution 2"]
        (left_out,) = [line for line in last_report() if line.startswith("left out: it would have 10 faces")]
        assert "(Resolution 3, Resolution 4)" in left_out


def test_lods_of_the_file_that_were_not_imported_stay(tmp_path):
    monkey()
    assert make() == {"FINISHED"}
    exported(tmp_path)
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    assert bpy.ops.import_scene.arma_p3d(filepath=str(tmp_path / "out.p3d")) == {"FINISHED"}
    assert make(lods={"GEOMETRY"}, replace=True) == {"CANCELLED"}
    assert any("was not imported" in line for line in last_report())
    assert [lod.name for lod in lod_list.lods_of(bpy.context)] == ["Resolution 1"]


@pytest.mark.parametrize("file", real_models("p3d/a3ob_crate", "p3d_vendor/sample_ladder_short", "p3d_vendor/road_2"))
def test_lods_of_closed_open_and_flat_published_models_pass(file, tmp_path):
    assert bpy.ops.import_scene.arma_p3d(filepath=str(file), textures=False) == {"FINISHED"}
    source = bpy.context.view_layer.objects.active
    for other in set(bpy.data.objects) - {source}:
        bpy.data.objects.remove(other)
    level = source.motionbridge_arma_level
    level.model, level.index, level.path = None, -1, ""
    assert make(game="DAYZ", model="ITEM") == {"FINISHED"}
    lines = [line for line in last_report() if line.startswith("left out: ")]
    left_out = [name for line in lines for name in line.rpartition("(")[2].split(", ")]
    assert findings() == {}
    assert len(lods_in(tmp_path)) == 9 - len(left_out)
