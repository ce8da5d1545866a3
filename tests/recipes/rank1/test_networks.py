"""The papers' networks have the papers' sizes; counted, not trained."""

import jax
import pytest

from plait.recipes.rank1.networks import ResNet50, WideResNet
from plait.recipes.rank1.synthetic import Options, look


def test_a_rank_one_wide_resnet_has_the_papers_parameters():
    # 36.6 M, at most 1.02 times the 36.5 M of one network.
    ((_, count, ratio, _, _),) = look(Options("cifar10", only=("batch ensemble",))).rows
    assert int(count.replace(",", "")) == pytest.approx(36.6e6, rel=0.002)
    assert int(count.replace(",", "")) / float(ratio) == pytest.approx(36.5e6, rel=0.002)
    assert float(ratio) < 1.02


def test_resnet_50_has_its_parameters():
    network = jax.eval_shape(lambda key: ResNet50(1000, key=key), jax.random.key(0))
    trained = sum(
        leaf.size
        for path, leaf in jax.tree_util.tree_leaves_with_path(network)
        if "stored" not in jax.tree_util.keystr(path)
    )
    assert trained == 25_557_032


def test_a_depth_that_makes_no_blocks_is_refused():
    with pytest.raises(ValueError, match=r"a depth of 6 n . 4 and a width of at least 1, got 12 and 1"):
        WideResNet(12, 1, 3, 10, key=jax.random.key(0))
