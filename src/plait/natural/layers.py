"""Which weights make up the layers that a Kronecker factorisation can carry, and why others cannot be carried.

A layer is a contraction or convolution whose weight is used once, whole and outside loops, together with the bias that
is added to its result.
"""

from dataclasses import replace

from plait.model import BayesianModel
from plait.model.site_table import SiteRow
from plait.natural.prior import gaussian_priors
from plait.posterior import LayerMatrix, PointPosterior


def find_layers(bnn: BayesianModel, *, kinds: tuple[str, ...]) -> tuple[tuple[LayerMatrix, ...], dict[str, str]]:
    """The layers in the order of the program, and for the other random weights why they are in none."""
    priors = gaussian_priors(bnn)
    points = {path for path, posterior in bnn.posteriors.items() if isinstance(posterior, PointPosterior)}
    rows = sorted((row for row in bnn.sites if row.path not in points), key=lambda row: row.turn)
    scalar = {path for path, prior in priors.items() if prior.is_scalar}
    biases = {row.shifts: row for row in rows if row.shifts and row.path in scalar}
    reasons = {row.path: reason for row in rows if (reason := _refusal(row, kinds, scalar)) is not None}
    kernels = [row for row in rows if row.path not in reasons]
    layers = []
    for row in kernels:
        bias = biases.get(row.path)
        reasons.pop(bias.path if bias is not None else "", None)
        alone = LayerMatrix(row.path, row.layout)
        layers.append(alone if bias is None else replace(alone, bias=bias.path, bias_layout=bias.layout))
    return tuple(layers), reasons


def _refusal(row: SiteRow, kinds: tuple[str, ...], scalar: set[str]) -> str | None:
    if row.kind not in kinds:
        return row.kind
    if row.one_draw or row.uses != 1 or not row.uses_agree:
        return f"{row.kind}, used {row.uses} times" if row.uses > 1 else f"{row.kind}, {row.note or 'used in parts'}"
    if row.groups > 1:
        return f"{row.kind} in {row.groups} groups"
    return None if row.path in scalar else f"{row.kind}, with a prior scale for each entry"
