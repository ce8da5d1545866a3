"""A loss that is not finite: the step, the places, and the last good parameters."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import plait


def test_an_optimizer_that_runs_away_is_stopped_with_its_last_finite_parameters(problem, tmp_path):
    with pytest.raises(plait.NonFiniteLoss, match=r"the loss is not finite at step \d+") as caught:
        problem.fit(optimizer=optax.sgd(1e12), epochs=40, checkpoint=tmp_path, checkpoint_every=1)
    error = caught.value
    assert isinstance(error, FloatingPointError)
    assert error.checkpoint == tmp_path / f"step-{error.step:09d}" or error.checkpoint.parent == tmp_path
    assert error.fit.ending == "not finite"
    assert error.fit.step == error.step
    assert all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(error.fit.model.posteriors))
    assert any("first" in cause or "last" in cause for cause in error.causes), error.causes


def test_the_gradient_that_is_not_finite_is_named(problem):
    def forward(weights, x):
        # The square root of zero: a finite value whose slope is not.
        nothing = x @ weights["broken"]
        return x @ weights["sound"] + jnp.sqrt(nothing * jnp.zeros_like(nothing))

    weights = {"sound": jnp.ones((3, 1)), "broken": jnp.ones((3, 1))}
    x = problem.data[0]
    bnn = plait.bayesianize(weights, x, apply=forward, posterior=plait.MeanField(0.1), key=jax.random.key(0))
    with pytest.raises(plait.NonFiniteLoss, match="at step 0") as caught:
        problem.fit(bnn=bnn)
    assert caught.value.causes == (
        "gradient of posteriors/broken/mean (3 of 3)",
        "gradient of posteriors/broken/unconstrained (3 of 3)",
    )
    assert caught.value.checkpoint is None
    assert "there is no checkpoint" in str(caught.value)


def test_an_infinite_kl_and_parameters_are_named(problem):
    wild = jnp.full((3, 4), 1e30)
    bnn = eqx.tree_at(lambda b: b.posteriors["first"].mean, problem.bnn, wild)
    with pytest.raises(plait.NonFiniteLoss) as caught:
        problem.fit(bnn=bnn)
    assert "KL of first" in caught.value.causes
    bnn = eqx.tree_at(lambda b: b.posteriors["first"].mean, problem.bnn, wild.at[0, 0].set(jnp.nan))
    with pytest.raises(plait.NonFiniteLoss) as caught:
        problem.fit(bnn=bnn)
    assert caught.value.causes[0] == "parameter posteriors/first/mean (1 of 12)"


def test_a_batch_that_is_not_finite_is_named(problem):
    x, y = problem.data
    bad = x[:8].copy()
    bad[3, 1] = np.inf
    batches = [(x[:8], y[:8])] * 3 + [(bad, y[:8])] + [(x[:8], y[:8])] * 9
    with pytest.raises(plait.NonFiniteLoss, match=r"at step 3\. Not finite there:\n  inputs \(1 of 24\)") as caught:
        problem.fit(data=batches, batch_size=None, dataset_size=40, steps=10)
    good = problem.fit(data=batches, batch_size=None, dataset_size=40, steps=3)
    problem.assert_equal(caught.value.fit.model, good.model)


def test_history_ends_before_the_failure(problem):
    with pytest.raises(plait.NonFiniteLoss) as caught:
        problem.fit(optimizer=optax.sgd(optax.piecewise_constant_schedule(0.01, {13: 1e30})), epochs=9)
    assert caught.value.step == 14
    assert np.isfinite(caught.value.fit.history["loss"]).all()
    assert caught.value.fit.history["step"].tolist() == [5, 10]
