"""A mean-field run as a run of k-tied weights, in a folder of its own, and files of other libraries likewise.

The new folder holds the same options and history, the ranks in its config.json, and compression.json: what was lost by
weight, and metrics on the test data before and after.
"""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from plait._table import Table
from plait.analysis import Compression, compress
from plait.analysis.rank_choice import MAX_RANK
from plait.checkpoint import compress_file, decompress_file, save
from plait.checkpoint.compressed_file import FileCompression, OutputAxis, Transform
from plait.metrics import Estimate
from plait.model import BayesianModel
from plait.predict import evaluate
from plait.predict.evaluation import TITLES
from plait.recipes.keys import run_keys
from plait.recipes.run_folder import RunFolder, check_free, free_name_beside
from plait.recipes.run_report import write_report
from plait.recipes.running import load_model
from plait.recipes.scoring import metrics_of, score
from plait.recipes.training_data import load_data

SHOWN = ("negative_elbo", "nll", "accuracy", "rmse")


@dataclass(frozen=True, eq=False)
class CompressedRun:
    """The new run, and what it cost."""

    folder: RunFolder
    compression: Compression
    before: Mapping[str, Estimate]
    """Metrics on the test data."""
    after: Mapping[str, Estimate]
    file_bytes: tuple[int, int]

    def table(self) -> Table:
        """Metrics on the test data, before and after."""
        rows = [(TITLES[name], str(self.before[name]), str(self.after[name])) for name in SHOWN if name in self.after]
        bytes = [
            ("bytes trained", *(f"{count:,}" for count in self.compression.bytes)),
            ("bytes of the file", *(f"{count:,}" for count in self.file_bytes)),
        ]
        return Table(("test data", "before", "after"), [*rows, *bytes])


def compress_run(
    run: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    rank: int | None = None,
    budget: float | None = None,
    max_rise: float | None = None,
    same_rank: bool = False,
    max_rank: int = MAX_RANK,
    data_dir: str | None = None,
    num_samples: int = 100,
    progress: bool | None = None,
) -> CompressedRun:
    """Tie the standard deviations of a mean-field run, and write it as a run of its own.

    Args:
        run: the folder of the run.
        output: the folder to write; by default the run's name with "-compressed", and a number where that is taken.
        rank: of every weight matrix of which it saves numbers; or instead
        budget: the smallest ranks whose losses are together under so many nats of KL(tied || mean field); or
        max_rise: the smallest rank for all with which -ELBO per example rises by no more, on the validation data, or
            where there is none on the training data. Test data has no say.
        same_rank: one rank for all weights, under a `budget`.
        max_rank: the largest rank to try.
        data_dir: a folder with data sets; by default the run's own.
        num_samples: weight samples of the metrics.
        progress: whether to show bars.
    """
    folder = RunFolder.open(run)
    target = free_name_beside(folder.path, "compressed") if output is None else Path(output)
    check_free(target)
    options, facts, keys = folder.options, folder.facts, run_keys(folder.options.training.seed)
    bnn = load_model(folder)
    source = options.data if data_dir is None else replace(options.data, data_dir=data_dir)
    dataset = load_data(source, counts=options.model.likelihood == "poisson")
    how: dict[str, Any] = {"num_samples": num_samples, "progress": progress}

    def negative_elbo(bnn: BayesianModel) -> float:
        pair = dataset.train if dataset.validation is None else dataset.validation
        found = evaluate(
            bnn, pair, key=keys.prediction, dataset_size=facts.num_train, standardizer=facts.target_scale, **how
        )
        assert found.negative_elbo is not None
        return found.negative_elbo.value

    found = compress(
        bnn,
        rank,
        budget=budget,
        max_rise=max_rise,
        same_rank=same_rank,
        max_rank=max_rank,
        score=None if max_rise is None else negative_elbo,
    )
    if not found.ranks:
        raise ValueError(f"nothing to compress in {run}: no tie of its weights saves numbers as asked for")
    name = f"{facts.name} (test)"
    before, after = (
        score(model, name, dataset.test, facts, key=keys.evaluation, **how) for model in (bnn, found.model)
    )
    made = RunFolder.create(target, options, facts, found.ranks, folder.masked)
    save(made.model, found.model)
    history = folder.read_history()
    made.write_history(history)
    made.write_json("metrics.json", metrics_of(after))
    write_report(made, found.model, history, after, dataset)
    sizes = folder.model.stat().st_size, made.model.stat().st_size
    compressed = CompressedRun(made, found, before.evaluation.metrics, after.evaluation.metrics, sizes)
    made.write_json("compression.json", _as_json(compressed, folder.path, metrics_of(before)))
    return compressed


def compress_tensors(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    mean: str,
    scale: str,
    transform: Transform = "softplus",
    rank: int | None = None,
    budget: float | None = None,
    max_rank: int = MAX_RANK,
    output_axis: OutputAxis | None = None,
) -> tuple[Path, FileCompression]:
    """`plait.checkpoint.compress_file` into a file that does not exist yet, by default NAME-compressed.safetensors."""
    target = _free_file(Path(source), "compressed", output)
    options: dict[str, Any] = {"transform": transform, "max_rank": max_rank, "output_axis": output_axis}
    return target, compress_file(source, target, mean=mean, scale=scale, rank=rank, budget=budget, **options)


def restore_tensors(source: str | os.PathLike[str], output: str | os.PathLike[str] | None = None) -> Path:
    """`plait.checkpoint.decompress_file` into a file that does not exist yet, by default NAME-restored.safetensors."""
    target = _free_file(Path(source), "restored", output)
    decompress_file(source, target)
    return target


def _free_file(source: Path, what: str, output: str | os.PathLike[str] | None) -> Path:
    target = source.with_name(f"{source.stem}-{what}.safetensors") if output is None else Path(output)
    if target.exists():
        raise ValueError(f"{target} exists already: choose another `output`")
    if not target.parent.is_dir():
        raise ValueError(f"{target}: there is no folder {target.parent}; choose another `output`")
    return target


def _as_json(run: CompressedRun, source: Path, before: Mapping[str, Any]) -> dict[str, Any]:
    found = run.compression
    return {
        "source": str(source.resolve()),
        "bytes_trained": list(found.bytes),
        "bytes_of_file": list(run.file_bytes),
        "loss_in_nats": found.loss,
        "weights": [asdict(weight) for weight in found.weights],
        "metrics_before": before["metrics"],
        "metrics_after": {name: asdict(estimate) for name, estimate in run.after.items()},
    }
