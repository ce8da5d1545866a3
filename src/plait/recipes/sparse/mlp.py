"""784-300-300-300-10 with ELU on MNIST and Fashion-MNIST (paper 002, section 5.1, figures 1 and 2).

plait reproduce matrix-normal      or, cut short,      python -m plait.recipes.sparse.mlp --epochs 20 --only mnist
"""

import sys
from dataclasses import replace
from functools import partial
from typing import Any

from plait._typing import PRNGKey
from plait.data import Dataset
from plait.recipes.networks import build_network
from plait.recipes.sparse.experiment import Experiment, main
from plait.recipes.sparse.protocol import Protocol
from plait.recipes.sparse.study import Chapter
from plait.recipes.sparse.targets import Targets


def network(dataset: Dataset, key: PRNGKey, *, widths: tuple[int, ...]) -> Any:
    """Dense layers with ELU between them."""
    return build_network("mlp", dataset.input_shape, dataset.target_size, widths=widths, activation="elu", key=key)


MNIST = Protocol(
    "mnist",
    "MNIST, MLP of 3 x 300",
    "mnist",
    partial(network, widths=(300, 300, 300)),
    # The first without sparsity: how good the posteriors are by themselves.
    sparsities=("none", "independent", "groups", "rows", "columns"),
)
FASHION = replace(MNIST, name="fashion-mnist", title="Fashion-MNIST, MLP of 3 x 300", data="fashion_mnist")
SMALL = replace(
    MNIST,
    name="digits",
    title="Digits, MLP of 2 x 16: a small version that shows no more than that it runs",
    data="digits",
    network=partial(network, widths=(16, 16)),
    posteriors=("DIAG", "MN"),
    sparsities=("groups",),
    epochs=40,
    batch_size=128,
    fine_tune=1,
    num_samples=4,
)
SAID = Targets(said=("matrix normal has better test accuracy and better compression than diagonal (figures only).",))

EXPERIMENT = Experiment(
    "matrix-normal",
    "mlp",
    "Matrix-normal sparse learning: MLPs",
    (Chapter(MNIST, SAID), Chapter(FASHION, SAID)),
    (Chapter(SMALL),),
)
reproduce = EXPERIMENT.reproduce


if __name__ == "__main__":
    sys.exit(main(EXPERIMENT))
