"""Import damaged files into Blender in separate processes, and export them unedited.

    python3 scripts/fuzz_blender.py --blender VERSION|PATH [--format NAME]... [--cases N | --cpu-seconds N] [--seed S]
                                    [--tally FILE] [--label WORD] [--output FOLDER] [PATHS]

VERSION is that of a bpy wheel, PATH a Blender executable. Default PATHS: the samples, and the folder of real files if
MOTIONBRIDGE_CORPUS names one.

The law: an import or export refuses with a sentence, without a traceback, and leaves nothing behind; or it succeeds.
Then NaN and infinite numbers in the scene were reported, `Mesh.validate` finds nothing to repair, and an export writes
the imported bytes and does not change the scene. If the stored bytes of the file are damaged, an export refuses, or
does not need them. A crash or hang of Blender is a finding. The exit status is 1 if there was a finding.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from environment import blenders
from fuzzing import tally
from fuzzing.blender_targets import BLENDER_TARGETS, SAVED
from fuzzing.tally import Tally

CASES_PER_PROCESS = 150
HANGS_AFTER = 120.0
"""Seconds of CPU time for one case, after which its process is killed."""
SILENT_FOR = 1200.0
"""Seconds of wall-clock time without progress; a busy machine may need long."""
WAIT = 0.5
CASE = Path("scripts") / "fuzz_in_blender.py"


@dataclass
class Watched:
    """A Blender process that imports cases: its output lines, its current case, and when that began (clock, CPU)."""

    progress: Path
    process: subprocess.Popen[bytes]
    messages: list[dict[str, Any]] = field(default_factory=list)
    read_bytes_count: int = 0
    current_case: list[Any] | None = None
    since: tuple[float, float] = (0.0, 0.0)

    def read_progress(self) -> None:
        """Read the lines written since the last call."""
        text = self.progress.read_bytes() if self.progress.exists() else b""
        whole = text[self.read_bytes_count : text.rfind(b"\n") + 1]
        self.read_bytes_count += len(whole)
        for line in whole.decode().splitlines():
            message = json.loads(line)
            self.messages.append(message)
            self.current_case = message.get("begun")
            self.since = time.monotonic(), self.cpu_seconds()

    def cpu_seconds(self) -> float:
        """Return the CPU seconds used by the process, 0 if the system does not tell."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def hangs(self) -> bool:
        """Return whether the current case takes too long."""
        clock, cpu_seconds = self.since
        return time.monotonic() - clock > SILENT_FOR or self.cpu_seconds() - cpu_seconds > HANGS_AFTER


def import_cases(session: blenders.Session, job: dict[str, Any]) -> tuple[list[dict[str, Any]], int]:
    """Run a job in a Blender. Returns the result of each completed case, and their number.

    A crash or a hang ends the job; the case that caused it is recorded as broken.
    """
    folder = Path(tempfile.mkdtemp(prefix="fuzz-", dir=session.scratch))
    job |= {"folder": str(folder / "files"), "progress": str(folder / "progress.jsonl")}
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    call = session.blender_call(
        "--background", "--factory-startup", "--python", str(CASE), "--", str(folder / "job.json")
    )
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            call, cwd=ROOT, env=os.environ | session.variables, stdout=output, stderr=output, stdin=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        watched = Watched(folder / "progress.jsonl", process)
        watched.since = time.monotonic(), 0.0
        hung = False
        try:
            while process.poll() is None:
                watched.read_progress()
                if hung := watched.hangs():
                    break
                time.sleep(WAIT)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    watched.read_progress()
    results = [line for line in watched.messages if "done" in line]
    words = (folder / "output").read_text(encoding="utf-8", errors="replace")[-3000:]
    if watched.current_case is not None:
        what = "it hangs" if hung else f"Blender ended with status {process.returncode}"
        results.append(
            {"done": watched.current_case, "source": "", "outcome": "broken", "finding": f"{what}\n{words}", "cpu": 0}
        )
    elif len(results) < len(job["cases"]):
        raise RuntimeError(f"Blender did not begin:\n{words}")
    return results, len(results)


