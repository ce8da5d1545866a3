"""What happens when a random weight meets an activation."""

from plait.estimator.base import Estimator as Estimator
from plait.estimator.base import use_draw as use_draw
from plait.estimator.flipout import Flipout
from plait.estimator.local import Local
from plait.estimator.mean import Mean
from plait.estimator.per_example import PerExample
from plait.estimator.weights import Weights

ESTIMATORS: dict[str, Estimator] = {
    estimator.name: estimator for estimator in (Mean(), Weights(), Local(), Flipout(), PerExample())
}
"""Every estimator by the name that `estimator=` takes."""
