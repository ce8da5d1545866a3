from plait.report import curve_grid


def test_there_is_a_panel_for_each_setting_and_quantity():
    curves = {
        "a": ([1, 2], {"up": [1.0, 2.0], "down": [2.0, 1.0]}),
        "b": ([1, 2], {"up": [2.0, 3.0], "down": [3.0, 1.0]}),
    }
    figure = curve_grid(
        {"first": curves, "second": curves}, {"up": True, "down": False}, across="step", log_across=True
    )
    assert len(figure.axes) == 4
    assert [len(axis.lines) for axis in figure.axes] == [2, 2, 2, 2]
    assert figure.axes[0].get_yscale() == "log"
    assert figure.axes[1].get_yscale() == "linear"
    assert figure.axes[2].get_xlabel() == "step"
    assert figure.axes[2].get_xscale() == "log"
