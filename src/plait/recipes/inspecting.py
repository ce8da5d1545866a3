"""What a trained model consists of: what all weights have in common, and a table of the rest."""

from typing import Any

import equinox as eqx
import jax

from plait._table import Table
from plait.model import BayesianModel, SiteRow
from plait.recipes.run_folder import RunFolder

TEXT = ("weight", "kind", "posterior", "prior", "KL", "estimator", "note")
NUMBERS = ("shape", "numbers", "bytes")
OFTEN_SHARED = ("posterior", "prior", "KL", "estimator", "note")


def describe_run(folder: RunFolder, bnn: BayesianModel) -> dict[str, str]:
    """The data, the likelihood, the size, and what is the same for every weight."""
    facts, weights = folder.facts, bnn.num_weights
    shape = " × ".join(map(str, facts.input_shape))
    return {
        "run": str(folder.path),
        "data": f"{facts.name}: {facts.task}, {facts.num_train:,} training examples, inputs {shape}",
        "likelihood": type(bnn.likelihood).__name__,
        "size": f"{weights:,} weights, {bnn.num_params:,} trained numbers, {bnn.num_params / weights:.2f} a weight",
        "file": f"{folder.model.stat().st_size:,} bytes",
    } | {name: value for name, value in _shared(bnn).items() if value}


def weight_table(bnn: BayesianModel) -> Table:
    """One row for each weight, and their sum. What is the same for all has no column."""
    shared = _shared(bnn)
    text = [name for name in TEXT if name not in shared]
    rows = [[cells[name] for name in (*text, *NUMBERS)] for cells in (_cells(bnn, row) for row in bnn.sites)]
    total = f"{bnn.num_params:,}", f"{_nbytes((bnn.posteriors, bnn.joints, bnn.priors)):,}"
    blank = [""] * len(text)
    return Table((*text, *NUMBERS), [*rows, ["total", *blank, *total]], left=len(text))


def _shared(bnn: BayesianModel) -> dict[str, str]:
    cells = [_cells(bnn, row) for row in bnn.sites]
    return {name: cells[0][name] for name in OFTEN_SHARED if len({each[name] for each in cells}) == 1}


def _cells(bnn: BayesianModel, row: SiteRow) -> dict[str, str]:
    return {
        "weight": row.path,
        "kind": row.kind,
        "posterior": row.posterior,
        "prior": row.prior,
        "KL": row.kl,
        "estimator": row.estimator,
        "note": row.note,
        "shape": " × ".join(map(str, row.shape)) or "scalar",
        "numbers": f"{row.num_params:,}",
        # A joint posterior's are in the sum only.
        "bytes": f"{_nbytes(bnn.posteriors.get(row.path)):,}",
    }


def _nbytes(tree: Any) -> int:
    return sum(leaf.nbytes for leaf in jax.tree.leaves(eqx.filter(tree, eqx.is_array)))
