"""What JPEG loses, against Pillow."""

import io

import jax
import jax.numpy as jnp
import numpy as np
import PIL.Image
import pytest

from plait.data.corruption.jpeg import LUMINANCE, jpeg_compression, table


@pytest.mark.parametrize("colours", [1, 3])
def test_it_is_what_pillow_writes_and_reads(colours: int):
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 256, (7, 7, colours)).repeat(4, axis=0).repeat(4, axis=1)
    picture = np.clip(coarse + rng.integers(-20, 20, coarse.shape), 0, 255).astype(np.uint8)
    stream = io.BytesIO()
    PIL.Image.fromarray(picture.squeeze()).save(stream, "JPEG", quality=40)
    expected = np.asarray(PIL.Image.open(stream)).reshape(picture.shape).astype(float)
    found = 255 * np.asarray(jpeg_compression(jnp.asarray(picture / np.float32(255)), jax.random.key(0), 40))
    # Colours of one pixel beside another are mixed with other rounding.
    changed = np.abs(expected - picture).mean()
    assert changed > 5
    assert np.abs(found - expected).mean() < 0.1 * changed


def test_steps_grow_as_quality_falls():
    assert np.array_equal(table(LUMINANCE, 50), LUMINANCE)
    assert (table(LUMINANCE, 10) >= table(LUMINANCE, 80)).all()
    assert table(LUMINANCE, 1).max() == 255
