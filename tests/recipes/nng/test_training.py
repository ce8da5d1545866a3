import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.posterior import DrawsPosterior, MeanField
from plait.recipes.nng import training
from plait.recipes.nng.methods import Training, find_method
from plait.recipes.nng.nuts_trials import nuts_functions
from plait.recipes.nng.training import build, function_moments, train_trials
from plait.recipes.nuts import Sampling

TINY = Training(epochs=3, num_samples=2)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 12, 3)).astype(np.float32)
    return x, x[..., :1]


def test_trials_are_trained_side_by_side_and_each_by_itself(data):
    x, y = data
    both = train_trials(find_method("NNG-MVG"), TINY, 4, x, y, key=jax.random.key(0))
    assert both.draw_weights(None)["hidden.kernel"].shape == (2, 3, 4)
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


def test_chains_of_trials_run_side_by_side(data):
    x, y = data
    sampling = Sampling(chains=2, warmup=10, draws=20, max_doublings=2)
    found = nuts_functions(sampling, 2, x, y, x[:, :5], key=jax.random.key(0), num_samples=20, judged=3)
    assert found.mean.shape == found.variance.shape == (2, 5)
    assert len(found.agreement) == 2
    assert all(note.rhat > 0.9 for note in found.agreement)
