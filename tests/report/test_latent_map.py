import numpy as np

from plait.report import latent_map


def test_a_map_shows_points_and_what_they_decode_to():
    images = np.zeros((3, 3, 2, 4))
    images[0, 2] = 1
    figure = latent_map({"one": (np.zeros((5, 2)), images, 2.0), "two": (np.zeros((5, 2)), images, 1.0)})
    assert len(figure.axes) == 4
    shown = figure.axes[2].images[0].get_array()
    assert shown.shape == (6, 12)
    # The upper right tile.
    assert np.all(shown[:2, 8:] == 1)
    assert shown.sum() == 8
