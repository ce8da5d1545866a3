"""Merged moments against moments taken all at once."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp

from plait.likelihood import Bernoulli, Categorical, Gaussian, Likelihood
from plait.predict.moments import Moments


def parts(likelihood: Likelihood, outputs: np.ndarray, y: np.ndarray, draws: np.ndarray | None, sizes: list[int]):
    ends = np.cumsum([0, *sizes])
    return [
        Moments.of(
            likelihood,
            jnp.asarray(outputs[a:b]),
            jnp.asarray(y),
            None if draws is None else jnp.asarray(draws[a:b]),
        )
        for a, b in itertools.pairwise(ends)
    ]


def assert_close(first: Moments, second: Moments) -> None:
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6), first, second)


@pytest.mark.parametrize("sizes", [[12], [1] * 12, [5, 1, 6]], ids=str)
def test_any_partition_of_the_members_has_the_same_moments(sizes, seed):
    rng = np.random.default_rng(seed)
    outputs, y = rng.normal(size=(12, 5, 2)).astype(np.float32), rng.normal(size=(5, 2)).astype(np.float32)
    draws = outputs + rng.normal(size=outputs.shape).astype(np.float32)
    merged = functools.reduce(Moments.merge, parts(Gaussian(0.7), outputs, y, draws, sizes))
    log_prob = np.asarray(Gaussian(0.7).log_prob(outputs, y))
    assert merged.count == 12
    np.testing.assert_allclose(merged.mean, outputs.mean(0), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(merged.spread, 12 * outputs.var(0), rtol=1e-4)
    np.testing.assert_allclose(merged.noise, 0.49, rtol=1e-5)
    np.testing.assert_allclose(merged.log_likelihood, logsumexp(log_prob, axis=0), rtol=1e-4)
    np.testing.assert_allclose(merged.expected_log_prob, log_prob.mean(0), rtol=1e-4)
    np.testing.assert_allclose(merged.below, (draws < y).mean(0), atol=1e-6)
    assert merged.log_probs is None
    assert merged.entropy is None


@pytest.mark.parametrize("likelihood", [Categorical(), Bernoulli()], ids=lambda v: type(v).__name__)
def test_classes_have_the_sum_of_probabilities_and_the_mean_entropy(likelihood, seed):
    rng = np.random.default_rng(seed)
    outputs = rng.normal(size=(6, 5, 3)).astype(np.float32)
    y = rng.integers(0, 2, (5,) if isinstance(likelihood, Categorical) else (5, 3))
    merged = functools.reduce(Moments.merge, parts(likelihood, outputs, y, None, [2, 4]))
    np.testing.assert_allclose(merged.entropy, np.mean(likelihood.entropy(outputs), axis=0), rtol=1e-5)
    if isinstance(likelihood, Categorical):
        np.testing.assert_allclose(merged.log_probs, logsumexp(log_softmax(outputs, -1), axis=0), rtol=1e-5)
    else:
        assert merged.log_probs.shape == (5, 3, 2)
        np.testing.assert_allclose(np.exp(merged.log_probs).sum(-1), 6, rtol=1e-5)


def test_nothing_merged_with_some_members_is_those_members(seed):
    outputs = jnp.asarray(np.random.default_rng(seed).normal(size=(3, 5, 4)), jnp.float32)
    some = Moments.of(Categorical(), outputs, jnp.zeros(5, int), None)
    assert_close(Moments.empty(jax.eval_shape(lambda: some)).merge(some), some)


def test_a_target_that_no_member_allows_is_impossible_and_not_nan():
    outputs = jnp.asarray([[[0.0, -jnp.inf]]])
    some = Moments.of(Categorical(), outputs, jnp.asarray([1]), None)
    merged = Moments.empty(jax.eval_shape(lambda: some)).merge(some).merge(some)
    assert merged.log_likelihood == -np.inf
    assert merged.expected_log_prob == -np.inf
    np.testing.assert_array_equal(merged.log_probs[0], [np.log(np.float32(2)), -np.inf])


def test_ties_between_draws_and_targets_count_half():
    draws, y = jnp.asarray([[1.0], [2.0], [3.0], [2.0]]), jnp.asarray([2.0])
    assert Moments.of(Gaussian(), draws, y, draws).below == 0.5


def test_many_close_members_keep_their_spread(seed):
    # Sums of squares would lose a deviation of 1e-2 around 1e3 in single precision.
    outputs = (1000 + 0.01 * np.random.default_rng(seed).normal(size=(200, 4, 1))).astype(np.float32)
    y = np.zeros((4, 1), np.float32)
    merged = functools.reduce(Moments.merge, parts(Gaussian(), outputs, y, None, [1] * 200))
    np.testing.assert_allclose(merged.spread / 200, outputs.astype(float).var(0), rtol=0.05)
