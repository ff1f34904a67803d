"""NaN and infinite values are counted in arrays of every kind, and reported once for each array."""

from dataclasses import dataclass

import numpy as np

from addon.core.binary import NOT_FINITE, not_finite, warn_not_finite
from addon.core.report import Report

NAN, INFINITE = float("nan"), float("inf")


def test_finite_numbers_are_not_reported():
    report = Report()
    assert warn_not_finite(report, "numbers", np.zeros((2, 3), "<f4"), np.float32(1), 2.0, np.zeros(0, "<f4")) == 0
    assert not report


def test_nan_and_infinite_values_are_counted_over_all_arrays_of_an_entry():
    report = Report()
    first = np.array([[0, NAN, 1], [-INFINITE, INFINITE, 2]], "<f4")
    assert warn_not_finite(report, "vertices", first, np.float32(NAN), INFINITE, 5.0) == 5
    assert report.lines() == [f"{NOT_FINITE} (vertices: 5)"]


def test_only_floats_of_structured_arrays_count_also_in_nested_fields():
    inner = np.dtype([("position", "<f4", 3), ("id", "<u4")])
    rows = np.zeros(4, [("inner", inner), ("weight", "<f8"), ("name", "S4")])
    rows["inner"]["position"][1, 2] = NAN
    rows["inner"]["id"] = 0x7FC00000
    rows["weight"][3] = INFINITE
    assert not_finite(rows) == 2


@dataclass
class Inner:
    position: object
    name: bytes = b"x"


def test_values_inside_dataclasses_lists_and_dicts_count():
    report = Report()
    rows = [Inner(np.array([NAN, 1], "<f4")), Inner(np.float32(INFINITE)), Inner(3)]
    assert warn_not_finite(report, "bones", {"a": Inner(rows)}, (NAN, 7, None, "text")) == 3
    assert report.lines() == [f"{NOT_FINITE} (bones: 3)"]


def test_values_that_float32_cannot_hold_are_reported_in_their_own_type():
    assert not_finite(np.array([1e300])) == 0


def test_signalling_nans_are_found_without_a_warning_of_numpy():
    bits = np.array([0x7F800001], "<u4").view("<f4")
    with np.errstate(all="raise"):
        assert not_finite(bits) == 1
