"""Damages real and sample files and gives them to every reader.

`python3 scripts/fuzz.py [--seconds N] [--cases N] [--seed S] [PATHS]`; without PATHS the samples and, where
MOTIONBRIDGE_CORPUS names it, the folder of real files.

The law: a reader raises `ReadError`, or gives a document that is written back as the very bytes that were read, in
both ways, and that can be described, dumped, compared and decoded, where only a `MotionbridgeError` may say no. Time
and memory stay in proportion to the bytes. Whatever breaks the law is saved with its seed. Exit status 1 where anything
did.
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
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from mutation import mutated

from addon.core.errors import MotionbridgeError, ReadError
from addon.core.report import Report
from addon.formats import FORMATS, HEAD_SIZE, Format, detect
from addon.formats.arma import p3d, rtm
from addon.formats.arma.skeletons import MAN_ARMA_3
from addon.formats.descent3 import ogf_image, oof
from addon.formats.xray import anm, skl
from addon.formats.xray.ogf.mesh import decode_meshes
from addon.formats.xray.ogf.skeleton import decode_skeleton
from addon.formats.xray.omf.decoding import decode

HANGS_AFTER = 60
"""Seconds."""
SECONDS = (1.0, 20e-6)
MEMORY = (4 << 20, 160.0)
"""What a case may cost: a fixed part, and a part for each byte (an empty chunk is 8 bytes and a few objects)."""
DECODED_MEMORY = (64 << 20, 4096.0)
"""What decoding may take: bones that stand still have an array row for each frame (`omf.tracks.POSES_PER_BYTE`)."""
MOST_MEMORY = 3 << 30
"""The process gets no more: a reader that asks for it gets a `MemoryError`, and the machine lives on."""
PACKED = 200
"""Compressed bodies may be this much larger than their bytes: `lzhuf` refuses more."""
DUMPED_UP_TO = 100_000
"""Bytes of a file of which the text is made as well; it is slow by nature."""
MEASURED_EVERY = 8
"""Memory is measured in every how manyth case: that makes it several times slower."""


class Hanging(Exception):
    """A case took longer than `HANGS_AFTER`."""


class Broken(Exception):
    """The law is broken, in words."""


@dataclass
class Tally:
    """What has happened so far."""

    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: tuple[float, str] = (0.0, "")
    hungriest: tuple[float, str] = (0.0, "")
    findings: list[str] = field(default_factory=list)


def decode_omf(document: Any, report: Report) -> None:
    """What an import does with motions."""
    decode(document.motion_set, report)


def decode_ogf(document: Any, report: Report) -> None:
    """What an import does with a model; skeleton and meshes can be refused apart from each other."""
    for part in (decode_skeleton, decode_meshes):
        with contextlib.suppress(MotionbridgeError):
            part(document, report)


def decode_anm(document: Any, report: Report) -> None:
    """What an import and an export do with a path: it must leave as it came."""
    again, changes = anm.encode(anm.decode(document, report), document)
    if again is not document:
        raise Broken(f"a path nobody touched is changed: {changes.sentence()}")


def decode_skl(document: Any, report: Report) -> None:
    """The same for the editor's motions."""
    again, changes = skl.encode(skl.decode(document, report), document)
    if again is not document:
        raise Broken(f"motions nobody touched are changed: {changes.sentence()}")


def decode_rtm(document: Any, report: Report) -> None:
    """The same for a game's animation; the binarised ones on the built-in man."""
    clip = rtm.decode(document, report, MAN_ARMA_3)
    again: rtm.Plain | rtm.Binarised
    if isinstance(document, rtm.Plain):
        again, changes = rtm.encode_plain(clip, document)
    else:
        again, changes = rtm.encode_binarised(clip, MAN_ARMA_3, document)
    if again is not document:
        raise Broken(f"an animation nobody touched is changed: {changes.sentence()}")


def decode_p3d(document: Any, report: Report) -> None:
    """What an import does with a model and its pivots."""
    for lod in document.lods:
        p3d.decode_lod(lod, report)
    p3d.pivots(document, list(MAN_ARMA_3.parents), report)


