"""The members that the laws speak of. A new family, site or estimator is one line here."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

import plait
from plait.linalg.rotation import Rotation

SCALE = 0.3

FAMILIES: dict[str, plait.Family] = {
    "point": plait.Point(),
    "mean-field": plait.MeanField(SCALE),
    "mean-field-softplus": plait.MeanField(SCALE, transform="softplus"),
    "tied-1": plait.Tied(1, SCALE),
    "tied-2": plait.Tied(2, SCALE),
    "tied-3": plait.Tied(3, SCALE),
    "tied-precision": plait.TiedPrecision(2, SCALE),
    "matrix-normal-diagonal": plait.MatrixNormal("diagonal", "diagonal", SCALE),
    "matrix-normal": plait.MatrixNormal("cholesky", "cholesky", SCALE),
    "matrix-normal-householder": plait.MatrixNormal("householder", "householder", SCALE),
    "matrix-normal-mixed": plait.MatrixNormal("cholesky", "diagonal", SCALE),
    "matrix-normal-plus-diagonal": plait.MatrixNormalPlusDiagonal("cholesky", "cholesky", SCALE),
    "matrix-normal-plus-diagonal-rows": plait.MatrixNormalPlusDiagonal("householder", "cholesky", SCALE, bound="rows"),
    "matrix-normal-plus-product": plait.MatrixNormalPlusDiagonal("diagonal", "cholesky", SCALE, diagonal="product"),
    "low-rank": plait.LowRank(2, SCALE),
    "full": plait.FullCovariance(SCALE),
    "eigenbasis": plait.Eigenbasis(SCALE),
    "rank-one": plait.RankOne(1, dropout_rate=0.05, clip=None),
    "rank-one-positive": plait.RankOne(1, family="lognormal", dropout_rate=0.05, clip=None),
    "rank-one-rows": plait.RankOne(1, sides="rows", dropout_rate=0.05, clip=None),
}

COLLAPSED: dict[str, plait.prior.Prior] = {
    "ard": plait.ARD(),
    "group-ard": plait.GroupARD(),
    "group-ard-rows": plait.GroupARD(columns=False),
    "group-ard-columns": plait.GroupARD(rows=False),
}
"""Priors whose variances are fitted to the posterior."""

ESTIMATORS = ("mean", "weights", "local", "flipout", "per_example")


@dataclass(frozen=True)
class SiteCase:
    """One site on a tiny shape: y = forward(W, x), examples on the first axis of x and y."""

    kind: str
    weight: tuple[int, ...]
    forward: Callable[[Any, Any], Any]
    inputs: Callable[[jax.Array], jax.Array]
    columns: Callable[[jax.Array], jax.Array]
    """y as [examples, places, columns]."""
    grouped: bool = False
    """Whether columns see different inputs."""


def _normal(*shape: int) -> Callable[[jax.Array], jax.Array]:
    return lambda key: jax.random.normal(key, shape, jnp.result_type(float))


def _convolution(spec: tuple[str, str, str], **options: Any) -> Callable[[Any, Any], Any]:
    return lambda w, x: lax.conv_general_dilated(x, w, dimension_numbers=spec, **options)


def _last(y: jax.Array) -> jax.Array:
    return y.reshape(y.shape[0], -1, y.shape[-1])


def _second(y: jax.Array) -> jax.Array:
    return jnp.moveaxis(y, 1, -1).reshape(y.shape[0], -1, y.shape[1])


SITES: dict[str, SiteCase] = {
    "dense": SiteCase("dense", (3, 4), lambda w, x: x @ w, _normal(2, 3), lambda y: y[:, None]),
    "dense-out-in": SiteCase(
        "dense", (4, 3), lambda w, x: jax.vmap(lambda v: w @ v)(x), _normal(2, 3), lambda y: y[:, None]
    ),
    "dense-sequence": SiteCase(
        "dense", (3, 2), lambda w, x: jnp.einsum("nti,io->not", x, w), _normal(2, 2, 3), _second
    ),
    "dense-heads": SiteCase(
        "dense",
        (3, 2, 2),
        lambda w, x: jnp.einsum("nhi,oih->no", x, jnp.transpose(w, (1, 0, 2))),
        _normal(2, 2, 3),
        lambda y: y[:, None],
    ),
    "dense-experts": SiteCase(
        "dense",
        (2, 3, 2),
        lambda w, x: jnp.einsum("nei,eio->neo", x, w),
        _normal(2, 2, 3),
        lambda y: y.reshape(2, 1, -1),
        grouped=True,
    ),
    "conv-2d": SiteCase(
        "conv",
        (2, 1, 2, 3),
        _convolution(("NHWC", "HWIO", "NHWC"), window_strides=(1, 2), padding="SAME"),
        _normal(2, 2, 2, 2),
        _last,
    ),
    "conv-grouped": SiteCase(
        "conv",
        (4, 1, 2),
        _convolution(("NCH", "OIH", "NCH"), window_strides=(1,), padding="VALID", feature_group_count=2),
        _normal(2, 2, 3),
        _second,
        grouped=True,
    ),
    "conv-transposed": SiteCase(
        "conv",
        (2, 2, 2),
        _convolution(("NHC", "HIO", "NHC"), window_strides=(1,), padding=((1, 1),), lhs_dilation=(2,)),
        _normal(2, 2, 2),
        _last,
    ),
    "embedding": SiteCase(
        "embedding",
        (4, 3),
        lambda w, x: w[x],
        lambda key: jax.random.randint(key, (2, 2), 0, 4),
        _last,
    ),
    "bias": SiteCase("bias", (3,), lambda w, x: x + w[None], _normal(2, 3), lambda y: y[:, :, None]),
    "scale": SiteCase("scale", (3,), lambda w, x: x * w[None], _normal(2, 3), lambda y: y[:, :, None]),
}


def _experts(w: Any, x: Any) -> Any:
    return jnp.einsum("eoi,nei->noe", jnp.flip(w.transpose(1, 2, 0), (0, 1, 2)), x)


def _interleaved(w: Any, x: Any) -> Any:
    kernel = jnp.transpose(w, (1, 2, 3, 0)).reshape(2, 1, 6)
    numbers = ("NHC", "HIO", "NHC")
    return lax.conv_general_dilated(x, kernel, (1,), "SAME", dimension_numbers=numbers, feature_group_count=2)


def _with_kernel_transposed(w: Any, x: Any) -> Any:
    return lax.conv_transpose(x, w, (2,), "SAME", dimension_numbers=("NHC", "HIO", "NHC"), transpose_kernel=True)


# Weights that reach their site with axes turned around, split or merged.
REARRANGED: dict[str, SiteCase] = {
    "experts turned around": SiteCase("dense", (3, 2, 4), _experts, _normal(2, 2, 3), _last),
    "groups from an axis split in two": SiteCase(
        "dense", (6, 4), lambda w, x: jnp.einsum("nei,eio->neo", x, w.reshape(2, 3, 4)), _normal(2, 2, 3), _last
    ),
    "groups with interleaved columns": SiteCase("conv", (2, 2, 1, 3), _interleaved, _normal(2, 3, 2), _last),
    "transposed kernel": SiteCase("conv", (3, 2, 4), _with_kernel_transposed, _normal(2, 3, 4), _last),
    "merged inputs": SiteCase(
        "dense", (4, 3, 2), lambda w, x: x @ jnp.transpose(w, (1, 0, 2)).reshape(12, 2), _normal(2, 12), _last
    ),
}


def build(
    family: plait.Family, site: SiteCase, key: jax.Array, *, estimator: Any = None, prior: Any = None, dtype: Any = None
) -> tuple[plait.BayesianModel, jax.Array]:
    """A one-weight model with all variational parameters moved away from their symmetric start."""
    weights, inputs, initial, moved = jax.random.split(key, 4)
    weight = jax.random.normal(weights, site.weight, dtype or jnp.result_type(float))
    x = site.inputs(inputs)
    bnn = plait.bayesianize(
        {"w": weight},
        x,
        apply=lambda params, x: site.forward(params["w"], x),
        posterior=family,
        prior=prior,
        estimator=estimator,
        key=initial,
    )
    return shake(bnn, moved), x


def shake(bnn: plait.BayesianModel, key: jax.Array, spread: float = 0.3) -> plait.BayesianModel:
    """Move every variational parameter by a random amount; what is orthogonal stays so."""
    leaves, structure = jax.tree.flatten(bnn)
    keys = jax.random.split(key, len(leaves))
    moved = [
        leaf + spread * jax.random.normal(k, leaf.shape, leaf.dtype) if hasattr(leaf, "shape") else leaf
        for k, leaf in zip(keys, leaves, strict=True)
    ]

    def settle(leaf: Any) -> Any:
        return Rotation(jnp.linalg.qr(leaf.matrix)[0]) if isinstance(leaf, Rotation) else leaf

    shaken = jax.tree.unflatten(structure, moved)
    return jax.tree.map(settle, shaken, is_leaf=lambda leaf: isinstance(leaf, Rotation))
