"""Checks across the layers of a level: each finding names what it is of, and can be selected."""

import shutil

import bpy
import numpy as np
import pytest
from mathutils import Vector

from addon.core.report import Report
from addon.games.xray.levels import folder as level_folder
from addon.games.xray.levels import geometry, layer_checks
from addon.games.xray.options import LevelFolderOptions
from tests.blender.test_level_visuals import column
from tests.scene import differences, snapshot


def imported(folder, **options):
    made = level_folder.import_folder(
        bpy.context, folder, LevelFolderOptions(textures=False, **options), Report(), lambda _done: None
    )
    bpy.context.view_layer.update()
    return {one.kind: [*one.held, *one.objects] for one in made}


def found():
    """Sentence -> objects."""
    (holder,) = {one.motionbridge_level.level_file for one in bpy.context.scene.objects} - {None}
    result = {}
    for one in geometry.find_problems(bpy.context, holder, Report()):
        result.setdefault(one.problem.kind or one.problem.sentence, []).append(one)
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
    said = found()
    assert NAMES["visuals"] not in said
    assert NAMES["collision"] not in said
    assert NAMES["portals"] not in said
    assert differences(before, snapshot()) == []


@pytest.mark.parametrize(
    "name",
    ["bx_test", "nlc_l03_agroprom", "nlc_l06_rostok", "nlc_l08_yantar", "nlc_l10_radar"],
)
def test_portals_of_real_levels_lie_in_planes(name, corpus, tmp_path):
    (tmp_path / name).mkdir()
    shutil.copy(corpus / "level" / name / "level", tmp_path / name / "level")
    made = imported(tmp_path / name, surfaces=False, trees=False)
    assert NAMES["portals"] not in found()
    assert len(made["PORTAL"]) > 0
    points = column(made["PORTAL"][-1].data.vertices, "co", 3)
    made["PORTAL"][-1].data.vertices[0].co += Vector(np.cross(points[1] - points[0], points[2] - points[0]))
    (one,) = found()[NAMES["portals"]]
    assert one.shown == made["PORTAL"][-1]


def beside(corpus, folder, name, **others):
    """A real `level` without its vertices, with other files of the same level."""
    folder.mkdir()
    shutil.copy(corpus / "level" / name / "level", folder / "level")
    for suffix, source in others.items():
        shutil.copy(corpus / source, folder / f"level.{suffix}")
    return imported(folder)


@pytest.mark.parametrize("name", ["l10_radar", "l08_yantar"])
def test_occluders_of_real_levels_lie_in_what_is_seen(name, corpus, tmp_path):
    made = beside(corpus, tmp_path / name, f"nlc_{name}", hom=f"hom/{name}.hom")
    words = "occluders stick out of what is seen (as boxes) by more than 0.25 m"
    assert words not in found()
    (occluders,) = made["HOM"]
    occluders.location.z += 300
    (one,) = found()[words]
    assert len(one.faces) == len(occluders.data.polygons)


def test_occluders_drawn_onto_real_collision_do_not_stick_out(corpus, tmp_path):
    folder = tmp_path / "tss"
    shutil.copytree(corpus / "level" / "olr_tss_cd70ecb", folder)
    made = imported(folder)
    walls = made["CFORM"][0].copy()
    walls.data = walls.data.copy()
    walls.name = "walls"
    bpy.context.scene.collection.objects.link(walls)
    walls.motionbridge_level.kind = "HOM"
    bpy.context.view_layer.update()
    assert NAMES["occluders"] not in found()
    walls.location.z += 30
    bpy.context.view_layer.update()
    (one,) = found()[NAMES["occluders"]]
    assert len(one.faces) > len(walls.data.polygons) / 2


