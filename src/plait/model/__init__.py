"""The user's model with random weights, and its site table."""

from plait.model.bayesian_model import BayesianModel as BayesianModel
from plait.model.bayesianize import bayesianize as bayesianize
from plait.model.bayesianize import trainable as trainable
from plait.model.record import Recording as Recording
from plait.model.record import SiteRecord as SiteRecord
from plait.model.record import record as record
from plait.model.site_table import SiteRow as SiteRow
