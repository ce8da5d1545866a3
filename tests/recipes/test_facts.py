import json

import numpy as np
import pytest

from plait import data
from plait.recipes.facts import Facts


@pytest.fixture
def digits():
    return Facts.of(data.load("digits"), "digits")


@pytest.fixture
def diabetes():
    return Facts.of(data.load("diabetes", standardize=True), "diabetes")


def test_facts_survive_json(digits, diabetes):
    for facts in (digits, diabetes):
        again = Facts.from_dict(json.loads(json.dumps(facts.to_dict())))
        assert again.to_dict() == facts.to_dict()
        assert again.input_shape == facts.input_shape


def test_inputs_in_the_units_of_the_data_become_those_of_the_network(diabetes):
    raw, scaled = data.load("diabetes"), data.load("diabetes", standardize=True)
    np.testing.assert_allclose(diabetes.prepare(raw.test.x, "x"), scaled.test.x, rtol=1e-4, atol=1e-4)
    assert diabetes.target_scale is diabetes.standardizer


def test_flat_pictures_are_given_their_shape(digits):
    assert digits.prepare(np.zeros((3, 64)), "x").shape == (3, 8, 8)
    assert digits.prepare(np.zeros((3, 8, 8)), "x").dtype == np.float32


def test_example_inputs_have_the_shape_and_type(digits):
    assert digits.example_inputs().shape == (2, 8, 8)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.full((2, 64), np.nan), "in.npz: x has 128 values that are NaN"),
        (np.zeros((2, 63)), r"inputs have the shape \(63,\), but the network takes \(8, 8\), as in digits"),
        (np.zeros((0, 64)), "in.npz: no examples"),
        (np.full((2, 64), 16), r"pixels must lie in \[0, 1\] as they did in training, got 16 to 16"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(digits, x, message):
    with pytest.raises(ValueError, match=message):
        digits.prepare(x, "in.npz")


def test_words_outside_the_vocabulary_are_refused(digits):
    values = digits.to_dict() | {"vocabulary_size": 10, "input_shape": [5], "pictures": False}
    words = Facts.from_dict(values)
    assert words.prepare(np.ones((2, 5), int), "x").dtype == np.int32
    assert words.example_inputs().dtype == np.int32
    for wrong in (np.full((2, 5), 10), np.ones((2, 5))):
        with pytest.raises(ValueError, match=r"inputs must be word ids in 0\.\.9"):
            words.prepare(wrong, "x")


def test_a_file_with_the_name_of_a_set_is_not_that_set():
    assert not Facts.of(data.load("digits"), "/somewhere/digits.npz").pictures
