"""An LSTM on IMDB: embedding of 20,000 words in 128, state of 128, one logit; reviews of 80 words.

Kernel and recurrent kernel are random and tied; embedding, biases and head are constants. Weights inside a scan are
drawn once for the whole batch, and reused over all words, as in the papers. The bias of the forget gate starts at 1.
"""

import sys
from dataclasses import replace
from functools import partial
from typing import Any

import equinox as eqx

from plait._typing import PRNGKey
from plait.data import Dataset
from plait.recipes.ktied.experiment import Experiment, main
from plait.recipes.ktied.protocol import Protocol, Start
from plait.recipes.ktied.targets import Targets, rows
from plait.recipes.networks import build_network


def network(dataset: Dataset, key: PRNGKey, *, widths: tuple[int, int]) -> Any:
    """The recurrent network by name, with Keras's `unit_forget_bias`."""
    made = build_network(
        "lstm",
        dataset.input_shape,
        dataset.target_size,
        widths=widths,
        vocabulary_size=dataset.vocabulary_size,
        key=key,
    )
    size = widths[1]
    # The gates of Equinox's cell are input, forget, cell, output.
    bias = (0 * made.cell.bias).at[size : 2 * size].set(1)
    return eqx.tree_at(lambda each: each.cell.bias, made, bias)


PROTOCOL = Protocol(
    "IMDB, LSTM of 128",
    "imdb",
    partial(network, widths=(128, 128)),
    tied=("cell.weight_ih", "cell.weight_hh"),
    batch_size=128,
    starts=(Start(0.01, 1e-3),),
)
SMALL = replace(
    PROTOCOL,
    title="IMDB, LSTM of 4 for one epoch: a small version that shows no more than that it runs",
    network=partial(network, widths=(4, 4)),
    batch_size=1024,
    epochs=1,
    num_samples=2,
    ranks=(1,),
    signal_steps=(5, 10),
    seeds=1,
)

TARGETS = Targets(
    trained=rows(
        full="0.538 0.0054 0.478 0.0052 79.5 0.26",
        one="0.592 0.0041 0.512 0.0040 77.6 0.26",
        two="0.560 0.0042 0.484 0.0041 78.2 0.26",
        three="0.550 0.0051 0.491 0.0050 78.8 0.26",
    ),
    truncated=rows(
        full="0.536 0.0058 0.493 0.0057 80.1 0.25",
        one="0.687 0.0058 0.491 0.0056 80.0 0.25",
        two="0.621 0.0058 0.494 0.0057 80.1 0.25",
        three="0.595 0.0058 0.493 0.0056 80.1 0.25",
    ),
)


EXPERIMENT = Experiment("ktied-lstm", "lstm", PROTOCOL, SMALL, TARGETS)
reproduce = EXPERIMENT.reproduce


if __name__ == "__main__":
    sys.exit(main(EXPERIMENT))
