"""Training: `fit`, its optimizers, and what a run leaves behind."""

from plait.fit.early_stopping import EarlyStopping as EarlyStopping
from plait.fit.factor_gradients import l2_on_points as l2_on_points
from plait.fit.factor_gradients import scale_factor_gradients as scale_factor_gradients
from plait.fit.gradient import Gradient as Gradient
from plait.fit.history import History as History
from plait.fit.non_finite import NonFiniteLoss as NonFiniteLoss
from plait.fit.record import Record as Record
from plait.fit.result import Fit as Fit
from plait.fit.training import fit as fit
from plait.objective.optimizer import Optimizer as Optimizer
from plait.objective.optimizer import StepAux as StepAux
