"""Draw the six channels of an X-Ray animation (.anm) as the game plays them.

`python3 scripts/lab/plot_path.py FILE [-o PICTURE]`; without -o the picture is written to the current folder, with the
name of the file. The line is the game's own formula, densely sampled; dots are the file's keys, thin lines the handles
of the F-curve in Blender.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - explain it to users of older versions
    sys.exit("Motionbridge draws with Python 3.11 or newer: install it and start this again with it.")

import argparse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from environment import virtual

if __name__ == "__main__" and (status := virtual.started_again("plot")) is not None:
    sys.exit(status)  # from here on, matplotlib can be imported

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from addon.core.envelope import Curve, Envelope, Interpolation, display, evaluate
from addon.core.errors import MotionbridgeError, ReadError
from addon.core.files import read_file
from addon.core.report import Report
from addon.formats.xray import anm
from addon.formats.xray.envelopes import NAMES

SAMPLES = 2000
UNITS = ("m", "m", "m", "°", "°", "°")


def main() -> int:
    """Draw the file of the command line; return 2 if it cannot be read or drawn."""
    parser = argparse.ArgumentParser(description="Draw the six channels of an X-Ray animation as the game plays them.")
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("-o", "--output", type=Path, metavar="PICTURE", help="a .png (default: FILE's name here)")
    chosen = parser.parse_args()
    output = chosen.output or Path(Path(chosen.file).with_suffix(".png").name)
    try:
        report = Report()
        document = anm.read(read_file(chosen.file), chosen.file, report)
    except ReadError as refusal:
        print(refusal, file=sys.stderr)
        return 2
    for line in report.lines():
        print(line)
    try:
        draw(document, Path(chosen.file).name, output)
    except (MotionbridgeError, OSError) as wrong:
        print(wrong, file=sys.stderr)
        return 2
    print(f"{output}: {sum(len(envelope.keys) for envelope in document.animation.envelopes)} keys")
    return 0


def draw(document: anm.Anm, title: str, output: Path) -> None:
    """Write the picture of a document."""
    animation = document.animation
    frame = animation.frame
    figure, axes = plt.subplots(3, 2, figsize=(14, 9), sharex=True, constrained_layout=True)
    figure.suptitle(
        f"{title}: version {animation.version}, frames {animation.first} to {animation.last} at {animation.fps:g} fps"
    )
    for channel, envelope in enumerate(animation.envelopes):
        axis = axes[channel % 3][channel // 3]
        scale = 1.0 if channel < 3 else float(np.degrees(1.0))
        axis.set_ylabel(f"{NAMES[channel]} ({UNITS[channel]})")
        axis.axvspan(animation.first * frame, animation.last * frame, color="0.95")
        _draw_channel(axis, envelope.decoded(), frame, scale, (animation.first * frame, animation.last * frame))
    for axis in axes[-1]:
        axis.set_xlabel("seconds")
    figure.savefig(output, dpi=100)
    plt.close(figure)


def _draw_channel(axis: Axes, envelope: Envelope, frame: float, scale: float, played: tuple[float, float]) -> None:
    if not envelope.count:
        axis.text(0.5, 0.5, "no keys", transform=axis.transAxes, ha="center")
        return
    reach = (min(played[0], envelope.times.min()), max(played[1], envelope.times.max()))
    times = np.linspace(*reach, SAMPLES)
    axis.plot(times, evaluate(envelope, times) * scale, color="tab:blue", linewidth=1.2)
    _draw_handles(axis, display(envelope, frame).curve, scale)
    axis.plot(envelope.times, envelope.values * scale, "o", color="tab:red", markersize=3)


def _draw_handles(axis: Axes, curve: Curve, scale: float) -> None:
    cubic = curve.interpolation[:-1] == Interpolation.BEZIER
    for key, handle in ((curve.keys[:-1], curve.right[:-1]), (curve.keys[1:], curve.left[1:])):
        pairs = np.stack((key[cubic], handle[cubic]))
        axis.plot(pairs[:, :, 0], pairs[:, :, 1] * scale, color="tab:orange", linewidth=0.8)


if __name__ == "__main__":
    sys.exit(main())
