import types

import pytest

from plait.cli.main import main
from plait.cli.shrink import Shrink
from plait.metrics import Estimate
from plait.recipes.shrinking import ShrunkRun
from plait.sparsity import Budget, LayerReport, LogAlpha, Report, SignalToNoise


def test_what_is_left_and_what_it_cost_is_shown(tmp_path, capsys, monkeypatch):
    asked = {}

    def shrink_run(run, output, **options):
        asked.update(options, run=run, output=output)
        report = Report((LayerReport("layers.0.weight", 10, 4, 5, 3, 2, 2),), 40, 16)
        metrics = {stage: {"accuracy": Estimate(0.9, 0.01)} for stage in ("before", "zeroed")}
        return ShrunkRun(types.SimpleNamespace(path=output), report, metrics, (400, 160), (2e-3, 1e-3))

    monkeypatch.setattr("plait.recipes.shrinking.shrink_run", shrink_run)
    target = tmp_path / "small"
    options = ["--budget", "0.6", "--of", "columns", "--samples", "2", "--fine-tune", "3", "--output", str(target)]
    assert main(["shrink", str(tmp_path / "run"), *options]) == 0
    shown = capsys.readouterr().out
    for text in (
        "layers.0.weight",
        "4 of 10 weights left, 16 of 40 bytes",
        "zeroed",
        "ms for a prediction",
        str(target),
    ):
        assert text in shown
    assert asked["rule"] == Budget(0.6, "columns")
    assert (asked["fine_tune"], asked["num_samples"], asked["output"]) == (3, 2, target)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({}, LogAlpha(3.0)),
        ({"log_alpha": 2.0, "of": ("rows", "columns")}, LogAlpha(2.0, ("rows", "columns"))),
        ({"signal_to_noise": 0.5}, SignalToNoise(0.5)),
        ({"budget": 0.1, "of": ("channels",), "score": "magnitude"}, Budget(0.1, "channels", "magnitude")),
    ],
)
def test_options_name_a_rule(tmp_path, options, rule):
    assert Shrink(tmp_path, **options)._rule() == rule


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "is not the folder of a run"),
        (("--log-alpha", "3", "--budget", "0.5"), "got --log-alpha and --budget"),
        (("--score", "magnitude"), "--score is an option of a --budget"),
        (("--budget", "0.5", "--of", "rows", "columns"), "a --budget is of one kind"),
        (("--fine-tune", "-1"), "--fine-tune is a number of epochs"),
        (("--budget", "2"), "must lie in (0, 1]"),
    ],
)
def test_what_is_wrong_is_a_message(tmp_path, capsys, options, message):
    assert main(["shrink", str(tmp_path), *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
