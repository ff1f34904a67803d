"""The files of a release: what keeps a commit from being released, the same bytes each time, what they hold."""

import json
import posixpath
import re
import sys
import zipfile
from pathlib import Path
from runpy import run_path

import build
import pytest
import release
import rings
import website

CHANGELOG = """# Changelog

## 0.2.0 (unreleased, Blender 4.2 and newer)

- New

## 0.1.0 (2026-11-30, Blender 4.2)

- First
"""


@pytest.fixture
def ready(monkeypatch, tmp_path):
    """A commit that nothing keeps from being released: what a test changes does."""
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(release, "manifest_version", lambda: "0.1.0")
    monkeypatch.setattr(rings, "commit", lambda: "c" * 40)
    monkeypatch.setattr(rings, "GATE", tmp_path / "dist" / "gate.json")
    rings.record_run("all", passed=True)
    return monkeypatch


def test_a_tested_commit_with_a_dated_section_can_be_released(ready):
    assert list(release.obstacles("all")) == list(release.obstacles("default")) == []


@pytest.mark.usefixtures("ready")
def test_a_run_of_fewer_tests_or_one_that_failed_does_not_do():
    rings.record_run("default", passed=True)
    assert list(release.obstacles("default")) == []
    assert [words for words in release.obstacles("all") if "--blender all" in words]
    rings.record_run("all", passed=False)
    assert len(list(release.obstacles("all"))) == len(list(release.obstacles("default"))) == 1


def test_another_commit_changed_files_and_an_undated_section_are_named(ready):
    ready.setattr(rings, "commit", lambda: "d" * 40)
    assert "another commit (cccccccccccc)" in " ".join(release.obstacles("all"))
    ready.setattr(rings, "commit", lambda: "")
    assert "Files differ" in " ".join(release.obstacles("all"))
    ready.setattr(release, "manifest_version", lambda: "0.2.0")
    assert "'unreleased'" in " ".join(release.obstacles("all"))
    ready.setattr(release, "manifest_version", lambda: "0.3.0")
    assert "no section '0.3.0'" in " ".join(release.obstacles("all"))
    rings.GATE.unlink()
    assert "No run of the tests" in " ".join(release.obstacles("all"))


@pytest.mark.parametrize(
    ("arguments", "tests"),
    [("--blender all", "all"), ("", "default"), ("--release", "all"), ("--fast", ""), ("--blender all tests/core", "")],
)
def test_only_whole_runs_of_the_tests_are_noted(monkeypatch, tmp_path, arguments, tests):
    monkeypatch.setattr(rings, "GATE", tmp_path / "gate.json")
    monkeypatch.setattr(rings, "run", lambda *_, **__: 0)
    monkeypatch.setattr(sys, "argv", ["test.py", *arguments.split()])
    run_path(str(Path(release.__file__).with_name("test.py")))["main"]()
    assert (json.loads(rings.GATE.read_text())["tests"] if rings.GATE.exists() else "") == tests


def test_files_are_the_same_each_time_and_hold_what_they_should(tmp_path):
    first, second = (release.make(tmp_path / name) for name in ("first", "second"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    archive, samples, sums, text = first
    with zipfile.ZipFile(archive) as content:
        build.check_names(content.namelist())
        assert {entry.date_time for entry in content.infolist()} == {build.EARLIEST}
    with zipfile.ZipFile(samples) as content:
        files = [name.split("/")[-1] for name in content.namelist()]
        named = re.findall(r"[\w/]*\w\.(?:ogf|omf|p3d|rtm|hog)\b", content.read("README.txt").decode())
        assert len(named) == 7
        assert {name.split("/")[-1] for name in named} <= {*files}
        assert "gamedata/levels/yard/level" in content.namelist()
    assert all(path.name in sums.read_text() for path in (archive, samples))
    assert archive.name in text.read_text()


WORKFLOWS = sorted((Path(__file__).resolve().parents[2] / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_hold_no_logic_and_pin_what_they_use(path):
    """Each step is a script that runs here as well; actions are pinned to a commit."""
    lines = [line.strip().removeprefix("- ") for line in path.read_text(encoding="utf-8").splitlines()]
    runs = [line.removeprefix("run: ") for line in lines if line.startswith("run:")]
    assert runs
    assert all(run.startswith(("python scripts/", "gh release create ")) and "&&" not in run for run in runs)
    uses = [line for line in lines if line.startswith("uses:")]
    assert all(len(use.partition("@")[2].split()[0]) == 40 and "# v" in use for use in uses)


def test_each_link_of_a_page_leads_to_the_same_file_on_the_site():
    """`release.py --site` builds the site itself, and stops at a link that leads nowhere."""
    sites = website.placed()
    link = re.compile(r"\]\(([^)#:\s]+)")
    count = 0
    for source in (name for name in sites if name.endswith(".md")):
        text = (website.ROOT / source).read_text(encoding="utf-8")
        moved = link.findall(website.as_on_the_site(text, source))
        for before, after in zip(link.findall(text), moved, strict=True):
            wanted = (website.ROOT / source).parent.joinpath(before).resolve().relative_to(website.ROOT).as_posix()
            there = posixpath.normpath(posixpath.join(posixpath.dirname(sites[source]), after))
            assert there == sites[wanted], (source, before)
            count += 1
    assert count > 100
