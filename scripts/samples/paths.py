"""Motion paths of the samples."""

from __future__ import annotations

import numpy as np

from addon.core.envelope import Envelope, Shape
from addon.formats.xray import anm
from addon.formats.xray.envelopes import stored


def camera_path() -> anm.Anm:
    """Return two seconds of a camera: a key every half second, with different key shapes in each channel."""
    shapes = {
        "X": [Shape.TCB] * 5,
        "Y": [Shape.STEPPED, Shape.HERMITE, Shape.HERMITE, Shape.BEZIER_1D, Shape.LINEAR],
        "Z": [Shape.LINEAR] * 5,
        "H": [Shape.BEZIER_2D] * 5,
        "P": [Shape.TCB, Shape.LINEAR, Shape.BEZIER_2D, Shape.STEPPED, Shape.HERMITE],
        "B": [Shape.STEPPED],
    }
    values = {
        "X": [0.0, 1.5, 2.0, 1.0, 0.0],
        "Y": [1.5, 1.75, 1.625, 1.75, 1.5],
        "Z": [-4.0, -3.0, -1.0, -2.0, -4.0],
        "H": [0.0, 0.5, 0.75, 0.25, 0.0],
        "P": [0.0, 0.125, -0.125, 0.0, 0.0625],
        "B": [0.0],
    }
    envelopes = []
    for name, kinds in shapes.items():
        count = len(kinds)
        path = Envelope.of(np.arange(count) / 2.0, np.array(values[name]), np.array(kinds, np.uint8))
        path.tcb[:] = [0.25, 0.0, -0.125] if name == "X" else 0.0
        path.parameters[:] = [-0.125, -0.0625, 0.1875, 0.0625] if name in "HP" else [0.25, 0.25, 0.0, 0.0]
        envelopes.append(stored(path, name, to_packed=True))
    return anm.new_anm(anm.Animation(b"camera", 0, 60, np.float32(30), 5, envelopes))
