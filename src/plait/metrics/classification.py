"""Metrics of class probabilities p [N, C] and labels y [N].

    NLL = -mean log p_y        accuracy = mean 1[argmax p = y]        Brier = mean sum_c (p_c - 1[y = c])^2

For two classes the Brier score is halved, (p_1 - y)^2, as everywhere in the literature. Binary predictions may be given
as p(y = 1) alone, [N] or [N, 1].
"""

import numpy as np

from plait._typing import ArrayLike
from plait.metrics.estimate import host


def negative_log_likelihood(probs: ArrayLike, targets: ArrayLike) -> float:
    """-mean log p(y) in nats."""
    return float(negative_log_likelihood_terms(probs, targets).mean())


def negative_log_likelihood_terms(probs: ArrayLike, targets: ArrayLike) -> np.ndarray:
    """-log p(y) for each example.

    A probability is at least the spacing of floats around 1 in the dtype it came in: a 0 means that it underflowed.
    """
    dtype = np.asarray(probs).dtype
    floor = np.finfo(dtype if dtype in (np.float32, np.float64) else np.float32).eps
    columns, labels = check_probabilities(probs, targets)
    return -np.log(np.maximum(_of_labels(columns, labels), floor))


def accuracy(probs: ArrayLike, targets: ArrayLike) -> float:
    """The fraction of examples whose most probable class is the label."""
    return float(accuracy_terms(probs, targets).mean())


def accuracy_terms(probs: ArrayLike, targets: ArrayLike) -> np.ndarray:
    """1 where the most probable class is the label, else 0."""
    columns, labels = check_probabilities(probs, targets)
    return (columns.argmax(axis=1) == labels).astype(np.float64)


def brier_score(probs: ArrayLike, targets: ArrayLike) -> float:
    """The mean squared distance between probabilities and one-hot labels, halved for two classes."""
    return float(brier_terms(probs, targets).mean())


def brier_terms(probs: ArrayLike, targets: ArrayLike) -> np.ndarray:
    """The squared distance for each example."""
    columns, labels = check_probabilities(probs, targets)
    distance = np.square(columns).sum(axis=1) - 2 * _of_labels(columns, labels) + 1
    return distance / 2 if columns.shape[1] == 2 else distance


def entropy(probs: ArrayLike) -> np.ndarray:
    """-sum_c p_c log p_c in nats over the last axis, with 0 log 0 = 0."""
    values = host(probs)
    return -np.sum(values * np.log(np.where(values > 0, values, 1)), axis=-1)


def mutual_information(sample_probs: ArrayLike) -> np.ndarray:
    """I[y; W] = H[mean_s p_s] - mean_s H[p_s], of probabilities [S, ..., C]: the epistemic part of the entropy."""
    values = host(sample_probs)
    if values.ndim < 2:
        raise ValueError(f"mutual information needs probabilities [samples, ..., classes], got shape {values.shape}")
    # The two terms are equal for certain members: rounding must not make it negative.
    return np.maximum(entropy(values.mean(axis=0)) - entropy(values).mean(axis=0), 0)


def two_columns(probs: ArrayLike) -> np.ndarray:
    """[1 - p, p] on a new last axis: probabilities of both classes from that of class 1."""
    values = host(probs)
    return np.stack([1 - values, values], axis=-1)


def check_probabilities(probs: ArrayLike, targets: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities [N, C] in double precision and integer labels [N], or an error that says what is wrong."""
    columns, labels = host(probs), np.asarray(targets)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if columns.ndim == 1 or columns.shape[1:] == (1,):
        columns = two_columns(columns.reshape(-1))
    if columns.ndim != 2 or labels.shape != columns.shape[:1] or labels.size == 0:
        raise ValueError(
            f"metrics of classes need probabilities [N, classes] and labels [N], got shapes {np.shape(probs)} and "
            f"{np.shape(targets)}; average over samples first"
        )
    if not (columns.min() >= -1e-6 and np.abs(columns.sum(axis=1) - 1).max() < 1e-2):
        raise ValueError("probabilities must be at least 0 and sum to 1; apply a softmax or sigmoid to logits first")
    integers = labels.astype(np.int64)
    if not ((integers == labels).all() and integers.min() >= 0 and integers.max() < columns.shape[1]):
        raise ValueError(
            f"labels must be integers in 0..{columns.shape[1] - 1}, got values from {labels.min()} to {labels.max()}"
        )
    return columns, integers


def _of_labels(columns: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return columns[np.arange(len(labels)), labels]
