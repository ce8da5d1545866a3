"""Classification metrics against scikit-learn and by hand."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import softmax
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

from plait import metrics


@pytest.fixture
def case(seed):
    rng = np.random.default_rng(seed)
    return softmax(rng.normal(size=(200, 4)) * 2, axis=1), rng.integers(0, 4, 200)


@pytest.fixture
def binary(seed):
    rng = np.random.default_rng(seed)
    return rng.uniform(size=150), rng.integers(0, 2, 150)


def test_classes_equal_scikit_learn(case):
    probs, y = case
    assert metrics.negative_log_likelihood(probs, y) == pytest.approx(log_loss(y, probs, labels=range(4)))
    assert metrics.accuracy(probs, y) == pytest.approx(accuracy_score(y, probs.argmax(1)))
    assert metrics.brier_score(probs, y) == pytest.approx(brier_score_loss(y, probs, labels=range(4)))


@pytest.mark.parametrize("shape", [(150,), (150, 1)])
def test_binary_equals_scikit_learn(binary, shape):
    p, y = binary
    probs, targets = p.reshape(shape), y.reshape(shape)
    assert metrics.negative_log_likelihood(probs, targets) == pytest.approx(log_loss(y, p))
    assert metrics.accuracy(probs, targets) == pytest.approx(accuracy_score(y, p > 0.5))
    assert metrics.brier_score(probs, targets) == pytest.approx(brier_score_loss(y, p))
    both = metrics.two_columns(p)
    assert metrics.brier_score(both, y) == pytest.approx(brier_score_loss(y, p))


def test_terms_average_to_the_metric(case):
    probs, y = case
    for name in ("negative_log_likelihood", "accuracy"):
        terms = getattr(metrics, f"{name}_terms")(probs, y)
        assert terms.shape == (200,)
        assert getattr(metrics, name)(probs, y) == pytest.approx(terms.mean())
    assert metrics.brier_terms(probs, y).mean() == pytest.approx(metrics.brier_score(probs, y))
    assert (metrics.brier_terms(probs, y) >= 0).all()


def test_single_precision_and_jax_arrays_are_accepted(case):
    probs, y = case
    got = metrics.negative_log_likelihood(jnp.asarray(probs, jnp.float32), jnp.asarray(y))
    assert got == pytest.approx(log_loss(y, probs, labels=range(4)), rel=1e-5)


def test_a_probability_that_underflowed_is_floored_like_scikit_learn():
    probs, y = np.asarray([[1.0, 0.0], [0.5, 0.5]], np.float32), [1, 0]
    assert metrics.negative_log_likelihood(probs, y) == pytest.approx(log_loss(y, probs), rel=1e-5)


def test_entropy_and_mutual_information_by_hand():
    np.testing.assert_allclose(metrics.entropy([[0.5, 0.5], [1.0, 0.0]]), [np.log(2), 0])
    # Members that disagree with certainty: all epistemic. Members that agree on 1/2: all aleatoric.
    samples = np.asarray([[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]])
    np.testing.assert_allclose(metrics.mutual_information(samples), [np.log(2), 0], atol=1e-12)
    with pytest.raises(ValueError, match="samples"):
        metrics.mutual_information([0.5, 0.5])


@pytest.mark.parametrize(
    ("probs", "targets", "says"),
    [
        (np.full((3, 2), 0.5), np.zeros(4, int), "labels"),
        (np.full((5, 3, 2), 0.5), np.zeros(3, int), "average over samples"),
        (np.zeros((0, 2)), np.zeros(0, int), "labels"),
        (np.asarray([[2.0, -1.0]]), [0], "softmax"),
        (np.asarray([[0.2, 0.2]]), [0], "softmax"),
        (np.asarray([[np.nan, 0.2]]), [0], "softmax"),
        (np.full((2, 2), 0.5), [0, 2], r"0\.\.1"),
        (np.full((2, 2), 0.5), [0, -1], r"0\.\.1"),
        (np.full((2, 2), 0.5), [0, 0.5], r"0\.\.1"),
    ],
)
def test_wrong_input_is_refused(probs, targets, says):
    with pytest.raises(ValueError, match=says):
        metrics.accuracy(probs, targets)
