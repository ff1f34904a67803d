"""Mutation testing: do the tests notice if a line of the code is wrong? Started by hand only, not part of the gate.

    python3 scripts/mutants.py [--count N] [--seed WORD] [--blender VERSION] [--tests TEST ...] [--reach FOLDER]
                               [--list FILE] [--again FILE] MODULE_OR_FOLDER ...

Places in the code are chosen at random (the same for the same seed), and cosmic-ray changes each of them in a copy of
the checkout. Then the tests run that enter the changed function: first the fastest, for about a minute, then all tests
of the same files. Which tests enter which functions is recorded once, by a run of all tests that are not deep, or of
those that ``--tests`` names; ``--reach`` names a folder in which to keep this record. Modules below `addon/blender`,
`addon/games` and `addon/ui` need the wheel of ``--blender``; for the others its tests run in addition. Survivors are
printed as differences: either the change has no effect, or a test is missing. ``--list`` appends one line of JSON per
mutant, ``--again`` tests the survivors of such a list instead of new mutants.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - explain it to users of older versions
    sys.exit("Motionbridge looks for mutants with Python 3.11 or newer: install it and start this again with it.")

import argparse
import ast
import difflib
import json
import os
import random
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts")]

from environment import blenders, virtual
from rings import NOT_DEEP

SLOWER, STARTED = 5, 120.0
"""Tests of a mutant may take so many times the recorded seconds, and so many more to start; a longer run is noticed."""
FIRST = 60.0
"""Total duration of the tests of the first round in seconds, by the record."""
RECORDING_LIMIT = 7200
PURE = ("tests/core", "tests/formats", "tests/test_samples.py", "tests/test_cli.py", "tests/test_convert.py")
IN_BLENDER = "tests/blender"
NEEDS_BLENDER = ("blender", "games", "ui")


@dataclass(frozen=True)
class Mutant:
    """A module with one change at one place."""

    module: Path
    """Path relative to the checkout."""
    operator: str
    function: str
    """Innermost function around the place, empty if there is none."""
    source: str
    code: str

    def difference(self) -> str:
        """Return the change as a unified diff without context."""
        lines = list(difflib.unified_diff(self.source.splitlines(), self.code.splitlines(), lineterm="", n=0))[2:]
        return "\n".join([f"{self.module}: {self.operator}", *lines])


@dataclass(frozen=True)
class Ring:
    """A copy of the checkout and where its tests run: in ``version`` of Blender, or without Blender (None)."""

    checkout: Path
    version: str | None
    reach: Path
    """Folder of the record which tests enter which functions."""
    tests: Sequence[str]
    """Files and folders of the tests that are recorded."""

    def noticed(self, mutant: Mutant) -> str:
        """Return the test that fails with the mutant in the checkout; empty if all pass."""
        durations = dict(self._recorded()["tests"])
        for tests in self._rounds(mutant):
            names = self.checkout.parent / "tests"
            names.write_text("\n".join(tests), encoding="utf-8")
            limit = STARTED + SLOWER * sum(durations[test] for test in tests)
            status, output = self._run(["-x", "--tb=no", f"@{names}"], limit)
            if status is None:
                return "a run without an end"
            if status != 0:
                return next(iter(_failed(output)), f"status {status}")
        return ""

    def _rounds(self, mutant: Mutant) -> Iterator[Sequence[str]]:
        """Yield the fastest tests that enter the function, then the other tests of their files."""
        recorded = self._recorded()
        entering, module = recorded["functions"], mutant.module.as_posix()
        keys = [key for key in entering if key.startswith(f"{module}:")]
        if mutant.function:
            keys = [f"{module}:{mutant.function}"]
        indexes = sorted({index for key in keys for index in entering.get(key, ())})
        names, seconds = zip(*(recorded["tests"][index] for index in indexes), strict=True) if indexes else ((), ())
        first = [name for name, total in zip(names, accumulate(seconds), strict=True) if total <= FIRST] or names[:1]
        if first:
            yield first
        files = {name.partition("::")[0] for name in names}
        others = {name for name, _ in recorded["tests"] if name.partition("::")[0] in files}.difference(first)
        if others:
            yield sorted(others)

    def _recorded(self) -> dict[str, Any]:
        file = self.reach / f"reach-{self.version or 'pure'}.json"
        if not file.exists():
            print(f"recording which tests enter which functions ({file})", flush=True)
            call = ["-p", "scripts.lab.reach", "--tb=no", *NOT_DEEP, *self.tests]
            _, output = self._run(call, RECORDING_LIMIT, {"MOTIONBRIDGE_REACH": str(file)})
            if not file.exists():
                raise SystemExit(f"The tests wrote no {file}:\n{output}")
            print("".join(f"fails without a change, so it judges nothing: {test}\n" for test in _failed(output)))
        recorded: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return recorded

    def _run(
        self, arguments: Sequence[str], limit: float, more: Mapping[str, str] | None = None
    ) -> tuple[int | None, str]:
        arguments = ["-q", "-p", "no:cacheprovider", *arguments]
        environment = os.environ | blenders.SURROUNDINGS | {"CI": "1", "PYTHONDONTWRITEBYTECODE": "1"} | (more or {})
        if self.version is None:
            call = [str(virtual.dev()), "-m", "pytest", *arguments]
            return blenders.run(call, limit, environment, cwd=self.checkout)
        call = [*blenders.wheel(self.version).started_from(self.checkout), "--background", "--factory-startup"]
        call += ["--python-exit-code", "1", "--python", str(self.checkout / "tests/run.py"), "--", *arguments]
        with tempfile.TemporaryDirectory() as user:
            return blenders.run(call, limit, environment | {"BLENDER_USER_RESOURCES": user}, cwd=self.checkout)


def main() -> int:
    """Test mutants in an environment that has cosmic-ray, which is created if it is missing."""
    if (status := virtual.started_again("mutants")) is not None:
        return status
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, metavar="MODULE_OR_FOLDER")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--blender", metavar="VERSION", help="the wheel that tests of games, blender and ui run in")
    parser.add_argument("--tests", nargs="+", default=[], metavar="TEST", help="files and folders of tests that judge")
    parser.add_argument("--reach", type=Path, metavar="FOLDER", help="where the record is kept; it must fit the code")
    parser.add_argument("--list", type=Path, metavar="FILE")
    parser.add_argument("--again", type=Path, metavar="FILE", help="judge the survivors of this list")
    chosen = parser.parse_args()
    verdicts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="motionbridge-mutants-") as folder:
        checkout = Path(folder) / "checkout"
        blenders.copy_checkout(checkout)
        kept = (chosen.reach or Path(folder)).absolute()
        kept.mkdir(parents=True, exist_ok=True)
        chance = random.Random(chosen.seed)  # noqa: S311
        pure = Ring(checkout, None, kept, [test for test in chosen.tests if not test.startswith(IN_BLENDER)] or PURE)
        tests = [test for test in chosen.tests if test.startswith(IN_BLENDER)] or [IN_BLENDER]
        inside = Ring(checkout, chosen.blender, kept, tests) if chosen.blender else None
        folders = [checkout / folder.resolve().relative_to(ROOT) for folder in chosen.paths]
        mutants = (
            listed_before(chosen.again, checkout) if chosen.again else _mutants(folders, chosen.count, chance, checkout)
        )
        for mutant in mutants:
            began = time.monotonic()
            noticed = _noticed_by(mutant, pure, inside)
            verdict = "noticed" if noticed else "SURVIVED"
            verdicts[verdict] += 1
            result = f"{verdict} by {noticed}" if noticed else verdict
            print(f"{result} ({time.monotonic() - began:.0f} s)\n{mutant.difference()}\n", flush=True)
            if chosen.list is not None:
                line = {"seed": chosen.seed, "noticed": noticed, "difference": mutant.difference()}
                with chosen.list.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(line) + "\n")
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.items()))
    return 0


def _mutants(folders: Sequence[Path], count: int, chance: random.Random, checkout: Path) -> Iterator[Mutant]:
    """Yield random mutants of modules in the copy, which nobody edits meanwhile: every place has the same probability,
    none occurs twice, none has the same meaning.
    """
    from cosmic_ray import plugins  # noqa: PLC0415 - installed only in its own environment
    from cosmic_ray.ast import ast_nodes, get_ast  # noqa: PLC0415
    from cosmic_ray.mutating import mutate_code  # noqa: PLC0415

    kinds = {name: plugins.get_operator(name) for name in plugins.operator_names()}
    operators = {name: kind() for name, kind in kinds.items() if not kind.arguments()}
    result: dict[tuple[Path, tuple[tuple[int, int], tuple[int, int]]], list[tuple[str, int]]] = {}
    for module in sorted({path for folder in folders for path in _modules(folder)}):
        nodes = list(ast_nodes(get_ast(module.read_text(encoding="utf-8"))))
        for name, operator in operators.items():
            positions = [position for node in nodes for position in operator.mutation_positions(node)]
            for occurrence, position in enumerate(positions):
                result.setdefault((module, position), []).append((name, occurrence))
    print(f"{len(result)} places of the code", flush=True)
    for module, position in chance.sample(sorted(result), len(result)):
        if count == 0:
            return
        name, occurrence = chance.choice(result[module, position])
        source = module.read_text(encoding="utf-8")
        code = mutate_code(source, operators[name], occurrence)
        if code is not None and _meaning(code) not in (_meaning(source), ""):
            count -= 1
            function = function_at(source, position[0][0])
            yield Mutant(module.relative_to(checkout), name.partition("/")[2], function, source, code)


def listed_before(listed: Path, checkout: Path) -> Iterator[Mutant]:
    """Yield the survivors of a list if the code still has their line; of equal lines the one nearest to the old
    position.
    """
    for entry in map(json.loads, listed.read_text(encoding="utf-8").splitlines()):
        head, position, *changed = entry["difference"].splitlines()
        if entry["noticed"]:
            continue
        module, _, operator = head.partition(": ")
        old, new = ([line[1:] for line in changed if line[0] == sign] for sign in "-+")
        old_line = int(position.split()[1].partition(",")[0])
        file = checkout / module
        source = file.read_text(encoding="utf-8") if file.exists() else ""
        lines = source.splitlines()
        result = [at for at in range(len(lines)) if lines[at : at + len(old)] == old]
        if not old or not result:
            print(f"the code has changed since\n{entry['difference']}\n", flush=True)
            continue
        at = min(result, key=lambda index: abs(index + 1 + old_line))
        lines[at : at + len(old)] = new
        yield Mutant(Path(module), operator, function_at(source, at + 1), source, "\n".join([*lines, ""]))


def function_at(source: str, line: int) -> str:
    """Return the name of the innermost function around a line, decorators included; empty outside functions."""
    result, shortest = "", sys.maxsize
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            begins = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if begins <= line <= (node.end_lineno or line) and (node.end_lineno or line) - begins < shortest:
                result, shortest = node.name, (node.end_lineno or line) - begins
    return result


def _failed(output: str) -> list[str]:
    """Return the tests that pytest's summary names as failed."""
    return [line.split(" ")[1] for line in output.splitlines() if line.startswith(("FAILED ", "ERROR "))]


