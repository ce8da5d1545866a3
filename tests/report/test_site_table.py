from plait.report import site_table


def test_every_weight_has_its_row(bnn):
    table = site_table(bnn)
    named = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert [row["weight"] for row in named] == [row.path for row in bnn.sites]
    first = named[0]
    assert first["shape"] == "4 × 2"
    assert first["fan"] == "2 → 4"
    assert first["posterior"] == "Tied(2)"
    total = sum(int(row["numbers"].replace(",", "")) for row in named)
    assert total == bnn.num_params
