"""Trees as arrays by name."""

import jax
import jax.numpy as jnp
import numpy as np

from plait.checkpoint.arrays import arrays_of, differences, key_kinds, kinds_of, numbers_of, shorten, with_arrays

TREE = {
    "a.b": (jnp.ones((2, 3)), 0.5),
    "key": jax.random.key(3),
    "text": "wide",
    "host": np.arange(2, dtype=np.int8),
    "none": None,
}


def test_a_name_is_the_path():
    arrays = arrays_of(TREE)
    assert kinds_of(arrays) == {"a.b/0": "float32[2,3]", "host": "int8[2]", "key": "uint32[2]"}
    assert numbers_of(TREE) == {"a.b/1": 0.5, "text": "wide"}
    assert key_kinds(TREE) == {"key": "threefry2x32"}


def test_other_arrays_take_the_places_of_the_first():
    arrays = {name: array + 1 for name, array in arrays_of(TREE).items()}
    changed = with_arrays(TREE, arrays)
    np.testing.assert_array_equal(changed["a.b"][0], 2)
    assert changed["a.b"][1] == 0.5
    assert changed["key"].dtype == TREE["key"].dtype
    np.testing.assert_array_equal(jax.random.key_data(changed["key"]), arrays["key"])


def test_differences_are_lines():
    assert differences({"a": 1, "b": 2}, {"b": 2}) == ["a: saved 1, wanted none"]
    assert differences({"a": 1}, {"a": 2, "c": None}) == ["a: saved 1, wanted 2", "c: saved none, wanted None"]
    assert shorten([str(i) for i in range(10)]).endswith("\n  7\n  ... and 2 more")
