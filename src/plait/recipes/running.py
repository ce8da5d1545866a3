"""A training run from its options to its folder; stopped by Ctrl-C or a crash, it goes on where it was."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plait.checkpoint import load, save
from plait.data import Dataset
from plait.fit import EarlyStopping, Fit, fit
from plait.model import BayesianModel
from plait.objective import Schedule
from plait.recipes.building import build_model
from plait.recipes.facts import Facts
from plait.recipes.keys import run_keys
from plait.recipes.kl_schedules import make_kl_schedule
from plait.recipes.optimizers import fitting_model, make_optimizer
from plait.recipes.options import Options, TrainingOptions, check_options, settle
from plait.recipes.run_folder import RunFolder, check_free, free_name
from plait.recipes.run_report import write_report
from plait.recipes.scoring import Scored, metrics_of, score
from plait.recipes.training_data import load_data
from plait.sparsity import with_masks


@dataclass(frozen=True, eq=False)
class Job:
    """Everything that a run needs, found to be in order."""

    options: Options
    facts: Facts
    dataset: Dataset
    bnn: BayesianModel


@dataclass(frozen=True, eq=False)
class Done:
    """What a run came to."""

    folder: RunFolder
    fit: Fit
    scored: Scored | None
    """None where Ctrl-C ended it."""


def prepare(options: Options) -> Job:
    """Load the data and build the network; whatever is wrong with the options shows here."""
    check_options(options.training)
    dataset = load_data(options.data, counts=options.model.likelihood == "poisson")
    options, facts = settle(options, len(dataset.train.x)), Facts.of(dataset, options.data.data)
    if options.training.early_stopping is not None and dataset.validation is None:
        raise ValueError(
            f"`early_stopping` looks at validation data, and {facts.name} has none; set `validation` to 0.1"
        )
    _kl_schedule(options.training)
    return Job(options, facts, dataset, _build(options, facts))


def train(options: Options, output: str | os.PathLike[str] | None = None, *, progress: bool | None = None) -> Done:
    """A new run, in a folder that does not exist yet."""
    if output is not None:
        check_free(Path(output))
    job = prepare(options)
    folder = RunFolder.create(free_name(options) if output is None else output, job.options, job.facts)
    return _run(job, folder, progress)


def resume(path: str | os.PathLike[str], *, progress: bool | None = None) -> Done:
    """Go on with a run from its last checkpoint; the result is that of a run that never stopped."""
    folder = RunFolder.open(path)
    if folder.made_by is not None:
        raise ValueError(f"{path} was made by `{folder.made_by}`, and has no training to go on with; train another run")
    job = prepare(folder.options)
    if job.facts.to_dict() != folder.facts.to_dict():
        raise ValueError(f"{job.facts.name} is not the data any more that {path} was begun with; start a new run")
    return _run(job, folder, progress)


def load_model(folder: RunFolder) -> BayesianModel:
    """The trained model of a run."""
    if not folder.model.is_file():
        raise ValueError(
            f"{folder.path} has no trained model yet: go on with `plait train --resume {folder.path}` first"
        )
    return load(folder.model, like=blank_model(folder))


def blank_model(folder: RunFolder) -> BayesianModel:
    """A model that is built as the trained one was, masks included."""
    bnn = _build(folder.options, folder.facts, folder.ranks)
    shapes = {row.path: row.shape for row in bnn.sites}
    return with_masks(bnn, {path: np.zeros(shapes[path], bool) for path in folder.masked or ()})


def _build(options: Options, facts: Facts, ranks: Mapping[str, int] | None = None) -> BayesianModel:
    bnn = build_model(fitting_model(options), facts, ranks=ranks, key=run_keys(options.training.seed).model)
    prepare = getattr(make_optimizer(options.training, steps=1), "prepare", None)
    return bnn if prepare is None else prepare(bnn)


def _kl_schedule(options: TrainingOptions) -> Schedule:
    return make_kl_schedule(options.kl_schedule, options.kl_weight, options.kl_warmup)


def _run(job: Job, folder: RunFolder, progress: bool | None) -> Done:
    options, dataset = job.options.training, job.dataset
    assert options.epochs is not None
    assert options.batch_size is not None
    steps = options.epochs * (len(dataset.train.x) // options.batch_size)
    patience = options.early_stopping
    found = fit(
        job.bnn,
        dataset.train,
        optimizer=make_optimizer(options, steps),
        epochs=options.epochs,
        batch_size=options.batch_size,
        key=run_keys(options.seed).training,
        kl_schedule=_kl_schedule(options),
        num_samples=options.train_samples if options.optimizer == "adam" else 1,
        clip_norm=options.clip_norm,
        validation=dataset.validation,
        # By the likelihood: while the KL is annealed and after, -ELBO at full KL weight is not what is trained for.
        early_stopping=None if patience is None else EarlyStopping(patience, monitor="nll"),
        progress=progress,
        checkpoint=folder.checkpoints,
        resume=True,
    )
    save(folder.model, found.model)
    folder.write_history(found.history)
    if found.interrupted:
        return Done(folder, found, None)
    scored = score(
        *(found.model, f"{job.facts.name} (test)", dataset.test, job.facts),
        key=run_keys(options.seed).evaluation,
        num_samples=options.samples,
        progress=progress,
    )
    folder.write_json("metrics.json", metrics_of(scored))
    write_report(folder, found.model, found.history, scored, dataset)
    return Done(folder, found, scored)
