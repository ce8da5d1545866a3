"""The precision along the axes of an eigenbasis is the diagonal of the Fisher matrix there."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import plait
from plait.natural.curvature import Look
from plait.natural.fisher import Passes
from plait.natural.prior import gaussian_priors


def whole(outputs: Any) -> Any:
    return outputs


def test_the_spectrum_is_the_diagonal_in_the_basis(key: jax.Array, make: Any, data: Any):
    bnn = make(key)
    (first, _), _ = plait.NoisyEKFAC().curvatures(bnn)
    priors = gaussian_priors(bnn)
    value, state = first.make(bnn), first.start(first.make(bnn), priors)
    passes = Passes(bnn, data, plait.Gaussian(0.3), whole)
    recording = passes.data(bnn.draw_weights(None), key)
    look = Look(recording, passes.examples, dict)
    for _ in range(2):
        # The second time in the basis that the first one found.
        value, state = first.absorb(value, state, first.summarise(look, value), priors, 24.0, 1.0)
        spectrum = np.exp(-2 * np.asarray(value.matrix.log_std))
        seen = recording.sites["w1"]
        each = jnp.einsum("ni,nj->nij", seen.rows(bias=True)[:, 0], seen.columns()[:, 0])
        turned = jax.vmap(value.matrix.to_basis)(each)
        np.testing.assert_allclose(spectrum, 1 + 24 * jnp.mean(jnp.square(turned), axis=0), rtol=2e-3)
        value, state = first.refresh(value, state, priors, 0.0)
