"""The evidence lower bound of an image and its log-likelihood by importance sampling.

    ELBO(x) = E_q[log p(x | z)] - KL(q(z | x) || p(z)),       p(z) = N(0, I), the KL in closed form
    LL(x)  >= log 1/S sum_s w_s,       w_s = p(x | z_s) p(z_s) / q(z_s | x),       z_s ~ q(z | x)

The samples of an image come in chunks whose sum of weights is carried along, so that memory does not depend on S; the
average of log w_s is another estimate of the ELBO, at no further cost.
"""

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._random import normal
from plait._typing import Array, PRNGKey, Scalar
from plait.likelihood import Bernoulli
from plait.prior import Normal
from plait.recipes.vae.latent import LOG_2_PI, draw
from plait.recipes.vae.network import Autoencoder

LIKELIHOOD = Bernoulli()
PRIOR = Normal(1.0)


def bounds(model: Autoencoder, x: Array, key: PRNGKey) -> tuple[Array, Array]:
    """-log p(x | z) for one z of each image, and the KL: [N] both."""
    posteriors = jax.vmap(model.encode)(x)
    noise = normal(key, posteriors.mean.shape, posteriors.mean.dtype)
    z, _ = jax.vmap(draw)(posteriors, noise)
    logits = jax.vmap(model.decode)(z)
    return -LIKELIHOOD.log_prob(logits, x), jax.vmap(lambda q: PRIOR.kl(q, key=None))(posteriors)


@eqx.filter_jit
def negative_elbo(model: Autoencoder, x: Array, key: PRNGKey, batch_size: int) -> Scalar:
    """The average over images, with one z of each; a batch at a time."""

    def batch(index: Array) -> Array:
        rows = index * batch_size + jnp.arange(batch_size)
        nll, kl = bounds(model, x[jnp.minimum(rows, len(x) - 1)], jax.random.fold_in(key, index))
        return jnp.sum(jnp.where(rows < len(x), nll + kl, 0))

    return jnp.sum(jax.lax.map(batch, jnp.arange(-(-len(x) // batch_size)))) / len(x)


@eqx.filter_jit
def importance(model: Autoencoder, x: Array, key: PRNGKey, num_samples: int, chunk: int) -> tuple[Array, Array]:
    """log 1/S sum_s w_s and 1/S sum_s log w_s of each image, [N] both. The chunks divide S."""
    if num_samples % chunk:
        raise ValueError(f"{num_samples} samples cannot be drawn in chunks of {chunk}: choose a divisor")
    posteriors = jax.vmap(model.encode)(x)

    def one(posterior, image: Array, noise: Array) -> Array:
        z, log_q = jax.vmap(lambda each: draw(posterior, each))(noise)
        log_prior = -0.5 * jnp.sum(jnp.square(z), axis=(1, 2)) - 0.5 * LOG_2_PI * posterior.mean.size
        logits = jax.vmap(model.decode)(z)
        return LIKELIHOOD.log_prob(logits[:, None], image[None])[:, 0] + log_prior - log_q  # [chunk]

    def add(total: tuple[Array, Array], index: Array) -> tuple[tuple[Array, Array], None]:
        shape = (len(x), chunk, *posteriors.mean.shape[1:])
        noise = normal(jax.random.fold_in(key, index), shape, posteriors.mean.dtype)
        log_weights = jax.vmap(one)(posteriors, x, noise)
        summed = jax.nn.logsumexp(log_weights, axis=1)
        return (jnp.logaddexp(total[0], summed), total[1] + jnp.sum(log_weights, axis=1)), None

    start = (jnp.full(len(x), -jnp.inf, x.dtype), jnp.zeros(len(x), x.dtype))
    (log_sum, total), _ = jax.lax.scan(add, start, jnp.arange(num_samples // chunk))
    return log_sum - jnp.log(jnp.asarray(num_samples, x.dtype)), total / num_samples
