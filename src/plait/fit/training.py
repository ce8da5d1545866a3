"""`plait.fit`: from a Bayesian model and data to a trained one."""

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from plait._random import check_key
from plait._typing import Array, PRNGKey
from plait.checkpoint import CheckpointFolder
from plait.fit.checks import check_pair, check_targets
from plait.fit.chunk import begin, copied
from plait.fit.early_stopping import Best, EarlyStopping
from plait.fit.feed import InMemory, Stream
from plait.fit.gradient import make_optimizer, whole
from plait.fit.non_finite import NonFiniteLoss
from plait.fit.placement import Placement
from plait.fit.plan import Plan, Recipe
from plait.fit.precision import in_precision
from plait.fit.progress import make_display
from plait.fit.record import Callback
from plait.fit.replicas import Models, build, pick, read_replicas, repeat
from plait.fit.result import Fit
from plait.fit.run import Run
from plait.fit.settings import make_plan
from plait.fit.validation import Validation
from plait.likelihood import Likelihood
from plait.model import BayesianModel


def fit(
    bnn: Models,
    data: Any,
    *,
    likelihood: Likelihood | None = None,
    optimizer: Any,
    epochs: int | None = None,
    steps: int | None = None,
    batch_size: int | None = None,
    key: PRNGKey,
    dataset_size: int | None = None,
    kl_schedule: Any = 1.0,
    num_samples: int = 1,
    accumulate: int = 1,
    clip_norm: float | None = None,
    precision: str | None = None,
    output: Callable[[Any], Array] | None = None,
    validation: tuple[Any, Any] | None = None,
    eval_every: int = 1,
    eval_samples: int = 8,
    eval_batch_size: int = 1024,
    early_stopping: int | EarlyStopping | None = None,
    callbacks: Callback | Sequence[Callback] = (),
    progress: bool | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int | None = None,
    keep: int = 3,
    resume: bool = False,
    replicas: int | Mapping[str, Any] | None = None,
    data_per_replica: bool = False,
    mesh: Mesh | None = None,
) -> Fit:
    """Train a Bayesian model by the negative ELBO.

    Everything random follows from `key` and the number of the step: a run that is stopped and resumed, or cut into
    other chunks, gives the same numbers.

    Args:
        bnn: a model from `plait.bayesianize`; for replicas also a list of models, or a function of a key that makes
            one (of a key and a mapping of values, where `replicas` is one).
        data: arrays `(x, y)` or `((x, *further inputs), y)`, which are put on the device, or an iterable of such
            batches. Each epoch goes through the arrays in a new order, in batches of `batch_size`; the examples left
            over wait for the next one. An iterable is gone through again and again, and may be a function of the
            number of the pass; an iterator ends training where it ends.
        likelihood: of targets given outputs; by default the model's own. Its arrays, if any, are trained.
        optimizer: an optax transformation, an `Optimizer`, or with a mapping of `replicas` a function of its values
            that makes one.
        epochs: how long to train; or `steps`.
        steps: how long to train; or `epochs`.
        batch_size: examples in one step. An iterable decides for itself.
        key: for the order of the examples, the weight noise, and models that are made here.
        dataset_size: the number of training examples that the KL is spread over: that of the arrays by default,
            required with an iterable.
        kl_schedule: the factor on the KL: a number, a schedule such as `plait.linear_annealing(...)`, or a function of
            the step.
        num_samples: weight samples in one step.
        accumulate: parts that a batch is worked through in, to save memory; the gradient is that of the whole.
        clip_norm: a bound on the norm of the gradient.
        precision: "bfloat16" computes the model in half precision; variational parameters, KL and likelihood stay in
            full.
        output: picks the likelihood's input from the model's outputs, where these are more than one array.
        validation: arrays `(x, y)` to look at every `eval_every` epochs, with `eval_samples` weight samples, in
            batches of `eval_batch_size`.
        eval_every: epochs between two looks.
        eval_samples: weight samples in a look.
        eval_batch_size: examples at once in a look.
        early_stopping: looks without improvement after which to stop, or an `EarlyStopping`; the best model is given
            back.
        callbacks: functions that are called with a `Record` after each epoch and stop training by returning True.
        progress: a live display; None for one on a terminal only.
        checkpoint: a folder for checkpoints, written every `checkpoint_every` steps and at the end. Ctrl-C writes one
            and ends training.
        checkpoint_every: steps between two checkpoints; by default an epoch or a twentieth of training.
        keep: how many of the last checkpoints to keep, beside the one that validated best.
        resume: go on from the last checkpoint in the folder, if there is one.
        replicas: train so many models as one program, from different keys; or a mapping from names of hyperparameters
            to an array with a value for each.
        data_per_replica: whether the data (and the validation data) has a first axis over replicas.
        mesh: devices to share each batch between, along the mesh's first axis. Batches of an iterable are then each
            process's own part.
    """
    check_key(key)
    count, values = read_replicas(replicas, bnn)
    if data_per_replica and count is None:
        raise ValueError("`data_per_replica` says that the data has an axis over replicas: say how many, `replicas=`")
    keys = jax.random.split(key, 4) if count is None else _split(key, count)
    model = _with_likelihood(build(bnn, count, values, keys[0]), likelihood, count)
    one, look = model if count is None else pick(model, 0), whole if output is None else output
    placement = Placement(mesh)
    made = make_plan(data, epochs, steps, batch_size, dataset_size, accumulate, count, data_per_replica, placement)
    plan = made.plan
    check_targets(one, made.sample, "data", plan, look)

    options = {"num_samples": num_samples, "accumulate": accumulate, "clip_norm": clip_norm}
    chosen = make_optimizer(optimizer, values, options, output)
    recipe = placement.everywhere(Recipe(chosen, kl_schedule, keys[1], keys[2], values, plan))
    state = begin(recipe, in_precision(model, precision))
    run = Run(
        recipe,
        state,
        InMemory(placement.everywhere(data)) if plan.num_examples else Stream(made.source),
        settings={"precision": precision, "key": np.asarray(jax.random.key_data(key)).tolist()}
        | made.settings
        | options,
        output=look,
        eval_every=_positive(eval_every, "eval_every"),
        callbacks=(callbacks,) if callable(callbacks) else tuple(callbacks),
        checkpoint_every=_checkpoint_every(checkpoint_every, plan),
    )
    if validation is not None:
        sizes = (_positive(eval_batch_size, "eval_batch_size"), _positive(eval_samples, "eval_samples"))
        run.validation = _make_validation(validation, one, keys[3], plan, look, *sizes)
    if early_stopping is not None:
        rule = early_stopping if isinstance(early_stopping, EarlyStopping) else EarlyStopping(early_stopping)
        run.best = _make_best(rule, run)
    if checkpoint is not None:
        run.folder = CheckpointFolder(checkpoint, keep=keep)
        run.prepare_folder(resume)
    elif resume:
        raise ValueError("`resume` goes on from the last checkpoint in a folder: say which, `checkpoint=folder`")
    run.display = make_display(progress, run.step, plan.total_steps, plan.steps_per_epoch)
    try:
        run.go()
    except NonFiniteLoss as error:
        error.fit = _result(run, model)
        raise
    return _result(run, model)


