"""From one version of `.anm` to another."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ....core.report import Report
from .document import VERSIONS, Anm
from .mapping import decode, encode


def converted(document: Anm, report: Report, *, version: int) -> Anm:
    """The same animation in another version; what 16-bit handles cost is reported. Raises `WriteError`."""
    result, changes = encode(decode(document, Report()), document, version=version)
    metres, radians = changes.worst_errors()
    if metres or radians:
        report.note(
            f"version {version} stores handles in steps of 0.98 ms: the motion changes by at most "
            f"{1000 * metres:.3g} mm and {radians * 57.29578:.3g}°"
        )
    return result


CONVERSIONS: dict[str, Callable[[Anm, Report], Anm]] = {
    str(version): partial(converted, version=version) for version in VERSIONS
}
"""By the name of what comes out: a version's number."""
