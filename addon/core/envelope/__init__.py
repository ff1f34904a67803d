"""Keyed curves: what the game evaluates (`Envelope`), what an F-curve can hold (`Curve`), and the way between them.

An `Envelope` has keys with shapes, tensions and parameters, of which the *end* key names the segment. A `Curve` has
keys with two handles each, of which the *start* key names the segment. Every kind of segment is a cubic Bezier in
(time, value), so that nothing has to be sampled. `display` shows an envelope as a curve an F-curve draws exactly;
`keys_of_curve` takes a curve back, starting from the envelope it came from.

No file format is known here. The formulas are those of the X-Ray engine's ``interp.cpp``.
"""

from __future__ import annotations

from .curve import Curve, Curves, Interpolation, control_points, evaluate_curve
from .display import Display, display, displayed, displays
from .evaluation import Behaviour, Envelope, Envelopes, Shape, evaluate, extrapolation_slopes, tangents
from .writing import keys_of_curve, unchanged

__all__ = [
    "Behaviour",
    "Curve",
    "Curves",
    "Display",
    "Envelope",
    "Envelopes",
    "Interpolation",
    "Shape",
    "control_points",
    "display",
    "displayed",
    "displays",
    "evaluate",
    "evaluate_curve",
    "extrapolation_slopes",
    "keys_of_curve",
    "tangents",
    "unchanged",
]
