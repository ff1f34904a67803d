"""Work that pauses: only one side runs at a time, stopping tidies up, errors arrive where they are asked for."""

import threading

import pytest

from addon.core import pausing
from addon.core.pausing import Stopped, Work


def steps(seen, count=5):
    try:
        for number in range(count):
            seen.append(number)
            pausing.pause((number + 1) / count)
    finally:
        pausing.pause(1.0)
        seen.append("tidy")
    return len(seen)


def test_it_goes_on_where_it_paused_and_never_while_the_caller_runs():
    seen: list = []
    work = Work(lambda: steps(seen))
    assert seen == []
    for number in range(5):
        assert not work.advance(0)
        assert seen == list(range(number + 1))
        assert work.fraction == (number + 1) / 5
    assert not work.advance(0)
    assert pausing.unfinished()
    assert work.advance(0)
    assert work.result() == 6
    assert work.advance(0)
    assert not pausing.unfinished()


def test_with_time_enough_it_never_pauses():
    work = Work(lambda: steps([]))
    assert work.advance(60)
    assert work.result() == 6


def test_stopped_it_tidies_up_before_stop_returns_though_it_survives_other_exceptions():
    seen: list = []

    def stubborn():
        try:
            steps(seen)
        except Exception:
            seen.append("went on")
            raise

    work = Work(stubborn)
    work.advance(0)
    work.stop()
    assert seen == [0, "tidy"]
    assert work.ended
    with pytest.raises(Stopped):
        work.result()


def test_stopped_before_it_began_nothing_is_called():
    seen: list = []
    work = Work(lambda: steps(seen))
    work.stop()
    assert seen == []
    with pytest.raises(Stopped):
        work.result()


def test_errors_are_raised_for_whoever_asks_for_the_result():
    def fail():
        pausing.pause(0.5)
        raise ValueError("of the work")

    work = Work(fail)
    assert not work.advance(0)
    assert work.advance(0)
    with pytest.raises(ValueError, match="of the work"):
        work.result()


def test_outside_work_pause_does_nothing_and_no_thread_stays():
    assert not pausing.pausable()
    pausing.pause(0.5)
    Work(lambda: steps([])).advance(60)
    assert not [entry for entry in threading.enumerate() if entry.name == "motionbridge" and entry.is_alive()]


def test_an_errand_is_done_in_the_thread_of_the_caller_also_when_it_fails():
    here = threading.current_thread()
    assert pausing.in_callers_thread(threading.current_thread) is here

    def fail():
        raise ValueError("of the errand")

    def errands():
        there = threading.current_thread()
        home = pausing.in_callers_thread(threading.current_thread)
        with pytest.raises(ValueError, match="of the errand"):
            pausing.in_callers_thread(fail)
        return there, home

    work = Work(errands)
    assert work.advance(60)
    there, home = work.result()
    assert there is not here
    assert home is here