def decode_oof(document: Any, report: Report) -> None:
    """What an import, an export and the check before it do with a model of Descent 3."""
    model = oof.decode(document, report)
    again, changes = oof.encode(model, document)
    if again is not document:
        raise Broken(f"a model nobody touched is changed: {changes.sentence()}")
    deque(oof.find_problems(model), maxlen=0)


def decode_ogf_image(document: Any, _report: Report) -> None:
    """What an import does with a texture."""
    ogf_image.decode(document)


DECODERS: dict[str, Callable[[Any, Report], None]] = {
    "omf": decode_omf,
    "ogf": decode_ogf,
    "anm": decode_anm,
    "skl": decode_skl,
    "rtm": decode_rtm,
    "p3d": decode_p3d,
    "oof": decode_oof,
    "ogf_image": decode_ogf_image,
}


def judge(known: Format, data: bytes, *, decoding: bool = True) -> str:
    """Give the bytes to one format: "refused" or "kept". Raises `Broken`, or whatever the format wrongly raises."""
    module = known.module
    report = Report()
    try:
        document = module.read(data, "damaged", report)
    except ReadError as refusal:
        if not str(refusal).strip("."):
            raise Broken("the refusal says nothing") from refusal
        return "refused"
    for way in (module.write, module.recompose):
        again = way(document)
        if again != data:
            raise Broken(f"{way.__name__} gives other bytes ({len(again)} for {len(data)})")
    if not 0 <= module.raw_size(document) <= max(len(data), _unpacked(report) * PACKED * len(data)):
        raise Broken(f"raw_size says {module.raw_size(document)} of {len(data)} bytes")
    module.describe(document)
    report.lines()
    if len(data) <= DUMPED_UP_TO:
        deque(module.dump(document), maxlen=0)
        same = next(iter(module.differences(document, document)), None)
        if same is not None:
            raise Broken(f"a document differs from itself: {same}")
    if decoding and known.name in DECODERS:
        with contextlib.suppress(MotionbridgeError):
            DECODERS[known.name](document, report)
    return "kept"


