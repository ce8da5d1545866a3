"""Standard deviations of low rank after training (paper 001, table 2; paper 000, table 1).

    sigma <- max(A_r, floor),     A_r the first r components of the singular value decomposition of sigma

An approximation may have negative entries. The papers put "zero" or "a very low positive constant" in their place; at
zero the KL is infinite (erratum E16), and the ELBO of a low rank depends on the constant: report it with the numbers.
"""

from collections.abc import Mapping

import jax.numpy as jnp
import numpy as np

from plait.analysis.low_rank import check_rank, low_rank
from plait.analysis.weight_matrices import as_matrix
from plait.model import BayesianModel
from plait.model.exchange import exchange
from plait.model.patterns import Choice
from plait.posterior import MeanField, MeanFieldPosterior, TiedPosterior
from plait.posterior.base import check_scale

FLOOR = 1e-5


def truncate(bnn: BayesianModel, rank: int | Mapping[str, int], *, floor: float = FLOOR) -> BayesianModel:
    """Replace trained standard deviations by their approximations of a rank.

    Args:
        bnn: a model with weights under `MeanField` or `Tied`; all others stay as they are.
        rank: a rank, or an ordered mapping from path patterns or site kinds to ranks, as for `bayesianize`; weights
            that no pattern names stay as they are. A rank beyond a matrix's own changes nothing.
        floor: the smallest standard deviation that may come out.

    Returns:
        The model with mean-field posteriors in their place, which hold the approximations.
    """
    check_scale(floor, "floor")
    rows = [
        row
        for row in bnn.sites
        if not row.layout.is_vector and isinstance(bnn.posteriors.get(row.path), (MeanFieldPosterior, TiedPosterior))
    ]
    if not rows:
        raise ValueError("no weight matrix of this model is under MeanField or Tied: there is nothing to truncate")
    ranks: Choice[int | None] = Choice("rank", rank, [(row.path, row.kind) for row in rows], None)
    new = {}
    for row in rows:
        chosen = ranks.of(row.path, row.kind)
        if chosen is None:
            continue
        posterior = bnn.posteriors[row.path]
        assert isinstance(posterior, (MeanFieldPosterior, TiedPosterior))
        matrix = np.maximum(low_rank(as_matrix(posterior.std, row), check_rank(chosen)), floor)
        std = row.layout.from_matrix(jnp.asarray(matrix, posterior.mean.dtype))
        # Of a mean field its transform and its cap are kept, so that its own file format still fits.
        start = (
            posterior
            if isinstance(posterior, MeanFieldPosterior)
            else MeanFieldPosterior(posterior.mean, posterior.mean, row.layout)
        )
        new[row.path] = start.with_std(std)
    return exchange(bnn, bnn.posteriors | new, bnn.joints, dict.fromkeys(new, MeanField().describe()))
