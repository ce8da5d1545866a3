"""A shrunk model computes what the masked one computes, in every framework, and says what it could not cut."""

import sys
from collections.abc import Callable
from typing import Any

import equinox as eqx
import flax.linen as linen
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

import plait
from plait.posterior import MaskedPosterior
from plait.sparsity.masks import with_masks
from plait.sparsity.plan import Plan

KEYS = jax.random.split(jax.random.key(3), 8)


def without(shape: tuple[int, ...], *, rows: Any = (), columns: Any = (), row_axis: int = 1, axis: int = 0) -> Any:
    """A mask for a weight as Equinox stores it, [out, in, ...]."""
    mask = np.ones(shape, bool)
    np.moveaxis(mask, axis, 0)[list(columns)] = False
    np.moveaxis(mask, row_axis, 0)[list(rows)] = False
    return mask


def zeroed(model: Any, masks: dict[str, Any], x: Any, **options: Any) -> Any:
    """The plain model with zeros."""
    bnn = plait.bayesianize(model, x, posterior=plait.Point(), key=KEYS[0], **options)
    posteriors = dict(bnn.posteriors)
    for path, mask in masks.items():
        posteriors[path] = eqx.tree_at(lambda p: p.mean, posteriors[path], jnp.where(mask, posteriors[path].mean, 0))
    return eqx.tree_at(lambda b: b.posteriors, bnn, posteriors).mean()


def shapes(model: Any) -> list[tuple[int, ...]]:
    return [leaf.shape for leaf in jax.tree.leaves(eqx.filter(model, eqx.is_inexact_array)) if leaf.ndim > 1]


@pytest.mark.parametrize("activation", [jax.nn.relu, jax.nn.elu, jax.nn.sigmoid, jax.nn.gelu, jax.nn.silu])
@pytest.mark.parametrize("kind", ["incoming", "outgoing", "both"])
def test_a_perceptron_loses_units_without_incoming_or_outgoing_weights(activation: Any, kind: str):
    model = eqx.nn.MLP(5, 3, 8, 2, activation=activation, key=KEYS[0])
    x = jax.random.normal(KEYS[1], (4, 5))
    masks = {}
    if kind != "outgoing":
        masks |= {"layers.0.weight": without((8, 5), columns=[2, 5]), "layers.1.weight": without((8, 8), columns=[1])}
    if kind == "both":
        masks |= {"layers.1.weight": without((8, 8), rows=[0, 2], columns=[1, 7])}
    if kind == "outgoing":
        masks |= {"layers.1.weight": without((8, 8), rows=[0, 2]), "layers.2.weight": without((3, 8), rows=[4])}
    small = plait.shrink(model, x, masks=masks)
    expected = {"incoming": [6, 7], "outgoing": [6, 7], "both": [5, 6]}[kind]
    assert shapes(small.model) == [(expected[0], 5), (expected[1], expected[0]), (3, expected[1])]
    assert type(small.model) is eqx.nn.MLP
    assert [layer.out_features for layer in small.model.layers] == [*expected, 3]
    assert small.model.width_size == max(expected)
    np.testing.assert_allclose(jax.vmap(small.model)(x), jax.vmap(zeroed(model, masks, x))(x), rtol=1e-4, atol=1e-5)
    assert small.report.bytes_before > small.report.bytes_after == sum(leaf.nbytes for leaf in arrays(small.model))


def arrays(model: Any) -> list[jax.Array]:
    return jax.tree.leaves(eqx.filter(model, eqx.is_array))


def test_a_unit_whose_last_input_goes_goes_too():
    # Unit 3 of the second layer reads only unit 2 of the first, which is constant: so is it.
    model = eqx.nn.MLP(5, 3, 6, 2, activation=jax.nn.sigmoid, key=KEYS[0])
    x = jax.random.normal(KEYS[1], (4, 5))
    second = np.ones((6, 6), bool)
    second[3, [0, 1, 3, 4, 5]] = False
    masks = {"layers.0.weight": without((6, 5), columns=[2]), "layers.1.weight": second}
    small = plait.shrink(model, x, masks=masks)
    assert shapes(small.model) == [(5, 5), (5, 5), (3, 5)]
    np.testing.assert_allclose(jax.vmap(small.model)(x), jax.vmap(zeroed(model, masks, x))(x), rtol=1e-4, atol=1e-5)


