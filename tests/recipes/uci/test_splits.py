import numpy as np

from plait.recipes.uci.splits import Splits


def test_each_split_is_standardised_by_its_own_training_part(data_dir):
    splits = Splits.load("yacht", 2, data_dir)
    assert (len(splits), splits.size, splits.test.y.shape) == (2, 36, (2, 4, 1))
    np.testing.assert_allclose(splits.train.x.mean(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(splits.train.y.std(axis=1), 1, rtol=1e-5)
    back = splits.standardizers[1].original_mean(splits.test.y[1])
    assert 5 < back.min() < back.max() < 15
    assert 1 < splits.target_std < 4
