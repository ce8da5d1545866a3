"""`plait.sparsify`: zeros where a posterior has more noise than signal."""

from collections.abc import Mapping
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from plait.model import BayesianModel
from plait.model.patterns import Choice
from plait.model.site_table import SiteRow
from plait.sparsity.masks import check_maskable, mask_of, report_of, with_masks
from plait.sparsity.model_call import ModelCall, follow_units
from plait.sparsity.report import Report
from plait.sparsity.rule import Grain, LogAlpha, Moments, Rule


@dataclass(frozen=True)
class Sparsified:
    """A model with zeros, and where they are."""

    model: BayesianModel
    """Predicts with zeroed weights, and can be trained on: what is zero stays so."""
    masks: dict[str, np.ndarray]
    """For every weight that a rule has looked at, True where it is kept."""
    report: Report

    def __str__(self) -> str:
        return str(self.report)


def sparsify(bnn: BayesianModel, rule: Rule | Mapping[str, Rule] | None = None) -> Sparsified:
    """Set weights to zero that a rule finds to be noise. The model keeps its shapes; `plait.shrink` makes it small.

    Args:
        bnn: a trained model. Weights that are zero already stay so.
        rule: `LogAlpha`, `SignalToNoise` or `Budget`, for all weights with a fan-in side; or an ordered mapping from
            path patterns or site kinds to rules, as for `plait.bayesianize`, for the weights they name. The default is
            `LogAlpha(3.0)` for single weights.

    A column of a layer whose results are the model's outputs is an output. It is never zeroed as a column, and keeps
    its strongest weight if a rule finds all of them to be noise.
    """
    paths = [(row.path, row.kind) for row in bnn.sites]
    choice: Choice[Rule | None] = Choice("rule", LogAlpha() if rule is None else rule, paths, None)
    outputs = follow_units(ModelCall.of(bnn)).outputs
    members: dict[int | None, tuple[Rule, list[SiteRow]]] = {}
    for row in bnn.sites:
        chosen = choice.of(row.path, row.kind)
        if chosen is None or (row.layout.is_vector and choice.is_one_for_all):
            continue
        if not isinstance(chosen, Rule):
            raise TypeError(f"`rule` for {row.path!r} must be a rule such as plait.LogAlpha(), got {chosen!r}")
        check_maskable(bnn, row.path)
        if row.path in outputs and chosen.grains == ("columns",) and not choice.is_one_for_all:
            raise ValueError(
                f"the columns of {row.path!r} are outputs of the model and cannot be cut; give that layer a rule for "
                "other grains, such as plait.LogAlpha(of=('weights', 'rows')), or none"
            )
        members.setdefault(choice.rule(row.path, row.kind), (chosen, []))[1].append(row)
    masks: dict[str, np.ndarray] = {}
    for chosen, rows in members.values():
        masks |= _apply(bnn, chosen, rows, outputs)
    model = with_masks(bnn, masks)
    return Sparsified(model, masks, report_of(model, dict.fromkeys(outputs, "its columns are outputs")))


def _apply(bnn: BayesianModel, rule: Rule, rows: list[SiteRow], outputs: set[str]) -> dict[str, np.ndarray]:
    moments: dict[str, Moments] = {}
    grains: dict[str, tuple[Grain, ...]] = {}
    for row in rows:
        posterior = bnn.posteriors[row.path]
        moments[row.path] = Moments(jnp.square(posterior.mean), posterior.variance, row.layout)
        grains[row.path] = tuple(g for g in rule.grains if not (g == "columns" and row.path in outputs))
    masks = rule.keep(moments, grains)
    for row in rows:
        before = mask_of(bnn, row.path)
        if before is not None:
            masks[row.path] = masks[row.path] & before
        if row.path in outputs and not row.layout.is_vector:
            masks[row.path] = _with_every_column(masks[row.path], moments[row.path])
    return masks


def _with_every_column(mask: np.ndarray, moments: Moments) -> np.ndarray:
    """With the strongest weight of columns that have none left."""
    layout = moments.layout
    matrix = np.array(layout.to_matrix(jnp.asarray(mask)))
    variance = jnp.maximum(moments.variance, jnp.finfo(moments.variance.dtype).tiny)
    strength = np.asarray(layout.to_matrix(moments.square / variance))
    empty = np.flatnonzero(~matrix.any(axis=0))
    matrix[strength[:, empty].argmax(axis=0), empty] = True
    return np.asarray(layout.from_matrix(jnp.asarray(matrix)))
