"""The picture of spectra: a panel for each weight, a line for each spectrum."""

import numpy as np

from plait.analysis import Spectra, Spectrum, WeightSpectra
from plait.report import Picture, spectra_plot


def weights(count: int) -> Spectra:
    means, stds = Spectrum(np.linspace(3, 1, 6)), Spectrum(np.array([2.0, 0.1, 1e-5, 0, 0, 0]))
    return Spectra(tuple(WeightSpectra(f"w{i}", "dense", (6, 8), means, stds if i else None) for i in range(count)))


def test_each_weight_has_a_panel_and_each_spectrum_a_line(tmp_path):
    figure = spectra_plot(weights(4), columns=3)
    shown = [axis for axis in figure.axes if axis.get_visible()]
    assert [axis.get_title(loc="left") for axis in shown] == [f"w{i}  6 × 8" for i in range(4)]
    # Constants have no standard deviations; what is below the axis is not drawn.
    lines = [[np.asarray(line.get_ydata()) for line in axis.lines if len(line.get_xdata())] for axis in shown]
    assert [len(each) for each in lines] == [1, 2, 2, 2]
    assert np.isfinite(lines[1][1]).sum() == 2
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "posterior means",
        "posterior standard deviations",
    ]
    Picture(figure, "spectra", "").save(tmp_path / "spectra.png")
    assert (tmp_path / "spectra.png").stat().st_size > 10_000


def test_a_model_of_constants_has_one_line():
    assert len(spectra_plot(weights(1)).legends[0].get_texts()) == 1
