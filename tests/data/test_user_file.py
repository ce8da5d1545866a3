"""A user's own files."""

import numpy as np
import pytest

from plait.data import load, load_inputs


@pytest.fixture
def houses(tmp_path):
    rng = np.random.default_rng(0)
    rows = np.c_[rng.integers(1, 6, 50), rng.normal(100, 20, 50), rng.normal(3, 1, 50)]
    path = tmp_path / "houses.csv"
    np.savetxt(path, rows, delimiter=",", header="rooms,area,price", comments="")
    return path


def test_csv_regression(houses):
    data = load(houses, target="price")
    assert str(data) == "houses: regression, 36 train, 4 validation, 10 test, inputs 2"
    assert data.feature_names == ("rooms", "area")
    assert data.train.y.shape == (36, 1)
    assert (data.train.x.dtype, data.train.y.dtype) == (np.float32, np.float32)
    assert load(str(houses), target="price", features=["area"], validation=0, test=5).input_shape == (1,)
    assert load(houses, target="price", standardize=True).standardizer is not None


def test_csv_split_is_a_shuffle_by_seed(houses):
    first, again, other = (load(houses, target="price", split=split).train.x for split in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_csv_classes(tmp_path):
    path = tmp_path / "pets.csv"
    path.write_text("weight;Label\n" + "\n".join(f"{i};{'cat' if i % 2 else 'dog'}" for i in range(20)))
    data = load(path)
    assert (data.task, data.num_classes, data.class_names) == ("classification", 2, ("cat", "dog"))
    assert data.train.y.dtype == np.int32
    assert load(path, task="binary").train.y.shape == (14, 1)


def test_columns_that_are_not_there(houses):
    with pytest.raises(ValueError, match=r"no column 'prise' \(did you mean 'price'\?\); there are 'rooms', 'area'"):
        load(houses, target="prise")
    with pytest.raises(ValueError, match="no column 'size'"):
        load(houses, target="price", features=["size"])
    with pytest.raises(ValueError, match=r"give `target`.*'rooms', 'area', 'price'"):
        load(houses)
    with pytest.raises(ValueError, match="other than the target"):
        load(houses, target="price", features=["price"])
    with pytest.raises(ValueError, match="other than the target"):
        load(houses, target="price", features=[])


def test_npz_with_x_and_y(tmp_path, seed):
    rng = np.random.default_rng(seed)
    np.savez(tmp_path / "a.npz", x=rng.normal(size=(30, 4, 2)), y=rng.normal(size=(30, 2)), labels=np.arange(30) % 3)
    data = load(tmp_path / "a.npz")
    assert (data.task, data.input_shape, data.target_size) == ("regression", (4, 2), 2)
    classes = load(tmp_path / "a.npz", target="labels", flatten=True)
    assert (classes.task, classes.num_classes, classes.input_shape) == ("classification", 3, (8,))
    density = load(tmp_path / "a.npz", task="density")
    assert density.train.x is density.train.y
    assert load(tmp_path / "a.npz", features="y", target="labels").input_shape == (2,)


def test_npz_with_parts_of_its_own(tmp_path, images):
    path = tmp_path / "a.npz"
    np.savez(path, **images)
    data = load(path, validation=2)
    assert [len(pair.x) for pair in data.parts().values()] == [10, 2, 5]
    np.testing.assert_array_equal(data.test.x, images["x_test"])
    assert data.num_classes == 10
    np.savez(path, **images, x_validation=images["x_test"], y_validation=images["y_test"])
    assert [len(pair.x) for pair in load(path).parts().values()] == [12, 5, 5]
    with pytest.raises(ValueError, match="validation part of its own"):
        load(path, validation=2)
    with pytest.raises(ValueError, match="test examples of its own"):
        load(path, test=2)
    with pytest.raises(ValueError, match="test examples of its own"):
        load(path, split=1)
    np.savez(path, **images, x_validation=images["x_test"])
    with pytest.raises(ValueError, match="only x_validation is there"):
        load(path)


def test_npz_that_does_not_fit(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, x=np.zeros((3, 2)), y=np.zeros(4), o=np.asarray([{}, {}, {}]))
    with pytest.raises(ValueError, match=r"shapes \(3, 2\) and \(4,\)"):
        load(path)
    with pytest.raises(ValueError, match="no array 'z'; there are x, y, o"):
        load(path, target="z")
    with pytest.raises(ValueError, match="Python objects"):
        load(path, target="o")
    with pytest.raises(ValueError, match="name of one array"):
        load(path, features=["x"])
    with pytest.raises(ValueError, match="name of one array"):
        load_inputs(path, features=["x"])
    path.write_bytes(b"PK\3\4 and nothing more")
    with pytest.raises(ValueError, match="no readable npz"):
        load(path)
    with path.open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(ValueError, match="a single array"):
        load(path)


def test_not_a_number_is_refused(tmp_path):
    x = np.zeros((30, 2))
    x[:, 1] = np.nan
    np.savez(tmp_path / "a.npz", x=x, y=np.arange(30.0))
    with pytest.raises(ValueError, match="NaN"):
        load(tmp_path / "a.npz")


def test_wrong_options(houses, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*house.csv \(did you mean 'houses.csv'\?\)"):
        load(houses.with_name("house.csv"))
    with pytest.raises(FileNotFoundError, match="no file"):
        load(tmp_path / "nowhere" / "a.npz")
    with pytest.raises(ValueError, match="density"):
        load(houses, target="price", task="density")
    with pytest.raises(ValueError, match="for sets with a name"):
        load(houses, target="price", maxlen=3)
    with pytest.raises(ValueError, match="leaves nothing"):
        load(houses, target="price", validation=40)
    with pytest.raises(ValueError, match="no test examples"):
        load(houses, target="price", test=0)


def test_inputs_to_predict_from(houses, tmp_path):
    x, names = load_inputs(houses, features=("area", "rooms"))
    assert names == ("area", "rooms")
    assert x.shape == (50, 2)
    assert load_inputs(houses)[1] == ("rooms", "area", "price")
    np.savez(tmp_path / "a.npz", x=np.zeros((3, 2), np.uint8), other=np.ones(3))
    assert load_inputs(tmp_path / "a.npz")[0].dtype == np.uint8
    np.testing.assert_array_equal(load_inputs(tmp_path / "a.npz", features="other")[0], np.ones(3))
    with pytest.raises(ValueError, match=r"\.npz and \.csv"):
        load_inputs(tmp_path / "a.txt")
    with pytest.raises(FileNotFoundError):
        load_inputs(tmp_path / "b.csv")
