"""Ties on convolutions as well as on dense layers, trained and not only truncated: the LeNet on CIFAR-100 again.

The papers tie its dense layers only, so theirs are numbers to compare with, not to reproduce: the mean field is the
same, and the ties have fewer numbers yet.
"""

import sys
from dataclasses import replace

from plait.recipes.ktied import lenet
from plait.recipes.ktied.experiment import Experiment, main

PROTOCOL = replace(
    lenet.PROTOCOL, title=f"{lenet.PROTOCOL.title}, everything tied", tied=("dense", "conv"), full=("bias",)
)
SMALL = replace(lenet.SMALL, title=f"{lenet.SMALL.title}, everything tied", tied=("dense", "conv"), full=("bias",))

EXPERIMENT = Experiment("ktied-convolutions", "convolutions", PROTOCOL, SMALL, lenet.TARGETS)
reproduce = EXPERIMENT.reproduce


if __name__ == "__main__":
    sys.exit(main(EXPERIMENT))
