"""The loss against its parts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.objective.reduction import REDUCTIONS, negative_log_likelihood


def linear(key: jax.Array, family: plait.Family, outputs: int = 3) -> plait.BayesianModel:
    weight = jax.random.normal(key, (4, outputs))
    return plait.bayesianize(weight, jnp.ones((2, 4)), apply=lambda w, x: x @ w, posterior=family, key=key)


@pytest.fixture
def batch(key) -> tuple[jax.Array, jax.Array]:
    return jax.random.normal(key, (6, 4)), jax.random.randint(key, (6,), 0, 3)


def test_the_loss_is_nll_plus_the_weighted_kl_per_example(key, batch):
    bnn = linear(key, plait.Tied(2))
    loss, aux = plait.elbo(bnn, batch, key=key, likelihood=plait.Categorical(), dataset_size=50, kl_weight=0.3)
    np.testing.assert_allclose(loss, aux.nll + 0.3 * aux.kl / 50, rtol=1e-6)
    np.testing.assert_allclose(aux.kl, bnn.kl(), rtol=1e-6)
    outputs = bnn(batch[0], key=jax.random.split(key)[0])
    np.testing.assert_allclose(aux.nll, -plait.Categorical().log_prob(outputs, batch[1]).mean(), rtol=1e-6)


@pytest.mark.parametrize("components", [1, 2])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_samples_and_components_are_the_members_of_every_reading(key, batch, components, reduction):
    bnn = linear(key, plait.RankOne(components) if components > 1 else plait.Tied(2, 0.5))
    _, aux = plait.elbo(
        bnn, batch, key=key, likelihood=plait.Categorical(), dataset_size=50, num_samples=3, reduction=reduction
    )
    keys = jax.random.split(jax.random.split(key)[0], 3)
    outputs = jnp.stack([bnn(batch[0], key=k) for k in keys])
    expected = negative_log_likelihood(plait.Categorical(), outputs, batch[1], reduction)
    assert outputs.ndim == (4 if components > 1 else 3)
    np.testing.assert_allclose(aux.nll, expected.mean(), rtol=1e-5)


def test_outputs_are_picked_from_what_the_model_returns(key, batch):
    weight = jax.random.normal(key, (4, 3))
    bnn = plait.bayesianize(weight, batch[0], apply=lambda w, x: {"logits": x @ w, "rest": x}, key=key)
    options = {"key": key, "likelihood": plait.Categorical(), "dataset_size": 6, "num_samples": 2}
    _, aux = plait.elbo(bnn, batch, output=lambda outputs: outputs["logits"], **options)
    plain = plait.bayesianize(weight, batch[0], apply=lambda w, x: x @ w, key=key)
    np.testing.assert_allclose(aux.nll, plait.elbo(plain, batch, **options)[1].nll, rtol=1e-6)


def test_wrong_options_are_refused(key, batch):
    bnn = linear(key, plait.Tied(2))
    options = {"key": key, "likelihood": plait.Categorical(), "dataset_size": 6}
    with pytest.raises(ValueError, match="`dataset_size` is the number"):
        plait.elbo(bnn, batch, **options | {"dataset_size": 0})
    with pytest.raises(ValueError, match="`num_samples` must be"):
        plait.elbo(bnn, batch, **options, num_samples=0)
    with pytest.raises(ValueError, match="`reduction` must be one of"):
        plait.elbo(bnn, batch, **options, reduction="sum")
    with pytest.raises(ValueError, match="integer labels"):
        plait.elbo(bnn, (batch[0], batch[1].astype(float)), **options)
