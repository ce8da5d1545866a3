"""Encoder and decoder: three ELU layers each, pixels of 0 and 1 in, logits of pixels out."""

import math

import equinox as eqx
import jax

from plait._typing import Array, PRNGKey
from plait.posterior.matrix_normal import MatrixNormalPosterior
from plait.recipes.networks import Perceptron
from plait.recipes.vae.latent import Latent


class Autoencoder(eqx.Module):
    """For one image; called without noise, it gives the reconstruction from the mean of q(z | x)."""

    encoder: Perceptron
    decoder: Perceptron
    latent: Latent = eqx.field(static=True)
    image: tuple[int, ...] = eqx.field(static=True)

    def __init__(self, image: tuple[int, ...], widths: tuple[int, ...], latent: Latent, *, key: PRNGKey):
        first, second = jax.random.split(key)
        pixels = math.prod(image)
        encoder = Perceptron((pixels, *widths, latent.num_outputs), "elu", key=first)
        # Close to the prior: a triangle of He's size would be a posterior far from it in all directions.
        self.encoder = eqx.tree_at(lambda e: e.layers[-1].weight, encoder, 0.1 * encoder.layers[-1].weight)
        self.decoder = Perceptron((latent.size, *reversed(widths), pixels), "elu", key=second)
        self.latent = latent
        self.image = image

    def encode(self, x: Array) -> MatrixNormalPosterior:
        """q(z | x)."""
        return self.latent.posterior(self.encoder(x))

    def decode(self, z: Array) -> Array:
        """Logits of the pixels."""
        return self.decoder(z).reshape(self.image)

    def __call__(self, x: Array) -> Array:
        return self.decode(self.encode(x).mean)
