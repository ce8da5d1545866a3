"""LeNet on CIFAR-100: convolutions of 32 and 64 channels, dense layers of 512 and 100, pixels in [0, 1].

Everything is random, but only the dense layers are tied. The appendix says 3 x 3 kernels; the parameter counts of the
table need 5 x 5 (erratum E14). `PROTOCOL_3X3` is the other reading.
"""

import sys
from dataclasses import replace
from functools import partial
from typing import Any

from plait._typing import PRNGKey
from plait.data import Dataset
from plait.recipes.ktied.experiment import Experiment, main
from plait.recipes.ktied.protocol import Protocol, Start
from plait.recipes.ktied.targets import Targets, rows
from plait.recipes.networks import NetworkName, build_network


def network(dataset: Dataset, key: PRNGKey, *, name: NetworkName, widths: tuple[int, ...]) -> Any:
    """Two convolutions with pooling, two dense layers."""
    return build_network(name, dataset.input_shape, dataset.target_size, widths=widths, key=key)


PROTOCOL = Protocol(
    "CIFAR-100, LeNet with 5 x 5 kernels",
    "cifar100",
    partial(network, name="lenet", widths=(32, 64, 512)),
    tied=("dense",),
    full=("conv", "bias"),
    pixels="unit",
    starts=(Start(0.01, 1e-3),),
)
PROTOCOL_3X3 = replace(
    PROTOCOL,
    title="CIFAR-100, LeNet with 3 x 3 kernels",
    network=partial(network, name="cnn", widths=(32, 64, 512)),
)
SMALL = replace(
    PROTOCOL,
    title="Digits, LeNet of 4, 8 and 16: a small version that shows no more than that it runs",
    data="digits",
    network=partial(network, name="lenet", widths=(4, 8, 16)),
    batch_size=256,
    epochs=4,
    num_samples=4,
    ranks=(1, 2),
    signal_steps=(5, 10),
    seeds=1,
)

TARGETS = Targets(
    trained=rows(
        full="3.72 0.018 2.16 0.016 43.9 0.50",
        one="3.65 0.017 2.12 0.015 45.5 0.50",
        two="3.76 0.019 2.15 0.016 44.3 0.50",
        three="3.73 0.018 2.13 0.016 44.3 0.50",
    ),
    truncated=rows(
        full="3.83 0.020 2.23 0.017 42.1 0.49",
        one="4.33 0.021 2.30 0.016 41.7 0.49",
        two="3.88 0.020 2.24 0.017 42.2 0.49",
        three="3.86 0.020 2.24 0.017 42.1 0.49",
    ),
)


EXPERIMENT = Experiment("ktied-lenet", "lenet", PROTOCOL, SMALL, TARGETS)
reproduce = EXPERIMENT.reproduce


if __name__ == "__main__":
    sys.exit(main(EXPERIMENT))
