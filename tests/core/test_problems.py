"""Findings name the elements they are about, counted against a mesh made to have them."""

import numpy as np
import pytest

from addon.core import problems
from addon.core.errors import WriteError
from addon.core.model import Domain, Mesh

POSITIONS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 0, 0], [np.nan, 0, 0], [0, 0.001, 0]], np.float32)


def mesh(*triangles):
    return Mesh("m", POSITIONS, np.array(triangles, np.int32).reshape(-1, 3))


def only(result):
    (problem,) = result
    return problem


def test_no_faces_is_fatal():
    problem = only(problems.no_faces(mesh()))
    assert problem.fatal
    assert len(problem.elements) == 0
    with pytest.raises(WriteError, match=r"'m': it has no faces\. Leave it out or give it faces\."):
        problems.refuse([problem], "m")
    assert not list(problems.no_faces(mesh([0, 1, 2])))


def test_faces_that_point_to_nowhere_are_fatal_and_named():
    problem = only(problems.points_to_nowhere(mesh([0, 1, 2], [0, 1, 6], [-1, 1, 2])))
    assert problem.fatal
    assert problem.elements.tolist() == [1, 2]
    assert problem.sentence.startswith("2 of 3 faces point to a vertex")
    assert not list(problems.points_to_nowhere(mesh([0, 1, 5])))


def test_a_finding_of_one_element_is_in_the_singular():
    problem = only(problems.points_to_nowhere(mesh([0, 1, 2], [0, 1, 6])))
    assert problem.sentence == "1 of 2 faces points to a vertex that does not exist"
    problem = only(problems.small_faces(mesh([0, 0, 1]), 0))
    assert problem.line == "1 of 1 face has no area; delete it, or merge its vertices"
    problem = only(problems.small_faces(mesh([0, 0, 1], [0, 0, 1]), 0))
    assert problem.line == "2 of 2 faces have no area; delete them, or merge their vertices"


def test_vertices_at_no_position():
    problem = only(problems.not_finite(mesh()))
    assert (problem.domain, problem.elements.tolist(), problem.fatal) == (Domain.VERTEX, [4], False)


def test_small_faces():
    faces = mesh([0, 1, 2], [0, 1, 3], [0, 1, 9], [0, 1, 5], [0, 0, 1])
    assert only(problems.small_faces(faces, 1e-3)).elements.tolist() == [1, 3, 4]
    assert only(problems.small_faces(faces, 0)).elements.tolist() == [1, 4]
    assert "0.001 m²" in only(problems.small_faces(faces, 1e-3)).sentence


def test_repeated_faces_by_index_not_by_number():
    positions = np.concatenate([POSITIONS[:3], POSITIONS[:3]])
    faces = Mesh("m", positions, np.array([[0, 1, 2], [3, 4, 5], [5, 4, 3], [0, 1, 9]], np.int32))
    assert only(problems.repeated_faces(faces)).elements.tolist() == [1, 2]


def test_numbers_the_file_cannot_hold():
    problem = only(problems.out_of_range(np.array([0, -1, 16383, 16384]), 16383, "material"))
    assert problem.elements.tolist() == [1, 3]
    assert problem.fatal


def test_what_is_not_fatal_is_not_refused():
    problems.refuse(problems.not_finite(mesh()), "m")
