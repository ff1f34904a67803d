"""Damage real and sample files and pass them to every reader.

    python3 scripts/fuzz.py [--format NAME]... [--seconds N | --cases N | --cpu-seconds N] [--seed S]
                            [--tally FILE] [--label WORD] [--output FOLDER] [PATHS]
    python3 scripts/fuzz.py --format NAME --seed S --only NUMBER [PATHS]
    python3 scripts/fuzz.py --sum FILE...

Default PATHS: the samples, and the folder of real files if MOTIONBRIDGE_CORPUS names one. `fuzzing/targets.py` is the
table of fuzzed readers: every format, and others (`model.cfg`, compressed streams, names in archives, …).

The law that readers must obey: a reader raises `ReadError`, or returns a document that both `write` and `recompose`
write back as exactly the bytes that were read. The document can be described, dumped, compared, converted, and decoded
and encoded; only a `MotionbridgeError` may refuse one of these. An unedited document is encoded to the same bytes. NaN
and infinite values are warned about. Time and memory are proportional to the number of bytes. `fuzzing/law.py`
implements this law. Every case that breaks it is saved with its seed. The exit status is 1 if there was one.

`--tally` appends a line of JSON for each target to a file, `--sum` adds up such files.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import tracemalloc
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from fuzzing import law, tally
from fuzzing.law import Broken
from fuzzing.tally import Tally
from fuzzing.targets import DECODED_MEMORY, FORMAT_TARGETS, MEMORY, TARGETS, Target, files_of

from addon.core.errors import ReadError
from addon.core.report import Report
from addon.formats import format_named

HANGS_AFTER = 60
"""Seconds of CPU time."""
SECONDS = (1.0, 20e-6)
"""Limit of CPU seconds for a case: a fixed part, and a part per byte."""
MOST_MEMORY = 3 << 30
"""Memory limit of the process: a reader that needs more gets a `MemoryError`, and the machine keeps running."""
MEASURED_EVERY = 8
"""Memory is measured only in every Nth case, because measuring makes a case several times slower."""


class Hanging(Exception):
    """A case took longer than `HANGS_AFTER`."""


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    if not hasattr(signal, "setitimer"):  # Windows: a hanging case has to be stopped by hand
        yield
        return

    def stop(*_: object) -> None:
        raise Hanging(f"no answer within {HANGS_AFTER} seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, HANGS_AFTER)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def run_case(target: Target, data: bytes, name: str, own_tally: Tally, *, measured: bool) -> None:
    """Judge one case and record it in the tally. Raises what breaks the law, including excessive time or memory."""
    if measured:
        for decoding, (fixed, each) in ((False, MEMORY), (True, DECODED_MEMORY)):
            outcome, peak = _judge_with_memory(target, data, decoding=decoding)
            limit = fixed + each * len(data)
            if peak > limit:
                limit += each * len(data) * (_limit_factor(target, data) - 1)
            own_tally.record_memory(peak, peak / limit, name)
            if peak > limit:
                raise Broken(f"{peak} bytes of memory for {len(data)} bytes")
    else:
        start = time.process_time()
        with _time_limit():
            outcome = target.judge(data)
        seconds = time.process_time() - start
        allowed = SECONDS[0] + SECONDS[1] * len(data)
        if seconds > allowed:
            allowed += SECONDS[1] * len(data) * (_limit_factor(target, data) - 1)
        own_tally.record_time(seconds, seconds / allowed, name)
        if seconds > allowed:
            raise Broken(f"{seconds:.2f} s for {len(data)} bytes")
    own_tally.outcomes[outcome] += 1


def _judge_with_memory(target: Target, data: bytes, *, decoding: bool) -> tuple[str, int]:
    """Return the outcome of a case and its peak of allocated memory in bytes."""
    tracemalloc.start()
    try:
        with _time_limit():
            outcome = target.judge(data, decoding=decoding)
        return outcome, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _limit_factor(target: Target, data: bytes) -> int:
    """Return by which factor a case may exceed its limits: `law.PACKED` for compressed data, else 1."""
    if target not in FORMAT_TARGETS:
        return law.PACKED
    report = Report()
    with contextlib.suppress(ReadError):
        format_named(target.name).module.read(data, "damaged", report)
    return law.PACKED if law.unpacked(report) else 1


class Cases:
    """The files to damage, small ones more often, and the damaged bytes of each numbered case of each target."""

    def __init__(self, paths: Sequence[Path], seed: str, targets: Sequence[Target]) -> None:
        self.seed = seed
        self.targets = list(targets)
        self._contents: dict[str, list[tuple[str, bytes]]] = {}
        own: dict[str, list[tuple[str, bytes]]] = {
            target.name: [(f"seed {index}", data) for index, data in enumerate(target.seeds)] for target in targets
        }
        self.files = 0
        everything = []
        for path, names in files_of(paths):
            data = path.read_bytes()
            self.files += 1
            everything.append((path.name, data))
            for name in names:
                if name in own:
                    own[name].append((path.name, data))
        # Targets without any file use all files.
        self._contents = {name: result or everything for name, result in own.items()}
        self._weights = {
            target.name: [_weight(target, data) for _, data in self._contents[target.name]] for target in targets
        }

    def case(self, target: Target, number: int) -> tuple[str, bytes]:
        """Return the name of the damaged file and the damaged bytes; rarely, the file belongs to another target."""
        chance = random.Random(f"{self.seed}:{target.name}:{number}")  # noqa: S311 (nothing here is secret)
        name = target.name if chance.random() >= 0.03 else chance.choice(self.targets).name
        (source, data), (_, other) = chance.choices(self._contents[name], self._weights[name], k=2)
        return source, target.case(chance, data, other)


def _weight(target: Target, data: bytes) -> float:
    """Return how often a file is used: small files more often, files refused even undamaged rarely."""
    weight = 1 / (20_000 + len(data))
    if target in FORMAT_TARGETS:
        with contextlib.suppress(Exception), _time_limit():  # wrong exceptions are found by the cases
            format_named(target.name).module.read(data, "whole", Report())
            return weight
        return weight / 10
    return weight


def run_numbered(cases: Cases, target: Target, number: int, folder: Path, own_tally: Tally) -> None:
    """Run one case, record it, and save it in ``folder`` if it breaks the law."""
    start = time.process_time()
    source, data = cases.case(target, number)
    name = f"{cases.seed}:{number} ({source} as {target.name})"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # numpy only warns where arithmetic goes wrong
            run_case(target, data, name, own_tally, measured=number % MEASURED_EVERY == 0)
    except Exception as finding:  # noqa: BLE001 (any exception is a finding)
        own_tally.outcomes["broken"] += 1
        saved = folder / f"{cases.seed}-{number}.{target.name}"
        folder.mkdir(parents=True, exist_ok=True)
        saved.write_bytes(data)
        saved.with_suffix(f".{target.name}.txt").write_text("".join(traceback.format_exception(finding)))
        frame = traceback.extract_tb(finding.__traceback__)[-1]
        where = f"{Path(frame.filename).name}:{frame.lineno}"
        own_tally.findings.append(f"{name}: {type(finding).__name__}: {finding} ({where}), saved as {saved}")
        print(own_tally.findings[-1], flush=True)
    own_tally.cpu += time.process_time() - start


def _requested_cases(chosen: argparse.Namespace, result: dict[str, Tally]) -> Iterator[tuple[Target, int]]:
    """Yield target and number of each case to run, as long or as many as requested."""
    targets = [TARGETS[name] for name in result]
    if chosen.only is not None:
        yield from ((target, chosen.only) for target in targets)
    elif chosen.cpu_seconds is not None:
        for target in targets:
            number = 0
            while result[target.name].cpu < chosen.cpu_seconds:
                yield target, number
                number += 1
    else:
        end = time.monotonic() + chosen.seconds
        index = 0
        while index < chosen.cases if chosen.cases is not None else time.monotonic() < end:
            yield targets[index % len(targets)], index // len(targets)
            index += 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH")
    parser.add_argument(
        "--format",
        action="append",
        choices=[*TARGETS],
        metavar="NAME",
        help=f"only this target, one of {', '.join(TARGETS)}",
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--cases", type=int, help="number of cases, however long they take")
    parser.add_argument("--cpu-seconds", type=float, help="CPU seconds for each target")
    parser.add_argument(
        "--seed", default=str(time.time_ns() % 1_000_000), help="any word; the same word gives the same cases"
    )
    parser.add_argument("--only", type=int, metavar="NUMBER", help="repeat this case of the seed")
    parser.add_argument(
        "--output", type=Path, default=Path(tempfile.gettempdir()) / "motionbridge-fuzz", metavar="FOLDER"
    )
    parser.add_argument("--tally", type=Path, metavar="FILE", help="append the results to this file")
    parser.add_argument("--label", default="", help="a word stored in the tally, such as a commit")
    parser.add_argument(
        "--sum",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="add up tallies (files, or folders of them) without running anything",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run for the requested time or number of cases, and print a summary."""
    chosen = _parser().parse_args(arguments)
    if chosen.sum:
        sums = tally.read(chosen.sum)
        print(*tally.table(sums[name] for name in TARGETS if name in sums), sep="\n")
        return 0
    corpus = os.environ.get("MOTIONBRIDGE_CORPUS")
    targets = [TARGETS[name] for name in chosen.format or TARGETS]
    cases = Cases(
        chosen.paths or [ROOT / "tests" / "samples", *([Path(corpus)] if corpus else [])], chosen.seed, targets
    )
    if not cases.files:
        print("there are no files of a known format to damage", file=sys.stderr)
        return 2
    result = {target.name: Tally(target.name, chosen.seed, chosen.label) for target in targets}
    start = time.monotonic()
    for target, number in _requested_cases(chosen, result):
        run_numbered(cases, target, number, chosen.output, result[target.name])
    if chosen.tally is not None:
        tally.append(result.values(), chosen.tally)
    total, findings = (sum(map(count, result.values())) for count in (_cases, _findings))
    print(*tally.table(entry for entry in result.values() if entry.cases), sep="\n")
    print(f"seed {chosen.seed}: {total} cases of {cases.files} files in {time.monotonic() - start:.1f} s")
    print(f"findings: {findings}")
    return int(bool(findings))


def _cases(own_tally: Tally) -> int:
    return own_tally.cases


def _findings(own_tally: Tally) -> int:
    return len(own_tally.findings)


def _limit_memory() -> None:
    with contextlib.suppress(ImportError):  # Windows
        import resource  # noqa: PLC0415

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


if __name__ == "__main__":
    _limit_memory()
    sys.exit(main())
