"""Standard deviations of a mean field, and their logarithms at the ends of the range."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.posterior.mean_field import MeanFieldPosterior
from plait.site.layout import Layout


def posterior(rho: list[float], transform: str, max_scale: float | None = None) -> MeanFieldPosterior:
    values = jnp.asarray(rho)
    return MeanFieldPosterior(jnp.zeros(len(rho)), values, Layout.vector(values.shape), transform, max_scale)


@pytest.mark.parametrize("transform", ["exp", "softplus"])
@pytest.mark.parametrize("max_scale", [None, 0.5])
def test_log_std_is_the_logarithm_of_std_where_that_does_not_underflow(transform, max_scale):
    each = posterior([-60.0, -21.0, -19.0, -3.0, 0.0, 2.0], transform, max_scale)
    np.testing.assert_allclose(each.log_std, jnp.log(each.std), rtol=1e-5)


@pytest.mark.parametrize("transform", ["exp", "softplus"])
@pytest.mark.parametrize("max_scale", [None, 0.5])
def test_log_std_and_its_gradient_are_those_of_rho_where_std_underflows(transform, max_scale):
    each = posterior([-300.0], transform, max_scale)
    assert float(each.log_std[0]) == -300
    gradient = jax.grad(lambda rho: posterior_log_std(rho, transform, max_scale))(jnp.asarray(-300.0))
    assert float(gradient) == 1


def posterior_log_std(rho: jax.Array, transform: str, max_scale: float | None) -> jax.Array:
    rho = rho[None]
    return MeanFieldPosterior(jnp.zeros(1), rho, Layout.vector((1,)), transform, max_scale).log_std[0]
