from plait.cli.table import print_table


def test_rows_are_aligned_and_never_folded_outside_a_terminal(capsys):
    long = "x" * 150
    print_table(("name", "value"), [("[a]", "1"), (long, "22")])
    head, rule, first, second = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "value"]
    assert set(rule) == {"─"}
    # Brackets are text, not markup; numbers stand to the right.
    assert first.split() == ["[a]", "1"]
    assert second.split() == [long, "22"]
    assert first.rstrip().endswith(" 1")
    assert len(first.rstrip()) == len(second.rstrip())
