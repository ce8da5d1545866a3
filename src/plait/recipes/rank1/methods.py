"""What is compared, all in the same code: rank-1 mixtures and their baselines as posteriors of one network.

deterministic    points
dropout          factors over input units that are 0 or 1 / (1 - p), not trained
mean field       Gaussian kernels
batch ensemble   rank-1 with point factors (Wen et al. 2020)
rank-1           Gaussian, Cauchy or log-Gaussian factors in K components
ensemble         K deterministic networks, trained apart
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax

from plait._typing import PRNGKey
from plait.data import Dataset
from plait.model import BayesianModel, bayesianize
from plait.posterior import Family, MeanField, Point, RankOne
from plait.prior import Cauchy, HeNormal, LogNormal, Normal, Prior
from plait.recipes.rank1.batch_norm import STATISTICS, Mode, with_norms
from plait.recipes.rank1.protocol import Factors, Protocol


@dataclass(frozen=True)
class Method:
    """One line of a table."""

    name: str
    families: Mapping[str, Family]
    """By path pattern or site kind; weights that none names are points."""
    priors: Mapping[str, Prior] | Prior | None = None
    samples: int = 1
    """Weight samples in an evaluation, of each component."""
    members: int = 1
    """Networks trained apart."""
    reduction: str = "average"
    kl_weight: float = 1.0

    def build(self, protocol: Protocol, dataset: Dataset, mode: Mode, *, key: PRNGKey) -> BayesianModel:
        """The network before training, with its norms in a mode."""
        mixed = any(isinstance(family, RankOne) and family.components > 1 for family in self.families.values())
        network = with_norms(protocol.network(dataset, key), mode, protocol.shared_norms and mixed)
        x = jax.numpy.asarray(dataset.train.x[:2])
        paths = {
            jax.tree_util.keystr(path, simple=True, separator=".")
            for path, leaf in jax.tree_util.tree_leaves_with_path(network)
            if hasattr(leaf, "shape")
        }
        bnn = bayesianize(
            network,
            x,
            posterior=_without_unused(self.families, paths) or Point(),
            prior=self.priors,
            key=key,
        )
        return bnn.with_likelihood(protocol.likelihood(dataset))


def _without_unused(families: Mapping[str, Family], paths: set[str]) -> dict[str, Family]:
    """Patterns of what a network may lack: `bayesianize` refuses those that match nothing."""
    absent: tuple[str, ...] = () if any(path.startswith("stem") for path in paths) else ("stem",)
    if not any(path.endswith("stored_mean") for path in paths):
        absent += (*STATISTICS, "scale", "*.shift")
    if not any("conv" in path for path in paths):
        absent += ("conv",)
    return {pattern: family for pattern, family in families.items() if pattern not in absent}


def rank_one(protocol: Protocol, factors: Factors, name: str, *, components: int | None = None, **more: Any) -> Method:
    """A rank-1 mixture of a protocol."""
    count = protocol.components if components is None else components
    family = RankOne(
        count,
        family=factors.family,
        sides=factors.sides,
        random_sign_init=factors.random_sign_init,
        dropout_rate=factors.dropout_rate,
        kl_reduction=protocol.kl_reduction,
    )
    priors: dict[str, Prior] = {
        "normal": Normal(factors.prior_scale, mean=factors.prior_mean),
        "cauchy": Cauchy(factors.prior_scale, location=factors.prior_mean),
        "lognormal": LogNormal(factors.prior_scale),
    }
    options = {"samples": factors.evaluation_samples, "reduction": protocol.reduction} | more
    return Method(name, _around(family, protocol), priors[factors.family], **options)


def _around(family: RankOne, protocol: Protocol) -> dict[str, Family]:
    """Norms are shared, but for the statistics where each component has its own; biases are each component's."""
    statistics: Family = Point() if protocol.shared_norms or family.components == 1 else family
    return {**dict.fromkeys(STATISTICS, statistics), "scale": Point(), "*.shift": Point(), "*": family}


def batch_ensemble(protocol: Protocol) -> Method:
    """Point factors; random signs."""
    sign = protocol.factors.random_sign_init
    family = RankOne(protocol.components, family="point", random_sign_init=sign)
    return Method("batch ensemble", _around(family, protocol))


def baselines(protocol: Protocol) -> list[Method]:
    """What rank-1 mixtures are compared with."""
    dropped = RankOne(1, family="dropout", sides="rows", dropout_rate=protocol.dropout_rate, clip=None)
    field = MeanField(protocol.mean_field_scale)
    return [
        Method("deterministic", {}),
        # Not of the first layer: a picture would lose whole colours.
        Method("dropout", {"stem": Point()} | _around(dropped, protocol), samples=4 * protocol.components),
        Method("mean field", {"dense": field, "conv": field}, HeNormal(), samples=4 * protocol.components),
        batch_ensemble(protocol),
        Method("ensemble", {}, members=protocol.components),
    ]


def methods(protocol: Protocol) -> list[Method]:
    """The lines of the main table."""
    return [
        *baselines(protocol),
        rank_one(protocol, protocol.factors, "rank-1 Gaussian"),
        rank_one(protocol, protocol.cauchy, "rank-1 Cauchy"),
    ]
