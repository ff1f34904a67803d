"""The rings of tests, from lint to the built zip, and the summary of their results."""

import contextlib
import json
import os
import platform
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import build
from environment import ROOT, Unavailable, blenders, chroot, settings, virtual, window
from environment import folder as environments

GAME_FILES = ("MOTIONBRIDGE_CORPUS", "MOTIONBRIDGE_VECTORS")
JOBS_AT_ONCE = 2  # jobs at the same time: a Blender alone is busy on more than one core
LIMIT = 3600  # seconds for one ring
GATE = ROOT / "dist" / "gate.json"
WORKFLOWS = ROOT / ".github" / "workflows"
FAILED_SCREENS = ROOT / ".failed-screens"
FOLDERS = {
    "sources": "tests/sources",
    "scripts": "tests/scripts",
    "Blender": "tests/blender",
    "zip": "tests/package",
    "across": "tests/across",
    "window": "tests/window",
}
"""Ring -> the folder of its tests. All other tests are pure: they need a Python with numpy and no Blender."""
NOT_DEEP = ["-m", "not deep"]
SLOW, PROCESSOR = 1.5, "processor seconds"
"""A test that takes more and is not marked as deep is named; what tests/conftest.py calls them in the results."""

PASSED, FAILED, NOT_RUN = "passed", "failed", "COULD NOT RUN"


@dataclass
class Outcome:
    """Result of one ring in one Blender or Python."""

    ring: str
    blender: str
    status: str
    seconds: float = 0.0
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    note: str = ""
    output: str = ""
    skip_reasons: Counter[str] = field(default_factory=Counter)
    durations: dict[str, float] = field(default_factory=dict)
    """Test -> seconds, without what was prepared for it."""
    unmarked: list[str] = field(default_factory=list)
    """Tests that should be marked as deep."""
    excused: bool = False  # a limit of this machine: reported, but not a failure


Run = Callable[[], Iterator[Outcome]]


@dataclass(frozen=True)
class Job:
    """Rings that run in sequence. ``minutes``: their duration on two cores while another job runs."""

    title: str
    minutes: int
    run: Run


def run(blender: str | None, pytest_arguments: Sequence[str], *, fast: bool, release: bool = False) -> int:
    """Run the rings, two jobs at a time; print each outcome as it arrives and the summary. Returns the exit status."""
    start = time.monotonic()
    outcomes: list[Outcome] = []
    jobs = _jobs(blender, pytest_arguments, fast=fast, release=release)
    print(_announcement(jobs, narrowed=bool(pytest_arguments)), flush=True)
    with ThreadPoolExecutor(JOBS_AT_ONCE) as pool:
        waiting = [pool.submit(list, _guarded(job)) for job in jobs]
        for done in as_completed(waiting):
            for outcome in done.result():
                outcomes.append(outcome)
                _print_outcome(outcome)
    return _summary(outcomes, time.monotonic() - start)


def record_run(tests: str, *, passed: bool) -> None:
    """Note in dist/gate.json which tests ran on which commit, and whether they passed: a release asks for it."""
    with contextlib.suppress(OSError):  # git is missing, or the folder cannot be written: nothing to release here
        record = {"commit": commit(), "tests": tests, "passed": passed}
        GATE.parent.mkdir(exist_ok=True)
        GATE.write_text(json.dumps(record) + "\n", encoding="utf-8")


def commit() -> str:
    """Return the commit that is checked out; "" if files differ from it, or where git knows none."""
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=False)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return head.stdout.strip() if head.returncode == 0 and not changed.stdout.strip() else ""


