"""The random keys of a run, by its seed: one for each purpose, so that none is used twice."""

from typing import NamedTuple

import jax

from plait._typing import PRNGKey


class RunKeys(NamedTuple):
    """What they are for."""

    model: PRNGKey
    """Initial weights and posteriors."""
    training: PRNGKey
    evaluation: PRNGKey
    """Of the test data."""
    prediction: PRNGKey
    """For further inputs."""


def run_keys(seed: int) -> RunKeys:
    """Those of a seed."""
    return RunKeys(*jax.random.split(jax.random.key(seed), len(RunKeys._fields)))
