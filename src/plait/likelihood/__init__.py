"""Densities of targets given a network's outputs. One file for each."""

from plait.likelihood.base import Likelihood as Likelihood
from plait.likelihood.bernoulli import Bernoulli as Bernoulli
from plait.likelihood.categorical import Categorical as Categorical
from plait.likelihood.gamma_gaussian import GammaGaussian as GammaGaussian
from plait.likelihood.gaussian import Gaussian as Gaussian
from plait.likelihood.poisson import Poisson as Poisson
