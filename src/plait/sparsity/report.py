"""What is left of a model, as numbers and as a table."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LayerReport:
    """One weight before and after."""

    path: str
    weights: int
    weights_left: int
    rows: int
    rows_left: int
    """Rows with a weight left."""
    columns: int
    columns_left: int
    note: str = ""


@dataclass(frozen=True)
class Report:
    """All weights with a fan-in side; biases are not counted, as in paper 002."""

    layers: tuple[LayerReport, ...]
    bytes_before: int | None = None
    """Of the plain model's arrays; None where nothing was taken out."""
    bytes_after: int | None = None

    @property
    def weights(self) -> int:
        return sum(layer.weights for layer in self.layers)

    @property
    def weights_left(self) -> int:
        return sum(layer.weights_left for layer in self.layers)

    def __str__(self) -> str:
        lines = [("weight", "left", "of", "%", "rows left", "of", "columns left", "of", "")]
        for layer in self.layers:
            share = f"{100 * layer.weights_left / layer.weights:.1f}"
            counts = f"{layer.weights_left:,}", f"{layer.weights:,}", share
            rows, columns = (f"{layer.rows_left}", f"{layer.rows}"), (f"{layer.columns_left}", f"{layer.columns}")
            lines.append((layer.path, *counts, *rows, *columns, layer.note))
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        last = len(widths) - 1
        text = [
            "  ".join(
                cell.ljust(width) if i in (0, last) else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        text.append(f"{self.weights_left:,} of {self.weights:,} weights left")
        if self.bytes_before is not None:
            text[-1] += f", {self.bytes_after:,} of {self.bytes_before:,} bytes"
        return "\n".join(text)
