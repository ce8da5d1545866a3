"""How good predictions are, from probabilities and arrays, in double precision on the host.

A metric that is an average has its per-example terms under the name `*_terms`; `Estimate.of_mean(terms)` is the value
with its standard error over examples.
"""

from plait.metrics.classification import accuracy as accuracy
from plait.metrics.classification import accuracy_terms as accuracy_terms
from plait.metrics.classification import brier_score as brier_score
from plait.metrics.classification import brier_terms as brier_terms
from plait.metrics.classification import entropy as entropy
from plait.metrics.classification import mutual_information as mutual_information
from plait.metrics.classification import negative_log_likelihood as negative_log_likelihood
from plait.metrics.classification import negative_log_likelihood_terms as negative_log_likelihood_terms
from plait.metrics.classification import two_columns as two_columns
from plait.metrics.estimate import Estimate as Estimate
from plait.metrics.out_of_distribution import auroc as auroc
from plait.metrics.out_of_distribution import auroc_estimate as auroc_estimate
from plait.metrics.out_of_distribution import fpr_at_95_tpr as fpr_at_95_tpr
from plait.metrics.regression import coverage as coverage
from plait.metrics.regression import gaussian_log_likelihood as gaussian_log_likelihood
from plait.metrics.regression import gaussian_log_likelihood_terms as gaussian_log_likelihood_terms
from plait.metrics.regression import log_mean_exp as log_mean_exp
from plait.metrics.regression import quantile_coverage as quantile_coverage
from plait.metrics.regression import rmse as rmse
from plait.metrics.regression import rmse_estimate as rmse_estimate
from plait.metrics.regression import squared_error_terms as squared_error_terms
from plait.metrics.reliability import ReliabilityCurve as ReliabilityCurve
from plait.metrics.reliability import expected_calibration_error as expected_calibration_error
from plait.metrics.reliability import expected_calibration_error_estimate as expected_calibration_error_estimate
from plait.metrics.reliability import reliability_curve as reliability_curve
