"""`compress`: from a mean field to a k-tied Normal, what it costs and what it saves."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.analysis import compress, spectra
from plait.analysis.compressible import log_std_of
from plait.analysis.tie import kl_of_stds
from plait.posterior import TiedPosterior


@pytest.mark.parametrize("rank", [1, 2])
def test_standard_deviations_of_the_rank_are_kept(tools, rank: int):
    bnn = tools.build()
    for path, (fan_in, fan_out) in {"conv": (18, 8), "first": (8, 10), "last": (10, 6)}.items():
        bnn = tools.with_stds(bnn, path, tools.positive_of_rank(rank, fan_in, fan_out, seed=rank))
    found = compress(bnn, rank)
    assert found.ranks == {"conv": rank, "first": rank, "last": rank}
    assert found.loss < 1e-3
    for path in found.ranks:
        tied = found.model.posteriors[path]
        assert isinstance(tied, TiedPosterior)
        np.testing.assert_allclose(tied.std, bnn.posteriors[path].std, rtol=0.02)
        np.testing.assert_array_equal(tied.mean, bnn.posteriors[path].mean)
    assert found.kl is not None
    assert found.kl[1] == pytest.approx(found.kl[0], rel=1e-4)


def test_full_rank_loses_nothing(bnn: plait.BayesianModel):
    found = compress(bnn, {"conv": 8, "first": 8, "last": 6})
    assert found.loss < 1e-6
    for path in found.ranks:
        np.testing.assert_allclose(found.model.posteriors[path].std, bnn.posteriors[path].std, rtol=1e-4)


def test_the_reported_loss_is_that_of_the_model(bnn: plait.BayesianModel):
    found = compress(bnn, 2)
    for weight in found.weights:
        row = next(row for row in bnn.sites if row.path == weight.path)
        tied = np.asarray(row.layout.to_matrix(found.model.posteriors[weight.path].std), np.float64)
        assert kl_of_stds(np.log(tied), log_std_of(bnn, row)) == pytest.approx(weight.loss, rel=1e-3)
        assert weight.loss <= weight.start_loss
        assert weight.loss < weight.svd_loss


def test_the_compressed_model_is_smaller_and_says_so(bnn: plait.BayesianModel):
    found = compress(bnn, 1)
    before, after = found.bytes
    assert before == 4 * bnn.num_params
    assert after == 4 * found.model.num_params
    assert found.model.num_params == sum(row.num_params for row in found.model.sites)
    assert [weight.numbers for weight in found.weights] == [(144, 26), (80, 18), (60, 16)]
    assert (spectra(found.model)["conv"].stds.singular_values[1:] < 1e-6).all()
    text = str(found)
    assert f"{before:,} bytes before, {after:,} after" in text
    assert "KL of plain SVD" in text
    assert "-ELBO" not in text


def test_a_matrix_that_would_not_shrink_stays_a_mean_field(bnn: plait.BayesianModel):
    # 4 (10 + 6) > 60, and 3 (10 + 6) < 60.
    found = compress(bnn, 4)
    assert found.ranks == {"conv": 4, "first": 4}
    assert found.model.posteriors["last"] is bnn.posteriors["last"]
    assert "mean field" in str(found)
    assert next(weight for weight in found.weights if weight.path == "last").rank is None


def test_the_saved_model_loads_into_one_built_from_its_families(tools, tmp_path, key: jax.Array):
    found = compress(tools.build(plait.MeanField(0.1, "softplus")), {"conv": 2, "last": 1})
    plait.save(tmp_path / "model.safetensors", found.model)
    loaded = plait.load(tmp_path / "model.safetensors", like=tools.build(found.families))
    x = jnp.ones((2, 4, 4, 2))
    np.testing.assert_array_equal(loaded(x, key=key), found.model(x, key=key))


def test_a_score_is_measured_before_and_after(bnn: plait.BayesianModel):
    found = compress(bnn, 1, score=lambda model: model.kl() / 100)
    assert found.kl is not None
    assert found.negative_elbo == pytest.approx([kl / 100 for kl in found.kl])
    assert "-ELBO per example: " in str(found)


def test_the_smallest_rank_under_a_rise_of_the_score(tools):
    bnn = tools.with_stds(
        tools.build({"first": plait.MeanField(0.1)}), "first", tools.positive_of_rank(2, 8, 10, seed=5)
    )

    def distance(model: plait.BayesianModel) -> float:
        return float(jnp.max(jnp.abs(jnp.log(model.posteriors["first"].std / bnn.posteriors["first"].std))))

    found = compress(bnn, max_rise=0.05, score=distance)
    assert found.ranks == {"first": 2}
    assert found.negative_elbo is not None
    assert found.negative_elbo[1] < 0.05
    with pytest.raises(
        ValueError, match=r"no rank up to 1 keeps the rise under 0.05: by rank the score rises by 0\.\d+; raise"
    ):
        compress(bnn, max_rise=0.05, score=distance, max_rank=1)


def test_a_budget_chooses_ranks(tools):
    bnn = tools.with_stds(
        tools.build({"first": plait.MeanField(0.1)}), "first", tools.positive_of_rank(2, 8, 10, seed=5)
    )
    assert compress(bnn, budget=0.1).ranks == {"first": 2}
    assert compress(bnn, budget=0.1, same_rank=True).ranks == {"first": 2}
    assert compress(bnn, budget=1e6).ranks == {"first": 1}


def test_no_kl_is_reported_where_it_has_no_closed_form(tools):
    found = compress(tools.build(prior=plait.ScaleMixture(1.0, 0.1, 0.5)), 1)
    assert found.kl is None
    assert "KL(q || prior)" not in str(found)


@pytest.mark.parametrize("options", [{}, {"rank": 1, "budget": 2.0}])
def test_one_way_to_say_how_far(bnn: plait.BayesianModel, options):
    with pytest.raises(ValueError, match="exactly one of `rank`, `budget` and `max_rise`"):
        compress(bnn, **options)


def test_what_makes_no_sense_is_refused(tools, bnn: plait.BayesianModel):
    with pytest.raises(ValueError, match="`max_rise` bounds how much a score rises: pass `score=`"):
        compress(bnn, max_rise=0.1)
    with pytest.raises(ValueError, match="`max_rise` bounds a loss and must not be negative"):
        compress(bnn, max_rise=-0.1, score=lambda model: 0.0)
    with pytest.raises(ValueError, match="`rank`: the pattern 'head' matches no weight"):
        compress(bnn, {"head": 1})
    with pytest.raises(ValueError, match="a matrix of 10 × 6 has ranks from 1 to 6, got 7"):
        compress(bnn, {"last": 7})
    broken = eqx.tree_at(lambda b: b.posteriors["last"].unconstrained, bnn, jnp.full((10, 6), -jnp.inf))
    with pytest.raises(ValueError, match=r"the standard deviations of 'last' are not all positive and finite"):
        compress(broken, 1)
    with pytest.raises(ValueError, match="there is nothing to tie"):
        compress(tools.build(plait.Tied(1)), 1)
