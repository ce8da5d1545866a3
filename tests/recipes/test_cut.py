from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
import tyro

from plait.recipes.cut import Cut, reproduce_command, run_cut
from plait.report import Table


@dataclass(frozen=True, kw_only=True)
class Changes(Cut):
    """Of a study."""

    network: tyro.conf.Positional[str]
    epochs: int | None = None
    methods: tuple[str, ...] = ()
    pictures: bool = True
    files: Path | None = None

    positional: ClassVar[tuple[str, ...]] = ("network",)
    places: ClassVar[tuple[str, ...]] = ("files",)


def test_a_command_is_shown_as_it_is_typed_without_places():
    cut = Changes(network="mlp", methods=("mean field", "k"), pictures=False, files=Path("a"), output=Path("b"), seed=2)
    assert cut.command("study") == "python -m plait.recipes.study mlp --methods 'mean field' k --no-pictures --seed 2"
    assert cut.changes() == {"network": "mlp", "methods": ("mean field", "k"), "pictures": False, "files": Path("a")}
    assert cut.folder("study") == Path("b")
    assert Changes(network="mlp").folder("study") == Path("results") / "study"


def test_the_table_is_printed(capsys):
    def run(cut: Changes) -> Table:
        return Table(("network", "epochs"), [(cut.network, str(cut.epochs))])

    assert run_cut(Changes, run, ["mlp", "--epochs", "3"]) == 0
    assert capsys.readouterr().out.split()[-2:] == ["mlp", "3"]


@pytest.mark.parametrize(
    ("error", "code", "said"), [(KeyboardInterrupt(), 130, "goes on"), (ValueError("no"), 2, "no")]
)
def test_what_stops_a_study_is_said(error, code, said, capsys):
    def run(cut: Changes) -> Table:
        raise error

    assert run_cut(Changes, run, ["mlp"]) == code
    assert said in capsys.readouterr().err


def test_the_command_of_a_whole_study_names_what_is_not_the_default():
    assert reproduce_command("ktied", quick=False, seed=0) == "plait reproduce ktied"
    assert reproduce_command("ktied", quick=True, seed=3) == "plait reproduce ktied --quick --seed 3"
