"""The site table of a model as a table for a page."""

from plait._table import Table
from plait.model import BayesianModel

COLUMNS = ("weight", "kind", "posterior", "prior", "KL", "estimator", "note", "shape", "fan", "numbers")


def site_table(bnn: BayesianModel) -> Table:
    """One row for each weight."""
    rows = [
        (
            *(row.path, row.kind, row.posterior, row.prior, row.kl, row.estimator, row.note),
            " × ".join(map(str, row.shape)) or "scalar",
            f"{row.fan_in} → {row.fan_out}" if not row.layout.is_vector else "",
            f"{row.num_params:,}",
        )
        for row in bnn.sites
    ]
    return Table(COLUMNS, rows, left=7)
