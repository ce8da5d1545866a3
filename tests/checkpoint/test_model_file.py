"""`plait.save` and `plait.load`: what comes back, and what is refused."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import plait


def assert_equal(ours, theirs):
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        if jnp.issubdtype(one.dtype, jax.dtypes.prng_key):
            one, other = jax.random.key_data(one), jax.random.key_data(other)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.fixture
def saved(tmp_path, build_model):
    bnn = build_model(1)
    plait.save(tmp_path / "model.safetensors", bnn)
    return tmp_path / "model.safetensors", bnn


def arrays_and_static(bnn):
    """The parts of a model that are values."""
    return bnn.posteriors, bnn.joints, bnn.skeleton.buffers


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"posterior": plait.FullCovariance(joint=True), "name": "deep"},
        {"posterior": plait.RankOne(2), "prior": plait.Normal(0.1, mean=1.0)},
        {"prior": plait.LearnedNormal(0.3), "posterior": plait.MatrixNormal()},
        {"dtype": jnp.bfloat16, "posterior": plait.MeanField()},
    ],
    ids=["tied", "joint", "components", "learned prior", "bfloat16"],
)
def test_what_is_saved_comes_back(tmp_path, build_model, options):
    bnn = build_model(1, **options)
    plait.save(tmp_path / "m", bnn)
    loaded = plait.load(tmp_path / "m", like=build_model(2, **options))
    assert_equal(arrays_and_static(loaded), arrays_and_static(bnn))
    np.testing.assert_array_equal(jax.tree.leaves(loaded.priors), jax.tree.leaves(bnn.priors))
    x = jnp.ones((2, 3), options.get("dtype", jnp.float32))
    np.testing.assert_array_equal(loaded(x, key=jax.random.key(0)), bnn(x, key=jax.random.key(0)))


def test_any_reader_of_the_format_sees_arrays_by_name(saved):
    path, bnn = saved
    arrays = load_file(path)
    np.testing.assert_array_equal(arrays["posteriors/w/mean"], bnn.posteriors["w"].mean)
    assert sorted(arrays)[-1] == "skeleton/buffers/1"


@pytest.mark.parametrize(
    "likelihood",
    [plait.Categorical(), plait.Gaussian(0.2), plait.Gaussian("predicted", min_scale=0.1), plait.Gaussian("learned")],
    ids=["categorical", "fixed", "predicted", "learned"],
)
def test_the_likelihood_comes_back_too(tmp_path, build_model, likelihood):
    plait.save(tmp_path / "m", build_model().with_likelihood(likelihood))
    loaded = plait.load(tmp_path / "m", like=build_model()).likelihood
    assert jax.tree.structure(loaded) == jax.tree.structure(likelihood)
    assert jax.tree.leaves(loaded) == jax.tree.leaves(likelihood)


def test_a_likelihood_in_like_must_be_the_saved_one(tmp_path, build_model):
    plait.save(tmp_path / "m", build_model().with_likelihood(plait.Gaussian(0.2)))
    like = build_model().with_likelihood(plait.Gaussian(0.2))
    assert plait.load(tmp_path / "m", like=like).likelihood.fixed_scale == 0.2
    with pytest.raises(ValueError, match=r"likelihood: saved .*Gaussian.*wanted .*Poisson"):
        plait.load(tmp_path / "m", like=build_model().with_likelihood(plait.Poisson()))
    with pytest.raises(ValueError, match=r"likelihood/fixed_scale: saved 0\.2, wanted 0\.3"):
        plait.load(tmp_path / "m", like=build_model().with_likelihood(plait.Gaussian(0.3)))


class Mine(plait.Poisson):
    """A likelihood that is not one of Plait's."""


def test_a_likelihood_of_ones_own_must_be_in_like(tmp_path, build_model):
    plait.save(tmp_path / "m", build_model().with_likelihood(Mine()))
    with pytest.raises(ValueError, match=r"likelihood Mine, which is not one of Plait's.*with_likelihood\(Mine"):
        plait.load(tmp_path / "m", like=build_model())
    assert isinstance(plait.load(tmp_path / "m", like=build_model().with_likelihood(Mine())).likelihood, Mine)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"size": 4}, r"w: saved \[3, 2\] Tied\(1\).*, wanted \[4, 2\] Tied\(1\)"),
        ({"name": "v"}, r"v: saved none, wanted \[3, 2\].*\n  w: saved \[3, 2\].*, wanted none"),
        ({"posterior": plait.Tied(2)}, r"w: saved \[3, 2\] Tied\(1\).*wanted \[3, 2\] Tied\(2\)"),
        ({"prior": plait.Normal(0.7)}, r"prior Normal\(0\.5\), wanted .*prior Normal\(0\.7\)"),
        ({"prior": plait.Normal(0.5000001)}, r"priors/w/scale: saved 0\.5, wanted 0\.5000001"),
        ({"dtype": jnp.bfloat16}, r"posteriors/w/mean: saved float32\[3,2\], wanted bfloat16\[3,2\]"),
    ],
    ids=["shape", "name", "rank", "prior", "digits of a prior", "dtype"],
)
def test_a_model_that_was_built_in_another_way_is_refused(saved, build_model, options, says):
    with pytest.raises(ValueError, match=says):
        plait.load(saved[0], like=build_model(**options))


@pytest.mark.parametrize("size", [0, 4, 100, -1])
def test_a_truncated_file_is_refused(saved, build_model, size):
    path, _ = saved
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ValueError, match=r"model.safetensors is not a whole safetensors file.*foreign or was cut off"):
        plait.load(path, like=build_model())


def test_foreign_files_are_refused(tmp_path, build_model):
    (tmp_path / "text").write_text("hello, this is no model " * 20)
    with pytest.raises(ValueError, match="is not a whole safetensors file"):
        plait.load(tmp_path / "text", like=build_model())
    save_file({"w": np.ones(3, np.float32)}, tmp_path / "other")
    with pytest.raises(ValueError, match=r"not written by `plait.save`.*its format is 'not given', expected 'plait"):
        plait.load(tmp_path / "other", like=build_model())
    with pytest.raises(ValueError, match=r"is a folder; give the name of a file"):
        plait.load(tmp_path, like=build_model())
    with pytest.raises(FileNotFoundError, match="nowhere"):
        plait.load(tmp_path / "nowhere", like=build_model())


def test_dtypes_that_the_format_lacks_are_refused(tmp_path, build_model):
    bnn = eqx.tree_at(lambda b: b.priors["w"].scale, build_model(), jnp.asarray(0.5, jnp.float8_e4m3fn))
    with pytest.raises(TypeError, match=r"cannot be saved, cast them first: .*float8_e4m3fn"):
        plait.save(tmp_path / "m", bnn)
    assert list(tmp_path.iterdir()) == []
