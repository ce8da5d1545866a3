"""Active learning: which inputs to have labelled next, by what a model is not sure of."""

from plait.active.acquisition import Acquisition as Acquisition
from plait.active.acquisition import mutual_information as mutual_information
from plait.active.acquisition import predictive_variance as predictive_variance
from plait.active.acquisition import uniform as uniform
from plait.active.loop import Learner as Learner
from plait.active.pool import Pool as Pool
from plait.active.rounds import Round as Round
