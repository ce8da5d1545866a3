"""A kernel and its bias as one matrix: the bias is the row of an input that is always 1."""

from dataclasses import dataclass

import jax.numpy as jnp

from plait._typing import Array
from plait.site.layout import Layout


@dataclass(frozen=True)
class LayerMatrix:
    """Where the weights of one layer lie in its matrix, [fan_in, fan_out] or with a bias [fan_in + 1, fan_out]."""

    kernel: str
    kernel_layout: Layout
    bias: str | None = None
    bias_layout: Layout | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.kernel,) if self.bias is None else (self.kernel, self.bias)

    @property
    def rows(self) -> int:
        return self.kernel_layout.fan_in + (self.bias is not None)

    @property
    def columns(self) -> int:
        return self.kernel_layout.fan_out

    @property
    def layout(self) -> Layout:
        """Of the matrix itself."""
        return Layout.matrix((self.rows, self.columns), [0])

    def join(self, weights: dict[str, Array]) -> Array:
        """The matrix of the layer's weights."""
        kernel = self.kernel_layout.to_matrix(weights[self.kernel])
        if self.bias is None:
            return kernel
        return jnp.concatenate([kernel, weights[self.bias].reshape(1, self.columns)])

    def split(self, matrix: Array) -> dict[str, Array]:
        """The weights in a matrix."""
        kernel = self.kernel_layout.from_matrix(matrix[: self.kernel_layout.fan_in])
        if self.bias is None or self.bias_layout is None:
            return {self.kernel: kernel}
        return {self.kernel: kernel, self.bias: matrix[-1].reshape(self.bias_layout.shape)}

    def split_rows(self, rows: Array) -> dict[str, Array]:
        """What belongs to each weight of a number for each row of the matrix."""
        parts = {self.kernel: rows[: self.kernel_layout.fan_in]}
        return parts if self.bias is None else parts | {self.bias: rows[-1:]}
