"""Which weights a pattern names."""

import jax
import jax.numpy as jnp
import pytest

import plait
from plait.model.patterns import Choice, matches

PATHS = [("encoder.layers.0.weight", "dense"), ("encoder.layers.10.weight", "conv"), ("head.bias", "bias")]


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        ("dense", [0]),
        ("encoder", [0, 1]),
        ("layers.0", [0]),
        ("*.weight", [0, 1]),
        ("layers.*.weight", [0, 1]),
        ("head.bias", [2]),
        ("*", [0, 1, 2]),
        ("weigh", []),
        ("conv?", []),
    ],
)
def test_a_pattern_names_whole_components_or_a_kind(pattern: str, named: list[int]):
    assert [i for i, (path, kind) in enumerate(PATHS) if matches(pattern, path, kind)] == named


def test_the_first_rule_that_matches_decides():
    choice: Choice[str] = Choice("posterior", {"head": "a", "bias": "b", "encoder": "c"}, PATHS, "none")
    assert [choice.of(*path) for path in PATHS] == ["c", "c", "a"]
    assert choice.rule(*PATHS[2]) == 0


def test_what_no_rule_names_gets_the_fallback_and_one_value_is_for_all():
    assert Choice("posterior", {"head": "a"}, PATHS, "none").of(*PATHS[0]) == "none"
    assert Choice("posterior", "a", PATHS, "none").of(*PATHS[0]) == "a"


def test_a_pattern_that_matches_nothing_lists_what_there_is():
    with pytest.raises(ValueError, match=r"`prior`: the pattern 'haed' matches no weight") as error:
        Choice("prior", {"haed": 1}, PATHS, None)
    assert "head.bias (bias)" in str(error.value)
    assert "encoder.layers.10.weight (conv)" in str(error.value)
    assert "dense, conv, embedding, bias, scale, other" in str(error.value)


def test_a_pattern_is_a_string():
    with pytest.raises(TypeError, match="`posterior`: a pattern is a string, got 0"):
        Choice("posterior", {0: 1}, PATHS, None)


@pytest.mark.parametrize("option", ["posterior", "prior", "estimator"])
def test_every_option_of_bayesianize_takes_patterns(option: str):
    value = {"posterior": plait.MeanField(), "prior": plait.Normal(), "estimator": "weights"}[option]
    with pytest.raises(ValueError, match=rf"`{option}`: the pattern 'nowhere' matches no weight.*\n  w \(dense\)"):
        plait.bayesianize(
            {"w": jnp.ones((3, 2))},
            jnp.ones((4, 3)),
            apply=lambda params, x: x @ params["w"],
            key=jax.random.key(0),
            **{option: {"nowhere": value}},
        )