def _modules(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]


class _Meaning(ast.NodeTransformer):
    """Removes what has no effect at run time: annotations, docstrings, and blocks for type checking."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if not isinstance(node.annotation, ast.Call):  # Blender's properties are declared by calls
            node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return ast.Pass() if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST:
        return ast.Pass() if ast.unparse(node.test) == "TYPE_CHECKING" else self.generic_visit(node)


def _meaning(code: str) -> str:
    """Return a text that is equal for codes of equal syntax trees without annotations; empty for code that Python
    refuses, or warns of before a test runs.
    """
    try:
        with warnings.catch_warnings(action="error"):
            compile(code, "mutant", "exec")
        return ast.dump(_Meaning().visit(ast.parse(code)))
    except SyntaxError:
        return ""


def _noticed_by(mutant: Mutant, pure: Ring, inside: Ring | None) -> str:
    """Return the test that fails because of the mutant; empty if all pass."""
    needed = mutant.module.parts[1] in NEEDS_BLENDER
    if needed and inside is None:
        raise SystemExit(f"{mutant.module} needs a Blender: name the version of a wheel with --blender.")
    rings = [ring for ring in (None if needed else pure, inside) if ring]
    changed = pure.checkout / mutant.module
    original = changed.read_text(encoding="utf-8")
    changed.write_text(mutant.code, encoding="utf-8")
    try:
        return next(filter(None, (ring.noticed(mutant) for ring in rings)), "")
    finally:
        changed.write_text(original, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
