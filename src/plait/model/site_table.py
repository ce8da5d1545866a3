"""The site table: every weight of a model, where it is used, and how it is treated."""

from dataclasses import dataclass, replace

from plait.site import Layout
from plait.site.base import MatrixSite
from plait.trace import SiteUse


@dataclass(frozen=True)
class SiteRow:
    """One weight of a model."""

    path: str
    kind: str
    """dense, conv, embedding, bias, scale, or other where no site consumes it."""
    shape: tuple[int, ...]
    layout: Layout
    uses: int
    positions: int
    """How many times one call applies the weight: examples times places."""
    flops: int
    one_draw: bool
    """Whether the weight is drawn once for each call, whatever the estimator."""
    uses_agree: bool
    """Whether all uses are sites of the whole weight that see its sides alike: one structured draw serves them all."""
    note: str
    groups: int = 1
    """How many parts of its inputs feed columns of their own."""
    turn: int = 0
    """Which of the weights' uses in the program is its first."""
    shifts: str = ""
    """Of a bias: the weight with which it is one matrix, (W, b)^T (a, 1)."""
    posterior: str = ""
    prior: str = ""
    kl: str = ""
    estimator: str = ""
    num_params: int = 0

    @property
    def fan_in(self) -> int:
        return self.layout.fan_in

    @property
    def fan_out(self) -> int:
        return self.layout.fan_out


def site_rows(uses: tuple[SiteUse, ...], shapes: dict[str, tuple[int, ...]]) -> list[SiteRow]:
    """The table as far as the program determines it."""
    rows = [_row(path, shape, [use for use in uses if use.path == path]) for path, shape in shapes.items()]
    order = [use.path for use in uses]
    rows = [replace(row, turn=order.index(row.path) if row.uses else len(order)) for row in rows]
    shifts = {row.path: _shifts(row.path, uses) for row in rows if row.uses == 1}
    return [replace(row, shifts=shifts.get(row.path, "")) for row in rows]


def _shifts(path: str, uses: tuple[SiteUse, ...]) -> str:
    """The weight that a bias goes with, where both are used once and outside loops."""
    use = next(use for use in uses if use.path == path)
    alone = use.shifts is not None and not use.in_loop and sum(other.path == use.shifts for other in uses) == 1
    return use.shifts if alone and use.shifts is not None else ""


def _row(path: str, shape: tuple[int, ...], uses: list[SiteUse]) -> SiteRow:
    sites = [use.site for use in uses if use.site is not None]
    # Contractions tell more about a weight than shifts: tied embeddings are lookups and contractions.
    site = next((s for s in sites if not s.layout.is_vector), sites[0] if sites else None)
    if site is None:
        layout = Layout.vector(shape)
        note = "used as an array" if uses else "not used"
        return SiteRow(path, "other", shape, layout, len(uses), 1, 0, True, False, note)
    layout = site.layout
    if site.view.window is not None:
        taps = {atom.axis for atom in layout.taps}
        layout = Layout.matrix(shape, {atom.axis for atom in layout.rows}, taps)
    if any(use.in_loop for use in uses):
        note = "in a scan: one draw"
    elif len(sites) < len(uses):
        note = "also used as an array: one draw"
    elif _overlap([s.view.window for s in sites]):
        note = f"{len(sites)} uses: one draw"
    else:
        note = ""
    positions, flops = sum(s.positions for s in sites), sum(s.flops for s in sites)
    agree = len(sites) == len(uses) and all(s.view.window is None and s.layout == layout for s in sites)
    groups = max((s.groups for s in sites if isinstance(s, MatrixSite)), default=1)
    return SiteRow(path, site.kind, shape, layout, len(uses), positions, flops, bool(note), agree, note, groups)


Window = tuple[tuple[int, int, int], ...] | None


def _overlap(windows: list[Window]) -> bool:
    return any(
        first is None or second is None or not _disjoint(first, second)
        for i, first in enumerate(windows)
        for second in windows[i + 1 :]
    )


def _disjoint(first: tuple[tuple[int, int, int], ...], second: tuple[tuple[int, int, int], ...]) -> bool:
    return any(not set(range(*a)) & set(range(*b)) for a, b in zip(first, second, strict=True))


def format_table(rows: tuple[SiteRow, ...], title: str, total: str) -> str:
    """The table as aligned text."""
    header = ("weight", "kind", "shape", "fan", "posterior", "prior", "KL", "estimator", "numbers", "")
    body = [
        (
            row.path,
            row.kind,
            "x".join(map(str, row.shape)) or "scalar",
            f"{row.fan_in} -> {row.fan_out}" if not row.layout.is_vector else "",
            row.posterior,
            row.prior,
            row.kl,
            row.estimator,
            f"{row.num_params:,}",
            row.note,
        )
        for row in rows
    ]
    widths = [max(len(line[i]) for line in (header, *body)) for i in range(len(header))]
    right = header.index("numbers")

    def line(cells: tuple[str, ...]) -> str:
        return "  ".join(
            cell.rjust(width) if i == right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()

    rule = "-" * max(len(line(cells)) for cells in (header, *body))
    return "\n".join([title, rule, line(header), rule, *map(line, body), rule, total])
