"""The cost of natural gradient, on a network of a few weights."""

import jax

from plait.bench import natural
from plait.bench.natural import Options, kinds, main
from plait.bench.networks import multilayer_perceptron
from plait.natural import IVON, NoisyAdam, NoisyKFAC


def test_steps_come_in_kinds():
    assert kinds(IVON()) == {(True, True): (0, 1.0)}
    assert kinds(NoisyAdam(statistics_every=4)) == {(True, True): (0, 0.25), (False, True): (3, 0.75)}
    assert kinds(NoisyKFAC(statistics_every=2, inverse_every=4)) == {
        (True, True): (0, 0.25), (False, False): (3, 0.5), (True, False): (2, 0.25),
    }  # fmt: skip


def test_a_table_is_printed_and_appended(key: jax.Array, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(natural, "multilayer_perceptron", lambda key, name, _, batch: multilayer_perceptron(
        key, name, (5, 4, 3), batch
    ))  # fmt: skip
    page = tmp_path / "cost.md"
    main(Options(batch=8, only="NoisyAdam", rounds=1, append=page))
    section = capsys.readouterr().out
    assert section.startswith("## Natural gradient, MLP 784-400-400-10, batch 8")
    assert "\n| NoisyAdam |" in section
    assert page.read_text().strip() == section.strip()
