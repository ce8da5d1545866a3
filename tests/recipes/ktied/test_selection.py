import dataclasses

import pytest

from plait.recipes.ktied import mlp, selection
from plait.recipes.ktied.selection import Options, main, try_grid

TINY = dataclasses.replace(
    mlp.SMALL, epochs=2, batch_size=512, prior_scales=(0.2,), learning_rates=(1e-4, 1e-2), kl_coefficient=None
)


def test_the_best_of_the_grid_comes_first(tmp_path, capsys, monkeypatch):
    tried = try_grid(TINY, 1, tmp_path)
    # After a handful of steps the larger ones are far ahead.
    assert [each.learning_rate for each in tried] == [1e-2, 1e-4]
    monkeypatch.setattr(mlp, "EXPERIMENT", dataclasses.replace(mlp.EXPERIMENT, protocol=TINY))
    main(Options("mlp", rank=1, epochs=2, output=tmp_path))
    assert capsys.readouterr().out.splitlines()[2].split()[1] == "0.01"


def test_data_without_a_validation_part_is_refused(tmp_path, monkeypatch):
    dataset = dataclasses.replace(TINY.load(), validation=None)
    monkeypatch.setattr(selection.Protocol, "load", lambda self, data_dir=None: dataset)
    with pytest.raises(ValueError, match="digits has no validation data to select by"):
        try_grid(TINY, None, tmp_path)
