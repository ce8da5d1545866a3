"""Synthetic records: a risk that can be read off them."""

import numpy as np

from plait.recipes.rank1.events import KINDS, LENGTH, VOCABULARY, load


def test_records_are_tokens_that_tell_of_the_outcome():
    dataset = load(400, 100)
    x, y = dataset.train
    assert x.shape == (400, LENGTH)
    assert x.min() == 0
    assert KINDS < x.max() < VOCABULARY == dataset.vocabulary_size
    assert 0.3 < y.mean() < 0.7
    # More events of higher kinds go with the outcome; where there were few, records are filled up with zeros in front.
    severe = np.where(x <= KINDS, x, 0)[:, -12:].mean(axis=1)
    assert severe[y[:, 0] == 1].mean() > severe[y[:, 0] == 0].mean() + 0.5
    assert np.all(np.diff((x > 0).astype(int), axis=1) >= 0)
    assert np.array_equal(load(400, 100).test.x, dataset.test.x)
