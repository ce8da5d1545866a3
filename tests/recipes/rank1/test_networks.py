"""The papers' networks have the papers' sizes; counted, not trained."""

import jax
import pytest

from plait.recipes.rank1.networks import ResNet50, WideResNet
from plait.recipes.rank1.synthetic import Options, look


def test_the_wide_resnet_has_its_parameters():
    # 36.5 M, and a rank-1 mixture of four at most 1.02 times as many.
    table = look(Options("cifar10", only=("deterministic", "batch ensemble", "rank-1 Gaussian", "ensemble")))
    counts = {row[0]: int(row[1].replace(",", "")) for row in table.rows}
    assert counts["deterministic"] == pytest.approx(36.5e6, rel=0.002)
    assert counts["batch ensemble"] == pytest.approx(36.6e6, rel=0.002)
    assert counts["rank-1 Gaussian"] < 1.02 * counts["deterministic"]
    assert counts["ensemble"] == 4 * counts["deterministic"]


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
