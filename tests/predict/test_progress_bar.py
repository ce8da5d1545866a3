"""A bar for long work, and nothing else on the way."""

import subprocess
import sys

import pytest

from plait.predict import progress_bar as module
from plait.predict.progress_bar import progress_bar


class Terminal:
    def __init__(self, is_terminal: bool):
        self.is_terminal, self.text = is_terminal, ""

    def isatty(self) -> bool:
        return self.is_terminal

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None: ...


@pytest.fixture
def run(monkeypatch):
    def run(show: bool | None, is_terminal: bool, patience: float) -> str:
        terminal = Terminal(is_terminal)
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr(module, "PATIENCE", patience)
        with progress_bar("predicting", 3, show) as advance:
            for _ in range(3):
                advance()
        return terminal.text

    return run


@pytest.mark.parametrize(
    ("show", "is_terminal", "patience", "shown"),
    [
        (None, True, 0.0, True),
        (None, True, 60.0, False),
        (None, False, 0.0, False),
        (True, False, 60.0, True),
        (False, True, 0.0, False),
    ],
)
def test_it_is_shown_on_a_terminal_when_work_takes_long_or_when_asked_for(run, show, is_terminal, patience, shown):
    assert ("predicting" in run(show, is_terminal, patience)) == shown


def test_an_error_inside_stops_the_bar(monkeypatch):
    terminal = Terminal(True)
    monkeypatch.setattr(sys, "stderr", terminal)

    def fail() -> None:
        with progress_bar("predicting", 3, True) as advance:
            advance()
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    # The cursor that the bar hides is back.
    assert terminal.text.rindex("\x1b[?25h") > terminal.text.rindex("\x1b[?25l")


def test_the_package_and_a_short_prediction_import_nothing_they_do_not_need():
    code = (
        "import sys, jax, numpy, plait\n"
        "x = numpy.ones((4, 3), numpy.float32)\n"
        "key = jax.random.key(0)\n"
        "bnn = plait.bayesianize(jax.numpy.ones((3, 1)), x, apply=lambda w, x: x @ w, key=key)\n"
        "plait.evaluate(bnn, (x, x[:, :1]), key=key, likelihood=plait.Gaussian(), num_samples=3)\n"
        "print([m for m in ('matplotlib', 'sklearn', 'rich', 'orbax', 'tyro', 'blackjax') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
