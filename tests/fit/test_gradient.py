"""An optax transformation as an optimizer."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import plait
from plait.fit import Optimizer, StepAux
from plait.fit.gradient import make_optimizer


def one_step(problem, optimizer, bnn=None, likelihood=None, **options):
    bnn = (problem.bnn if bnn is None else bnn).with_likelihood(problem.noise if likelihood is None else likelihood)
    batch = tuple(jnp.asarray(part) for part in problem.data)
    key = jax.random.key(3)
    return jax.jit(
        lambda batch: optimizer.step(
            bnn, optimizer.init(bnn), batch, key=key, likelihood=bnn.likelihood, dataset_size=40, **options
        )[0:3:2]
    )(batch)


def test_it_is_an_optimizer():
    assert isinstance(plait.Gradient(optax.sgd(1.0)), Optimizer)
    assert not isinstance(optax.sgd(1.0), Optimizer)


def test_a_step_of_gradient_descent_goes_down_the_slope_of_the_elbo(problem):
    bnn, aux = one_step(problem, plait.Gradient(optax.sgd(0.1)), kl_weight=0.5)
    x, y = (jnp.asarray(part) for part in problem.data)

    def loss(mean):
        model = eqx.tree_at(lambda b: b.posteriors["first"].mean, problem.bnn, mean)
        key = jax.random.key(3)
        return plait.elbo(model, (x, y), key=key, likelihood=problem.noise, dataset_size=40, kl_weight=0.5)

    mean = problem.bnn.posteriors["first"].mean
    (value, parts), slope = jax.value_and_grad(loss, has_aux=True)(mean)
    np.testing.assert_allclose(bnn.posteriors["first"].mean, mean - 0.1 * slope, rtol=1e-5, atol=1e-6)
    assert isinstance(aux, StepAux)
    np.testing.assert_allclose((aux.loss, aux.nll, aux.kl), (value, *parts), rtol=1e-5)


def test_the_gradient_is_clipped_as_a_whole(problem):
    def moved(**options):
        bnn, aux = one_step(problem, plait.Gradient(optax.sgd(1.0), **options))
        change = jax.tree.map(lambda new, old: new - old, bnn.posteriors, problem.bnn.posteriors)
        return float(jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(change)))), float(aux.grad_norm)

    length, norm = moved()
    assert length == pytest.approx(norm, rel=1e-4)
    assert norm > 0.02
    assert moved(clip_norm=0.01) == pytest.approx((0.01, norm), rel=1e-3)
    assert moved(clip_norm=10 * norm) == pytest.approx((norm, norm), rel=1e-4)


def test_accumulated_parts_give_the_gradient_of_the_whole_batch(problem):
    # Without weight noise nothing else differs.
    bnn = problem.make_model(jax.random.key(1), posterior=plait.Point())
    whole, aux = one_step(problem, plait.Gradient(optax.sgd(0.1)), bnn)
    parts, same = one_step(problem, plait.Gradient(optax.sgd(0.1), accumulate=4), bnn)
    problem.assert_equal(parts, whole, 1e-5)
    problem.assert_equal(same, aux, 1e-5)


def test_parts_have_noise_of_their_own(problem):
    one = one_step(problem, plait.Gradient(optax.sgd(0.1)))[1]
    several = one_step(problem, plait.Gradient(optax.sgd(0.1), accumulate=4))[1]
    assert float(one.kl) == pytest.approx(float(several.kl), rel=1e-6)
    assert float(one.nll) != float(several.nll)


def test_a_transformation_may_look_at_the_loss(problem):
    fit = problem.fit(optimizer=optax.chain(optax.adam(0.01), optax.contrib.reduce_on_plateau()), epochs=1)
    assert np.isfinite(fit.history["loss"]).all()


def test_fit_passes_its_options_on(problem):
    ours = problem.fit(clip_norm=0.1, accumulate=2, num_samples=3)
    theirs = problem.fit(optimizer=plait.Gradient(problem.adam, clip_norm=0.1, accumulate=2, num_samples=3))
    problem.assert_equal(ours.model, theirs.model)


def test_other_readings_of_the_loss_are_trained(problem):
    average = problem.fit(optimizer=plait.Gradient(problem.adam, num_samples=3), epochs=1)
    mixture = problem.fit(optimizer=plait.Gradient(problem.adam, num_samples=3, reduction="mixture"), epochs=1)
    assert mixture.history["nll"][0] < average.history["nll"][0]


def test_what_is_given_is_not_trained(problem):
    """A weight decay would shrink whatever it is handed."""
    bnn = problem.make_model(jax.random.key(1))
    fit = problem.fit(bnn=bnn, optimizer=optax.adamw(0.1, weight_decay=0.5), epochs=1)
    assert fit.model.priors["first"].scale == bnn.priors["first"].scale


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"num_samples": 0}, "`num_samples` must be a positive integer, got 0"),
        ({"accumulate": 0}, "`accumulate` must be a positive integer, got 0"),
        ({"clip_norm": 0.0}, "`clip_norm` bounds the norm of the gradient and must be positive"),
    ],
)
def test_options_that_make_no_sense_are_refused(problem, options, says):
    with pytest.raises(ValueError, match=says):
        plait.Gradient(optax.sgd(0.1), **options)
    with pytest.raises(ValueError, match=says):
        problem.fit(**options)


def test_options_for_an_optimizer_that_has_its_own_are_refused(problem):
    with pytest.raises(
        ValueError, match=r"`num_samples`, `clip_norm` say how an optax transformation is used.*Gradient"
    ):
        problem.fit(optimizer=plait.Gradient(problem.adam), num_samples=2, clip_norm=1.0)


def test_what_is_no_optimizer_is_refused(problem):
    with pytest.raises(TypeError, match=r"`optimizer` must be an optax transformation such as optax.adam\(1e-3\)"):
        problem.fit(optimizer=0.001)
    with pytest.raises(TypeError, match=r"`optimizer` is a function: .*`replicas=\{'learning_rate'"):
        problem.fit(optimizer=optax.adam)
    made = make_optimizer(lambda values: 3, {"a": 1}, {}, None)
    with pytest.raises(TypeError, match="got 3"):
        made({"a": 1})


def test_a_batch_that_cannot_be_cut_is_refused(problem):
    with pytest.raises(ValueError, match="a batch of 40 examples cannot be cut into accumulate=3 equal parts"):
        one_step(problem, plait.Gradient(optax.sgd(0.1), accumulate=3))
