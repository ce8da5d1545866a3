import csv

import numpy as np
import pytest

from plait.recipes.predicting import predict_file


def read(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_numbers_come_with_their_uncertainty_in_the_units_of_the_data(line_run, line_csv, tmp_path):
    columns = predict_file(line_run, line_csv, tmp_path / "out.csv", num_samples=20, quantiles=(0.1, 0.5, 0.975))
    rows = read(tmp_path / "out.csv")
    assert list(rows[0]) == ["mean", "std", "aleatoric", "epistemic", "q10", "q50", "q97.5"]
    assert len(rows) == 80
    table = {name: np.asarray([float(row[name]) for row in rows]) for name in rows[0]}
    np.testing.assert_allclose(table["std"] ** 2, table["aleatoric"] + table["epistemic"], rtol=1e-4)
    assert (table["q10"] < table["q50"]).all()
    assert (table["q50"] < table["q97.5"]).all()
    x = np.linspace(-2, 2, 80)
    # A small net, trained for a moment, has found most of the line; standardised, it would be off by a thousand.
    assert np.mean((table["mean"] - 1000 - 50 * x) ** 2) < 0.5 * np.var(50 * x)
    np.testing.assert_allclose(columns["mean"], table["mean"], rtol=1e-6)


def test_classes_come_with_their_probabilities_and_names(kinds_run, kinds_csv, tmp_path):
    predict_file(kinds_run, kinds_csv, tmp_path / "out.csv", num_samples=5)
    rows = read(tmp_path / "out.csv")
    assert list(rows[0]) == ["predicted", "confidence", "p_down", "p_up", "entropy", "mutual_information"]
    for row in rows:
        down, up = float(row["p_down"]), float(row["p_up"])
        assert down + up == pytest.approx(1, abs=1e-5)
        assert row["predicted"] == ("down" if down > up else "up")
        assert float(row["confidence"]) == pytest.approx(max(down, up))
        assert 0 <= float(row["mutual_information"]) <= float(row["entropy"]) <= np.log(2) + 1e-5


def test_arrays_in_arrays_out_and_the_same_numbers_again(digits_run, tmp_path):
    np.savez(tmp_path / "in.npz", x=np.random.default_rng(0).random((5, 64)))
    first = predict_file(digits_run, tmp_path / "in.npz", tmp_path / "out.npz", num_samples=3)
    with np.load(tmp_path / "out.npz") as archive:
        assert set(archive.files) == set(first)
        np.testing.assert_array_equal(archive["p_3"], first["p_3"])
    again = predict_file(digits_run, tmp_path / "in.npz", tmp_path / "out.npz", num_samples=3, overwrite=True)
    np.testing.assert_array_equal(again["p_3"], first["p_3"])


def test_files_that_cannot_be_had_or_must_not_be_replaced(digits_run, tmp_path):
    np.savez(tmp_path / "in.npz", x=np.zeros((5, 64)))
    (tmp_path / "out.csv").write_text("mine")
    for source, target, message in (
        ("in.npz", "out.csv", "exists already: choose another name, or say `overwrite`"),
        ("in.npz", "out.txt", "predictions are written to .csv and .npz files"),
        ("in.npz", "no/out.csv", "there is no folder"),
        ("im.npz", "new.csv", r"no file .*im.npz \(did you mean 'in.npz'\?\)"),
    ):
        with pytest.raises((ValueError, FileNotFoundError), match=message):
            predict_file(digits_run, tmp_path / source, tmp_path / target, num_samples=1)
    assert (tmp_path / "out.csv").read_text() == "mine"
    with pytest.raises(ValueError, match="levels of quantiles"):
        predict_file(digits_run, tmp_path / "in.npz", tmp_path / "new.csv", quantiles=(1.5,))


def test_several_targets_have_columns_of_their_own(tmp_path):
    from plait.recipes.predicting import _of_numbers

    class Pred:
        mean = std = aleatoric = epistemic = np.ones((4, 2))

        def __len__(self):
            return 4

        def quantiles(self, levels):
            return np.ones((len(levels), 4, 2))

    names = list(_of_numbers(Pred(), (0.05,)))
    assert names == [f"{name}_{c}" for c in (0, 1) for name in ("mean", "std", "aleatoric", "epistemic", "q05")]
