"""Ranks from a budget: kept, not wasted, and usable as a posterior."""

import glob

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.analysis import choose_ranks, compress, tied_families
from plait.analysis.rank_choice import equal_ties, fitting_ties, saves
from plait.analysis.tie import tie


def matrices(tools) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    return {
        f"rank {rank}": np.log(tools.positive_of_rank(rank, 16, 12, seed=rank)) + 0.01 * rng.normal(size=(16, 12))
        for rank in (1, 2, 3)
    }


@pytest.fixture(scope="module")
def given(tools) -> dict[str, np.ndarray]:
    return matrices(tools)


@hypothesis.given(st.floats(0, 200))
@hypothesis.settings(max_examples=5, deadline=None)
def test_the_budget_is_kept_and_no_rank_is_wasted(given: dict[str, np.ndarray], budget: float):
    chosen = fitting_ties(given, budget, max_rank=3)
    loss = sum(ties.loss for ties in chosen.values())
    assert loss <= budget
    for path, ties in chosen.items():
        if ties.rank > 1:
            assert loss - ties.loss + tie(given[path], ties.rank - 1).loss > budget


def test_ranks_follow_structure(given: dict[str, np.ndarray]):
    ranks = {path: ties.rank for path, ties in fitting_ties(given, 0.5, max_rank=4).items()}
    assert ranks == {"rank 1": 1, "rank 2": 2, "rank 3": 3}
    assert {ties.rank for ties in equal_ties(given, 0.5).values()} == {3}
    assert {ties.rank for ties in fitting_ties(given, 1e9, max_rank=2).values()} == {1}


def test_without_a_budget_to_spend_all_stay_mean_field(given: dict[str, np.ndarray]):
    assert fitting_ties(given, 0.0, max_rank=2) == {}
    assert fitting_ties({"thin": np.zeros((5, 1))}, 10.0) == {}


def test_ties_save_numbers_or_are_not_made():
    assert saves((10, 10), 4)
    assert not saves((10, 10), 5)


def test_a_short_run_gives_the_posterior_of_the_next(tools, key: jax.Array):
    bnn = tools.build()
    for path, sizes in {"conv": (2, 18, 8), "first": (1, 8, 10), "last": (1, 10, 6)}.items():
        bnn = tools.with_stds(bnn, path, tools.positive_of_rank(*sizes, seed=1))
    ranks = choose_ranks(bnn, 0.1)
    assert ranks == {"conv": 2, "first": 1, "last": 1}
    again = tools.build(tied_families(bnn, ranks, init_scale=0.05))
    named = {row.path: row.posterior for row in again.sites}
    assert named["conv"], named["first"] == ("Tied(2)", "Tied(1)")
    assert named["bias"] == "MeanField"
    assert np.log(jnp.mean(again.posteriors["conv"].std)) == pytest.approx(np.log(0.05), abs=0.1)
    assert choose_ranks(bnn, 1e9, same_rank=True) == {"conv": 1, "first": 1, "last": 1}


def test_names_are_patterns_for_themselves_alone(key: jax.Array):
    weights = {
        "a": {"weight": jnp.zeros((4, 6))},
        "weight": jnp.zeros((6, 4)),
        "dense": jnp.zeros((4, 5)),
        "w[0]": jnp.zeros((5, 5)),
    }

    def run(w, x):
        return x @ w["a"]["weight"] @ w["weight"] @ w["dense"] @ w["w[0]"]

    bnn = plait.bayesianize(weights, jnp.zeros((2, 4)), apply=run, posterior=plait.MeanField(), key=key)
    families = tied_families(bnn, {"weight": 1, "w[0]": 2, "dense": 1})
    again = plait.bayesianize(weights, jnp.zeros((2, 4)), apply=run, posterior=families, key=key)
    named = {row.path: row.posterior for row in again.sites}
    assert named == {"a.weight": "MeanField", "weight": "Tied(1)", "dense": "Tied(1)", "w[0]": "Tied(2)"}
    assert glob.escape("w[0]") in families


def test_all_families_of_a_compressed_model_are_named(tools):
    families = {
        "conv": plait.Point(),
        "first": plait.Tied(2),
        "dense": plait.MeanField(0.1, "softplus", 0.2),
        "bias": plait.Point(),
    }
    bnn = tools.build(families)
    again = tools.build(tied_families(bnn, {}))
    assert [row.posterior for row in again.sites] == [row.posterior for row in bnn.sites]
    assert again.posteriors["last"].transform == "softplus"


def test_what_cannot_be_chosen_is_said(tools, bnn: plait.BayesianModel, given: dict[str, np.ndarray]):
    with pytest.raises(ValueError, match="`budget` bounds a loss and must not be negative, got -1"):
        choose_ranks(bnn, -1.0)
    with pytest.raises(
        ValueError, match=r"no rank up to 2 for all weights has a loss under the budget of 0.1 nats: rank 2 loses"
    ):
        equal_ties(given, 0.1, max_rank=2)
    with pytest.raises(ValueError, match="no weight matrix of this model is under MeanField: there is nothing to tie"):
        choose_ranks(tools.build(plait.Tied(2)), 1.0)
    with pytest.raises(ValueError, match=r"models of MeanField, Tied and Point weights; 'conv' is under LowRank"):
        tied_families(tools.build(plait.LowRank(1)), {})
    with pytest.raises(ValueError, match=r"`ranks` names 'head'; the weights of this model are"):
        tied_families(bnn, {"head": 2})
    with pytest.raises(ValueError, match="`rank` must be a positive integer, got 0"):
        compress(bnn, budget=1.0, max_rank=0)
