"""LODs from Blender: unedited ones keep every byte, an edit changes the bytes that describe it, new ones are whole."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.binary import Writer
from addon.core.errors import WriteError
from addon.core.model import FILE_FACE, FILE_VERTEX, Attribute, Domain, Material, PolygonMesh, VertexWeights
from addon.core.report import Report
from addon.formats.arma import p3d
from addon.formats.arma.p3d.codec import _write_lod
from addon.formats.arma.p3d.document import FLASHPOINT, Tag
from addon.formats.arma.p3d.encoding import encode_lod
from addon.formats.arma.p3d.mesh import LodContent, ProxyContent, content_of
from tests.formats.arma.p3d.test_polygons import EDITABLE, level

SQUARE = [[0, 1, 2, 3], [0, 3, 4]]
POINTS_AND_FACES = 6 + 2


def bytes_of(lod) -> bytes:
    writer = Writer()
    _write_lod(writer, lod)
    return writer.getvalue()


def encoded(content, base):
    return encode_lod(content, base, Report())


def differing(entry: bytes, other: bytes) -> list[int]:
    assert len(entry) == len(other)
    return np.flatnonzero(np.frombuffer(entry, np.uint8) != np.frombuffer(other, np.uint8)).tolist()


def edited(lod, **changes):
    """What an import of the LOD has, and the same with fields of its mesh replaced."""
    content = content_of(lod, "x", Report())
    return replace(content, mesh=replace(content.mesh, **changes))


def tagged(*tags, faces=SQUARE):
    return level(faces, tags=[Tag(name, data) for name, data in tags])


@pytest.mark.parametrize("file", EDITABLE)
def test_a_moved_point_of_a_real_model_changes_its_own_bytes(file):
    for lod in p3d.read(file.read_bytes(), file.name, Report()).lods:
        content = content_of(lod, file.stem, Report())
        for point in np.setdiff1d(np.arange(len(lod.points)), _of_proxies(lod))[:1]:
            moved = content.mesh.positions.copy()
            moved[point] += np.float32(0.25)
            result, changes = encoded(replace(content, mesh=replace(content.mesh, positions=moved)), lod)
            assert changes.sentence() == "1 position changed"
            begin = 28 + len(lod.header_rest) + 16 * int(point)
            assert set(differing(bytes_of(result), bytes_of(lod))) <= set(range(begin, begin + 12))


def _of_proxies(lod):
    result = [lod.faces["corners"]["point"][faces != 0, :3] for name, _, faces in lod.selections() if "proxy:" in name]
    return np.unique(np.concatenate(result)) if result else np.zeros(0, int)


@pytest.mark.parametrize("file", EDITABLE)
def test_lods_of_real_models_written_as_new_ones_say_the_same(file):
    for lod in p3d.read(file.read_bytes(), file.name, Report()).lods:
        content = content_of(lod, file.stem, Report())
        created, changes = encoded(replace(content, proxies=()), None)
        assert changes.sentence() == "a new LOD"
        data = p3d.write(p3d.P3d(0x101, [created]))
        mesh = p3d.decode_polygons(p3d.read(data, "", Report()).lods[0], Report(), {}, file.stem)
        for name in ("positions", "counts", "corners"):
            assert np.array_equal(getattr(mesh, name), getattr(content.mesh, name), equal_nan=name == "positions")
        assert np.array_equal(mesh.uvs, content.mesh.uvs)
        assert np.abs(mesh.corner_normals - content.mesh.corner_normals).max(initial=0) <= 2e-4
        texts = [[(entry.materials[at].texture, entry.materials[at].shader) for at in entry.material_index] for entry in
                 (mesh, content.mesh)]  # fmt: skip
        assert texts[0] == texts[1]
        full = {name for name, weight in _weights(content.mesh).items() if weight}
        assert {name: weight for name, weight in _weights(mesh).items() if weight}.keys() == full
        for name in full:
            for vertex, weight in _weights(content.mesh)[name].items():
                assert abs(_weights(mesh)[name][vertex] - weight) <= 1 / 255


def _weights(mesh):
    result = {name: {} for name in mesh.groups}
    for vertex, group, weight in zip(mesh.weights.vertices, mesh.weights.groups, mesh.weights.weights, strict=True):
        result[mesh.groups[group]][int(vertex)] = float(weight)
    return result


def test_a_texture_coordinate_changes_its_corner_and_the_copy_in_set_0():
    lod = level(SQUARE)
    plain = lod.faces["corners"]["uv"][np.arange(4) < lod.faces["count"][:, None]]
    lod = level(SQUARE, tags=[Tag(b"#UVSet#", bytes(4) + plain.tobytes()), Tag(b"#UVSet#", b"\1\0\0\0" + bytes(56))])
    uvs = content_of(lod, "x", Report()).mesh.uvs.copy()
    uvs[4] = 0.75, 0.5
    result, changes = encoded(edited(lod, uvs=uvs), lod)
    assert changes.sentence() == "1 texture coordinate changed"
    assert result.faces["corners"]["uv"][1, 0].tolist() == [0.75, 0.5]
    stored = np.frombuffer(result.tags[0].data, "<f4", offset=4).reshape(-1, 2)
    assert stored[4].tolist() == [0.75, 0.5]
    assert np.array_equal(np.delete(stored, 4, 0), np.delete(plain, 4, 0))
    assert result.tags[1] is lod.tags[1]


def uv_tag(number, uvs):
    return Tag(b"#UVSet#", bytes((number, 0, 0, 0)) + np.asarray(uvs, "<f4").tobytes())


def uvs_of(tag):
    return np.frombuffer(tag.data, "<f4", offset=4).reshape(-1, 2)


def test_a_further_uv_map_changes_its_own_set():
    given = np.arange(14, dtype=np.float32).reshape(7, 2) / 7
    lod = level(SQUARE, tags=[uv_tag(1, given), uv_tag(2, 1 - given)])
    content = content_of(lod, "x", Report())
    assert list(content.mesh.more_uvs) == ["UVSet 1", "UVSet 2"]
    actual = content.mesh.more_uvs["UVSet 1"]
    assert np.array_equal(actual[:, 0], given[:, 0])
    assert np.array_equal(actual[:, 1], 1 - given[:, 1]), "v counts upwards in Blender"
    moved = actual.copy()
    moved[4] = 0.25, 0.75
    result, changes = encoded(edited(lod, more_uvs=content.mesh.more_uvs | {"UVSet 1": moved}), lod)
    assert changes.sentence() == "1 texture coordinate changed"
    assert uvs_of(result.tags[0])[4].tolist() == [0.25, 0.25]
    assert np.array_equal(np.delete(uvs_of(result.tags[0]), 4, 0), np.delete(given, 4, 0))
    assert result.tags[1] is lod.tags[1]
    assert np.array_equal(result.faces, lod.faces)


def test_uv_maps_are_deleted_and_added():
    given = np.arange(14, dtype=np.float32).reshape(7, 2) / 7
    lod = level(SQUARE, tags=[uv_tag(0, given * 0), uv_tag(2, given)])
    content = content_of(lod, "x", Report())
    result, changes = encoded(edited(lod, more_uvs={}), lod)
    assert changes.sentence() == "UV sets 2 -> 1 changed"
    assert [tag.name for tag in result.tags] == [b"#UVSet#", b"#EndOfFile#"]
    more = content.mesh.more_uvs | {"UVSet 1": np.full((7, 2), 0.5, np.float32)}
    result, changes = encoded(edited(lod, more_uvs=more), lod)
    assert changes.sentence() == "UV sets 2 -> 3 changed"
    assert [bytes(tag.data[:1]) for tag in result.tags if tag.name == b"#UVSet#"] == [b"\0", b"\2", b"\1"]
    assert result.tags[1] is lod.tags[1]
    assert (uvs_of(result.tags[2]) == 0.5).all()


def test_uv_sets_that_were_not_shown_stay():
    lod = level(SQUARE, tags=[uv_tag(1, np.arange(14, dtype=np.float32))])
    content = replace(edited(lod, more_uvs={}), shown_uvs=())
    result, changes = encoded(content, lod)
    assert (result is lod, bool(changes)) == (True, False)


def test_further_uvs_follow_deleted_and_new_faces():
    given = np.arange(14, dtype=np.float32).reshape(7, 2) / 7
    lod = level(SQUARE, tags=[uv_tag(1, given)])
    mesh = content_of(lod, "x", Report()).mesh
    corners, more = mesh.corners[:4][::-1].copy(), {"UVSet 1": np.full((4, 2), 0.5, np.float32)}
    left = {
        "counts": mesh.counts[:1],
        "corners": corners,
        "uvs": mesh.uvs[:4],
        "corner_normals": mesh.corner_normals[:4],
    }
    file_face = {**mesh.attributes, FILE_FACE: Attribute(Domain.FACE, np.array([-1], np.int32))}
    result, _ = encoded(edited(lod, **left, more_uvs=more, material_index=None, attributes=file_face), lod)
    assert len(result.faces) == 1
    assert (uvs_of(result.tags[0]) == 0.5).all()
    assert len(uvs_of(result.tags[0])) == 4


def test_names_of_the_file_itself_are_no_selections():
    """They would be read as the end of the LOD, or as its masses."""
    lod = tagged((b"hand", bytes((1, 0, 0, 0, 0, 0, 0, 0))))
    with pytest.raises(WriteError, match="'#EndOfFile#'") as refused:
        encoded(edited(lod, groups=["#EndOfFile#"]), lod)
    assert "Rename" in str(refused.value.remedy)


def test_many_new_proxies_lie_where_they_belong():
    positions = np.tile(np.eye(4), (3, 1, 1))
    positions[:, :3, 3] = np.arange(9).reshape(3, 3)
    content = replace(edited(level(SQUARE)), proxies=[ProxyContent("tag\\gun", position) for position in positions])
    result, changes = encoded(content, level(SQUARE))
    assert changes.sentence() == "3 proxies added"
    answer = list(p3d.proxies(p3d.read(p3d.write(p3d.P3d(0x101, [result])), "", Report()).lods[0]))
    assert [entry.name for entry in answer] == ["tag\\gun.001", "tag\\gun.002", "tag\\gun.003"]
    assert np.array_equal([entry.transform for entry in answer], positions)


def test_a_normal_that_no_face_uses_any_more_is_replaced():
    lod = level(SQUARE)
    lod.normals = np.array([[0, -1, 0], [0, 0, -1]], np.float32)
    lod.faces["corners"]["normal"][1, :3] = 1
    normals = content_of(lod, "x", Report()).mesh.corner_normals.copy()
    normals[4:] = 1, 0, 0
    result, changes = encoded(edited(lod, corner_normals=normals), lod)
    assert changes.sentence() == "3 normals changed"
    assert result.normals.tolist() == [[0, -1, 0], [-1, 0, 0]]
    assert np.array_equal(result.faces, lod.faces)
    normals[4] = 0, 1, 0
    result, _ = encoded(edited(lod, corner_normals=normals), lod)
    assert result.normals[1:].tolist() in ([[0, 0, -1], [-1, 0, 0]], [[-1, 0, 0], [0, 0, -1]])


def test_a_deleted_face_and_point_renumber_what_refers_to_them():
    pairs = np.array([[0, 1], [2, 4]], "<u4").tobytes()
    lod = tagged(
        (b"#SharpEdges#", pairs),
        (b"hand", bytes((1, 0, 128, 0, 1, 0, 0, 1))),
        (b".kept", bytes((0, 9, 0, 0, 8, 7, 6, 5))),
        (b"#Mass#", np.arange(6, dtype="<f4").tobytes()),
        (b"#Animation#", bytes(4) + np.arange(18, dtype="<f4").tobytes()),
        (b"#Selected#", bytes(range(8))),
    )
    content = content_of(lod, "x", Report())
    keep = np.array([0, 2, 3, 4, 5])
    weights = content.mesh.weights
    inside = weights.vertices != 1
    renumbered = np.searchsorted(keep, weights.vertices[inside]).astype(np.int32)
    mesh = replace(
        content.mesh,
        positions=content.mesh.positions[keep],
        counts=np.array([3], np.int32),
        corners=np.array([0, 2, 3], np.int32),
        uvs=content.mesh.uvs[4:],
        corner_normals=content.mesh.corner_normals[4:],
        material_index=np.zeros(1, np.int32),
        attributes={
            FILE_FACE: Attribute(Domain.FACE, np.array([1], np.int32)),
            FILE_VERTEX: Attribute(Domain.VERTEX, keep.astype(np.int32)),
            "mass": Attribute(Domain.VERTEX, content.mesh.attributes["mass"].values[keep]),
        },
        weights=VertexWeights(renumbered, weights.groups[inside], weights.weights[inside]),
        sharp_edges=np.array([[1, 3]], np.int32),
    )
    result, changes = encoded(replace(content, mesh=mesh), lod)
    assert changes.sentence() == "faces 2 -> 1, points 6 -> 5 changed"
    data = {tag.name: bytes(tag.data) for tag in result.tags}
    assert np.array_equal(result.points, lod.points[keep])
    assert result.faces["corners"]["point"][0].tolist() == [0, 2, 3, 0]
    assert data[b"#SharpEdges#"] == np.array([[1, 3]], "<u4").tobytes()
    assert data[b"hand"] == bytes((1, 128, 0, 1, 0, 1))
    assert data[b".kept"] == bytes((0, 0, 0, 8, 7, 5))
    assert np.frombuffer(data[b"#Mass#"], "<f4").tolist() == [0, 2, 3, 4, 5]
    assert np.frombuffer(data[b"#Animation#"], "<f4", offset=4).reshape(-1, 3)[:, 0].tolist() == [0, 6, 9, 12, 15]
    assert data[b"#Selected#"] == bytes((0, 2, 3, 4, 5, 7))


def test_new_points_and_faces_follow_those_of_the_file():
    lod = tagged((b"hand", bytes((1, 1, 1, 1, 0, 0, 1, 0))))
    lod.points["flags"][3] = 0x2000000
    lod.faces["flags"][0] = 7
    content = content_of(lod, "x", Report())
    mesh = content.mesh
    positions = np.append(mesh.positions, mesh.positions[[0, 1, 3]] + np.float32(5), axis=0)
    vertices = np.append(mesh.attributes[FILE_VERTEX].values, [-1, -1, 3]).astype(np.int32)  # the last one is a copy
    mesh = replace(
        mesh,
        positions=positions,
        counts=np.append(mesh.counts, 3).astype(np.int32),
        corners=np.append(mesh.corners, [6, 7, 8]).astype(np.int32),
        uvs=np.append(mesh.uvs, np.full((3, 2), 0.5, np.float32), axis=0),
        corner_normals=np.append(mesh.corner_normals, np.tile(np.float32([1, 0, 0]), (3, 1)), axis=0),
        material_index=np.append(mesh.material_index, 1).astype(np.int32),
        materials=[*mesh.materials, Material("b", "b.paa", "")],
        attributes={
            FILE_FACE: Attribute(Domain.FACE, np.array([0, 1, 0], np.int32)),
            FILE_VERTEX: Attribute(Domain.VERTEX, vertices),
        },
        weights=VertexWeights(
            np.append(mesh.weights.vertices, [6, 7, 8]).astype(np.int32),
            np.zeros(len(mesh.weights.groups) + 3, np.int32),
            np.append(mesh.weights.weights, [1, 0.5, 1]).astype(np.float32),
        ),
    )
    result, changes = encoded(replace(content, mesh=mesh), lod)
    assert changes.sentence() == "faces 2 -> 3, points 6 -> 9 changed"
    assert np.array_equal(result.points[:6], lod.points)
    assert result.points["flags"].tolist() == [0, 0, 0, 0x2000000, 0, 0, 0, 0, 0x2000000]
    assert np.array_equal(result.faces[:2], lod.faces)
    row = result.faces[2]
    assert (int(row["count"]), int(row["flags"]), row["corners"]["point"].tolist()) == (3, 7, [6, 7, 8, 0])
    assert result.textures()[result.face_texts[2]] == ("b.paa", "")
    assert result.normals[row["corners"]["normal"][0]].tolist() == [-1, 0, 0]
    (hand,) = (tag for tag in result.tags if tag.name == b"hand")
    assert bytes(hand.data) == bytes((1, 1, 1, 1, 0, 0, 1, 128, 1, 1, 0, 1))


def test_weights_are_written_as_the_vendors_tools_do_and_unedited_bytes_stay():
    lod = tagged((b"hand", bytes((1, 2, 255, 128, 0, 0, 1, 0))))
    content = content_of(lod, "x", Report())
    weights = content.mesh.weights.weights.copy()
    weights[0] = 0.25
    result, changes = encoded(
        replace(content, mesh=replace(content.mesh, weights=replace(content.mesh.weights, weights=weights))), lod
    )
    assert changes.sentence() == "1 selection changed"
    assert bytes(result.tags[0].data) == bytes((192, 2, 255, 128, 0, 0, 1, 0))
    two = [256 - round(256 * share) for share in (0.3, 0.7)]
    assert sum(two) == 256, "weights of one point that belong together"


def test_selections_are_added_renamed_and_deleted():
    lod = tagged((b"hand", bytes((1, 1, 1, 1, 0, 0, 1, 0))), (b"#Property#", bytes(128)))
    result, changes = encoded(edited(lod, groups=["arm"]), lod)
    assert changes.sentence() == "1 selection added, 1 selection deleted"
    assert [(tag.name, bytes(tag.data)[:8]) for tag in result.tags[:2]] == [
        (b"arm", bytes((1, 1, 1, 1, 0, 0, 1, 0))),
        (b"#Property#", bytes(8)),
    ]
    assert encoded(edited(lod, groups=["HAND"]), lod)[0] is lod, "the game ignores case"


def named(name: bytes, value: bytes) -> Tag:
    return Tag(b"#Property#", name.ljust(64, b"\0") + value.ljust(63, b"\0") + b"!")


def test_named_properties_keep_their_bytes_unless_edited():
    lod = level(SQUARE, tags=[named(b"autocenter", b"1"), named(b"lodnoshadow", b"1"), named(b"class", b"man")])
    content = content_of(lod, "x", Report())
    given = {"autocenter": "0", "class": "man", "map": "tree"}
    result, changes = encoded(replace(content, properties=given), lod)
    assert changes.sentence() == "1 named property changed, 1 named property added, 1 named property deleted"
    assert [bytes(tag.data) for tag in result.tags[:-1]] == [
        b"autocenter".ljust(64, b"\0") + b"0".ljust(64, b"\0"),
        bytes(lod.tags[2].data),
        b"map".ljust(64, b"\0") + b"tree".ljust(64, b"\0"),
    ]
    with pytest.raises(WriteError, match="more than 63 characters"):
        encoded(replace(content, properties={"class": "x" * 64}), lod)


TRIANGLE = np.array([(1, 1, 1), (1, 3, 1), (1, 1, 2)], np.float32)


def with_proxy():
    faces = [[0, 1, 2, 3], [4, 5, 6]]
    tags = [
        Tag(b"proxy:\\a\\b.001", bytes((0, 0, 0, 0, 1, 1, 1, 0, 1))),
        Tag(b"body", bytes((1, 1, 1, 1, 0, 0, 0, 1, 0))),
    ]
    lod = level(faces, points=7, tags=tags)
    lod.points["position"][4:] = TRIANGLE
    return lod


def test_a_moved_proxy_moves_its_triangle_alone():
    lod = with_proxy()
    content = content_of(lod, "x", Report())
    (entry,) = content.proxies
    moved = entry.transform.copy()
    moved[:3, 3] += (1, 2, 4)  # up is z in Blender, y in the file
    result, changes = encoded(replace(content, proxies=[replace(entry, transform=moved)]), lod)
    assert changes.sentence() == "1 proxy changed"
    assert np.array_equal(result.points[:4], lod.points[:4])
    assert result.points["position"][4:].tolist() == (TRIANGLE + np.float32([1, 4, 2])).tolist()
    again = content_of(result, "x", Report())
    np.testing.assert_allclose(again.proxies[0].transform, moved, atol=1e-6)


def test_vertices_of_a_proxy_that_are_moved_or_deleted_in_the_mesh_change_nothing():
    lod = with_proxy()
    content = content_of(lod, "x", Report())
    positions = content.mesh.positions.copy()
    positions[5] += 9
    assert encoded(replace(content, mesh=replace(content.mesh, positions=positions)), lod)[0] is lod
    without = replace(
        content.mesh,
        positions=content.mesh.positions[:4],
        attributes=content.mesh.attributes | {FILE_VERTEX: Attribute(Domain.VERTEX, np.arange(4, dtype=np.int32))},
    )
    result, changes = encoded(replace(content, mesh=without), lod)
    assert (bytes_of(result), changes.sentence()) == (bytes_of(lod), "nothing changed")


def test_deleted_and_new_proxies():
    lod = with_proxy()
    content = content_of(lod, "x", Report())
    result, changes = encoded(replace(content, proxies=[]), lod)
    assert changes.sentence() == "1 proxy deleted"
    assert (len(result.points), len(result.faces)) == (4, 1)
    assert [tag.name for tag in result.tags] == [b"body", b"#EndOfFile#"]
    turned = np.eye(4)
    turned[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    turned[:3, 3] = 1, 2, 3
    new = ProxyContent("p\\gun.002", turned)
    result, changes = encoded(replace(content, proxies=[*content.proxies, new]), lod)
    assert changes.sentence() == "1 proxy added"
    assert np.array_equal(result.points[:7], lod.points)
    assert result.points["flags"][7:].tolist() == [0x1000000] * 3
    first, second = content_of(result, "x", Report()).proxies
    assert (first.path, second.path) == ("\\a\\b.001", "p\\gun.002")
    np.testing.assert_allclose(second.transform, turned, atol=1e-6)
    body = next(tag for tag in result.tags if tag.name == b"body")
    assert bytes(body.data) == bytes((1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0))


def test_a_renamed_proxy_keeps_its_triangle():
    lod = with_proxy()
    content = content_of(lod, "x", Report())
    (entry,) = content.proxies
    result, changes = encoded(replace(content, proxies=[replace(entry, path="c\\d.001")]), lod)
    assert changes.sentence() == "1 proxy changed"
    assert [tag.name for tag in result.tags] == [b"proxy:c\\d.001", b"body", b"#EndOfFile#"]
    assert np.array_equal(result.points, lod.points)


def test_renamed_proxies_do_not_get_the_name_of_another_one():
    faces = [[0, 1, 2], [3, 4, 5]]
    members = [bytes((1, 1, 1, 0, 0, 0, 1, 0)), bytes((0, 0, 0, 1, 1, 1, 0, 1))]
    lod = level(faces, tags=[Tag(b"proxy:%c.001" % name, rows) for name, rows in zip(b"ab", members, strict=True)])
    content = content_of(lod, "x", Report())

    def written(*paths):
        wanted = [replace(proxy, path=path) for proxy, path in zip(content.proxies, paths, strict=False)]
        wanted += [ProxyContent(path, np.eye(4)) for path in paths[2:]]
        return [proxy.name for proxy in p3d.proxies(encoded(replace(content, proxies=wanted), lod)[0])]

    assert written("B.001", "b.001") == ["B.002", "b.001"]
    assert written("b.001", "b.001", "b.001") == ["b.002", "b.001", "b.003"]
    assert written("b.001", "a.001") == ["b.001", "a.001"]
    assert written("c", "c") == ["c", "c.001"]


def test_typed_paths_have_backslashes_and_those_of_the_file_keep_their_slashes():
    lod = with_proxy()
    lod.texts[0] = b"tag/of_file_co.paa", b"tag\\a.rvmat"
    lod.tags[0] = Tag(b"proxy:a/b.001", lod.tags[0].data)
    content = content_of(lod, "x", Report())
    (proxy,) = content.proxies
    assert encoded(content, lod)[0] is lod
    copies = [proxy, proxy, replace(proxy, source=-1, path="tag/gun.001")]
    shader = replace(content.mesh.materials[0], shader="tag/b.rvmat")
    mesh = replace(content.mesh, materials=[shader, *content.mesh.materials[1:]])
    report = Report()
    result, _ = encode_lod(replace(content, mesh=mesh, proxies=copies), lod, report)
    assert result.textures()[result.face_texts[0]] == ("tag/of_file_co.paa", "tag\\b.rvmat")
    assert [proxy.name for proxy in p3d.proxies(result)] == ["a/b.001", "a/b.002", "tag\\gun.001"]
    typed = "the games separate folders by \\, so {} is written as {} (x)".format
    assert report.lines() == [
        typed("tag/b.rvmat", "tag\\b.rvmat"),
        typed("tag/gun.001", "tag\\gun.001"),
    ]
    colour = "#(argb,8,8,3)color(1/2,0,0,1)"
    new = replace(mesh, materials=[Material("a", "tag/a_co.paa", ""), Material("b", colour)])
    result, _ = encoded(LodContent(new, 1.0, proxies=()), None)
    assert [result.textures()[text] for text in result.face_texts] == [("tag\\a_co.paa", "")] * len(result.faces)
    result, _ = encoded(LodContent(replace(new, material_index=np.ones(1, np.int32)), 1.0, proxies=()), None)
    assert [result.textures()[text] for text in result.face_texts] == [(colour, "")]


def test_sharp_edges_are_added_and_removed_one_by_one():
    pairs = [[3, 0], [2, 2], [0, 1], [1, 5]]  # the second and the last are edges of no face
    lod = tagged((b"#SharpEdges#", np.array(pairs, "<u4").tobytes()))
    content = content_of(lod, "x", Report())
    now = replace(content.mesh, sharp_edges=np.array([[0, 1], [2, 3]], np.int32))
    result, changes = encoded(replace(content, mesh=now), lod)
    assert changes.sentence() == "sharp edges changed"
    assert np.frombuffer(result.tags[0].data, "<u4").reshape(-1, 2).tolist() == [[2, 2], [0, 1], [1, 5], [2, 3]]


def test_faces_that_cannot_be_shown_stay_with_their_points():
    lod = level([[0, 1, 2], [3, 3, 3], [1, 1, 2, 4]])
    content = content_of(lod, "x", Report())
    positions = content.mesh.positions.copy()
    positions[0] += 1
    result, _ = encoded(replace(content, mesh=replace(content.mesh, positions=positions)), lod)
    assert np.array_equal(result.faces, lod.faces)
    uvs = content.mesh.uvs.copy()
    uvs[3:] = 0.25, 0.25
    result, _ = encoded(replace(content, mesh=replace(content.mesh, uvs=uvs)), lod)
    assert result.faces["corners"]["uv"][2].tolist() == [[0, 0], [0.25, 0.75], [0.25, 0.75], [0.25, 0.75]]


def test_of_several_tags_with_one_name_the_first_is_edited_and_the_others_stay():
    first, second = np.arange(6, dtype="<f4").tobytes(), np.full(6, 9, "<f4").tobytes()
    pairs = [np.array([pair], "<u4").tobytes() for pair in ([0, 1], [1, 2])]
    lod = tagged((b"#SharpEdges#", pairs[0]), (b"#SharpEdges#", pairs[1]), (b"#Mass#", first), (b"#Mass#", second))
    content = content_of(lod, "x", Report())
    assert encoded(content, lod)[0] is lod
    mass = np.array([7, 1, 2, 3, 4, 5], np.float32)
    attributes = content.mesh.attributes | {"mass": Attribute(Domain.VERTEX, mass)}
    result, changes = encoded(replace(content, mesh=replace(content.mesh, attributes=attributes)), lod)
    assert changes.sentence() == "1 point with another mass changed"
    assert [bytes(tag.data) for tag in result.tags[:4]] == [*pairs, mass.tobytes(), second]


def test_masses_stay_if_the_attribute_is_deleted():
    lod = tagged((b"#Mass#", np.arange(6, dtype="<f4").tobytes()))
    content = content_of(lod, "x", Report())
    vertex = {FILE_VERTEX: Attribute(Domain.VERTEX, np.arange(5, dtype=np.int32))}
    mesh = replace(content.mesh, positions=content.mesh.positions[:5], attributes=content.mesh.attributes | vertex)
    del mesh.attributes["mass"]
    result, _ = encoded(replace(content, mesh=mesh), lod)
    assert np.frombuffer(result.tags[0].data, "<f4").tolist() == [0, 1, 2, 3, 4]


def test_flashpoint_lods_store_fixed_fields():
    lod = level(SQUARE)
    lod.signature, lod.version = FLASHPOINT, 0x99
    lod.texts = [(b"a.pac".ljust(32, b"\0"), b"")]
    lod.tags = [Tag(b"#EndOfFile#".ljust(64, b"\0"), b"")]
    content = content_of(lod, "x", Report())
    assert encoded(content, lod)[0] is lod
    other = [Material("b", "b.pac", "")]
    weights = VertexWeights(np.zeros(1, np.int32), np.zeros(1, np.int32), np.ones(1, np.float32))
    mesh = replace(content.mesh, materials=other, groups=["hlava"], weights=weights)
    result, changes = encoded(replace(content, mesh=mesh), lod)
    assert changes.sentence() == "2 faces with another texture or material changed, 1 selection added"
    assert result.texts[result.face_texts[0]] == (b"b.pac".ljust(32, b"\0"), b"")
    assert result.tags[0].field == b"hlava".ljust(64, b"\0")
    assert p3d.read(p3d.write(p3d.P3d(0x101, [result])), "", Report()).lods[0].textures()
    with pytest.raises(WriteError, match="cannot store"):
        encoded(replace(content, mesh=replace(mesh, materials=[Material("b", "b.pac", "b.rvmat")])), lod)


def test_what_no_lod_stores_is_refused_with_a_remedy():
    lod = level(SQUARE)
    content = content_of(lod, "x", Report())
    five = replace(content.mesh, counts=np.array([5], np.int32), corners=np.arange(5, dtype=np.int32))
    with pytest.raises(WriteError, match=r"a face with 5 corners.*Triangulate"):
        encoded(replace(content, mesh=five), None)
    positions = content.mesh.positions.copy()
    positions[0, 0] = np.nan
    with pytest.raises(WriteError, match="NaN or infinite position"):
        encoded(replace(content, mesh=replace(content.mesh, positions=positions)), lod)


def test_nan_values_of_a_damaged_file_stay():
    lod = level(SQUARE)
    lod.points["position"][0, 0] = np.nan
    lod.normals[0] = np.nan
    lod.faces["corners"]["uv"][0, 0] = np.inf
    content = content_of(lod, "x", Report())
    assert encoded(content, lod)[0] is lod


@pytest.mark.parametrize("bits", [0x7F800001, 0x7FC00000, 0xFFC00001, 0x7F800000])
def test_a_resolution_that_is_not_finite_keeps_its_bits(bits):
    lod = level(SQUARE)
    lod.resolution = np.array(bits, np.uint32).view(np.float32)[()]
    again, changes = encoded(content_of(lod, "x", Report()), lod)
    assert (again is lod, changes.sentence()) == (True, "nothing changed")


def test_a_new_lod_has_the_tags_of_the_vendors_tools_in_their_order():
    content = LodContent(
        PolygonMesh(
            "new",
            np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1]], np.float32),
            np.array([3], np.int32),
            np.array([0, 1, 2], np.int32),
            np.array([[0, 0], [1, 0], [0, 1]], np.float32),
            material_index=np.zeros(1, np.int32),
            materials=[Material("m", "tag\\a_co.paa", "tag\\a.rvmat")],
            attributes={"mass": Attribute(Domain.VERTEX, np.array([1, 2, 3], np.float32))},
            groups=["camo", "empty"],
            weights=VertexWeights(np.arange(3, dtype=np.int32), np.zeros(3, np.int32), np.ones(3, np.float32)),
            corner_normals=np.tile(np.float32([0, -1, 0]), (3, 1)),
            sharp_edges=np.array([[1, 0]], np.int32),
        ),
        1e13,
        {"autocenter": "0"},
        [ProxyContent("p\\a.001", np.eye(4))],
    )
    lod, _ = encoded(content, None)
    read = p3d.read(p3d.write(p3d.P3d(0x101, [lod])), "", Report()).lods[0]
    assert (read.kind, read.signature, read.version, read.flags) == ("Geometry", b"P3DM", 0x100, 0)
    assert [tag.name for tag in read.tags] == [
        b"#SharpEdges#", b"camo", b"proxy:p\\a.001", b"#Property#", b"#Mass#", b"#UVSet#", b"#EndOfFile#",
    ]  # fmt: skip
    assert read.normals.tolist() == [[0, 0, 1], [0, 1, 0]], "turned round, y and z exchanged"
    assert np.frombuffer(read.tags[4].data, "<f4").tolist() == [1, 2, 3, 0, 0, 0]
    assert bytes(read.tags[1].data) == bytes((1, 1, 1, 0, 0, 0, 1, 0))


FACES = st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=4, unique=True), min_size=1, max_size=8)


@given(FACES, st.data())
def test_any_part_of_a_lod_can_be_deleted_and_the_rest_says_the_same(faces, data):
    """The judge is another reading: what is left of the mesh, decoded from the written LOD."""
    weights = bytes(data.draw(st.lists(st.integers(0, 255), min_size=6 + len(faces), max_size=6 + len(faces))))
    lod = level(faces, tags=[Tag(b"hand", weights), Tag(b"#Mass#", np.arange(6, dtype="<f4").tobytes())])
    content = content_of(lod, "x", Report())
    mesh = content.mesh
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(mesh.counts), max_size=len(mesh.counts))), bool)
    corner = np.repeat(kept, mesh.counts)
    used = np.zeros(6, bool)
    used[mesh.corners[corner]] = True
    used |= np.array(data.draw(st.lists(st.booleans(), min_size=6, max_size=6)))
    number = np.cumsum(used) - 1
    inside = used[mesh.weights.vertices]
    left = replace(
        mesh,
        positions=mesh.positions[used],
        counts=mesh.counts[kept],
        corners=number[mesh.corners[corner]].astype(np.int32),
        uvs=mesh.uvs[corner],
        corner_normals=mesh.corner_normals[corner],
        material_index=mesh.material_index[kept],
        attributes={
            name: Attribute(attribute.domain, attribute.values[kept if attribute.domain is Domain.FACE else used])
            for name, attribute in mesh.attributes.items()
        },
        weights=VertexWeights(
            number[mesh.weights.vertices[inside]].astype(np.int32),
            mesh.weights.groups[inside],
            mesh.weights.weights[inside],
        ),
    )
    result, changes = encoded(replace(content, mesh=left), lod)
    assert bool(changes) == (not (kept.all() and used.all()))
    written = p3d.read(p3d.write(p3d.P3d(0x101, [result])), "", Report()).lods[0]
    again = p3d.decode_polygons(written, Report(), {}, "x")
    for name in ("positions", "counts", "corners", "uvs", "corner_normals"):
        assert np.array_equal(getattr(again, name), getattr(left, name))
    if used.any():
        assert np.array_equal(again.attributes["mass"].values, left.attributes["mass"].values)
    assert _weights(again) == _weights(left)


ODD = {"a face at a missing point": (3, 6, 0), "at a missing normal": (3, 5, 1), "of two corners": (2, 5, 0)}


@pytest.mark.parametrize("edit", ["a vertex is deleted", "vertices are added", "a proxy is added", "normals are added"])
def test_faces_that_blender_does_not_show_stay_so_when_others_are_edited(edit):
    lod = level([[0, 1, 2, 3], *([4, 5, 3] for _ in ODD)], tags=[Tag(b"spine", bytes((1,)) * 10)])
    for row, (count, point, normal) in zip(lod.faces[1:], ODD.values(), strict=True):
        row["count"] = count
        row["corners"]["point"][1], row["corners"]["normal"][0] = point, normal
    content = content_of(lod, "x", Report())
    mesh, proxies = content.mesh, [ProxyContent("man", np.eye(4))] if edit == "a proxy is added" else None
    assert len(mesh.counts) == 1
    if edit == "normals are added":
        mesh = replace(mesh, corner_normals=np.eye(3, dtype=np.float32)[[0, 1, 2, 0]])
    elif edit != "a proxy is added":
        kept = [0, 1, 2, 3, 4, 5, 5, 5] if edit == "vertices are added" else [1, 2, 3, 4, 5]
        faces = 1 if edit == "vertices are added" else 0
        rows = Attribute(Domain.VERTEX, np.array(kept[:6] + [-1] * (len(kept) - 6), np.int32))
        mesh = PolygonMesh(
            "x",
            mesh.positions[kept],
            mesh.counts[:faces],
            mesh.corners[: 4 * faces],
            mesh.uvs[: 4 * faces],
            corner_normals=mesh.corner_normals[: 4 * faces],
            attributes={FILE_VERTEX: rows, FILE_FACE: Attribute(Domain.FACE, np.zeros(faces, np.int32))},
            groups=["spine"],
            weights=VertexWeights(*(np.zeros(1, kind) for kind in (np.int32, np.int32, np.float32))),
        )
    result, changes = encoded(replace(content, mesh=mesh, proxies=proxies), lod)
    assert changes
    odd = result.faces[[at for at, complete in enumerate(result.complete_faces()) if not complete]]
    assert odd["count"].tolist() == [3, 3, 2]
    behind = odd["corners"]["point"][0, 1] - len(result.points), odd["corners"]["normal"][1, 0] - len(result.normals)
    assert behind == (0, 0)
    moved = len(result.points) - len(lod.points) if edit == "a vertex is deleted" else 0
    assert odd["corners"]["point"][:, 0].tolist() == [4 + moved] * 3
    assert len(result.tags[0].data) == len(result.points) + len(result.faces)
