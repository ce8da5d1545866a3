"""Haiku: a pytree of parameters together with the transformed function's own `apply`."""

from collections.abc import Callable
from typing import Any, ClassVar

import haiku as hk
import jax
import jax.numpy as jnp
from checks import FAMILIES, AnyModel, Case, Rows, Table, batch, loosely, parametrise, tokens, under

ALL = tuple(FAMILIES)


def haiku_case(forward: Callable[[jax.Array], Any], x: jax.Array, sites: Table, **options: Any) -> Case:
    net = hk.without_apply_rng(hk.transform(forward))
    # Haiku promotes dtypes and ranks by JAX's ordinary rules.
    apply = loosely(lambda params, x: net.apply(params, x))
    return Case(shift(jax.jit(loosely(net.init))(jax.random.key(0), x)), (x,), apply, sites, apply=apply, **options)


def shift(params: Any) -> Any:
    """Biases start at zero; give them values."""
    return jax.tree.map(lambda leaf: leaf + jnp.full_like(leaf, 0.1), params)


@under(*ALL)
def mlp() -> Case:
    sites = {
        "mlp/~/linear_0.w": ("dense", 5, 8),
        "mlp/~/linear_0.b": ("bias", 1, 8),
        "mlp/~/linear_1.w": ("dense", 8, 3),
        "mlp/~/linear_1.b": ("bias", 1, 3),
    }
    return haiku_case(lambda x: hk.nets.MLP([8, 3])(x), batch(5), sites)


def conv() -> Case:
    def forward(x: jax.Array) -> jax.Array:
        x = jnp.tanh(hk.Conv2D(4, (3, 2), stride=(1, 2), rate=1)(x))
        return hk.Conv2D(6, 2, feature_group_count=2, padding="VALID", name="grouped")(x)

    sites = {
        "conv2_d.w": ("conv", 12, 4),
        "conv2_d.b": ("bias", 1, 4),
        "grouped.w": ("conv", 8, 6),
        "grouped.b": ("bias", 1, 6),
    }
    return haiku_case(forward, batch(4, 5, 2), sites)


def conv_channels_first() -> Case:
    def forward(x: jax.Array) -> jax.Array:
        x = hk.Conv1D(4, 3, rate=2, data_format="NCW")(x)
        return hk.Conv3D(2, (1, 2, 1), with_bias=False, data_format="NCDHW")(x[:, :, None, :, None])

    sites = {"conv1_d.w": ("conv", 9, 4), "conv1_d.b": ("bias", 1, 4), "conv3_d.w": ("conv", 8, 2)}
    return haiku_case(forward, batch(3, 5), sites)


def conv_transpose() -> Case:
    def forward(x: jax.Array) -> jax.Array:
        return hk.Conv2DTranspose(2, 2, name="last")(hk.Conv2DTranspose(4, (3, 2), stride=(2, 1), name="first")(x))

    sites = {
        "first.w": ("conv", 12, 4),
        "first.b": ("bias", 1, 4),
        "last.w": ("conv", 16, 2),
        "last.b": ("bias", 1, 2),
    }
    return haiku_case(forward, batch(2, 3, 2), sites)


def batch_norm() -> Case:
    def forward(x: jax.Array) -> jax.Array:
        x = hk.Conv2D(3, 2)(x)
        x = jax.nn.relu(hk.BatchNorm(True, True, 0.9)(x, is_training=True))
        return hk.Linear(2)(x.reshape(x.shape[0], -1))

    net, x = hk.without_apply_rng(hk.transform_with_state(forward)), batch(3, 3, 2, size=5)
    params, state = loosely(net.init)(jax.random.key(0), x)
    apply = loosely(lambda params, x, state: net.apply(params, state, x))
    sites = {
        "batch_norm.scale": ("scale", 1, 3),
        "batch_norm.offset": ("bias", 1, 3),
        "conv2_d.w": ("conv", 8, 3),
        "conv2_d.b": ("bias", 1, 3),
        "linear.w": ("dense", 27, 2),
        "linear.b": ("bias", 1, 2),
    }
    return Case(
        shift(params),
        (x, state),
        apply,
        sites,
        apply=apply,
        observed=lambda outputs: outputs[0],
        # Noise of every example moves the statistics of all.
        rows=dict.fromkeys(ALL, "differ"),
        tolerance=1e-4,
        silent=("conv2_d.b",),
    )


