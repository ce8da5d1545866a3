"""Matrices against scipy and Pillow, and bilinear interpolation."""

import jax.numpy as jnp
import numpy as np
import PIL.Image
import pytest
import scipy.ndimage

from plait.data.corruption.resampling import (
    both_sides,
    gaussian_matrix,
    grid,
    interpolate,
    look_up,
    pixelate_matrix,
    zoom_matrix,
)

IMAGE = np.random.default_rng(0).random((12, 12)).astype(np.float32)


@pytest.mark.parametrize(("border", "mode"), [("edge", "nearest"), ("reflect", "reflect")])
def test_a_gaussian_blur_is_scipys(border: str, mode: str):
    found = both_sides(jnp.asarray(IMAGE)[..., None], gaussian_matrix(12, 1.7, truncate=3.0, border=border))
    expected = scipy.ndimage.gaussian_filter(IMAGE, 1.7, truncate=3.0, mode=mode)
    np.testing.assert_allclose(found[..., 0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("factor", [1.0, 1.07, 1.5, 2.25])
def test_a_zoom_is_scipys(factor: float):
    kept = int(np.ceil(12 / factor))
    top = (12 - kept) // 2
    grown = scipy.ndimage.zoom(IMAGE[top : top + kept, top : top + kept], factor, order=1)
    trim = (grown.shape[0] - 12) // 2
    found = both_sides(jnp.asarray(IMAGE)[..., None], zoom_matrix(12, factor))
    np.testing.assert_allclose(found[..., 0], grown[trim : trim + 12, trim : trim + 12], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("share", [0.95, 0.65, 0.25])
def test_pixels_are_pillows_boxes(share: float):
    whole = PIL.Image.fromarray(IMAGE)
    small = int(12 * share)
    box = PIL.Image.Resampling.BOX
    expected = np.asarray(whole.resize((small, small), box).resize((12, 12), box))
    found = both_sides(jnp.asarray(IMAGE)[..., None], pixelate_matrix(12, share))
    np.testing.assert_allclose(found[..., 0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("border", "mode"), [("edge", "nearest"), ("reflect", "reflect"), ("mirror", "mirror"), ("zero", "grid-constant")]
)
def test_interpolation_and_its_borders_are_scipys(border: str, mode: str):
    image = jnp.asarray(IMAGE)[..., None]
    rows, columns = (place * 1.3 - 2.7 for place in grid(image))
    expected = scipy.ndimage.map_coordinates(IMAGE, [np.asarray(rows), np.asarray(columns)], order=1, mode=mode)
    np.testing.assert_allclose(interpolate(image, rows, columns, border)[..., 0], expected, rtol=1e-4, atol=1e-5)
    assert look_up(image, jnp.array(-1), jnp.array(0), border).shape == (1,)
