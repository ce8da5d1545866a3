"""Other posteriors for the same weights, and what the site table says of them."""

import jax
import jax.numpy as jnp
import numpy as np

import plait
from plait.model.exchange import exchange


def test_rows_follow_the_new_posteriors(key: jax.Array):
    weights = {"w": jnp.ones((3, 2)), "v": jnp.ones((2, 1))}
    bnn = plait.bayesianize(
        weights,
        jnp.zeros((4, 3)),
        apply=lambda w, x: x @ w["w"] @ w["v"],
        posterior=plait.MeanField(0.1),
        prior={"w": plait.ScaleMixture(1.0, 0.1), "v": plait.Normal(1.0)},
        estimator="flipout",
        key=key,
    )
    other = {row.path: plait.MatrixNormal(init_scale=0.2).initialise(weights[row.path], row.layout, key=key)
             for row in bnn.sites if row.path == "w"}  # fmt: skip
    joint = plait.FullCovariance(0.1, joint=True).initialise_joint({"v": weights["v"]}, {}, key=key)
    changed = exchange(
        bnn,
        dict(other),
        (joint,),
        {"w": "MatrixNormal", "v": "FullCovariance(joint)"},
    )
    rows = {row.path: row for row in changed.sites}
    assert (rows["w"].posterior, rows["w"].estimator) == ("MatrixNormal", "weights")
    assert rows["w"].num_params == other["w"].num_params
    assert (rows["w"].kl, rows["v"].kl) == ("Monte Carlo", "exact")
    assert (rows["v"].posterior, rows["v"].estimator, rows["v"].num_params) == ("FullCovariance(joint)", "weights", 0)
    assert changed(jnp.ones((4, 3)), key=key).shape == (4, 1)
    np.testing.assert_array_equal(changed.mean()["v"], weights["v"])
    same = exchange(bnn, bnn.posteriors, (), {"w": "MeanField", "v": "MeanField"})
    assert {row.estimator for row in same.sites} == {"flipout"}
