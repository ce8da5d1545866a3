import math

from plait.recipes.nng.protocol import SETS
from plait.recipes.nng.targets import ACTIVE, CORRELATION


def test_every_set_has_its_numbers():
    assert set(ACTIVE) == set(CORRELATION) == set(SETS)
    assert CORRELATION["boston"]["NNG-MVG"].value == 0.891
    assert CORRELATION["yacht"]["PBP"].value == 0.62
    assert math.isnan(CORRELATION["yacht"]["BBB"].standard_error)
    assert ACTIVE["yacht"]["HMC active"].value == 3.211
    assert ACTIVE["power"]["HMC active"].standard_error == 0.074


def test_natural_gradient_is_nearer_to_hmc_than_a_mean_field():
    assert all(row["NNG-MVG"].value > row["BBB"].value for row in CORRELATION.values())
