"""Random parts of a data set: a few labelled points, others to predict for, and a pool.

Training and test part of the set are put together and shuffled anew for each trial. Inputs are standardised by all
points whose inputs a learner may see, targets by the labelled ones alone.
"""

from dataclasses import dataclass

import numpy as np

from plait.data import Standardizer, load


@dataclass(frozen=True, eq=False)
class Trials:
    """Points of several trials, in the units of the data: first those labelled, then the others."""

    x: np.ndarray
    """[trials, points, inputs], standardised."""
    y: np.ndarray
    """[trials, points, 1]."""

    def __len__(self) -> int:
        return len(self.x)

    @property
    def points(self) -> int:
        """In each trial."""
        return self.x.shape[1]

    def labelled(self, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[Standardizer]]:
        """Inputs and standardised targets of some points, [trials, n]; and what undoes that, for each trial."""
        rows = np.arange(len(self))[:, None]
        x, y = self.x[rows, indices], self.y[rows, indices]
        scalers = [Standardizer.fit(one, targets) for one, targets in zip(x, y, strict=True)]
        return x, np.stack([scaler.targets(targets) for scaler, targets in zip(scalers, y, strict=True)]), scalers


def draw_trials(
    name: str, data_dir: str | None, *, trials: int, points: int | None, hidden_inputs: int = 0, seed: int
) -> Trials:
    """So many trials of so many points each, or of all; the inputs of the last `hidden_inputs` are not looked at."""
    dataset = load(name, data_dir)
    x, y = (np.concatenate(parts) for parts in zip(dataset.train, dataset.test, strict=True))
    count = len(x) if points is None else points
    if count > len(x):
        raise ValueError(f"{name} has {len(x)} points, and a trial takes {count}")
    xs, ys = [], []
    for trial in range(trials):
        order = np.random.default_rng([seed, trial]).permutation(len(x))[:count]
        seen = x[order[: count - hidden_inputs]]
        xs.append(Standardizer.fit(seen).inputs(x[order]))
        ys.append(y[order])
    return Trials(np.stack(xs), np.stack(ys))
