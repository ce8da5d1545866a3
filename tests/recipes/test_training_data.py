import numpy as np
import pytest

from plait import data
from plait.recipes.facts import Facts
from plait.recipes.options import DataOptions
from plait.recipes.training_data import load_data, load_foreign, load_inputs, load_other


def test_tables_are_scaled_and_pictures_are_not():
    assert load_data(DataOptions("digits")).standardizer is None
    scaled = load_data(DataOptions("diabetes"))
    assert scaled.standardizer is not None
    assert abs(scaled.train.y.mean()) < 1e-5
    assert load_data(DataOptions("diabetes", standardize=False)).standardizer is None
    assert load_data(DataOptions("digits", standardize=True)).standardizer is not None


def test_counts_keep_their_units_while_inputs_are_scaled():
    plain, counts = data.load("diabetes"), load_data(DataOptions("diabetes"), counts=True)
    np.testing.assert_array_equal(counts.train.y, plain.train.y)
    assert abs(counts.train.x.mean()) < 1e-5
    assert counts.standardizer is not None
    assert counts.standardizer.y_scale is None


def test_options_of_own_files_are_refused_for_named_sets():
    with pytest.raises(ValueError, match="`target` is for files of your own, not for digits"):
        load_data(DataOptions("digits", target="y"))


def test_data_without_targets_are_refused(tmp_path):
    np.savez(tmp_path / "x.npz", x=np.random.default_rng(0).random((40, 3)))
    with pytest.raises(ValueError, match="x has no targets to train a network on"):
        load_data(DataOptions(str(tmp_path / "x.npz"), task="density"))


@pytest.fixture
def kinds(kinds_csv):
    options = DataOptions(str(kinds_csv), target="kind")
    return Facts.of(load_data(options), options.data), options


def test_labels_of_another_file_are_those_of_the_run(kinds, tmp_path):
    facts, options = kinds
    lines = ["b,more,a,kind"] + [f"{i},9,0,up" for i in range(12)] + ["0,9,-1,down"]
    (tmp_path / "new.csv").write_text("\n".join(lines))
    pair = load_other(str(tmp_path / "new.csv"), facts, options)
    assert len(pair.x) == 13
    assert sorted(pair.y.tolist()) == [0] + 12 * [1]
    # Columns go by their names, and are scaled as in training.
    expected = facts.prepare(np.asarray([[-1.0, 0.0]]), "x")
    np.testing.assert_allclose(pair.x[pair.y == 0], expected)


def test_classes_that_the_run_does_not_know_are_refused(kinds, tmp_path):
    facts, options = kinds
    (tmp_path / "new.csv").write_text("\n".join(["a,b,kind"] + 9 * ["0,0,up", "1,1,left"]))
    with pytest.raises(ValueError, match="the run knows the classes down, up, but targets are left"):
        load_other(str(tmp_path / "new.csv"), facts, options)


def test_a_set_with_another_kind_of_target_is_refused(kinds):
    with pytest.raises(ValueError, match=r"diabetes is a regression, but the run is of kinds, a classification"):
        load_other("diabetes", *kinds)


def test_targets_of_another_size_are_refused(tmp_path):
    options = DataOptions("diabetes")
    facts = Facts.of(load_data(options), "diabetes")
    np.savez(tmp_path / "two.npz", x=np.zeros((30, 10)), y=np.random.default_rng(0).random((30, 2)))
    with pytest.raises(ValueError, match="targets have 2 entries, the run's have 1"):
        load_other(str(tmp_path / "two.npz"), facts, options)


def test_test_pictures_can_be_turned():
    digits = load_data(DataOptions("digits"))
    facts = Facts.of(digits, "digits")
    turned = load_foreign("rotated", facts, DataOptions("digits"), digits.test)
    np.testing.assert_array_equal(turned[0], np.rot90(digits.test.x[0]))


def test_only_pictures_can_be_turned(kinds):
    facts, options = kinds
    with pytest.raises(ValueError, match="`out_of_distribution` rotated turns pictures, and kinds has none"):
        load_foreign("rotated", facts, options, load_data(options).test)


def test_inputs_go_by_the_names_of_their_columns(kinds, tmp_path):
    facts, options = kinds
    (tmp_path / "x.csv").write_text("b,note,a\n1,7,2\n")
    inputs = load_inputs(str(tmp_path / "x.csv"), facts)
    np.testing.assert_allclose(inputs, facts.prepare(np.asarray([[2.0, 1.0]]), "x"))
    np.testing.assert_allclose(load_foreign(str(tmp_path / "x.csv"), facts, options, load_data(options).test), inputs)
