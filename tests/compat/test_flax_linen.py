"""Flax linen: a pytree of parameters together with the module's own `apply`."""

from collections.abc import Callable
from typing import Any, ClassVar

import flax.linen as nn
import jax
import jax.numpy as jnp
from checks import FAMILIES, AnyModel, Case, Table, batch, loosely, parametrise, tokens, under

ALL = tuple(FAMILIES)


def linen_case(module: nn.Module, x: jax.Array, sites: Table, **options: Any) -> Case:
    params = jax.jit(loosely(module.init))(jax.random.key(0), x)["params"]

    # Flax promotes dtypes by JAX's ordinary rules.
    @loosely
    def apply(params: Any, x: jax.Array) -> Any:
        return module.apply({"params": params}, x)

    return Case(shift(params), (x,), apply, sites, apply=apply, **options)


def shift(params: Any) -> Any:
    """Biases start at zero; give them values."""
    return jax.tree.map(lambda leaf: leaf + jnp.full_like(leaf, 0.1), params)


@under(*ALL)
def dense() -> Case:
    model = nn.Sequential([nn.Dense(8), nn.relu, nn.Dense(3)])
    sites = {
        "layers_0.kernel": ("dense", 5, 8),
        "layers_0.bias": ("bias", 1, 8),
        "layers_2.kernel": ("dense", 8, 3),
        "layers_2.bias": ("bias", 1, 3),
    }
    return linen_case(model, batch(5), sites)


@under(*ALL)
def dense_general() -> Case:
    model = nn.Sequential([nn.DenseGeneral((2, 3)), jnp.tanh, nn.DenseGeneral(4, axis=(-2, -1))])
    sites = {
        "layers_0.kernel": ("dense", 5, 6),
        "layers_0.bias": ("bias", 1, 6),
        "layers_2.kernel": ("dense", 6, 4),
        "layers_2.bias": ("bias", 1, 4),
    }
    return linen_case(model, batch(3, 5), sites)


@under("Tied", "MeanField", "RankOne")
def batched_dense_general() -> Case:
    # One matrix for each head; flax wants the heads first.
    def swap(x: jax.Array) -> jax.Array:
        return jnp.swapaxes(x, 0, 1)

    sites = {"layers_1.kernel": ("dense", 5, 2 * 3), "layers_1.bias": ("bias", 1, 6)}
    model = nn.Sequential([swap, nn.DenseGeneral(3, axis=-1, batch_dims=(0,)), swap])
    return linen_case(model, batch(2, 5), sites)


@under("Tied", "MeanField", "RankOne")
def conv() -> Case:
    def norm_free(x: jax.Array) -> jax.Array:
        return jnp.tanh(x)

    model = nn.Sequential(
        [
            nn.Conv(4, (3, 2), strides=(1, 2), kernel_dilation=(2, 1)),
            norm_free,
            nn.Conv(6, (2, 2), feature_group_count=2, padding="VALID"),
        ]
    )
    sites = {
        "layers_0.kernel": ("conv", 12, 4),
        "layers_0.bias": ("bias", 1, 4),
        "layers_2.kernel": ("conv", 8, 6),
        "layers_2.bias": ("bias", 1, 6),
    }
    return linen_case(model, batch(4, 5, 2), sites)


@under("Tied", "RankOne")
def conv_1d_and_3d() -> Case:
    model = nn.Sequential(
        [nn.Conv(4, (3,), padding="CIRCULAR"), lambda x: x[:, :, None, None, :], nn.Conv(2, (2, 1, 1), use_bias=False)]
    )
    sites = {"layers_0.kernel": ("conv", 6, 4), "layers_0.bias": ("bias", 1, 4), "layers_2.kernel": ("conv", 8, 2)}
    return linen_case(model, batch(4, 2), sites)


