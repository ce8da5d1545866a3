"""Heat maps: a row for each weight, a column for each rank, one scale of colours in a row."""

import numpy as np

from plait.analysis import StdApproximations
from plait.analysis.low_rank import low_rank
from plait.report import Picture, std_heat_maps


def test_every_matrix_is_shown_beside_its_approximations(tmp_path):
    std = np.exp(np.random.default_rng(0).normal(size=(6, 8)))
    both = StdApproximations("first", std, {1: low_rank(std, 1), 2: low_rank(std, 2)})
    one = StdApproximations("second", std, {1: low_rank(std, 1)})
    figure = std_heat_maps([both, one])
    images = [axis.images[0] for axis in figure.axes if axis.get_visible() and axis.images]
    assert len(images) == 5
    np.testing.assert_allclose(np.asarray(images[2].get_array()), both.by_rank[2])
    assert len({image.get_clim() for image in images}) == 1
    titles = [axis.get_title(loc="left") for axis in figure.axes if axis.images]
    assert titles[:2] == ["as trained", f"rank 1, error {100 * both.relative_error(1):.1f} %"]
    Picture(figure, "stds", "").save(tmp_path / "stds.png")
    assert (tmp_path / "stds.png").stat().st_size > 10_000
