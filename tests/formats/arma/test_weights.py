"""Weights of bones as a file stores them: which vertices change, and to what."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from addon.core.model import VertexWeights
from addon.formats.arma.p3d import weights
from addon.formats.arma.p3d.tags import weight_bytes

VERTICES, GROUPS = 6, 8
BONES = np.array([0, 1, 2, 3, 4, 5, 0, -2], np.int32)
"""The bone of group 6 is one that the game lacks, below that of group 0; group 7 is no bone."""


def table(rows):
    return VertexWeights(
        np.array([vertex for vertex, _, _ in rows], np.int32),
        np.array([group for _, group, _ in rows], np.int32),
        np.array([weight for _, _, weight in rows], np.float32),
    )


def of_vertex(result, vertex):
    rows = result.vertices == vertex
    return dict(zip(result.groups[rows].tolist(), result.weights[rows].tolist(), strict=True))


@given(
    st.dictionaries(
        st.tuples(st.integers(0, VERTICES - 1), st.integers(0, GROUPS - 1)),
        st.floats(0, 1, width=32, allow_subnormal=False),
    )
)
def test_what_is_cleaned_is_stored_as_it_is_and_stays(chosen):
    given_weights = table([(*key, weight) for key, weight in chosen.items()])
    result = weights.clean(given_weights, BONES, VERTICES)
    assert set(result.vertices.tolist()) == set(result.weights.vertices.tolist())
    for vertex in result.vertices.tolist():
        own = of_vertex(result.weights, vertex)
        assert 1 <= len(own) <= 4
        assert sum(own.values()) == 1
        assert not {6, 7} & own.keys()
        stored = weight_bytes(np.array([*own.values()])).astype(int)
        assert len(own) == 1 or (256 - stored).sum() == 256
    again = weights.clean(result.weights, BONES, VERTICES)
    assert not len(again.vertices)


def test_vertices_that_the_game_stores_as_they_are_stay():
    rows = [(0, 0, 0.5), (0, 1, 0.5), (1, 7, 0.3), (2, 0, 1.004)]
    assert not len(weights.clean(table(rows), BONES, VERTICES).vertices)


def test_the_heaviest_four_bones_stay_and_others_give_their_weights():
    five = [(0, group, weight) for group, weight in enumerate((0.4, 0.3, 0.15, 0.1, 0.05))]
    result = weights.clean(table([*five, (1, 6, 0.5), (1, 1, 0.5), (2, 2, 0.5)]), BONES, VERTICES)
    assert (result.crowded, result.uneven, result.foreign) == (1, 1, 1)
    assert list(of_vertex(result.weights, 0)) == [0, 1, 2, 3]
    np.testing.assert_allclose(list(of_vertex(result.weights, 0).values()), np.array([8, 6, 3, 2]) / 19, atol=1 / 256)
    assert of_vertex(result.weights, 1) == {0: 0.5, 1: 0.5}
    assert of_vertex(result.weights, 2) == {2: 1}
