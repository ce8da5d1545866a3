"""The networks are the papers' ones: numbers of parameters, initial values, shapes."""

import dataclasses
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.data import Dataset, Pair
from plait.objective import linear_annealing, stepwise_annealing
from plait.prior import HeNormal, Normal
from plait.recipes.ktied import lenet, lstm, mlp, resnet
from plait.recipes.ktied.protocol import method_name

KEY = jax.random.key(0)


def pictures(shape, classes):
    pair = Pair(np.zeros((4, *shape), np.float32), np.zeros(4, np.int32))
    return Dataset("pictures", "classification", pair, pair, pair, num_classes=classes)


def reviews():
    pair = Pair(np.zeros((4, 80), np.int32), np.zeros((4, 1), np.float32))
    return Dataset("reviews", "binary", pair, pair, pair, vocabulary_size=20_000)


def built(protocol, dataset, rank):
    """Without its numbers."""
    return eqx.filter_eval_shape(protocol.build, dataset, rank, key=KEY)


@pytest.mark.parametrize(
    ("protocol", "dataset", "counts"),
    [
        (mlp.PROTOCOL, pictures((28, 28), 10), (956_820, 481_614, 484_008, 486_402)),
        (lenet.PROTOCOL, pictures((32, 32, 3), 100), (4_405_320, 2_262_188, 2_267_408, 2_272_628)),
        (lstm.PROTOCOL, reviews(), (2_822_785, 2_692_993, 2_694_273, 2_695_553)),
    ],
    ids=["mlp", "lenet", "lstm"],
)
def test_numbers_of_parameters_are_those_of_the_table(protocol, dataset, counts):
    assert [built(protocol, dataset, rank).num_params for rank in protocol.methods] == list(counts)


def test_the_appendix_reads_3_x_3_kernels():
    bnn = built(lenet.PROTOCOL_3X3, pictures((32, 32, 3), 100), None)
    assert bnn.num_params == 4_336_712


def test_the_resnet_is_that_of_the_example():
    dataset = pictures((32, 32, 3), 10)
    bnn = built(resnet.PROTOCOL_HE, dataset, None)
    random = [row for row in bnn.sites if row.posterior == "MeanField"]
    assert sum(math.prod(row.shape) for row in random) == 4_901_568
    # A stem, four blocks of two convolutions and a projection, a head.
    assert len(random) == 1 + 4 * 3 + 1
    assert {row.estimator for row in random} == {"flipout"}
    outputs = eqx.filter_eval_shape(lambda bnn, x: bnn(x, key=KEY), bnn, jnp.zeros((2, 32, 32, 3)))
    assert outputs.shape == (2, 10)
    tied = built(resnet.PROTOCOL_HE, dataset, 2)
    assert all(row.posterior == "Tied(2)" for row in tied.sites if row.path in {each.path for each in random})


def test_its_scales_start_at_softplus_of_minus_nine_under_a_cap():
    family = resnet.PROTOCOL.families(None)["conv"]
    assert family.init_scale == pytest.approx(1.234e-4, rel=1e-3)
    assert family.max_scale == pytest.approx(0.1823, rel=1e-3)
    assert family.transform == "softplus"
    assert isinstance(resnet.PROTOCOL_HE.prior(), HeNormal)
    assert resnet.PROTOCOL.prior() == Normal(1.0)


def test_batch_normalisation_that_is_never_updated_scales_and_shifts():
    x = jnp.ones((3, 2, 2))
    assert np.allclose(resnet.Scaling(3)(x), 1 / math.sqrt(1.001))


def test_a_small_resnet_maps_one_picture_to_its_outputs():
    network = resnet.network(pictures((32, 32, 3), 10), KEY, widths=(2, 2, 2, 2))
    assert network(jnp.zeros((32, 32, 3))).shape == (10,)


def test_the_forget_gate_starts_open():
    network = lstm.network(reviews(), KEY, widths=(3, 4))
    assert network.cell.bias.reshape(4, 4).tolist() == [[0] * 4, [1] * 4, [0] * 4, [0] * 4]


def test_lstm_weights_are_drawn_once_for_all_words():
    bnn = built(lstm.PROTOCOL, reviews(), 2)
    assert {row.path: row.posterior for row in bnn.sites if "Tied" in row.posterior} == {
        "cell.weight_ih": "Tied(2)",
        "cell.weight_hh": "Tied(2)",
    }
    assert {row.estimator for row in bnn.sites if "Tied" in row.posterior} == {"weights"}


def test_annealing_is_the_staircase_or_a_line_or_none():
    assert mlp.PROTOCOL.kl_schedule() == stepwise_annealing(5e-5)
    assert resnet.PROTOCOL.kl_schedule() == linear_annealing(epochs=50)
    assert dataclasses.replace(mlp.PROTOCOL, kl_coefficient=None).kl_schedule() == 1.0


def test_pixels_are_scaled_and_centred_as_asked_for():
    plain = mlp.SMALL.load()
    assert plain.train.x.min() == -1
    centred = dataclasses.replace(mlp.SMALL, centred=True).load()
    np.testing.assert_allclose(centred.train.x.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(
        plain.test.x - centred.test.x, plain.train.x.mean(axis=0)[None].repeat(360, 0), atol=1e-5
    )


def test_methods_are_named_as_in_the_tables():
    assert list(map(method_name, mlp.PROTOCOL.methods)) == ["full", "1", "2", "3"]
