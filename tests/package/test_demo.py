"""The demo, run by each Blender as a newcomer would: it must change one motion, prove it and draw a picture."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def demonstrate(computer, *arguments):
    script = str(ROOT / "scripts" / "demonstration.py")
    options = ["--background", "--factory-startup", "--python-exit-code", "1", "--python", script, "--"]
    return computer.try_blender(*options, *map(str, arguments))


def test_one_motion_changes_and_a_picture_shows_it(computer, samples, tmp_path):
    motions = (samples / "humanoid.omf").read_bytes()
    done = demonstrate(computer, samples / "humanoid.ogf", samples / "humanoid.omf", tmp_path)
    assert done.returncode == 0, done.stdout
    changed = [line for line in done.stdout.splitlines() if line.startswith("motion ")]
    assert len(changed) == 1, done.stdout
    assert "rotation: " in changed[0]
    assert (samples / "humanoid.omf").read_bytes() == motions
    written = (tmp_path / "humanoid.omf").read_bytes()
    assert len(written) == len(motions)
    assert written != motions
    assert (tmp_path / "pose.png").stat().st_size > 20_000  # an empty picture of this size packs to a few kB


def test_wrong_files_are_refused_in_a_sentence(computer, samples, tmp_path):
    done = demonstrate(computer, ROOT / "LICENSE", samples / "humanoid.omf", tmp_path)
    assert done.returncode != 0
    assert "LICENSE" in done.stdout
    assert "Traceback" not in done.stdout
    assert not list(tmp_path.glob("*.png"))
