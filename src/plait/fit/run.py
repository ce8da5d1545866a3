"""The loop around the compiled steps: chunks of about a second, and what happens between them.

After an epoch: a row of the history, a look at the validation data, callbacks; at its steps a checkpoint. None of it
changes what the steps compute, and neither does the length of a chunk.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from plait._typing import Array
from plait.checkpoint import CheckpointFolder
from plait.checkpoint.arrays import differences, shorten
from plait.fit.chunk import MAX_EPOCHS, METRICS, State, copied
from plait.fit.early_stopping import Best
from plait.fit.feed import Feed, InMemory
from plait.fit.history import History, Row
from plait.fit.interrupt import interrupts
from plait.fit.non_finite import NonFiniteLoss, find_causes
from plait.fit.plan import Recipe
from plait.fit.progress import Display
from plait.fit.record import Callback, Record
from plait.fit.replicas import pick
from plait.fit.result import Ending
from plait.fit.validation import Validation, validate

CHUNK_SECONDS = 1.0


@dataclass
class Run:
    """A training run."""

    recipe: Recipe
    state: State
    feed: Feed
    settings: dict[str, Any]
    """What must be the same when the run is resumed."""
    output: Callable[[Any], Array]
    display: Display = field(default_factory=Display)
    validation: Validation | None = None
    eval_every: int = 1
    best: Best | None = None
    callbacks: Sequence[Callback] = ()
    folder: CheckpointFolder | None = None
    checkpoint_every: int = 1
    step: int = 0
    history: History = field(default_factory=History)
    ending: Ending = "finished"
    saved: int | None = None
    """The step of the last checkpoint."""

    _clock: float = 0.0
    """Seconds since the last row, and the steps in them."""
    _clocked: int = 0
    _rate: float = 0.0
    _chunk: int = 1

    def go(self) -> None:
        """Train to the end, or to whatever ends it before."""
        plan = self.recipe.plan
        try:
            with interrupts() as pressed:
                if isinstance(self.feed, InMemory) and self.step < plan.total_steps:
                    # No steps, to have it compiled before the clock runs.
                    self.state = self.feed.advance(self.recipe, self.state, self.step, self.step).state
                while self._goes_on():
                    self._advance(self._next_stop())
                    if self._agreed(pressed()):
                        self.ending = "interrupted"
                self._finish()
        finally:
            self.display.close()

    # -- one chunk -----------------------------------------------------------------------------------------------------

    def _goes_on(self) -> bool:
        if self.ending == "finished" and self.best is not None and self.best.exhausted:
            self.ending = "early stopping"
        return self.ending == "finished" and self.step < self.recipe.plan.total_steps

    def _next_stop(self) -> int:
        """The step up to which nothing needs to be done but steps."""
        plan, step = self.recipe.plan, self.step
        length = plan.steps_per_epoch
        gap = MAX_EPOCHS
        if self.callbacks or not isinstance(self.feed, InMemory):
            gap = 1
        elif self.validation is not None:
            gap = self.eval_every
        # Processes that work on one batch together must agree on the chunks, and their clocks do not.
        chunk = length if jax.process_count() > 1 else self._chunk
        stops = [plan.total_steps, step + chunk, (step // length + MAX_EPOCHS) * length]
        stops.append((step // (gap * length) + 1) * gap * length)
        if self.folder is not None:
            stops.append((step // self.checkpoint_every + 1) * self.checkpoint_every)
        return min(stops)

    def _advance(self, stop: int) -> None:
        began, start = time.perf_counter(), self.step
        self.state, self.step, rows = self.feed.advance(self.recipe, self.state, start, stop)
        failed = np.asarray(self.state.failed)
        self._time(time.perf_counter() - began, self.step - start)
        if np.all(failed >= 0):
            self._fail(rows, int(failed.min()))
        self._add_rows(rows)
        if self.step < stop:
            self.ending = "data ended"
        if rows and self.step % self.recipe.plan.steps_per_epoch == 0:
            self._after_epoch()
        shown = self._row(self.step, np.array(self.state.means)) | self._validated()
        self.display.show(self.step, shown, self._rate)
        if self.folder is not None and self.step % self.checkpoint_every == 0:
            self._save()

    def _time(self, seconds: float, steps: int) -> None:
        self._clock, self._clocked = self._clock + seconds, self._clocked + steps
        self._rate = steps / seconds if seconds > 0 else 0.0
        # Grown step by step, since the first chunks are too short to be timed well.
        self._chunk = max(1, min(int(self._rate * CHUNK_SECONDS), 8 * max(steps, 1)))

    def _after_epoch(self) -> None:
        epoch, row = self.step // self.recipe.plan.steps_per_epoch, self.history.rows[-1]
        if self.validation is not None and (epoch % self.eval_every == 0 or self._is_last()):
            self._look(row)
        record = Record(self.step, row, self.history, lambda: self.state)
        for callback in self.callbacks:
            if callback(record) is True:
                self.ending = "callback"

    def _is_last(self) -> bool:
        return self.step >= self.recipe.plan.total_steps

    def _look(self, row: Row) -> None:
        """Look at the validation data."""
        assert self.validation is not None
        metrics = validate(self.validation, self.state.bnn)
        row |= {f"validation_{name}": _plain(value) for name, value in metrics.items()}
        if self.best is not None:
            value = row[f"validation_{self.best.rule.monitor}"]
            if self.best.is_improved_by(value):
                self.best.value, self.best.step, self.best.waited = value, self.step, 0
                self.best.bnn = copied(self.state.bnn)

    # -- rows ----------------------------------------------------------------------------------------------------------

    def _add_rows(self, rows: list[tuple[int, np.ndarray]]) -> None:
        length = self.recipe.plan.steps_per_epoch
        for epoch, means in rows:
            self.history.rows.append(self._row((epoch + 1) * length, means))
        if rows:
            self._clock, self._clocked = 0.0, 0

    def _row(self, step: int, means: np.ndarray) -> Row:
        plan = self.recipe.plan
        # A replica that stopped has no loss any more.
        failed = np.asarray(self.state.failed)
        means = np.where(((failed >= 0) & (failed < step))[..., None], np.nan, means)
        values = {name: means[..., index] for index, name in enumerate(METRICS)}
        if np.all(np.isnan(values["grad_norm"])):
            del values["grad_norm"]
        values["negative_elbo"] = values["nll"] + values["kl"] / plan.dataset_size
        order = ("loss", "nll", "kl", "negative_elbo", "kl_weight", "grad_norm")
        epoch = step / plan.steps_per_epoch
        row: Row = {"step": step, "epoch": int(epoch) if epoch.is_integer() else epoch}
        row |= {name: _plain(values[name]) for name in order if name in values}
        row["steps_per_second"] = self._clocked / self._clock if self._clock > 0 else 0.0
        return row

    def _validated(self) -> Row:
        """The last validation metrics."""
        last = next((row for row in reversed(self.history.rows) if "validation_nll" in row), {})
        return {name: value for name, value in last.items() if name.startswith("validation_")}

    # -- the end -------------------------------------------------------------------------------------------------------

    def _finish(self) -> None:
        if self.folder is not None and self.saved != self.step:
            self._save()
        length = self.recipe.plan.steps_per_epoch
        if self.step % length:
            # The part of an epoch that was not completed. It is not in the checkpoint, so that a run that goes on from
            # there has the rows of one that never stopped.
            self.history.rows.append(self._row(self.step, np.array(self.state.means)))
            if self.validation is not None:
                self._look(self.history.rows[-1])
        failed = np.asarray(self.state.failed)
        if failed.ndim and (failed >= 0).any():
            at = {int(replica): int(failed[replica]) for replica in np.flatnonzero(failed >= 0)}
            warnings.warn(
                f"{len(at)} of {failed.size} replicas ran into a loss that is not finite, at these steps: {at}; their "
                "last finite parameters are kept",
                RuntimeWarning,
                stacklevel=4,
            )

    def _fail(self, rows: list[tuple[int, np.ndarray]], step: int) -> None:
        length = self.recipe.plan.steps_per_epoch
        self.step, self.ending = step, "not finite"
        self._add_rows([(epoch, means) for epoch, means in rows if (epoch + 1) * length <= step])
        recipe, bnn, key = self.recipe, self.state.bnn, self.recipe.noise_key
        if recipe.plan.replicas is not None:
            first = int(np.argmin(np.asarray(self.state.failed)))
            bnn, key = pick(bnn, first), key[first]
        causes = find_causes(
            bnn,
            self.feed.batch(recipe, step),
            key=jax.random.fold_in(key, step),
            dataset_size=recipe.plan.dataset_size,
            kl_weight=recipe.kl_weight(jnp.asarray(step, jnp.int32)),
            output=self.output,
        )
        raise NonFiniteLoss(step, causes, self.checkpoint)

    # -- checkpoints ---------------------------------------------------------------------------------------------------

    @property
    def checkpoint(self) -> Path | None:
        """The last one."""
        return None if self.folder is None or self.saved is None else self.folder.folder_of(self.saved)

    def prepare_folder(self, resume: bool) -> None:
        """Go on from the last checkpoint if there is one and it is asked for; refuse to write over it if not."""
        assert self.folder is not None
        if self.folder.steps() and not resume:
            raise ValueError(
                f"{self.folder.path} has checkpoints of an earlier run, up to step {self.folder.last()}: pass "
                "`resume=True` to go on from there, or another folder"
            )
        self.folder.prepare(self._tree())
        if resume and self.folder.steps():
            self._restore()

    def _tree(self) -> dict[str, Any]:
        return {"state": self.state, "best": None if self.best is None else self.best.bnn}

    def _save(self) -> None:
        assert self.folder is not None
        best = self.best
        notes = {
            "settings": self.settings,
            "history": self.history.rows,
            "best": None if best is None else {"value": best.value, "step": best.step, "waited": best.waited},
        }
        score = self._validated().get("validation_negative_elbo")
        score = score if isinstance(score, float) else None
        self.folder.save(self.step, self._tree(), notes, score=score)
        self.saved = self.step

    def _restore(self) -> None:
        assert self.folder is not None
        changed = differences(self.folder.notes()["settings"], self.settings)
        if changed:
            raise ValueError(f"{self.folder.path} is of a run with other settings:{shorten(changed)}")
        saved = self.folder.restore(self._tree())
        self.state, self.step, self.saved = saved.tree["state"], saved.step, saved.step
        self.history.rows[:] = saved.notes["history"]
        if self.best is not None:
            self.best.bnn = saved.tree["best"]
            self.best.value, self.best.step, self.best.waited = (
                saved.notes["best"][name] for name in ("value", "step", "waited")
            )

    def _agreed(self, wish: bool) -> bool:
        """Whether any process that shares the mesh has a wish."""
        if jax.process_count() == 1 or self.recipe.plan.placement.mesh is None:
            return wish
        from jax.experimental.multihost_utils import process_allgather

        return bool(np.any(process_allgather(np.asarray(wish))))


def _plain(value: Any) -> Any:
    """A float, or a list of them: what JSON gives back as it was."""
    return np.asarray(value, float).tolist()
