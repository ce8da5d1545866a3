"""A step on random inputs."""

from plait.recipes.rank1.synthetic import Options, look


def test_a_step_is_measured():
    table = look(Options("mnist", only=("deterministic",), batch_size=2, run=True, steps=1))
    ((name, count, ratio, peak, seconds),) = table.rows
    assert (name, ratio) == ("deterministic", "1.0000")
    assert int(count.replace(",", "")) == 199_210
    assert float(peak.replace(",", "")) > 1
    assert float(seconds) > 0
