from typing import get_args

import jax
import jax.numpy as jnp
import pytest

from plait.recipes.networks import WIDTHS, NetworkName, build_network, widths_of

KEY = jax.random.key(0)


@pytest.mark.parametrize(
    ("name", "shape", "widths"),
    [("mlp", (5,), (3,)), ("mlp", (4, 4), ()), ("cnn", (8, 9), (2, 3, 4)), ("lenet", (4, 4, 3), (2, 3))],
)
def test_a_network_maps_one_input_to_its_outputs(name, shape, widths):
    network = build_network(name, shape, 7, widths=widths, key=KEY)
    assert network(jnp.zeros(shape)).shape == (7,)


def test_an_lstm_reads_words():
    network = build_network("lstm", (6,), 1, widths=(3, 4), vocabulary_size=11, key=KEY)
    assert network.embedding.weight.shape == (11, 3)
    assert network(jnp.arange(6)).shape == (1,)


def test_every_name_has_widths_of_its_own():
    assert set(WIDTHS) == set(get_args(NetworkName))
    network = build_network("mlp", (5,), 2, key=KEY)
    assert [layer.weight.shape for layer in network.layers] == [(100, 5), (100, 100), (2, 100)]


def test_weights_start_as_the_prior_of_he_expects_and_biases_at_zero():
    layer = build_network("mlp", (200,), 300, widths=(), key=KEY).layers[0]
    # 60,000 draws: the standard error of their deviation is 0.3 %.
    assert float(jnp.std(layer.weight)) == pytest.approx((2 / 200) ** 0.5, rel=0.012)
    assert not layer.bias.any()


def test_pooling_takes_the_largest_of_four():
    network = build_network("cnn", (2, 2), 1, widths=(1, 1), key=KEY)
    assert network.head.layers[0].weight.shape == (1, 1)


@pytest.mark.parametrize(
    ("name", "shape", "options", "message"),
    [
        ("mlp", (5,), {"widths": (0,)}, "must be at least 1"),
        ("mlp", (5,), {"vocabulary_size": 9}, "the network 'mlp' does not take words"),
        ("lstm", (5,), {}, r"'lstm' does not take numbers of shape \(5,\)"),
        ("lstm", (5,), {"vocabulary_size": 9, "widths": (3,)}, "`widths` of an lstm are two"),
        ("cnn", (5,), {}, r"takes pictures of at least 4 x 4 pixels, got inputs of shape \(5,\)"),
        ("cnn", (3, 8), {}, "pictures of at least 4 x 4"),
        ("cnn", (8, 8), {"widths": (3,)}, "with 0 convolutions"),
    ],
)
def test_inputs_that_a_network_cannot_take_are_refused(name, shape, options, message):
    with pytest.raises(ValueError, match=message):
        build_network(name, shape, 2, key=KEY, **options)


@pytest.mark.parametrize(("name", "widths"), [("mlp", (3, 5)), ("cnn", (2, 3, 4)), ("lstm", (3, 4))])
def test_widths_are_those_a_network_was_built_with(name, widths):
    words = {"vocabulary_size": 7} if name == "lstm" else {}
    shape = (4,) if name == "lstm" else (8, 8)
    made = build_network(name, shape, 2, widths=widths, key=jax.random.key(0), **words)
    assert widths_of(made) == widths


def test_widths_of_a_foreign_network_are_not_known():
    with pytest.raises(TypeError, match="is no network of `build_network`"):
        widths_of(object())
