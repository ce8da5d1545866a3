import pytest

from plait.cli.main import main
from plait.cli.shrink import Shrink
from plait.sparsity import Budget, LogAlpha, SignalToNoise


def test_a_run_is_shrunk_into_a_run(trained, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("plait.recipes.shrinking.latency", lambda models, x: dict.fromkeys(models, 1.0))
    target = tmp_path / "small"
    options = ["--budget", "0.6", "--of", "columns", "--samples", "2", "--output", str(target)]
    assert main(["shrink", str(trained), *options]) == 0
    shown = capsys.readouterr().out
    for text in ("layers.0.weight", "weights left", "zeroed", "ms for a prediction", str(target)):
        assert text in shown
    assert main(["shrink", str(trained), *options]) == 2
    assert "exists already" in capsys.readouterr().err


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
        (("--log-alpha", "3", "--budget", "0.5"), "got --log-alpha and --budget"),
        (("--score", "magnitude"), "--score is an option of a --budget"),
        (("--budget", "0.5", "--of", "rows", "columns"), "a --budget is of one kind"),
        (("--fine-tune", "-1"), "--fine-tune is a number of epochs"),
        (("--budget", "2"), "must lie in (0, 1]"),
    ],
)
def test_what_is_wrong_is_a_message(trained, capsys, options, message):
    assert main(["shrink", str(trained), *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