@under("Tied", "RankOne")
def conv_transpose() -> Case:
    model = nn.Sequential(
        [nn.ConvTranspose(4, (3, 2), strides=(2, 1)), nn.ConvTranspose(2, (2, 2), transpose_kernel=True)]
    )
    sites = {
        "layers_0.kernel": ("conv", 12, 4),
        "layers_0.bias": ("bias", 1, 4),
        "layers_1.kernel": ("conv", 16, 2),
        "layers_1.bias": ("bias", 1, 2),
    }
    return linen_case(model, batch(2, 3, 2), sites)


@under(*ALL)
def attention() -> Case:
    class Block(nn.Module):
        @nn.compact
        def __call__(self, x: jax.Array) -> jax.Array:
            return x + nn.MultiHeadDotProductAttention(num_heads=2)(nn.LayerNorm()(x))

    sites: dict[str, tuple[str, int, int]] = {
        "LayerNorm_0.scale": ("scale", 1, 4),
        "LayerNorm_0.bias": ("bias", 1, 4),
    }
    for name in ("query", "key", "value", "out"):
        sites[f"MultiHeadDotProductAttention_0.{name}.kernel"] = ("dense", 4, 4)
        sites[f"MultiHeadDotProductAttention_0.{name}.bias"] = ("bias", 1, 4)
    # The softmax does not see a shift of all keys.
    return linen_case(Block(), batch(3, 4), sites, silent=("key.bias",))


@under("Tied", "RankOne")
def tied_embedding() -> Case:
    class Language(nn.Module):
        @nn.compact
        def __call__(self, ids: jax.Array) -> jax.Array:
            embed = nn.Embed(7, 4)
            return embed.attend(jnp.tanh(nn.Dense(4)(embed(ids))))

    sites = {
        "Dense_0.kernel": ("dense", 4, 4),
        "Dense_0.bias": ("bias", 1, 4),
        "Embed_0.embedding": ("embedding", 7, 4),
    }
    return linen_case(Language(), tokens(3, 7), sites, rows=dict.fromkeys(ALL, "differ"))


@under("Tied", "RankOne")
def batch_norm() -> Case:
    class Net(nn.Module):
        @nn.compact
        def __call__(self, x: jax.Array) -> jax.Array:
            x = nn.Conv(3, (2, 2))(x)
            x = nn.relu(nn.BatchNorm(use_running_average=False, momentum=0.9)(x))
            return nn.Dense(2)(x.reshape(x.shape[0], -1))

    module, x = Net(), batch(3, 3, 2, size=5)
    variables = jax.jit(module.init)(jax.random.key(0), x)

    def apply(params: Any, x: jax.Array, stats: Any) -> Any:
        return module.apply({"params": params, "batch_stats": stats}, x, mutable=["batch_stats"])

    sites = {
        "BatchNorm_0.scale": ("scale", 1, 3),
        "BatchNorm_0.bias": ("bias", 1, 3),
        "Conv_0.kernel": ("conv", 8, 3),
        "Conv_0.bias": ("bias", 1, 3),
        "Dense_0.kernel": ("dense", 27, 2),
        "Dense_0.bias": ("bias", 1, 2),
    }
    return Case(
        shift(variables["params"]),
        (x, variables["batch_stats"]),
        apply,
        sites,
        apply=apply,
        observed=lambda outputs: outputs[0],
        # Noise of every example moves the statistics of all.
        rows=dict.fromkeys(ALL, "differ"),
        tolerance=1e-4,
        silent=("Conv_0.bias",),
    )


