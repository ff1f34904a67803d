"""Fuzz one reader guided by code coverage, with atheris. Run by hand only, never in the gate.

`python3 scripts/lab/fuzz_guided.py TARGET [--seconds N] [--output FOLDER] [PATHS]`; targets, their law and the ways to
damage bytes are those of `scripts/fuzz.py`. Small files are the initial corpus. Inputs that reach new code are kept
below FOLDER, where the next run continues. A finding is saved there and ends the run with its traceback.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - tells users of an older Python what to do
    sys.exit("Motionbridge fuzzes with Python 3.11 or newer: install it and start this again with it.")

import argparse
import hashlib
import os
import tempfile
import warnings
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from environment import virtual

LARGEST = 1 << 16
"""Bytes; learning from larger files is slow."""
OWN_WAYS_SHARE = 0.5
"""Share of the cases that are damaged by the ways that know the format instead of by atheris."""


def main() -> int:
    """Fuzz in an environment with atheris, which is created if missing."""
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
    import atheris  # noqa: PLC0415 - only installed in its own environment

    with atheris.instrument_imports(include=["addon"]):
        from fuzzing.targets import TARGETS, files_of  # noqa: PLC0415 - must be imported while instrumented

    if name not in TARGETS:
        sys.exit(f"there is no target {name!r}; known: {', '.join(TARGETS)}")
    target = TARGETS[name]
    corpus = os.environ.get("MOTIONBRIDGE_CORPUS")
    files = files_of(paths or [ROOT / "tests" / "samples", *([Path(corpus)] if corpus else [])])
    seeds = [file.read_bytes() for file, names in files if name in names and file.stat().st_size <= LARGEST]
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
        if random.random() < OWN_WAYS_SHARE:
            return target.case(random, data, random.choice(seeds))[:most]
        return bytes(atheris.Mutate(data, most))

    options = [f"-max_total_time={seconds}", f"-artifact_prefix={folder}{os.sep}", f"-max_len={2 * LARGEST}"]
    atheris.Setup([sys.argv[0], *options, "-timeout=60", str(folder / "corpus")], judge, custom_mutator=damage)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
