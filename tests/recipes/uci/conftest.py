"""A set of 40 examples under the name of a UCI set, and a protocol of a few steps."""

import numpy as np
import pytest

from plait.recipes.uci.protocol import Protocol


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory):
    generator = np.random.default_rng(0)
    x = generator.normal(size=(40, 6))
    y = 10 + 3 * np.sin(x[:, 0]) + 0.1 * generator.normal(size=40)
    orders = np.stack([generator.permutation(40) for _ in range(3)])
    folder = tmp_path_factory.mktemp("data")
    (folder / "uci").mkdir()
    np.savez(folder / "uci" / "yacht.npz", x=x, y=y, train_index=orders[:, :36], test_index=orders[:, 36:])
    return str(folder)


@pytest.fixture
def protocol():
    return Protocol(
        sets=("yacht",),
        methods=("nng-mvg",),
        layers=(1,),
        splits=2,
        epochs=2,
        pbp_epochs=1,
        train_samples=2,
        test_samples=3,
        curvature_every=2,
        ensemble=2,
    )
