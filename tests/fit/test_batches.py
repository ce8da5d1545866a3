"""Which examples make up which batch."""

import jax
import numpy as np

from plait.fit.batches import cut_batch, epoch_order, stream


def test_an_epoch_is_a_permutation_of_its_own(key):
    orders = [np.asarray(epoch_order(key, epoch, 50)) for epoch in (0, 1, 0)]
    np.testing.assert_array_equal(np.sort(orders[0]), np.arange(50))
    np.testing.assert_array_equal(orders[0], orders[2])
    assert not np.array_equal(orders[0], orders[1])


def test_the_batches_of_an_epoch_are_disjoint(key):
    data = {"x": np.arange(50)[:, None] * np.ones((1, 2)), "y": np.arange(50)}
    order = epoch_order(key, 0, 50)
    data = jax.tree.map(jax.numpy.asarray, data)
    batches = [cut_batch(data, order, position, 12) for position in range(4)]
    seen = np.concatenate([batch["y"] for batch in batches])
    assert len(set(seen.tolist())) == 48
    np.testing.assert_array_equal(batches[2]["x"][:, 1], batches[2]["y"])


def test_a_stream_goes_on_where_it_is_asked_to():
    batches = stream([1, 2, 3], 4)
    assert [next(batches) for _ in range(4)] == [2, 3, 1, 2]
    assert list(stream(iter([1, 2, 3]), 2)) == [3]
    passes = stream(lambda epoch: [10 * epoch, 10 * epoch + 1], 1)
    assert [next(passes) for _ in range(4)] == [1, 10, 11, 20]
