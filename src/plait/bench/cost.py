"""The cost of one training step: forward, backward and Adam, for each family and estimator.

    make bench        or        python -m plait.bench.cost --help

A deterministic step of the same network is 1.00. Run it with nothing else on the machine.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

import plait
from plait._typing import Array, PRNGKey
from plait.bench.networks import Network, lenet, multilayer_perceptron
from plait.bench.timing import fastest
from plait.likelihood import Categorical
from plait.model import trainable
from plait.model.bayesianize import EstimatorName
from plait.objective import elbo

DETERMINISTIC = "deterministic"
OPTIMIZER = optax.adam(1e-3)
LIKELIHOOD = Categorical()
DATASET_SIZE = 50_000
BUDGET = 5.0
"""Seconds for each line of the table; a slow line has fewer rounds."""


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    family: str
    estimator: str
    milliseconds: float
    ratio: float
    flops_ratio: float
    floats_per_weight: float
    peak_bytes: int
    compile_seconds: float


@dataclass(frozen=True)
class Method:
    """A family with an estimator."""

    family: plait.Family
    estimator: EstimatorName | None = None
    dense_only: bool = False
    """Convolutions stay mean field, as in paper 000."""

    def bayesianize(self, network: Network, key: PRNGKey) -> plait.BayesianModel:
        """The network under this method; biases are mean field."""
        return plait.bayesianize(
            network.params,
            network.x,
            apply=network.forward,
            posterior=self.family,
            estimator=self.estimator,
            key=key,
        )


METHODS: dict[str, Method] = {
    "MeanField local": Method(plait.MeanField()),
    "MeanField weights": Method(plait.MeanField(), "weights"),
    "MeanField flipout": Method(plait.MeanField(), "flipout"),
    "Tied(1) local": Method(plait.Tied(1)),
    "Tied(2) local": Method(plait.Tied(2)),
    "Tied(3) local": Method(plait.Tied(3)),
    "Tied(2) weights": Method(plait.Tied(2), "weights"),
    "Tied(2) flipout": Method(plait.Tied(2), "flipout"),
    "MatrixNormal(diagonal) local": Method(plait.MatrixNormal("diagonal", "diagonal")),
    "MatrixNormal(householder) local": Method(plait.MatrixNormal("householder", "householder")),
    "MatrixNormal(cholesky) local": Method(plait.MatrixNormal()),
    "MatrixNormal(cholesky) weights": Method(plait.MatrixNormal(), "weights"),
    "MatrixNormalPlusDiagonal local": Method(plait.MatrixNormalPlusDiagonal()),
    "LowRank(2) local": Method(plait.LowRank(2)),
    "RankOne(1) per example": Method(plait.RankOne(1)),
}
"""By name; the last word or words are the estimator."""


def networks(key: PRNGKey) -> dict[str, Network]:
    """The networks of the table."""
    return {
        "mlp": multilayer_perceptron(key, "MLP 784-400-400-10, batch 1024", (784, 400, 400, 10), 1024),
        "wide": multilayer_perceptron(key, "two layers 4096 x 4096, batch 256", (4096, 4096, 4096), 256),
        "lenet": lenet(key, "LeNet (5x5 convolutions) on 32 x 32 x 3, batch 256", 256),
    }


class Step:
    """A compiled training step that carries its own state from call to call."""

    def __init__(self, step: Callable[..., Any], state: Any, network: Network, key: PRNGKey):
        start = time.perf_counter()
        # Optax leans on implicit promotion, whatever the settings.
        with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
            self._program = jax.jit(step, donate_argnums=0).lower(state, network.x, network.y, key).compile()
        self.compile_seconds = time.perf_counter() - start
        memory: Any = self._program.memory_analysis()
        # Donated arguments alias outputs: count them once.
        costs: Any = self._program.cost_analysis()
        self.flops = float(costs["flops"])
        self.peak_bytes = int(
            memory.temp_size_in_bytes
            + memory.argument_size_in_bytes
            + memory.output_size_in_bytes
            - memory.alias_size_in_bytes
        )
        self._state, self._rest = jax.tree.map(jnp.copy, state), (network.x, network.y, key)

    def __call__(self) -> Any:
        self._state, loss = self._program(self._state, *self._rest)
        return loss


def deterministic_step(network: Network, key: PRNGKey) -> Step:
    """The network as it is."""

    def step(state: tuple[Any, Any], x: Array, y: Array, key: PRNGKey) -> tuple[tuple[Any, Any], Array]:
        del key
        params, optimizer = state

        def loss(params: Any) -> Array:
            return -jnp.mean(LIKELIHOOD.log_prob(network.forward(params, x), y))

        value, gradient = jax.value_and_grad(loss)(params)
        updates, optimizer = OPTIMIZER.update(gradient, optimizer)
        return (optax.apply_updates(params, updates), optimizer), value

    return Step(step, (network.params, OPTIMIZER.init(network.params)), network, key)


def bayesian_step(bnn: plait.BayesianModel, network: Network, key: PRNGKey) -> Step:
    """The same under `plait.elbo`."""
    trained, fixed = eqx.partition(bnn, trainable(bnn))

    def step(state: tuple[Any, Any], x: Array, y: Array, key: PRNGKey) -> tuple[tuple[Any, Any], Array]:
        trained, optimizer = state

        def loss(trained: Any) -> Array:
            model = eqx.combine(trained, fixed)
            return elbo(model, (x, y), key=key, likelihood=LIKELIHOOD, dataset_size=DATASET_SIZE)[0]

        value, gradient = jax.value_and_grad(loss)(trained)
        updates, optimizer = OPTIMIZER.update(gradient, optimizer)
        return (optax.apply_updates(trained, updates), optimizer), value

    return Step(step, (trained, OPTIMIZER.init(trained)), network, key)


def measure(network: Network, methods: dict[str, Method], *, rounds: int, key: PRNGKey) -> list[Row]:
    """The table of one network, the deterministic step first."""
    steps = {DETERMINISTIC: deterministic_step(network, key)}
    floats = {DETERMINISTIC: 1.0}
    for name, method in methods.items():
        bnn = method.bayesianize(network, key)
        floats[name] = bnn.num_params / bnn.num_weights
        steps[name] = bayesian_step(bnn, network, key)
    seconds = fastest(steps, rounds=rounds, budget=BUDGET)
    rows = []
    for name, step in steps.items():
        family, _, estimator = name.partition(" ")
        ratio = seconds[name] / seconds[DETERMINISTIC]
        flops = step.flops / steps[DETERMINISTIC].flops
        size, compiling = step.peak_bytes, step.compile_seconds
        rows.append(Row(family, estimator, 1e3 * seconds[name], ratio, flops, floats[name], size, compiling))
    return rows


def as_markdown(network: Network, rows: list[Row]) -> str:
    """One table of the page docs/results/cost.md."""
    lines = [
        f"## {network.name}",
        "",
        "| family | estimator | step / deterministic | flops / deterministic | floats per weight | peak MB | "
        "compile s |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row.family} | {row.estimator} | {row.ratio:.2f} | {row.flops_ratio:.2f} | {row.floats_per_weight:.3f} | "
        f"{row.peak_bytes / 1e6:.0f} | {row.compile_seconds:.1f} |"
        for row in rows
    ]
    return "\n".join([*lines, "", f"Deterministic step: {rows[0].milliseconds:.1f} ms.", ""])


@dataclass(frozen=True)
class Options:
    """Cost of a training step, by family and estimator."""

    networks: tuple[str, ...] = ("mlp", "wide", "lenet")
    """Which networks: mlp, wide, lenet."""
    only: str = ""
    """Only methods whose name contains this."""
    rounds: int = 30
    """Timed rounds; the minimum is reported."""
    write: Path | None = None
    """A markdown page to write the tables to."""


PAGE = """# What a step costs

