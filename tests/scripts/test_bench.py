"""The benchmark measures what it says, once in each process, and prints figures that can be compared."""

import json
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import bench
import pytest
from benchmarks import SAMPLES, cases, files, installed

from addon.formats.verification import Status, verify


@pytest.mark.parametrize("count", [0, 1, 7])
def test_a_made_file_is_a_true_file_of_so_many_motions(count):
    data = files.made_library(count)
    assert verify(data, "made.omf").status is Status.IDENTICAL
    assert verify(data, "made.omf").warnings == (() if count else ("there are no motions in it (0xE)",))
    assert data.count(b"motion_0") == 2 * count


@pytest.mark.parametrize(
    ("suffix", "make"),
    [
        ("cform", files.made_collision),
        ("hom", files.made_occluders),
        ("som", lambda faces: files.made_occluders(faces, of_sound=True)),
    ],
)
def test_made_files_of_a_level_are_true_and_have_so_many_faces(suffix, make):
    for faces in (2, 1000):
        data = make(faces)
        assert verify(data, f"level.{suffix}").status is Status.IDENTICAL
        assert verify(data, f"level.{suffix}").warnings == ()
        counted = struct.unpack_from("<I", data, 8 if suffix == "cform" else 16)[0]
        assert counted == (faces if suffix == "cform" else faces * {"hom": 40, "som": 44}[suffix])
        assert make(faces) == data


def test_made_hands_are_a_true_model(monkeypatch):
    monkeypatch.delenv("MOTIONBRIDGE_CORPUS", raising=False)
    data = files.made_editor_model()
    verdict = verify(data, "hands.object")
    assert (verdict.status, verdict.warnings) == (Status.IDENTICAL, ())
    assert files.made_editor_model() == data


@pytest.mark.parametrize("corners", [3, 4])
def test_a_made_model_is_a_true_one(corners):
    data = files.made_model(3, corners)
    verdict = verify(data, "model.oof")
    assert (verdict.status, verdict.warnings) == (Status.IDENTICAL, ())
    assert data.count(b"SOBJ") == 3
    assert struct.unpack_from("<i", data, data.index(b"part0") - 4)[0] == 6


def test_a_figure_and_its_floor_as_json():
    environment = {name: value for name, value in os.environ.items() if name != "MOTIONBRIDGE_CORPUS"}
    done = subprocess.run(
        [sys.executable, bench.__file__, "--json", "--times", "1", "--only", "humanoid"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env=environment,
    )
    figures = {line["title"]: line for line in map(json.loads, done.stdout.splitlines())}
    assert set(figures) == {"read humanoid.ogf", "read humanoid.ogf: memory"}
    for line in figures.values():
        assert line["ratio"] == pytest.approx(line["ours"] / line["floor"])
        assert line["ours"] > 0
    assert figures["read humanoid.ogf: memory"]["floor"] == pytest.approx(
        (SAMPLES / "humanoid.ogf").stat().st_size / 1e6
    )
    assert figures["read humanoid.ogf: memory"]["ratio"] > 1


def test_the_least_counts_and_both_are_measured_in_turns(monkeypatch, tmp_path):
    numbers = iter([10.0, 5.0, 8.0, 3.0, 9.0, 4.0])  # floor, ours, floor, ours …
    asked = []

    def measured_once(program, _folder):
        asked.append(program[program.index("--measure") + 1])
        return next(numbers)

    monkeypatch.setattr(bench, "measured_once", measured_once)
    row = bench.Row("x", "plain.read", "plain.check_bytes", (), floor_times=2.0)
    assert bench.measure(row, 3, [], tmp_path) == (3.0, 16.0)
    assert asked == ["check_bytes", "read"] * 3


@pytest.mark.deep
def test_every_measurement_can_be_asked_of_a_fresh_process(samples, tmp_path):
    rows = bench.rows()
    assert {row.ours for row in rows} | {row.floor for row in rows} == {f"plain.{name}" for name in bench.MEASUREMENTS}
    configs, game, archive = (
        next(row for row in rows if row.ours == f"plain.{name}").files[-1].put_into(tmp_path)
        for name in ("index_configs", "index", "unpack_lzo")
    )
    for name in bench.MEASUREMENTS:
        folders = {"verify": samples, "check_folders": samples}
        folders |= dict.fromkeys(("index_configs", "index_configs_again", "read_configs"), configs)
        folders |= {name: archive if "lzo" in name else game for name in installed.MEASUREMENTS}
        paths = [folders.get(name, samples / "weapon.omf")]
        assert bench.measured_once(bench.command(f"plain.{name}", paths), tmp_path) > 0
    assert list((tmp_path / "bytecode").rglob("*.pyc"))


def test_rows_inside_a_blender_name_measurements_existing():
    scripts = {path.stem: path.read_text(encoding="utf-8") for path in bench.ROOT.glob("scripts/benchmarks/*.py")}
    tables = {module: source.partition("\nMEASUREMENTS")[2] for module, source in scripts.items()}
    entry = re.compile(r'^    "(\w+)": ', re.MULTILINE)
    known = {f"{module}.{name}" for module, table in tables.items() for name in entry.findall(table)}
    rows = bench.rows_in_blender()
    assert {row.ours for row in rows} | {row.floor for row in rows} | {row.prepare for row in rows} <= {*known, ""}
    assert {"level.cform: import", "level.hom: export, edited", "level.som: memory"} <= {row.title for row in rows}
    kinds = set(re.findall(r'^    "((?:\.\w+)?)": (?:Kind\(|OCCLUDERS)', scripts["kinds"], re.MULTILINE))
    assert {Path(file.name).suffix for file in cases.MEASURED_OF} == kinds


def test_a_word_that_no_row_holds_is_refused(capsys):
    with pytest.raises(SystemExit):
        bench.main(["--only", "no such row"])
    assert "no row holds 'no such row'" in capsys.readouterr().err
