"""The table of families, for one of them trained for an epoch."""

from plait.recipes import demo
from plait.recipes.which_posterior import Options, main


def test_the_page_has_a_row_for_each_family_asked_for(tmp_path, capsys):
    page = tmp_path / "posteriors.md"
    main(Options(training=demo.Options(epochs=1, seeds=2, widths=(3,)), only="Point", write=page))
    rows = [line for line in page.read_text().splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == ["Point()"]
    assert "1 epochs" in page.read_text()
    assert "64-3-10" in page.read_text()
    assert "Point()" in capsys.readouterr().out