def _jobs(blender: str | None, arguments: Sequence[str], *, fast: bool, release: bool = False) -> list[Job]:
    """Return the jobs: for one Blender, or the gate ("all"). Deep tests run once in the gate, and everywhere with
    ``release``; named tests run wherever they belong.
    """
    gate = blender == "all" or release
    usual = [] if release or arguments else NOT_DEEP
    checks = [
        Job("lint", 1, lambda: _lint(arguments)),
        Job("the pure tests", 3, lambda: _pure([] if gate else usual, arguments)),
    ]
    versions = _wheels()
    if not fast:
        typed = versions if release else [versions[0], versions[-1]] if gate else [_newest_lts()]
        checks += [Job("strict types", 1, _strict_types), *map(_against, typed)]
        checks.append(Job("the library without Blender", 1, _library))
    if not gate:
        title = f"the tests in {blender or 'Blender'}"
        return [Job(title, 6, lambda: _in_one(blender, usual, arguments, zip_too=not fast)), *checks]
    pythons = [versions[0], versions[-1]]
    lint, *checks = checks
    chosen = [
        Job("Debian's Blender and its window", 8, lambda: _debian(usual, arguments)),
        Job("Debian unstable's Blender and its window", 9, lambda: _unstable(usual, arguments)),
        *(_in_wheel(version, [] if version == _newest_lts() else usual, arguments) for version in versions),
        *(Job(f"pure, Python of {version}", 2, _pure_in(version, usual, arguments)) for version in pythons),
    ]
    if not arguments:
        chosen.append(Job("saved by one Blender, opened in another", 2, lambda: _across(versions)))
    # The longest jobs start first, and short ones fill the rest of the time; lint is short and useful early.
    longest, *others = sorted([*chosen, *checks], key=lambda job: -job.minutes)
    return [longest, lint, *others]


def _announcement(jobs: Sequence[Job], *, narrowed: bool) -> str:
    """Return what will be done and about how long it takes."""
    output = [f"Two jobs at a time: {', '.join(job.title for job in jobs)}."]
    longest, total = max(job.minutes for job in jobs), sum(job.minutes for job in jobs)
    minutes = max(longest, round(total / JOBS_AT_ONCE))
    if narrowed:
        output.append(f"With all tests that takes about {minutes} minutes on two cores.")
    else:
        output.append(f"That takes about {minutes} minutes on two cores.")
    output.append(f"Environments are kept in {environments()}; missing ones are created: 1 GB and 2 minutes at most.")
    return "\n".join(output) + "\n"


def _in_wheel(version: str, usual: Sequence[str], arguments: Sequence[str]) -> Job:
    find = partial(blenders.wheel_anywhere, version)
    return Job(f"Blender {version}", 6 if usual else 17, lambda: _inside(find, version, usual, arguments))


def _in_one(blender: str | None, usual: Sequence[str], arguments: Sequence[str], *, zip_too: bool) -> Iterator[Outcome]:
    find = partial(blenders.find, blender)
    if blender is not None and blenders.is_wheel(blender):
        find = partial(blenders.wheel_anywhere, blender)
    yield from _inside(find, blender or "Blender", usual, arguments, zip_too=zip_too)


def _against(version: str) -> Job:
    return Job(f"types of {version}", 1, lambda: _types(version))


def _wheels() -> list[str]:
    """Return all versions whose wheel gates. A version without stubs fails in its type check."""
    wheels = settings()["tool"]["motionbridge"]["wheels"]
    return [version for version, chosen in wheels.items() if chosen.get("gate", True)]


def _newest_lts() -> str:
    """Return the version that deep tests and the default's type check use."""
    version: str = settings()["tool"]["motionbridge"]["newest-lts"]
    return version


def _guarded(job: Job) -> Iterator[Outcome]:
    """Run a job. A failure in a ring's own setup becomes an outcome, so that the other rings still run."""
    try:
        yield from job.run()
    except Exception as error:  # noqa: BLE001 - any exception is shown and fails the run
        yield Outcome("set-up", job.title, FAILED, failed=1, note=f"{type(error).__name__}: {error}")


# Lint and types -----------------------------------------------------------------------------------------------------


def _check(ring: str, where: str, *arguments: str) -> Outcome:
    return _judged(ring, where, [str(virtual.dev()), "-m", *arguments])


def _judged(ring: str, where: str, command: list[str]) -> Outcome:
    start = time.monotonic()
    status, output = blenders.run(command, LIMIT)
    outcome = Outcome(ring, where, PASSED if status == 0 else FAILED, time.monotonic() - start, output=output)
    outcome.passed, outcome.failed = (1, 0) if status == 0 else (0, 1)
    return outcome


