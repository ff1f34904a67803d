"""Fuzzes one reader guided by coverage, with atheris: by hand only, never in the gate.

`python3 scripts/fuzz_guided.py TARGET [--seconds N] [--output FOLDER] [PATHS]`; the targets, their law and the ways to
damage their bytes are those of `scripts/fuzz.py`. Small files are the corpus to begin with; what leads to new code is
kept below FOLDER, and goes on there the next time. A finding is saved beside it and ends the run with its traceback.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - said in a sentence, for whoever starts this with an older one
    sys.exit("Motionbridge fuzzes with Python 3.11 or newer: install it and start this again with it.")

import argparse
import hashlib
import os
import tempfile
import warnings
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from environment import virtual

LARGEST = 1 << 16
"""Bytes; larger files are slow to learn from."""
OWN_WAYS = 0.5
"""How often a case is damaged by the ways that know the format, and not by atheris."""


def main() -> int:
    """Fuzz in an environment that has atheris, which is made where it is missing."""
    if (status := virtual.started_again("guided")) is not None:
        return status
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument(
        "--output", type=Path, default=Path(tempfile.gettempdir()) / "motionbridge-guided", metavar="FOLDER"
    )
    chosen = parser.parse_intermixed_args()
    _run(chosen.target, chosen.paths, chosen.seconds, chosen.output / chosen.target)
    return 0


def _run(name: str, paths: list[Path], seconds: int, folder: Path) -> None:
    import atheris  # noqa: PLC0415 - it is only there in its own environment

    with atheris.instrument_imports(include=["addon"]):
        from fuzzing.targets import TARGETS, files_of  # noqa: PLC0415 - instrumented as it is imported

    if name not in TARGETS:
        sys.exit(f"there is no target {name!r}; known: {', '.join(TARGETS)}")
    target = TARGETS[name]
    corpus = os.environ.get("MOTIONBRIDGE_CORPUS")
    found = files_of(paths or [ROOT / "tests" / "samples", *([Path(corpus)] if corpus else [])])
    seeds = [file.read_bytes() for file, names in found if name in names and file.stat().st_size <= LARGEST]
    seeds += [*target.seeds, *([target.fresh(Random(seed)) for seed in range(50)] if target.fresh else [])]  # noqa: S311
    (folder / "corpus").mkdir(parents=True, exist_ok=True)
    for data in seeds:
        (folder / "corpus" / hashlib.sha1(data, usedforsecurity=False).hexdigest()).write_bytes(data)

    def judge(data: bytes) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            target.judge(data)

    def damage(data: bytes, most: int, seed: int) -> bytes:
        random = Random(seed)  # noqa: S311 (nothing here is secret)
        if random.random() < OWN_WAYS:
            return target.case(random, data, random.choice(seeds))[:most]
        return bytes(atheris.Mutate(data, most))

    options = [f"-max_total_time={seconds}", f"-artifact_prefix={folder}{os.sep}", f"-max_len={2 * LARGEST}"]
    atheris.Setup([sys.argv[0], *options, "-timeout=60", str(folder / "corpus")], judge, custom_mutator=damage)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
