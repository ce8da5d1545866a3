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
        for heading, present in (("on this machine", True), ("not on this machine", False)):
            rows = [
                (
                    *(row.name, row.task, row.where),
                    *(" × ".join(map(str, row.input_shape)), f"{row.train:,}", f"{row.test:,}"),
                )
                for row in found
                if row.present == present
            ]
            if rows:
                print(f"{heading}\n")
                print_table(("name", "task", "where", "input", "train", "test"), rows, left=3)
                print()
        folders = ", ".join(map(str, data_folders(self.data_dir))) or "none"
        print(f"searched: {folders}\ndownloads go to {cache_dir()}")
        return 0
