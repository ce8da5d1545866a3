"""U = diag(exp(2 l))."""

import jax.numpy as jnp
import numpy as np

from plait.linalg.diagonal import DiagonalFactor


def test_the_parameters_are_logarithms_of_standard_deviations():
    factor = DiagonalFactor(jnp.log(jnp.array([0.5, 2.0])))
    np.testing.assert_allclose(factor.matrix(), np.diag([0.5, 2.0]))
    np.testing.assert_allclose(factor.diagonal(), [0.25, 4.0])


def test_extreme_scales_solve_what_they_multiply():
    factor = DiagonalFactor(jnp.array([-80.0, 80.0]))
    vectors = jnp.array([[1.0, 1.0]])
    np.testing.assert_allclose(factor.solve(factor.times(vectors)), vectors, rtol=1e-5)
