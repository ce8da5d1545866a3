"""Batches from iterators, and from arrays."""

import jax
import numpy as np
import pytest

import plait


@pytest.fixture
def batches(problem):
    x, y = problem.data
    return [(x[i : i + 8], y[i : i + 8]) for i in range(0, 40, 8)]


def stream(problem, data, **options):
    given = {"dataset_size": 40, "batch_size": None} | options
    return problem.fit(data=data, **given)


def test_a_list_a_function_and_an_iterator_of_batches_train_alike(problem, batches):
    listed = stream(problem, batches, epochs=3)
    assert listed.history["step"].tolist() == [5, 10, 15]
    made = stream(problem, lambda epoch: iter(batches), epochs=3)
    once = stream(problem, iter(batches * 3), epochs=3)
    for other in (made, once):
        problem.assert_equal(other.model, listed.model)
        np.testing.assert_array_equal(other.history["loss"], listed.history["loss"])


def test_a_function_is_told_which_pass_it_is(problem, batches):
    told = []

    def source(epoch):
        told.append(epoch)
        return batches

    stream(problem, source, epochs=3)
    # The first call is to look at a batch.
    assert told == [0, 0, 1, 2]


def test_a_batch_of_everything_is_a_step_on_arrays(problem):
    """With one batch an epoch both feeds see the same examples, up to their order."""
    streamed = stream(problem, [problem.data], epochs=1, optimizer=problem.adam, bnn=point_model(problem))
    whole = problem.fit(epochs=1, batch_size=40, bnn=point_model(problem))
    problem.assert_equal(streamed.model, whole.model, 1e-5)


def point_model(problem):
    return problem.make_model(jax.random.key(1), posterior=plait.Point())


def test_an_iterator_that_ends_ends_training(problem, batches):
    fit = stream(problem, iter(batches + batches[:2]), epochs=3)
    assert (fit.ending, fit.step) == ("data ended", 7)
    assert fit.history["epoch"].tolist() == [1, 1.4]


def test_batches_may_differ_in_size(problem, batches):
    x, y = problem.data
    fit = stream(problem, [*batches, (x[:3], y[:3])], epochs=2)
    # The list says how many batches a pass has.
    assert fit.history["step"].tolist() == [6, 12]


def test_without_a_length_an_epoch_is_as_many_batches_as_the_data_has(problem, batches):
    fit = stream(problem, lambda epoch: iter(batches), steps=12)
    assert fit.history["epoch"].tolist() == [1, 2, 2.4]


def test_a_stream_resumes_bit_for_bit(problem, batches, tmp_path):
    whole = stream(problem, batches, epochs=4)
    stream(problem, batches, steps=7, checkpoint=tmp_path)
    resumed = stream(problem, batches, epochs=4, checkpoint=tmp_path, resume=True)
    problem.assert_equal(resumed.model, whole.model)


@pytest.mark.parametrize(
    ("data", "options", "error", "says"),
    [
        ([], {}, ValueError, "`data` gave no batches"),
        (3, {}, TypeError, r"`data` must be arrays `\(x, y\)`, an iterable of batches, or a function.*got int"),
        ([np.ones((8, 3), np.float32)], {}, TypeError, r"must give batches `\(x, y\)`, got an array \(8, 3\)"),
        ([(np.ones((8, 3), np.float32), [1.0] * 8)], {}, TypeError, "the iterator must give arrays, got"),
        (None, {"dataset_size": None}, ValueError, "`dataset_size`, the number of training examples.*pass it"),
        (None, {"batch_size": 8}, ValueError, "`batch_size` is for arrays"),
        (None, {"accumulate": 3}, ValueError, "a batch of 8 examples cannot be cut into 3 equal parts"),
    ],
)
def test_streams_that_cannot_be_trained_on_are_refused(problem, batches, data, options, error, says):
    with pytest.raises(error, match=says):
        stream(problem, batches if data is None else data, epochs=1, **options)


def test_a_later_batch_of_another_form_is_refused(problem, batches):
    x, y = problem.data
    with pytest.raises(ValueError, match="x and y of different lengths"):
        stream(problem, [batches[0], (x[:4], y[:8])], epochs=1)


def test_a_function_that_has_no_second_pass_is_refused(problem, batches):
    with pytest.raises(ValueError, match="no batches in pass 1; an iterator that can run once is passed itself"):
        stream(problem, lambda epoch: [] if epoch else batches, epochs=2)
