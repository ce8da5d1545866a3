"""The four readings of the loss in paper 003, appendix E, and how they are ordered."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp, softmax

from plait.likelihood import Bernoulli, Categorical, Gaussian, Poisson
from plait.objective.reduction import REDUCTIONS, negative_log_likelihood

CASES = {
    "categorical": (Categorical(), lambda r, n: r.integers(0, 4, n), (4,)),
    "bernoulli": (Bernoulli(), lambda r, n: r.integers(0, 2, (n, 1)), (1,)),
    "gaussian": (Gaussian(0.5), lambda r, n: r.normal(size=(n, 2)).astype(np.float32), (2,)),
    "poisson": (Poisson(), lambda r, n: r.poisson(2.0, (n, 2)), (2,)),
}


@pytest.fixture(params=CASES, ids=str)
def case(request, seed):
    likelihood, targets, shape = CASES[request.param]
    rng = np.random.default_rng(seed)
    # Weight samples and components lead.
    return likelihood, jnp.asarray(rng.normal(size=(5, 3, 7, *shape)) * 2, jnp.float32), targets(rng, 7)


def test_the_formulas_of_the_appendix(seed):
    rng = np.random.default_rng(seed)
    logits, y = rng.normal(size=(6, 9, 4)).astype(np.float32), rng.integers(0, 4, 9)
    chosen = lambda values: np.take_along_axis(values, np.broadcast_to(y[:, None], (*values.shape[:-1], 1)), -1)[..., 0]  # noqa: E731
    expected = {
        "average": -chosen(log_softmax(logits, -1)).mean(0),
        "mixture": -logsumexp(chosen(log_softmax(logits, -1)), axis=0) + np.log(6),
        "marginal_probability": -np.log(chosen(softmax(logits, -1).mean(0))),
        "marginal_logits": -chosen(log_softmax(logits.mean(0), -1)),
    }
    for reduction in REDUCTIONS:
        got = negative_log_likelihood(Categorical(), jnp.asarray(logits), y, reduction)
        np.testing.assert_allclose(got, expected[reduction], rtol=1e-4, atol=1e-5, err_msg=reduction)


def test_the_corrected_mixture_of_the_errata(seed):
    # MATH 2.8: the print takes a maximum where the sum belongs, which is at most log M too large.
    logits, y = np.random.default_rng(seed).normal(size=(6, 9, 4)).astype(np.float32), np.zeros(9, int)
    mixture = negative_log_likelihood(Categorical(), jnp.asarray(logits), y, "mixture")
    printed = -log_softmax(logits, -1)[..., 0].max(0) + np.log(6)
    assert (mixture < printed).all()
    assert (printed - mixture <= np.log(6)).all()


def test_the_mixture_and_the_mean_outputs_are_below_the_average(case):
    likelihood, outputs, y = case
    average, mixture, logits = (
        negative_log_likelihood(likelihood, outputs, y, r) for r in ("average", "mixture", "marginal_logits")
    )
    assert average.shape == (7,)
    assert (mixture <= average + 1e-5).all()
    # All four losses are convex in the outputs.
    assert (logits <= average + 1e-5).all()


@pytest.mark.parametrize(
    ("likelihood", "shape", "classes"), [(Categorical(), (7,), 4), (Bernoulli(), (7, 1), 2), (Bernoulli(), (7,), 2)]
)
def test_for_one_label_the_marginal_probability_is_the_mixture(likelihood, shape, classes, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, shape)
    logits = jnp.asarray(rng.normal(size=(5, *shape, *((4,) if classes == 4 else ()))), jnp.float32)
    readings = [negative_log_likelihood(likelihood, logits, y, r) for r in ("mixture", "marginal_probability")]
    np.testing.assert_allclose(*readings, rtol=1e-5)


def test_for_several_labels_the_marginal_probability_treats_each_alone(seed):
    rng = np.random.default_rng(seed)
    logits, y = jnp.asarray(rng.normal(size=(5, 7, 2)), jnp.float32), rng.integers(0, 2, (7, 2))
    alone = [negative_log_likelihood(Bernoulli(), logits[..., i], y[:, i], "mixture") for i in range(2)]
    np.testing.assert_allclose(
        negative_log_likelihood(Bernoulli(), logits, y, "marginal_probability"), sum(alone), rtol=1e-5
    )


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_one_member_has_one_loss(reduction, seed):
    logits, y = jnp.asarray(np.random.default_rng(seed).normal(size=(7, 3)), jnp.float32), np.zeros(7, int)
    expected = -Categorical().log_prob(logits, y)
    np.testing.assert_allclose(negative_log_likelihood(Categorical(), logits, y, reduction), expected, rtol=1e-6)
    np.testing.assert_allclose(negative_log_likelihood(Categorical(), logits[None], y, reduction), expected, rtol=1e-5)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_members_that_exclude_the_label_leave_gradients_finite(reduction):
    logits = jnp.asarray([[[200.0, 0.0]], [[190.0, 0.0]]])
    loss = lambda z: negative_log_likelihood(Categorical(), z, np.asarray([1]), reduction).sum()  # noqa: E731
    value, slope = jax.value_and_grad(loss)(logits)
    assert 150 < value < 250
    assert bool(jnp.isfinite(slope).all())


def test_unknown_readings_are_refused():
    with pytest.raises(ValueError, match="'average', 'mixture'"):
        negative_log_likelihood(Categorical(), jnp.zeros((2, 3, 4)), np.zeros(3, int), "gibbs")
    with pytest.raises(ValueError, match="Gaussian has none; 'mixture'"):
        negative_log_likelihood(Gaussian(), jnp.zeros((2, 3, 4)), np.zeros((3, 4)), "marginal_probability")
