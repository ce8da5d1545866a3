"""Row lookups."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.site import LookupSite

WEIGHT = jnp.arange(12.0).reshape(4, 3)
LOOKUPS: dict[str, tuple[Callable[[Any, Any], Any], Any, int]] = {
    "rows": (lambda w, x: w[x], jnp.array([[0, 3], [1, 1]]), 4),
    "mapped": (lambda w, x: jax.vmap(lambda i: w[i])(x), jnp.array([3, 0]), 2),
    "columns": (lambda w, x: jnp.take(w.T, x, axis=1), jnp.array([3, 0]), 2),
    "clipped": (lambda w, x: jnp.take(w, x, axis=0, mode="clip"), jnp.array([7, -1]), 2),
    "filled": (lambda w, x: jnp.take(w, x, axis=0, mode="fill", fill_value=0), jnp.array([7, 1]), 2),
}


@pytest.mark.parametrize(("forward", "x", "positions"), LOOKUPS.values(), ids=LOOKUPS)
def test_rows_are_picked_as_the_program_picks_them(
    forward: Callable[[Any, Any], Any], x: Any, positions: int, meet: Callable[..., Any]
):
    meeting = meet(forward, WEIGHT, x)
    site = meeting.site
    assert isinstance(site, LookupSite)
    assert (site.layout.fan_in, site.layout.fan_out, site.positions, site.flops) == (4, 3, positions, 0)
    np.testing.assert_array_equal(meeting.outputs, forward(WEIGHT, x))


def test_no_row_is_an_input_unit(meet: Callable[..., Any]):
    meeting = meet(lambda w, x: w[x], WEIGHT, jnp.array([1, 2]))
    assert meeting.site.layout.units == ()
    with pytest.raises(ValueError, match="no input units to scale"):
        meeting.site.scale_input(meeting.x, jnp.ones(1))


def test_picking_single_entries_is_no_site(meet: Callable[..., Any]):
    meeting = meet(lambda w, x: w[x, x], WEIGHT, jnp.array([1, 2]))
    assert meeting.site is None
    np.testing.assert_array_equal(meeting.outputs, [4, 8])
