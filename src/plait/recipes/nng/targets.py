"""What paper 004 reports (MATH 3.5); where the standard error of a number is not at hand it is nan."""

import math

from plait.metrics import Estimate


def _rows(columns: tuple[str, ...], text: str) -> dict[str, dict[str, Estimate]]:
    """By set and column; a line is a set and its values, each with its standard error after a slash if there is one."""
    found = {}
    for line in text.strip().splitlines():
        name, *cells = line.split()
        pairs = [cell.split("/") for cell in cells]
        estimates = [Estimate(float(value), float(*error) if error else math.nan) for value, *error in pairs]
        found[name] = dict(zip(columns, estimates, strict=True))
    return found


CORRELATION = _rows(
    ("NNG-MVG", "NNG-BlkTri", "BBB", "PBP"),
    """
    boston .891/.021 .889/.024 .733 .761
    concrete .913/.010 .922/.006 .809 .817
    energy .617/.087 .646/.088 .414 .471
    kin8nm .731/.021 .759/.023 .681 .587
    naval .596/.073 .598/.070 .316 .270
    power .829/.020 .853/.020 .633 .509
    wine .957/.009 .964/.006 .915 .883
    yacht .717/.072 .727/.070 .617 .620
    """,
)
"""Table 3: Pearson correlation of predictive variances with HMC."""

ACTIVE = _rows(
    ("NNG-MVG random", "NNG-MVG active", "HMC random", "HMC active"),
    """
    boston 6.364/.287 5.139/.033 5.750/.222 5.156/.150
    concrete 11.869/.187 11.592/.117 10.564/.198 11.484/.191
    energy 3.419/.054 3.035/.038 3.264/.067 3.118/.062
    kin8nm .247/.002 .236/.002 .226/.004 .223/.003
    naval .010 .009 .013 .012
    power 5.821/.056 5.421/.028 5.229/.097 4.800/.074
    wine .773/.009 .841/.007 .740/.011 .749/.010
    yacht 7.142/.171 6.245/.068 4.644/.237 3.211/.120
    """,
)
"""Table 2: RMSE on test data after the last acquisition."""
