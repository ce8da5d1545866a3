"""Equinox models, unmodified: called per example, the library maps them over the batch."""

from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from checks import FAMILIES, AnyModel, Case, batch, parametrise, tokens, under

ALL = tuple(FAMILIES)
KEYS = jax.random.split(jax.random.key(0), 8)


def per_example(model: Any, *inputs: Any) -> Any:
    return jax.vmap(model)(*inputs)


def one_example_case(model: Any, x: jax.Array, sites: dict[str, tuple[str, int, int]], **options: Any) -> Case:
    return Case(model, (x,), per_example, sites, **options)


class Net(eqx.Module):
    """Some layers, and a function that says how they are strung together."""

    layers: tuple[Any, ...]
    run: Callable[..., Any] = eqx.field(static=True)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.run(*self.layers, *args, **kwargs)


@under(*ALL)
def mlp() -> Case:
    return one_example_case(
        eqx.nn.MLP(5, 3, 8, 2, key=KEYS[0]),
        batch(5),
        {
            "layers.0.weight": ("dense", 5, 8),
            "layers.0.bias": ("bias", 1, 8),
            "layers.1.weight": ("dense", 8, 8),
            "layers.1.bias": ("bias", 1, 8),
            "layers.2.weight": ("dense", 8, 3),
            "layers.2.bias": ("bias", 1, 3),
        },
    )


@under("Tied", "RankOne")
def conv1d() -> Case:
    model = eqx.nn.Sequential(
        [
            eqx.nn.Conv1d(3, 4, 3, padding=1, dilation=2, key=KEYS[0]),
            eqx.nn.Lambda(jnp.tanh),
            eqx.nn.Conv1d(4, 2, 2, stride=2, key=KEYS[1]),
        ]
    )
    sites = {
        "layers.0.weight": ("conv", 9, 4),
        "layers.0.bias": ("bias", 1, 4),
        "layers.2.weight": ("conv", 8, 2),
        "layers.2.bias": ("bias", 1, 2),
    }
    return one_example_case(model, batch(3, 7), sites)


@under(*ALL)
def conv2d() -> Case:
    model = eqx.nn.Sequential(
        [
            eqx.nn.Conv2d(2, 4, (3, 2), stride=(1, 2), padding=(1, 0), key=KEYS[0]),
            eqx.nn.Lambda(jax.nn.relu),
            eqx.nn.AvgPool2d(2, 1),
            eqx.nn.Conv2d(4, 3, (2, 1), use_bias=False, key=KEYS[1]),
        ]
    )
    sites = {
        "layers.0.weight": ("conv", 12, 4),
        "layers.0.bias": ("bias", 1, 4),
        "layers.3.weight": ("conv", 8, 3),
    }
    return one_example_case(model, batch(2, 5, 6), sites)


@under("Tied", "MeanField", "RankOne")
def grouped_conv2d() -> Case:
    model = eqx.nn.Sequential(
        [eqx.nn.Conv2d(4, 6, (2, 3), groups=2, key=KEYS[0]), eqx.nn.Conv2d(6, 6, 2, groups=6, key=KEYS[1])]
    )
    sites = {
        "layers.0.weight": ("conv", 12, 6),
        "layers.0.bias": ("bias", 1, 6),
        "layers.1.weight": ("conv", 4, 6),
        "layers.1.bias": ("bias", 1, 6),
    }
    return one_example_case(model, batch(4, 4, 5), sites)


def conv3d() -> Case:
    sites = {"weight": ("conv", 2 * 2 * 1 * 2, 3), "bias": ("bias", 1, 3)}
    return one_example_case(eqx.nn.Conv3d(2, 3, (2, 1, 2), padding="SAME", key=KEYS[0]), batch(2, 3, 2, 3), sites)


@under("Tied", "RankOne")
def conv_transpose() -> Case:
    model = Net(
        (
            eqx.nn.ConvTranspose1d(2, 4, 3, stride=2, key=KEYS[0]),
            eqx.nn.ConvTranspose2d(4, 2, (2, 3), stride=(1, 2), padding=(0, 1), groups=2, key=KEYS[1]),
        ),
        lambda first, second, x: second(jnp.tanh(first(x))[:, None]),
    )
    sites = {
        "layers.0.weight": ("conv", 6, 4),
        "layers.0.bias": ("bias", 1, 4),
        "layers.1.weight": ("conv", 12, 2),
        "layers.1.bias": ("bias", 1, 2),
    }
    return one_example_case(model, batch(2, 3), sites)


