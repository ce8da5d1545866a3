"""Eight devices that share each batch give what one gives, up to the order of additions."""

import jax
import numpy as np
import pytest
from jax.sharding import Mesh

import plait
from plait.fit.placement import Placement


@pytest.fixture(scope="module")
def mesh():
    return Mesh(np.asarray(jax.devices()[:8]).reshape(4, 2), ("data", "other"))


def test_devices_share_the_batch_and_agree_with_one(problem, mesh):
    options = {"validation": problem.data, "likelihood": plait.Gaussian("learned"), "epochs": 3}
    one, many = problem.fit(**options), problem.fit(mesh=mesh, **options)
    problem.assert_equal(many.model, one.model, 1e-4)
    for column in ("loss", "nll", "kl", "grad_norm", "validation_nll"):
        np.testing.assert_allclose(many.history[column], one.history[column], rtol=1e-4)
    sharding = many.model.posteriors["first"].mean.sharding
    assert sharding.is_fully_replicated
    assert len(sharding.device_set) == 8


def test_an_iterator_is_shared_too_and_accumulation_goes_with_it(problem, mesh):
    x, y = problem.data
    batches = [(x[i : i + 8], y[i : i + 8]) for i in range(0, 40, 8)]
    options = {"data": batches, "batch_size": None, "dataset_size": 40, "accumulate": 2, "epochs": 2}
    problem.assert_equal(problem.fit(mesh=mesh, **options).model, problem.fit(**options).model, 1e-4)


def test_a_run_may_resume_on_a_mesh(problem, mesh, tmp_path):
    problem.fit(epochs=1, checkpoint=tmp_path)
    resumed = problem.fit(epochs=3, checkpoint=tmp_path, resume=True, mesh=mesh)
    problem.assert_equal(resumed.model, problem.fit(epochs=3).model, 1e-4)


def test_each_device_computes_with_its_share(mesh):
    placement = Placement(mesh)
    assert placement.shards == 4
    shards = jax.jit(placement.cut)({"x": np.ones((8, 3), np.float32)})["x"].addressable_shards
    assert {shard.data.shape for shard in shards} == {(2, 3)}
    assert placement.everywhere(("text", np.ones(3)))[0] == "text"


def test_what_a_mesh_cannot_do_is_refused(problem, mesh):
    with pytest.raises(
        ValueError, match="a batch of 10 examples cannot be cut into 4 equal parts for the devices of the"
    ):
        problem.fit(batch_size=10, mesh=mesh)
    with pytest.raises(ValueError, match="a mesh shares the batches of one model between devices"):
        problem.fit(replicas=2, mesh=mesh)
