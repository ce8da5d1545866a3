"""What is trained and how, in the autoencoders of paper 002 (MATH 4.3), as a value; and the data.

The paper gives widths, activation, data, Adam's learning rate, batch size, epochs, and the exponential annealing over
300 epochs but not its form. The patience of early stopping is that of the code which the paper follows (MATH 4.4).
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from plait import data
from plait.data import Dataset, Pair
from plait.likelihood import Bernoulli
from plait.model import BayesianModel, bayesianize
from plait.objective import Schedule, exponential_annealing
from plait.posterior import Point
from plait.recipes.vae.latent import Head, Latent
from plait.recipes.vae.network import Autoencoder

SHAPES = {9: (3, 3), 40: (20, 2)}
"""Of matrix-normal latents, by |z|."""
KEY = 0
"""Of the binarisation that stands in for the published one: fixed, so that all methods and seeds see the same data."""


@dataclass(frozen=True)
class Protocol:
    """The study."""

    title: str = "Autoencoders of static MNIST with structured latents"
    sizes: tuple[int, ...] = (9, 40)
    """|z|."""
    heads: tuple[Head, ...] = ("DIAG", "MN", "MV")
    widths: tuple[int, ...] = (300, 300, 300)
    """Of the encoder's layers, and from the last to the first of the decoder's."""
    learning_rate: float = 5e-4
    batch_size: int = 100
    epochs: int = 1000
    annealing: int = 300
    """Epochs in which the KL weight grows exponentially from `start` to 1."""
    start: float = 1e-3
    patience: int = 50
    """Epochs without a better -ELBO on the validation data, after the annealing."""
    num_samples: int = 5000
    """Of importance sampling, for each test image."""
    chunk: int = 50
    """Samples at once."""
    test_images: int | None = None
    """So many test images, spread evenly; None for all."""
    train_images: int | None = None
    """Likewise of training and validation images together."""

    @property
    def latents(self) -> tuple[Latent, ...]:
        """All that are compared."""
        return tuple(Latent(head, *SHAPES.get(size, (size, 1))) for size in self.sizes for head in self.heads)

    def build(self, images: tuple[int, ...], latent: Latent, seed: int) -> BayesianModel:
        """The network before training; its weights are constants."""
        key = jax.random.key(seed)
        network = Autoencoder(images, self.widths, latent, key=key)
        bnn = bayesianize(network, jnp.zeros((2, *images)), posterior=Point(), key=key)
        return bnn.with_likelihood(Bernoulli())

    def kl_schedule(self) -> Schedule:
        """Of the KL of latents."""
        return exponential_annealing(epochs=self.annealing, start=self.start)


class Static(NamedTuple):
    """Static MNIST."""

    dataset: Dataset
    source: str
    """Where its pixels are from, for the page."""


def load_static(data_dir: str | None = None) -> Static:
    """The published binarisation if it can be had, else one of our own."""
    try:
        dataset = data.load("binarized_mnist", data_dir)
    except OSError:
        plain = data.load("mnist", data_dir)
        return Static(
            _binarized(plain),
            "MNIST binarised here, each pixel drawn once with its grey level as probability, from a fixed key: the "
            "published static binarisation was not there, so likelihoods are comparable with the paper's only up to "
            "the draw. The last 10,000 training images are for validation.",
        )
    return Static(
        dataset,
        "Statically binarised MNIST as `plait.data` finds it (fixed Bernoulli draws, 50,000 / 10,000 / 10,000); "
        "whether it is byte for byte the file that the paper used could not be checked.",
    )


def _binarized(plain: Dataset) -> Dataset:
    assert plain.validation is not None
    parts = {}
    for name, pair in plain.parts().items():
        # A generator for each part: the draw does not depend on what else is loaded.
        uniform = np.random.default_rng((KEY, len(pair.x))).random(pair.x.shape)
        x = (uniform < pair.x).astype(np.float32)
        parts[name] = Pair(x, x)
    return replace(plain, name="binarised here", task="density", num_classes=None, class_names=(), **parts)


def spread(images: np.ndarray, count: int | None) -> np.ndarray:
    """So many of the images at even distances: test rows are sorted by digit."""
    return images if count is None else images[np.linspace(0, len(images) - 1, count).astype(int)]
