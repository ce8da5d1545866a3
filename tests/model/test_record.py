"""The recording pass against explicit per-example gradients, the exact Fisher matrix, and kfac-jax."""

import functools
import importlib
from typing import Any

import cases
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import loosely
from jax import lax

import plait
from plait.likelihood import Categorical, Gaussian

EXAMPLES, CLASSES = 4, 3


MATRICES = {name: case for name, case in cases.SITES.items() if case.kind not in ("bias", "scale")} | cases.REARRANGED


@pytest.mark.parametrize("name", MATRICES)
def test_the_weight_gradient_is_the_sum_of_a_g_over_applications(name: str, key: jax.Array):
    bnn, x = cases.build(plait.MeanField(0.3), MATRICES[name], key)
    recording = plait.record(bnn, x, likelihood=Gaussian(1.0), key=key)
    seen = recording.sites["w"]
    gradient = recording.weight_gradients["w"]
    assert float(jnp.linalg.norm(gradient)) > 0
    np.testing.assert_allclose(seen.weight_gradient(), gradient, rtol=1e-5, atol=1e-5)
    layout, groups = bnn.sites[0].layout, seen.site.groups
    assert seen.rows().shape == (seen.site.positions, groups, layout.fan_in)
    assert seen.columns().shape == (seen.site.positions, groups, layout.fan_out // groups)
    weight = recording.weights["w"]
    assert jnp.array_equal(seen.site.from_groups(seen.site.to_groups(weight)), weight)


# -- two nets, written out with explicit pre-activations ---------------------------------------------------------------


def dense_net(weights: Any, x: jax.Array, shift: Any = (0.0, 0.0)) -> tuple[jax.Array, dict[str, jax.Array]]:
    """Logits of one example, and the places each weight sees, as rows; `shift` is added to the pre-activations."""
    hidden = jnp.tanh(x @ weights["first"] + weights["bias"] + shift[0])
    return hidden @ weights["last"] + shift[1], {"first": x[None], "last": hidden[None]}


def conv_net(weights: Any, x: jax.Array, shift: Any = (0.0, 0.0)) -> tuple[jax.Array, dict[str, jax.Array]]:
    kernel = weights["first"]
    patches = jnp.stack([x[i : i + 2, j : j + 2].reshape(-1) for i in range(2) for j in range(3)])
    hidden = patches @ kernel.reshape(-1, kernel.shape[-1]) + weights["bias"][None] + shift[0]
    hidden = jnp.tanh(hidden).reshape(-1)
    return hidden @ weights["last"] + shift[1], {"first": patches, "last": hidden[None]}


class DenseNet(eqx.Module):
    first: eqx.nn.Linear
    last: eqx.nn.Linear

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.last(jnp.tanh(self.first(x)))


class ConvNet(eqx.Module):
    first: eqx.nn.Conv2d
    last: eqx.nn.Linear

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.last(jnp.tanh(self.first(jnp.transpose(x, (2, 0, 1)))).transpose(1, 2, 0).reshape(-1))


def dense_on_batch(weights: Any, x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ weights["first"] + weights["bias"][None]) @ weights["last"]


def conv_on_batch(weights: Any, x: jax.Array) -> jax.Array:
    numbers = ("NHWC", "HWIO", "NHWC")
    hidden = lax.conv_general_dilated(x, weights["first"], (1, 1), "VALID", dimension_numbers=numbers)
    return jnp.tanh(hidden + weights["bias"][None, None, None]).reshape(len(x), -1) @ weights["last"]


class Net:
    """One net three times: explicit for one example, as a plain function of a batch, and as an Equinox module."""

    def __init__(self, kind: str, key: jax.Array):
        keys = jax.random.split(key, 5)
        shapes = (
            {"first": (5, 4), "last": (4, CLASSES)} if kind == "dense" else {"first": (2, 2, 2, 3), "last": (18, 3)}
        )
        self.weights = {path: 0.5 * jax.random.normal(k, s) for k, (path, s) in zip(keys, shapes.items(), strict=False)}
        self.weights["bias"] = 0.5 * jax.random.normal(keys[2], shapes["first"][-1:])
        self.x = jax.random.normal(keys[3], (EXAMPLES, 5) if kind == "dense" else (EXAMPLES, 3, 4, 2))
        self.explicit = dense_net if kind == "dense" else conv_net
        self.places = 1 if kind == "dense" else 6
        self.on_batch = dense_on_batch if kind == "dense" else conv_on_batch
        self.kind = kind

    def bayesianize(self, framework: str) -> plait.BayesianModel:
        weights, key = self.weights, jax.random.key(0)
        if framework == "function":
            return plait.bayesianize(weights, self.x, apply=self.on_batch, key=key)
        last = eqx.nn.Linear(*weights["last"].shape, use_bias=False, key=key)
        last = eqx.tree_at(lambda layer: layer.weight, last, weights["last"].T)
        if self.kind == "dense":
            first = eqx.nn.Linear(5, 4, key=key)
            given = (weights["first"].T, weights["bias"])
            first = eqx.tree_at(lambda layer: (layer.weight, layer.bias), first, given)
            return plait.bayesianize(DenseNet(first, last), self.x, key=key)
        first = eqx.nn.Conv2d(2, 3, 2, key=key)
        given = (weights["first"].transpose(3, 2, 0, 1), weights["bias"][:, None, None])
        first = eqx.tree_at(lambda layer: (layer.weight, layer.bias), first, given)
        return plait.bayesianize(ConvNet(first, last), self.x, key=key)

    def record(self, framework: str, y: jax.Array | None, key: jax.Array) -> tuple[plait.BayesianModel, Any]:
        """At the mean weights."""
        bnn = self.bayesianize(framework)
        return bnn, plait.record(bnn, self.x, likelihood=Categorical(), key=key, y=y, weights=bnn.draw_weights(None))

    def oracle(self, y: jax.Array) -> tuple[Any, Any, Any]:
        """Weight gradients, inputs and pre-activation gradients of each example on its own."""

        def log_likelihood(weights: Any, shift: Any, x: jax.Array, y: jax.Array) -> tuple[jax.Array, Any]:
            logits, inputs = self.explicit(weights, x, shift)
            return jax.nn.log_softmax(logits)[y], inputs

        first = jnp.zeros((self.places, self.weights["first"].shape[-1]))
        shift = (first[0] if self.kind == "dense" else first, jnp.zeros(CLASSES))
        one = jax.vmap(jax.grad(log_likelihood, argnums=(0, 1), has_aux=True), in_axes=(None, None, 0, 0))
        (of_weights, of_shift), inputs = jax.jit(one)(self.weights, shift, self.x, y)
        gradients = {"first": of_shift[0].reshape(EXAMPLES, self.places, -1), "last": of_shift[1][:, None]}
        return of_weights, inputs, gradients


FRAMEWORKS = {
    "function": {"first": "first", "last": "last"},
    "equinox": {"first": "first.weight", "last": "last.weight"},
}
TARGETS = jnp.asarray([0, 2, 1, 1])


def of_function(tensor: jax.Array, net: Net, framework: str, path: str) -> jax.Array:
    """A per-example weight tensor of the plain function, as the framework lays it out."""
    if framework == "function":
        return tensor
    return tensor.transpose(0, 4, 3, 1, 2) if (net.kind, path) == ("conv", "first") else tensor.transpose(0, 2, 1)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("kind", ["dense", "conv"])
def test_the_record_holds_the_gradient_of_every_example(kind: str, framework: str, key: jax.Array):
    net = Net(kind, key)
    _, recording = net.record(framework, TARGETS, key)
    of_weights, inputs, gradients = net.oracle(TARGETS)
    for name, path in FRAMEWORKS[framework].items():
        seen = recording.sites[path]
        rows, columns = (v.reshape(EXAMPLES, -1, *v.shape[1:]) for v in (seen.rows(), seen.columns()))
        each = seen.site.from_groups(jnp.einsum("ntgi,ntgj->ngij", rows, columns))
        np.testing.assert_allclose(each, of_function(of_weights[name], net, framework, name), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(jnp.sum(each, axis=0), recording.weight_gradients[path], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(columns[:, :, 0], gradients[name], rtol=1e-4, atol=1e-5)
        if framework == "function":
            # The order of the taps is that of the layout.
            np.testing.assert_allclose(rows[:, :, 0], inputs[name], rtol=1e-4, atol=1e-5)
            flat = inputs[name].reshape(-1, inputs[name].shape[-1])
            with_one = np.concatenate([flat, np.ones_like(flat[:, :1])], axis=1)
            np.testing.assert_allclose(seen.input_second_moment()[0], flat.T @ flat / len(flat), rtol=1e-4, atol=1e-5)
            expected = with_one.T @ with_one / len(flat)
            np.testing.assert_allclose(seen.input_second_moment(bias=True)[0], expected, rtol=1e-4, atol=1e-5)
        flat = gradients[name].reshape(-1, gradients[name].shape[-1])
        np.testing.assert_allclose(seen.gradient_second_moment()[0], flat.T @ flat / len(flat), rtol=1e-4, atol=1e-5)


def test_every_group_has_factors_of_its_own(key: jax.Array):
    bnn, x = cases.build(plait.MeanField(0.3), cases.SITES["conv-grouped"], key)
    seen = plait.record(bnn, x, likelihood=Gaussian(1.0), key=key).sites["w"]
    rows, columns = np.asarray(seen.rows()), np.asarray(seen.columns())
    assert seen.input_second_moment(bias=True).shape == (2, 3, 3)
    for group in range(2):
        a, g = rows[:, group], columns[:, group]
        np.testing.assert_allclose(seen.input_second_moment()[group], a.T @ a / len(a), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(seen.gradient_second_moment()[group], g.T @ g / len(g), rtol=1e-5, atol=1e-6)


def test_given_targets_leave_no_noise_and_drawn_ones_follow_the_key(key: jax.Array):
    net = Net("dense", key)
    first, second = jax.random.split(key)
    (_, one), (_, other) = net.record("function", TARGETS, first), net.record("function", TARGETS, second)
    assert jnp.array_equal(one.sites["last"].gradients, other.sites["last"].gradients)
    log_probs = Categorical().log_prob(one.outputs, TARGETS)
    np.testing.assert_allclose(one.log_likelihood, jnp.sum(log_probs), rtol=1e-6)
    draws = {float(net.record("function", None, k)[1].log_likelihood) for k in jax.random.split(key, 5)}
    assert len(draws) > 1


@pytest.mark.parametrize("kind", ["dense", "conv"])
def test_drawn_targets_average_to_the_exact_fisher_factor(kind: str, key: jax.Array):
    net = Net(kind, key)
    bnn = net.bayesianize("function")
    weights = bnn.draw_weights(None)

    @jax.jit
    def sampled(keys: jax.Array) -> Any:
        def one(k: jax.Array) -> Any:
            recording = plait.record(bnn, net.x, likelihood=Categorical(), key=k, weights=weights)
            return {path: recording.sites[path].gradient_second_moment()[0] for path in ("first", "last")}

        return jax.vmap(one)(keys)

    @jax.jit
    def exact() -> Any:
        total: dict[str, Any] = {"first": 0.0, "last": 0.0}
        for label in range(CLASSES):
            y = jnp.full((EXAMPLES,), label)
            recording = plait.record(bnn, net.x, likelihood=Categorical(), key=key, weights=weights, y=y)
            probability = jax.nn.softmax(recording.outputs)[:, label]
            for path in total:
                columns = recording.sites[path].columns()[:, 0].reshape(EXAMPLES, -1, weights[path].shape[-1])
                moment = jnp.einsum("n,nti,ntj->ij", probability, columns, columns)
                total[path] = total[path] + moment / (EXAMPLES * columns.shape[1])
        return total

    draws, expected = sampled(jax.random.split(key, 4_000)), exact()
    for path, values in draws.items():
        error = 5 * np.std(values, axis=0) / len(values) ** 0.5
        np.testing.assert_array_less(np.abs(np.mean(values, axis=0) - expected[path]), error + 1e-6)


def test_what_is_pulled_back_takes_the_place_of_the_log_likelihood(key: jax.Array):
    net = Net("dense", key)
    bnn, given = net.record("function", TARGETS, key)

    def score(logits: jax.Array) -> jax.Array:
        return jax.nn.one_hot(TARGETS, CLASSES) - jax.nn.softmax(logits)

    pulled = plait.record(bnn, net.x, likelihood=Categorical(), key=key, weights=given.weights, pull=score)
    for path, gradient in given.weight_gradients.items():
        np.testing.assert_allclose(pulled.weight_gradients[path], gradient, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(pulled.log_likelihood, jnp.sum(given.outputs * score(given.outputs)), rtol=1e-4)


def test_weights_without_one_site_of_their_own_have_only_their_gradient(key: jax.Array):
    def apply(weights: Any, x: jax.Array) -> jax.Array:
        step = jax.lax.scan(lambda h, _: (jnp.tanh(h @ weights["loop"]), None), x, length=2)[0]
        hidden = jnp.tanh(step @ weights["twice"]) @ weights["twice"] + weights["bias"][None]
        return jax.checkpoint(lambda w, h: jnp.tanh(h @ w))(weights["once"], hidden @ weights["part"][:, :4])

    shapes = {"loop": (4, 4), "twice": (4, 4), "part": (4, 6), "once": (4, CLASSES), "bias": (4,)}
    weights = {
        path: jax.random.normal(k, s) for k, (path, s) in zip(jax.random.split(key, 5), shapes.items(), strict=True)
    }
    x = jax.random.normal(key, (EXAMPLES, 4))
    bnn = plait.bayesianize(weights, x, apply=apply, key=key)
    recording = plait.record(bnn, x, likelihood=Categorical(), key=key, y=TARGETS, weights=weights)
    # A checkpoint only says when to compute what: its weight is recorded.
    assert set(recording.sites) == {"once"}
    assert jnp.allclose(recording.sites["once"].weight_gradient(), recording.weight_gradients["once"], atol=1e-5)
    plain = jax.grad(lambda w: jnp.sum(Categorical().log_prob(apply(w, x), TARGETS)))(weights)
    for path, gradient in plain.items():
        np.testing.assert_allclose(recording.weight_gradients[path], gradient, rtol=1e-4, atol=1e-5)


def test_half_precision_activations_give_single_precision_moments(key: jax.Array):
    def apply(weights: Any, x: jax.Array) -> jax.Array:
        return x.astype(jnp.bfloat16) @ weights["w"].astype(jnp.bfloat16)

    x = jax.random.normal(key, (64, 3))
    bnn = plait.bayesianize({"w": jnp.ones((3, 2))}, x, apply=apply, key=key)
    seen = plait.record(bnn, x, likelihood=Categorical(), key=key).sites["w"]
    assert seen.rows().dtype == jnp.bfloat16
    rows = seen.rows()[:, 0].astype(jnp.float32)
    assert seen.gradient_second_moment().dtype == jnp.float32
    np.testing.assert_allclose(seen.input_second_moment()[0], rows.T @ rows / 64, rtol=1e-5, atol=1e-6)


def test_a_recording_comes_out_of_a_compiled_step(key: jax.Array):
    net = Net("conv", key)
    bnn, eager = net.record("function", TARGETS, key)
    weights = eager.weights

    def run(y: jax.Array) -> Any:
        return plait.record(bnn, net.x, likelihood=Categorical(), key=key, y=y, weights=weights)

    compiled = jax.jit(run)(TARGETS)
    np.testing.assert_allclose(compiled.sites["first"].rows(), eager.sites["first"].rows(), rtol=1e-5, atol=1e-6)
    mapped = jax.vmap(lambda y: run(y).sites["last"].gradient_second_moment())(jnp.stack([TARGETS, TARGETS]))
    expected = eager.sites["last"].gradient_second_moment()
    np.testing.assert_allclose(mapped, jnp.stack([expected, expected]), rtol=1e-4, atol=1e-6)


def test_further_inputs_and_outputs_pass_through(key: jax.Array):
    def apply(weights: Any, x: jax.Array, offset: jax.Array) -> dict[str, jax.Array]:
        hidden = x @ weights["w"] + offset
        return {"logits": hidden, "hidden": hidden}

    x, offset = jax.random.normal(key, (EXAMPLES, 3)), jnp.ones((EXAMPLES, CLASSES))
    bnn = plait.bayesianize({"w": jnp.ones((3, CLASSES))}, x, offset, apply=apply, key=key)
    recording = plait.record(
        bnn, x, offset, likelihood=Categorical(), key=key, y=TARGETS, output=lambda outputs: outputs["logits"]
    )
    assert recording.outputs.keys() == {"logits", "hidden"}
    # With probabilities that sum to one, so do the entries of every gradient to zero.
    np.testing.assert_allclose(jnp.sum(recording.sites["w"].columns(), axis=-1), 0, atol=1e-6)


def test_a_mixture_is_recorded_one_component_at_a_time(key: jax.Array):
    bnn, x = cases.build(plait.RankOne(2), cases.SITES["dense"], key)
    with pytest.raises(ValueError, match=r"one component, got a mixture of 2.*bnn\.component\(k\)"):
        plait.record(bnn, x, likelihood=Gaussian(1.0), key=key)
    seen = plait.record(bnn.component(1), x, likelihood=Gaussian(1.0), key=key).sites["w"]
    assert seen.rows().shape == (2, 1, 3)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ({"w": (4, 3)}, r"'w' should be \(3, 4\) and is \(4, 3\).*draw_weights"),
        ({"w": (3, 4), "v": (1,)}, "'v' should be absent and is"),
        ({}, "'w' should be .* and is absent"),
    ],
)
def test_given_weights_must_be_those_of_the_model(weights: dict[str, tuple[int, ...]], says: str, key: jax.Array):
    bnn, x = cases.build(plait.MeanField(), cases.SITES["dense"], key)
    given = {path: jnp.zeros(shape) for path, shape in weights.items()}
    with pytest.raises(ValueError, match=says):
        plait.record(bnn, x, likelihood=Gaussian(1.0), key=key, weights=given)


# -- kfac-jax ----------------------------------------------------------------------------------------------------------

NUMBERS = ("NHWC", "HWIO", "NHWC")
WINDOW = {"window_strides": (1, 2), "padding": ((0, 1), (1, 0))}


def strided_net(weights: Any, x: jax.Array, shift: Any = (0.0, 0.0)) -> tuple[jax.Array, jax.Array]:
    """Logits, and what the last layer sees."""
    hidden = lax.conv_general_dilated(x, weights["conv"], dimension_numbers=NUMBERS, **WINDOW) + shift[0]
    hidden = jnp.tanh(hidden + weights["conv bias"][None, None, None]).reshape(x.shape[0], -1)
    return hidden @ weights["dense"] + weights["dense bias"][None] + shift[1], hidden


@pytest.fixture
def kfac_jax() -> Any:
    try:
        return importlib.import_module("kfac_jax")
    except AttributeError as error:
        pytest.skip(f"kfac-jax does not know JAX {jax.__version__}: {error}")


def tagged(
    kfac_jax: Any, conv: jax.Array, dense: jax.Array, x: jax.Array, hidden: jax.Array, weights: Any
) -> tuple[jax.Array, ...]:
    """Outputs of both layers, as kfac-jax wants to be told of them."""
    conv = kfac_jax.register_conv2d(
        conv,
        x,
        weights["conv"],
        weights["conv bias"],
        dimension_numbers=lax.conv_dimension_numbers(x.shape, weights["conv"].shape, NUMBERS),
        **WINDOW,
    )
    return conv, kfac_jax.register_dense(dense, hidden, weights["dense"], weights["dense bias"])


def test_the_factors_are_those_of_kfac_jax(kfac_jax: Any, key: jax.Array):
    keys = jax.random.split(key, 5)
    shapes = {"conv": (2, 2, 2, 3), "conv bias": (3,), "dense": (18, CLASSES), "dense bias": (CLASSES,)}
    weights = {path: 0.5 * jax.random.normal(k, s) for k, (path, s) in zip(keys, shapes.items(), strict=False)}
    x = jax.random.normal(keys[4], (EXAMPLES, 3, 4, 2))
    bnn = plait.bayesianize(weights, x, apply=lambda weights, x: strided_net(weights, x)[0], key=key)
    recording = plait.record(bnn, x, likelihood=Categorical(), key=key, y=TARGETS, weights=weights)

    def loss(shift: Any) -> tuple[jax.Array, Any]:
        logits, hidden = strided_net(weights, x, shift)
        return -jnp.sum(Categorical().log_prob(logits, TARGETS)), hidden

    shift = (jnp.zeros((EXAMPLES, 3, 2, 3)), jnp.zeros((EXAMPLES, CLASSES)))
    gradients, hidden = jax.grad(loss, has_aux=True)(shift)
    program = jax.make_jaxpr(functools.partial(tagged, kfac_jax))(*gradients, x, hidden, weights)
    tags = [equation for equation in program.jaxpr.eqns if equation.primitive.name == "layer_tag"]
    blocks = (kfac_jax.Conv2DTwoKroneckerFactored, kfac_jax.DenseTwoKroneckerFactored)
    for path, block_type, tag, inputs, gradient in zip(
        ("conv", "dense"), blocks, tags, (x, hidden), gradients, strict=True
    ):
        block, seen = block_type(tag), recording.sites[path]
        start = block.init(key, exact_powers_to_cache=None, approx_powers_to_cache=None, cache_eigenvalues=False)
        data = kfac_jax.LayerData(inputs=(inputs,), outputs=(gradient,), params=())
        state = loosely(block.update_curvature_matrix_estimate)(
            start,
            kfac_jax.LayerVjpData(primals=data, tangents=data),
            ema_old=0.0,
            ema_new=1.0,
            identity_weight=0.0,
            batch_size=EXAMPLES,
        )
        of_inputs, of_outputs = (factor.value for factor in state.factors)
        # Both sides average over examples and places, and put the homogeneous coordinate last: no factor between them.
        np.testing.assert_allclose(seen.input_second_moment(bias=True)[0], of_inputs, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(seen.gradient_second_moment()[0], of_outputs, rtol=1e-4, atol=1e-6)
        # Nor in the Fisher matrix, T A (x) S with T the places of one example.
        assert block.fixed_scale() == seen.site.positions // EXAMPLES