def test_a_layer_of_zeros_keeps_one_unit():
    model = eqx.nn.MLP(5, 3, 4, 1, key=KEYS[0])
    small = plait.shrink(model, jnp.ones((2, 5)), masks={"layers.0.weight": np.zeros((4, 5), bool)})
    assert shapes(small.model) == [(1, 5), (3, 1)]


class Net(eqx.Module):
    """Some layers, and a function that says how they are strung together."""

    layers: tuple[Any, ...]
    run: Callable[..., Any] = eqx.field(static=True)

    def __call__(self, *args: Any) -> Any:
        return self.run(*self.layers, *args)


def conv_net(padding: int, activation: Any, pool: Any) -> Net:
    def run(first: Any, second: Any, head: Any, x: jax.Array) -> jax.Array:
        x = pool(activation(first(x)))
        x = activation(second(x))
        return head(x.reshape(-1))

    probe = jnp.ones((2, 8, 8))
    first = eqx.nn.Conv2d(2, 6, 3, padding=padding, key=KEYS[0])
    second = eqx.nn.Conv2d(6, 5, 3, padding=padding, key=KEYS[1])
    size = second(pool(first(probe))).size
    return Net((first, second, eqx.nn.Linear(size, 3, key=KEYS[2])), run)


CONV_MASKS = {
    "layers.0.weight": without((6, 2, 3, 3), columns=[1, 4]),
    "layers.1.weight": without((5, 6, 3, 3), rows=[0], columns=[2]),
}


