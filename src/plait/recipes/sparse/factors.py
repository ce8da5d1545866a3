"""Natural gradients for the factors of a matrix normal against Adam: steps and seconds to the same ELBO.

The same network from the same start, ARD and the KL at weight 1 throughout. Means and biases are Adam's in both; their
learning rate and that of the factors fall along cosines.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
import optax

from plait.data import Dataset
from plait.fit import History, fit
from plait.natural import natural_factors
from plait.recipes.part import Part, seconds_per_step
from plait.recipes.sparse.methods import Method
from plait.recipes.sparse.protocol import Protocol
from plait.recipes.sparse.study import settings_of
from plait.report import Picture, Table, curve_grid

METHOD = Method("MN", "independent")
ADAM = (1e-3, 3e-3, 1e-2)
"""Learning rates."""
NATURAL = (0.01, 0.03, 0.1)
"""Of factors, in nats; Adam's for the rest is the middle one."""
LEVELS = (1.5, 1.2, 1.0)
"""Times the best -ELBO that Adam ends with."""


@dataclass(frozen=True, eq=False)
class Course:
    """One way of training."""

    history: History
    seconds_per_step: float

    @property
    def looks(self) -> tuple[np.ndarray, np.ndarray]:
        """Steps and -ELBO of the validation data."""
        values = self.history["validation_negative_elbo"]
        seen = np.isfinite(values)
        return self.history["step"][seen], values[seen]

    def steps_to(self, level: float) -> int | None:
        """The first look at which -ELBO is no larger."""
        steps, values = self.looks
        below = np.flatnonzero(values <= level)
        return int(steps[below[0]]) if len(below) else None


def run_factors(protocol: Protocol, dataset: Dataset, output: Path, *, seed: int) -> dict[str, Course]:
    """Do what is not done yet."""
    total = protocol.epochs * protocol.steps_per_epoch(dataset)
    size = len(dataset.train.x)
    ways: dict[str, Callable[[], optax.GradientTransformation]] = {
        f"Adam {rate:g}": lambda rate=rate: _adam(rate, total) for rate in ADAM
    }
    ways |= {
        f"natural {rate:g}": lambda rate=rate: natural_factors(
            rate, dataset_size=size, others=_adam(ADAM[len(ADAM) // 2], total)
        )
        for rate in NATURAL
    }
    found = {}
    for name, make in ways.items():
        settings = settings_of(protocol, METHOD, seed) | {"way": name}
        part = Part(output / name.replace(" ", "-").lower(), settings)
        found[name] = _train(protocol, dataset, part, make, seed)
        print(f"factors, {name}: -ELBO {found[name].looks[1][-1]:.4f}", flush=True)
    return found


def _adam(rate: float, total: int) -> optax.GradientTransformation:
    return optax.adam(optax.cosine_decay_schedule(rate, total))


def _train(
    protocol: Protocol, dataset: Dataset, part: Part, make: Callable[[], optax.GradientTransformation], seed: int
) -> Course:
    def work() -> dict[str, Any]:
        key = jax.random.key(seed)
        run = fit(
            protocol.build(dataset, METHOD, key=key),
            dataset.train,
            optimizer=make(),
            epochs=protocol.epochs,
            batch_size=protocol.batch_size,
            key=key,
            validation=dataset.validation,
            eval_samples=1,
            checkpoint=part.checkpoints,
            keep=1,
            resume=True,
        )
        part.keep(run)
        return {"seconds_per_step": seconds_per_step(run.history)}

    done = part.once(work)
    return Course(part.history(), done["seconds_per_step"])


def factors_table(found: Mapping[str, Course]) -> Table:
    """Steps and seconds of training alone to shares of the best -ELBO that Adam ends with."""
    best = min(course.looks[1][-1] for name, course in found.items() if name.startswith("Adam"))
    levels = [level * best for level in LEVELS]
    rows = []
    for name, course in found.items():
        cells = []
        for level in levels:
            steps = course.steps_to(level)
            cells += ["", ""] if steps is None else [f"{steps:,}", f"{steps * course.seconds_per_step:.0f}"]
        pace = 1e3 * course.seconds_per_step
        rows.append((name, f"{course.looks[1][-1]:.4g}", f"{pace:.1f}", *cells))
    columns = [cell for level in levels for cell in (f"steps to {level:.3g}", "seconds")]
    return Table(("way", "last -ELBO", "ms / step", *columns), rows)


def factors_picture(found: Mapping[str, Course]) -> Picture:
    """-ELBO against steps."""
    curves = {name: (course.looks[0], {"−ELBO per example": course.looks[1]}) for name, course in found.items()}
    figure = curve_grid({"Validation data": curves}, {"−ELBO per example": True}, across="step")
    return Picture(figure, "Factors of matrix normals", "Validation data, the KL at weight 1 from the start.")