def _lint(arguments: Sequence[str]) -> Iterator[Outcome]:
    """Check the sources and pages themselves: the same on every Python and in every Blender."""
    yield _check("lint", "ruff check", "ruff", "check", "--output-format=concise", ".")
    yield _check("lint", "ruff format", "ruff", "format", "--check", ".")
    yield _judged(
        "lint", "actionlint", [str(virtual.dev().with_name("actionlint")), *map(str, sorted(WORKFLOWS.glob("*.yml")))]
    )
    if (own := _of_this_ring(arguments, [FOLDERS["sources"]])) is not None:
        yield _in_this_python("sources", own, narrowed=bool(arguments))


def _strict_types() -> Iterator[Outcome]:
    paths = ["addon/core", "addon/formats", "addon/cli"]
    paths += [f"scripts/{name}" for name in ("test.py", "rings.py", "build.py", "demo.py", "environment")]
    paths += [f"scripts/{name}" for name in ("make_samples.py", "samples", "bench.py", "fuzz.py", "fuzzing")]
    paths += [f"scripts/benchmarks/{name}.py" for name in ("__init__", "cases", "files", "plain")]
    paths.append("scripts/fuzz_blender.py")
    # Errors are only reported in these paths: the packages above them import Blender and would need its stubs.
    yield _check("types", "mypy strict", "mypy", "--follow-imports=silent", *paths)


def _types(version: str) -> Iterator[Outcome]:
    interpreter = str(virtual.stubs(version))
    cache = f"--cache-dir={ROOT / '.mypy_cache' / version}"
    yield _check("types", f"mypy, API of {version}", "mypy", "--python-executable", interpreter, cache, "addon")


# Tests --------------------------------------------------------------------------------------------------------------


def _pure_folders() -> list[str]:
    others = set(FOLDERS.values())
    known = (path for path in sorted((ROOT / "tests").iterdir()) if path.is_dir() or path.name.startswith("test_"))
    result = (path.relative_to(ROOT).as_posix() for path in known if path.is_file() or any(path.rglob("test_*.py")))
    return [name for name in result if name not in others]


def _of_this_ring(arguments: Sequence[str], folders: Sequence[str]) -> list[str] | None:
    """Return pytest's arguments for the tests in ``folders``: all of them, or those that the arguments name.

    None if they name only tests of other rings.
    """
    named = {text: ROOT / text.split("::")[0] for text in arguments}
    paths = {text: path for text, path in named.items() if path.exists()}
    others = [text for text in arguments if text not in paths]
    if not paths:
        return [*folders, *others]
    own = [text for text, path in paths.items() if any(path.is_relative_to(ROOT / folder) for folder in folders)]
    own += [folder for folder in folders for path in paths.values() if path in (ROOT / folder).parents]
    return [*own, *others] if own else None


def _pure(usual: Sequence[str], arguments: Sequence[str]) -> Iterator[Outcome]:
    """Run the pure tests, and those of our scripts, in the Python that runs this."""
    own = _of_this_ring(arguments, [*_pure_folders(), FOLDERS["scripts"]])
    if own is not None:
        yield _in_this_python("pure", [*usual, *own], narrowed=bool(arguments))


def _in_this_python(ring: str, arguments: Sequence[str], *, narrowed: bool) -> Outcome:
    with TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        command = [str(virtual.dev()), "-m", "pytest", "-q", f"--junitxml={results}", *arguments]
        began = time.monotonic()
        ended = blenders.run(command, LIMIT, os.environ | blenders.SURROUNDINGS)
        label = f"Python {platform.python_version()}"
        return _tests(ring, label, ended, results, time.monotonic() - began, narrowed=narrowed)


