"""Checks across the layers of a level: each finding names what it is of, and can be selected."""

import shutil

import bpy
import numpy as np
import pytest
from mathutils import Vector
from mathutils.geometry import closest_point_on_tri

from addon.core.report import Report
from addon.games.xray.levels import geometry, layer_checks
from tests.blender.scenes import column
from tests.blender.test_level_saving import imported
from tests.scene import differences, snapshot


def found():
    """Sentence -> objects."""
    (holder,) = {obj.motionbridge_level.level_file for obj in bpy.context.scene.objects} - {None}
    result = {}
    for problem in geometry.find_problems(bpy.context, holder, Report()):
        result.setdefault(problem.problem.kind or problem.problem.sentence, []).append(problem)
    return result


@pytest.fixture
def yard(samples, tmp_path):
    """Our sample level without what stands in it."""
    target = tmp_path / "yard"
    target.mkdir()
    for name in ("level", "level.geom", "level.cform", "level.hom", "level.details", "level.ai"):
        shutil.copy(samples / "level" / name, target / name)
    return target


NAMES = {
    "visuals": "faces are farther than 0.5 m from collision",
    "collision": "collision faces are farther than 0.5 m from what is seen",
    "occluders": "occluders stick out of what is seen by more than 0.25 m",
    "portals": "portals do not lie in a plane",
    "details": "slots have detail models and no ground",
    "buried": "nodes are buried more than 0.5 m below the ground",
    "nodes": "nodes float: no collision within 0.5 m",
}


@pytest.mark.parametrize("name", ["bx_test", "olr_tss_cd70ecb", "xray15_mp_test"])
def test_real_levels_have_collision_where_they_are_seen(name, corpus, tmp_path):
    folder = tmp_path / name
    shutil.copytree(corpus / "level" / name, folder)
    imported(folder)
    before = snapshot()
    message = found()
    assert NAMES["visuals"] not in message
    assert NAMES["collision"] not in message
    assert NAMES["portals"] not in message
    assert differences(before, snapshot()) == []


@pytest.mark.parametrize(
    "name",
    ["bx_test", "nlc_l03_agroprom", "nlc_l06_rostok", "nlc_l08_yantar", "nlc_l10_radar"],
)
def test_portals_of_real_levels_lie_in_planes(name, corpus, tmp_path):
    (tmp_path / name).mkdir()
    shutil.copy(corpus / "level" / name / "level", tmp_path / name / "level")
    model = imported(tmp_path / name, surfaces=False, trees=False)
    assert NAMES["portals"] not in found()
    assert len(model["PORTAL"]) > 0
    points = column(model["PORTAL"][-1].data.vertices, "co", 3)
    model["PORTAL"][-1].data.vertices[0].co += Vector(np.cross(points[1] - points[0], points[2] - points[0]))
    (entry,) = found()[NAMES["portals"]]
    assert entry.obj == model["PORTAL"][-1]


def beside(corpus, folder, name, **others):
    """A real `level` without its vertices, with other files of the same level."""
    folder.mkdir()
    shutil.copy(corpus / "level" / name / "level", folder / "level")
    for suffix, source in others.items():
        shutil.copy(corpus / source, folder / f"level.{suffix}")
    return imported(folder)


@pytest.mark.parametrize("name", ["l10_radar", "l08_yantar"])
def test_occluders_of_real_levels_lie_in_what_is_seen(name, corpus, tmp_path):
    path = beside(corpus, tmp_path / name, f"nlc_{name}", hom=f"hom/{name}.hom")
    words = "occluders stick out of what is seen (as boxes) by more than 0.25 m"
    assert words not in found()
    (occluders,) = path["HOM"]
    occluders.location.z += 300
    (entry,) = found()[words]
    assert len(entry.faces) == len(occluders.data.polygons)


