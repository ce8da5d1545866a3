"""A likelihood in the header of a file: the name of its class and its settings; its arrays are among the model's."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp

from plait import likelihood as likelihoods
from plait.likelihood import Likelihood


def describe(likelihood: Likelihood | None) -> dict[str, Any] | None:
    """What the header says of it."""
    if likelihood is None:
        return None
    settings = {field.name: getattr(likelihood, field.name) for field in _settings(type(likelihood))}
    return {"kind": type(likelihood).__name__, "settings": settings}


def rebuild(saved: Mapping[str, Any], arrays: Mapping[str, Any], numbers: Mapping[str, Any]) -> Likelihood:
    """The likelihood that was saved, if it is one of Plait's own; other classes are code, which no file brings."""
    kind = getattr(likelihoods, saved["kind"], None)
    if kind is None:
        raise ValueError(
            f"the model was saved with the likelihood {saved['kind']}, which is not one of Plait's: pass "
            f"`like=bnn.with_likelihood({saved['kind']}(...))`"
        )
    # Its fields are known, whatever arguments made them.
    likelihood = object.__new__(kind)
    for field in dataclasses.fields(kind):
        name = f"likelihood/{field.name}"
        value = jnp.asarray(arrays[name]) if name in arrays else numbers.get(name)
        object.__setattr__(likelihood, field.name, saved["settings"].get(field.name, value))
    return likelihood


def _settings(kind: type[Likelihood]) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(kind) if field.metadata.get("static")]
