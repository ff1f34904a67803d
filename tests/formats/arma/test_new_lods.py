"""LODs of new models: components, shadows and resolutions of closed, open and flat parts pass the checks of models."""

import numpy as np
import pytest

from addon.core.model import Domain, Material, PolygonMesh, VertexWeights
from addon.formats.arma import lists, lod_kinds, new_lods
from addon.formats.arma.p3d import LodContent, check
from tests.core.test_decimation import ball, mirrored

CUBE = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], np.float32)
QUADS = np.array([[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]])
SIDES = np.concatenate([QUADS[:, [0, 1, 2]], QUADS[:, [0, 2, 3]]])


def mesh_of(*parts):
    """A mesh of parts, each with its positions and triangles, and a selection ``part 0`` and so on for each."""
    sizes = [len(positions) for positions, _ in parts]
    first = np.cumsum([0, *sizes])[:-1]
    positions = np.concatenate([positions for positions, _ in parts]).astype(np.float32)
    triangles = np.concatenate([faces + at for (_, faces), at in zip(parts, first, strict=True)]).astype(np.int32)
    mesh = PolygonMesh("crate", positions, np.full(len(triangles), 3, np.int32), triangles.ravel())
    mesh.groups = [f"part {number}" for number in range(len(parts))]
    mesh.weights = VertexWeights(
        np.arange(len(positions), dtype=np.int32),
        np.repeat(np.arange(len(parts)), sizes).astype(np.int32),
        np.ones(len(positions), np.float32),
    )
    return mesh


def cube(at=(0, 0, 0), size=1.0):
    return CUBE * size + np.array(at, np.float32), SIDES


def opened(at):
    return cube(at)[0], SIDES[1:]


def flat(at):
    return CUBE[:4] + np.array(at, np.float32), np.array([[0, 1, 3], [0, 3, 2]])


def inside_out(at):
    return cube(at)[0], SIDES[:, ::-1]


SOURCES = {
    "closed": mesh_of(cube()),
    "open": mesh_of(opened((0, 0, 0))),
    "flat": mesh_of(flat((0, 0, 0))),
    "inside out": mesh_of(inside_out((0, 0, 0))),
    "all of them": mesh_of(cube(), opened((2, 0, 0)), flat((4, 0, 0)), inside_out((6, 0, 0)), cube((0, 0, 2), 0.05)),
    "ball": mesh_of(ball()[:2]),
}


def findings(mesh, word, properties):
    content = LodContent(mesh, lod_kinds.resolution_of(word), properties)
    return [str(finding.sentence) for finding in check.find_problems(content, model_class=properties.get("class", ""))]


def named(mesh, name):
    return {
        mesh.groups[group]: mesh.weights.vertices[mesh.weights.groups == group]
        for group in range(len(mesh.groups))
        if mesh.groups[group].startswith(name)
    }


@pytest.mark.parametrize("boxes", [False, True])
@pytest.mark.parametrize("name", SOURCES)
def test_a_geometry_passes_the_checks(name, boxes):
    parts = new_lods.LooseParts(SOURCES[name])
    mesh = new_lods.geometry(parts, "crate", boxes=boxes, smallest=0.1, density=300)
    properties = new_lods.named_properties(lists.DAYZ, new_lods.HOUSE, lod_kinds.GEOMETRY, has_shadow=True)
    assert findings(mesh, lod_kinds.GEOMETRY, properties) == []
    assert findings(mesh, lod_kinds.VIEW_GEOMETRY, {}) == ["it has a mass, which only the Geometry LOD should have"]
    mesh.materials = [Material("metal", "", lists.penetration_material(lists.ARMA3, ""))]
    mesh.attributes = {}
    assert findings(mesh, lod_kinds.FIRE_GEOMETRY, {}) == []


@pytest.mark.parametrize("name", SOURCES)
def test_a_shadow_passes_the_checks(name):
    mesh = new_lods.shadow(new_lods.LooseParts(SOURCES[name]), "crate")
    properties = new_lods.named_properties(lists.ARMA3, new_lods.PLAIN, lod_kinds.SHADOW, has_shadow=True)
    assert findings(mesh, lod_kinds.SHADOW, properties) == []
    assert set(mesh.groups) == set(SOURCES[name].groups), "selections that move are in the shadow, too"


def test_each_loose_part_is_a_component_with_its_selections_and_small_ones_join_the_nearest():
    parts = new_lods.LooseParts(SOURCES["all of them"])
    mesh = new_lods.geometry(parts, "crate", boxes=False, smallest=0.1, density=1000)
    assert mesh.groups == [*(f"Component{number:02}" for number in range(1, 5)), *(f"part {n}" for n in range(4))]
    assert new_lods.LooseParts(SOURCES["all of them"]).joined(0.0)[0].tolist() == [0, 1, 2, 3, 4]
    assert parts.joined(0.1)[0].tolist() == [0, 1, 2, 3, 0]
    mass = mesh.values("mass", Domain.VERTEX)
    by_component = [float(mass[rows].sum()) for rows in named(mesh, "Component").values()]
    assert by_component[1:] == pytest.approx([1000, 10, 1000], abs=0.1), "a plate of 1 x 1 m, 1 cm thick weighs 10 kg"


