"""A mesh in parts: what is not touched comes together to the same arrays, what is new stands behind."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from addon.core import mesh_parts
from addon.core.model import FILE_FACE, FILE_VERTEX, Attribute, Domain, Mesh


def mesh_of(seed, vertices=9, faces=12):
    chance = np.random.default_rng(seed)
    return Mesh(
        "level",
        # Places that several vertices share: they must not be joined for that.
        chance.integers(0, 2, (vertices, 3)).astype(np.float32),
        chance.integers(0, vertices, (faces, 3)).astype(np.int32),
        attributes={
            "sector": Attribute(Domain.FACE, chance.integers(0, 3, faces).astype(np.int32)),
            "shadow": Attribute(Domain.FACE, chance.random(faces) < 0.5),
            "height": Attribute(Domain.VERTEX, chance.random(vertices).astype(np.float32)),
        },
    )


@given(st.integers(0, 2**32 - 1))
def test_parts_come_together_to_the_same_arrays(seed):
    mesh = mesh_of(seed)
    parts = mesh_parts.split(mesh, mesh.attributes["sector"].values)
    assert [key for key, _ in parts] == sorted(set(mesh.attributes["sector"].values.tolist()))
    for key, part in parts:
        assert (part.attributes["sector"].values == key).all()
        used = np.unique(part.triangles)
        assert key != parts[0][0] or len(used) <= len(part.positions)
        assert key == parts[0][0] or len(used) == len(part.positions)
    # Whatever the order in which a user has them.
    again = mesh_parts.join([part for _, part in reversed(parts)], "level")
    assert again.positions.tobytes() == mesh.positions.tobytes()
    assert (again.triangles == mesh.triangles).all()
    for name, attribute in mesh.attributes.items():
        assert again.attributes[name].values.tobytes() == attribute.values.tobytes()
        assert again.attributes[name].values.dtype == attribute.values.dtype


TWO = Mesh(
    "two",
    np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], np.float32),
    np.array([[0, 1, 2], [1, 3, 2]], np.int32),
)


def parts_of_two():
    return [part for _, part in mesh_parts.split(TWO, np.array([0, 1]))]


def test_a_copy_that_was_moved_becomes_a_vertex_of_its_own():
    first, second = parts_of_two()
    second.positions = second.positions + np.float32(1) * (second.attributes[FILE_VERTEX].values == 1)[:, None]
    whole = mesh_parts.join([first, second], "two")
    assert whole.positions.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [2, 1, 1]]
    assert whole.triangles.tolist() == [[0, 1, 2], [4, 3, 2]]


def test_deleted_faces_leave_the_others_in_order_and_new_ones_stand_behind():
    first, second = parts_of_two()
    faces = Attribute(Domain.FACE, np.array([-1, 0], np.int32))
    first = replace(
        first, triangles=first.triangles[[0, 0]][:, [1, 2, 0]], attributes=first.attributes | {FILE_FACE: faces}
    )
    whole = mesh_parts.join([second, first], "two")
    assert whole.attributes[FILE_FACE].values.tolist() == [0, 1, -1]
    assert whole.triangles.tolist() == [[1, 2, 0], [1, 3, 2], [1, 2, 0]]


def test_a_duplicated_face_is_new_the_second_time():
    first, second = parts_of_two()
    whole = mesh_parts.join([first, second, first], "two")
    assert whole.triangles.tolist() == [[0, 1, 2], [1, 3, 2], [0, 1, 2]]
    assert len(whole.positions) == 4


def test_parts_without_a_past_are_put_one_behind_the_other():
    whole = mesh_parts.join([TWO, TWO], "four")
    assert len(whole.positions) == 8
    assert whole.triangles.tolist() == [[0, 1, 2], [1, 3, 2], [4, 5, 6], [5, 7, 6]]


def test_an_attribute_that_a_part_lacks_is_zero_there():
    first, second = parts_of_two()
    second.attributes["sector"] = Attribute(Domain.FACE, np.array([7], np.int32))
    whole = mesh_parts.join([first, second], "two")
    assert whole.attributes["sector"].values.tolist() == [0, 7]


def test_nothing_joined_is_an_empty_mesh():
    whole = mesh_parts.join([], "none")
    assert whole.positions.shape == whole.triangles.shape == (0, 3)
