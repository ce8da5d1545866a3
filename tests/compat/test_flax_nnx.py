"""Flax NNX modules, unmodified: called on batches."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from checks import FAMILIES, AnyModel, Case, Table, batch, loosely, parametrise, tokens, under
from flax import nnx

ALL = tuple(FAMILIES)


def nnx_case(module: nnx.Module, x: jax.Array, sites: Table, **options: Any) -> Case:
    # Biases start at zero; give them values.
    for _, param in nnx.iter_graph(module):
        if isinstance(param, nnx.Param):
            param[...] = param[...] + jnp.full_like(param[...], 0.1)
    # A copy runs: a module made outside a program may not count its keys up inside it.
    return Case(module, (x,), loosely(lambda module, x: nnx.clone(module)(x)), sites, **options)


def sequential(*layers: Any) -> nnx.Module:
    return nnx.Sequential(*layers)


@under(*ALL)
def linear() -> Case:
    rngs = nnx.Rngs(0)
    sites = {
        "layers.0.kernel": ("dense", 5, 8),
        "layers.0.bias": ("bias", 1, 8),
        "layers.2.kernel": ("dense", 8, 3),
        "layers.2.bias": ("bias", 1, 3),
    }
    model = nnx.Sequential(nnx.Linear(5, 8, rngs=rngs), nnx.relu, nnx.Linear(8, 3, rngs=rngs))
    return nnx_case(model, batch(5), sites)


def general_and_einsum() -> Case:
    rngs = nnx.Rngs(0)
    model = nnx.Sequential(
        nnx.LinearGeneral(5, (2, 3), rngs=rngs),
        nnx.tanh,
        nnx.Einsum("bthi,hio->btho", (2, 3, 3), (2, 3), rngs=rngs),
        nnx.LinearGeneral((2, 3), 4, axis=(-2, -1), rngs=rngs),
    )
    sites = {
        "layers.0.kernel": ("dense", 5, 6),
        "layers.0.bias": ("bias", 1, 6),
        "layers.2.kernel": ("dense", 3, 6),
        "layers.2.bias": ("bias", 1, 6),
        "layers.3.kernel": ("dense", 6, 4),
        "layers.3.bias": ("bias", 1, 4),
    }
    return nnx_case(model, batch(3, 5), sites)


def conv() -> Case:
    rngs = nnx.Rngs(0)
    model = nnx.Sequential(
        nnx.Conv(2, 4, (3, 2), strides=(1, 2), kernel_dilation=(2, 1), rngs=rngs),
        nnx.relu,
        nnx.Conv(4, 6, (2, 2), feature_group_count=2, padding="VALID", rngs=rngs),
    )
    sites = {
        "layers.0.kernel": ("conv", 12, 4),
        "layers.0.bias": ("bias", 1, 4),
        "layers.2.kernel": ("conv", 8, 6),
        "layers.2.bias": ("bias", 1, 6),
    }
    return nnx_case(model, batch(4, 5, 2), sites)


def conv_transpose() -> Case:
    rngs = nnx.Rngs(0)
    model = nnx.Sequential(nnx.ConvTranspose(2, 4, (3,), strides=(2,), rngs=rngs), nnx.Conv(4, 2, (2,), rngs=rngs))
    sites = {
        "layers.0.kernel": ("conv", 6, 4),
        "layers.0.bias": ("bias", 1, 4),
        "layers.1.kernel": ("conv", 8, 2),
        "layers.1.bias": ("bias", 1, 2),
    }
    return nnx_case(model, batch(3, 2), sites)


class Transformer(nnx.Module):
    """Embedding, attention with dropout switched off, and the embedding again as output head."""

    def __init__(self, rngs: nnx.Rngs):
        self.embed = nnx.Embed(7, 4, rngs=rngs)
        self.norm = nnx.LayerNorm(4, rngs=rngs)
        self.attend = nnx.MultiHeadAttention(
            num_heads=2, in_features=4, decode=False, deterministic=True, dropout_rate=0.1, rngs=rngs
        )

    def __call__(self, ids: jax.Array) -> jax.Array:
        x = self.embed(ids)
        return self.embed.attend(x + self.attend(self.norm(x)))


@under("Tied", "RankOne")
def transformer() -> Case:
    sites = {
        "embed.embedding": ("embedding", 7, 4),
        "norm.scale": ("scale", 1, 4),
        "norm.bias": ("bias", 1, 4),
    }
    for name in ("query", "key", "value", "out"):
        sites[f"attend.{name}.kernel"] = ("dense", 4, 4)
        sites[f"attend.{name}.bias"] = ("bias", 1, 4)
    rows = dict.fromkeys(ALL, "differ")
    # The softmax does not see a shift of all keys.
    return nnx_case(Transformer(nnx.Rngs(0)), tokens(3, 7), sites, rows=rows, silent=("key.bias",))


class ConvNet(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.conv = nnx.Conv(2, 3, (2, 2), rngs=rngs)
        self.norm = nnx.BatchNorm(3, rngs=rngs)
        self.head = nnx.Linear(27, 2, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        x = nnx.relu(self.norm(self.conv(x)))
        return self.head(x.reshape(x.shape[0], -1))


def batch_norm() -> Case:
    @loosely
    def apply(module: ConvNet, x: jax.Array) -> tuple[jax.Array, Any]:
        module.train()
        return module(x), nnx.state(module, nnx.BatchStat)

    sites = {
        "conv.kernel": ("conv", 8, 3),
        "conv.bias": ("bias", 1, 3),
        "norm.scale": ("scale", 1, 3),
        "norm.bias": ("bias", 1, 3),
        "head.kernel": ("dense", 27, 2),
        "head.bias": ("bias", 1, 2),
    }
    case = nnx_case(ConvNet(nnx.Rngs(0)), batch(3, 3, 2, size=5), sites)
    return Case(
        case.model,
        case.inputs,
        lambda module, x: apply(nnx.clone(module), x),
        sites,
        apply=apply,
        observed=lambda outputs: outputs[0],
        # Noise of every example moves the statistics of all.
        rows=dict.fromkeys(ALL, "differ"),
        tolerance=1e-4,
        silent=("conv.bias",),
    )


def half_precision() -> Case:
    rngs = nnx.Rngs(0)
    model = nnx.Sequential(
        nnx.Conv(2, 4, (2, 2), dtype=jnp.bfloat16, rngs=rngs),
        nnx.relu,
        nnx.LayerNorm(4, dtype=jnp.bfloat16, rngs=rngs),
        nnx.Linear(4, 3, dtype=jnp.bfloat16, rngs=rngs),
    )
    sites = {
        "layers.0.kernel": ("conv", 8, 4),
        "layers.0.bias": ("bias", 1, 4),
        "layers.2.scale": ("scale", 1, 4),
        "layers.2.bias": ("bias", 1, 4),
        "layers.3.kernel": ("dense", 4, 3),
        "layers.3.bias": ("bias", 1, 3),
    }
    # Its normalisation breaks strict promotion.
    apply = loosely(lambda module, x: module(x))
    return nnx_case(model, batch(3, 3, 2), sites, apply=apply, tolerance=3e-2)


def lstm() -> Case:
    rngs = nnx.Rngs(0)
    sites = {}
    for gate in "ifgo":
        sites[f"cell.i{'f_' if gate == 'f' else gate}.kernel"] = ("dense", 3, 4)
        sites[f"cell.h{gate}.kernel"] = ("dense", 4, 4)
        sites[f"cell.h{gate}.bias"] = ("bias", 1, 4)
    model = nnx.RNN(nnx.LSTMCell(3, 4, rngs=rngs))
    return nnx_case(model, batch(3, 3), sites, rows={"Tied": "equal"})


def gru() -> Case:
    sites = {
        "cell.dense_i.kernel": ("dense", 3, 12),
        "cell.dense_i.bias": ("bias", 1, 12),
        "cell.dense_h.kernel": ("dense", 4, 12),
    }
    model = nnx.RNN(nnx.GRUCell(3, 4, rngs=nnx.Rngs(0)))
    return nnx_case(model, batch(3, 3), sites, rows={"Tied": "equal"})


class Rematerialised(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.body = nnx.Linear(5, 6, rngs=rngs)
        self.head = nnx.Linear(6, 2, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        body = nnx.remat(lambda layer, x: nnx.tanh(layer(x)))
        return self.head(body(self.body, x))


def remat() -> Case:
    sites = {
        "body.kernel": ("dense", 5, 6),
        "body.bias": ("bias", 1, 6),
        "head.kernel": ("dense", 6, 2),
        "head.bias": ("bias", 1, 2),
    }
    return nnx_case(Rematerialised(nnx.Rngs(0)), batch(5), sites)


class TestFlaxNNX(AnyModel):
    CASES: ClassVar = {
        "Linear": linear,
        "LinearGeneral": general_and_einsum,
        "Conv": conv,
        "ConvTranspose": conv_transpose,
        "attention": transformer,
        "BatchNorm": batch_norm,
        "bfloat16": half_precision,
        "LSTM": lstm,
        "GRU": gru,
        "remat": remat,
    }


pytest_generate_tests = parametrise
