"""The built zip, and a Blender that has never seen it. The Blender is the one that MOTIONBRIDGE_BLENDER names."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import build
import pytest

LIMIT = 120


@dataclass
class Computer:
    """A Blender with preferences of its own, as on a computer that nobody has used yet."""

    command: list[str]
    resources: Path

    def blender(self, *arguments: str) -> str:
        """What Blender says; a status other than 0 fails the test."""
        done = self.try_blender(*arguments)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def try_blender(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"BLENDER_USER_RESOURCES": str(self.resources)},
            timeout=LIMIT,
            check=False,
        )

    def python(self, code: str) -> str:
        return self.blender("--background", "--python-exit-code", "1", "--python-expr", code)


@pytest.fixture(scope="session")
def command() -> list[str]:
    return json.loads(os.environ["MOTIONBRIDGE_BLENDER"])


@pytest.fixture(scope="session")
def archive(command, tmp_path_factory) -> Path:
    return build.build(tmp_path_factory.mktemp("dist"))


@pytest.fixture
def computer(command, tmp_path) -> Computer:
    resources = tmp_path / "blender"
    resources.mkdir()
    return Computer(command, resources)
