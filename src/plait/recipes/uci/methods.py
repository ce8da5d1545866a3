"""The methods of the study, each by its name.

Natural gradients and gradients share everything but the method: batches, epochs, 10 draws a step, N(0, 1) on weights,
Gamma(6, 6) on the noise precision, rates that fall to a tenth at half time. Natural gradients set the noise in closed
form, gradients train it. Posteriors start as wide as N data points leave a weight of unit information: 1 / sqrt(N).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import optax

from plait.fit import Gradient
from plait.natural import IVON, NoisyAdam, NoisyBlockTridiagonal, NoisyEKFAC, NoisyKFAC, NoisyTied
from plait.posterior import Family, MatrixNormal, MeanField, Point, Tied
from plait.recipes.uci.dropout import RowDropout
from plait.recipes.uci.protocol import Protocol

BASES = 5
"""Decompositions of EK-FAC are this much rarer than its statistics, or its variances would be K-FAC's."""


@dataclass(frozen=True)
class Plan:
    """What a method may depend on."""

    protocol: Protocol
    size: int
    """N."""
    total_steps: int

    @property
    def init_scale(self) -> float:
        """Where standard deviations start."""
        return self.size**-0.5

    def natural(self, *, decompositions: int = 1) -> dict[str, Any]:
        """Options of a natural-gradient method."""
        p = self.protocol
        return {
            "learning_rate": p.alpha(self.total_steps),
            "curvature_rate": p.beta(self.total_steps),
            "num_samples": p.train_samples,
            "statistics_every": p.curvature_every,
            "inverse_every": p.curvature_every * decompositions,
        }

    def adam(self, *, samples: bool = True, decay: bool = False) -> Gradient:
        """Adam; with `decay` the prior acts as a penalty on means, for methods without a KL term."""
        p = self.protocol
        transformation = optax.adam(p.alpha(self.total_steps))
        if decay:
            penalty = optax.add_decayed_weights(1 / (self.size * p.prior_variance), mask=_of_weights)
            transformation = optax.chain(penalty, transformation)
        return Gradient(transformation, num_samples=p.train_samples if samples else 1)


def _of_weights(parameters: Any) -> Any:
    """Which arrays belong to posteriors, not to the likelihood."""
    return jax.tree_util.tree_map_with_path(lambda path, _: path[0].name == "posteriors", parameters)


@dataclass(frozen=True)
class Method:
    """One of them; `family` and `optimizer` are None for what is not trained by `plait.fit`."""

    title: str
    family: Callable[[Plan], Family] | None
    optimizer: Callable[[Plan], Any] | None
    column: str | None = None
    """Whose column of the paper it is."""
    members: Callable[[Protocol], int] = lambda protocol: 1
    """Networks whose predictions are averaged."""
    is_point: bool = False
    """Without a KL term, so that its loss is no bound."""


def _mean_field(plan: Plan) -> Family:
    return MeanField(plan.init_scale)


METHODS: Mapping[str, Method] = {
    "deterministic": Method(
        "deterministic", lambda p: Point(), lambda p: p.adam(samples=False, decay=True), is_point=True
    ),
    "ensemble": Method(
        "deep ensemble",
        lambda p: Point(),
        lambda p: p.adam(samples=False, decay=True),
        members=lambda p: p.ensemble,
        is_point=True,
    ),
    "dropout": Method(
        "MC dropout", lambda p: RowDropout(p.protocol.dropout), lambda p: p.adam(decay=True), is_point=True
    ),
    "pbp": Method("PBP", None, None, column="PBP"),
    "bbb": Method("mean field, gradients", _mean_field, lambda p: p.adam(), column="BBB"),
    "tied": Method("Tied(2), gradients", lambda p: Tied(2, p.init_scale), lambda p: p.adam()),
    "matrix-normal": Method(
        "matrix normal, gradients", lambda p: MatrixNormal(init_scale=p.init_scale), lambda p: p.adam()
    ),
    "ivon": Method(
        "IVON",
        _mean_field,
        lambda p: IVON(
            learning_rate=p.protocol.alpha(p.total_steps),
            curvature_rate=p.protocol.curvature_rate,
            num_samples=p.protocol.train_samples,
        ),
    ),
    "noisy-adam": Method("noisy Adam", _mean_field, lambda p: NoisyAdam(**p.natural())),
    "noisy-tied": Method("noisy tied, k = 1", _mean_field, lambda p: NoisyTied(**p.natural())),
    "nng-mvg": Method("noisy K-FAC", _mean_field, lambda p: NoisyKFAC(**p.natural()), column="NNG-MVG"),
    "ekfac": Method("noisy EK-FAC", _mean_field, lambda p: NoisyEKFAC(**p.natural(decompositions=BASES))),
    "block-tridiagonal": Method("block tridiagonal", _mean_field, lambda p: NoisyBlockTridiagonal(**p.natural())),
}
"""By the name that options take. PBP_MV is not among them: its update is another filter than PBP's."""
