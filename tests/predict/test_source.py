"""What predictions are drawn from, and what is refused before anything is drawn."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.predict.source import make_source


def source(bnn, x, **options):
    defaults = {"key": jax.random.key(0), "likelihood": None, "num_samples": 3, "batch_size": 4, "output": lambda o: o}
    return make_source(bnn, x, **defaults | options)


def test_the_likelihood_given_comes_before_that_of_the_model(classes, x):
    assert isinstance(source(classes, x).likelihood, plait.Categorical)
    assert isinstance(source(classes, x, likelihood=plait.Poisson()).likelihood, plait.Poisson)
    with pytest.raises(ValueError, match=r"likelihood=plait.Categorical\(\)"):
        source(classes.with_likelihood(None), x)


def test_mean_weights_are_one_pass(classes, x):
    assert source(classes, x, key=None).num_samples == 1
    assert source(classes, x, key=None).keys is None


def test_batches_are_no_larger_than_the_data(classes, x):
    assert (source(classes, x).batch_size, source(classes, x).num_batches) == (4, 3)
    assert (source(classes, x, batch_size=100).batch_size, source(classes, x, batch_size=100).num_batches) == (11, 1)
    assert source(classes, x).output_shape == (11, 4)


@pytest.mark.parametrize(
    ("family", "estimator", "folds"),
    [
        (plait.MeanField(), "weights", False),
        (plait.MeanField(), "mean", False),
        (plait.FullCovariance(), None, False),
        (plait.MeanField(), "local", True),
        (plait.MeanField(), "flipout", True),
        (plait.RankOne(), "per_example", True),
        (plait.Point(), None, False),
    ],
)
def test_batches_share_a_draw_only_where_all_noise_is_a_draw_of_weights(linear, key, x, family, estimator, folds):
    assert source(linear(key, 2, family, estimator=estimator), x, likelihood=plait.Gaussian()).folds_batches == folds


def test_convolutions_are_kept_out_of_loops_on_the_cpu(classes, key, x):
    assert source(classes, x).loops
    kernel, images = jnp.ones((3, 2, 1)), np.ones((5, 8, 2), np.float32)
    apply = lambda w, x: jax.lax.conv_general_dilated(x, w, (1,), "VALID", dimension_numbers=("NHC", "HIO", "NHC"))  # noqa: E731
    bnn = plait.bayesianize(kernel, images, apply=apply, key=key)
    assert source(bnn, images, likelihood=plait.Gaussian()).loops == (jax.default_backend() != "cpu")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"num_samples": 0}, "`num_samples` must be a positive integer, got 0"),
        ({"batch_size": 0}, "`batch_size` must be a positive integer, got 0"),
        ({"output": lambda outputs: (outputs, outputs)}, "got a tuple; pick it"),
        ({"output": lambda outputs: outputs.T}, r"the 4 examples on the first axis, got an array of shape \(5, 4\)"),
        ({"output": jnp.sum}, r"shape \(\)"),
    ],
)
def test_wrong_options_are_refused(linear, key, x, options, says):
    bnn = linear(key, 5, plait.MeanField())
    with pytest.raises(ValueError, match=says):
        source(bnn, x, likelihood=plait.Categorical(), **options)


def test_outputs_of_components_have_the_examples_second(linear, key, x):
    bnn = linear(key, 5, plait.RankOne(2))
    assert source(bnn, x, likelihood=plait.Categorical()).output_shape == (11, 5)
    with pytest.raises(ValueError, match="after the 2 components"):
        source(bnn, x, likelihood=plait.Categorical(), output=lambda outputs: outputs[0])


def test_targets_that_do_not_fit_are_refused(classes, x, labels):
    found = source(classes, x)
    found.check_targets(labels)
    with pytest.raises(ValueError, match="one output a class"):
        found.check_targets(labels[:5])
    with pytest.raises(ValueError, match=r"label of 0\.\.3"):
        found.check_targets(labels + 4)
