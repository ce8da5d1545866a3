"""The demo: scikit-learn's digits by a plain network and by Bayesian ones, in a table and a page of pictures.

    make demo        or        python -m plait.recipes.demo --help

All seeds of a method train as one program. Foreign inputs are the test digits, turned by a quarter.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np
import optax

from plait import data
from plait._typing import Array, PRNGKey
from plait.bench.cost import Step, bayesian_step, deterministic_step
from plait.bench.networks import Network
from plait.bench.timing import fastest
from plait.data import Dataset
from plait.fit import Fit, fit
from plait.likelihood import Categorical
from plait.metrics import Estimate
from plait.model import BayesianModel, bayesianize
from plait.posterior import Family, MatrixNormal, MeanField, Point, RankOne, Tied
from plait.predict import Evaluation, Predictive, evaluate, out_of_distribution, predict
from plait.prior import LearnedNormal
from plait.recipes.networks import build_network
from plait.report import (
    Page,
    Picture,
    Section,
    Table,
    comparison,
    image_grid,
    learning_curves,
    reliability_diagram,
    site_table,
    uncertainty_histograms,
)

PLAIN = "plain network"
METHODS: Mapping[str, Family] = {
    PLAIN: Point(),
    "mean field": MeanField(),
    "Tied(2)": Tied(2),
    "matrix normal": MatrixNormal(),
}
NUM_SAMPLES = 100


@dataclass(frozen=True)
class Options:
    """Digits: a plain network against mean field, k-tied and matrix normal posteriors."""

    epochs: int = 300
    """Passes over the training set."""
    seeds: int = 5
    """Networks of each method, trained side by side; the table has their mean and its standard error."""
    widths: tuple[int, ...] = (100,)
    """Hidden layers."""
    learning_rate: float = 0.01
    """Of Adam, at the start; it falls along a cosine."""
    batch_size: int = 128
    """Examples in a step."""
    kl_weight: float = 0.1
    """Weight of the KL. 1,257 digits are few: at 1 the networks stay more uncertain than they need to be."""
    output: Path = Path("runs/demo")
    """Folder of the page."""


@dataclass(frozen=True, eq=False)
class Result:
    """One method, trained and measured."""

    fit: Fit
    evaluations: Sequence[Evaluation]
    """By seed."""
    inside: Sequence[Predictive]
    outside: Sequence[Predictive]
    num_params: int
    seconds: float

    def estimate(self, metric: Callable[[Evaluation], Any]) -> Estimate:
        """Mean and standard error over seeds."""
        return Estimate.of_mean([float(metric(each)) for each in self.evaluations])

    @property
    def auroc(self) -> Estimate:
        """Of telling turned digits from upright ones by the entropy of the prediction."""
        pairs = zip(self.inside, self.outside, strict=True)
        return Estimate.of_mean([float(out_of_distribution(*pair).auroc) for pair in pairs])

    @property
    def metrics(self) -> dict[str, Estimate]:
        """The columns of the table."""
        return {
            "NLL": self.estimate(lambda each: each.nll),
            "accuracy": self.estimate(lambda each: each.accuracy),
            "ECE": self.estimate(lambda each: each.ece),
            "OOD AUROC": self.auroc,
        }


def foreign(x: np.ndarray) -> np.ndarray:
    """Pictures turned by a quarter."""
    return np.rot90(x, axes=(1, 2)).copy()


def make_model(family: Family, digits: Dataset, options: Options) -> Callable[[PRNGKey], BayesianModel]:
    """A network under a method, as a function of its seed's key."""

    def make(key: PRNGKey) -> BayesianModel:
        network = build_network("mlp", digits.input_shape, 10, widths=options.widths, key=key)
        batch = digits.train.x[: options.batch_size]
        # What is random under rank-1 are factors around 1: they keep their own prior.
        prior = None if isinstance(family, RankOne) else LearnedNormal(0.3)
        return bayesianize(network, batch, posterior=family, prior=prior, key=key)

    return make


