"""Bytes read in a test: the document, and what is reported of it."""

from collections.abc import Callable
from typing import Any

from addon.core.report import Report
from addon.formats import FormatModule


def reading(module: FormatModule, usual_name: str) -> Callable[..., tuple[Any, Report]]:
    """Return the function that reads bytes as a file of this name, or of the one it gets."""

    def read(data: bytes, name: str = usual_name) -> tuple[Any, Report]:
        report = Report()
        return module.read(data, name, report), report

    return read
