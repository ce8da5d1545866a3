import numpy as np

from plait.report import image_grid


def test_each_row_has_a_name_its_pictures_and_their_labels():
    images = np.random.default_rng(0).random((3, 4, 4))
    figure = image_grid({"sure": (images, ["1", "2", "3"]), "unsure": (images[:1], ["4"])}, columns=3)
    first = figure.axes[:3]
    assert first[0].get_title(loc="left") == "sure"
    assert [axis.get_xlabel() for axis in first] == ["1", "2", "3"]
    assert [len(axis.images) for axis in figure.axes] == [1, 1, 1, 1, 0, 0]


def test_pixels_of_any_range_and_colours_are_shown():
    grey, colour, flat = (
        200 * np.eye(4)[None, :, :, None] - 100,
        np.random.default_rng(0).random((1, 4, 4, 3)),
        np.ones((1, 4, 4)),
    )
    for images in (grey, colour, flat):
        shown = np.asarray(image_grid({"a": (images, ["x"])}, columns=1).axes[0].images[0].get_array())
        assert shown.min() >= 0
        assert shown.max() <= 1
