import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.posterior import DrawsPosterior


@pytest.fixture
def posterior():
    return DrawsPosterior({"a": jnp.asarray([[1.0, 2.0], [3.0, 6.0]]), "b": jnp.asarray([5.0, 7.0])})


def test_a_draw_is_one_of_those_given_with_all_its_weights(posterior):
    found = [jax.tree.map(np.asarray, posterior.sample(jax.random.key(seed))) for seed in range(20)]
    pairs = {(tuple(one["a"].tolist()), float(one["b"])) for one in found}
    assert pairs == {((1.0, 2.0), 5.0), ((3.0, 6.0), 7.0)}


def test_moments_are_those_of_the_draws(posterior):
    marginals = posterior.marginals()
    np.testing.assert_allclose(marginals["a"].mean, [2, 4])
    np.testing.assert_allclose(marginals["a"].variance, [1, 4])
    np.testing.assert_allclose(posterior.means["b"], 6)
    assert posterior.num_draws == 2
    assert posterior.num_params == 6


def test_it_has_no_density(posterior):
    with pytest.raises(ValueError, match="no density"):
        posterior.log_prob(posterior.means)
    with pytest.raises(ValueError, match=r"no entropy, and so no KL: leave `dataset_size` out"):
        posterior.entropy()


def test_weights_have_equally_many_draws():
    with pytest.raises(ValueError, match="equally many, on the first axis; got shapes"):
        DrawsPosterior({"a": jnp.zeros((3, 2)), "b": jnp.zeros(2)})
