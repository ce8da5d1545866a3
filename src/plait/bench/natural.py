"""The cost of one step of noisy natural gradient on a network of dense layers, as a ratio to a deterministic Adam step.

    python -m plait.bench.natural

Steps differ: some take a batch into the curvature, some decompose it. Each kind is timed by itself, with the others'
rounds in between, and the ratio is that of the average over the steps of one period.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._table import Table
from plait._typing import Array, PRNGKey
from plait.bench.cost import BUDGET, DATASET_SIZE, DETERMINISTIC, LIKELIHOOD, Step, deterministic_step
from plait.bench.networks import Network, multilayer_perceptron
from plait.bench.timing import fastest
from plait.model import bayesianize
from plait.natural import IVON, NaturalGradient, NoisyAdam, NoisyBlockTridiagonal, NoisyEKFAC, NoisyKFAC, NoisyTied
from plait.posterior import MeanField
from plait.prior import Normal

METHODS: Mapping[str, NaturalGradient] = {
    "IVON": IVON(),
    "NoisyAdam": NoisyAdam(),
    "NoisyTied(1)": NoisyTied(),
    "NoisyTied(2)": NoisyTied(rank=2),
    "NoisyKFAC": NoisyKFAC(),
    "NoisyKFAC, exact sampler": NoisyKFAC(sampler="exact"),
    "NoisyEKFAC": NoisyEKFAC(),
    "NoisyBlockTridiagonal": NoisyBlockTridiagonal(),
}
"""With their own intervals: the curvature every 10 steps, decompositions every 100."""


@dataclass(frozen=True)
class Options:
    """Natural gradient against a deterministic Adam step, on an MLP 784-400-400-10."""

    batch: int = 1024
    """Examples in a step."""
    only: str = ""
    """Only methods whose name contains this."""
    rounds: int = 30
    """Timed rounds; the minimum is reported."""
    append: Path | None = None
    """A markdown page to add the table to."""


@dataclass(frozen=True)
class Row:
    """One line of the table, in milliseconds."""

    method: str
    ratio: float
    plain: float
    """A step on which nothing is due."""
    statistics: float
    """A step that takes a batch into the curvature."""
    decomposition: float
    """One that does what is due most rarely."""


def kinds(method: NaturalGradient) -> dict[tuple[bool, bool], tuple[int, float]]:
    """By whether statistics and decompositions are due: a count of steps where it is so, and the share of those."""
    statistics, decompositions = method.statistics_every, method.inverse_every
    period = math.lcm(statistics, decompositions)
    found: dict[tuple[bool, bool], list[int]] = {}
    for count in range(period):
        found.setdefault((count % statistics == 0, count % decompositions == 0), []).append(count)
    return {kind: (counts[-1], len(counts) / period) for kind, counts in found.items()}


def natural_step(method: NaturalGradient, network: Network, count: int, key: PRNGKey) -> Step:
    """The step at one count, again and again."""
    made = bayesianize(
        network.params, network.x, apply=network.forward, posterior=MeanField(0.01), prior=Normal(0.2), key=key
    )
    bnn = method.prepare(made)
    arrays, static = eqx.partition(bnn, eqx.is_array)

    def step(carry: tuple[Any, Any], x: Array, y: Array, key: PRNGKey) -> tuple[tuple[Any, Any], Array]:
        arrays, state = carry
        options = {"key": key, "likelihood": LIKELIHOOD, "dataset_size": DATASET_SIZE}
        moved, after, aux = method.step(eqx.combine(arrays, static), state, (x, y), **options)
        return (eqx.filter(moved, eqx.is_array), after._replace(count=state.count)), aux.loss

    state = method.init(bnn)._replace(count=jnp.asarray(count, jnp.int32))
    return Step(step, (arrays, state), network, key)


def measure(network: Network, methods: Mapping[str, NaturalGradient], *, rounds: int, key: PRNGKey) -> list[Row]:
    """A row for each method."""
    programs: dict[str, Any] = {DETERMINISTIC: deterministic_step(network, key)}
    for name, method in methods.items():
        for kind, (count, _) in kinds(method).items():
            programs[f"{name} {kind}"] = natural_step(method, network, count, key)
    seconds = fastest(programs, rounds=rounds, budget=BUDGET)
    rows = []
    for name, method in methods.items():
        shares = {kind: share for kind, (_, share) in kinds(method).items()}
        each = {kind: seconds[f"{name} {kind}"] for kind in shares}
        average = sum(share * each[kind] for kind, share in shares.items())
        plain = each[min(each, key=sum)]
        statistics = next(each[kind] for kind in sorted(each, key=sum) if kind[0])
        times = (1e3 * value for value in (plain, statistics, each[max(each, key=sum)]))
        rows.append(Row(name, average / seconds[DETERMINISTIC], *times))
    return rows


def as_markdown(network: Network, rows: list[Row]) -> str:
    """A section of the page docs/results/cost.md."""
    columns = ("method", "step / deterministic", "plain ms", "with statistics ms", "with decomposition ms")
    cells = [
        (row.method, *(f"{value:.2f}" for value in (row.ratio, row.plain, row.statistics, row.decomposition)))
        for row in rows
    ]
    return (
        f"## Natural gradient, {network.name}\n\nThe curvature takes in a batch every 10 steps and is decomposed every "
        "100; the ratio is that of the average step. IVON does everything at every step.\n\n"
        f"{Table(columns, cells).markdown()}\n\nMade by `python -m plait.bench.natural`.\n"
    )


def main(options: Options) -> None:
    """Measure, print, and write if asked to."""
    key = jax.random.key(0)
    network = multilayer_perceptron(
        key, f"MLP 784-400-400-10, batch {options.batch}", (784, 400, 400, 10), options.batch
    )
    chosen = {name: method for name, method in METHODS.items() if options.only in name}
    section = as_markdown(network, measure(network, chosen, rounds=options.rounds, key=key))
    print(section)
    if options.append is not None:
        with options.append.open("a") as page:
            page.write(f"\n{section}")


if __name__ == "__main__":
    import tyro

    main(tyro.cli(Options, description=__doc__))
