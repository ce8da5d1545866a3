"""Detection of foreign inputs against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import plait
from plait import metrics
from plait.predict import detection
from plait.predict.detection import SCORES


@pytest.fixture
def pair(classes, key, seed) -> tuple[plait.Predictive, plait.Predictive]:
    rng = np.random.default_rng(seed)
    familiar, foreign = rng.normal(size=(40, 3)), 0.3 * rng.normal(size=(30, 3))
    return tuple(plait.predict(classes, x.astype(np.float32), key=key, num_samples=20) for x in (familiar, foreign))


@pytest.mark.parametrize("score", SCORES)
def test_the_auroc_is_that_of_scikit_learn(pair, score):
    found = plait.out_of_distribution(*pair, score=score)
    values = [getattr(pred, score) for pred in pair]
    values = [v.mean(1) if v.ndim > 1 else v for v in values]
    scores = np.concatenate(values) * (-1 if score == "confidence" else 1)
    assert found.auroc.value == pytest.approx(roc_auc_score([0] * 40 + [1] * 30, scores))
    assert found.fpr95.value == metrics.fpr_at_95_tpr(scores[:40], scores[40:])
    assert found.auroc.standard_error > 0
    assert str(found).startswith("AUROC ")


def test_the_error_of_the_false_positive_rate_is_the_spread_over_data(seed):
    rng = np.random.default_rng(seed)
    errors, values = [], []
    for _ in range(200):
        inside, outside = rng.normal(size=400), rng.normal(size=300) + 1
        values.append(metrics.fpr_at_95_tpr(inside, outside))
        if len(errors) < 20:
            errors.append(detection._bootstrap_error(inside, outside))
    assert np.mean(errors) == pytest.approx(np.std(values, ddof=1), rel=0.35)


def test_regressions_are_told_apart_by_their_variance(regression, key, x):
    near, far = (plait.predict(regression, scale * x, key=key, num_samples=20) for scale in (0.1, 10))
    assert plait.out_of_distribution(near, far, score="epistemic").auroc.value > 0.9
    with pytest.raises(ValueError, match="not classes"):
        plait.out_of_distribution(near, far)


def test_unknown_scores_are_refused(pair):
    with pytest.raises(ValueError, match="'entropy', 'mutual_information'"):
        plait.out_of_distribution(*pair, score="surprise")
