import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.posterior import DrawsPosterior, MeanField
from plait.recipes.nng import nuts_trials, training
from plait.recipes.nng.methods import Training, find_method
from plait.recipes.nng.nuts_trials import nuts_functions
from plait.recipes.nng.training import build, function_moments, train_trials
from plait.recipes.nuts import Chains, Sampling, function_draws

TINY = Training(epochs=3, num_samples=2)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 12, 3)).astype(np.float32)
    return x, x[..., :1]


def test_trials_are_trained_side_by_side_and_each_by_itself(data):
    x, y = data
    both = train_trials(find_method("NNG-MVG"), TINY, 4, x, y, key=jax.random.key(0))
    assert {leaf.shape[0] for leaf in jax.tree.leaves(both) if isinstance(leaf, jax.Array)} == {2}
    mean, variance = function_moments(both, jnp.asarray(x), jax.random.split(jax.random.key(1), 2), 20)
    assert mean.shape == variance.shape == (2, 12)
    assert np.all(np.asarray(variance) > 0)


def test_moments_are_those_of_the_functions():
    bnn = build(3, 4, MeanField(), jax.random.key(0))
    rng = np.random.default_rng(1)
    draws = {path: jnp.asarray(rng.normal(size=(2, *w.shape)), w.dtype) for path, w in bnn.draw_weights(None).items()}
    bnn = dataclasses.replace(bnn, posteriors={}, joints=(DrawsPosterior(draws),))
    stacked = jax.tree.map(lambda leaf: leaf[None] if isinstance(leaf, jax.Array) else leaf, bnn)
    x = jnp.asarray(rng.normal(size=(1, 5, 3)), jnp.float32)
    mean, variance = function_moments(stacked, x, jax.random.split(jax.random.key(2), 1), 2000)
    first, second = (bnn.skeleton({p: w[i] for p, w in draws.items()}, x[0])[:, 0] for i in (0, 1))
    gap = np.abs(first - second)
    # 2,000 draws of two functions: five standard errors of their share.
    np.testing.assert_allclose(mean[0], (first + second) / 2, atol=float(gap.max()) * 2.5 / np.sqrt(2000))
    np.testing.assert_allclose(variance[0], gap**2 / 4, rtol=0.02)


def test_training_that_fails_is_no_result(data, monkeypatch):
    monkeypatch.setattr(training, "fit", lambda *given, **more: type("Fit", (), {"failed": (1,)}))
    with pytest.raises(ValueError, match=r"BBB: training ran into losses that are not finite, in the trials \(1,\)"):
        train_trials(find_method("BBB"), TINY, 4, *data, key=jax.random.key(0))


def prior_draws(bnn, data, *, key, sampling):
    """Chains that do not look at the data."""
    shape, weights = (sampling.chains, sampling.draws), bnn.draw_weights(None)
    draws = {path: jax.random.normal(key, (*shape, *weight.shape)) for path, weight in weights.items()}
    return Chains(draws, jnp.zeros(shape, bool), jnp.ones(shape, jnp.int32), jnp.ones(shape))


def test_chains_of_trials_run_side_by_side(data, monkeypatch):
    x, y = data
    monkeypatch.setattr(nuts_trials, "sample_posterior", prior_draws)
    sampling = Sampling(chains=2, draws=20)
    whole, thinned = (
        nuts_functions(sampling, 2, x, y, x[:, :5], key=jax.random.key(0), num_samples=count, judged=3)
        for count in (None, 20)
    )
    assert whole.mean.shape == whole.variance.shape == (2, 5)
    assert len(whole.agreement) == 2
    assert all(note.rhat > 0.9 for note in whole.agreement)
    assert not np.array_equal(whole.mean, thinned.mean)
    keys = jax.random.split(jax.random.key(0), 2)
    bnn = build(3, 2, MeanField(), keys[0])
    outputs = function_draws(bnn, prior_draws(bnn, None, key=keys[1], sampling=sampling), jnp.asarray(x[1, :5]))
    np.testing.assert_allclose(whole.mean[1], np.mean(outputs, axis=(0, 1))[:, 0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(thinned.variance[1], np.var(outputs[:, ::2], axis=(0, 1))[:, 0], rtol=1e-4)
