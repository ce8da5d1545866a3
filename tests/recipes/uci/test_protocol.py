import numpy as np

from plait.recipes.uci.protocol import SMALL, Protocol


def test_sizes_are_those_of_the_paper():
    protocol = Protocol()
    assert [protocol.batch_size(name) for name in SMALL] == [10, 10, 10, 100, 100, 100, 10, 10]
    assert (protocol.width("protein"), protocol.epochs_of("protein"), protocol.splits_of("protein")) == (100, 500, 5)
    assert (protocol.width("wine"), protocol.epochs_of("wine"), protocol.splits_of("wine")) == (50, 1000, 20)


def test_rates_fall_to_a_tenth_at_half_time():
    protocol = Protocol(curvature_every=10)
    for schedule, first in ((protocol.alpha(100), 0.01), (protocol.beta(100), 1 - 0.999**10)):
        np.testing.assert_allclose([schedule(0), schedule(49), schedule(50)], [first, first, first / 10], rtol=1e-5)
