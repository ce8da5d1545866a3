"""What can be compressed: weight matrices under a mean field."""

import numpy as np

from plait.analysis.weight_matrices import as_matrix
from plait.model import BayesianModel, SiteRow
from plait.posterior import MeanFieldPosterior


def compressible_rows(bnn: BayesianModel) -> list[SiteRow]:
    """The rows of the site table that are mean-field matrices."""
    rows = [
        row
        for row in bnn.sites
        if not row.layout.is_vector and isinstance(bnn.posteriors.get(row.path), MeanFieldPosterior)
    ]
    if not rows:
        raise ValueError("no weight matrix of this model is under MeanField: there is nothing to tie")
    return rows


def log_stds(bnn: BayesianModel) -> dict[str, np.ndarray]:
    """log s of every mean-field matrix, [fan_in, fan_out]."""
    return {row.path: log_std_of(bnn, row) for row in compressible_rows(bnn)}


def log_std_of(bnn: BayesianModel, row: SiteRow) -> np.ndarray:
    """log s of one of them."""
    posterior = bnn.posteriors[row.path]
    assert isinstance(posterior, MeanFieldPosterior)
    std = as_matrix(posterior.std, row)
    if not np.all((std > 0) & np.isfinite(std)):
        raise ValueError(
            f"the standard deviations of {row.path!r} are not all positive and finite: it was not trained well"
        )
    return np.log(std)
