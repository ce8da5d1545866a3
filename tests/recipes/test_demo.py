"""The demo, with networks of four units trained for two epochs."""

from plait.recipes import demo
from plait.recipes.demo import METHODS, Options, main


def test_the_demo_prints_a_table_and_writes_a_page(tmp_path, capsys, monkeypatch):
    # Two of them are enough to have rows and columns.
    monkeypatch.setattr(demo, "METHODS", {name: METHODS[name] for name in (demo.PLAIN, "Tied(2)")})
    main(Options(epochs=2, seeds=2, widths=(4,), output=tmp_path / "demo"))
    printed = capsys.readouterr().out
    page = (tmp_path / "demo" / "report.html").read_text()
    for name in demo.METHODS:
        assert f"{name}: 2 networks" in printed
        assert name in page
    table = printed.split("\n\n")[1].splitlines()
    assert table[0].split("  ")[-1].strip() == "step cost"
    assert len(table) == 2 + len(demo.METHODS)
    assert str(tmp_path / "demo" / "report.html") in printed
    assert page.count("<svg") == 4 + len(demo.METHODS)
