"""Predictions as distributions, and how good they are, in memory that does not grow with the weight samples."""

from plait.predict.detection import OutOfDistribution as OutOfDistribution
from plait.predict.detection import out_of_distribution as out_of_distribution
from plait.predict.evaluating import evaluate as evaluate
from plait.predict.evaluation import Evaluation as Evaluation
from plait.predict.predicting import predict as predict
from plait.predict.predictive import Predictive as Predictive
from plait.predict.predictive import TargetScale as TargetScale
