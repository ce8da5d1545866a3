"""What the studies found beside what the paper reports: a table for a terminal, and a page of markdown with figures.

<output>/NAME.md and the folder NAME beside it may be copied to docs/results as they are.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plait.checkpoint.atomic import write_whole
from plait.metrics import Estimate
from plait.recipes.nng.bands import Bands
from plait.recipes.nng.methods import HMC, METHODS
from plait.recipes.nng.protocol import Protocol
from plait.recipes.nng.targets import ACTIVE, CORRELATION
from plait.report import Picture, Table, method_bands

Found = Mapping[str, Mapping[str, Any]]
"""Parts by set and method."""


# -- correlation with HMC ----------------------------------------------------------------------------------------------


def correlations(part: Mapping[str, Any], truth: Mapping[str, Any]) -> np.ndarray:
    """Pearson's correlation of predictive variances, of each trial."""
    pairs = zip(part["variance"], truth["variance"], strict=True)
    return np.asarray([np.corrcoef(ours, theirs)[0, 1] for ours, theirs in pairs])


def variance_ratios(part: Mapping[str, Any], truth: Mapping[str, Any]) -> np.ndarray:
    """Mean predictive variance over that of HMC, of each trial: correlation does not see a factor."""
    return np.mean(part["variance"], axis=1) / np.mean(truth["variance"], axis=1)


def hmc_table(found: Found) -> Table:
    """A row for each set and method, the paper's number beside ours."""
    rows = []
    for name, parts in found.items():
        for method, part in parts.items():
            if method == HMC:
                continue
            paper = CORRELATION.get(name, {}).get(_paper_name(method))
            ours = Estimate.of_mean(correlations(part, parts[HMC]))
            rows.append((name, method, *_beside(paper, ours)))
    return Table(("set", "method", "paper", "ours", "errors apart"), rows, left=2)


def hmc_page(output: Path, asked: Protocol, whole: Protocol, found: Found, bands: Bands, command: str) -> Path:
    """The page of the correlations, and the picture of the bands."""
    figures = output / "nng-hmc"
    figures.mkdir(parents=True, exist_ok=True)
    shown = {name: (mean, bands.std[name]) for name, mean in bands.mean.items() if name != HMC}
    figure = method_bands(bands.grid, shown, (bands.x, bands.y), reference=(HMC, (bands.mean[HMC], bands.std[HMC])))
    picture = Picture(
        figure,
        "Predictive bands on a line",
        "90 % of functions, noise left out; dashed is HMC. Twenty points of y = x³ / 10 with noise of deviation 0.3.",
    )
    picture.save(figures / "bands.png")
    sampling = asked.sampling
    text = [
        "# Predictive variances against HMC",
        f"Made by `{command}`. {asked.changes(whole)}",
        f"## Correlation of variances\n\n{asked.num_labelled} labelled points of each set and {asked.num_others} "
        f"others, {asked.trials} trials; one hidden layer of {asked.hidden} ReLU units, N(0, 1) weights, Gamma(6, 6) "
        "noise precision on standardised "
        "targets. Pearson correlation of Var f(x) over the others with HMC's, mean and standard error over trials "
        f"(paper 004, table 3). HMC is NUTS with the noise precision integrated out: {sampling.chains} chains of "
        f"{sampling.draws:,} draws after {sampling.warmup:,} steps of adaptation. The paper's columns BBB and PBP are "
        "at hand without their errors.",
        _correlation_table(asked, found).markdown(),
        "## Size of the variances\n\nMean predictive variance over that of HMC, which correlation does not see; 1 is "
        "right.",
        _ratio_table(asked, found).markdown(),
        "## Whether the chains agree\n\nOver the 100 predictions of all trials: the largest and the median R-hat "
        "(rank-normalised, split), the smallest and the median effective sample size of "
        f"{sampling.chains * sampling.draws:,} draws, and the part of trajectories that diverged.",
        _agreement_table({name: parts[HMC]["agreement"] for name, parts in found.items()}).markdown(),
        f"## On a line\n\n![{picture.title}](nng-hmc/bands.png)\n\n*{picture.caption}*",
        "## Time\n\nSeconds for all trials of a set together, compilation included, on the machine of the run.",
        _time_table(found, (HMC, *asked.methods)).markdown(),
    ]
    return _write(output / "nng-hmc.md", text)


def _correlation_table(asked: Protocol, found: Found) -> Table:
    papers = ("BBB", "PBP", "NNG-MVG", "NNG-BlkTri")
    rows = []
    for name, parts in found.items():
        theirs = [_number(CORRELATION.get(name, {}).get(paper)) for paper in papers]
        ours = [str(Estimate.of_mean(correlations(parts[method], parts[HMC]))) for method in asked.methods]
        rows.append((name, *theirs, *ours))
    return Table(("set", *(f"{paper}, paper" for paper in papers), *(f"{m}, ours" for m in asked.methods)), rows)


