import sys
import types

from plait.cli.main import main
from plait.recipes import studies
from plait.recipes.studies import Study
from plait.report import Table


def test_there_is_a_clear_answer_where_there_is_none(monkeypatch, capsys):
    monkeypatch.setattr(studies, "STUDIES", {})
    assert main(["reproduce"]) == 0
    assert capsys.readouterr().out == "There are no studies in this version.\n"
    assert main(["reproduce", "ktied"]) == 2
    assert "unknown study 'ktied': there are none in this version" in capsys.readouterr().err


def test_a_study_is_listed_and_run(monkeypatch, capsys, tmp_path):
    asked = {}

    def reproduce(output, **options):
        asked.update(options, output=output)
        return Table(("rank", "paper", "ours"), [("2", "0.1", "0.2")])

    module = types.ModuleType("plait.recipes.small")
    module.reproduce = reproduce
    monkeypatch.setitem(sys.modules, "plait.recipes.small", module)
    monkeypatch.setattr(studies, "STUDIES", {"small": Study("Table 1 of a paper", "small")})
    assert main(["reproduce"]) == 0
    assert "Table 1 of a paper" in capsys.readouterr().out
    assert main(["reproduce", "small", "--quick", "--output", str(tmp_path)]) == 0
    assert asked == {"output": tmp_path, "data_dir": None, "seed": 0, "quick": True}
    assert "paper" in capsys.readouterr().out
