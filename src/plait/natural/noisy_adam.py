"""Noisy Adam: natural gradient with a precision for each entry (paper 004, algorithm 1, as MATH 3.8 corrects it).

    mu <- mu + alpha m^ / (f + gamma),     q(w) = N(mu, lambda / N / (f + gamma)),     gamma = lambda P / N

The print divides by the square root, as Adam does; that is no natural-gradient step, though its fixed point is the
same. `root=True` is the print.
"""

import equinox as eqx

from plait.model import BayesianModel
from plait.natural.curvature import Curvature
from plait.natural.diagonal import SQUARES, DiagonalCurvature, Squares
from plait.natural.fisher import Fisher
from plait.natural.method import NaturalGradient
from plait.natural.prior import gaussian_priors


class NoisyAdam(NaturalGradient):
    """Natural gradient with independent entries; the posterior is mean field.

    `squares="per_example"` averages the squared gradients of examples; "minibatch" squares their average, which is
    cheaper where several places share a weight and smaller by about the batch size (Khan et al. 2018, Vadam).
    """

    squares: Squares = eqx.field(static=True, default="per_example")
    root: bool = eqx.field(static=True, default=False)
    fisher: Fisher = eqx.field(static=True, default="empirical")
    statistics_every: int = eqx.field(static=True, default=10)
    inverse_every: int = eqx.field(static=True, default=1)

    def __check_init__(self):
        if self.squares not in SQUARES:
            raise ValueError(f"`squares` must be one of {', '.join(map(repr, SQUARES))}, got {self.squares!r}")

    def curvatures(self, bnn: BayesianModel) -> tuple[tuple[Curvature, ...], dict[str, str]]:
        paths = tuple(gaussian_priors(bnn))
        return (DiagonalCurvature.over(bnn, paths, squares=self.squares, root=self.root),), {}
