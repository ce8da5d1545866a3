"""The program that gathers members: what it costs, and that a loop in it changes nothing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.predict.batch import Batch, Members, gather, no_moments
from plait.predict.moments import Moments
from plait.predict.source import Keys


def make_batch(bnn: plait.BayesianModel, x: np.ndarray, key: jax.Array, **options) -> Batch:
    fields = {"y": None, "index": jnp.asarray(0), "folds_batches": False, "draws_targets": False, "output": lambda o: o}
    assert bnn.likelihood is not None
    return Batch(bnn, bnn.likelihood, (jnp.asarray(x),), keys=Keys(*jax.random.split(key, 3)), **fields | options)


def run(batch: Batch, start: int, stop: int, moments: Moments | None = None, **options) -> tuple[Moments, Members]:
    moments = no_moments(batch) if moments is None else moments
    return gather(batch, moments, jnp.asarray(start), jnp.asarray(stop), **options)


def test_looping_stepping_and_resuming_give_the_same_moments(regression, x, y, key):
    batch = make_batch(regression, x, key, y=jnp.asarray(y), draws_targets=True)
    looped, kept = run(batch, 0, 6, chunk=6, keep=True)
    stepped, members = None, []
    for sample in range(6):
        stepped, one = run(batch, sample, sample + 1, stepped, chunk=None, keep=True)
        members.append(one)
    halves, none = run(batch, 3, 6, run(batch, 0, 3, chunk=6, keep=False)[0], chunk=6, keep=False)
    assert none is None
    for other in (stepped, halves):
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), looped, other)
    together = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *members)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5), kept, together)


def test_a_member_depends_on_its_number_alone(regression, x, key):
    batch = make_batch(regression, x, key)
    outputs = batch.members(jnp.asarray(5)).outputs
    weights = jax.random.split(key, 3)[0]
    np.testing.assert_allclose(outputs[0], regression(jnp.asarray(x), key=jax.random.fold_in(weights, 5)), rtol=1e-5)
    other = make_batch(regression, x, key, index=jnp.asarray(1))
    np.testing.assert_array_equal(outputs, other.members(jnp.asarray(5)).outputs)


def test_local_noise_differs_between_batches(network, x, key):
    batches = [make_batch(network, x, key, index=jnp.asarray(i), folds_batches=True) for i in (0, 1)]
    first, second = (batch.members(jnp.asarray(5)).outputs for batch in batches)
    assert (np.abs(first - second) > 1e-6).all()


def temporary_bytes(compiled) -> int:
    return compiled.compiled.memory_analysis().temp_size_in_bytes


def test_memory_does_not_grow_with_the_samples(linear, key):
    bnn = linear(key, 64, plait.MeanField(0.3)).with_likelihood(plait.Categorical())
    batch = make_batch(bnn, np.ones((256, 3), np.float32), key)
    moments, end = no_moments(batch), jnp.asarray(0)
    # How many samples there are is an argument, so that one program serves any number of them.
    bytes_by_chunk = [
        temporary_bytes(gather.lower(batch, moments, end, end, chunk=chunk, keep=False).compile())
        for chunk in (1, 1000)
    ]
    assert bytes_by_chunk[0] == bytes_by_chunk[1]
    at_once = jax.jit(
        lambda x, keys: batch.moments(
            Members(jax.vmap(lambda k: bnn(x, key=k))(keys), None),
        )
    )
    keys = jax.random.split(key, 50)
    all_members = at_once.lower(jnp.ones((256, 3)), keys).compile().memory_analysis().temp_size_in_bytes
    assert bytes_by_chunk[1] < all_members / 5


@pytest.mark.parametrize("likelihood", [plait.Gaussian(), plait.Poisson()], ids=lambda v: type(v).__name__)
def test_targets_are_drawn_where_they_are_wanted(linear, key, x, likelihood):
    bnn = linear(key, 2, plait.MeanField()).with_likelihood(likelihood)
    assert make_batch(bnn, x, key).members(jnp.asarray(0)).targets is None
    drawn = [make_batch(bnn, x, key, draws_targets=True).members(jnp.asarray(s)).targets for s in (0, 0, 1)]
    assert drawn[0].shape == (1, 11, 2)
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0] != drawn[2]).any()
