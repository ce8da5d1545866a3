"""A run whose network is made smaller, in a folder of its own: zeros by a rule, units cut, and training on if asked.

The new folder holds the same options but for the widths of the network, the history of the run, in its config.json
which weights have zeros left in them, and shrinking.json: what is left of each weight, metrics on the test data before
and after, seconds of a prediction and bytes before and after.
"""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import optax

from plait._table import Table
from plait.bench.latency import latency
from plait.checkpoint import load, save
from plait.data import Dataset
from plait.fit import fit
from plait.metrics import Estimate
from plait.model import BayesianModel
from plait.posterior import MaskedPosterior
from plait.predict.evaluation import TITLES
from plait.recipes.keys import run_keys
from plait.recipes.networks import widths_of
from plait.recipes.options import Options, TrainingOptions
from plait.recipes.run_folder import RunFolder, check_free, free_name_beside
from plait.recipes.run_report import write_report
from plait.recipes.running import blank_model, load_model
from plait.recipes.scoring import metrics_of, score
from plait.recipes.training_data import load_data
from plait.sparsity import Report, Rule, shrink, sparsify

SHOWN = ("negative_elbo", "nll", "accuracy", "rmse")
BATCH = 256
"""Examples in a prediction that is timed."""


@dataclass(frozen=True, eq=False)
class ShrunkRun:
    """The new run, and what it cost."""

    folder: RunFolder
    report: Report
    metrics: Mapping[str, Mapping[str, Estimate]]
    """On the test data, by stage: "before", "zeroed" and, where it was trained on, "fine-tuned"."""
    file_bytes: tuple[int, int]
    seconds: tuple[float, float]
    """Of a prediction with mean weights for up to `BATCH` test inputs."""

    def table(self) -> Table:
        """A column for each stage."""
        last = list(self.metrics.values())[-1]
        rows = [
            (TITLES[name], *(str(found[name]) for found in self.metrics.values())) for name in SHOWN if name in last
        ]
        assert self.report.bytes_before is not None
        assert self.report.bytes_after is not None
        sizes = {
            "weights": (f"{self.report.weights:,}", f"{self.report.weights_left:,}"),
            "bytes of the plain network": (f"{self.report.bytes_before:,}", f"{self.report.bytes_after:,}"),
            "bytes of the file": tuple(f"{count:,}" for count in self.file_bytes),
            "ms for a prediction": tuple(f"{1e3 * seconds:.3g}" for seconds in self.seconds),
        }
        # Training on changes values, not sizes.
        rows += [(name, before, *[after] * (len(self.metrics) - 1)) for name, (before, after) in sizes.items()]
        return Table(("test data", *self.metrics), rows)


def shrink_run(
    run: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    rule: Rule | None = None,
    fine_tune: int = 0,
    data_dir: str | None = None,
    num_samples: int = 100,
    progress: bool | None = None,
) -> ShrunkRun:
    """Make the network of a run smaller, and write it as a run of its own.

    Args:
        run: the folder of the run.
        output: the folder to write; by default the run's name with "-shrunk", and a number where that is taken.
        rule: which weights become zero; by default `plait.LogAlpha(3.0)`.
        fine_tune: epochs of training afterwards, with a tenth of the run's learning rate and its last KL weight.
        data_dir: a folder with data sets; by default the run's own.
        num_samples: weight samples of the metrics.
        progress: whether to show bars.
    """
    if isinstance(fine_tune, bool) or fine_tune < 0:
        raise ValueError(f"`fine_tune` is a number of epochs and must be at least 0, got {fine_tune!r}")
    folder = RunFolder.open(run)
    target = free_name_beside(folder.path, "shrunk") if output is None else Path(output)
    check_free(target)
    options, facts, keys = folder.options, folder.facts, run_keys(folder.options.training.seed)
    bnn = load_model(folder)
    source = options.data if data_dir is None else replace(options.data, data_dir=data_dir)
    dataset = load_data(source, counts=options.model.likelihood == "poisson")
    how: dict[str, Any] = {"key": keys.evaluation, "num_samples": num_samples, "progress": progress}

    small = shrink(sparsify(bnn, rule))
    models: dict[str, BayesianModel] = {"before": bnn, "zeroed": small.model}
    if fine_tune:
        models["fine-tuned"] = _trained_on(small.model, dataset, options.training, fine_tune, progress)
    scores = {stage: score(m, f"{facts.name} (test)", dataset.test, facts, **how) for stage, m in models.items()}

    final, last = list(models.values())[-1], list(scores.values())[-1]
    masked = [path for path, posterior in final.posteriors.items() if isinstance(posterior, MaskedPosterior)]
    made = RunFolder.create(target, _smaller(options, final), facts, folder.ranks, masked)
    save(made.model, final)
    # Not after the folder is complete: a network that its options cannot build is no run.
    load(made.model, like=blank_model(made))
    history = folder.read_history()
    made.write_history(history)
    made.write_json("metrics.json", metrics_of(last))
    write_report(made, final, history, last, dataset)
    times = latency({"before": bnn, "after": final}, jnp.asarray(dataset.test.x[:BATCH]))
    found = ShrunkRun(
        made,
        small.report,
        {stage: scored.evaluation.metrics for stage, scored in scores.items()},
        (folder.model.stat().st_size, made.model.stat().st_size),
        (times["before"], times["after"]),
    )
    scored_values = {stage: metrics_of(scored)["metrics"] for stage, scored in scores.items()}
    made.write_json("shrinking.json", _as_json(found, folder.path, scored_values, fine_tune))
    return found


def _trained_on(
    bnn: BayesianModel, dataset: Dataset, training: TrainingOptions, epochs: int, progress: bool | None
) -> BayesianModel:
    assert training.batch_size is not None
    assert training.learning_rate is not None
    steps = epochs * (len(dataset.train.x) // training.batch_size)
    found = fit(
        bnn,
        dataset.train,
        optimizer=optax.adam(optax.cosine_decay_schedule(training.learning_rate / 10, steps)),
        epochs=epochs,
        batch_size=training.batch_size,
        key=run_keys(training.seed).training,
        kl_schedule=training.kl_weight,
        num_samples=training.train_samples,
        clip_norm=training.clip_norm,
        progress=progress,
    )
    if found.interrupted:
        raise KeyboardInterrupt
    return found.model


def _smaller(options: Options, bnn: BayesianModel) -> Options:
    return replace(options, model=replace(options.model, widths=widths_of(bnn.mean())))


def _as_json(found: ShrunkRun, source: Path, metrics: Mapping[str, Any], fine_tune: int) -> dict[str, Any]:
    return {
        "source": str(source.resolve()),
        "fine_tune_epochs": fine_tune,
        "layers": [asdict(layer) for layer in found.report.layers],
        "bytes_of_network": [found.report.bytes_before, found.report.bytes_after],
        "bytes_of_file": list(found.file_bytes),
        "seconds_of_prediction": list(found.seconds),
        "metrics": dict(metrics),
    }
