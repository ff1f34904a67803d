"""Keyframed curves: `Envelope` as games store and evaluate them, `Curve` as a Blender F-curve holds them, and
conversions between the two.

An `Envelope` has keys with shapes, tensions and parameters; the *end* key of a segment defines its shape. A `Curve` has
keys with two handles each; the *start* key of a segment defines its interpolation. Every segment is a cubic Bezier in
(time, value), so nothing has to be sampled. `display` converts an envelope to a curve that an F-curve draws exactly;
`keys_of_curves` converts edited curves back, starting from the envelopes they were made from.

Independent of file formats. The formulas are those of the X-Ray engine's ``interp.cpp``.
"""

from __future__ import annotations

from .curve import Curve, Curves, Interpolation, control_points, evaluate_curve
from .display import Display, Displays, display, displayed, each_display
from .evaluation import Behaviour, Envelope, Envelopes, Shape, evaluate, extrapolation_slopes, tangents
from .writing import keys_of_curves, unchanged

__all__ = [
    "Behaviour",
    "Curve",
    "Curves",
    "Display",
    "Displays",
    "Envelope",
    "Envelopes",
    "Interpolation",
    "Shape",
    "control_points",
    "display",
    "displayed",
    "each_display",
    "evaluate",
    "evaluate_curve",
    "extrapolation_slopes",
    "keys_of_curves",
    "tangents",
    "unchanged",
]
