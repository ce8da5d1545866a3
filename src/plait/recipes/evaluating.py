"""A run looked at once more: with other samples, other data, or foreign inputs."""

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from plait.recipes.keys import run_keys
from plait.recipes.run_folder import RunFolder
from plait.recipes.run_report import write_report
from plait.recipes.running import load_model
from plait.recipes.scoring import Foreign, Scored, detect, metrics_of, score
from plait.recipes.training_data import load_data, load_foreign, load_other


@dataclass(frozen=True, eq=False)
class Evaluated:
    """What was found, and where it was written."""

    scored: Scored
    foreign: Foreign | None
    metrics: Path


def evaluate_run(
    run: str | os.PathLike[str],
    data: str | None = None,
    *,
    data_dir: str | None = None,
    out_of_distribution: str | None = None,
    num_samples: int = 100,
    batch_size: int = 1024,
    by_sample: bool = False,
    progress: bool | None = None,
) -> Evaluated:
    """Score a run on its own test data, and write its metrics and report anew; or on other data, beside them."""
    folder = RunFolder.open(run)
    facts, options = folder.facts, folder.options
    source = options.data if data_dir is None else replace(options.data, data_dir=data_dir)
    bnn, own = load_model(folder), None
    if data is None:
        own = load_data(source, counts=options.model.likelihood == "poisson")
        name, pair = f"{facts.name} (test)", own.test
    else:
        name, pair = Path(data).name, load_other(data, facts, source)
    x = None if out_of_distribution is None else load_foreign(out_of_distribution, facts, source, pair)
    how = {"num_samples": num_samples, "batch_size": batch_size, "progress": progress}
    key = run_keys(options.training.seed).evaluation
    scored = score(bnn, name, pair, facts, key=key, by_sample=by_sample, **how)
    foreign = None
    if x is not None:
        assert out_of_distribution is not None
        foreign = detect(bnn, Path(out_of_distribution).name, x, scored, facts, key=key, **how)
    file = "metrics.json" if data is None else f"metrics-{re.sub(r'[^A-Za-z0-9._-]+', '-', Path(data).stem)}.json"
    metrics = folder.write_json(file, metrics_of(scored, foreign))
    if own is not None:
        write_report(folder, bnn, folder.read_history(), scored, own, foreign)
    return Evaluated(scored, foreign, metrics)
