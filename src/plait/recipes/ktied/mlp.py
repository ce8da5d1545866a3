"""784-400-400-10 on MNIST: kernels and biases random, pixels in [-1, 1]; biases keep a mean field under every rank.

plait reproduce ktied        or, cut short,        python -m plait.recipes.ktied.mlp --epochs 30 --seeds 1
"""

import sys
from dataclasses import replace
from functools import partial
from typing import Any

from plait._typing import PRNGKey
from plait.data import Dataset
from plait.recipes.ktied.experiment import Experiment, main
from plait.recipes.ktied.protocol import Protocol
from plait.recipes.ktied.targets import Targets, by_step, rows
from plait.recipes.networks import build_network


def network(dataset: Dataset, key: PRNGKey, *, widths: tuple[int, ...]) -> Any:
    """ReLU layers; means start as He's, biases at zero."""
    return build_network("mlp", dataset.input_shape, dataset.target_size, widths=widths, key=key)


PROTOCOL = Protocol(
    "MNIST, MLP 784-400-400-10",
    "mnist",
    partial(network, widths=(400, 400)),
    tied=("dense",),
    full=("bias",),
    pixels="symmetric",
    signal_weight="layers.1.weight",
)
SMALL = replace(
    PROTOCOL,
    title="Digits, MLP 64-16-16-10: a small version that shows no more than that it runs",
    data="digits",
    network=partial(network, widths=(16, 16)),
    batch_size=256,
    epochs=10,
    num_samples=10,
    starts=PROTOCOL.starts[1:],
    signal_steps=(15, 30, 45),
    seeds=2,
)

TARGETS = Targets(
    trained=rows(
        full="0.501 0.0061 0.133 0.0040 96.8 0.18",
        one="0.539 0.0063 0.155 0.0043 96.1 0.19",
        two="0.520 0.0063 0.129 0.0039 96.8 0.18",
        three="0.497 0.0060 0.120 0.0038 96.9 0.18",
    ),
    truncated=rows(
        full="0.431 0.0057 0.100 0.0034 97.6 0.15",
        one="3.41 0.019 0.677 0.0040 93.6 0.25",
        two="0.456 0.0059 0.107 0.0033 97.6 0.15",
        three="0.450 0.0059 0.106 0.0033 97.6 0.15",
    ),
    converging=by_step(
        full="42.16 26.52 15.39", one="43.11 14.85 2.06", two="42.74 13.97 1.82", three="42.63 13.61 1.80"
    ),
    signal=by_step(full="4.13 4.45 3.21", one="5840 158 5.3", two="7500 140 4.3", three="7000 117 4.1"),
)

EXPERIMENT = Experiment("ktied", "mlp", PROTOCOL, SMALL, TARGETS)
reproduce = EXPERIMENT.reproduce


if __name__ == "__main__":
    sys.exit(main(EXPERIMENT))