def batch_norm(mode: str) -> Callable[[], Case]:
    @under("Tied", "RankOne")
    def case() -> Case:
        def run(first: Any, norm: Any, last: Any, x: jax.Array, state: eqx.nn.State) -> tuple[jax.Array, eqx.nn.State]:
            x, state = norm(first(x), state)
            return last(jax.nn.relu(x).reshape(-1)), state

        def build() -> Net:
            conv = eqx.nn.Conv2d(2, 3, 2, key=KEYS[0])
            return Net((conv, eqx.nn.BatchNorm(3, "batch", mode=mode), eqx.nn.Linear(12, 3, key=KEYS[1])), run)

        model, state = eqx.nn.make_with_state(build)()

        def plain(model: Net, x: jax.Array, state: eqx.nn.State) -> tuple[jax.Array, eqx.nn.State]:
            return jax.vmap(model, in_axes=(0, None), out_axes=(0, None), axis_name="batch")(x, state)

        sites = {
            "layers.0.weight": ("conv", 8, 3),
            "layers.0.bias": ("bias", 1, 3),
            "layers.1.weight": ("scale", 1, 3),
            "layers.1.bias": ("bias", 1, 3),
            "layers.2.weight": ("dense", 12, 3),
            "layers.2.bias": ("bias", 1, 3),
        }
        rows = dict.fromkeys(ALL, "differ")  # noise of every example moves the statistics of all
        return Case(
            model,
            (batch(2, 3, 3), state),
            plain,
            sites,
            observed=lambda out: out[0],
            rows=rows,
            tolerance=1e-4,
            silent=("layers.0.bias",) if mode == "batch" else (),
        )

    return case


@under("Tied", "RankOne")
def norms() -> Case:
    model = Net(
        (eqx.nn.Linear(5, 6, key=KEYS[0]), eqx.nn.GroupNorm(2, 6), eqx.nn.LayerNorm(6), eqx.nn.RMSNorm(6)),
        lambda linear, group, layer, rms, x: rms(layer(group(linear(x)[:, None])[:, 0])),
    )
    sites = {
        "layers.0.weight": ("dense", 5, 6),
        "layers.0.bias": ("bias", 1, 6),
        "layers.1.weight": ("scale", 1, 6),
        "layers.1.bias": ("bias", 1, 6),
        "layers.2.weight": ("scale", 1, 6),
        "layers.2.bias": ("bias", 1, 6),
        "layers.3.weight": ("scale", 1, 6),
        "layers.3.bias": ("bias", 1, 6),
    }
    return one_example_case(model, batch(5), sites)


@under(*ALL)
def lstm() -> Case:
    def run(cell: Any, head: Any, xs: jax.Array) -> jax.Array:
        start = (jnp.zeros(4), jnp.zeros(4))
        (hidden, _), _ = jax.lax.scan(lambda state, x: (cell(x, state), None), start, xs)
        return head(hidden)

    model = Net((eqx.nn.LSTMCell(3, 4, key=KEYS[0]), eqx.nn.Linear(4, 2, key=KEYS[1])), run)
    sites = {
        "layers.0.weight_ih": ("dense", 3, 16),
        "layers.0.weight_hh": ("dense", 4, 16),
        "layers.0.bias": ("bias", 1, 16),
        "layers.1.weight": ("dense", 4, 2),
        "layers.1.bias": ("bias", 1, 2),
    }
    rows = dict.fromkeys(("Tied", "MeanField", "MatrixNormal"), "differ")
    return one_example_case(model, batch(5, 3), sites, rows=rows)


@under("Tied", "RankOne")
def gru() -> Case:
    def run(cell: Any, xs: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda state, x: (cell(x, state),) * 2, jnp.zeros(4), xs, reverse=True)[1]

    sites = {
        "layers.0.weight_ih": ("dense", 3, 12),
        "layers.0.weight_hh": ("dense", 4, 12),
        "layers.0.bias": ("bias", 1, 12),
        "layers.0.bias_n": ("bias", 1, 4),
    }
    model = Net((eqx.nn.GRUCell(3, 4, key=KEYS[0]),), run)
    return one_example_case(model, batch(3, 3), sites, rows={"Tied": "equal"})


