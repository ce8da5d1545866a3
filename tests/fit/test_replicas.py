"""Several models as one program."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import plait
from plait.fit.replicas import build, pick, read_replicas, stack, unstack

KEYS = jax.random.split(jax.random.key(7), 3)


def test_a_replica_is_the_run_with_its_key(problem):
    both = problem.fit(bnn=problem.make_model, replicas=3, validation=problem.data, epochs=3)
    assert both.model.posteriors["first"].mean.shape == (3, 3, 4)
    assert len(both.models) == len(both.unstack()) == 3
    for replica, key in enumerate(KEYS):
        alone = problem.fit(bnn=problem.make_model, key=key, validation=problem.data, epochs=3)
        problem.assert_equal(both.models[replica], alone.model, 1e-4)
        for name in ("loss", "nll", "kl", "validation_nll", "validation_rmse"):
            np.testing.assert_allclose(both.history[name][:, replica], alone.history[name], rtol=1e-4)


def test_the_stacked_model_predicts_under_vmap_and_its_parts_by_themselves(problem):
    fit = problem.fit(bnn=problem.make_model, replicas=2, likelihood=plait.Gaussian("learned"), epochs=1)
    x, key = problem.data[0], jax.random.key(0)
    together = eqx.filter_vmap(lambda bnn: bnn(x, key=key))(fit.model)
    assert together.shape == (2, 40, 1)
    for outputs, model in zip(together, fit.models, strict=True):
        np.testing.assert_allclose(outputs, model(x, key=key), rtol=1e-5, atol=1e-5)
    assert not np.allclose(together[0], together[1])
    assert fit.models[1].likelihood.log_scale.shape == ()


def test_one_model_is_where_all_replicas_start(problem):
    fit = problem.fit(replicas=2, optimizer=optax.sgd(0.0), epochs=1)
    for model in fit.models:
        problem.assert_equal(model.posteriors, problem.bnn.posteriors)
    assert fit.history["nll"][0, 0] != fit.history["nll"][0, 1]


def test_a_list_of_models_goes_on_from_where_they_are(problem):
    first = problem.fit(bnn=problem.make_model, replicas=2, epochs=1)
    second = problem.fit(bnn=first.models, optimizer=optax.sgd(0.0), epochs=1)
    assert second.replicas == 2
    problem.assert_equal(second.model, first.model)


def test_hyperparameters_are_values_of_replicas(problem):
    values = {"rate": jnp.asarray([0.0, 0.01]), "scale": jnp.asarray([1.0, 0.1])}
    fit = problem.fit(
        bnn=lambda key, values: problem.make_model(key, prior=values["scale"]),
        optimizer=lambda values: optax.adam(values["rate"]),
        replicas=values,
        clip_norm=10.0,
        epochs=2,
    )
    starts = [problem.make_model(jax.random.split(key, 4)[0]) for key in jax.random.split(jax.random.key(7), 2)]
    problem.assert_equal(fit.models[0].posteriors, starts[0].posteriors, 1e-6)
    alone = problem.fit(
        bnn=lambda key: problem.make_model(key, prior=0.1),
        optimizer=plait.Gradient(optax.adam(0.01), clip_norm=10.0),
        key=jax.random.split(jax.random.key(7), 2)[1],
        epochs=2,
    )
    problem.assert_equal(fit.models[1].posteriors, alone.model.posteriors, 1e-4)


def test_replicas_may_have_data_of_their_own(problem):
    sets = [problem.make_data(seed=seed) for seed in range(3)]
    data = tuple(np.stack(parts) for parts in zip(*sets, strict=True))
    fit = problem.fit(data=data, replicas=3, data_per_replica=True, validation=data, epochs=2)
    for replica, key in enumerate(KEYS):
        alone = problem.fit(data=sets[replica], key=key, validation=sets[replica], epochs=2)
        problem.assert_equal(fit.models[replica], alone.model, 1e-4)
        np.testing.assert_allclose(
            fit.history["validation_nll"][:, replica], alone.history["validation_nll"], rtol=1e-4
        )


def test_batches_of_an_iterator_are_shared_or_each_replicas_own(problem):
    x, y = problem.data
    batches = [(x[i : i + 8], y[i : i + 8]) for i in range(0, 40, 8)]
    options = {"bnn": problem.make_model, "replicas": 2, "batch_size": None, "dataset_size": 40, "epochs": 1}
    shared = problem.fit(data=batches, **options)
    own = [tuple(np.stack([part, part]) for part in batch) for batch in batches]
    problem.assert_equal(problem.fit(data=own, data_per_replica=True, **options).model, shared.model, 1e-5)


def test_a_replica_that_runs_away_stops_alone(problem):
    rates = {"rate": jnp.asarray([0.01, 1e15])}
    with pytest.warns(
        RuntimeWarning, match=r"1 of 2 replicas ran into a loss that is not finite, at these steps: \{1:"
    ):
        fit = problem.fit(replicas=rates, optimizer=lambda values: optax.sgd(values["rate"]), epochs=20)
    assert fit.failed == (1,)
    assert np.isfinite(fit.history["loss"][-1, 0])
    assert np.isnan(fit.history["loss"][-1, 1])
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(fit.model.posteriors))
    assert "nan" not in str(fit)


def test_when_all_replicas_run_away_it_is_an_error(problem):
    with pytest.raises(plait.NonFiniteLoss, match=r"gradient of|KL of") as caught:
        problem.fit(replicas=2, optimizer=optax.sgd(1e15), epochs=20)
    assert caught.value.fit.failed == (0, 1)


def test_replicas_resume_bit_for_bit(problem, tmp_path):
    options = {"bnn": problem.make_model, "replicas": 2, "checkpoint": tmp_path}
    problem.fit(epochs=1, **options)
    resumed = problem.fit(epochs=3, resume=True, **options)
    whole = problem.fit(bnn=problem.make_model, replicas=2, epochs=3)
    problem.assert_equal(resumed.model, whole.model)
    np.testing.assert_array_equal(resumed.history["loss"], whole.history["loss"])


def test_stacking_and_unstacking_are_inverse(problem):
    models = [problem.make_model(key) for key in KEYS]
    for ours, theirs in zip(unstack(stack(models), 3), models, strict=True):
        problem.assert_equal(ours, theirs)
        assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    problem.assert_equal(pick(stack(models), 1), models[1])


@pytest.mark.parametrize(
    ("replicas", "says"),
    [
        (0, "`replicas` must be a positive integer or a mapping of arrays, got 0"),
        (True, "`replicas` must be a positive integer"),
        ({"a": jnp.ones(2), "b": jnp.ones(3)}, r"arrays of one length, got shapes \{'a': \(2,\), 'b': \(3,\)\}"),
        ({"a": jnp.ones(())}, "arrays of one length"),
        ({}, "arrays of one length"),
    ],
)
def test_numbers_of_replicas_that_make_no_sense_are_refused(problem, replicas, says):
    with pytest.raises(ValueError, match=says):
        read_replicas(replicas, problem.bnn)


def test_what_is_no_model_is_refused(problem):
    with pytest.raises(ValueError, match="got 2 models for 3 replicas"):
        read_replicas(3, [problem.bnn] * 2)
    with pytest.raises(TypeError, match="must return a BayesianModel, got int"):
        build(lambda key: 3, None, None, KEYS[0])
    with pytest.raises(ValueError, match="the same weights, posteriors and priors; these differ"):
        stack([problem.bnn, problem.make_model(KEYS[0], prior=0.5)])
    with pytest.raises(ValueError, match="these differ"):
        stack([problem.bnn, problem.make_model(KEYS[0], posterior=plait.Tied(1))])
