"""How an evaluation looks on a terminal."""

from plait.cli.table import print_table
from plait.recipes.run_report import detection_table, metrics_table
from plait.recipes.scoring import Foreign, Scored


def print_scored(scored: Scored, foreign: Foreign | None, *, reliability: bool = False) -> None:
    """The metrics, and if wanted the reliability of classes bin by bin."""
    found = scored.evaluation
    print(f"{scored.name}: {found.num_examples:,} examples, {found.num_samples:,} weight samples\n")
    table = metrics_table(found.metrics, found.over_samples)
    print_table(table.columns, table.rows, left=table.left)
    if found.kl is not None:
        print(f"\nKL from the prior to the posterior: {found.kl:,.1f} nats")
    if foreign is not None:
        print(f"\n{foreign.name}: {len(foreign.predictive):,} inputs told apart from these\n")
        table = detection_table(foreign)
        print_table(table.columns, table.rows, left=table.left)
    curve = found.reliability
    if reliability and curve is not None:
        print("\nreliability\n")
        rows = [
            (f"{low:.3f} to {high:.3f}", f"{said:.3f}", f"{right:.3f}", f"{count:,}")
            for low, high, said, right, count in zip(
                curve.edges[:-1], curve.edges[1:], curve.confidence, curve.accuracy, curve.count, strict=True
            )
            if count
        ]
        print_table(("confidence", "on average", "accuracy", "examples"), rows)
    print()
