"""What an operation has to say afterwards: findings, each with its place, folded when they repeat."""

from __future__ import annotations

PLACES_SHOWN = 5


class Report:
    """Warnings and notes in the order of their first appearance.

    The same sentence said of several places is one entry: ``[3x] the checksum is wrong (walk_0, walk_1, run_2)``.
    """

    # Written out: a dataclass takes a millisecond to make, and every start of Blender makes this one.
    def __init__(self, warnings: dict[str, list[str]] | None = None, notes: dict[str, list[str]] | None = None) -> None:
        """Each finding with its places."""
        self.warnings = {} if warnings is None else warnings
        self.notes = {} if notes is None else notes

    def warn(self, finding: str, place: str = "") -> None:
        """Something is odd, left out or repaired: the user should know."""
        self.warnings.setdefault(finding, []).append(place)

    def note(self, finding: str, place: str = "") -> None:
        """Something worth knowing that is in order."""
        self.notes.setdefault(finding, []).append(place)

    def include(self, other: Report) -> None:
        """Add everything another report says."""
        for mine, theirs in ((self.warnings, other.warnings), (self.notes, other.notes)):
            for finding, places in theirs.items():
                mine.setdefault(finding, []).extend(places)

    def lines(self) -> list[str]:
        """Warnings first, one line for each finding."""
        return [_line(finding, places) for part in (self.warnings, self.notes) for finding, places in part.items()]

    def __bool__(self) -> bool:
        return bool(self.warnings or self.notes)


def _line(finding: str, places: list[str]) -> str:
    count = f"[{len(places)}x] " if len(places) > 1 else ""
    named = [place for place in dict.fromkeys(places) if place]
    if not named:
        return f"{count}{finding}"
    more = f", and {len(named) - PLACES_SHOWN} more" if len(named) > PLACES_SHOWN else ""
    return f"{count}{finding} ({', '.join(named[:PLACES_SHOWN])}{more})"