def test_occluders_drawn_onto_real_collision_do_not_stick_out(corpus, tmp_path):
    folder = tmp_path / "tss"
    shutil.copytree(corpus / "level" / "olr_tss_cd70ecb", folder)
    model = imported(folder)
    walls = model["CFORM"][0].copy()
    walls.data = walls.data.copy()
    walls.name = "walls"
    bpy.context.scene.collection.objects.link(walls)
    walls.motionbridge_level.kind = "HOM"
    bpy.context.view_layer.update()
    assert NAMES["occluders"] not in found()
    walls.location.z += 30
    bpy.context.view_layer.update()
    (entry,) = found()[NAMES["occluders"]]
    assert len(entry.faces) > len(walls.data.polygons) / 2


@pytest.mark.deep
def test_details_of_a_real_level_outside_its_surfaces_are_found(corpus, tmp_path):
    """The mod compiled this level again without the hills of its west, and kept the details of the game.

    Elsewhere details stand on the ground that the AI map knows; one of forty that are found is where it has nodes.
    """
    folder = tmp_path / "yantar"
    created = beside(
        corpus, folder, "nlc_l08_yantar", details="details/l08_yantar.details", ai="level/nlc_l08_yantar/level.ai"
    )
    words = "slots have detail models outside all surfaces"
    (ground,), (nodes,) = created["DETAILS"], created["AI"]
    problems = found()
    (entry,) = problems[words]
    assert entry.obj == ground
    assert entry.problem.sentence == f"10615 of 81510 {words}"
    walked = {}
    for x, y, z in column(nodes.data.polygons, "center", 3).tolist():
        walked.setdefault((x // 2, y // 2), []).append(z)
    corners = column(ground.data.vertices, "co", 3)
    middles = np.array([corners[list(face.vertices)].mean(axis=0) for face in ground.data.polygons])
    planted = np.zeros(len(middles), np.bool_)
    for index in range(4):
        planted |= column(ground.data.attributes[f"model_{index}"].data, "value", 1, np.int32).ravel() >= 0
    hit = np.zeros(len(middles), np.bool_)
    hit[entry.faces] = True
    off = {False: [], True: []}
    for slot in np.flatnonzero(planted).tolist():
        x, y, z = middles[slot]
        heights = walked.get((x // 2, y // 2))
        off[bool(hit[slot])] += [] if heights is None else [np.abs(np.array(heights) - z).min()]
    assert len(off[True]) < len(entry.faces) / 40
    assert np.median(off[False]) < 0.3


@pytest.mark.parametrize("name", ["bx_test", "olr_tss_cd70ecb", "xray15_mp_test"])
def test_each_finding_in_a_real_level_can_be_selected(name, corpus, tmp_path):
    folder = tmp_path / name
    shutil.copytree(corpus / "level" / name, folder)
    model = imported(folder)
    for seen in model["SURFACE"]:
        seen.location.z += 40  # neither over its collision nor is that below what is seen
    walls = model["CFORM"][0].copy()
    walls.data = walls.data.copy()
    walls.name = "walls"
    walls.motionbridge_level.kind = "HOM"
    bpy.context.scene.collection.objects.link(walls)
    walls.location.z += 300
    bpy.context.view_layer.update()
    message = found()
    assert {NAMES["visuals"], NAMES["collision"], NAMES["occluders"]} <= set(message)
    every = [entry for several in message.values() for entry in several]
    for number in range(len(every)):
        bpy.context.view_layer.objects.active = seen
        assert bpy.ops.motionbridge.level_check(number=number) == {"FINISHED"}
        chosen = bpy.context.view_layer.objects.active
        assert bpy.context.mode == "EDIT_MESH"
        assert bpy.context.objects_in_mode == [chosen]
        bpy.ops.object.mode_set(mode="OBJECT")
        faces = np.flatnonzero([polygon.select for polygon in chosen.data.polygons]).tolist()
        assert sum(entry.obj == chosen and entry.faces.tolist() == faces for entry in every) == 1


def test_what_is_seen_without_collision_and_collision_that_is_not_seen(yard):
    model = imported(yard)
    message = found()
    assert NAMES["visuals"] not in message
    wall = model["SURFACE"][1].data
    points = column(wall.vertices, "co", 3)
    wall.vertices.foreach_set("co", (points + np.float32((0, 0, 40))).ravel())
    message = found()
    (entry,) = message[NAMES["visuals"]]
    assert entry.obj == model["SURFACE"][1]
    assert entry.faces.tolist() == list(range(len(wall.polygons)))
    (other,) = message[NAMES["collision"]]
    assert other.obj == model["CFORM"][0]
    assert len(other.faces)


def random_triangles(random, count):
    """Corners (count, 3, 3): small and large triangles, some of them beyond 500 km."""
    sizes = random.choice([0.05, 0.4, 6.0], (count, 1, 1))
    corners = random.uniform(-8, 8, (count, 1, 3)) * (1, 1, 0.2) + random.normal(size=(count, 3, 3)) * sizes
    corners[random.random(count) < 0.1] += 600_000
    return corners.astype(np.float32)


def give_faces(obj, corners):
    obj.data.clear_geometry()
    obj.data.from_pydata(corners.reshape(-1, 3).tolist(), [], np.arange(3 * len(corners)).reshape(-1, 3).tolist())


def far_faces(obj, others):
    """The faces of an object whose centre has none of the others (n, 3, 3) within half a metre, by plain search."""
    centres = [polygon.center for polygon in obj.data.polygons]
    triangles = [[Vector(corner) for corner in face] for face in others.tolist()]
    distances = [min((closest_point_on_tri(at, *face) - at).length for face in triangles) for at in centres]
    return {number for number, distance in enumerate(distances) if distance > 0.5}


@pytest.mark.parametrize("seed", range(4))
def test_faces_are_far_exactly_if_a_plain_search_says_so(yard, seed):
    model = imported(yard)
    for entry in (*model["TREE"], *model["SURFACE"][1:]):
        bpy.data.objects.remove(entry)
    random = np.random.default_rng(seed)
    seen, collision = random_triangles(random, 150), random_triangles(random, 120)
    collision[:60] = seen[:60] + random.normal(size=(60, 1, 3)) * 0.2
    give_faces(model["SURFACE"][0], seen)
    give_faces(model["CFORM"][0], collision)
    message = found()
    far = {
        name: {face for entry in message.get(NAMES[name], []) for face in entry.faces.tolist()}
        for name in ("visuals", "collision")
    }
    assert far == {
        "visuals": far_faces(model["SURFACE"][0], collision),
        "collision": far_faces(model["CFORM"][0], seen),
    }
    assert all(far.values())


def test_collision_of_a_tree_is_collision_that_is_seen(yard):
    model = imported(yard)
    alone = len(found().get(NAMES["collision"], []))
    assert alone == 0
    collision = model["CFORM"][0].data
    points = column(collision.vertices, "co", 3)
    points[:3] = np.add(model["TREE"][1].location, [[0, 0, 0.9], [0.1, 0, 0.9], [0, 0.1, 0.9]])
    corners = column(collision.loops, "vertex_index", 1, np.int32).reshape(-1, 3)
    collision.vertices.foreach_set("co", points.ravel())
    face = next(number for number, row in enumerate(corners.tolist()) if set(row) <= {0, 1, 2})
    rest = found().get(NAMES["collision"], [])
    assert all(face not in own_entry.faces for own_entry in rest)
    for entry in model["TREE"]:
        bpy.data.objects.remove(entry)
    (entry,) = found()[NAMES["collision"]]
    assert face in entry.faces


def test_an_occluder_before_a_wall_sticks_out(yard):
    model = imported(yard)
    (occluders,) = model["HOM"]
    inside = {face for own_entry in found().get(NAMES["occluders"], []) for face in own_entry.faces.tolist()}
    occluders.location.z += 30
    (entry,) = found()[NAMES["occluders"]]
    assert entry.obj == occluders
    assert set(entry.faces.tolist()) - inside


def test_a_bent_portal_of_a_hidden_layer_is_found_and_its_layer_is_shown(yard):
    model = imported(yard)
    (portal,) = model["PORTAL"]
    portal.data.vertices[0].co.y += 1
    (entry,) = found()[NAMES["portals"]]
    assert (entry.obj, entry.faces.tolist()) == (portal, [0])
    layers = bpy.context.view_layer.layer_collection.children[yard.name].children
    hidden = {layer.name for layer in layers if layer.exclude}
    bpy.context.view_layer.objects.active = model["SURFACE"][0]
    assert bpy.ops.motionbridge.level_check() == {"FINISHED"}
    assert bpy.context.objects_in_mode == [portal]
    assert hidden - {layer.name for layer in layers if layer.exclude} == {f"Portals {yard.name}"}


def test_nodes_that_float_and_details_without_ground_are_found(yard):
    model = imported(yard)
    before = {name: sum(len(entry.faces) for entry in found().get(NAMES[name], [])) for name in ("nodes", "details")}
    model["CFORM"][0].location.z -= 100
    after = {name: sum(len(entry.faces) for entry in found().get(NAMES[name], [])) for name in ("nodes", "details")}
    assert after["nodes"] == len(model["AI"][0].data.polygons) > before["nodes"]
    assert after["details"] > before["details"]


def test_nodes_below_the_ground_are_buried(yard):
    model = imported(yard)
    assert NAMES["buried"] not in found()
    model["CFORM"][0].location.z += 2
    message = found()
    (entry,) = message[NAMES["buried"]]
    assert entry.obj == model["AI"][0]
    assert len(entry.faces) == len(model["AI"][0].data.polygons)
    assert NAMES["nodes"] not in message


@pytest.mark.parametrize(("above", "what"), [(9.6, "buried"), (10.4, "nodes")])
def test_ground_more_than_ten_metres_above_nodes_does_not_bury_them(yard, above, what):
    model = imported(yard)
    model["CFORM"][0].location.z += above
    message = found()
    (entry,) = message[NAMES[what]]
    assert len(entry.faces) == len(model["AI"][0].data.polygons)
    assert not {NAMES["buried"], NAMES["nodes"]} - {NAMES[what]} & message.keys()


def test_an_ai_map_is_checked_alone_and_shows_its_links(yard):
    model = imported(yard)
    (ai_map,) = model["AI"]
    (inside,) = ai_map.users_collection
    bpy.context.view_layer.layer_collection.children[yard.name].children[inside.name].exclude = False
    bpy.context.view_layer.objects.active = ai_map
    model["CFORM"][0].location.z -= 100
    assert bpy.ops.motionbridge.level_check(number=1) == {"FINISHED"}
    report = bpy.context.window_manager.motionbridge_report
    assert report.splitlines()[0].startswith("Selected finding 2 of 3: 1 of 11 nodes has a link that leads one way")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.flatnonzero(column(ai_map.data.polygons, "select", kind=np.bool_)).tolist() == [7]
    before = snapshot()
    assert bpy.ops.motionbridge.level_ai_links() == {"FINISHED"}
    links = {child.name: len(child.data.edges) for child in ai_map.children}
    assert links["level.ai one-way links"] == 1
    assert bpy.context.window_manager.motionbridge_report == (
        f"{links['level.ai links']} links lead both ways, 1 link one way"
    )
    assert bpy.ops.motionbridge.level_ai_links() == {"FINISHED"}
    assert differences(before, snapshot()) == []


def test_of_many_objects_those_with_the_most_faces_are_named(yard, monkeypatch):
    model = imported(yard)
    monkeypatch.setattr(layer_checks, "MOST_NAMED", 1)
    for entry in model["SURFACE"]:
        entry.location.z += 60
    entry, rest = [
        each for sentence, each_of in found().items() if sentence.endswith(NAMES["visuals"]) for each in each_of
    ]
    assert entry.obj == model["SURFACE"][1]
    assert rest.problem.sentence.startswith("1 object more with fewer: faces are farther")
    assert not len(rest.faces)