@under(*ALL)
def half_precision() -> Case:
    class Net(nn.Module):
        @nn.compact
        def __call__(self, x: jax.Array) -> jax.Array:
            x = nn.Conv(4, (2, 2), dtype=jnp.bfloat16)(x)
            x = nn.LayerNorm(dtype=jnp.bfloat16)(nn.relu(x))
            return nn.Dense(3, dtype=jnp.bfloat16)(x.mean((1, 2)))

    sites = {
        "Conv_0.kernel": ("conv", 8, 4),
        "Conv_0.bias": ("bias", 1, 4),
        "LayerNorm_0.scale": ("scale", 1, 4),
        "LayerNorm_0.bias": ("bias", 1, 4),
        "Dense_0.kernel": ("dense", 4, 3),
        "Dense_0.bias": ("bias", 1, 3),
    }
    return linen_case(Net(), batch(3, 3, 2), sites, tolerance=2e-2)


def recurrent(cell: Callable[[], nn.Module], sites: Table, *families: str) -> Callable[[], Case]:
    @under(*families)
    def case() -> Case:
        return linen_case(nn.Sequential([nn.RNN(cell())]), batch(3, 3), sites, rows={"Tied": "equal"})

    return case


def lstm_sites(inputs: int, hidden: int) -> Table:
    gates = {}
    for gate in "ifgo":
        gates[f"layers_0.cell.i{gate}.kernel"] = ("dense", inputs, hidden)
        gates[f"layers_0.cell.h{gate}.kernel"] = ("dense", hidden, hidden)
        gates[f"layers_0.cell.h{gate}.bias"] = ("bias", 1, hidden)
    return gates


def gru_sites(inputs: int, hidden: int) -> Table:
    gates = {}
    for gate in "rzn":
        gates[f"layers_0.cell.i{gate}.kernel"] = ("dense", inputs, hidden)
        gates[f"layers_0.cell.i{gate}.bias"] = ("bias", 1, hidden)
        gates[f"layers_0.cell.h{gate}.kernel"] = ("dense", hidden, hidden)
    return gates | {"layers_0.cell.hn.bias": ("bias", 1, hidden)}


@under("Tied", "RankOne")
def remat() -> Case:
    class Net(nn.Module):
        @nn.compact
        def __call__(self, x: jax.Array) -> jax.Array:
            return nn.Dense(2)(nn.tanh(nn.remat(nn.Dense)(6)(x)))

    sites = {
        "CheckpointDense_0.kernel": ("dense", 5, 6),
        "CheckpointDense_0.bias": ("bias", 1, 6),
        "Dense_0.kernel": ("dense", 6, 2),
        "Dense_0.bias": ("bias", 1, 2),
    }
    return linen_case(Net(), batch(5), sites)


def layers_in_a_scan() -> Case:
    class Block(nn.Module):
        @nn.compact
        def __call__(self, x: jax.Array, _: None) -> tuple[jax.Array, None]:
            return jnp.tanh(nn.Dense(4)(x)), None

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x: jax.Array) -> jax.Array:
            stack = nn.scan(Block, variable_axes={"params": 0}, split_rngs={"params": True}, length=2)
            return stack()(x, None)[0]

    # Scanned over: another slice of the weight in every step.
    sites = {"ScanBlock_0.Dense_0.kernel": ("other", 1, 32), "ScanBlock_0.Dense_0.bias": ("other", 1, 8)}
    return linen_case(Net(), batch(4), sites, rows={"Tied": "equal"})


class TestFlaxLinen(AnyModel):
    CASES: ClassVar = {
        "Dense": dense,
        "DenseGeneral": dense_general,
        "batched DenseGeneral": batched_dense_general,
        "Conv": conv,
        "Conv 1d and 3d": conv_1d_and_3d,
        "ConvTranspose": conv_transpose,
        "MultiHeadDotProductAttention": attention,
        "tied Embed": tied_embedding,
        "BatchNorm": batch_norm,
        "bfloat16": half_precision,
        "LSTM": recurrent(lambda: nn.LSTMCell(4), lstm_sites(3, 4), "Tied", "RankOne"),
        "GRU": recurrent(lambda: nn.GRUCell(4), gru_sites(3, 4), "Tied"),
        "remat": remat,
        "scanned layers": layers_in_a_scan,
    }


pytest_generate_tests = parametrise
