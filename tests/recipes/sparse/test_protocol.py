import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.data import Dataset, Pair
from plait.recipes.sparse import conv, mlp
from plait.recipes.sparse.blocks import FASHION, VGG, Blocks
from plait.recipes.sparse.methods import POSTERIORS, PRIORS, Method

KEY = jax.random.key(0)


def weights(channels, shape):
    network = jax.eval_shape(lambda: Blocks(shape, channels, 10, key=KEY))
    kernels = [layer.weight for block in network.blocks for layer in block] + [network.head.weight]
    return network, sum(np.prod(kernel.shape) for kernel in kernels)


def test_the_networks_have_the_weights_that_the_tables_count():
    assert weights(VGG, (32, 32, 3))[1] == 62_270
    doubled, count = weights(conv.DOUBLED, (32, 32, 3))
    assert count == 246_940
    kernels = [layer.weight.shape for block in doubled.blocks for layer in block]
    # Table 2 counts 4,527 rows and 540 columns of the convolutions.
    assert sum(9 * shape[1] for shape in kernels) == 4_527
    assert sum(shape[0] for shape in kernels) == 540
    network, _ = weights(FASHION, (28, 28))
    assert network.head.weight.shape == (10, 80)


def test_blocks_map_pictures_to_classes():
    for shape, channels in (((8, 8, 3), ((2, 3), (4,))), ((4, 4), ((2,),))):
        found = jax.eval_shape(lambda x, shape=shape, c=channels: Blocks(shape, c, 5, key=KEY)(x), jnp.ones(shape))
        assert found.shape == (5,)


def test_every_method_has_a_folder_of_its_own():
    methods = [Method(posterior, sparsity) for posterior in POSTERIORS for sparsity in PRIORS]
    folders = {method.folder for method in methods}
    assert len(folders) == len(methods)
    assert Method("MN+Diag", "groups").folder == "mn-diag-groups"
    assert Method("Tied(2)", "rows").folder == "tied-2-rows"


def test_biases_are_constants_and_weights_have_the_posterior_of_the_method():
    dataset = mlp.SMALL.load()
    for posterior, name in (("MN", "MatrixNormal(cholesky, cholesky)"), ("plain", "Point")):
        bnn = mlp.SMALL.build(dataset, Method(posterior, "independent"), key=KEY)
        assert {row.posterior for row in bnn.sites if row.kind == "dense"} == {name}
        assert {row.posterior for row in bnn.sites if row.kind == "bias"} == {"Point"}


def test_pictures_are_turned_in_half_of_the_cases_and_every_pass_has_another_order():
    x = np.broadcast_to(np.arange(4.0, dtype=np.float32), (64, 4, 4))
    pair = Pair(x, np.arange(64, dtype=np.int32))
    dataset = Dataset("bars", "classification", pair, pair, pair, num_classes=64)
    protocol = dataclasses.replace(mlp.SMALL, batch_size=32, flips=True)
    first, again, second = ([*protocol.batches(dataset, 0)(number)] for number in (0, 0, 1))
    assert sorted(np.concatenate([y for _, y in first])) == list(range(64))
    turned = np.concatenate([pictures[:, 0, 0] for pictures, _ in first]) == 3
    assert 0.2 < turned.mean() < 0.8
    np.testing.assert_array_equal(first[0][0], again[0][0])
    assert not np.array_equal(first[0][1], second[0][1])


@pytest.mark.parametrize("experiment", [mlp.EXPERIMENT, conv.EXPERIMENT])
def test_protocols_have_names_of_their_own(experiment):
    names = [chapter.protocol.name for chapter in experiment.chapters]
    assert len(set(names)) == len(names)