def run_method(family: Family, digits: Dataset, options: Options, *, key: PRNGKey) -> Result:
    """Train all seeds and measure each."""
    start = time.perf_counter()
    steps = options.epochs * -(-len(digits.train.x) // options.batch_size)
    trained = fit(
        make_model(family, digits, options),
        (digits.train.x, digits.train.y),
        likelihood=Categorical(),
        optimizer=optax.adam(optax.cosine_decay_schedule(options.learning_rate, steps)),
        epochs=options.epochs,
        batch_size=options.batch_size,
        kl_schedule=options.kl_weight,
        validation=(digits.validation.x, digits.validation.y) if digits.validation is not None else None,
        eval_every=max(1, options.epochs // 30),
        replicas=options.seeds,
        key=key,
    )
    models, test = trained.models, (digits.test.x, digits.test.y)
    samples = {"key": key, "num_samples": NUM_SAMPLES, "progress": False}
    return Result(
        trained,
        [evaluate(model, test, dataset_size=len(digits.train.x), **samples) for model in models],
        [predict(model, digits.test.x, **samples) for model in models],
        [predict(model, foreign(digits.test.x), **samples) for model in models],
        models[0].num_params,
        time.perf_counter() - start,
    )


def step_costs(digits: Dataset, options: Options, *, key: PRNGKey) -> dict[str, float]:
    """Seconds of a step of one network, over those of the same network without Plait."""
    model = build_network("mlp", digits.input_shape, 10, widths=options.widths, key=key)
    params, static = eqx.partition(model, eqx.is_array)
    x, y = jax.numpy.asarray(digits.train.x), jax.numpy.asarray(digits.train.y)

    def forward(params: Any, x: Array) -> Array:
        return jax.vmap(eqx.combine(params, static))(x)

    # All of the training set at once: on a batch of 128 one would time the dispatch.
    network = Network("digits", params, forward, x, y)
    steps: dict[str, Step] = {"": deterministic_step(network, key)}
    for name, family in METHODS.items():
        steps[name] = bayesian_step(make_model(family, digits, options)(key), network, key)
    seconds = fastest(steps, rounds=100, budget=2.0)
    return {name: seconds[name] / seconds[""] for name in METHODS}


def table(results: Mapping[str, Result], costs: Mapping[str, float]) -> Table:
    """One row for each method."""
    metrics = {name: result.metrics for name, result in results.items()}
    columns = list(next(iter(metrics.values())))
    rows = [
        [
            name,
            *(f"{metrics[name][column].value:.3f} ± {metrics[name][column].standard_error:.3f}" for column in columns),
            f"{result.num_params:,}",
            f"{costs[name]:.2f}",
        ]
        for name, result in results.items()
    ]
    return Table(["", *columns, "parameters", "step cost"], rows)


def page(results: Mapping[str, Result], costs: Mapping[str, float], digits: Dataset, options: Options) -> Page:
    """What the demo found, to look at."""
    metrics = {name: result.metrics for name, result in results.items()}
    by_metric = {column: {name: values[column] for name, values in metrics.items()} for column in metrics[PLAIN]}
    curves = {name: result.evaluations[0].reliability for name, result in results.items()}
    reliability = {name: curve for name, curve in curves.items() if curve is not None}
    entropies = {name: _entropies(result, digits) for name, result in results.items()}
    tied = results["Tied(2)"]
    settings = {
        "network": f"64-{'-'.join(map(str, options.widths))}-10, ReLU",
        "training": f"{options.epochs} epochs of Adam, batches of {options.batch_size}, {options.seeds} seeds",
        "prior": "normal; its scale is learned for each layer",
        "KL weight": f"{options.kl_weight:g}",
        "prediction": f"the mean over {NUM_SAMPLES} weight samples",
        "foreign inputs": "the test digits, turned by a quarter",
    }
    sections = [
        Section("Result", [table(results, costs), comparison_picture(by_metric), settings]),
        Section(
            "Does it know when it is wrong?",
            [
                Picture(
                    uncertainty_histograms(entropies, "entropy of the prediction in nats", largest=float(np.log(10))),
                    "Uncertainty of right, wrong and foreign predictions",
                    "The first seed of each method; heights are roots of shares, the line is the median. The more of "
                    "the lower two rows lies to the right of the upper one, the better.",
                ),
                Picture(
                    reliability_diagram(reliability),
                    "Reliability",
                    "The first seed of each method. On the diagonal, a prediction is right as often as it says.",
                ),
                Picture(
                    image_grid(_extremes(tied, digits)),
                    "What Tied(2) is least sure of",
                    "Below each picture the predicted class with its probability.",
                ),
            ],
        ),
        Section(
            "Training",
            [
                Picture(
                    learning_curves(result.fit.history),
                    name,
                    f"{result.seconds:.0f} seconds for all seeds, compilation and evaluation included.",
                )
                for name, result in results.items()
            ],
        ),
        Section("The weights of Tied(2)", [site_table(tied.fit.models[0])]),
    ]
    lead = "A plain network and three Bayesian ones on scikit-learn's digits: 8 x 8 pixels, 1,257 to learn from."
    return Page("Plait on digits", lead, sections)


def comparison_picture(by_metric: Mapping[str, Mapping[str, Estimate]]) -> Picture:
    """The table as dots."""
    caption = "Means over seeds with their standard errors. NLL and ECE: less is better; accuracy and AUROC: more is."
    return Picture(comparison(by_metric), "The methods side by side", caption)


def _entropies(result: Result, digits: Dataset) -> dict[str, np.ndarray]:
    inside, right = result.inside[0], result.inside[0].mean.argmax(axis=-1) == digits.test.y
    return {
        "right": inside.entropy[right],
        "wrong": inside.entropy[~right],
        "foreign": result.outside[0].entropy,
    }


def _extremes(result: Result, digits: Dataset, count: int = 8) -> dict[str, tuple[np.ndarray, list[str]]]:
    def most_uncertain(prediction: Predictive, x: np.ndarray) -> tuple[np.ndarray, list[str]]:
        rows = np.argsort(-prediction.entropy)[:count]
        labels = [f"{prediction.mean[row].argmax()}: {prediction.mean[row].max():.0%}" for row in rows]
        return x[rows], labels

    return {
        "upright": most_uncertain(result.inside[0], digits.test.x),
        "turned": most_uncertain(result.outside[0], foreign(digits.test.x)),
    }


def main(options: Options) -> None:
    """Train, measure, print the table, write the page."""
    digits, key = data.load("digits"), jax.random.key(0)
    results = {}
    for name, family in METHODS.items():
        results[name] = run_method(family, digits, options, key=key)
        print(f"{name}: {options.seeds} networks in {results[name].seconds:.0f} s", flush=True)
    costs = step_costs(digits, options, key=key)
    print(f"\n{table(results, costs).text()}\n")
    print(f"± is the standard error over {options.seeds} seeds. OOD AUROC: telling digits turned by a quarter from")
    print("upright ones by the entropy of the prediction. Step cost: forward, backward and Adam over those of the")
    print("same network without Plait; it nears 1 as networks grow (`make bench`).\n")
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "report.html"
    page(results, costs, digits, options).write(path)
    print(f"Pictures: {path.resolve()}")


if __name__ == "__main__":
    import tyro

    main(tyro.cli(Options, description=__doc__))