def test_at_most_64_components():
    many = mesh_of(*(cube((2 * number, 0, 0), 1 + number / 100) for number in range(90)))
    mesh = new_lods.geometry(new_lods.LooseParts(many), "crate", boxes=True, smallest=0)
    assert len(named(mesh, "Component")) == new_lods.MOST_COMPONENTS
    assert mesh.groups[63] == "Component64"


def test_parts_are_connected_by_points_at_one_position():
    positions, faces = cube()
    split = mesh_of((positions[faces.ravel()], np.arange(faces.size).reshape(-1, 3)))
    parts = new_lods.LooseParts(split)
    assert (parts.part.max(), parts.is_open.tolist()) == (0, [False])
    assert len(new_lods.shadow(parts, "crate").positions) == 8


def test_the_shadow_of_a_closed_part_is_its_faces_and_of_an_open_one_its_hull():
    whole = new_lods.shadow(new_lods.LooseParts(SOURCES["ball"]), "ball")
    assert len(whole.counts) != len(SOURCES["ball"].counts), "the ball has no caps"
    closed = new_lods.shadow(new_lods.LooseParts(SOURCES["inside out"]), "crate")
    assert (len(closed.positions), len(closed.counts)) == (8, 12)


def with_uvs(materials=2):
    positions, triangles, uvs = ball()
    mesh = mesh_of((positions, triangles))
    mesh.uvs = uvs.astype(np.float32)
    mesh.materials = [Material(f"m{number}", "tag\\crate_co.paa") for number in range(materials)]
    mesh.material_index = np.zeros(len(triangles), np.int32)
    mesh.material_index[7] = materials - 1
    chosen = np.unique(triangles[[300, 301]]).astype(np.int32)
    mesh.groups.append("few")
    mesh.weights = VertexWeights(
        np.append(mesh.weights.vertices, chosen),
        np.append(mesh.weights.groups, np.full(len(chosen), 1, np.int32)),
        np.append(mesh.weights.weights, np.ones(len(chosen), np.float32)),
    )
    return mesh


@pytest.mark.parametrize("share", [0.5, 0.25, 0.01])
def test_a_resolution_has_every_material_and_selection_and_no_uv_is_mirrored(share):
    mesh = with_uvs()
    less = new_lods.resolution(mesh, share, "crate 2")
    assert len(less.counts) < 0.6 * len(mesh.counts)
    assert set(less.material_index.tolist()) == {0, 1}
    assert not mirrored(less.uvs.reshape(-1, 3, 2)).any()
    members = less.weights.vertices[less.weights.groups == less.groups.index("few")]
    inside = np.isin(less.corners.reshape(-1, 3), members).all(axis=1)
    assert inside.any(), "a selection keeps a face"
    assert findings(less, lod_kinds.RESOLUTION, {}) == findings(mesh, lod_kinds.RESOLUTION, {})


def test_the_points_of_an_item_in_dayz():
    points = new_lods.memory_points(lists.DAYZ, new_lods.ITEM, CUBE * [1, 0.2, 2] + [0, 0, 1])
    assert list(points) == ["boundingbox_min", "boundingbox_max", "ce_center", "ce_radius", "invview"]
    assert points["ce_center"].tolist() == pytest.approx([0.5, 0.1, 2])
    assert points["invview"].tolist() == pytest.approx([0.5, 0.1 - 3, 2]), "seen from the front, the thinnest side"
    assert "invview" not in new_lods.memory_points(lists.DAYZ, new_lods.HOUSE, CUBE)
    assert new_lods.memory_points(lists.ARMA3, new_lods.ITEM, CUBE) == {}


def test_properties_and_materials_by_game_and_kind():
    of = new_lods.named_properties
    assert of("DAYZ", "ITEM", lod_kinds.FIRE_GEOMETRY, has_shadow=True) == {"autocenter": "0"}
    assert of("ARMA3", "ITEM", lod_kinds.FIRE_GEOMETRY, has_shadow=True) == {}
    assert of("ARMA3", "TREE_SOFT", lod_kinds.GEOMETRY, has_shadow=False) == {
        "class": "treesoft",
        "map": "tree",
        "sbsource": "visualex",
        "prefershadowvolume": "0",
    }
    assert lists.penetration_material("DAYZ", "") == "dz\\data\\data\\penetration\\metalplate.rvmat"
    assert lists.penetration_material("ARMA3", "wood.rvmat") == "a3\\data_f\\penetration\\wood.rvmat"
    assert lists.penetration_material("ARMA3", "my/own.rvmat") == "my\\own.rvmat"
