"""Convolutional networks: Fashion-MNIST (paper 002, figure 3), and VGG-like ones on CIFAR-10 (figures 4 and 5, tables
1 and 2). The factors of the 360 rows of a convolution make a step of these networks some 15 times a plain one: on a few
cores only part of the training can be had, which the page says.

plait reproduce matrix-normal-conv
python -m plait.recipes.sparse.conv --only fashion-cnn --sparsities independent --epochs 10
"""

import sys
from dataclasses import replace
from functools import partial
from typing import Any

from plait._typing import PRNGKey
from plait.data import Dataset
from plait.recipes.sparse.blocks import FASHION, VGG, Blocks
from plait.recipes.sparse.experiment import Experiment, main
from plait.recipes.sparse.protocol import Protocol
from plait.recipes.sparse.study import Chapter
from plait.recipes.sparse.targets import TABLE_1, TABLE_2, Targets


def network(dataset: Dataset, key: PRNGKey, *, channels: tuple[tuple[int, ...], ...]) -> Any:
    """Blocks of convolutions for pictures of the data set."""
    return Blocks(dataset.input_shape, channels, dataset.target_size, key=key)


DOUBLED = tuple(tuple(2 * width for width in block) for block in VGG)

FASHION_CNN = Protocol(
    "fashion-cnn",
    "Fashion-MNIST, convolutions of 10, 20, 40 and 80",
    "fashion_mnist",
    partial(network, channels=FASHION),
    batch_size=256,
    learning_rate=3e-3,
)
VGG_PLAIN = Protocol(
    "vgg",
    "CIFAR-10, VGG-like, one learned prior variance",
    "cifar10",
    partial(network, channels=VGG),
    posteriors=("DIAG", "MN"),
    sparsities=("none",),
    epochs=200,
    batch_size=128,
    learning_rate=2e-3,
)
VGG_GROUPS = replace(
    VGG_PLAIN,
    name="vgg-groups",
    title="CIFAR-10, VGG-like, group sparsity",
    posteriors=("DIAG", "MN", "MN+Diag"),
    sparsities=("groups",),
    flips=True,
)
VGG_X4 = replace(
    VGG_GROUPS,
    name="vgg-x4",
    title="CIFAR-10, VGG-like with doubled channels (x4 weights), group sparsity",
    network=partial(network, channels=DOUBLED),
    posteriors=("MN",),
)
SMALL = replace(
    FASHION_CNN,
    name="digits",
    title="Digits, convolutions of 4 and 6: a small version that shows no more than that it runs",
    data="digits",
    network=partial(network, channels=((4,), (6,))),
    posteriors=("DIAG", "MN"),
    sparsities=("groups",),
    epochs=2,
    batch_size=256,
    fine_tune=0,
    num_samples=2,
    flips=True,
)

EXPERIMENT = Experiment(
    "matrix-normal-conv",
    "conv",
    "Matrix-normal sparse learning: convolutional networks",
    (
        Chapter(FASHION_CNN, Targets(said=("the same improvements as with the MLPs (figure 3 only).",))),
        Chapter(
            VGG_PLAIN,
            Targets(said=("a large difference in ELBO, almost 2 points of test accuracy for matrix normal.",)),
        ),
        Chapter(
            VGG_GROUPS,
            Targets(TABLE_1, said=("about 1 point of test accuracy between diagonal and both matrix normals.",)),
        ),
        Chapter(VGG_X4, Targets(by_rule=TABLE_2, said=("87.1 % test accuracy; DIAG could not be trained.",))),
    ),
    (Chapter(SMALL),),
)
reproduce = EXPERIMENT.reproduce


if __name__ == "__main__":
    sys.exit(main(EXPERIMENT))
