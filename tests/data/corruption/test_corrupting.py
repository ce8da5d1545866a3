"""Corrupted pictures: every type runs, follows from the key and the number of the picture, and gets worse."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.data.corruption import COMMON, EXTRA, GEOMETRIC, corrupt
from plait.data.corruption.corrupting import FUNCTIONS
from plait.data.corruption.severities import COLOUR, GREY

KEY = jax.random.key(0)


def pictures(count: int, *colours: int, size: int = 8) -> np.ndarray:
    """Smooth ones, as photographs are."""
    rng = np.random.default_rng(0)
    coarse = rng.random((count, 2, 2, *colours)).astype(np.float32)
    return np.clip(coarse.repeat(size // 2, axis=1).repeat(size // 2, axis=2), 0.05, 0.95)


def test_every_type_has_five_severities():
    assert len(COMMON) == 15
    assert set(COLOUR) == {*COMMON, *EXTRA}
    assert set(GREY) == {*COMMON, *EXTRA, *GEOMETRIC} == set(FUNCTIONS)
    assert all(len(row) == 5 for constants in (COLOUR, GREY) for row in constants.values())


@pytest.mark.parametrize("kind", sorted(FUNCTIONS))
def test_every_type_and_severity_takes_its_constants(kind: str):
    # Traced, not run: what a type does not take is refused here.
    for shape, constants in (((8, 8, 3), COLOUR), ((8, 8, 1), GREY)):
        for each in constants.get(kind, ()):
            found = jax.eval_shape(
                lambda x, key, each=each: FUNCTIONS[kind](x, key, each), jnp.zeros(shape), jax.random.key(0)
            )
            assert found.shape == shape


@pytest.mark.parametrize("kind", ["shot_noise", "glass_blur", "motion_blur", "snow", "elastic_transform"])
def test_a_picture_is_the_same_alone_and_among_others(kind: str):
    images = pictures(3, 3)
    together = corrupt(images, kind, 5, key=KEY)
    assert together.shape == images.shape
    assert together.dtype == np.float32
    assert together.min() >= 0
    assert together.max() <= 1
    np.testing.assert_array_equal(np.rint(255 * together), (255 * together).round(3))
    np.testing.assert_array_equal(corrupt(images[2:], kind, 5, key=KEY, first=2), together[2:])
    assert np.any(corrupt(images, kind, 5, key=jax.random.key(1)) != together)


@pytest.mark.parametrize("kind", ["gaussian_noise", "impulse_noise", "contrast", "fog"])
def test_a_higher_severity_changes_more(kind: str):
    images = pictures(4)
    changes = [np.abs(corrupt(images, kind, severity, key=KEY) - images).mean() for severity in (1, 5)]
    assert changes[0] < changes[1]


def test_bytes_are_pictures_too():
    images = np.rint(255 * pictures(2)).astype(np.uint8)
    same = corrupt(images, "stripe", 1, key=KEY)
    assert np.abs(same[:, :, 3:-3] - images[:, :, 3:-3] / np.float32(255)).max() < 1e-6
    assert np.abs(same[:, :, :3] - (1 - images[:, :, :3] / np.float32(255))).max() <= 1.1 / 255


@pytest.mark.usefixtures("unchecked")
def test_what_cannot_be_corrupted_is_refused():
    images = pictures(2)
    with pytest.raises(ValueError, match="`severity` must be 1 to 5, got 6"):
        corrupt(images, "fog", 6, key=KEY)
    with pytest.raises(ValueError, match="unknown corruption 'rain'; those of grey pictures are gaussian_noise"):
        corrupt(images, "rain", 1, key=KEY)
    with pytest.raises(ValueError, match="unknown corruption 'rotate'; those of colour pictures"):
        corrupt(pictures(2, 3), "rotate", 1, key=KEY)
    with pytest.raises(ValueError, match=r"square pictures .* got shape \(2, 8, 4\)"):
        corrupt(images[:, :, :4], "fog", 1, key=KEY)
    with pytest.raises(ValueError, match=r"must be bytes or lie in \[0, 1\].* before they are scaled"):
        corrupt(2 * images - 1, "fog", 1, key=KEY)
    with pytest.raises(TypeError, match="`key` must be a typed key"):
        corrupt(images, "fog", 1, key=None)
