import optax
import pytest

from plait.recipes.nng.methods import HMC, METHODS, Training, find_method


def test_methods_are_known_by_name():
    assert find_method("NNG-MVG").paper == "NNG-MVG"
    with pytest.raises(ValueError, match=f"unknown method 'PBP': known are .*, {HMC}"):
        find_method("PBP")


@pytest.mark.parametrize("name", METHODS)
def test_equal_trainings_have_one_optimizer(name):
    """Its schedules are functions: another one is another program."""
    training = Training(epochs=10)
    method = METHODS[name]
    made = method.optimizer(training, 40)
    assert made is method.optimizer(Training(epochs=10), 40)
    assert isinstance(made, optax.GradientTransformation) == method.by_gradients
    if not method.by_gradients:
        assert float(made.learning_rate(19)) == pytest.approx(0.01)
        assert float(made.learning_rate(20)) == pytest.approx(0.001)
        assert made.num_samples == training.num_samples