@pytest.mark.parametrize("pool", [eqx.nn.MaxPool2d(2, 2), eqx.nn.AvgPool2d(2, 2)], ids=["max", "average"])
@pytest.mark.parametrize(("padding", "activation", "left"), [(1, jax.nn.relu, (5, 4)), (0, jax.nn.sigmoid, (3, 4))])
def test_a_convolutional_net_is_cut_through_pooling_and_flattening(
    pool: Any, padding: int, activation: Any, left: tuple[int, int]
):
    net = conv_net(padding, activation, pool)
    x = jax.random.normal(KEYS[3], (2, 2, 8, 8))
    small = plait.shrink(net, x, masks=CONV_MASKS)
    first, second, head = small.model.layers
    if padding == 1:
        # relu(bias) > 0 next to zero padding: those of the constant channels stay, the negative ones go.
        going = sum(float(net.layers[0].bias[i, 0, 0]) <= 0 for i in (1, 4))
        left = (5 - going, 4)
        note = "sees it differently in different places"
        assert (note in str(small)) == (going < 2)
    assert (first.out_channels, second.in_channels, second.out_channels) == (left[0], left[0], left[1])
    assert head.in_features == head.weight.shape[1] == net.layers[2].in_features // 5 * 4
    plain = zeroed(net, CONV_MASKS, x)
    np.testing.assert_allclose(jax.vmap(small.model)(x), jax.vmap(plain)(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["inference", "training"])
def test_batch_norm_is_cut_with_its_state(mode: str):
    def run(first: Any, norm: Any, last: Any, x: jax.Array, state: eqx.nn.State) -> tuple[jax.Array, eqx.nn.State]:
        x, state = norm(first(x), state)
        return last(jax.nn.elu(x).reshape(-1)), state

    def build() -> Net:
        conv = eqx.nn.Conv2d(2, 5, 2, key=KEYS[0])
        return Net((conv, eqx.nn.BatchNorm(5, "batch", mode="batch"), eqx.nn.Linear(20, 3, key=KEYS[1])), run)

    model, state = eqx.nn.make_with_state(build)()
    noise = iter(jax.random.split(KEYS[2], 20))
    state = jax.tree.map(
        lambda s: s + 0.1 + jax.random.uniform(next(noise), s.shape) if eqx.is_inexact_array(s) else s, state
    )
    model = eqx.nn.inference_mode(model, mode == "inference")
    x = jax.random.normal(KEYS[3], (4, 2, 3, 3))
    masks = {"layers.0.weight": without((5, 2, 2, 2), columns=[0, 3])}

    def outputs(model: Any, state: Any) -> Any:
        return jax.vmap(model, in_axes=(0, None), out_axes=(0, None), axis_name="batch")(x, state)[0]

    small = plait.shrink(model, x, state, masks=masks)
    assert small.model.layers[1].input_size == 3
    assert small.model.layers[2].weight.shape == (3, 12)
    (cut_state,) = small.inputs
    assert {leaf.shape for leaf in jax.tree.leaves(cut_state) if leaf.ndim} == {(3,)}
    plain = eqx.tree_at(
        lambda m: m.layers[0].weight, model, jnp.where(masks["layers.0.weight"], model.layers[0].weight, 0)
    )
    np.testing.assert_allclose(outputs(small.model, cut_state), outputs(plain, state), rtol=1e-4, atol=1e-5)
    bnn = plait.bayesianize(model, x, state, posterior=plait.MeanField(), key=KEYS[0])
    with pytest.raises(
        ValueError, match=r"takes an eqx.nn.State, which is cut with it: `plait.shrink\(bnn, x, state\)"
    ):
        plait.shrink(bnn, masks=masks)


def test_a_residual_connection_stays_and_says_so():
    def run(first: Any, inner: Any, last: Any, x: jax.Array) -> jax.Array:
        x = jax.nn.relu(first(x))
        return last(x + jax.nn.relu(inner(x)))

    model = Net(tuple(eqx.nn.Linear(*io, key=k) for io, k in zip([(4, 6), (6, 6), (6, 2)], KEYS[:3], strict=True)), run)
    x = jax.random.normal(KEYS[3], (3, 4))
    masks = {"layers.0.weight": without((6, 4), columns=[1]), "layers.1.weight": without((6, 6), columns=[1])}
    small = plait.shrink(model, x, masks=masks)
    assert shapes(small.model) == shapes(model)
    assert "layers.0.weight" in str(small)
    assert str(small).count("columns stay: its units meet those of another layer, as in a residual connection") == 2
    np.testing.assert_allclose(jax.vmap(small.model)(x), jax.vmap(zeroed(model, masks, x))(x), rtol=1e-5, atol=1e-6)
    # Bayesian, what cannot be cut stays masked.
    bnn = plait.bayesianize(model, x, posterior=plait.MeanField(), key=KEYS[0])
    masked = plait.shrink(bnn, masks=masks).model.posteriors["layers.0.weight"]
    assert isinstance(masked, MaskedPosterior)


def test_without_a_bias_to_take_up_a_constant_a_unit_stays():
    def run(first: Any, last: Any, x: jax.Array) -> jax.Array:
        return last(jax.nn.sigmoid(first(x)))

    layers = (eqx.nn.Linear(3, 4, key=KEYS[0]), eqx.nn.Linear(4, 2, use_bias=False, key=KEYS[1]))
    x = jax.random.normal(KEYS[2], (3, 3))
    small = plait.shrink(Net(layers, run), x, masks={"layers.0.weight": without((4, 3), columns=[2])})
    assert shapes(small.model) == [(4, 3), (2, 4)]
    assert "1 units stay that have a constant value: 'layers.1.weight' has no bias of its own" in str(small)


def test_a_layer_used_twice_takes_up_the_same_constant_or_none():
    def run(first: Any, shared: Any, x: jax.Array) -> jax.Array:
        return shared(jax.nn.sigmoid(first(x))) + shared(jax.nn.sigmoid(2 * first(x)))

    layers = (eqx.nn.Linear(3, 4, key=KEYS[0]), eqx.nn.Linear(4, 2, key=KEYS[1]))
    x = jax.random.normal(KEYS[2], (3, 3))
    masks = {"layers.0.weight": without((4, 3), columns=[2])}
    small = plait.shrink(Net(layers, run), x, masks=masks)
    assert shapes(small.model) == [(4, 3), (2, 4)]
    masks = {"layers.1.weight": without((2, 4), rows=[1])}
    assert shapes(plait.shrink(Net(layers, run), x, masks=masks).model) == [(3, 3), (2, 3)]


def test_layers_can_be_told_to_stay():
    model = eqx.nn.MLP(5, 3, 6, 2, key=KEYS[0])
    masks = {f"layers.{i}.weight": without((6, 5 + i), columns=[2]) for i in (0, 1)}
    small = plait.shrink(model, jnp.ones((2, 5)), masks=masks, whole=["layers.0"])
    assert shapes(small.model) == [(6, 5), (5, 6), (3, 5)]
    assert "columns stay: as asked" in str(small)


def test_a_pytree_of_parameters_is_cut():
    def apply(params: Any, x: jax.Array) -> jax.Array:
        hidden = jnp.tanh(x @ params["in"] + params["b"][None])
        return hidden @ params["out"]

    params = {
        "in": jax.random.normal(KEYS[0], (3, 5)),
        "b": jnp.zeros(5),
        "out": jax.random.normal(KEYS[1], (5, 2)),
    }
    x = jax.random.normal(KEYS[2], (4, 3))
    masks = {"in": without((3, 5), columns=[0, 4], axis=1, row_axis=0)}
    small = plait.shrink(params, x, masks=masks, apply=apply)
    assert {name: value.shape for name, value in small.model.items()} == {"in": (3, 3), "b": (3,), "out": (3, 2)}
    plain = zeroed(params, masks, x, apply=apply)
    np.testing.assert_allclose(apply(small.model, x), apply(plain, x), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(small.kept["in"][1], [1, 2, 3])


class Linen(linen.Module):
    width: int

    @linen.compact
    def __call__(self, x: Any) -> Any:
        x = linen.relu(linen.BatchNorm(use_running_average=True)(linen.Conv(self.width, (2, 2), padding="VALID")(x)))
        return linen.Dense(3)(x.reshape((x.shape[0], -1)))


def test_flax_linen_needs_the_forward_pass_of_a_module_of_the_new_size():
    x = jax.random.normal(KEYS[0], (2, 3, 3, 2))
    params = Linen(5).init(KEYS[1], x)
    noise = iter(jax.random.split(KEYS[2], 20))
    params = jax.tree.map(lambda p: p + 0.3 * jax.random.uniform(next(noise), p.shape), params)
    bnn = plait.bayesianize(params, x, apply=Linen(5).apply, posterior=plait.MeanField(), key=KEYS[0])
    masks = {"params.Conv_0.kernel": without((2, 2, 2, 5), columns=[1, 2], axis=3, row_axis=2)}
    with pytest.raises(ValueError, match=r"holds on to the old sizes \(Scope.*params.Conv_0.kernel \(2, 2, 2, 3\)"):
        plait.shrink(bnn, masks=masks)
    small = plait.shrink(bnn, masks=masks, apply=Linen(3).apply).model
    assert small.mean()["batch_stats"]["BatchNorm_0"]["mean"].shape == (3,)
    masked = with_masks(bnn, masks)
    np.testing.assert_allclose(small(x, key=None), masked(x, key=None), rtol=1e-4, atol=1e-5)


def test_flax_nnx_modules_remember_their_new_sizes():
    class Module(nnx.Module):
        def __init__(self, rngs: nnx.Rngs):
            self.conv = nnx.Conv(2, 5, (2, 2), padding="VALID", rngs=rngs)
            self.norm = nnx.BatchNorm(5, use_running_average=True, rngs=rngs)
            self.head = nnx.Linear(20, 3, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            x = nnx.relu(self.norm(self.conv(x)))
            return self.head(x.reshape(x.shape[0], -1))

    model = Module(nnx.Rngs(0))
    x = jax.random.normal(KEYS[0], (2, 3, 3, 2))
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        masks = {"conv.kernel": without((2, 2, 2, 5), columns=[1, 2], axis=3, row_axis=2)}
        small = plait.shrink(model, x, masks=masks).model
        assert isinstance(small, Module)
        assert (small.conv.out_features, small.norm.num_features, small.head.in_features) == (3, 3, 12)
        assert small.conv.kernel_shape == (2, 2, 2, 3)
        plain = zeroed(model, masks, x)
        np.testing.assert_allclose(small(x), plain(x), rtol=1e-4, atol=1e-5)


FAMILIES = [
    plait.MeanField(0.1),
    plait.Tied(2, 0.1),
    plait.MatrixNormal(init_scale=0.1),
    plait.MatrixNormal("householder", "diagonal", 0.1),
    plait.MatrixNormalPlusDiagonal(init_scale=0.1),
    plait.LowRank(2, 0.1),
    plait.FullCovariance(0.1),
]
PRIORS = [
    plait.ARD(),
    plait.GroupARD(),
    plait.GroupARD(updates="gradient"),
    plait.LearnedNormal(shared=True),
    plait.Normal(0.5, mean="weights"),
]


@pytest.mark.parametrize(
    ("family", "prior"), [(f, PRIORS[i % 5]) for i, f in enumerate(FAMILIES)] + [(FAMILIES[2], p) for p in PRIORS]
)
def test_a_bayesian_model_keeps_the_marginals_of_what_is_left(family: Any, prior: Any):
    model = eqx.nn.MLP(4, 2, 6, 2, activation=jax.nn.relu, key=KEYS[0])
    # Without biases and with f(0) = 0 nothing but zeros is cut: the distribution of outputs is the same.
    model = eqx.tree_at(lambda m: [layer.bias for layer in m.layers], model, [jnp.zeros(6), jnp.zeros(6), jnp.zeros(2)])
    x = jax.random.normal(KEYS[1], (3, 4))
    bnn = plait.bayesianize(
        model, x, posterior={"dense": family, "bias": plait.Point()}, prior={"dense": prior}, key=KEYS[0]
    )
    masks = {"layers.0.weight": without((6, 4), columns=[1, 2]), "layers.2.weight": without((2, 6), rows=[5])}
    small = plait.shrink(bnn, masks=masks).model
    assert isinstance(small, plait.BayesianModel)
    assert [row.shape for row in small.sites if row.kind == "dense"] == [(4, 4), (5, 4), (2, 5)]
    assert not any(isinstance(posterior, MaskedPosterior) for posterior in small.posteriors.values())
    assert not any(row.note for row in small.sites)
    before = bnn.posteriors["layers.1.weight"]
    after = small.posteriors["layers.1.weight"]
    inside = np.ix_([0, 1, 2, 3, 4], [0, 3, 4, 5])
    np.testing.assert_allclose(after.mean, before.mean[inside], rtol=1e-6)
    np.testing.assert_allclose(after.variance, before.variance[inside], rtol=1e-5)
    flat = np.arange(36).reshape(6, 6)[inside].reshape(-1)
    np.testing.assert_allclose(after.covariance(), before.covariance()[np.ix_(flat, flat)], rtol=1e-4, atol=1e-6)
    assert small.num_params < bnn.num_params
    assert small.kl() < bnn.kl()
    assert jnp.isfinite(small(x, key=KEYS[2])).all()


def test_a_shrunk_model_can_be_trained_on(key: jax.Array):
    model, x = eqx.nn.MLP(4, 2, 6, 2, key=KEYS[0]), jax.random.normal(KEYS[1], (3, 4))
    bnn = plait.bayesianize(model, x, posterior=plait.MatrixNormal(), prior=plait.GroupARD(), key=KEYS[0])
    small = plait.shrink(bnn, masks={"layers.0.weight": without((6, 4), columns=[1, 2])}).model
    (loss, _), gradient = eqx.filter_value_and_grad(
        lambda b: plait.elbo(b, (x, x[:, :2]), key=key, likelihood=plait.Gaussian(1.0), dataset_size=3),
        has_aux=True,
    )(small)
    assert jnp.isfinite(loss)
    assert all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(gradient.posteriors))


def test_a_masked_model_is_shrunk_as_it_is_and_another_by_the_usual_rule(key: jax.Array):
    model = eqx.nn.MLP(4, 2, 6, 1, key=key)
    bnn = plait.bayesianize(model, jnp.ones((2, 4)), posterior=plait.MeanField(1e-3), key=key)
    assert plait.shrink(bnn).report.weights_left == 36
    sparse = plait.sparsify(bnn, plait.Budget(0.5, "columns"))
    for small in (plait.shrink(sparse), plait.shrink(sparse.model)):
        assert small.model.sites[0].shape == (3, 4)


def test_the_likelihood_stays(key: jax.Array):
    bnn = plait.bayesianize(eqx.nn.MLP(4, 2, 6, 1, key=key), jnp.ones((2, 4)), key=key)
    small = plait.shrink(bnn.with_likelihood(plait.Categorical()), masks={})
    assert isinstance(small.model.likelihood, plait.Categorical)


def mlp(**options: Any) -> plait.BayesianModel:
    model = eqx.nn.MLP(4, 2, 6, 1, key=KEYS[0])
    return plait.bayesianize(model, jnp.ones((2, 4)), **({"posterior": plait.MeanField()} | options), key=KEYS[0])


def test_a_smaller_model_that_differs_is_an_error(monkeypatch: pytest.MonkeyPatch):
    module = sys.modules["plait.sparsity.shrink"]
    wrong = Plan(shifts={"layers.0.bias": jnp.ones(6)})
    monkeypatch.setattr(module, "make_plan", lambda *arguments: wrong)
    with pytest.raises(RuntimeError, match=r"differs from the masked one by .* an error in Plait"):
        plait.shrink(mlp(), masks={})


class Sized(eqx.Module):
    """Holds on to its size."""

    first: eqx.nn.Linear
    last: eqx.nn.Linear

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.last(self.first(x).reshape(6))


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "an output": (
        lambda: plait.shrink(mlp(), masks={"layers.1.weight": without((2, 6), columns=[1])}),
        r"takes all weights of column 1 \(1 of 2 columns\), and its columns are outputs of the model: they",
    ),
    "no inputs": (lambda: plait.shrink(eqx.nn.MLP(4, 2, 6, 1, key=KEYS[0]), masks={}), "needs a batch of inputs and"),
    "no masks": (lambda: plait.shrink(eqx.nn.MLP(4, 2, 6, 1, key=KEYS[0]), jnp.ones((2, 4))), "of inputs and masks"),
    "no marginal": (
        lambda: plait.shrink(
            mlp(posterior={"layers.1.weight": plait.RankOne(1), "*": plait.MeanField()}),
            masks={"layers.0.weight": without((6, 4), columns=[0])},
        ),
        "RankOnePosterior of 'layers.1.weight' has no marginal of its own kind for some rows and columns; shrink",
    ),
    "joint": (
        lambda: plait.shrink(
            mlp(posterior={"layers.1": plait.FullCovariance(joint=True), "*": plait.MeanField()}),
            masks={"layers.0.weight": without((6, 4), columns=[0])},
        ),
        "weights under a joint posterior cannot be cut; shrink a plain model",
    ),
    "size": (
        lambda: plait.shrink(
            Sized(eqx.nn.Linear(4, 6, key=KEYS[0]), eqx.nn.Linear(6, 2, key=KEYS[0])), jnp.ones((2, 4)),
            masks={"first.weight": without((6, 4), columns=[0])},
        ),
        r"holds on to the old sizes \(TypeError\).*whole=\[...\]`. The new sizes are first.weight \(5, 4\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("build", "says"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_is_refused(build: Callable[[], Any], says: str):
    with pytest.raises(ValueError, match=says):
        build()
