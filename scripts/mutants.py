"""Mutation testing, by hand only, never in the gate: would the tests notice if a line of the code were wrong?

    python3 scripts/mutants.py [--count N] [--seed WORD] [--blender VERSION] [--near] [--list FILE] MODULE_OR_FOLDER ...

Places are chosen at random (the same for the same seed), cosmic-ray changes each in a copy of the checkout, and the
tests run: first those that lie where the module's lie, then, where it survives and without ``--near``, all of its
ring. Modules below `addon/blender`, `addon/games` and `addon/ui` need the wheel of ``--blender``. A survivor is shown
as a difference; it is equal to the original, or a test is missing. ``--list`` adds one line of JSON for each mutant.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - said in a sentence, for whoever starts this with an older one
    sys.exit("Motionbridge looks for mutants with Python 3.11 or newer: install it and start this again with it.")

import argparse
import ast
import difflib
import json
import os
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts")]

from environment import blenders, virtual

LIMIT = 1800
"""Seconds for one run of tests. A mutant that keeps the tests next to it from ending is noticed by that; where a whole
ring does not end, nobody knows whether that is its own length."""
PURE = ("tests/core", "tests/formats", "tests/test_samples.py", "tests/test_cli.py", "tests/test_convert.py")
NEEDS_BLENDER = ("blender", "games", "ui")


@dataclass(frozen=True)
class Mutant:
    """One place of one module, changed in one way."""

    module: Path
    """Below the checkout."""
    operator: str
    code: str

    def difference(self) -> str:
        """What was changed, as a unified difference without context."""
        before = (ROOT / self.module).read_text(encoding="utf-8").splitlines()
        lines = list(difflib.unified_diff(before, self.code.splitlines(), lineterm="", n=0))[2:]
        return "\n".join([f"{self.module}: {self.operator}", *lines])


def main() -> int:
    """Look for mutants in an environment that has cosmic-ray, which is made where it is missing."""
    if (status := virtual.started_again("mutants")) is not None:
        return status
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("places", nargs="+", type=Path, metavar="MODULE_OR_FOLDER")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--blender", metavar="VERSION", help="the wheel that tests of games, blender and ui run in")
    parser.add_argument("--near", action="store_true", help="only the tests next to a module, not all of its ring")
    parser.add_argument("--list", type=Path, metavar="FILE")
    chosen = parser.parse_args()
    verdicts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="motionbridge-mutants-") as folder:
        checkout = Path(folder) / "checkout"
        blenders.copy_checkout(checkout)
        for mutant in _mutants(chosen.places, chosen.count, random.Random(chosen.seed)):  # noqa: S311
            began = time.monotonic()
            noticed = _noticed_by(mutant, checkout, chosen.blender, near=chosen.near)
            verdict = "noticed" if noticed else "UNDECIDED" if noticed is None else "SURVIVED"
            verdicts[verdict] += 1
            said = f"{verdict} by {noticed}" if noticed else verdict
            print(f"{said} ({time.monotonic() - began:.0f} s)\n{mutant.difference()}\n", flush=True)
            if chosen.list is not None:
                line = {"seed": chosen.seed, "noticed": noticed, "difference": mutant.difference()}
                with chosen.list.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(line) + "\n")
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.items()))
    return 0


def _mutants(places: Sequence[Path], count: int, chance: random.Random) -> Iterator[Mutant]:
    """Mutants at random: a place of the code as likely as any other, none twice, none equal by its syntax."""
    from cosmic_ray import plugins  # noqa: PLC0415 - it is only there in its own environment
    from cosmic_ray.ast import ast_nodes, get_ast  # noqa: PLC0415
    from cosmic_ray.mutating import mutate_code  # noqa: PLC0415

    kinds = {name: plugins.get_operator(name) for name in plugins.operator_names()}
    operators = {name: kind() for name, kind in kinds.items() if not kind.arguments()}
    found: dict[tuple[Path, object], list[tuple[str, int]]] = {}
    for module in sorted({path for place in places for path in _modules(place)}):
        nodes = list(ast_nodes(get_ast(module.read_text(encoding="utf-8"))))
        for name, operator in operators.items():
            positions = [position for node in nodes for position in operator.mutation_positions(node)]
            for occurrence, position in enumerate(positions):
                found.setdefault((module, position), []).append((name, occurrence))
    print(f"{len(found)} places of the code", flush=True)
    for module, position in chance.sample(sorted(found), len(found)):
        if count == 0:
            return
        name, occurrence = chance.choice(found[module, position])
        source = module.read_text(encoding="utf-8")
        code = mutate_code(source, operators[name], occurrence)
        if code is not None and _meaning(code) not in (_meaning(source), ""):
            count -= 1
            yield Mutant(module.resolve().relative_to(ROOT), name.partition("/")[2], code)


def _modules(place: Path) -> list[Path]:
    return sorted(place.rglob("*.py")) if place.is_dir() else [place]


class _Meaning(ast.NodeTransformer):
    """Takes out what has no meaning while a program runs: annotations of variables and parameters, and docstrings."""

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
    """Equal for codes that do the same by their syntax; empty for what is none."""
    try:
        return ast.dump(_Meaning().visit(ast.parse(code)))
    except SyntaxError:
        return ""


def _noticed_by(mutant: Mutant, checkout: Path, version: str | None, *, near: bool) -> str | None:
    """The test that fails; empty where all pass, None where the whole ring did not end in time."""
    original = (checkout / mutant.module).read_text(encoding="utf-8")
    (checkout / mutant.module).write_text(mutant.code, encoding="utf-8")
    try:
        rounds = list(_tests(mutant.module, checkout))
        for tests in rounds[:1] if near else rounds:
            status, said = _run(tests, mutant.module, checkout, version)
            if status is None:
                return None if tests is rounds[-1] else "a run without an end"
            if status != 0:
                failed = [line for line in said.splitlines() if line.startswith(("FAILED ", "ERROR "))]
                return failed[0].split(" ")[1] if failed else f"status {status}"
    finally:
        (checkout / mutant.module).write_text(original, encoding="utf-8")
    return ""


def _tests(module: Path, checkout: Path) -> Iterator[list[str]]:
    """The tests next to a module, and then all of its ring."""
    layer, parts = module.parts[1], module.with_suffix("").parts[1:]
    if layer in NEEDS_BLENDER:
        words = {".".join(parts), parts[-1]} if parts[-1] != "__init__" else {".".join(parts[:-1])}
        texts = {path: path.read_text(encoding="utf-8") for path in (checkout / "tests/blender").glob("test_*.py")}
        near = [path.name for path, text in texts.items() if any(word in text for word in words)]
        if near:
            yield [f"tests/blender/{name}" for name in sorted(near)]
        yield ["tests/blender"]
        return
    for length in range(len(parts), 1, -1):
        folder = checkout.joinpath("tests", *parts[: length - 1])
        near = [
            path for path in (folder / parts[length - 1], *folder.glob(f"test_{parts[length - 1]}*")) if path.exists()
        ]
        if near:
            yield [str(path.relative_to(checkout)) for path in near]
            break
    yield [test for test in PURE if (checkout / test).exists()]


def _run(tests: Sequence[str], module: Path, checkout: Path, version: str | None) -> tuple[int | None, str]:
    arguments = ["-x", "-q", "-p", "no:cacheprovider", "--tb=no", *tests]
    surroundings = os.environ | blenders.ONE_THREAD | {"CI": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    if module.parts[1] not in NEEDS_BLENDER:
        return blenders.run([str(virtual.dev()), "-m", "pytest", *arguments], LIMIT, surroundings, cwd=checkout)
    if version is None:
        raise SystemExit(f"{module} needs a Blender: name the version of a wheel with --blender.")
    user = Path(tempfile.mkdtemp(dir=checkout.parent))
    call = [*blenders.wheel(version).started_from(checkout), "--background", "--factory-startup"]
    call += ["--python-exit-code", "1", "--python", str(checkout / "tests/run.py"), "--", *arguments]
    try:
        return blenders.run(call, LIMIT, surroundings | {"BLENDER_USER_RESOURCES": str(user)}, cwd=checkout)
    finally:
        shutil.rmtree(user)


if __name__ == "__main__":
    sys.exit(main())
