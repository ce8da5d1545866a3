"""What training minimises."""

from plait.objective.elbo import Aux as Aux
from plait.objective.elbo import elbo as elbo