Forward, backward and Adam, as a ratio to the deterministic step of the same network; the minimum of {rounds}
interleaved rounds (fewer where a step is slow) in one run on {cores} CPU cores, JAX {version}. *Flops* are those of the
compiled step as XLA counts them, in which the triangles of a matrix normal count as squares. *Floats per weight* are
the numbers that are trained, before the optimizer; *peak MB* is what the compiled step holds (state of Adam included);
compile seconds are of the step alone.

Made by `make bench`.
"""


def main(options: Options) -> None:
    """Print the tables, and write them if asked to."""
    import os

    key = jax.random.key(0)
    known = networks(key)
    unknown = [name for name in options.networks if name not in known]
    if unknown:
        raise SystemExit(f"unknown networks {', '.join(unknown)}; known are {', '.join(known)}")
    methods = {name: method for name, method in METHODS.items() if options.only in name}
    pages = [PAGE.format(rounds=options.rounds, cores=os.cpu_count(), version=jax.__version__)]
    for name in options.networks:
        rows = measure(known[name], methods, rounds=options.rounds, key=key)
        pages.append(as_markdown(known[name], rows))
        print(pages[-1], flush=True)
    if options.write is not None:
        options.write.write_text("\n".join(pages))


if __name__ == "__main__":
    import tyro

    main(tyro.cli(Options, description=__doc__))
