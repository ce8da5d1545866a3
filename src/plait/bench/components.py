"""A step of K components against a deterministic step on a batch K times as large: as many passes through the kernels.

    python -m plait.bench.components

What is above 1 is the price of the factors: two products for each layer, and with random factors their noise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jax

import plait
from plait._table import Table
from plait._typing import PRNGKey
from plait.bench.cost import Method, bayesian_step, deterministic_step
from plait.bench.networks import Network, lenet, multilayer_perceptron
from plait.bench.timing import fastest

BUDGET = 8.0
"""Seconds for each line."""

FAMILIES = {
    "BatchEnsemble (point factors)": plait.RankOne(4, family="point"),
    "RankOne, Gaussian": plait.RankOne(4),
    "RankOne, Cauchy": plait.RankOne(4, family="cauchy"),
}

NETWORKS: dict[str, tuple[str, int, Callable[[PRNGKey, str, int], Network]]] = {
    "mlp": (
        "MLP 784-400-400-10",
        128,
        lambda key, name, batch: multilayer_perceptron(key, name, (784, 400, 400, 10), batch),
    ),
    "wide": (
        "two layers 2048 x 2048",
        128,
        lambda key, name, batch: multilayer_perceptron(key, name, (2048, 2048, 2048), batch),
    ),
    "lenet": ("LeNet (5x5 convolutions) on 32 x 32 x 3", 64, lenet),
}
"""Name, different examples in a batch, and how it is made."""


@dataclass(frozen=True)
class Options:
    """Components against a larger batch."""

    networks: tuple[str, ...] = tuple(NETWORKS)
    """Which networks."""
    components: int = 4
    """K."""
    rounds: int = 20
    """Timed rounds; the minimum is reported."""
    append: Path | None = None
    """A markdown page to add the table to."""


def measure(network: str, options: Options, batch: int | None = None) -> list[tuple[str, ...]]:
    """The lines of one network."""
    title, usual, make = NETWORKS[network]
    count, key = batch or usual, jax.random.key(0)
    small, large = make(key, title, count), make(key, title, options.components * count)
    programs = {"deterministic": deterministic_step(large, key)}
    numbers = {"deterministic": 1.0}
    for family_name, family in FAMILIES.items():
        family = plait.RankOne(options.components, family=family.family)
        bnn = Method(family).bayesianize(small, key)
        programs[family_name] = bayesian_step(bnn, small, key)
        numbers[family_name] = bnn.num_params / bnn.num_weights
    seconds = fastest(programs, rounds=options.rounds, budget=BUDGET)
    base = seconds["deterministic"]
    return [
        (
            title,
            f"{method}, batch {count if method in FAMILIES else options.components * count}",
            f"{1e3 * found:.1f}",
            f"{found / base:.2f}",
            f"{numbers[method]:.3f}",
        )
        for method, found in seconds.items()
    ]


def as_markdown(rows: list[tuple[str, ...]], options: Options) -> str:
    """A section of the page docs/results/cost.md."""
    table = Table(("network", "step", "ms", "ratio", "numbers / weights"), rows, left=2)
    return (
        f"## {options.components} components\n\nA step of {options.components} components against the deterministic "
        f"step on a batch {options.components} times as large.\n\n{table.markdown()}\n\n"
        "Made by `python -m plait.bench.components`.\n"
    )


def main(options: Options) -> None:
    """Measure, print, and write if asked to."""
    unknown = [name for name in options.networks if name not in NETWORKS]
    if unknown:
        raise SystemExit(f"unknown networks {', '.join(unknown)}; known are {', '.join(NETWORKS)}")
    rows = [row for name in options.networks for row in measure(name, options)]
    section = as_markdown(rows, options)
    print(section)
    if options.append is not None:
        with options.append.open("a") as page:
            page.write(f"\n{section}")


if __name__ == "__main__":
    import tyro

    main(tyro.cli(Options, description=__doc__))