def _pure_in(version: str, usual: Sequence[str], arguments: Sequence[str]) -> Run:
    """Return a run of the pure tests in the Python and with the numpy of a Blender's wheel, without that Blender."""

    def run() -> Iterator[Outcome]:
        own = _of_this_ring(arguments, _pure_folders())
        if own is None:
            return
        try:
            blender = blenders.wheel_anywhere(version)
        except (Unavailable, RuntimeError) as lacking:
            yield Outcome("pure", f"Python of {version}", NOT_RUN, note=str(lacking))
            return
        with blenders.session(blender, game_files()) as session:
            label = f"Python of {version}"
            yield _run_pytest(session, session.pytest_call, [*usual, *own], "pure", label, narrowed=bool(arguments))

    return run


def _library() -> Iterator[Outcome]:
    """Install the library and its command with pip, and verify the samples with them outside the checkout."""
    start = time.monotonic()
    with TemporaryDirectory() as folder:
        virtual.pip(virtual.dev(), [str(ROOT)], ["--no-deps", "--target", folder])
        command = [
            f"{folder}/bin/motionbridge{'.exe' if os.name == 'nt' else ''}",
            "verify",
            "--deep",
            str(ROOT / "tests/samples"),
        ]
        status, output = blenders.run(command, LIMIT, os.environ | {"PYTHONPATH": folder}, cwd=Path(folder))
    outcome = Outcome("library", "installed with pip", FAILED, time.monotonic() - start, output=output)
    if status == 0 and " identical" in output:
        outcome.status = PASSED
    outcome.passed, outcome.failed = (1, 0) if outcome.status == PASSED else (0, 1)
    yield outcome


def _debian(usual: Sequence[str], arguments: Sequence[str]) -> Iterator[Outcome]:
    try:
        chroot.possible()
    except Unavailable as lacking:
        yield Outcome("Blender", "Debian's executable", NOT_RUN, note=str(lacking), excused=True)
        return
    yield from _inside(blenders.debian, "Debian's executable", usual, arguments)
    yield from _in_window(blenders.debian, arguments)


def _unstable(usual: Sequence[str], arguments: Sequence[str]) -> Iterator[Outcome]:
    """Test the real executable of Debian unstable as long as its version gates: it cannot be pinned."""
    label = "Debian unstable's executable"
    try:
        blender = blenders.debian(chroot.UNSTABLE)
    except (Unavailable, RuntimeError, subprocess.TimeoutExpired) as lacking:
        yield Outcome("Blender", label, NOT_RUN, note=str(lacking), excused=True)
        return
    if not blender.label.startswith(tuple(f"{version}." for version in _wheels())):
        note = f"unstable has Blender {blender.label.split()[0]} now"
        yield Outcome("Blender", label, NOT_RUN, note=note, excused=True)
        return
    yield from _inside(lambda: blender, label, usual, arguments)
    yield from _in_window(lambda: blender, arguments, excused=True)


def _in_window(
    find: Callable[[], blenders.Blender], arguments: Sequence[str], *, excused: bool = False
) -> Iterator[Outcome]:
    """Play the scenes that need a real window, and the one that installs the zip; screens of failed ones are kept."""
    if arguments and not any(text.startswith("tests/window") for text in arguments):
        return
    try:
        blender = find()
    except (Unavailable, RuntimeError):  # already reported by the tests in this Blender
        return
    for ring in ("window",) if arguments else ("window", "zip in a window"):
        with blenders.session(blender, {}) as session:
            results = session.scratch / "window.xml"
            try:
                command = window.test_call(session, results)
            except Unavailable as lacking:
                yield Outcome(ring, blender.label, NOT_RUN, note=str(lacking), excused=excused)
                return
            if ring != "window":
                archive = build.build(session.outside)
                command += ["--zip", str(session.scratch / archive.name)]
            start = time.monotonic()
            ended = session.run(command, LIMIT)
            seen = session.seen_from_outside(results)
            outcome = _tests(ring, session.blender.label, ended, seen, time.monotonic() - start)
            target = FAILED_SCREENS / f"{blender.label}, {ring}"
            pictures = window.keep_pictures(session, target)
            if pictures:
                outcome.note = f"{outcome.note} screens of failed scenes: {target}".strip()
            yield outcome