def _unpacked(report: Report) -> bool:
    return any("compressed" in note for note in report.notes)


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    if not hasattr(signal, "SIGALRM"):  # Windows: a hanging case has to be ended by hand
        yield
        return

    def stop(*_: object) -> None:
        raise Hanging(f"no answer within {HANGS_AFTER} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(HANGS_AFTER)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run_case(known: Format, data: bytes, name: str, tally: Tally, *, measured: bool) -> None:
    """Judge one case and enter it in the tally. Raises what breaks the law, costs out of proportion included."""
    compressed = PACKED if _holds_packed(known, data) else 1
    if measured:
        for decoding, (fixed, each) in ((False, MEMORY), (True, DECODED_MEMORY)):
            outcome, peak = _judged_with_memory(known, data, decoding=decoding)
            limit = fixed + each * len(data) * compressed
            tally.hungriest = max(tally.hungriest, (peak / limit, name))
            if peak > limit:
                raise Broken(f"{peak} bytes of memory for {len(data)} bytes")
    else:
        start = time.perf_counter()
        with _time_limit():
            outcome = judge(known, data)
        seconds = time.perf_counter() - start
        allowed = SECONDS[0] + SECONDS[1] * len(data) * compressed
        tally.slowest = max(tally.slowest, (seconds / allowed, name))
        if seconds > allowed:
            raise Broken(f"{seconds:.2f} s for {len(data)} bytes")
    tally.outcomes[f"{known.name} {outcome}"] += 1


def _judged_with_memory(known: Format, data: bytes, *, decoding: bool) -> tuple[str, int]:
    """The outcome of a case, and the most bytes of memory that were held at once for it."""
    tracemalloc.start()
    try:
        with _time_limit():
            outcome = judge(known, data, decoding=decoding)
        return outcome, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _holds_packed(known: Format, data: bytes) -> bool:
    report = Report()
    with contextlib.suppress(ReadError):
        known.module.read(data, "damaged", report)
    return _unpacked(report)


class Cases:
    """The files to damage, small ones more often, and the damaged bytes of each numbered case."""

    def __init__(self, files: Sequence[Path], seed: str) -> None:
        self.seed = seed
        self.contents = [(path, path.read_bytes()) for path in files]
        self.weights = [1 / (20_000 + len(data)) for _, data in self.contents]

    def case(self, number: int) -> tuple[Path, Format, bytes]:
        """The source, the reader that gets it (sometimes one of another format) and the bytes."""
        chance = random.Random(f"{self.seed}:{number}")  # noqa: S311 (nothing here is secret)
        (path, data), (_, other) = chance.choices(self.contents, self.weights, k=2)
        own = detect(path, data[:HEAD_SIZE])
        known = chance.choice(FORMATS) if own is None or chance.random() < 0.05 else own
        return path, known, mutated(data, chance, other)


def fuzz(cases: Cases, numbers: Iterator[int], folder: Path) -> Tally:
    """Run cases until ``numbers`` ends; findings are saved in ``folder``."""
    tally = Tally()
    for number in numbers:
        path, known, data = cases.case(number)
        name = f"{cases.seed}:{number} ({path.name} as {known.name})"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # numpy only warns where arithmetic goes wrong
                run_case(known, data, name, tally, measured=number % MEASURED_EVERY == 0)
        except Exception as finding:  # noqa: BLE001 (whatever a reader raises is what is looked for)
            tally.outcomes["broken"] += 1
            saved = folder / f"{cases.seed}-{number}.{known.name}"
            folder.mkdir(parents=True, exist_ok=True)
            saved.write_bytes(data)
            saved.with_suffix(f".{known.name}.txt").write_text("".join(traceback.format_exception(finding)))
            place = traceback.extract_tb(finding.__traceback__)[-1]
            where = f"{Path(place.filename).name}:{place.lineno}"
            tally.findings.append(f"{name}: {type(finding).__name__}: {finding} ({where}), saved as {saved}")
            print(tally.findings[-1], flush=True)
    return tally


def files_of(paths: Sequence[Path]) -> list[Path]:
    """The files of known formats among and below these, in a fixed order."""
    found = []
    for path in paths:
        below = sorted(path.rglob("*")) if path.is_dir() else [path]
        found += [file for file in below if file.is_file() and detect(file, _head(file)) is not None]
    return found


def _head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(HEAD_SIZE)


def _numbers(seconds: float, cases: int | None) -> Iterator[int]:
    end = time.monotonic() + seconds
    number = 0
    while number < cases if cases is not None else time.monotonic() < end:
        yield number
        number += 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run for the time or the number of cases asked for, and sum up."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--cases", type=int, help="so many cases, however long they take")
    parser.add_argument(
        "--seed", default=str(time.time_ns() % 1_000_000), help="any word; the same gives the same cases"
    )
    parser.add_argument("--only", type=int, metavar="NUMBER", help="one case of that seed again")
    parser.add_argument(
        "--output", type=Path, default=Path(tempfile.gettempdir()) / "motionbridge-fuzz", metavar="FOLDER"
    )
    chosen = parser.parse_args(arguments)
    corpus = os.environ.get("MOTIONBRIDGE_CORPUS")
    files = files_of(chosen.paths or [ROOT / "tests" / "samples", *([Path(corpus)] if corpus else [])])
    if not files:
        print("there are no files of a known format to damage", file=sys.stderr)
        return 2
    numbers = iter([chosen.only]) if chosen.only is not None else _numbers(chosen.seconds, chosen.cases)
    start = time.monotonic()
    tally = fuzz(Cases(files, chosen.seed), numbers, chosen.output)
    total = sum(tally.outcomes.values())
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in sorted(tally.outcomes.items()))
    print(f"seed {chosen.seed}: {total} cases of {len(files)} files in {time.monotonic() - start:.1f} s: {outcomes}")
    for what, (share, name) in (("time", tally.slowest), ("memory", tally.hungriest)):
        if name:
            print(f"nearest to its {what} limit: {share:.0%} of it, case {name}")
    print(f"findings: {len(tally.findings)}")
    return int(bool(tally.findings))


def _limit_memory() -> None:
    with contextlib.suppress(ImportError):  # Windows
        import resource  # noqa: PLC0415

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


if __name__ == "__main__":
    _limit_memory()
    sys.exit(main())