@under(*ALL)
def attention() -> Case:
    model = Net(
        (eqx.nn.MultiheadAttention(2, 4, use_output_bias=True, key=KEYS[0]),), lambda attend, x: attend(x, x, x)
    )
    names = ("query_proj", "key_proj", "value_proj", "output_proj")
    sites = {f"layers.0.{name}.weight": ("dense", 4, 4) for name in names}
    return one_example_case(model, batch(3, 4), sites | {"layers.0.output_proj.bias": ("bias", 1, 4)})


@under(*ALL)
def embedding() -> Case:
    model = Net(
        (eqx.nn.Embedding(7, 4, key=KEYS[0]), eqx.nn.Linear(4, 2, key=KEYS[1])),
        lambda embed, head, ids: jax.vmap(head)(jax.vmap(embed)(ids)),
    )
    sites = {
        "layers.0.weight": ("embedding", 7, 4),
        "layers.1.weight": ("dense", 4, 2),
        "layers.1.bias": ("bias", 1, 2),
    }
    return one_example_case(model, tokens(3, 7), sites)


@under("Tied", "RankOne")
def batched_by_apply() -> Case:
    def run(model: Any, x: jax.Array) -> jax.Array:
        return jax.vmap(jax.vmap(model, in_axes=1, out_axes=1))(x)

    sites = {
        "layers.0.weight": ("dense", 5, 6),
        "layers.0.bias": ("bias", 1, 6),
        "layers.1.weight": ("dense", 6, 2),
        "layers.1.bias": ("bias", 1, 2),
    }
    return Case(eqx.nn.MLP(5, 2, 6, 1, key=KEYS[0]), (batch(5, 3),), run, sites, apply=run)


@under("Tied", "RankOne")
def tuple_outputs() -> Case:
    def run(body: Any, mean: Any, scale: Any, x: jax.Array) -> tuple[jax.Array, dict[str, Any]]:
        hidden = jnp.tanh(body(x))
        return mean(hidden), {"scale": jax.nn.softplus(scale(hidden))}

    linear = eqx.nn.Linear
    model = Net((linear(5, 6, key=KEYS[0]), linear(6, 2, key=KEYS[1]), linear(6, "scalar", key=KEYS[2])), run)
    sites = {
        "layers.0.weight": ("dense", 5, 6),
        "layers.0.bias": ("bias", 1, 6),
        "layers.1.weight": ("dense", 6, 2),
        "layers.1.bias": ("bias", 1, 2),
        "layers.2.weight": ("dense", 6, 1),
        "layers.2.bias": ("bias", 1, 1),
    }
    return Case(
        model,
        (batch(5),),
        lambda model, x: jax.vmap(lambda one: jax.tree.map(lambda v: v if eqx.is_array(v) else None, model(one)))(x),
        sites,
    )


@under(*ALL)
def tied_embedding() -> Case:
    def run(embed: Any, body: Any, ids: jax.Array) -> jax.Array:
        hidden = jnp.tanh(jax.vmap(body)(jax.vmap(embed)(ids)))
        return hidden @ embed.weight.T

    model = Net((eqx.nn.Embedding(7, 4, key=KEYS[0]), eqx.nn.Linear(4, 4, key=KEYS[1])), run)
    sites = {
        "layers.0.weight": ("embedding", 7, 4),
        "layers.1.weight": ("dense", 4, 4),
        "layers.1.bias": ("bias", 1, 4),
    }
    return one_example_case(model, tokens(3, 7), sites, rows=dict.fromkeys(ALL, "differ"))


class TestEquinox(AnyModel):
    CASES: ClassVar = {
        "MLP": mlp,
        "Conv1d": conv1d,
        "Conv2d": conv2d,
        "grouped Conv2d": grouped_conv2d,
        "Conv3d": conv3d,
        "ConvTranspose": conv_transpose,
        "BatchNorm batch": batch_norm("batch"),
        "BatchNorm ema": batch_norm("ema"),
        "norms": norms,
        "LSTM": lstm,
        "GRU": gru,
        "MultiheadAttention": attention,
        "Embedding": embedding,
        "apply": batched_by_apply,
        "tuple outputs": tuple_outputs,
        "tied embedding": tied_embedding,
    }


pytest_generate_tests = parametrise