def _inside(
    find: Callable[[], blenders.Blender],
    name: str,
    usual: Sequence[str],
    arguments: Sequence[str],
    *,
    zip_too: bool = True,
) -> Iterator[Outcome]:
    """Run the tests in a Blender, and with `zip_too` those that install the built zip in it."""
    try:
        blender = find()
    except (Unavailable, RuntimeError) as lacking:
        yield Outcome("Blender", name, NOT_RUN, note=str(lacking))
        return
    with blenders.session(blender, game_files()) as session:
        if blender.lacks_pytest:
            session.variables["MOTIONBRIDGE_TEST_PACKAGES"] = str(
                virtual.packages("test-packages", virtual.group("test"))
            )
        own = _of_this_ring(arguments, [FOLDERS["Blender"]])
        if own is not None:
            yield _run_in_blender(session, [*usual, *own], narrowed=bool(arguments))
        if zip_too and not arguments:
            yield _run_on_zip(session)


def _across(wheels: Sequence[str]) -> Iterator[Outcome]:
    """Open and export files saved in each Blender in each newer one, the oldest first."""
    try:
        result = [blenders.wheel_anywhere(version) for version in wheels]
    except Unavailable as lacking:
        yield Outcome("across", "saved by one Blender, opened in another", NOT_RUN, note=str(lacking))
        return
    for number, older in enumerate(result[:-1]):
        with TemporaryDirectory(prefix="motionbridge-") as folder:
            saved = _one_side(older, folder, "tests/across/test_saving.py", f"saved in {older.label}")
            yield saved
            if saved.status == PASSED:
                for newer in result[number + 1 :]:
                    label = f"{older.label} -> {newer.label}"
                    yield _one_side(newer, folder, "tests/across/test_opening.py", label)


def _one_side(blender: blenders.Blender, folder: str, tests: str, where: str) -> Outcome:
    with blenders.session(blender, game_files()) as session, session.sharing(Path(folder)) as between:
        session.variables["MOTIONBRIDGE_ACROSS"] = str(between)
        return _run_in_blender(session, [tests], ring="across", folder=where)


def _run_in_blender(
    session: blenders.Session,
    arguments: Sequence[str],
    *,
    ring: str = "Blender",
    folder: str = "",
    narrowed: bool = False,
) -> Outcome:
    folder = folder or session.blender.label
    return _run_pytest(session, session.tests_call, arguments, ring, folder, narrowed=narrowed)


def _run_on_zip(session: blenders.Session) -> Outcome:
    session.variables["MOTIONBRIDGE_BLENDER"] = json.dumps(session.command)
    tests = str(session.root / FOLDERS["zip"])
    options = ["-m", "pytest", "-p", "no:cacheprovider", f"--rootdir={session.root}", tests]
    return _run_pytest(session, session.python_call, options, "zip", session.blender.label)


def _run_pytest(
    session: blenders.Session,
    call: Callable[..., list[str]],
    arguments: Sequence[str],
    ring: str,
    where: str,
    *,
    narrowed: bool = False,
) -> Outcome:
    results = session.scratch / f"results of {ring}.xml"

    began = time.monotonic()
    ended = session.run([*call(*arguments), "-q", f"--junitxml={results}"], LIMIT)
    return _tests(ring, where, ended, session.seen_from_outside(results), time.monotonic() - began, narrowed=narrowed)


def game_files() -> dict[str, Path]:
    """Return the folders of `GAME_FILES` that are named. Raises `Unavailable` for what is no folder."""
    named = {name: Path(os.environ[name]).absolute() for name in GAME_FILES if os.environ.get(name)}
    for name, path in named.items():
        if not path.is_dir():
            raise Unavailable(f"{name} names {path}, which is not a folder: correct or unset it.")
    return named


