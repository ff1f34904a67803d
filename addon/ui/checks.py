"""What the last check of a model or level file found, said in its panel until Blender is closed."""

from __future__ import annotations

from typing import Any

from .wording import shown

_findings: dict[int, int] = {}
"""Object (its number in this session) -> how many findings its last check had."""


def remember(holder: Any, findings: int) -> None:
    """Note what a check of the file that ``holder`` remembers found."""
    if holder is not None:
        _findings[holder.session_uid] = findings


def draw(layout: Any, holder: Any) -> None:
    """The result of the last check, if there was one."""
    count = _findings.get(holder.session_uid)
    if count is None:
        return
    text = shown("Last check, findings: {}").format(count) if count else shown("Last check: no findings")
    layout.label(text=text, icon="ERROR" if count else "CHECKMARK", translate=False)
