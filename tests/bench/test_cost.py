"""The cost table, on a network of a few weights."""

import jax
import pytest

from plait.bench.cost import DETERMINISTIC, METHODS, Options, as_markdown, main, measure
from plait.bench.networks import lenet, multilayer_perceptron


def test_a_table_has_the_deterministic_step_first_and_counts_its_floats(key):
    network = multilayer_perceptron(key, "tiny", (5, 4, 3), 8)
    rows = measure(network, {name: METHODS[name] for name in ("MeanField local", "Tied(2) local")}, rounds=1, key=key)
    assert [(row.family, row.estimator) for row in rows] == [
        (DETERMINISTIC, ""), ("MeanField", "local"), ("Tied(2)", "local"),
    ]  # fmt: skip
    weights, biases, sides = 5 * 4 + 4 * 3, 4 + 3, (5 + 4) + (4 + 3)
    assert rows[0].ratio == rows[0].flops_ratio == 1
    # Local reparametrisation has a second product with the weight's shape.
    assert rows[1].flops_ratio > 1
    assert rows[1].floats_per_weight == 2
    assert rows[2].floats_per_weight == pytest.approx((weights + 2 * sides + 2 * biases) / (weights + biases))
    assert all(row.peak_bytes > 0 and row.compile_seconds > 0 for row in rows)
    page = as_markdown(network, rows)
    assert page.startswith("## tiny\n")
    assert page.count("\n| ") == 1 + 1 + 3


def test_the_networks_have_the_papers_sizes(key):
    count = sum(leaf.size for leaf in jax.tree.leaves(jax.eval_shape(lambda key: lenet(key, "", 2).params, key)))
    assert count == (75 * 32 + 32) + (800 * 64 + 64) + (4096 * 512 + 512) + (512 * 100 + 100)


def test_an_unknown_network_is_refused():
    with pytest.raises(SystemExit, match=r"unknown networks resnet; known are mlp, wide, lenet"):
        main(Options(networks=("resnet",)))