def _tests(
    ring: str, where: str, ended: tuple[int | None, str], results: Path, seconds: float, *, narrowed: bool = False
) -> Outcome:
    """Return the outcome of a pytest run. Its exit status decides; a run without results has failed."""
    status, output = ended
    outcome = Outcome(ring, where, FAILED, seconds, output=output)
    if results.is_file():
        for suite in ET.parse(results).iter("testsuite"):  # noqa: S314 - trusted: just written by pytest
            count = {name: int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")}
            outcome.failed += count["failures"] + count["errors"]
            outcome.skipped += count["skipped"]
            outcome.passed += count["tests"] - count["failures"] - count["errors"] - count["skipped"]
            outcome.skip_reasons.update(skipped.get("message", "") for skipped in suite.iter("skipped"))
            for case in suite.iter("testcase"):
                name = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"
                outcome.durations[name] = float(case.get("time", 0))
                taken = [entry.get("value", 0) for entry in case.iter("property") if entry.get("name") == PROCESSOR]
                if any(float(seconds) > SLOW for seconds in taken):
                    outcome.unmarked.append(name)
    nothing_chosen = narrowed and status == 5  # pytest's own status for "no tests collected"
    if (status == 0 and results.is_file() and not outcome.failed) or nothing_chosen:
        outcome.status = PASSED
        outcome.note = "no test was chosen here" if nothing_chosen else ""
        return outcome
    if not outcome.failed:
        outcome.failed = 1
        outcome.note = "stopped at its time limit" if status is None else f"exited with status {status}"
    return outcome


# Report -------------------------------------------------------------------------------------------------------------


def _print_outcome(outcome: Outcome) -> None:
    if outcome.status == FAILED and outcome.output:
        print(f"\n----- {outcome.ring}, {outcome.blender} -----\n{outcome.output.rstrip()}\n-----\n")
    print(f"{outcome.status}: {outcome.ring}, {outcome.blender} ({outcome.seconds:.0f} s) {outcome.note}", flush=True)


def _print_slow(outcomes: Sequence[Outcome]) -> None:
    """Print the ten slowest tests, and those that should be marked as deep."""
    taken = sorted(
        ((seconds, name, run.blender) for run in outcomes for name, seconds in run.durations.items()), reverse=True
    )
    if taken:
        print("\nThe ten slowest tests:")
    for seconds, name, label in taken[:10]:
        print(f"  {seconds:5.1f} s  {name[:150]} ({label})")
    unmarked = [f"  {name[:150]} ({run.blender})" for run in outcomes for name in run.unmarked]
    if unmarked:
        print(f"\nOver {SLOW} processor seconds, so pytest.mark.deep is due:", *unmarked, sep="\n")


def _summary(outcomes: Sequence[Outcome], seconds: float) -> int:
    rows = [("ring", "where", "passed", "failed", "skipped", "time", "")]
    for own_outcome in sorted(outcomes, key=lambda outcome: (outcome.ring, outcome.blender)):
        counts = (
            str(own_outcome.passed),
            str(own_outcome.failed),
            str(own_outcome.skipped),
            f"{own_outcome.seconds:.0f} s",
        )
        verdict = f"{own_outcome.status} (excused)" if own_outcome.excused else own_outcome.status
        verdict += f": {own_outcome.note}" if own_outcome.note else ""
        rows.append(
            (own_outcome.ring, own_outcome.blender, *(counts if own_outcome.status != NOT_RUN else ("-",) * 4), verdict)
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    print(f"\nWhat ran where, in {seconds:.0f} s (this is Python {platform.python_version()} on {platform.system()})\n")
    for row in rows:
        cells = [
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row[:-1], widths, strict=True))
        ]
        print("  ".join([*cells, row[-1]]).rstrip())
    reasons: Counter[str] = sum((outcome.skip_reasons for outcome in outcomes), Counter())
    if reasons:
        print("\nSkipped because:")
        for reason, count in reasons.most_common():
            print(f"  {count} × {reason}")
    _print_slow(outcomes)
    passed, failed, skipped = (
        sum(getattr(outcome, name) for outcome in outcomes) for name in ("passed", "failed", "skipped")
    )
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped")
    tested = any(
        outcome.passed + outcome.failed + outcome.skipped
        for outcome in outcomes
        if outcome.ring not in ("lint", "types")
    )
    if not tested:
        print("No test was chosen.", file=sys.stderr)
    sound = all(outcome.status == PASSED or outcome.excused for outcome in outcomes)
    return 0 if sound and tested else 1
