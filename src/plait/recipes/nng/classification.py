"""Classifiers by natural gradient against Adam and a mean field, by `plait reproduce nng-classification`.

The paper's first version has no such study; the conv net of its code (half VGG16 on CIFAR-10, MATH 3.7) needs an
accelerator and is `plait reproduce nng-vgg16`. Ours are an MLP on MNIST and a small conv net on CIFAR-10.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from plait._typing import PRNGKey
from plait.checkpoint.atomic import write_whole
from plait.data import Dataset, load
from plait.metrics import Estimate
from plait.recipes.networks import build_network
from plait.recipes.nng.by_epoch import CLASSIFIERS, METRICS, Curve, Setting, train_by_epoch
from plait.recipes.nng.vgg import HALF, VGG
from plait.report import Picture, Table, epoch_curves

Curves = Mapping[str, Curve]
"""By method."""


def _mlp(dataset: Dataset, key: PRNGKey) -> object:
    return build_network("mlp", dataset.input_shape, dataset.target_size, widths=(400, 400), key=key)


def _cnn(dataset: Dataset, key: PRNGKey) -> object:
    return build_network("cnn", dataset.input_shape, dataset.target_size, widths=(32, 64, 64, 128), key=key)


def _small(dataset: Dataset, key: PRNGKey) -> object:
    return build_network("mlp", dataset.input_shape, dataset.target_size, widths=(16,), key=key)


def _vgg(dataset: Dataset, key: PRNGKey) -> object:
    return VGG(dataset.input_shape, dataset.target_size, HALF, key=key)


MNIST = Setting("MLP 784-400-400-10 on MNIST", "mnist", _mlp, 20, 256, prior_scale=0.2, kl_weight=1.0)
CIFAR = Setting("Conv net on CIFAR-10", "cifar10", _cnn, 20, 128, prior_scale=0.1**0.5, kl_weight=0.5)
SMALL = Setting("A small MLP on digits", "digits", _small, 2, 256, prior_scale=0.3, kl_weight=0.1, num_samples=2)
VGG16 = Setting(
    "Half VGG16 on CIFAR-10",
    "cifar10",
    _vgg,
    150,
    128,
    prior_scale=0.1**0.5,
    kl_weight=0.5,
    inverse_every=200,
)
"""Without batch normalisation and without augmentation (MATH 3.7)."""


def reproduce(output: Path, *, data_dir: str | None = None, seed: int = 0, quick: bool = False) -> Table:
    """MNIST and CIFAR-10."""
    settings = (SMALL,) if quick else (MNIST, CIFAR)
    return run_settings("nng-classification", settings, output, data_dir=data_dir, seed=seed, quick=quick)


def run_settings(
    name: str,
    settings: tuple[Setting, ...],
    output: Path,
    *,
    data_dir: str | None,
    seed: int,
    quick: bool = False,
    methods: tuple[str, ...] = CLASSIFIERS,
) -> Table:
    """Train all methods, setting by setting, and write the page."""
    found: dict[str, Curves] = {}
    for setting in settings:
        dataset = load(setting.data, data_dir)
        found[setting.title] = {
            method: train_by_epoch(
                setting, method, dataset, output / setting.data / method.replace(", ", "-").replace(" ", "-"), seed=seed
            )
            for method in methods
        }
    command = f"plait reproduce {name}{' --quick' if quick else ''}{f' --seed {seed}' if seed else ''}"
    _write_page(output, name, settings, found, command)
    return results_table(found)


def results_table(found: Mapping[str, Curves]) -> Table:
    """A row for each network and method, after the last epoch."""
    rows = []
    for title, curves in found.items():
        base = curves.get(CLASSIFIERS[0])
        for method, curve in curves.items():
            cells = [str(Estimate(curve.metrics[name][-1], curve.errors[name][-1])) for name in METRICS]
            cost = "" if base is None else f"{base.steps_per_second / curve.steps_per_second:.2f}"
            rows.append((title, method, *cells, f"{curve.seconds[-1] / curve.epoch[-1]:.2f}", cost))
    return Table(("network", "method", "NLL", "ECE", "accuracy", "s / epoch", "cost"), rows, left=2)


def _write_page(
    output: Path, name: str, settings: tuple[Setting, ...], found: Mapping[str, Curves], command: str
) -> None:
    (output / name).mkdir(parents=True, exist_ok=True)
    parts = [
        "# Classifiers by natural gradient",
        f"Made by `{command}`. Test data after the last epoch, ± is the standard error over test examples. *Cost* is "
        "the time of a step as a multiple of that of Adam without distributions, in these runs and on their machine; "
        "time leaves looks at the test data and compilation out.",
        results_table(found).markdown(),
    ]
    for setting in settings:
        curves = found[setting.title]
        parts += [f"## {setting.title}", _described(setting)]
        for against in ("epoch", "seconds"):
            lines = {
                metric: {method: (getattr(c, against), c.metrics[metric]) for method, c in curves.items()}
                for metric in METRICS
            }
            file = f"{setting.data}-{against}.png"
            what = "epoch" if against == "epoch" else "second of training"
            picture = Picture(epoch_curves(lines, what), f"By {what}", "Test data.")
            picture.save(output / name / file)
            parts.append(f"![{picture.title}]({name}/{file})")
        parts.append(_table_by_epoch(curves).markdown())
    write_whole(output / f"{name}.md", ("\n\n".join(parts) + "\n").encode())


def _described(setting: Setting) -> str:
    clip = "" if setting.kl_clip is None else f", steps clipped at {setting.kl_clip:g}"
    return (
        f"{setting.epochs} epochs, batches of {setting.batch_size}, prior std {setting.prior_scale:.3g}, KL weight "
        f"{setting.kl_weight:g}, initial std {setting.init_scale:g}. Adam at {setting.learning_rate:g}; natural "
        f"gradient with alpha {setting.natural_rate:g}, beta {setting.curvature_rate:g}, statistics every "
        f"{setting.statistics_every} steps, inverses of K-FAC every {setting.inverse_every}, damping "
        f"{setting.damping:g}{clip}; rates fall along a cosine. {setting.num_samples} weight samples."
    )


def _table_by_epoch(curves: Curves) -> Table:
    epochs = sorted({int(epoch) for curve in curves.values() for epoch in curve.epoch})
    shown = sorted({epochs[index] for index in np.linspace(0, len(epochs) - 1, min(6, len(epochs))).astype(int)})
    rows = []
    for metric in METRICS:
        for method, curve in curves.items():
            values = dict(zip(curve.epoch.tolist(), curve.metrics[metric].tolist(), strict=True))
            rows.append((metric, method, *(f"{values[e]:.4f}" if e in values else "" for e in shown)))
    return Table(("metric", "method", *(f"epoch {epoch}" for epoch in shown)), rows, left=2)