def fuzz(session: blenders.Session, chosen: argparse.Namespace, answer: dict[str, Tally]) -> None:
    """Import cases until the requested number of cases, or CPU time per target, is reached."""
    numbers = dict.fromkeys(answer, 0)
    corpus = os.environ.get("MOTIONBRIDGE_CORPUS")
    default = [ROOT / "tests" / "samples", SAVED, *([Path(corpus)] if corpus else [])]
    job = {"seed": chosen.seed, "paths": [str(path.absolute()) for path in chosen.paths or default]}
    while True:
        if chosen.only is not None:
            cases = [[name, chosen.only] for name in answer]
        elif chosen.cases is not None:
            left = chosen.cases - sum(numbers.values())
            cases = [[name, numbers[name] + index] for index in range(CASES_PER_PROCESS) for name in answer]
            cases = cases[: min(left, CASES_PER_PROCESS)]
        else:
            waiting = [name for name, entry in answer.items() if entry.cpu < chosen.cpu_seconds][:1]
            cases = [[name, numbers[name] + index] for index in range(CASES_PER_PROCESS) for name in waiting]
        if not cases:
            return
        targets = list(dict.fromkeys(name for name, _ in cases))
        results, _ = import_cases(session, job | {"cases": cases, "targets": targets})
        for result in results:
            name, number = result["done"]
            numbers[name] = number + 1
            _record(result, answer[name], chosen)
        if chosen.only is not None:
            return


def _record(result: dict[str, Any], own_tally: Tally, chosen: argparse.Namespace) -> None:
    name, number = result["done"]
    own_tally.outcomes[result["outcome"]] += 1
    own_tally.cpu += result["cpu"]
    own_tally.record_time(result["cpu"], result["cpu"] / HANGS_AFTER, f"{chosen.seed}:{number}")
    if result["finding"]:
        saved = chosen.output / f"{chosen.seed}-{number}.{name}.txt"
        chosen.output.mkdir(parents=True, exist_ok=True)
        saved.write_text(f"{result['source']}\n{result['finding']}", encoding="utf-8")
        first = result["finding"].strip().splitlines()
        own_tally.findings.append(
            f"{chosen.seed}:{number} ({result['source']} as {name}): {first[-1] if first else ''}, saved as {saved}"
        )
        print(own_tally.findings[-1], flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run for the requested time or number of cases, and print a summary."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH")
    parser.add_argument("--blender", metavar="VERSION|PATH")
    parser.add_argument("--format", action="append", choices=[*BLENDER_TARGETS], metavar="NAME")
    parser.add_argument("--cases", type=int)
    parser.add_argument("--cpu-seconds", type=float, default=60.0, help="CPU seconds for each target")
    parser.add_argument("--seed", default=str(time.time_ns() % 1_000_000))
    parser.add_argument("--only", type=int, metavar="NUMBER", help="repeat this case of the seed")
    parser.add_argument(
        "--output", type=Path, default=Path(tempfile.gettempdir()) / "motionbridge-fuzz-blender", metavar="FOLDER"
    )
    parser.add_argument("--tally", type=Path, metavar="FILE", help="append the results to this file")
    parser.add_argument("--label", default="", help="a word stored in the tally, such as a commit")
    chosen = parser.parse_args(arguments)
    result = {name: Tally(name, chosen.seed, chosen.label) for name in chosen.format or BLENDER_TARGETS}
    start = time.monotonic()
    with blenders.session(blenders.find(chosen.blender), {}) as session:
        fuzz(session, chosen, result)
    if chosen.tally is not None:
        tally.append(result.values(), chosen.tally)
    print(*tally.table(entry for entry in result.values() if entry.cases), sep="\n")
    findings = sum(len(entry.findings) for entry in result.values())
    print(f"seed {chosen.seed}: {time.monotonic() - start:.1f} s\nfindings: {findings}")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
