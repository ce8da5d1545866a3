import matplotlib as mpl

from plait.report.style import SERIES, panels, styled


def test_the_style_holds_while_a_function_runs():
    @styled
    def inside():
        return mpl.rcParams["axes.spines.top"]

    before = mpl.rcParams["axes.spines.top"]
    assert inside() is False
    assert mpl.rcParams["axes.spines.top"] == before


def test_panels_come_by_row_and_column():
    figure, axes = panels(2, 3, 6.0, 4.0)
    assert [len(row) for row in axes] == [3, 3]
    assert tuple(figure.get_size_inches()) == (6.0, 4.0)


def test_series_differ_in_lightness_too():
    def lightness(colour):
        red, green, blue = mpl.colors.to_rgb(colour)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    assert len({round(lightness(colour), 2) for colour in SERIES}) == len(SERIES)
