"""Spectra: shares of variance, the effective rank, and what has a spectrum."""

import csv

import equinox as eqx
import hypothesis
import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.analysis import Spectrum, spectra

SHAPES = hnp.array_shapes(min_dims=2, max_dims=2, max_side=6)
MATRICES = hnp.arrays(np.float64, SHAPES, elements=st.integers(-1000, 1000).map(float))


@hypothesis.given(MATRICES)
@hypothesis.settings(max_examples=50, deadline=None)
def test_explained_variance_sums_to_one_and_falls(matrix: np.ndarray):
    spectrum = Spectrum.of(matrix)
    if not matrix.any():
        assert spectrum.explained.sum() == spectrum.effective_rank == 0
        return
    np.testing.assert_allclose(spectrum.explained.sum(), 1)
    assert (np.diff(spectrum.explained) <= 0).all()
    assert 1 - 1e-9 <= spectrum.effective_rank <= min(matrix.shape) + 1e-9
    assert spectrum.explained[: spectrum.rank_for(0.9)].sum() >= 0.9 - 1e-9


@hypothesis.given(MATRICES, st.floats(1e-3, 1e3))
@hypothesis.settings(max_examples=25, deadline=None)
def test_explained_variance_knows_no_unit_and_no_side(matrix: np.ndarray, unit: float):
    one = Spectrum.of(matrix).explained
    np.testing.assert_allclose(Spectrum.of(unit * matrix).explained, one, atol=1e-9)
    np.testing.assert_allclose(Spectrum.of(matrix.T).explained, one, atol=1e-9)


def test_the_effective_rank_counts_equal_directions():
    for rank in (1, 2, 5):
        assert Spectrum.of(np.diag([3.0] * rank + [0.0] * (5 - rank))).effective_rank == pytest.approx(rank)


def test_kernels_are_flattened_to_taps_and_channels_by_outputs(bnn: plait.BayesianModel):
    found = spectra(bnn)
    assert [weight.path for weight in found.weights] == ["conv", "first", "last"]
    assert found["conv"].shape == (18, 8)
    posterior = bnn.posteriors["conv"]
    flat = np.asarray(posterior.std, np.float64).reshape(18, 8)
    assert found["conv"].stds is not None
    np.testing.assert_allclose(found["conv"].stds.singular_values, np.linalg.svd(flat, compute_uv=False), rtol=1e-5)


def test_equinox_and_flax_orders_have_one_spectrum(key: jax.Array):
    weight = jax.random.normal(key, (5, 7))
    x = jnp.zeros((2, 5))
    one = plait.bayesianize(weight, x, apply=lambda w, x: x @ w, key=key)
    other = plait.bayesianize(weight.T, x, apply=lambda w, x: x @ w.T, key=key)
    for a, b in zip(spectra(one).weights, spectra(other).weights, strict=True):
        assert a.shape == b.shape == (5, 7)
        np.testing.assert_allclose(a.means.singular_values, b.means.singular_values, rtol=1e-5)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_tied_standard_deviations_have_exactly_their_rank(tools, rank: int):
    bnn = tools.build(plait.Tied(rank, init_spread=0.5))
    for weight in spectra(bnn).weights:
        assert weight.stds is not None
        values = weight.stds.singular_values
        assert values[rank - 1] > 1e-4 * values[0]
        assert (values[rank:] < 1e-6 * values[0]).all()


@pytest.mark.parametrize(
    "family",
    [
        plait.LowRank(1),
        plait.MatrixNormal(),
        plait.FullCovariance(),
        plait.FullCovariance(joint=True),
        plait.RankOne(2),
        plait.MatrixNormalPlusDiagonal(),
    ],
    ids=str,
)
def test_every_family_with_moments_has_spectra(tools, family: plait.Family):
    prior = plait.Normal(0.1, mean=1.0) if isinstance(family, plait.RankOne) else None
    found = spectra(tools.build(family, prior=prior))
    assert all(weight.stds is not None and weight.stds.effective_rank >= 1 - 1e-6 for weight in found.weights)


def test_constants_and_distributions_without_variance_have_spectra_of_means_only(tools):
    assert all(weight.stds is None for weight in spectra(tools.build(plait.Point())).weights)
    cauchy = tools.build(plait.RankOne(2, family="cauchy"), prior=plait.Cauchy(0.1, 1.0))
    assert all(weight.stds is None for weight in spectra(cauchy).weights)


def test_the_table_and_the_file_have_every_spectrum(tmp_path, bnn: plait.BayesianModel):
    found = spectra(bnn)
    lines = str(found).splitlines()
    assert lines[0].split()[:4] == ["weight", "kind", "matrix", "of"]
    assert len(lines) == 2 + 2 * 3
    assert "18 × 8" in lines[2]
    found.to_csv(tmp_path / "spectra.csv")
    with (tmp_path / "spectra.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * (8 + 8 + 6)
    ours = [float(row["explained_variance"]) for row in rows if row["weight"] == "last" and row["of"] == "stds"]
    assert found["last"].stds is not None
    np.testing.assert_allclose(ours, found["last"].stds.explained)


def test_what_has_no_spectrum_is_said(bnn: plait.BayesianModel, key: jax.Array):
    with pytest.raises(KeyError, match=r"no spectrum of 'bias'; there are those of conv, first, last"):
        spectra(bnn)["bias"]
    with pytest.raises(ValueError, match=r"`share` is a part of the variance, in \(0, 1\], got 0"):
        Spectrum.of(np.eye(2)).rank_for(0.0)
    shift = plait.bayesianize(jnp.zeros(3), jnp.zeros((2, 3)), apply=lambda b, x: x + b[None], key=key)
    with pytest.raises(ValueError, match="no weight of this model is a matrix"):
        spectra(shift)


def test_stacked_models_are_analysed_one_by_one(bnn: plait.BayesianModel):
    stacked = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]) if eqx.is_array(leaf) else leaf, bnn)
    with pytest.raises(ValueError, match=r"'conv' should have the shape .* trained side by side .* `Fit.unstack\(\)`"):
        spectra(stacked)
