"""Networks together and in a loop, for two of them and one epoch."""

from plait.bench.replicas import Options, main


def test_both_ways_are_timed_and_the_result_is_added_to_a_page(tmp_path, capsys):
    page = tmp_path / "cost.md"
    page.write_text("# Costs\n")
    main(Options(replicas=2, epochs=1, hidden=3, looped=1, append=page))
    assert capsys.readouterr().out.strip() in page.read_text()
    assert "trains 2 networks of 3 hidden units" in page.read_text()
    assert page.read_text().startswith("# Costs\n\n## 2 networks at once")
