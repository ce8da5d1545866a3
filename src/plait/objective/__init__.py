"""What training minimises."""

from plait.objective.elbo import Aux as Aux
from plait.objective.elbo import elbo as elbo
from plait.objective.optimizer import Optimizer as Optimizer
from plait.objective.optimizer import StepAux as StepAux
from plait.objective.reduction import negative_log_likelihood as negative_log_likelihood
from plait.objective.schedule import Schedule as Schedule
from plait.objective.schedule import constant as constant
from plait.objective.schedule import cyclic_annealing as cyclic_annealing
from plait.objective.schedule import exponential_annealing as exponential_annealing
from plait.objective.schedule import linear_annealing as linear_annealing
from plait.objective.schedule import stepwise_annealing as stepwise_annealing
