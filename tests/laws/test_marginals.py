"""Some rows and columns of a weight have their part of its distribution."""

import cases
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait

KEPT = {
    "dense-out-in": (np.array([0, 3]), np.array([0, 2])),
    "conv-2d": (np.array([0, 1]), np.array([0]), np.array([1]), np.array([0, 2])),
    "bias": (np.array([1, 2]),),
}
NOT_THEIR_OWN = (plait.RankOne, plait.Eigenbasis)
"""Families whose marginals are of another kind."""


@pytest.mark.parametrize("site", list(KEPT))
@pytest.mark.parametrize("family", [n for n, f in cases.FAMILIES.items() if not isinstance(f, NOT_THEIR_OWN)])
def test_a_marginal_has_the_moments_of_what_is_kept(family: str, site: str, key: jax.Array):
    with jax.enable_x64(True):
        bnn, _ = cases.build(cases.FAMILIES[family], cases.SITES[site], key)
        whole, kept = bnn.posteriors["w"], KEPT[site]
        part = whole.restricted(kept)
        assert part is not None
        assert part.layout.shape == part.mean.shape == tuple(len(index) for index in kept)
        assert (part.layout.fan_in, part.layout.fan_out) == part.layout.to_matrix(part.mean).shape
        np.testing.assert_array_equal(part.mean, whole.mean[np.ix_(*kept)])
        flat = np.arange(whole.mean.size).reshape(whole.mean.shape)[np.ix_(*kept)].reshape(-1)
        covariance = whole.covariance()[np.ix_(flat, flat)]
        np.testing.assert_allclose(part.covariance(), covariance, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(part.variance.reshape(-1), jnp.diagonal(covariance), rtol=1e-9)
        if part.entropy_is == "exact" and part.parts():
            size = part.mean.size
            dense = 0.5 * jnp.linalg.slogdet(covariance)[1] + 0.5 * size * (np.log(2 * np.pi) + 1)
            np.testing.assert_allclose(part.entropy(), dense, rtol=1e-7, atol=1e-7)
        assert part.num_params == sum(leaf.size for leaf in jax.tree.leaves(part))


@pytest.mark.parametrize("family", [n for n, f in cases.FAMILIES.items() if isinstance(f, NOT_THEIR_OWN)])
def test_a_family_without_marginals_of_its_own_kind_says_so(family: str, key: jax.Array):
    bnn, _ = cases.build(cases.FAMILIES[family], cases.SITES["dense-out-in"], key)
    assert bnn.posteriors["w"].restricted(KEPT["dense-out-in"]) is None
