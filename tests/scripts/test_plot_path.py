"""The picture of a path: a real PNG of six channels, from whatever Python starts it."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "lab" / "plot_path.py"


def run(*arguments):
    command = [sys.executable, SCRIPT, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.deep
def test_a_sample_becomes_a_picture(samples, tmp_path):
    picture = tmp_path / "camera.png"
    done = run(samples / "camera.anm", "-o", picture)
    if done.returncode == 2 and "could not install" in done.stderr:
        pytest.skip("matplotlib cannot be installed on this machine")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"{picture}: 26 keys"
    data = picture.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(data[16:20], "big") == 1400


@pytest.mark.deep
def test_what_is_no_path_is_refused_in_one_sentence(samples, tmp_path):
    done = run(samples / "weapon.omf", "-o", tmp_path / "x.png")
    if done.returncode == 2 and "could not install" in done.stderr:
        pytest.skip("matplotlib cannot be installed on this machine")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "x.png").exists()