@under("Tied", "RankOne")
def lstm() -> Case:
    def forward(x: jax.Array) -> jax.Array:
        cell = hk.LSTM(4)
        outputs, _ = hk.dynamic_unroll(cell, x, cell.initial_state(x.shape[0]), time_major=False)
        return hk.Linear(2)(outputs)

    sites = {
        "lstm/linear.w": ("dense", 3 + 4, 16),
        "lstm/linear.b": ("bias", 1, 16),
        "linear.w": ("dense", 4, 2),
        "linear.b": ("bias", 1, 2),
    }
    return haiku_case(forward, batch(3, 3), sites, rows={"Tied": "differ"})


def gru() -> Case:
    def forward(x: jax.Array) -> jax.Array:
        cell = hk.GRU(4)
        return hk.dynamic_unroll(cell, x, cell.initial_state(x.shape[0]), time_major=False)[0]

    # The state's weight is used in two parts, so that rank-1 factors of each example do not fit it.
    rows: dict[str, Rows] = {"Tied": "equal", "RankOne": "differ"}
    sites = {"gru.w_i": ("dense", 3, 12), "gru.w_h": ("dense", 4, 12), "gru.b": ("bias", 1, 12)}
    return haiku_case(forward, batch(3, 3), sites, rows=rows)


def attention() -> Case:
    def forward(x: jax.Array) -> jax.Array:
        x = hk.LayerNorm(-1, True, True)(x)
        return hk.MultiHeadAttention(2, 3, w_init=hk.initializers.RandomNormal(), name="attend")(x, x, x)

    sites: dict[str, tuple[str, int, int]] = {
        "layer_norm.scale": ("scale", 1, 4),
        "layer_norm.offset": ("bias", 1, 4),
        "attend/linear.w": ("dense", 6, 6),
        "attend/linear.b": ("bias", 1, 6),
    }
    for name in ("query", "key", "value"):
        sites[f"attend/{name}.w"] = ("dense", 4, 6)
        sites[f"attend/{name}.b"] = ("bias", 1, 6)
    # The softmax does not see a shift of all keys.
    return haiku_case(forward, batch(3, 4), sites, silent=("attend/key']['b", "attend/key.b"))


def embed() -> Case:
    def forward(ids: jax.Array) -> jax.Array:
        return hk.Linear(2)(jnp.tanh(hk.Embed(7, 4)(ids)))

    sites = {"embed.embeddings": ("embedding", 7, 4), "linear.w": ("dense", 4, 2), "linear.b": ("bias", 1, 2)}
    return haiku_case(forward, tokens(3, 7), sites)


def half_precision() -> Case:
    def forward(x: jax.Array) -> jax.Array:
        x = jax.nn.relu(hk.Conv2D(4, 2)(x))
        return hk.Linear(3)(hk.LayerNorm(-1, True, True)(x).mean((1, 2)))

    net, x = hk.without_apply_rng(hk.transform(forward)), batch(3, 3, 2)

    # Parameters in single precision, computed with in half, outputs in single: a mixed precision policy.
    @loosely
    def apply(params: Any, x: jax.Array) -> jax.Array:
        half = jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16), (params, x))
        return net.apply(*half).astype(jnp.float32)

    sites = {
        "conv2_d.w": ("conv", 8, 4),
        "conv2_d.b": ("bias", 1, 4),
        "layer_norm.scale": ("scale", 1, 4),
        "layer_norm.offset": ("bias", 1, 4),
        "linear.w": ("dense", 4, 3),
        "linear.b": ("bias", 1, 3),
    }
    params = shift(jax.jit(loosely(net.init))(jax.random.key(0), x))
    return Case(params, (x,), apply, sites, apply=apply, tolerance=3e-2)


class TestHaiku(AnyModel):
    CASES: ClassVar = {
        "MLP": mlp,
        "Conv2D": conv,
        "Conv1D and Conv3D, channels first": conv_channels_first,
        "Conv2DTranspose": conv_transpose,
        "BatchNorm": batch_norm,
        "LSTM": lstm,
        "GRU": gru,
        "MultiHeadAttention": attention,
        "Embed": embed,
        "bfloat16": half_precision,
    }


pytest_generate_tests = parametrise
