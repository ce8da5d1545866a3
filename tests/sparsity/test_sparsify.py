"""Zeros by a rule: where they are, what is reported, and that they stay."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import plait
from plait.posterior import MaskedPosterior

KEY = jax.random.key(0)
X = jax.random.normal(KEY, (6, 4))


def mlp(posterior: Any = None, **options: Any) -> plait.BayesianModel:
    model = eqx.nn.MLP(4, 3, 5, 2, key=KEY)
    return plait.bayesianize(model, X, posterior=posterior or plait.MeanField(0.2), key=KEY, **options)


def with_noise(bnn: plait.BayesianModel, path: str, where: Any) -> plait.BayesianModel:
    """The model with a standard deviation of 100 at some entries."""
    return eqx.tree_at(
        lambda b: b.posteriors[path].unconstrained, bnn, bnn.posteriors[path].unconstrained.at[where].set(np.log(100.0))
    )


def test_noise_becomes_zero_in_masks_model_and_report():
    bnn = with_noise(with_noise(mlp(plait.MeanField(1e-3)), "layers.1.weight", 2), "layers.2.weight", (0, 1))
    sparse = plait.sparsify(bnn)
    assert set(sparse.masks) == {"layers.0.weight", "layers.1.weight", "layers.2.weight"}
    assert sparse.masks["layers.0.weight"].all()
    np.testing.assert_array_equal(sparse.masks["layers.1.weight"], np.arange(5)[:, None].repeat(5, 1) != 2)
    assert not sparse.masks["layers.2.weight"][0, 1]
    first, second, last = sparse.report.layers
    assert (first.weights_left, first.weights) == (20, 20)
    assert (second.weights_left, second.rows_left, second.columns_left, second.columns) == (20, 5, 4, 5)
    assert (last.weights_left, last.columns_left, last.note) == (14, 3, "its columns are outputs")
    assert (sparse.report.weights_left, sparse.report.weights) == (54, 60)
    assert "54 of 60 weights left" in str(sparse)
    weights = sparse.model.draw_weights(jax.random.key(1))
    assert jnp.all(weights["layers.1.weight"][2] == 0)
    assert jnp.all(sparse.model.mean().layers[1].weight[2] == 0)
    plain = bnn.mean()
    plain = eqx.tree_at(
        lambda m: [layer.weight for layer in m.layers],
        plain,
        [jnp.where(mask, layer.weight, 0) for layer, mask in zip(plain.layers, sparse.masks.values(), strict=True)],
    )
    np.testing.assert_allclose(sparse.model(X, key=None), jax.vmap(plain)(X), rtol=1e-5, atol=1e-6)


def test_zeros_stay_through_training_and_a_second_rule():
    sparse = plait.sparsify(mlp(prior=plait.ARD()), plait.Budget(0.5))
    y = jnp.arange(6) % 3
    fit = plait.fit(
        sparse.model, (X, y), likelihood=plait.Categorical(), optimizer=optax.adam(0.1), epochs=2, batch_size=3, key=KEY
    )
    before, after = sparse.model.mean(), fit.model.mean()
    for old, new, mask in zip(before.layers, after.layers, sparse.masks.values(), strict=True):
        assert jnp.all(new.weight[~mask] == 0)
        assert jnp.all(new.weight[mask] != old.weight[mask])
    again = plait.sparsify(fit.model, plait.Budget(0.3))
    for path, mask in again.masks.items():
        assert not (mask & ~sparse.masks[path]).any()
    assert again.report.weights_left <= 18 + 3


def test_what_is_zero_costs_no_more_than_the_whole():
    bnn = mlp(plait.MatrixNormal(init_scale=0.2), prior={"dense": plait.GroupARD()})
    sparse = plait.sparsify(bnn, plait.Budget(0.5))
    np.testing.assert_allclose(sparse.model.kl(), bnn.kl(), rtol=1e-6)
    assert sparse.model.num_params == bnn.num_params
    assert [row.note for row in sparse.model.sites if row.kind == "dense"] == ["masked: one draw"] * 3
    assert jnp.isfinite(sparse.model(X, key=KEY)).all()


def test_a_noisy_column_condemns_its_rows_only_where_rows_are_asked_for():
    bnn = with_noise(mlp(plait.MeanField(1e-3)), "layers.1.weight", 2)
    assert plait.sparsify(bnn, plait.LogAlpha(of=("columns",))).report.layers[1].weights_left == 20
    assert plait.sparsify(bnn, plait.LogAlpha(of=("rows",))).report.layers[1].weights_left == 0


def test_outputs_keep_their_strongest_weight():
    bnn = with_noise(mlp(), "layers.2.weight", slice(None))
    mask = plait.sparsify(bnn).masks["layers.2.weight"]
    strongest = jnp.argmax(jnp.abs(bnn.posteriors["layers.2.weight"].mean), axis=1)
    np.testing.assert_array_equal(mask.argmax(axis=1), strongest)
    assert (mask.sum(axis=1) == 1).all()
    columns = plait.sparsify(bnn, plait.Budget(0.2, "columns"))
    assert columns.masks["layers.2.weight"].all()


def test_rules_by_pattern_leave_the_rest_alone():
    rules = {"layers.0.weight": plait.Budget(0.5), "*.bias": plait.SignalToNoise(0.0)}
    sparse = plait.sparsify(mlp(), rules)
    assert set(sparse.masks) == {"layers.0.weight", "layers.0.bias", "layers.1.bias", "layers.2.bias"}
    assert sparse.report.layers[0].weights_left == 10
    assert sparse.report.layers[1].weights_left == 25
    assert isinstance(sparse.model.posteriors["layers.0.weight"], MaskedPosterior)
    assert not isinstance(sparse.model.posteriors["layers.1.weight"], MaskedPosterior)


def test_a_masked_model_is_saved_and_loaded(tmp_path: Any):
    sparse = plait.sparsify(mlp(), plait.Budget(0.5)).model
    plait.save(tmp_path / "model", sparse)
    other = jax.tree.map(lambda leaf: jnp.zeros_like(leaf) if eqx.is_inexact_array(leaf) else leaf, sparse)
    loaded = plait.load(tmp_path / "model", like=other)
    assert jnp.array_equal(loaded(X, key=None), sparse(X, key=None))


def two_columns(w: Any, x: jax.Array) -> jax.Array:
    return x @ w


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "outputs": (
        lambda: plait.sparsify(mlp(), {"layers.2": plait.LogAlpha(of=("columns",))}),
        ValueError,
        r"the columns of 'layers.2.weight' are outputs of the model and cannot be cut; give that layer a rule",
    ),
    "not a rule": (lambda: plait.sparsify(mlp(), {"dense": 3.0}), TypeError, "must be a rule such as plait.LogAlpha"),
    "joint": (
        lambda: plait.sparsify(mlp(plait.FullCovariance(0.1, joint=True))),
        ValueError,
        r"cannot be masked one by one under a joint posterior; mask a plain model .*plait.shrink\(bnn.mean\(\), x",
    ),
    "factors": (lambda: plait.sparsify(mlp(plait.RankOne(2))), ValueError, "one by one under RankOnePosterior"),
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("build", "kind", "says"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_is_refused(build: Callable[[], Any], kind: type[Exception], says: str):
    with pytest.raises(kind, match=says):
        build()
