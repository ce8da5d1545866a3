"""The matrix normal at grouped sites: what can be drawn directly and what cannot."""

from typing import Any

import cases
import jax
import pytest

import plait
from plait.site.base import MatrixSite

GROUPED = cases.SITES["conv-grouped"]


@pytest.mark.parametrize("family", [plait.MatrixNormal(), plait.MatrixNormalPlusDiagonal()])
def test_columns_correlated_across_groups_have_no_direct_draw(family: plait.Family, key: jax.Array):
    bnn, x = cases.build(family, GROUPED, key)
    site: Any = plait.record(bnn, x, likelihood=plait.likelihood.Gaussian(1.0), key=key).sites["w"].site
    assert isinstance(site, MatrixSite)
    says = "'w' has no direct draw .*correlated across the 2 groups.*estimator='weights' or columns='diagonal'"
    with pytest.raises(ValueError, match=says):
        bnn.posteriors["w"].output_noise(site, x, key)


@pytest.mark.parametrize("columns", ["diagonal", "cholesky", "householder"])
@pytest.mark.parametrize("groups", [1, 2])
def test_only_correlated_columns_mind_groups(columns: Any, groups: int, key: jax.Array):
    bnn, _ = cases.build(plait.MatrixNormal(columns=columns), GROUPED, key)
    refused = bnn.posteriors["w"].local_refusal(groups) is not None
    assert refused == (columns != "diagonal" and groups == 2)
