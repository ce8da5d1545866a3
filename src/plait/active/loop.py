"""Train, ask, label, and train again from scratch.

learner.run(label, rounds=9)                        where labels can be had from a function

indices = learner.ask(); learner.tell(indices, labels)    where they take their time: from an experiment, or a person
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from plait._random import check_key
from plait._typing import Array, PRNGKey
from plait.active.acquisition import Acquisition, find_acquisition
from plait.active.pool import Pool
from plait.active.rounds import Round, rounds_table
from plait.model import BayesianModel
from plait.predict import predict

Train = Callable[..., Any]
"""`train(x, y, key=key)` gives a model from labelled data: a `BayesianModel` with its likelihood, or a `Fit`."""


class Learner:
    """Active learning over a pool.

    Args:
        x: the inputs of the pool, examples on the first axis.
        train: `train(x, y, key=key)`, called with all labelled data for each round; it gives a `Fit`, or a
            `BayesianModel` that knows its likelihood. Building the model inside trains it from scratch.
        labelled: `(indices, labels)` to start with.
        acquisition: "predictive_variance", "mutual_information", "uniform", or a function like these.
        count: inputs asked for at once: those of the largest scores, by themselves and not as a set.
        key: for training, for weights of predictions, and for chance; every round has its own.
        evaluate: `evaluate(model, key=key)`, metrics by name, called after each training.
        num_samples: weight samples of a prediction.
        batch_size: inputs predicted at once.
        output: picks the likelihood's input from the model's outputs, where these are more than one array.
        progress: whether each round is told on the standard output.
    """

    def __init__(
        self,
        x: Any,
        train: Train,
        *,
        labelled: tuple[Any, Any],
        acquisition: str | Acquisition = "mutual_information",
        count: int = 1,
        key: PRNGKey,
        evaluate: Callable[..., Mapping[str, Any]] | None = None,
        num_samples: int = 100,
        batch_size: int = 1024,
        output: Callable[[Any], Array] = lambda outputs: outputs,
        progress: bool = False,
    ):
        check_key(key)
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(f"`count` must be a positive integer, got {count!r}")
        self.pool = Pool(x)
        self.pool.add(*labelled)
        self.acquisition = find_acquisition(acquisition)
        self.rounds: list[Round] = []
        """What happened so far."""
        self.count = count
        self._train, self._evaluate, self._key, self._progress = train, evaluate, key, progress
        self._predicting = {"num_samples": num_samples, "batch_size": batch_size, "output": output}
        self._model: BayesianModel | None = None

    @property
    def model(self) -> BayesianModel:
        """The model of all labels so far; trained now if it is not yet."""
        if self._model is None:
            key = self._keys()[0]
            x, y = self.pool.data
            found = self._train(x, y, key=key)
            found = getattr(found, "model", found)
            if not isinstance(found, BayesianModel):
                raise TypeError(
                    f"`train` must give a Fit or a BayesianModel with its likelihood, got a {type(found).__name__}"
                )
            metrics = {} if self._evaluate is None else self._evaluate(found, key=self._keys()[1])
            self._model = found
            self.rounds.append(Round(len(y), {name: float(value) for name, value in metrics.items()}))
        return self._model

    def scores(self) -> np.ndarray:
        """Of every input of the pool, those with a label too."""
        model, (_, _, predict_key, chance_key) = self.model, self._keys()
        prediction = predict(model, self.pool.x, key=predict_key, progress=False, **self._predicting)
        scores = np.asarray(self.acquisition(prediction, key=chance_key))
        if scores.shape != (len(self.pool),):
            raise ValueError(
                f"`acquisition` must give a score for each of the {len(self.pool)} inputs, got shape {scores.shape}"
            )
        return scores

    def ask(self) -> np.ndarray:
        """Which inputs to have labelled next, by their indices in the pool; asking again gives the same ones."""
        scores = self.scores()
        asked = self.pool.best(scores, min(self.count, max(len(self.pool.unlabelled), 1)))
        self.rounds[-1] = replace(self.rounds[-1], asked=asked, scores=scores[asked])
        return asked

    def tell(self, indices: Any, labels: Any) -> None:
        """Labels of some inputs, of those asked for or of others."""
        self.pool.add(indices, labels)
        self._model = None

    def run(self, label: Callable[[np.ndarray], Any], rounds: int) -> list[Round]:
        """So many acquisitions, labels from a function of indices; then a last training. Gives all rounds so far."""
        if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 0:
            raise ValueError(f"`rounds` must be a whole number from 0, got {rounds!r}")
        for _ in range(rounds):
            asked = self.ask()
            self._tell_user()
            self.tell(asked, label(asked))
        _ = self.model
        self._tell_user()
        return self.rounds

    def _tell_user(self) -> None:
        if self._progress:
            last = self.rounds[-1]
            metrics = "".join(f", {name} {value:.4g}" for name, value in last.metrics.items())
            asked = "" if last.asked is None else f"; next {', '.join(map(str, last.asked))}"
            print(f"{last.num_labelled:,} labels{metrics}{asked}", flush=True)

    def _keys(self) -> Array:
        """Of this number of labels: training, evaluation, prediction, chance."""
        return jax.random.split(jax.random.fold_in(self._key, len(self.pool.labelled)), 4)

    def __str__(self) -> str:
        return f"{self.pool!r}\n{rounds_table(self.rounds).text()}"
