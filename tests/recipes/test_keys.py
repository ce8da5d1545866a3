import jax
import numpy as np

from plait.recipes.keys import run_keys


def test_no_two_purposes_and_no_two_seeds_share_a_key():
    keys = [key for seed in (0, 1) for key in run_keys(seed)]
    assert len({tuple(np.asarray(jax.random.key_data(key)).tolist()) for key in keys}) == len(keys)
