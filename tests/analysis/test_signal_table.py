"""The signal of a training run by weight and group."""

import csv

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import plait
from plait.analysis import read_signal, signal_to_noise

STEPS = (4, 8)
OPTIMIZER = optax.chain(signal_to_noise(at=(*STEPS, 1000), window=4), optax.adam(0.01))


def forward(weights: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ weights["first"]) @ weights["last"]


def train(**options) -> plait.Fit:
    key = jax.random.key(0)
    weights = {"first": jax.random.normal(key, (3, 4)), "last": jax.random.normal(key, (4, 1))}
    families = {"first": plait.Tied(2, 0.1), "last": plait.MeanField(0.1)}
    bnn = plait.bayesianize(weights, jnp.zeros((2, 3)), apply=forward, posterior=families, key=key)
    x = np.random.default_rng(0).normal(size=(16, 3)).astype(np.float32)
    given = {"optimizer": OPTIMIZER} | options
    return plait.fit(
        bnn,
        (x, np.sin(x[:, :1])),
        likelihood=plait.Gaussian(0.3),
        steps=8,
        batch_size=4,
        key=key,
        progress=False,
        **given,
    )


@pytest.fixture(scope="module")
def trained() -> plait.Fit:
    return train()


def test_training_is_that_without_recording(trained: plait.Fit):
    plain = train(optimizer=optax.adam(0.01))
    for one, other in zip(jax.tree.leaves(trained.model), jax.tree.leaves(plain.model), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_every_group_of_every_weight_has_a_row(trained: plait.Fit):
    signal = read_signal(trained.state.optimizer)
    sizes = {(row.weight, row.group): row.size for row in signal.rows}
    assert sizes == {
        ("first", "means"): 12,
        ("first", "U"): 6,
        ("first", "V"): 8,
        ("first", "stds"): 14,
        ("last", "means"): 4,
        ("last", "log stds"): 4,
    }
    for row in signal.rows:
        assert np.isfinite(row.mean[:2]).all()
        assert (row.mean[:2] > 0).all()
        # Training has not come to step 1000.
        assert np.isnan(row.mean[2]).all()


def test_standard_deviations_pool_their_two_sides(trained: plait.Fit):
    signal = read_signal(trained.state.optimizer)
    rows, columns, both = (signal.row("first", group) for group in ("U", "V", "stds"))
    np.testing.assert_allclose(both.mean[:2], (6 * rows.mean[:2] + 8 * columns.mean[:2]) / 14, rtol=1e-6)
    assert np.isnan(both.quantiles).all()
    assert np.isnan(both.constant[2])


def test_the_tables_have_a_column_for_each_step(tmp_path, trained: plait.Fit):
    signal = read_signal(trained.state.optimizer)
    table = signal.table("usual")
    assert table.columns == ("weight", "group", "numbers", "step 4", "step 8", "step 1,000")
    assert len(table.rows) == 6
    assert [line for line in str(signal).splitlines() if line in ("usual", "printed", "dimensionless")] == [
        "usual",
        "printed",
        "dimensionless",
    ]
    signal.to_csv(tmp_path / "signal.csv")
    with (tmp_path / "signal.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6 * 3 * 3
    first = rows[0]
    assert (first["weight"], first["step"], first["window"], first["reading"]) == ("first", "4", "4", "usual")
    assert float(first["mean"]) == pytest.approx(signal.row(first["weight"], first["group"]).mean[0, 0])
    assert float(first["quantile 0.1"]) <= float(first["quantile 0.9"])


def test_seeds_side_by_side_are_averaged_with_their_error(tmp_path):
    signal = read_signal(train(replicas=3).state.optimizer)
    assert signal.replicas == 3
    values = signal.mean("last", "log stds", "usual")
    assert values.shape == (3, 3)
    cell = signal.table("usual").rows[-1][3]
    error = values[:, 0].std(ddof=1) / 3**0.5
    assert cell == f"{values[:, 0].mean():.4g} ± {error:.2g}"
    assert signal.table("usual").rows[-1][5] == "nan"
    signal.to_csv(tmp_path / "signal.csv")
    with (tmp_path / "signal.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 6 * 3 * 3
    assert {row["replica"] for row in rows} == {"0", "1", "2"}


def test_what_is_not_there_is_said(trained: plait.Fit):
    signal = read_signal(trained.state.optimizer)
    with pytest.raises(KeyError, match=r"no group 'U' of 'last'; there are 'means' of 'first'"):
        signal.row("last", "U")
    with pytest.raises(ValueError, match="`reading` must be one of 'usual', 'printed', 'dimensionless', got 'snr'"):
        signal.mean("last", "means", "snr")
    with pytest.raises(ValueError, match=r"with one `signal_to_noise`, found 0: train with"):
        read_signal(optax.adam(0.1).init(jnp.zeros(3)))
