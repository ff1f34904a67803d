"""Results of fuzzing runs per target, stored as lines of JSON that can be added up."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

Worst = tuple[float, float, str]
"""Seconds or bytes, their share of the case's limit, and the name of the case."""


@dataclass
class Tally:
    """Results of one target.

    ``outcomes``: number of cases by outcome; ``cpu``: CPU seconds for everything, damaging included; ``slowest`` and
    ``hungriest``: the cases nearest to their limits of time and memory; ``longest`` and ``largest``: the most seconds
    and bytes of memory of any case; ``label``: the user's name for the state of the code.
    """

    target: str
    seed: str = ""
    label: str = ""
    outcomes: Counter[str] = field(default_factory=Counter)
    cpu: float = 0.0
    slowest: Worst = (0.0, 0.0, "")
    hungriest: Worst = (0.0, 0.0, "")
    longest: float = 0.0
    largest: float = 0.0
    findings: list[str] = field(default_factory=list)

    @property
    def cases(self) -> int:
        """Number of cases that ran, findings included."""
        return sum(self.outcomes.values())

    def record_time(self, seconds: float, share: float, name: str) -> None:
        """Record the time of a case."""
        self.longest = max(self.longest, seconds)
        self.slowest = max(self.slowest, (seconds, share, name), key=_share)

    def record_memory(self, size: int, share: float, name: str) -> None:
        """Record the memory of a case."""
        self.largest = max(self.largest, size)
        self.hungriest = max(self.hungriest, (size, share, name), key=_share)

    def add(self, other: Tally) -> None:
        """Add the results of another run of the same target."""
        self.outcomes.update(other.outcomes)
        self.cpu += other.cpu
        self.slowest = max(self.slowest, other.slowest, key=_share)
        self.hungriest = max(self.hungriest, other.hungriest, key=_share)
        self.longest = max(self.longest, other.longest)
        self.largest = max(self.largest, other.largest)
        self.findings += other.findings


def _share(worst: Worst) -> float:
    return worst[1]


def append(tallies: Iterable[Tally], path: Path) -> None:
    """Append a line for each tally to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as stream:
        stream.writelines(json.dumps(vars(tally)) + "\n" for tally in tallies if tally.cases)


def read(paths: Iterable[Path]) -> dict[str, Tally]:
    """Return the sums of all lines of these files, and of the tallies (`.jsonl`) in these folders, by target."""
    sums: dict[str, Tally] = {}
    for path in (file for given in paths for file in (sorted(given.glob("*.jsonl")) if given.is_dir() else [given])):
        for line in path.read_text(encoding="utf-8").splitlines():
            fields = json.loads(line)
            fields["outcomes"] = Counter(fields["outcomes"])
            for worst in ("slowest", "hungriest"):
                fields[worst] = tuple(fields[worst])
            tally = Tally(**fields)
            sums.setdefault(tally.target, Tally(tally.target)).add(tally)
    return sums


_COLUMNS = (
    "target",
    "cases",
    "refused",
    "kept",
    "other",
    "CPU s",
    "findings",
    "worst s",
    "of limit",
    "worst MB",
    "of limit",
)


_VALUES = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")


def _without_details(outcome: str) -> str:
    """Return an outcome without the offsets, names and numbers of its file, to count equal ones together."""
    what, *parts = outcome.split(": ")
    return f"{what}: {_VALUES.sub('…', parts[-1])}" if parts else what


def table(tallies: Iterable[Tally]) -> Iterator[str]:
    """Yield a line for each target, their sum, and then how often an import or export was refused, by reason."""
    rows = list(tallies)
    total = Tally("all")
    for tally in rows:
        total.add(tally)
    yield "  ".join(f"{column:>9}" if column != "target" else f"{column:<10}" for column in _COLUMNS)
    for tally in (*rows, total):
        refused, kept = tally.outcomes["refused"], tally.outcomes["kept"]
        others = tally.cases - refused - kept - len(tally.findings)
        numbers = (
            f"{tally.cases}",
            f"{refused}",
            f"{kept}",
            f"{others}",
            f"{tally.cpu:.1f}",
            f"{len(tally.findings)}",
            f"{tally.longest:.2f}",
            f"{tally.slowest[1]:.0%}",
            f"{tally.largest / 1e6:.1f}",
            f"{tally.hungriest[1]:.0%}",
        )
        yield "  ".join((f"{tally.target:<10}", *(f"{number:>9}" for number in numbers)))
    for tally in rows:
        refusals: Counter[str] = Counter()
        for outcome, count in tally.outcomes.items():
            if outcome not in ("refused", "kept", "broken"):
                refusals[_without_details(outcome)] += count
        yield from (f"{tally.target} {outcome}: {count}" for outcome, count in refusals.most_common())
