"""Tables on a terminal: as wide as it is, or as they need to be where nobody looks."""

from collections.abc import Sequence


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """Print rows of text; so many columns stand to the left, the rest to the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, markup=False)
    # A file or a pipe takes lines of any length; rich would fold them at 80.
    wide = console if console.is_terminal else Console(highlight=False, markup=False, width=240)
    wide.print(table)
