import numpy as np

from plait.fit import History
from plait.report import learning_curves


def test_each_loss_has_a_panel_with_both_curves(history):
    figure = learning_curves(history)
    titles = [axis.get_title(loc="left") for axis in figure.axes]
    assert titles == ["negative log-likelihood", "−ELBO per example", "validation accuracy"]
    training, validation = figure.axes[0].lines
    np.testing.assert_allclose(training.get_ydata(), history["nll"])
    np.testing.assert_allclose(validation.get_ydata(), history["validation_nll"])
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["training", "validation"]


def test_the_epochs_of_annealing_are_shaded(history):
    (span,) = learning_curves(history).axes[0].patches
    assert span.get_extents().width > 0
    constant = History([row | {"kl_weight": 1.0} for row in history])
    assert not learning_curves(constant).axes[0].patches


def test_replicas_are_lines_around_their_mean(history):
    both = History([row | {"nll": [row["nll"], 3 * row["nll"]]} for row in history])
    *replicas, mean, _ = learning_curves(both).axes[0].lines
    assert len(replicas) == 2
    np.testing.assert_allclose(mean.get_ydata(), 2 * history["nll"])


def test_losses_over_magnitudes_are_drawn_on_a_log_scale(history):
    steep = History([row | {"nll": 1000.0 / 10 ** row["epoch"]} for row in history])
    assert learning_curves(steep).axes[0].get_yscale() == "log"
    assert learning_curves(history).axes[1].get_yscale() == "log"


def test_one_epoch_is_a_point(history):
    line = learning_curves(History(history.rows[:1])).axes[0].lines[0]
    assert line.get_marker() == "o"


def test_an_epoch_that_is_not_finite_leaves_a_gap(history):
    rows = [row | ({"nll": float("nan")} if row["epoch"] == 10 else {}) for row in history]
    assert len(learning_curves(History(rows)).axes[0].lines[0].get_xdata()) == 9
