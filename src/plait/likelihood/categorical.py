"""One of C classes: log p(y = c | l) = l_c - log sum_k exp l_k.

Var[1(y = c)] = p_c (1 - p_c)        H[y] = -sum_c p_c log p_c
"""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from plait._random import check_key
from plait._typing import Array, PRNGKey
from plait.likelihood.base import Likelihood, Numbers, Task, align, refuse, sum_event, wide

NEEDS = "logits [N, classes] as outputs and integer labels [N] as y"


class Categorical(Likelihood):
    """Integer labels; the outputs are logits, classes last."""

    task: ClassVar[Task] = "classification"

    def log_prob(self, outputs: Numbers, y: Numbers) -> Array:
        log_probs = jax.nn.log_softmax(wide(outputs))
        labels = align(self, log_probs[..., 0], y, outputs=outputs, needs=NEEDS).astype(jnp.int32)
        picked = jnp.take_along_axis(log_probs, labels[..., None], axis=-1)[..., 0]
        return sum_event(picked, y)

    def sample(self, key: PRNGKey, outputs: Numbers) -> Array:
        check_key(key)
        return jax.random.categorical(key, wide(outputs))

    def mean(self, outputs: Numbers) -> Array:
        return jax.nn.softmax(wide(outputs))

    def variance(self, outputs: Numbers) -> Array:
        probs = self.mean(outputs)
        return probs * (1 - probs)

    def entropy(self, outputs: Numbers) -> Array:
        log_probs = jax.nn.log_softmax(wide(outputs))
        # An excluded class (logit -inf) adds 0 log 0 = 0, not nan.
        return -jnp.sum(jnp.exp(log_probs) * jnp.where(jnp.isneginf(log_probs), 0, log_probs), axis=-1)

    def fisher_root(self, outputs: Numbers) -> Array:
        # diag(p) - p p^T = B B^T with B = (diag(1) - p 1^T) diag(sqrt p).
        if jnp.ndim(outputs) != 2:
            return super().fisher_root(outputs)
        probs = self.mean(outputs)
        columns = jnp.eye(probs.shape[-1], dtype=probs.dtype)[:, None] - probs[None]
        return columns * jnp.sqrt(probs).T[..., None]

    def num_outputs(self, size: int) -> int:
        return size

    def check(self, output_shape: tuple[int, ...], y_shape: tuple[int, ...], y_dtype: Any) -> None:
        got = f"got outputs {output_shape} and y {y_shape} of dtype {jnp.dtype(y_dtype).name}"
        if output_shape == y_shape and len(y_shape) > 1:
            raise ValueError(f"Categorical needs {NEEDS}, {got}; if y is one-hot, pass `y.argmax(-1)`")
        if y_shape == (*output_shape[:-1], 1):
            raise ValueError(f"Categorical needs {NEEDS}, {got}; drop the labels' last axis, `y[:, 0]`")
        if len(y_shape) == 0 or output_shape[:-1] != y_shape:
            raise ValueError(f"Categorical needs {NEEDS}, {got}; let the network's last layer have one output a class")
        if output_shape[-1] < 2:
            raise ValueError(f"Categorical needs at least two classes, {got}; use `plait.Bernoulli()` with one logit")
        if not jnp.issubdtype(y_dtype, jnp.integer):
            raise ValueError(f"Categorical needs {NEEDS}, {got}; convert the labels, `y.astype(int)`")

    def check_targets(self, y: Any, output_shape: tuple[int, ...]) -> None:
        labels, classes = np.asarray(y), output_shape[-1]
        remedy = "labels count from 0; give the network one output for each class"
        refuse((labels < 0) | (labels >= classes), labels, self, f"not a label of 0..{classes - 1}", remedy)
