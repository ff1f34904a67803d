"""What people start: it must speak to them, whatever they start it with."""

import ast
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import build
import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
STARTED = ["test.py", "build.py", *(["demo.py"] if (SCRIPTS / "demo.py").exists() else [])]


@pytest.mark.parametrize("name", STARTED)
def test_an_old_python_can_read_it_as_far_as_the_sentence(name):
    """A Python that cannot parse the file would print a SyntaxError instead."""
    tree = ast.parse((SCRIPTS / name).read_text(encoding="utf-8"), feature_version=(3, 8))
    docstring, imported, check, *_ = tree.body
    assert isinstance(docstring, ast.Expr)
    assert [alias.name for alias in imported.names] == ["sys"]
    assert ast.unparse(check.test) == "sys.version_info < (3, 11)"


@pytest.mark.parametrize("name", STARTED)
def test_an_old_python_is_reported_in_one_sentence(name):
    """The same by a real old Python, where this machine has one."""
    result = [shutil.which(f"python3.{minor}") for minor in (8, 9, 10)]
    result += sorted((Path.home() / ".pyenv/versions").glob("3.8.*/bin/python3.8"))
    for python in filter(None, result):
        done = subprocess.run([python, SCRIPTS / name], capture_output=True, text=True, timeout=20, check=False)
        if done.returncode != 127:  # a shim that does not run
            assert done.returncode == 1
            assert done.stderr.count("\n") == 1
            assert "Python 3.11 or newer" in done.stderr
            return
    pytest.skip("no Python older than 3.11 on this machine")


@pytest.mark.parametrize("name", STARTED)
def test_it_explains_itself(name):
    done = subprocess.run(
        [sys.executable, SCRIPTS / name, "--help"], capture_output=True, text=True, timeout=20, check=False
    )
    assert done.returncode == 0
    assert "--blender" in done.stdout


GOOD_NAMES = ["__init__.py", "blender_manifest.toml", "LICENSE", "core/names.py"]


def test_a_proper_zip_passes():
    build.check_names(GOOD_NAMES)


@pytest.mark.parametrize(
    "name", [".gitignore", "core/.cache", "core/__pycache__/names.cpython-311.pyc", "tests/run.py"]
)
def test_what_does_not_belong_into_the_zip_is_named(name):
    with pytest.raises(build.BuildFailure, match="does not belong"):
        build.check_names([*GOOD_NAMES, name])


@pytest.mark.parametrize("name", ["__init__.py", "blender_manifest.toml", "LICENSE"])
def test_what_the_zip_lacks_is_named(name):
    with pytest.raises(build.BuildFailure, match=f"{name} is missing"):
        build.check_names([other for other in GOOD_NAMES if other != name])


def test_a_blender_that_finds_fault_is_quoted(tmp_path):
    with pytest.raises(build.BuildFailure, match="no space left"):
        build.validate(tmp_path / "some.zip", ["sh", "-c", "echo no space left; exit 3"])


def test_zip_is_built_where_no_blender_is(tmp_path):
    surroundings = {"PATH": str(tmp_path), "MOTIONBRIDGE_ENVIRONMENTS": str(tmp_path / "none")}
    done = subprocess.run(
        [sys.executable, SCRIPTS / "build.py", "--output", tmp_path],
        capture_output=True, text=True, timeout=60, check=False, env=surroundings,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "not validated: no Blender found" in done.stdout
    (archive,) = tmp_path.glob("*.zip")
    with zipfile.ZipFile(archive) as content:
        build.check_names(content.namelist())
    assert [path.name for path in tmp_path.iterdir()] == [archive.name]


def test_the_zip_leaves_out_what_the_manifest_says(tmp_path):
    for name in ("kept.py", "kept/inner.py", "kept/.hidden", "__pycache__/gone.py", "gone.pyc", ".git/gone.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "link.py").symlink_to(tmp_path / "kept.py")
    file_path = [
        path.relative_to(tmp_path).as_posix() for path in build._sources(tmp_path, ["__pycache__/", "*.pyc", ".*"])
    ]
    assert file_path == ["kept/inner.py", "kept.py"]
    with pytest.raises(build.BuildFailure, match="single names only"):
        list(build._sources(tmp_path, ["tests/inner/"]))
