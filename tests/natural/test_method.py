"""What all methods share: training by `plait.fit`, the protocol, and what they refuse."""

import warnings
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import plait
from plait.natural.method import NaturalState
from plait.natural.prior import gaussian_priors
from plait.objective import Optimizer

GAUSSIAN = plait.Gaussian(0.3)


def fit(bnn: Any, data: Any, method: Any, **options: Any) -> plait.Fit:
    given: dict[str, Any] = {"likelihood": GAUSSIAN, "batch_size": 8, "epochs": 2, "key": jax.random.key(3)} | options
    return plait.fit(bnn, data, optimizer=method, **given)


def leaves(tree: Any) -> list[Any]:
    return jax.tree.leaves(eqx.filter(tree, eqx.is_inexact_array))


def test_fit_trains_any_model_and_all_else_works_on_the_result(method: Any, model: Any, data: Any, tmp_path: Any):
    assert isinstance(method, Optimizer)
    trained = fit(model, data, method, epochs=20, validation=data, eval_every=20)
    bnn = trained.model
    losses = trained.history["loss"]
    assert losses[-1] < losses[0]
    assert all(np.isfinite(leaf).all() for leaf in leaves(bnn))
    assert set(method.prepare(bnn).draw_weights(None)) == set(model.draw_weights(None))
    pred = plait.predict(bnn, data[0], key=jax.random.key(0), num_samples=7)
    assert pred.mean.shape == (24, 1)
    assert np.all(pred.epistemic > 0)
    assert float(bnn.kl()) > 0
    plait.save(tmp_path / "model", bnn)
    again = plait.load(tmp_path / "model", like=method.prepare(model))
    for ours, theirs in zip(leaves(again), leaves(bnn), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert "trained numbers" in str(bnn)
    assert bnn.num_params >= model.num_weights


def test_a_prepared_model_comes_back_as_it_is_and_steps_keep_its_structure(method: Any, model: Any, data: Any):
    bnn = method.prepare(model)
    assert method.prepare(bnn) is bnn
    for path, weight in model.draw_weights(None).items():
        np.testing.assert_allclose(bnn.draw_weights(None)[path], weight, rtol=1e-6)
    state = method.init(model)
    assert isinstance(state, NaturalState)
    options = {"key": jax.random.key(0), "likelihood": GAUSSIAN, "dataset_size": 24}
    after, later, aux = jax.jit(lambda bnn, state: method.step(bnn, state, data, **options))(bnn, state)
    assert jax.tree.structure(after) == jax.tree.structure(bnn)
    assert jax.tree.structure(later) == jax.tree.structure(state)
    assert int(later.count) == 1
    np.testing.assert_allclose(aux.loss, aux.nll + aux.kl / 24, rtol=1e-6)
    np.testing.assert_allclose(aux.kl, bnn.kl(), rtol=1e-5)
    # The first step of a model that was not prepared is the same.
    unprepared, _, _ = jax.jit(lambda bnn, state: method.step(bnn, state, data, **options))(model, state)
    for path, weight in after.draw_weights(None).items():
        np.testing.assert_allclose(unprepared.draw_weights(None)[path], weight, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(unprepared.kl(), after.kl(), rtol=1e-4)


@pytest.mark.parametrize("name", ["kfac", "adam"])
def test_replicas_are_runs_of_their_own(name: str, data: Any, make: Any):
    method: Any = plait.NoisyKFAC(inverse_every=2, statistics_every=2) if name == "kfac" else plait.NoisyAdam()
    both = fit(make, data, method, replicas=2)
    for index, key in enumerate(jax.random.split(jax.random.key(3), 2)):
        alone = fit(make, data, method, key=key)
        for ours, theirs in zip(leaves(both.models[index]), leaves(alone.model), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=2e-3, atol=1e-4)


def test_rates_may_be_schedules_or_values_of_replicas(model: Any, data: Any):
    constant = fit(model, data, plait.NoisyKFAC(learning_rate=0.02, curvature_rate=0.03)).model
    scheduled = fit(
        model,
        data,
        plait.NoisyKFAC(learning_rate=optax.constant_schedule(0.02), curvature_rate=lambda count: 0.03 + 0 * count),
    ).model
    for ours, theirs in zip(leaves(scheduled), leaves(constant), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    rates = {"rate": jnp.asarray([0.0, 0.02])}
    several = fit(model, data, lambda values: plait.NoisyKFAC(learning_rate=values["rate"]), replicas=rates)
    means = [bnn.draw_weights(None)["w1"] for bnn in several.models]
    np.testing.assert_allclose(means[0], model.draw_weights(None)["w1"], rtol=1e-6)
    assert not np.allclose(means[1], means[0])


def test_a_resumed_run_gives_the_same_numbers(model: Any, data: Any, tmp_path: Any):
    method = plait.NoisyKFAC(statistics_every=2, inverse_every=4)
    fit(model, data, method, epochs=1, checkpoint=tmp_path)
    resumed = fit(model, data, method, epochs=3, checkpoint=tmp_path, resume=True)
    whole = fit(model, data, method, epochs=3)
    for ours, theirs in zip(leaves(resumed.model), leaves(whole.model), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_kl_weight_scales_the_width(model: Any, data: Any):
    method = plait.NoisyAdam(statistics_every=1, learning_rate=0.0, curvature_rate=1.0, fisher="exact")
    wide, narrow, zero = (
        fit(model, data, method, batch_size=24, epochs=1, kl_schedule=weight).model for weight in (1.0, 0.25, 0.0)
    )
    # One step each, from the same draws: what the data say counts four times.
    told = [1 / bnn.posteriors["w1"].variance - gaussian_priors(bnn)["w1"].precision for bnn in (wide, narrow)]
    np.testing.assert_allclose(told[1], 4 * told[0], rtol=1e-4, atol=1e-4)
    assert all(np.isfinite(leaf).all() for leaf in leaves(zero))


def test_several_draws_are_averaged(model: Any, data: Any):
    options = {"key": jax.random.key(0), "likelihood": GAUSSIAN, "dataset_size": 24}
    spread = {}
    for samples in (1, 16):
        method = plait.NoisyAdam(num_samples=samples, learning_rate=1.0, momentum=0.0)
        bnn, state = method.prepare(model), method.init(model)

        def mean(key: jax.Array, method: Any = method, bnn: Any = bnn, state: Any = state) -> jax.Array:
            after, _, _ = method.step(bnn, state, data, **(options | {"key": key}))
            return after.posteriors["w2"].mean

        spread[samples] = np.std(jax.jit(jax.vmap(mean))(jax.random.split(jax.random.key(1), 200)), axis=0).mean()
    assert 2.5 < spread[1] / spread[16] < 6


def test_kl_clip_bounds_a_step(model: Any, data: Any):
    bnn, options = model, {"key": jax.random.key(0), "likelihood": GAUSSIAN, "dataset_size": 24}
    moves = []
    for clip in (None, 1e9, 1e-4, 1e-6):
        method = plait.NoisyKFAC(learning_rate=1.0, kl_clip=clip)
        after, _, _ = method.step(bnn, method.init(bnn), data, **options)
        moves.append(float(jnp.linalg.norm(after.draw_weights(None)["w1"] - bnn.draw_weights(None)["w1"])))
    assert moves[0] == pytest.approx(moves[1], rel=1e-5)
    assert moves[2] == pytest.approx(10 * moves[3], rel=1e-2)
    assert moves[2] < moves[1]


def test_constants_stay_constants_and_are_trained(data: Any, make: Any):
    bnn = make(jax.random.key(1), posterior={"w2": plait.Point(), "b2": plait.Point(), "*": plait.MeanField(0.1)})
    trained = fit(bnn, data, plait.NoisyKFAC(), epochs=5).model
    assert isinstance(trained.posteriors["w2"], plait.posterior.PointPosterior)
    assert not np.allclose(trained.posteriors["w2"].mean, bnn.posteriors["w2"].mean)
    assert len(trained.joints) == 1


class Net(eqx.Module):
    embedding: eqx.nn.Embedding
    layer: eqx.nn.Linear
    norm: eqx.nn.LayerNorm

    def __call__(self, token: jax.Array) -> jax.Array:
        return self.norm(self.layer(self.embedding(token)))


def make_net(key: jax.Array, **options: Any) -> plait.BayesianModel:
    net = Net(eqx.nn.Embedding(5, 3, key=key), eqx.nn.Linear(3, 2, key=key), eqx.nn.LayerNorm(2))
    return plait.bayesianize(net, jnp.zeros((2,), int), prior=plait.Normal(1.0), key=key, **options)


def test_what_a_structure_cannot_carry_falls_back_with_a_warning(key: jax.Array):
    bnn = make_net(key)
    expected = (
        r"NoisyKFAC cannot carry these weights; they get independent entries \(MeanField, as in plait.NoisyAdam\): "
        r"embedding.weight \(embedding\), norm.bias \(bias\), norm.weight \(scale\)"
    )
    with pytest.warns(UserWarning, match=expected):
        prepared = plait.NoisyKFAC().prepare(bnn)
    assert set(prepared.posteriors) == {"embedding.weight", "norm.bias", "norm.weight"}
    assert set(prepared.joints[0].means) == {"layer.weight", "layer.bias"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = (jnp.arange(6) % 5, jnp.ones((6, 2)))
        assert fit(prepared, data, plait.NoisyKFAC(), batch_size=3).step == 4
        plait.NoisyAdam().prepare(bnn)
    with pytest.raises(ValueError, match=r"NoisyKFAC cannot carry .* fallback='refuse': embedding.weight"):
        plait.NoisyKFAC(fallback="refuse").prepare(bnn)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "samples": ({"num_samples": 0}, "`num_samples` must be a positive integer, got 0"),
    "interval": ({"inverse_every": 1.5}, "`inverse_every` must be a positive integer, got 1.5"),
    "momentum": ({"momentum": 1.0}, r"`momentum` must lie in \[0, 1\), got 1.0"),
    "fisher": ({"fisher": "true"}, "`fisher` must be one of 'sampled', 'exact', 'empirical', got 'true'"),
    "fallback": ({"fallback": "none"}, "`fallback` must be one of 'mean-field', 'refuse', got 'none'"),
    "rate": ({"curvature_rate": 2.0}, r"`curvature_rate` must lie in \(0, 1\], got 2.0"),
    "clip": ({"kl_clip": 0.0}, "`kl_clip` must be positive, got 0.0"),
    "noise": ({"noise": 2.0}, r"`noise` says how .* a rate in \[0, 1\] .* or an optax transformation; got 2.0"),
    "sampler": ({"sampler": "full"}, "`sampler` must be one of 'damped', 'exact', got 'full'"),
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("options", "says"), REFUSED.values(), ids=REFUSED)
def test_an_option_that_makes_no_sense_is_refused(options: dict[str, Any], says: str):
    with pytest.raises(ValueError, match=says):
        plait.NoisyKFAC(**options)


@pytest.mark.usefixtures("unchecked")
def test_options_of_single_methods_are_checked():
    with pytest.raises(ValueError, match="`squares` must be one of 'per_example', 'minibatch', got 'mean'"):
        plait.NoisyAdam(squares="mean")
    with pytest.raises(ValueError, match=r"`inverse_every` must be larger than `statistics_every`.*got 5 and 5"):
        plait.NoisyEKFAC(statistics_every=5, inverse_every=5)
    with pytest.raises(ValueError, match=r"no `damping`, got 0\.1"):
        plait.NoisyFull(damping=0.1)


def test_posteriors_and_priors_that_have_no_natural_gradient_here_are_refused(key: jax.Array, make: Any):
    with pytest.raises(ValueError, match="this model a mixture of 2: build it with another family"):
        plait.NoisyAdam().prepare(make(key, posterior=plait.RankOne(2), prior=plait.Normal(0.1, mean=1.0)))
    with pytest.raises(ValueError, match=r"need a normal prior with a given scale.*'b1' has LearnedNormal"):
        plait.NoisyAdam().prepare(make(key, prior=plait.LearnedNormal()))


def test_a_dense_matrix_over_many_weights_is_taken_for_a_mistake(key: jax.Array):
    bnn = plait.bayesianize(
        {"w": jnp.zeros((150, 150))},
        jnp.zeros((1, 150)),
        apply=lambda w, x: x @ w["w"],
        prior=plait.Normal(1.0),
        key=key,
    )
    with pytest.raises(ValueError, match=r"22,500 are more than 20,000: use plait.NoisyKFAC"):
        plait.NoisyFull().prepare(bnn)
