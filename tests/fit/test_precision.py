"""Half-precision compute with full-precision parameters."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import plait
from plait.fit.precision import in_precision

CASES = [(plait.MeanField(), "local"), (plait.Tied(2), "local"), (plait.MatrixNormal(), "local")]
CASES += [(plait.MatrixNormal(), "weights"), (plait.MeanField(), "flipout"), (plait.RankOne(2), "per_example")]


@pytest.mark.parametrize(("family", "estimator"), CASES, ids=lambda value: str(value).split("(")[0])
def test_all_products_are_in_half_precision_and_all_parameters_are_not(family, estimator, key):
    x = jnp.ones((4, 3))
    mlp = eqx.nn.MLP(3, 1, 7, 1, use_bias=False, use_final_bias=False, key=key)
    half = in_precision(plait.bayesianize(mlp, x, posterior=family, estimator=estimator, key=key), "bfloat16")

    def forward(bnn):
        outputs = bnn(x, key=key)
        assert outputs.dtype == jnp.bfloat16
        return outputs.astype(jnp.float32).sum()

    products = [
        equation
        for equation in equations(jax.make_jaxpr(lambda: forward(half))().jaxpr)
        # Those that have the four examples in them, or those of both components; a draw of a weight may be made in full
        # precision.
        if equation.primitive.name == "dot_general" and {4, 8} & set(equation.outvars[0].aval.shape)
    ]
    assert products
    assert {v.aval.dtype for equation in products for v in equation.invars} == {jnp.dtype(jnp.bfloat16)}
    slope = eqx.filter_eval_shape(eqx.filter_grad(forward), half)
    assert {leaf.dtype for leaf in jax.tree.leaves(slope.posteriors)} == {jnp.dtype(jnp.float32)}


def equations(jaxpr):
    for equation in jaxpr.eqns:
        yield equation
        for value in equation.params.values():
            inner = getattr(value, "jaxpr", value)
            if hasattr(inner, "eqns"):
                yield from equations(inner)


def test_training_in_half_precision_gives_a_model_in_full(problem):
    full = problem.fit(epochs=30, validation=problem.data, eval_every=30)
    half = problem.fit(epochs=30, validation=problem.data, eval_every=30, precision="bfloat16")
    assert {leaf.dtype for leaf in jax.tree.leaves(half.model.posteriors)} == {jnp.dtype(jnp.float32)}
    assert half.model(problem.data[0], key=None).dtype == jnp.float32
    assert jax.tree.structure(half.model) == jax.tree.structure(full.model)
    assert half.history["loss"][0] != full.history["loss"][0]
    np.testing.assert_allclose(half.history["loss"], full.history["loss"], rtol=0.03)
    np.testing.assert_allclose(half.history["validation_nll"][-1], full.history["validation_nll"][-1], rtol=0.05)


def test_small_steps_are_not_lost(problem):
    """A step of 1e-5 on a weight of order one is less than bfloat16 resolves."""
    fit = problem.fit(optimizer=optax.adam(1e-5), epochs=4, precision="bfloat16")
    moved = jnp.abs(fit.model.posteriors["last"].mean - problem.bnn.posteriors["last"].mean)
    assert float(jnp.max(moved)) > 1e-5
    assert float(jnp.max(moved)) < 1e-3


def test_single_precision_is_what_the_model_computes_in_anyway(problem):
    assert in_precision(problem.bnn, "float32") is problem.bnn
    assert in_precision(problem.bnn, None) is problem.bnn


def test_an_unknown_precision_is_refused(problem):
    with pytest.raises(ValueError, match="`precision` must be one of 'float32', 'bfloat16' or None, got 'float16'"):
        problem.fit(precision="float16")
