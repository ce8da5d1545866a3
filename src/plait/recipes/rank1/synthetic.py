"""A protocol on random inputs: its shapes and numbers, and where a machine can hold it memory and seconds of a step.

python -m plait.recipes.rank1.synthetic cifar10            what is counted, without computing anything
python -m plait.recipes.rank1.synthetic imagenet --run     a few steps of each method
"""

import time
from dataclasses import dataclass, replace
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import tyro

from plait.data import Dataset, Pair
from plait.fit import Gradient
from plait.recipes.rank1 import configs, events
from plait.recipes.rank1.batch_norm import num_statistics
from plait.recipes.rank1.methods import Method, methods
from plait.recipes.rank1.protocol import Protocol
from plait.report import Table

PROTOCOLS: dict[str, Protocol] = {
    "cifar10": configs.CIFAR10,
    "cifar100": configs.CIFAR100,
    "imagenet": configs.IMAGENET,
    "ehr": configs.EHR,
    "ehr-cauchy": configs.EHR_CAUCHY,
    "wrn-10-1": configs.CIFAR10_SMALL,
    "mnist": configs.MNIST,
}
SHAPES: dict[str, tuple[tuple[int, ...], int]] = {
    "cifar10": ((32, 32, 3), 10),
    "cifar100": ((32, 32, 3), 100),
    "imagenet": ((224, 224, 3), 1000),
    "mnist": ((28, 28), 10),
}
"""Of inputs, and how many classes, by data set."""
REAL_SIZES = {"cifar10": 50_000, "cifar100": 50_000, "imagenet": 1_281_167, "mnist": 60_000, "events": 4_000}


@dataclass(frozen=True)
class Options:
    """A protocol on random inputs."""

    protocol: tyro.conf.Positional[Literal["cifar10", "cifar100", "imagenet", "ehr", "ehr-cauchy", "wrn-10-1", "mnist"]]
    """Which."""
    only: tuple[str, ...] = ()
    """Methods; all by default."""
    batch_size: int | None = None
    """Different examples in a step; the protocol's by default."""
    run: bool = False
    """Whether to compile a step and to take a few."""
    steps: int = 5
    """How many."""


def random_data(protocol: Protocol, batch_size: int) -> Dataset:
    """Inputs of the protocol's shape, a batch of them."""
    rng = np.random.default_rng(0)
    if protocol.data == "events":
        return events.load(batch_size, 2)
    shape, classes = SHAPES[protocol.data]
    x = rng.random((batch_size, *shape), np.float32)
    pair = Pair(x, rng.integers(0, classes, batch_size).astype(np.int32))
    return Dataset(protocol.data, "classification", pair, None, pair, num_classes=classes)


def look(options: Options) -> Table:
    """A row for each method."""
    protocol = PROTOCOLS[options.protocol]
    size = protocol.batch_size if options.batch_size is None else options.batch_size
    # What is only counted needs no more than two examples.
    dataset = random_data(protocol, size if options.run else 2)
    chosen = [each for each in methods(protocol) if not options.only or each.name in options.only]
    base = _count(replace(chosen[0], families={}, priors=None), protocol, dataset)
    rows = []
    for method in chosen:
        count = method.members * _count(replace(method, members=1), protocol, dataset)
        measured = _step(protocol, dataset, method, options.steps) if options.run else ("", "")
        rows.append((method.name, f"{count:,}", f"{count / base:.4f}", *measured))
    return Table(("method", "numbers", "of one network", "peak MB", "s / step"), rows)


def _count(method: Method, protocol: Protocol, dataset: Dataset) -> int:
    """Trained numbers, without making any."""

    def build() -> Any:
        found.append(method.build(protocol, dataset, "train", key=jax.random.key(0)))
        return jnp.zeros(())

    found: list[Any] = []
    jax.eval_shape(build)
    return found[0].num_params - num_statistics(found[0])


def _step(protocol: Protocol, dataset: Dataset, method: Method, steps: int) -> tuple[str, str]:
    """Peak memory, and the least seconds of a training step."""
    bnn = method.build(protocol, dataset, "train", key=jax.random.key(0))
    optimizer = Gradient(protocol.optimizer(dataset), reduction=method.reduction)
    assert bnn.likelihood is not None
    likelihood, scaled = bnn.likelihood, protocol.scaling(dataset)(dataset.train.x)
    batch = (jnp.asarray(scaled), jnp.asarray(dataset.train.y))
    arrays, static = eqx.partition((bnn, optimizer.init(bnn)), eqx.is_array)

    def step(arrays: Any, key: Any) -> Any:
        model, state = eqx.combine(arrays, static)
        size = REAL_SIZES[protocol.data]
        new, state, aux = optimizer.step(model, state, batch, key=key, likelihood=likelihood, dataset_size=size)
        return eqx.filter((new, state), eqx.is_array), aux.loss

    program = jax.jit(step, donate_argnums=0).lower(arrays, jax.random.key(0)).compile()
    memory: Any = program.memory_analysis()
    peak = memory.temp_size_in_bytes + memory.argument_size_in_bytes
    seconds = []
    for index in range(steps):
        start = time.perf_counter()
        arrays, loss = program(arrays, jax.random.key(index))
        jax.block_until_ready(loss)
        seconds.append(time.perf_counter() - start)
    return f"{peak / 1e6:,.0f}", f"{min(seconds):.3g}"


def main(options: Options) -> None:
    """Print the table."""
    print(PROTOCOLS[options.protocol].title)
    print(look(options).text())


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
