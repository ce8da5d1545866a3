"""Predictions for the inputs in a file, written to a file: what is expected, and how sure that is.

classes     predicted, confidence, p_<class> for each, entropy, mutual_information             in nats
numbers     mean, std, aleatoric, epistemic, q05 and so on          std^2 = aleatoric + epistemic, in data units
"""

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from plait.checkpoint.atomic import write_whole
from plait.data.user_file import check_exists, is_user_file
from plait.predict import Predictive, predict
from plait.predict.quantiles import check_levels
from plait.recipes.facts import Facts
from plait.recipes.keys import run_keys
from plait.recipes.run_folder import RunFolder
from plait.recipes.running import load_model
from plait.recipes.training_data import load_inputs

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def predict_file(
    run: str | os.PathLike[str],
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    num_samples: int = 100,
    batch_size: int = 1024,
    quantiles: Sequence[float] = QUANTILES,
    overwrite: bool = False,
    progress: bool | None = None,
) -> dict[str, np.ndarray]:
    """Predict for the inputs in `source`, write `target`, and return its columns."""
    folder, path = RunFolder.open(run), Path(target)
    check_levels(tuple(quantiles))
    _check_target(path, overwrite)
    check_exists(Path(source))
    x = load_inputs(str(source), folder.facts)
    classes = folder.facts.task != "regression"
    pred = predict(
        load_model(folder),
        x,
        key=run_keys(folder.options.training.seed).prediction,
        num_samples=num_samples,
        batch_size=batch_size,
        quantiles=None if classes else quantiles,
        standardizer=folder.facts.target_scale,
        progress=progress,
    )
    columns = _of_classes(pred, folder.facts) if classes else _of_numbers(pred, tuple(quantiles))
    write_whole(path, _as_csv(columns) if path.suffix.lower() == ".csv" else _as_npz(columns))
    return columns


def _check_target(path: Path, overwrite: bool) -> None:
    if not is_user_file(path):
        raise ValueError(f"{path}: predictions are written to .csv and .npz files")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent}")
    if path.exists() and not overwrite:
        raise ValueError(f"{path} exists already: choose another name, or say `overwrite`")


def _of_classes(pred: Predictive, facts: Facts) -> dict[str, np.ndarray]:
    count = len(pred)
    names = np.asarray(facts.class_names)
    probabilities = np.exp(pred.log_probs).reshape(count, -1)
    # A sum of many in single precision is not 1 to the last digit.
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    columns = {"predicted": names[pred.labels.reshape(count)], "confidence": probabilities.max(axis=1)}
    columns |= {f"p_{name}": probabilities[:, index] for index, name in enumerate(facts.class_names)}
    uncertainties = {"entropy": pred.entropy, "mutual_information": pred.mutual_information}
    return columns | {name: values.reshape(count) for name, values in uncertainties.items()}


def _of_numbers(pred: Predictive, levels: tuple[float, ...]) -> dict[str, np.ndarray]:
    parts = {name: getattr(pred, name) for name in ("mean", "std", "aleatoric", "epistemic")}
    parts |= {_quantile_name(level): values for level, values in zip(levels, pred.quantiles(levels), strict=True)}
    flat = {name: values.reshape(len(pred), -1) for name, values in parts.items()}
    if flat["mean"].shape[1] == 1:
        return {name: values[:, 0] for name, values in flat.items()}
    return {
        f"{name}_{column}": values[:, column]
        for column in range(flat["mean"].shape[1])
        for name, values in flat.items()
    }


def _quantile_name(level: float) -> str:
    percent = f"{100 * level:g}"
    return f"q{percent.zfill(2) if '.' not in percent else percent}"


def _as_csv(columns: dict[str, np.ndarray]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    cells = [
        [f"{v:.7g}" for v in values] if values.dtype.kind == "f" else values.tolist() for values in columns.values()
    ]
    writer.writerows(zip(*cells, strict=True))
    return text.getvalue().encode()


def _as_npz(columns: dict[str, np.ndarray]) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **columns)  # pyright: ignore[reportArgumentType]
    return stream.getvalue()
