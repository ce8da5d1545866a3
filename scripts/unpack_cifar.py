"""Unpack the losslessly packed CIFAR files of a development machine into plain npz files that plait finds.

    .venv/bin/python scripts/unpack_cifar.py [--source ../shared/data/cifar] [cifar10] [cifar100]

Reads `cifar10.npz`, `cifar100.npz` and, where it is there, `cifar100_train_b.npz` with the `cifar_codec.py` beside
them, and writes x_train, y_train, x_test and y_test into plait's cache. Takes about a minute a set. The package itself
reads public formats only; this is for machines that hold the packed files.
"""

import argparse
import os
import sys
from pathlib import Path

import numpy as np

from plait.data import cache_dir

SETS = ("cifar10", "cifar100")
SHARED = Path(__file__).parents[2] / "shared" / "data" / "cifar"


def unpack(source: Path, name: str, folder: Path) -> Path:
    sys.path.insert(0, str(source))
    from cifar_codec import load

    x_train, y_train, x_test, y_test = load(source / f"{name}.npz", more=sorted(source.glob(f"{name}_train_*.npz")))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.npz"
    # Under another name until it is whole.
    partial = folder / f".{name}.{os.getpid()}.npz"
    try:
        np.savez(partial, x_train=x_train, y_train=y_train, x_test=x_test, y_test=y_test)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    print(f"{path}: {len(x_train):,} training and {len(x_test):,} test images")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", help=f"which to unpack, of {' and '.join(SETS)}; both if none")
    parser.add_argument("--source", type=Path, default=SHARED, help="the folder with the packed files and their codec")
    parser.add_argument("--output", type=Path, help="the folder to write to; plait's cache if not given")
    options = parser.parse_args()
    foreign = set(options.sets) - set(SETS)
    if foreign:
        parser.error(f"there are {' and '.join(SETS)}, not {', '.join(sorted(foreign))}")
    asked = options.sets or list(SETS)
    wanted = [name for name in asked if (options.source / f"{name}.npz").is_file()]
    if not wanted or not (options.source / "cifar_codec.py").is_file():
        parser.error(f"{options.source} holds no cifar_codec.py with {' or '.join(asked)}")
    for name in wanted:
        unpack(options.source, name, options.output or cache_dir())


if __name__ == "__main__":
    main()