@pytest.mark.deep
def test_details_of_a_real_level_outside_its_surfaces_are_found(corpus, tmp_path):
    """The mod compiled this level again without the hills of its west, and kept the details of the game.

    Elsewhere details stand on the ground that the AI map knows; one of forty that are found is where it has nodes.
    """
    folder = tmp_path / "yantar"
    made = beside(
        corpus, folder, "nlc_l08_yantar", details="details/l08_yantar.details", ai="level/nlc_l08_yantar/level.ai"
    )
    words = "slots have detail models outside all surfaces"
    (ground,), (nodes,) = made["DETAILS"], made["AI"]
    problems = found()
    (one,) = problems[words]
    assert one.shown == ground
    assert one.problem.sentence == f"10615 of 81510 {words}"
    walked = {}
    for x, y, z in column(nodes.data.polygons, "center", 3).tolist():
        walked.setdefault((x // 2, y // 2), []).append(z)
    corners = column(ground.data.vertices, "co", 3)
    middles = np.array([corners[list(face.vertices)].mean(axis=0) for face in ground.data.polygons])
    planted = np.zeros(len(middles), np.bool_)
    for place in range(4):
        planted |= column(ground.data.attributes[f"model_{place}"].data, "value", 1, np.int32).ravel() >= 0
    hit = np.zeros(len(middles), np.bool_)
    hit[one.faces] = True
    off = {False: [], True: []}
    for slot in np.flatnonzero(planted).tolist():
        x, y, z = middles[slot]
        heights = walked.get((x // 2, y // 2))
        off[bool(hit[slot])] += [] if heights is None else [np.abs(np.array(heights) - z).min()]
    assert len(off[True]) < len(one.faces) / 40
    assert np.median(off[False]) < 0.3


@pytest.mark.parametrize("name", ["bx_test", "olr_tss_cd70ecb", "xray15_mp_test"])
def test_each_finding_in_a_real_level_can_be_selected(name, corpus, tmp_path):
    folder = tmp_path / name
    shutil.copytree(corpus / "level" / name, folder)
    made = imported(folder)
    for seen in made["SURFACE"]:
        seen.location.z += 40  # neither over its collision nor is that below what is seen
    walls = made["CFORM"][0].copy()
    walls.data = walls.data.copy()
    walls.name = "walls"
    walls.motionbridge_level.kind = "HOM"
    bpy.context.scene.collection.objects.link(walls)
    walls.location.z += 300
    bpy.context.view_layer.update()
    said = found()
    assert {NAMES["visuals"], NAMES["collision"], NAMES["occluders"]} <= set(said)
    every = [one for several in said.values() for one in several]
    for number in range(len(every)):
        bpy.context.view_layer.objects.active = seen
        assert bpy.ops.motionbridge.level_check(number=number) == {"FINISHED"}
        chosen = bpy.context.view_layer.objects.active
        assert bpy.context.mode == "EDIT_MESH"
        bpy.ops.object.mode_set(mode="OBJECT")
        faces = np.flatnonzero([one.select for one in chosen.data.polygons]).tolist()
        assert sum(one.shown == chosen and one.faces.tolist() == faces for one in every) == 1


def test_what_is_seen_without_collision_and_collision_that_is_not_seen(yard):
    made = imported(yard)
    said = found()
    assert NAMES["visuals"] not in said
    wall = made["SURFACE"][1].data
    points = column(wall.vertices, "co", 3)
    wall.vertices.foreach_set("co", (points + np.float32((0, 0, 40))).ravel())
    said = found()
    (one,) = said[NAMES["visuals"]]
    assert one.shown == made["SURFACE"][1]
    assert one.faces.tolist() == list(range(len(wall.polygons)))
    (other,) = said[NAMES["collision"]]
    assert other.shown == made["CFORM"][0]
    assert len(other.faces)


def test_collision_of_a_tree_is_collision_that_is_seen(yard):
    made = imported(yard)
    alone = len(found().get(NAMES["collision"], []))
    assert alone == 0
    collision = made["CFORM"][0].data
    points = column(collision.vertices, "co", 3)
    points[:3] = np.add(made["TREE"][1].location, [[0, 0, 0.9], [0.1, 0, 0.9], [0, 0.1, 0.9]])
    corners = column(collision.loops, "vertex_index", 1, np.int32).reshape(-1, 3)
    collision.vertices.foreach_set("co", points.ravel())
    face = next(number for number, row in enumerate(corners.tolist()) if set(row) <= {0, 1, 2})
    rest = found().get(NAMES["collision"], [])
    assert all(face not in one.faces for one in rest)
    for one in made["TREE"]:
        bpy.data.objects.remove(one)
    (one,) = found()[NAMES["collision"]]
    assert face in one.faces


def test_an_occluder_before_a_wall_sticks_out(yard):
    made = imported(yard)
    (occluders,) = made["HOM"]
    inside = {face for one in found().get(NAMES["occluders"], []) for face in one.faces.tolist()}
    occluders.location.z += 30
    (one,) = found()[NAMES["occluders"]]
    assert one.shown == occluders
    assert set(one.faces.tolist()) - inside


def test_a_bent_portal_of_an_excluded_collection_is_found(yard):
    made = imported(yard)
    (portal,) = made["PORTAL"]
    portal.data.vertices[0].co.y += 1
    (one,) = found()[NAMES["portals"]]
    assert (one.shown, one.faces.tolist()) == (portal, [0])
    bpy.context.view_layer.objects.active = made["SURFACE"][0]
    assert bpy.ops.motionbridge.level_check() == {"FINISHED"}
    assert "to select what was found there" in bpy.context.window_manager.motionbridge_report


def test_nodes_that_float_and_details_without_ground_are_found(yard):
    made = imported(yard)
    before = {name: sum(len(one.faces) for one in found().get(NAMES[name], [])) for name in ("nodes", "details")}
    made["CFORM"][0].location.z -= 100
    after = {name: sum(len(one.faces) for one in found().get(NAMES[name], [])) for name in ("nodes", "details")}
    assert after["nodes"] == len(made["AI"][0].data.polygons) > before["nodes"]
    assert after["details"] > before["details"]


def test_nodes_below_the_ground_are_buried(yard):
    made = imported(yard)
    assert NAMES["buried"] not in found()
    made["CFORM"][0].location.z += 2
    said = found()
    (one,) = said[NAMES["buried"]]
    assert one.shown == made["AI"][0]
    assert len(one.faces) == len(made["AI"][0].data.polygons)
    assert NAMES["nodes"] not in said


@pytest.mark.parametrize(("above", "what"), [(9.6, "buried"), (10.4, "nodes")])
def test_ground_more_than_ten_metres_above_nodes_does_not_bury_them(yard, above, what):
    made = imported(yard)
    made["CFORM"][0].location.z += above
    said = found()
    (one,) = said[NAMES[what]]
    assert len(one.faces) == len(made["AI"][0].data.polygons)
    assert not {NAMES["buried"], NAMES["nodes"]} - {NAMES[what]} & said.keys()


def test_an_ai_map_is_checked_alone_and_shows_its_links(yard):
    made = imported(yard)
    (ai_map,) = made["AI"]
    (inside,) = ai_map.users_collection
    bpy.context.view_layer.layer_collection.children[yard.name].children[inside.name].exclude = False
    bpy.context.view_layer.objects.active = ai_map
    made["CFORM"][0].location.z -= 100
    assert bpy.ops.motionbridge.level_check(number=1) == {"FINISHED"}
    report = bpy.context.window_manager.motionbridge_report
    assert report.splitlines()[0].startswith("Selected finding 2 of 3: 1 of 11 nodes has a link that leads one way")
    chosen = np.zeros(len(ai_map.data.polygons), np.bool_)
    bpy.ops.object.mode_set(mode="OBJECT")
    ai_map.data.polygons.foreach_get("select", chosen)
    assert np.flatnonzero(chosen).tolist() == [7]
    before = snapshot()
    assert bpy.ops.motionbridge.level_ai_links() == {"FINISHED"}
    links = {one.name: len(one.data.edges) for one in ai_map.children}
    assert links["level.ai one-way links"] == 1
    assert bpy.context.window_manager.motionbridge_report == (
        f"Links in both directions: {links['level.ai links']}, one-way links: 1"
    )
    assert bpy.ops.motionbridge.level_ai_links() == {"FINISHED"}
    assert differences(before, snapshot()) == []


def test_of_many_objects_those_with_the_most_faces_are_named(yard, monkeypatch):
    made = imported(yard)
    monkeypatch.setattr(layer_checks, "MOST_NAMED", 1)
    for one in made["SURFACE"]:
        one.location.z += 60
    one, rest = [
        each for sentence, each_of in found().items() if sentence.endswith(NAMES["visuals"]) for each in each_of
    ]
    assert one.shown == made["SURFACE"][1]
    assert rest.problem.sentence.startswith("1 object more with fewer: faces are farther")
    assert not len(rest.faces)
