"""How inputs are cut into batches of one shape."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.predict.inputs import count_examples, rows_of, take


def test_the_last_batch_repeats_its_last_example():
    np.testing.assert_array_equal(rows_of(0, 4, 6), [0, 1, 2, 3])
    np.testing.assert_array_equal(rows_of(1, 4, 6), [4, 5, 5, 5])


def test_every_array_of_a_tree_is_cut_and_the_rest_is_shared(key):
    norm, state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(6, "batch", mode="batch")
    del norm
    inputs = ({"a": np.arange(6), "b": jnp.arange(12).reshape(6, 2)}, 3.0, jnp.asarray(2.0), state, key, None)
    assert count_examples(inputs) == 6
    x, number, scalar, same_state, same_key, nothing = take(inputs, np.asarray([4, 5, 5]))
    np.testing.assert_array_equal(x["a"], [4, 5, 5])
    np.testing.assert_array_equal(x["b"], [[8, 9], [10, 11], [10, 11]])
    assert (number, float(scalar), nothing) == (3.0, 2.0, None)
    assert same_state is state
    assert same_key is key
    assert isinstance(x["a"], jax.Array)


def test_no_examples_and_arrays_that_disagree_are_refused():
    with pytest.raises(ValueError, match="nothing to predict"):
        count_examples((np.zeros((0, 3)),))
    with pytest.raises(ValueError, match=r"the 6 examples of `x`.*\(5, 2\)"):
        count_examples((np.zeros((6, 2)), np.zeros((5, 2))))
    with pytest.raises(ValueError, match="a float without arrays"):
        count_examples((3.0,))
