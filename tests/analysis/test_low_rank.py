"""Plain approximations of low rank: the data of heat maps."""

import numpy as np
import pytest

import plait
from plait.analysis import approximate_stds
from plait.analysis.low_rank import low_rank


def test_the_approximation_is_the_nearest_of_its_rank(seed: int):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(6, 4))
    values = np.linalg.svd(matrix, compute_uv=False)
    for rank in (1, 2, 3):
        near = low_rank(matrix, rank)
        assert np.linalg.matrix_rank(near) == rank
        np.testing.assert_allclose(np.linalg.norm(matrix - near), np.sqrt(np.sum(values[rank:] ** 2)))
    np.testing.assert_allclose(low_rank(matrix, 9), matrix, atol=1e-12)


def test_heat_maps_show_each_matrix_and_its_ranks(bnn: plait.BayesianModel):
    found = approximate_stds(bnn, ranks=(1, 2))
    assert [each.path for each in found] == ["conv", "first", "last"]
    for each in found:
        assert each.by_rank.keys() == {1, 2}
        assert 0 < each.relative_error(2) < each.relative_error(1) < 1


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("rank", [0, True, 1.5])
def test_what_is_no_rank_is_refused(bnn: plait.BayesianModel, rank):
    with pytest.raises(ValueError, match="`rank` must be a positive integer"):
        approximate_stds(bnn, ranks=(rank,))


def test_constants_have_no_standard_deviations(tools):
    with pytest.raises(ValueError, match="no weight of this model has standard deviations to approximate"):
        approximate_stds(tools.build(plait.Point()))
