"""Many small networks as one program against a loop over them.

    python -m plait.bench.replicas

Twenty networks of 50 hidden units on scikit-learn's diabetes (442 examples of 10 numbers), as in the UCI studies: once
with `plait.fit(..., replicas=20)`, once as twenty calls of `plait.fit`. Both times include compilation.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import optax

from plait import data
from plait._typing import Array, PRNGKey
from plait.fit import fit
from plait.likelihood import Gaussian
from plait.model import BayesianModel, bayesianize
from plait.posterior import MeanField


@dataclass(frozen=True)
class Options:
    """Replicas in one program against a loop."""

    replicas: int = 20
    """Networks."""
    epochs: int = 1000
    """Passes over the data."""
    batch_size: int = 64
    """Examples in a step."""
    hidden: int = 50
    """Units."""
    looped: int = 3
    """How many of the networks the loop really trains; its time is scaled up to all of them."""
    append: Path | None = None
    """A markdown page to add the result to."""


@dataclass(frozen=True)
class Times:
    """Seconds for all networks."""

    together: float
    loop: float

    @property
    def ratio(self) -> float:
        """How many times longer the loop takes."""
        return self.loop / self.together


def measure(options: Options) -> Times:
    """Train them both ways."""
    diabetes, key = data.load("diabetes").standardized(), jax.random.key(0)
    train = (diabetes.train.x, diabetes.train.y)

    def make(key: PRNGKey) -> BayesianModel:
        return bayesianize(_network(diabetes.input_shape[0], options.hidden, key), train[0][:2], apply=_apply,
                           posterior=MeanField(), key=key)  # fmt: skip

    def run(bnn: Any, key: PRNGKey, replicas: int | None) -> Callable[[], Any]:
        return lambda: fit(bnn, train, likelihood=Gaussian(), optimizer=optax.adam(1e-3), epochs=options.epochs,
                           batch_size=options.batch_size, replicas=replicas, key=key, progress=False)  # fmt: skip

    together = _seconds(run(make, key, options.replicas))
    loop = sum(_seconds(run(make(each), each, None)) for each in jax.random.split(key, options.looped))
    return Times(together, loop * options.replicas / options.looped)


def _network(fan_in: int, hidden: int, key: PRNGKey) -> dict[str, Array]:
    first, second = jax.random.split(key)
    return {
        "hidden.kernel": jax.random.normal(first, (fan_in, hidden)) * (2 / fan_in) ** 0.5,
        "hidden.bias": jnp.zeros(hidden),
        "output.kernel": jax.random.normal(second, (hidden, 1)) * (1 / hidden) ** 0.5,
        "output.bias": jnp.zeros(1),
    }


def _apply(params: dict[str, Array], x: Array) -> Array:
    hidden = jax.nn.relu(x @ params["hidden.kernel"] + params["hidden.bias"][None])
    return hidden @ params["output.kernel"] + params["output.bias"][None]


def _seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    jax.block_until_ready(jax.tree.leaves(run().model))
    return time.perf_counter() - start


def as_markdown(times: Times, options: Options) -> str:
    """A section of the page docs/results/cost.md."""
    together = (
        f"`plait.fit(..., replicas={options.replicas})` trains {options.replicas} networks of {options.hidden} hidden "
        f"units for {options.epochs:,} epochs in {times.together:.1f} s, compilation included."
    )
    loop = (
        f"A loop over `plait.fit` needs {times.loop:.0f} s ({options.looped} networks run, scaled up): "
        f"{times.ratio:.1f} times as long."
    )
    return f"## {options.replicas} networks at once\n\n{together}\n{loop}\nMade by `python -m plait.bench.replicas`.\n"


def main(options: Options) -> None:
    """Measure, print, and write if asked to."""
    section = as_markdown(measure(options), options)
    print(section)
    if options.append is not None:
        with options.append.open("a") as page:
            page.write(f"\n{section}")


if __name__ == "__main__":
    import tyro

    main(tyro.cli(Options, description=__doc__))
