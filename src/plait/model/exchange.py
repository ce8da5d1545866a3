"""Other posteriors for the same weights: before training by natural gradients, and when compressing after it."""

from dataclasses import replace

from plait.estimator import ESTIMATORS
from plait.model.bayesian_model import BayesianModel
from plait.model.site_table import SiteRow
from plait.posterior import JointPosterior, Posterior
from plait.prior import Prior


def exchange(
    bnn: BayesianModel, posteriors: dict[str, Posterior], joints: tuple[JointPosterior, ...], names: dict[str, str]
) -> BayesianModel:
    """The model with these posteriors, which together cover its weights; `names` says how the site table calls those
    that are new.

    Priors stay, and so does an estimator that the new posterior admits.
    """
    priors = {path: bnn.priors[prior] for path, prior in bnn.prior_names}
    rows = tuple(
        _row(row, posteriors.get(row.path), names[row.path], priors.get(row.path)) if row.path in names else row
        for row in bnn.sites
    )
    return replace(bnn, posteriors=posteriors, joints=joints, sites=rows)


def _row(row: SiteRow, posterior: Posterior | None, name: str, prior: Prior | None) -> SiteRow:
    if posterior is None:
        return replace(row, posterior=name, estimator="weights", kl="exact", num_params=0)
    kl = "" if prior is None else prior.route(posterior)
    fits = ESTIMATORS[row.estimator].refusal(posterior, row.groups) is None
    estimator = row.estimator if fits else "weights"
    return replace(row, posterior=name, estimator=estimator, kl=kl, num_params=posterior.num_params)
