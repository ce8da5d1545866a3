"""Ctrl-C as a wish."""

import signal
import threading

import pytest

from plait.fit.interrupt import interrupts


@pytest.fixture(autouse=True)
def pythons_own():
    """A shell starts what runs in the background with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_first_is_noted_and_the_second_interrupts():
    before = signal.getsignal(signal.SIGINT)
    with interrupts() as pressed:
        assert not pressed()
        signal.raise_signal(signal.SIGINT)
        assert pressed()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_have_no_signals():
    seen = []

    def work():
        with interrupts() as pressed:
            seen.append(pressed())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False]
