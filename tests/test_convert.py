"""`convert` on the command line: versions, refusals, files that survive."""

import pytest

from addon import cli


@pytest.fixture
def run(capsys):
    def run(*arguments):
        status = cli.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return status, captured.out.splitlines(), captured.err

    return run


@pytest.fixture
def camera(samples, tmp_path):
    path = tmp_path / "camera.anm"
    path.write_bytes((samples / "camera.anm").read_bytes())
    return path


def test_there_and_back(run, camera, tmp_path):
    before = camera.read_bytes()
    other = tmp_path / "other.anm"
    status, out, err = run("convert", camera, "--to", "3", "-o", other)
    assert (status, err) == (0, "")
    assert out == [f"{other}: anm 3, {other.stat().st_size} bytes (from {len(before)})"]
    assert run("diff", camera, other) == (1, ["version: 5 / 3"], "")
    assert run("convert", other, "--to", "5", "--in-place", "--backup")[0] == 0
    assert other.read_bytes() == before
    assert other.with_name("other.anm.bak").exists()


def test_the_same_version_leaves_the_file_alone(run, camera):
    changed = camera.stat().st_mtime_ns
    assert run("convert", camera, "--to", "5", "--in-place") == (
        0,
        [f"{camera}: nothing changed, left as it is"],
        "",
    )
    assert camera.stat().st_mtime_ns == changed


def test_an_unknown_version_and_a_format_without_versions(run, camera, samples, tmp_path):
    before = camera.read_bytes()
    status, _, err = run("convert", camera, "--to", "9", "--in-place")
    assert status == 2
    assert "cannot be converted to '9'. Known: 3, 4, 5." in err
    assert camera.read_bytes() == before
    status, _, err = run("convert", samples / "weapon.omf", "--to", "4", "-o", tmp_path / "x.omf")
    assert status == 2
    assert "one version" in err
    assert not (tmp_path / "x.omf").exists()


def test_the_file_itself_needs_in_place(run, camera):
    status, _, err = run("convert", camera, "--to", "3", "-o", camera)
    assert status == 2
    assert "--in-place" in err


def test_a_target_is_asked_for(run, camera):
    status, _, err = run("convert", camera, "--to", "3")
    assert status == 2
    assert "--output" in err
