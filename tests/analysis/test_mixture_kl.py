"""The KL of the mixture: between the mean over components and that less log K; all layers are one component."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.analysis import mixture_kl


def build(key: jax.Array, *, posterior: object) -> plait.BayesianModel:
    params = {"first": jnp.ones((6, 5)), "last": jnp.ones((5, 2)), "b": jnp.zeros(2)}

    def forward(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        return x @ params["first"] @ params["last"] + params["b"][None]

    prior = {"b": plait.Normal(1.0), "dense": plait.Normal(0.1, mean=1.0)}
    posterior = {"dense": posterior, "b": plait.MeanField()}
    prior = prior if isinstance(posterior["dense"], plait.RankOne) else None
    return plait.bayesianize(params, jnp.ones((2, 6)), apply=forward, posterior=posterior, prior=prior, key=key)


def test_components_that_lie_apart_gain_log_k_once_for_all_layers(key: jax.Array):
    # A mixture for each layer, or for each entry, would gain it more often.
    bnn = build(key, posterior=plait.RankOne(2, random_sign_init=0.5))
    found = mixture_kl(bnn, key=key, num_samples=200)
    assert abs(found.value - (float(bnn.kl()) - np.log(2))) < 6 * found.standard_error + 1e-4 * float(bnn.kl())


@pytest.mark.usefixtures("unchecked")
def test_what_makes_no_sense_is_refused(key: jax.Array):
    with pytest.raises(ValueError, match="this one has none: its KL is `bnn"):
        mixture_kl(build(key, posterior=plait.MeanField()), key=key)
    with pytest.raises(ValueError, match="`num_samples` must be at least 2"):
        mixture_kl(build(key, posterior=plait.RankOne(2)), key=key, num_samples=1)
