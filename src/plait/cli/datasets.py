"""`plait datasets`."""

from dataclasses import dataclass

from plait.cli.command import Command


@dataclass(frozen=True)
class Datasets(Command):
    """List the data sets: which are on this machine, and where the others would come from."""

    data_dir: str | None = None
    """A folder with data sets."""
    check_network: bool = False
    """Also ask whether those that are missing can be downloaded now."""

    def run(self) -> int:
        from plait.cli.table import print_table
        from plait.data import available, cache_dir, data_folders

        found = available(self.data_dir, check_network=self.check_network)
        rows = [
            (
                *(row.name, row.task, row.title, "yes" if row.present else "no", row.where),
                " × ".join(map(str, row.input_shape)),
                f"{row.train:,} / {row.validation:,} / {row.test:,}",
            )
            for row in found
        ]
        columns = ("name", "task", "what it is", "here", "where", "input", "train / validation / test")
        print_table(columns, rows, left=5)
        folders = ", ".join(map(str, data_folders(self.data_dir))) or "none"
        print(f"\nfolders that were searched: {folders}\ndownloads go to {cache_dir()}")
        return 0
