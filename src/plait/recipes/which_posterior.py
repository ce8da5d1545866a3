"""Every family on the demo's data: the numbers behind the page "Which posterior?".

python -m plait.recipes.which_posterior --write docs/results/posteriors.md
"""

from dataclasses import dataclass, field
from pathlib import Path

import jax

from plait import data
from plait.posterior import (
    Family,
    LowRank,
    MatrixNormal,
    MatrixNormalPlusDiagonal,
    MeanField,
    Point,
    RankOne,
    Tied,
)
from plait.recipes import demo
from plait.report import Table

FAMILIES: dict[str, Family] = {
    "Point()": Point(),
    "MeanField()": MeanField(),
    "Tied(1)": Tied(1),
    "Tied(2)": Tied(2),
    "Tied(3)": Tied(3),
    'MatrixNormal("diagonal", "diagonal")': MatrixNormal("diagonal", "diagonal"),
    "MatrixNormal()": MatrixNormal(),
    "MatrixNormalPlusDiagonal()": MatrixNormalPlusDiagonal(),
    "LowRank(2)": LowRank(2),
    "RankOne(4)": RankOne(4),
}

PAGE = """# Families on digits

{epochs} epochs of Adam on scikit-learn's digits (1,257 to learn from), a network 64-{widths}-10, prior with learned
scales (for `RankOne` its own prior on factors), KL weight {kl_weight:g}; {seeds} seeds of each, ± is the standard error
over them. *OOD AUROC*: telling digits turned by a quarter from upright ones by the entropy of the prediction.

{table}

Made by `python -m plait.recipes.which_posterior --write docs/results/posteriors.md`.
"""


@dataclass(frozen=True)
class Options:
    """Every family on digits."""

    training: demo.Options = field(default_factory=demo.Options)
    """How they are trained."""
    only: str = ""
    """Only families whose name contains this."""
    write: Path | None = None
    """A markdown page to write the table to."""


def main(options: Options) -> None:
    """Train, print the table, and write it if asked to."""
    digits, settings, rows = data.load("digits"), options.training, []
    for name, family in FAMILIES.items():
        if options.only not in name:
            continue
        result = demo.run_method(family, digits, settings, key=jax.random.key(0))
        cells = [f"{value.value:.3f} ± {value.standard_error:.3f}" for value in result.metrics.values()]
        rows.append([f"`{name}`", *cells, f"{result.num_params:,}", f"{result.seconds:.0f}"])
        print("  ".join(rows[-1]), flush=True)
    table = Table(["family", "NLL", "accuracy", "ECE", "OOD AUROC", "parameters", "seconds"], rows)
    if options.write is not None:
        page = PAGE.format(
            epochs=settings.epochs,
            widths="-".join(map(str, settings.widths)),
            kl_weight=settings.kl_weight,
            seeds=settings.seeds,
            table=table.markdown(),
        )
        options.write.write_text(page)


if __name__ == "__main__":
    import tyro

    main(tyro.cli(Options, description=__doc__))
