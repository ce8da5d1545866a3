"""What paper 003 and its repositories report (MATH 2.7): NLL, accuracy, ECE, clean and corrupted, and parameters."""

from collections.abc import Mapping
from dataclasses import dataclass

COLUMNS = ("NLL", "accuracy", "ECE", "cNLL", "cA", "cECE", "parameters")


@dataclass(frozen=True)
class Targets:
    """One table."""

    title: str
    rows: Mapping[str, tuple[str, ...]]
    """By method, in the order of `COLUMNS`."""


def _table(title: str, **rows: str) -> Targets:
    return Targets(title, {name.replace("_", " "): tuple(text.split()) for name, text in rows.items()})


CIFAR10 = _table(
    "CIFAR-10, Wide ResNet-28-10",
    deterministic=".159 96.0 .0231 1.05 76.1 .153 36.5M",
    batch_ensemble=".136 96.3 .0177 .97 77.8 .124 36.6M",
    Gaussian=".128 96.3 .008 .84 76.7 .080 36.6M",
    Cauchy=".120 96.5 .009 .74 80.5 .090 36.6M",
    ensemble=".114 96.6 .010 .81 77.9 .087 146M",
    mean_field=".211 94.7 .029 1.46 71.3 .181 73M",
)
CIFAR100 = _table(
    "CIFAR-100, Wide ResNet-28-10",
    deterministic=".875 79.8 .0857 2.70 51.37 .239 36.5M",
    batch_ensemble=".690 81.9 .0265 2.56 53.1 .149 36.6M",
    Gaussian=".692 81.3 .018 2.24 53.8 .117 36.6M",
    Cauchy=".689 82.4 .012 2.04 57.8 .142 36.6M",
    ensemble=".666 82.7 .021 2.27 54.1 .138 146M",
    mean_field=".944 77.8 .097 3.18 48.2 .271 73M",
)
IMAGENET = _table(
    "ImageNet, ResNet-50",
    deterministic=".939 76.2 .032 3.21 40.5 .103 25.6M",
    batch_ensemble=".922 76.8 .037 3.09 41.9 .089 -",
    Gaussian=".886 77.3 .0166 2.95 42.9 .054 26.0M",
    Cauchy=".897 77.2 .0192 2.98 42.5 .059 26.0M",
    ensemble=".857 77.9 .017 2.82 44.9 .047 -",
)
NAMES = {"rank-1 Gaussian": "Gaussian", "rank-1 Cauchy": "Cauchy"}
"""Our names of methods whose names differ."""
SAMPLES = {1: (".128", ".008", ".84", ".080"), 4: (".126", ".008", ".80", ".074"), 25: (".125", ".007", ".77", ".070")}
"""Table 8, Gaussian: NLL, ECE, cNLL, cECE by weight samples."""
