"""Masks on the weights of a Bayesian model."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from plait.model import BayesianModel
from plait.posterior import MaskedPosterior
from plait.sparsity.report import LayerReport, Report

Masks = Mapping[str, Any]

ONE_DRAW = "masked: one draw"
"""What the site table notes where entries are correlated and masked."""


def check_maskable(bnn: BayesianModel, path: str) -> None:
    """Refuse weights that have no posterior of their own to mask."""
    posterior = bnn.posteriors.get(path)
    if posterior is None or posterior.per_example or posterior.components is not None:
        what = "a joint posterior" if posterior is None else type(posterior).__name__
        raise ValueError(
            f"the weights of {path!r} cannot be masked one by one under {what}; mask a plain model with its means, "
            "`plait.shrink(bnn.mean(), x, masks={...})`"
        )


def mask_of(bnn: BayesianModel, path: str) -> np.ndarray | None:
    """The mask that a weight has, if any."""
    posterior = bnn.posteriors.get(path)
    return np.asarray(posterior.mask) if isinstance(posterior, MaskedPosterior) else None


def with_masks(bnn: BayesianModel, masks: Masks) -> BayesianModel:
    """The model with zeros where the masks are False, beside those it has."""
    shapes = {row.path: row.shape for row in bnn.sites}
    for path, mask in masks.items():
        if path not in shapes:
            raise ValueError(f"`masks`: the model has no weight {path!r}; its weights are {', '.join(shapes)}")
        came = np.asarray(mask)
        if came.dtype != bool or came.shape != shapes[path]:
            raise ValueError(
                f"`masks`: {path!r} needs booleans of shape {shapes[path]}, True where a weight is kept; got "
                f"{came.dtype} of shape {came.shape}"
            )
        check_maskable(bnn, path)
    posteriors, rows = dict(bnn.posteriors), []
    for row in bnn.sites:
        before = mask_of(bnn, row.path)
        kept = np.asarray(masks.get(row.path, True)) & (True if before is None else before)
        if kept.all():
            rows.append(row)
            continue
        posterior = posteriors[row.path]
        inner = posterior.weight if isinstance(posterior, MaskedPosterior) else posterior
        posteriors[row.path] = MaskedPosterior(inner, jnp.asarray(kept))
        rows.append(row if row.note or inner.independent else replace(row, note=ONE_DRAW))
    masked = eqx.tree_at(lambda model: model.posteriors, bnn, posteriors)
    return replace(masked, sites=tuple(rows))


def report_of(bnn: BayesianModel, notes: Mapping[str, str]) -> Report:
    """What its masks leave of a model."""
    layers: list[LayerReport] = []
    for row in bnn.sites:
        if row.layout.is_vector:
            continue
        mask = mask_of(bnn, row.path)
        kept = np.ones(row.shape, bool) if mask is None else mask
        matrix = np.asarray(row.layout.to_matrix(jnp.asarray(kept)))
        left = int(matrix.sum()), matrix.shape[0], int(matrix.any(1).sum()), matrix.shape[1], int(matrix.any(0).sum())
        layers.append(LayerReport(row.path, matrix.size, *left, notes.get(row.path, "")))
    return Report(tuple(layers))
