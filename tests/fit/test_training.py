"""`plait.fit` from end to end."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import plait


def test_training_lowers_the_loss_and_says_what_it_did(problem):
    fit = problem.fit(epochs=60)
    assert fit.history["negative_elbo"][-1] < fit.history["negative_elbo"][0] - 0.1
    assert (fit.step, fit.ending, len(fit.history)) == (300, "finished", 60)
    assert fit.model.likelihood is not None
    assert str(fit).startswith("finished after 300 steps\n")
    assert "(40 earlier rows)" in str(fit)
    assert fit.history.columns[:3] == ["step", "epoch", "loss"]
    # The model that was given is still there, and as it was.
    assert float(jnp.sum(problem.bnn.posteriors["first"].mean)) != float(jnp.sum(fit.model.posteriors["first"].mean))


def test_it_is_the_plain_loop_over_batches(problem):
    """Adam on `plait.elbo`, batch by batch, written out."""
    fit = problem.fit(epochs=2)
    order_key, noise_key = jax.random.split(jax.random.key(7), 4)[1:3]
    x, y = map(jnp.asarray, problem.data)
    bnn = problem.bnn
    arrays, rest = jax.tree.flatten(bnn.posteriors)
    state, losses = problem.adam.init(arrays), []
    for step in range(10):
        order = jax.random.permutation(jax.random.fold_in(order_key, step // 5), problem.examples)
        rows = order[step % 5 * problem.batch_size :][: problem.batch_size]

        def loss(arrays, step=step, rows=rows):
            model = eqx.tree_at(lambda b: b.posteriors, bnn, jax.tree.unflatten(rest, arrays))
            key = jax.random.fold_in(noise_key, step)
            return plait.elbo(
                model, (x[rows], y[rows]), key=key, likelihood=problem.noise, dataset_size=problem.examples
            )[0]

        value, gradient = jax.value_and_grad(loss)(arrays)
        losses.append(float(value))
        with jax.numpy_dtype_promotion("standard"):
            updates, state = problem.adam.update(gradient, state)
        arrays = optax.apply_updates(arrays, updates)
    np.testing.assert_allclose(fit.history["loss"], np.reshape(losses, (2, 5)).mean(1), rtol=1e-5)
    for ours, theirs in zip(jax.tree.leaves(fit.model.posteriors), arrays, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


def test_results_do_not_depend_on_how_a_run_is_cut(problem):
    whole, stepwise = problem.fit(), problem.fit(callbacks=lambda record: None)
    problem.assert_equal(whole.model, stepwise.model)
    np.testing.assert_array_equal(whole.history["loss"], stepwise.history["loss"])
    problem.assert_equal(problem.fit(epochs=None, steps=20).model, whole.model)


def test_steps_may_end_within_an_epoch(problem):
    fit = problem.fit(steps=12)
    assert fit.history["step"].tolist() == [5, 10, 12]
    assert fit.history["epoch"].tolist() == [1, 2, 2.4]


def test_a_learned_noise_is_trained_and_comes_back(problem):
    fit = problem.fit(likelihood=plait.Gaussian("learned", initial=2.0), epochs=30)
    assert fit.likelihood.noise == "learned"
    assert float(fit.likelihood.log_scale) < np.log(2.0) - 0.1
    assert fit.model.likelihood is fit.likelihood


def test_the_likelihood_of_the_model_is_the_default(problem):
    problem.assert_equal(
        problem.fit(bnn=problem.bnn.with_likelihood(problem.noise), likelihood=None).model, problem.fit().model
    )
    with pytest.raises(ValueError, match="likelihood of targets given outputs is not known"):
        problem.fit(likelihood=None)


@pytest.mark.parametrize(
    "schedule",
    [plait.constant(0.25), 0.25, lambda step: 0.25 + 0.0 * step.astype(float)],
    ids=["schedule", "number", "function"],
)
def test_a_kl_schedule_is_a_number_a_schedule_or_a_function(problem, schedule):
    fit = problem.fit(kl_schedule=schedule)
    np.testing.assert_allclose(fit.history["kl_weight"], 0.25)
    expected = fit.history["nll"] + 0.25 * fit.history["kl"] / problem.examples
    np.testing.assert_allclose(fit.history["loss"], expected, rtol=1e-5)
    np.testing.assert_allclose(
        fit.history["negative_elbo"], expected + 0.75 * fit.history["kl"] / problem.examples, rtol=1e-5
    )


def test_annealing_counts_in_epochs_of_this_run(problem):
    fit = problem.fit(kl_schedule=plait.linear_annealing(epochs=2))
    # Steps 0..4 of 10, then 5..9, then done.
    np.testing.assert_allclose(fit.history["kl_weight"], [0.2, 0.7, 1, 1], rtol=1e-6)


def test_the_dataset_size_can_be_given(problem):
    fit = problem.fit(dataset_size=10 * problem.examples)
    np.testing.assert_allclose(fit.history["loss"], fit.history["nll"] + fit.history["kl"] / 400, rtol=1e-5)


def test_callbacks_are_told_each_epoch_and_may_stop(problem):
    seen, kept = [], []

    def look(record):
        seen.append((record.step, record.row["epoch"], len(record.history)))
        kept.append(record.model)
        return record.row["epoch"] == 3

    fit = problem.fit(epochs=10, callbacks=[look, lambda record: None])
    assert seen == [(5, 1, 1), (10, 2, 2), (15, 3, 3)]
    assert (fit.ending, fit.step) == ("callback", 15)
    # A model that a callback kept is not overwritten by later steps.
    problem.assert_equal(kept[-1], fit.model)
    assert float(kept[0].kl()) != float(kept[1].kl())


def test_other_inputs_and_outputs_go_through(problem):
    def apply(weights, x, offset):
        return {"prediction": jnp.tanh(x @ weights["first"]) @ weights["last"] + offset, "hidden": x}

    x, y = problem.data
    weights = {"first": jnp.ones((3, 4)), "last": jnp.ones((4, 1))}
    bnn = plait.bayesianize(
        weights, x, y, apply=apply, posterior=plait.MeanField(0.1), prior=plait.Normal(1.0), key=jax.random.key(0)
    )
    given = {"bnn": bnn, "data": ((x, y), y), "validation": ((x, y), y)}
    fit = problem.fit(**given, output=lambda outputs: outputs["prediction"])
    assert np.isfinite(fit.history["validation_nll"]).all()
    with pytest.raises(TypeError, match=r"the model returns a dict.*`output=lambda outputs"):
        problem.fit(**given)


def test_a_mixture_of_components_is_trained(problem):
    net = {"first": jnp.ones((3, 4)), "last": jnp.ones((4, 1))}
    apply = lambda w, x: jnp.tanh(x @ w["first"]) @ w["last"]  # noqa: E731
    bnn = plait.bayesianize(net, problem.data[0], apply=apply, posterior=plait.RankOne(2), key=jax.random.key(0))
    fit = problem.fit(bnn=bnn, validation=problem.data)
    assert fit.model.components == 2
    assert np.isfinite(fit.history["validation_negative_elbo"]).all()


def test_a_linear_model_reaches_the_closed_form_elbo():
    """MATH 4.6: the full covariance contains the posterior, so the best ELBO is the log-evidence."""
    inputs, examples, alpha, beta = 3, 24, 2.0, 4.0
    rng = np.random.default_rng(3)
    x = rng.normal(size=(examples, inputs)).astype(np.float32)
    y = (x @ rng.normal(size=(inputs, 1)) / alpha**0.5 + rng.normal(size=(examples, 1)) / beta**0.5).astype(np.float32)
    precision = beta * x.T @ x + alpha * np.eye(inputs)
    covariance = x @ x.T / alpha + np.eye(examples) / beta
    sign, log_det = np.linalg.slogdet(2 * np.pi * covariance)
    evidence = -0.5 * (log_det + float((y.T @ np.linalg.solve(covariance, y)).item()))
    bnn = plait.bayesianize(
        jnp.zeros((inputs, 1)), x, apply=lambda w, x: x @ w, posterior=plait.FullCovariance(0.1),
        prior=plait.Normal(alpha**-0.5), key=jax.random.key(0),
    )  # fmt: skip
    fit = plait.fit(
        bnn,
        (x, y),
        likelihood=plait.Gaussian(beta**-0.5),
        optimizer=optax.adam(optax.cosine_decay_schedule(0.02, 4000)),
        steps=4000,
        batch_size=examples,
        num_samples=8,
        key=jax.random.key(1),
    )
    posterior = fit.model.posteriors["weight"]
    mean, variance = np.asarray(posterior.mean), np.asarray(posterior.covariance())
    residual = np.sum((y - x @ mean) ** 2) + np.einsum("ni,ij,nj->", x, variance, x)
    elbo = 0.5 * examples * np.log(beta / (2 * np.pi)) - 0.5 * beta * residual - float(fit.model.kl())
    assert sign > 0
    assert elbo < evidence + 1e-4
    assert evidence - elbo < 1e-2
    np.testing.assert_allclose(mean, beta * np.linalg.solve(precision, x.T @ y), atol=0.02)
    np.testing.assert_allclose(variance, np.linalg.inv(precision), atol=0.01)
