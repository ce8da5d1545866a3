import pytest

from plait.recipes.ktied import lenet, lstm, mlp, resnet


def test_standard_errors_of_accuracies_are_binomial():
    """So the papers' standard errors are over test examples, whatever the text says (erratum E13)."""
    for module, size in ((mlp, 10_000), (lenet, 10_000), (lstm, 25_000), (resnet, 10_000)):
        for table in (module.TARGETS.trained, module.TARGETS.truncated):
            for row in table.values():
                p = row["accuracy"].value
                assert row["accuracy"].standard_error == pytest.approx((p * (1 - p) / size) ** 0.5, abs=1e-4)