def _ratio_table(asked: Protocol, found: Found) -> Table:
    rows = [
        (name, *(str(Estimate.of_mean(variance_ratios(parts[method], parts[HMC]))) for method in asked.methods))
        for name, parts in found.items()
    ]
    return Table(("set", *asked.methods), rows)


# -- active learning ---------------------------------------------------------------------------------------------------

ARMS = ("random", "active")


def active_table(found: Found) -> Table:
    """A row for each set, method and arm: RMSE after the last acquisition, the paper's number beside ours."""
    rows = []
    for name, parts in found.items():
        for method, part in parts.items():
            for arm, rounds in zip(ARMS, part["rmse"], strict=True):
                paper = ACTIVE.get(name, {}).get(f"{_paper_name(method)} {arm}")
                rows.append((name, method, arm, *_beside(paper, Estimate.of_mean(rounds[-1]))))
    return Table(("set", "method", "chosen", "paper", "ours", "errors apart"), rows, left=3)


def active_page(output: Path, asked: Protocol, whole: Protocol, found: Found, command: str) -> Path:
    """The page of active learning."""
    sampling = asked.sampling
    agreements = {name: parts[HMC]["agreement"] for name, parts in found.items() if HMC in parts}
    text = [
        "# Active learning",
        f"Made by `{command}`. {asked.changes(whole)}",
        f"{asked.num_labelled} labelled points, {asked.num_others} for the test, the rest a pool; "
        f"{asked.acquisitions} acquisitions, trained from scratch after each; one hidden layer of {asked.hidden} ReLU "
        f"units; {asked.trials} trials, ± is the standard error over them. RMSE on the test points after the last "
        "acquisition, in the units of the data (paper 004, table 2). *Active* picks the largest Var f(x), *random* any "
        "point.",
        active_table(found).markdown(),
        "## What choosing is worth\n\nRMSE of active over random, trial by trial: both start from the same 20 points. "
        "Below 1 choosing helped. *At the start* is the RMSE before any acquisition.",
        _worth_table(found).markdown(),
    ]
    if agreements:
        text += [
            "## Whether the chains agree\n\nOver 100 test predictions, all rounds, arms and trials, for "
            f"{sampling.chains} chains of {sampling.draws:,} draws after {sampling.warmup:,} steps of adaptation.",
            _agreement_table(agreements).markdown(),
        ]
    text += [
        "## Time\n\nSeconds for all rounds, arms and trials of a set together, compilation included.",
        _time_table(found, asked.methods).markdown(),
    ]
    return _write(output / "nng-active.md", text)


def _worth_table(found: Found) -> Table:
    rows = []
    for name, parts in found.items():
        for method, part in parts.items():
            chance, chosen = np.asarray(part["rmse"])
            ratio = Estimate.of_mean(chosen[-1] / chance[-1])
            rows.append((name, method, str(Estimate.of_mean(chance[0])), str(ratio)))
    return Table(("set", "method", "at the start", "active / random"), rows, left=2)


# -- cells -------------------------------------------------------------------------------------------------------------


def _agreement_table(by_set: Mapping[str, Sequence[Mapping[str, float]]]) -> Table:
    rows = []
    for name, notes in by_set.items():
        worst, smallest = max(note["rhat"] for note in notes), min(note["ess"] for note in notes)
        middle = np.median([note["median_rhat"] for note in notes])
        sizes, diverged = np.median([note["median_ess"] for note in notes]), np.mean([n["divergent"] for n in notes])
        rows.append((name, f"{worst:.3f}", f"{middle:.3f}", f"{smallest:,.0f}", f"{sizes:,.0f}", f"{diverged:.2%}"))
    return Table(("set", "largest R-hat", "median R-hat", "smallest ESS", "median ESS", "diverged"), rows)


def _time_table(found: Found, methods: Sequence[str]) -> Table:
    rows = [(name, *(f"{parts[method]['seconds']:.0f}" for method in methods)) for name, parts in found.items()]
    return Table(("set", *methods), rows)


def _paper_name(method: str) -> str:
    return (METHODS[method].paper or "") if method in METHODS else method


def _beside(paper: Estimate | None, ours: Estimate) -> tuple[str, str, str]:
    """Both, and their distance in standard errors of the difference."""
    if paper is None or math.isnan(paper.standard_error):
        return _number(paper), str(ours), ""
    error = math.hypot(paper.standard_error, ours.standard_error)
    return _number(paper), str(ours), f"{(ours.value - paper.value) / error:+.1f}"


def _number(paper: Estimate | None) -> str:
    if paper is None:
        return ""
    return f"{paper.value:g}" if math.isnan(paper.standard_error) else f"{paper.value:g} ± {paper.standard_error:g}"


def _write(path: Path, parts: Sequence[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, ("\n\n".join(parts) + "\n").encode())
    return path
