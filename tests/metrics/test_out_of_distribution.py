"""Detection metrics against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score, roc_curve

from plait import metrics


@pytest.fixture(params=["continuous", "ties"])
def scores(request, seed):
    rng = np.random.default_rng(seed)
    inside, outside = rng.normal(size=237), rng.normal(size=150) + 1
    return (inside, outside) if request.param == "continuous" else (np.round(inside), np.round(outside))


def test_auroc_equals_scikit_learn(scores):
    inside, outside = scores
    labels = np.r_[np.zeros(len(inside)), np.ones(len(outside))]
    assert metrics.auroc(inside, outside) == pytest.approx(roc_auc_score(labels, np.r_[inside, outside]))
    assert metrics.auroc_estimate(inside, outside).value == pytest.approx(metrics.auroc(inside, outside))


def test_fpr95_equals_scikit_learn(scores):
    inside, outside = scores
    # Familiar inputs are the positive class here, and recognised by a low score.
    labels = np.r_[np.ones(len(inside)), np.zeros(len(outside))]
    false, true, _ = roc_curve(labels, -np.r_[inside, outside], drop_intermediate=False)
    assert metrics.fpr_at_95_tpr(inside, outside) == pytest.approx(false[true >= 0.95].min())


def test_delong_gives_the_spread_over_data_sets(seed):
    rng = np.random.default_rng(seed)
    estimates = [metrics.auroc_estimate(rng.normal(size=80), rng.normal(size=60) + 1) for _ in range(1000)]
    spread = np.std([estimate.value for estimate in estimates], ddof=1)
    assert np.mean([estimate.standard_error for estimate in estimates]) == pytest.approx(spread, rel=0.12)


def test_by_hand():
    assert metrics.auroc([0.0, 1.0], [2.0, 3.0]) == 1
    assert metrics.auroc([1.0], [1.0]) == 0.5
    assert metrics.fpr_at_95_tpr([0.0, 1.0], [2.0, 3.0]) == 0
    # 19 of 20 familiar inputs may pass at the threshold 18.
    assert metrics.fpr_at_95_tpr(np.arange(20), [17.5, 18.5]) == 0.5


@pytest.mark.parametrize("bad", [np.zeros((2, 2)), np.zeros(0), np.asarray([np.nan])])
def test_wrong_scores_are_refused(bad):
    with pytest.raises(ValueError, match="score"):
        metrics.auroc(bad, np.zeros(3))
    with pytest.raises(ValueError, match="score"):
        metrics.fpr_at_95_tpr(np.zeros(3), bad)