def _split(key: PRNGKey, count: int) -> Array:
    """Four keys for each replica: [4, replicas]."""
    return jnp.swapaxes(jax.vmap(lambda one: jax.random.split(one, 4))(jax.random.split(key, count)), 0, 1)


def _with_likelihood(bnn: BayesianModel, likelihood: Likelihood | None, count: int | None) -> BayesianModel:
    if likelihood is None:
        if bnn.likelihood is None:
            raise ValueError(
                "the likelihood of targets given outputs is not known: pass one, `likelihood=plait.Categorical()` for "
                "instance"
            )
        return bnn
    return bnn.with_likelihood(likelihood if count is None else repeat(likelihood, count))


def _make_validation(
    data: Any, bnn: BayesianModel, key: Array, plan: Plan, output: Callable[[Any], Array], size: int, samples: int
) -> Validation:
    examples = check_pair(data, "validation", plan.replicas if plan.data_per_replica else None)
    check_targets(bnn, data, "validation", plan, output)
    # As many examples for each device.
    shards = plan.placement.shards
    size = -(-min(size, examples) // shards) * shards
    return plan.placement.everywhere(Validation(data, key, examples, size, samples, output, plan))


def _make_best(rule: EarlyStopping, run: Run) -> Best:
    if run.validation is None:
        raise ValueError("early stopping looks at validation data: pass `validation=(x, y)`")
    if run.recipe.plan.replicas is not None:
        raise ValueError("replicas train as one program and stop together: leave `early_stopping` out")
    return Best(rule, copied(run.state.bnn))


def _checkpoint_every(every: int | None, plan: Plan) -> int:
    usual = max(plan.steps_per_epoch, plan.total_steps // 20)
    return usual if every is None else _positive(every, "checkpoint_every")


def _positive(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"`{name}` must be a positive integer, got {value!r}")
    return value


def _result(run: Run, given: BayesianModel) -> Fit:
    best = run.best if run.best is not None and run.best.step > 0 else None
    bnn = run.state.bnn if best is None else best.bnn
    failed = np.flatnonzero(np.asarray(run.state.failed) >= 0)
    return Fit(
        # It computes as the given model does, whatever the precision of training.
        dataclasses.replace(bnn, skeleton=given.skeleton),
        run.history,
        run.step,
        run.state,
        run.ending,
        best,
        run.recipe.plan.replicas,
        tuple(int(replica) for replica in failed) if run.recipe.plan.replicas is not None else (),
        run.checkpoint,
    )
