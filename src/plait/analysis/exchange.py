"""A model with other posteriors for some of its weights, its site table included."""

from collections.abc import Mapping
from dataclasses import replace

from plait.model import BayesianModel
from plait.posterior import Family, Posterior


def exchange(bnn: BayesianModel, new: Mapping[str, tuple[Family, Posterior]]) -> BayesianModel:
    """The same model with other posteriors, each with the family that the site table names."""
    sites = tuple(
        replace(row, posterior=new[row.path][0].describe(), num_params=new[row.path][1].num_params)
        if row.path in new
        else row
        for row in bnn.sites
    )
    posteriors = bnn.posteriors | {path: posterior for path, (_, posterior) in new.items()}
    return replace(bnn, posteriors=posteriors, sites=sites)
