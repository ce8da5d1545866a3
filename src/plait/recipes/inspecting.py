"""What a trained model consists of, as a table."""

import equinox as eqx
import jax

from plait.model import BayesianModel, SiteRow
from plait.recipes.run_folder import RunFolder
from plait.report.table import Table

COLUMNS = ("weight", "kind", "posterior", "prior", "KL", "estimator", "shape", "numbers", "bytes")


def weight_table(bnn: BayesianModel) -> Table:
    """One row for each weight, and their sum."""
    rows = [
        (
            *(row.path, row.kind, row.posterior, row.prior, row.kl, row.estimator),
            " × ".join(map(str, row.shape)) or "scalar",
            f"{row.num_params:,}",
            f"{_bytes(bnn, row):,}",
        )
        for row in bnn.sites
    ]
    total = ("total", *[""] * 6, f"{bnn.num_params:,}", f"{_nbytes((bnn.posteriors, bnn.joints, bnn.priors)):,}")
    return Table(COLUMNS, [*rows, total], left=6)


def describe_run(folder: RunFolder, bnn: BayesianModel) -> str:
    """A few lines on the data, the likelihood and the size."""
    facts, weights = folder.facts, bnn.num_weights
    ratio = bnn.num_params / weights
    shape = " × ".join(map(str, facts.input_shape))
    lines = [
        f"{folder.path}",
        f"data         {facts.name}: {facts.task}, {facts.num_train:,} training examples, inputs {shape}",
        f"likelihood   {type(bnn.likelihood).__name__}",
        f"size         {weights:,} weights, {bnn.num_params:,} trained numbers ({ratio:.2f} for each weight)",
        f"file         {folder.model.stat().st_size:,} bytes",
    ]
    return "\n".join(lines)


def _bytes(bnn: BayesianModel, row: SiteRow) -> int:
    """Of a weight's own posterior; a joint one has no share."""
    return _nbytes(bnn.posteriors.get(row.path))


def _nbytes(tree: object) -> int:
    return sum(leaf.nbytes for leaf in jax.tree.leaves(eqx.filter(tree, eqx.is_array)))
