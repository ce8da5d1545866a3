"""All methods of a protocol, and one variation after the other: each part in a folder, done once.

OUTPUT/networks/NAME-seed-S      a trained network
OUTPUT/results/NAME-seed-S.json  its scores, clean and corrupted
OUTPUT/corrupted/TYPE-SEVERITY.npy  test pictures, corrupted
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import jax
import numpy as np

from plait.data import Dataset, Pair
from plait.data.corruption import COMMON, PublishedCorruptions
from plait.recipes.part import Part, read_json, write_json
from plait.recipes.rank1.batch_norm import num_statistics
from plait.recipes.rank1.methods import Method, methods, rank_one
from plait.recipes.rank1.protocol import Protocol
from plait.recipes.rank1.scoring import (
    CorruptedPictures,
    Result,
    evaluate_corrupted,
    from_json,
    log_probs,
    score,
    to_json,
)
from plait.recipes.rank1.training import Trained, train

Results = dict[str, list[Result]]
"""By method, one for each seed."""


@dataclass(frozen=True)
class Scope:
    """How much of a study."""

    seeds: int = 3
    variations: bool = True
    kinds: tuple[str, ...] = COMMON
    only: tuple[str, ...] = ()
    """Methods of the main table; all by default."""
    published: Path | None = None
    """The folder CIFAR-10-C (or CIFAR-100-C), to read corrupted pictures from instead of making them."""


def variations(protocol: Protocol) -> dict[str, list[Method]]:
    """The studies of the paper's appendix: a table each."""
    factors = protocol.factors

    def rank(name: str, components: int | None = None, reduction: str = "average", **changes: object) -> Method:
        return rank_one(protocol, replace(factors, **changes), name, components=components, reduction=reduction)

    signs = (0.5, -0.5) if factors.family != "lognormal" else (-0.5,)
    readings = ("average", "mixture", "marginal_probability", "marginal_logits")
    return {
        "Weight samples in evaluations": [rank(f"{count} samples", evaluation_samples=count) for count in (1, 4, 25)],
        "Initial spread of the factors": [
            rank(f"dropout rate {rate:g}", dropout_rate=rate) for rate in (1e-6, 1e-3, 1e-1)
        ],
        "Initial means of the factors": [rank(f"random_sign_init {sign:g}", random_sign_init=sign) for sign in signs],
        "Real or positive factors": [rank("real"), rank("positive", family="lognormal", random_sign_init=-0.5)],
        "Which factors": [rank(f"{side}", sides=side) for side in ("rows", "columns", "both")],
        "Reading of the likelihood": [rank(reading, reduction=reading) for reading in readings],
        "Gaussian or Cauchy": [rank("Gaussian"), rank_one(protocol, protocol.cauchy, "Cauchy")],
        "Components": [rank(f"K = {count}", components=count) for count in (1, 2, 4, 8)],
    }


class Study:
    """A protocol, its data and the folder where its parts are kept."""

    def __init__(self, protocol: Protocol, output: Path, *, data_dir: str | None, seed: int, scope: Scope):
        self.protocol, self.output, self.seed, self.scope = protocol, output, seed, scope
        self.dataset: Dataset = protocol.load(data_dir)
        test = self.dataset.test
        count = protocol.corrupted_examples
        self._scaled = protocol.scaling(self.dataset)
        where = None if scope.published is None else str(scope.published)
        looked_at = {"corrupted_examples": count, "test_examples": protocol.test_examples, "kinds": scope.kinds}
        Part(output, {"title": protocol.title, "seed": seed, "published": where} | looked_at)
        self._corrupted: Callable[[str, int], Pair] | None = None
        if scope.published is not None:
            self._corrupted = PublishedCorruptions(scope.published).pair
        elif self.dataset.vocabulary_size is None:
            pair = Pair(test.x[:count], test.y[:count])
            self._corrupted = CorruptedPictures(pair, output / "corrupted", key=jax.random.key(0))

    def main(self) -> Results:
        """The main table."""
        chosen = [each for each in methods(self.protocol) if not self.scope.only or each.name in self.scope.only]
        return {method.name: self.results(method) for method in chosen}

    def variations(self) -> dict[str, Results]:
        """The other tables, on the first seed alone where there are several."""
        if not self.scope.variations:
            return {}
        tables = variations(self.protocol)
        return {
            title: {method.name: self.results(method, seeds=1) for method in found} for title, found in tables.items()
        }

    def results(self, method: Method, *, seeds: int | None = None) -> list[Result]:
        """Of each seed."""
        count = self.scope.seeds if seeds is None else seeds
        return [self._result(method, self.seed + index) for index in range(count)]

    def _result(self, method: Method, seed: int) -> Result:
        file = self.output / "results" / f"{_slug(method)}-samples-{method.samples}-seed-{seed}.json"
        if not file.is_file():
            print(f"{self.protocol.title}: {method.name}, seed {seed}", flush=True)
            file.parent.mkdir(parents=True, exist_ok=True)
            write_json(file, to_json(self._evaluate(method, seed)))
        return from_json(read_json(file))

    def _evaluate(self, method: Method, seed: int) -> Result:
        # The networks of an ensemble are those of other seeds, far from the seeds of the study.
        seeds = [seed] if method.members == 1 else [seed + 1000 * index for index in range(method.members)]
        trained = [self._train(replace(method, members=1), each) for each in seeds]
        models = [each.model for each in trained]

        def predict(x: np.ndarray) -> np.ndarray:
            return log_probs(models, self._scaled(x), key=jax.random.key(seed + 1), samples=method.samples)

        test = self.dataset.test
        corrupted = {} if self._corrupted is None else evaluate_corrupted(predict, self.scope.kinds, self._corrupted)
        num_params = sum(model.num_params - num_statistics(model) for model in models)
        seconds = float(np.sum([each.seconds_per_step for each in trained]))
        return Result(score(predict(test.x), test.y), corrupted, num_params, seconds)

    def _train(self, method: Method, seed: int) -> Trained:
        folder = self.output / "networks" / f"{_slug(method)}-seed-{seed}"
        return train(self.protocol, self.dataset, method, folder, seed=seed)


def _slug(method: Method) -> str:
    """A folder's name: equal for methods that train alike, whatever their tables call them."""
    families: Mapping[str, object] = dict(method.families)
    main = families.get("*", families.get("dense"))
    if main is None:
        return f"deterministic-{method.members}"
    options = re.sub(r"[^A-Za-z0-9.+-]+", "-", f"{main}-{method.priors}-{method.reduction}").strip("-")
    return options.replace("None", "no")
