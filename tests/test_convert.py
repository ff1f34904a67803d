"""`convert` on the command line: versions, refusals, files that survive."""

import struct

import numpy as np
import pytest

from addon import cli
from addon.core import png
from addon.core.report import Report
from addon.formats.descent3 import hog2
from tests.formats.archives import written


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
        [f"{camera}: no changes, file not written"],
        "",
    )
    assert camera.stat().st_mtime_ns == changed


def test_an_unknown_version_and_a_format_without_versions(run, camera, samples, tmp_path):
    before = camera.read_bytes()
    status, _, err = run("convert", camera, "--to", "9", "--in-place")
    assert status == 2
    assert "cannot be converted to '9'. Known: 3, 4, 5." in err
    assert camera.read_bytes() == before
    status, _, err = run("convert", samples / "weapon.ogf", "--to", "4", "-o", tmp_path / "x.ogf")
    assert status == 2
    assert "one version" in err
    assert not (tmp_path / "x.ogf").exists()


def test_the_file_itself_needs_in_place(run, camera):
    status, _, err = run("convert", camera, "--to", "3", "-o", camera)
    assert status == 2
    assert "--in-place" in err


def test_a_target_is_asked_for(run, camera):
    status, _, err = run("convert", camera, "--to", "3")
    assert status == 2
    assert "--output" in err


def test_a_texture_becomes_pictures(tmp_path, capsys):
    still = bytes((0, 0, 121)) + b"a\0\1" + bytes(9) + struct.pack("<HHBB", 1, 1, 32, 0x28) + b"\0\x0f\xf0"
    (tmp_path / "a.ogf").write_bytes(still)
    assert cli.main(["convert", str(tmp_path / "a.ogf"), "--to", "png", "-o", str(tmp_path / "a.png")]) == 0
    assert (tmp_path / "a.png").read_bytes() == png.encode(np.array([[[0, 0, 255, 255]]], np.uint8))
    assert not capsys.readouterr().err
    assert cli.main(["convert", str(tmp_path / "a.ogf"), "--to", "png", "-o", str(tmp_path / "a.jpg")]) == 0
    assert (tmp_path / "a.jpg").read_bytes() == (tmp_path / "a.png").read_bytes()
    assert "a.jpg: it is a .png file; programs may expect another by its name" in capsys.readouterr().err
    (tmp_path / "b.oaf").write_bytes(bytes((127, 1, 2)) + bytes(4) + 2 * still)
    assert cli.main(["convert", str(tmp_path / "b.oaf"), "--to", "png", "-o", str(tmp_path / "b.png")]) == 0
    assert sorted(path.name for path in tmp_path.glob("b*.png")) == ["b_0000.png", "b_0001.png"]


def test_a_picture_replaces_no_texture(tmp_path, capsys):
    (tmp_path / "a.ogf").write_bytes(bytes((0, 0, 121)) + b"a\0\1" + bytes(13) + b" (")
    assert cli.main(["convert", str(tmp_path / "a.ogf"), "--to", "png", "--in-place"]) == 2
    assert "a .png file does not replace it" in capsys.readouterr().err
    assert cli.main(["convert", str(tmp_path / "a.ogf"), "--to", "jpg", "-o", str(tmp_path / "a.jpg")]) == 2
    assert "Known: png" in capsys.readouterr().err


def test_files_come_out_of_an_archive(tmp_path, capsys):
    data = hog2.write(hog2.new_hog2({"a.oof": b"1", "b.ogf": b"2", "c[1].ogf": b"3"}))
    (tmp_path / "x.hog").write_bytes(data)
    out = tmp_path / "made" / "here"
    assert cli.main(["extract", str(tmp_path / "x.hog"), "*.OGF", "c[1].ogf", "-o", str(out)]) == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == {"b.ogf": b"2", "c[1].ogf": b"3"}
    assert cli.main(["extract", str(tmp_path / "x.hog"), "-o", str(out)]) == 2
    assert "left out: there is such a file already (b.ogf, c[1].ogf)" in capsys.readouterr().err
    assert (out / "a.oof").read_bytes() == b"1"
    (out / "a.oof").write_bytes(b"old")
    (tmp_path / "link.oof").hardlink_to(out / "a.oof")
    assert cli.main(["extract", str(tmp_path / "x.hog"), "-o", str(out), "--overwrite"]) == 0
    message = capsys.readouterr().err
    assert message.endswith(f"x.hog: 1 other hard link to the file keeps the old content ({out / 'a.oof'})\n")
    assert ((out / "a.oof").read_bytes(), (tmp_path / "link.oof").read_bytes()) == (b"1", b"old")
    assert cli.main(["extract", str(tmp_path / "x.hog"), "*.txt", "-o", str(out)]) == 2
    assert "no file in it matches '*.txt'" in capsys.readouterr().err
    (tmp_path / "x.ogf").write_bytes(bytes((0, 0, 121)) + b"a\0\1" + bytes(13) + b" (")
    assert cli.main(["extract", str(tmp_path / "x.ogf"), "-o", str(out)]) == 2
    assert "Name an archive" in capsys.readouterr().err


# Animations of Arma, which take a skeleton --------------------------------------------------------------------------


@pytest.fixture
def man(samples):
    return samples / "arma"


def test_an_animation_is_binarised_along_a_model_cfg_and_made_plain_again(run, man, tmp_path):
    there, back = tmp_path / "there.rtm", tmp_path / "back.rtm"
    status, out, err = run("convert", man / "walk.rtm", "--to", "5", "--model-cfg", man / "model.cfg", "-o", there)
    assert (status, err) == (0, "")
    assert out == [f"{there}: rtm 5, {there.stat().st_size} bytes (from {(man / 'walk.rtm').stat().st_size})"]
    assert there.read_bytes()[:4] == b"BMTR"
    options = ("--model-cfg", man / "model.cfg", "--skeleton", "sampleman")
    assert run("convert", there, "--to", "plain", *options, "-o", back)[0] == 0
    status, out, _ = run("diff", man / "walk.rtm", back)
    assert status == 1
    renamed = [line for line in out if "is now called" in line]
    assert len(renamed) == 6
    # Phases, step and events are the same; matrices within half floats.
    assert all(float(line.rpartition(" ")[2]) < 2e-3 for line in out if line not in renamed)


def test_a_skeleton_is_asked_for_and_must_fit(run, man, tmp_path):
    out = tmp_path / "out.rtm"
    walk = man / "walk.rtm"
    for options, sentence in (
        ((), "Give the skeleton's model.cfg"),
        (("--skeleton", "arma9"), "Known: arma3, arma2, flashpoint"),
        (("--skeleton", "flashpoint"), "no hierarchy in the game"),
        (("--model-cfg", man / "model.cfg", "--skeleton", "Dog"), "Choose one with --skeleton: SampleMan"),
        (("--model-cfg", man / "man.p3d"), "not a text file"),
        (("--model-cfg", tmp_path / "none.cfg"), "none.cfg"),
    ):
        status, lines, err = run("convert", walk, "--to", "5", *options, "-o", out)
        assert (status, lines) == (2, []), options
        assert sentence in err
        assert not out.exists()


def test_many_files_go_into_a_folder_and_one_refusal_stops_no_other(run, man, samples, tmp_path):
    for number in range(5):
        (tmp_path / f"walk{number}.rtm").write_bytes((man / "walk.rtm").read_bytes())
    (tmp_path / "walk3.rtm").write_bytes(b"RTM_0101")
    out = tmp_path / "new" / "folder"
    status, lines, err = run(
        "convert", tmp_path / "walk*.rtm", "--to", "5", "--skeleton", "arma3", "-o", out, "--jobs", "2"
    )
    assert status == 2
    assert lines[-1] == "5 files: 4 converted, 1 refused"
    assert "walk3.rtm" in err
    assert sorted(path.name for path in out.iterdir()) == [f"walk{number}.rtm" for number in (0, 1, 2, 4)]
    assert len({path.read_bytes() for path in out.iterdir()}) == 1
    status, _, err = run(
        "convert", man / "walk.rtm", tmp_path / "walk0.rtm", "--to", "plain", "-o", tmp_path / "walk1.rtm"
    )
    assert status == 2
    assert "this is a file, not a folder" in err
    status, _, err = run("convert", man / "walk.rtm", man / "walk.rtm", "--to", "plain", "-o", out)
    assert status == 2
    assert "several files are named walk.rtm" in err


def test_many_files_can_be_replaced(run, man, tmp_path):
    for number in range(2):
        (tmp_path / f"walk{number}.rtm").write_bytes((man / "walk.rtm").read_bytes())
    status, lines, _ = run("convert", tmp_path / "walk*.rtm", "--to", "plain", "--in-place")
    assert status == 0
    assert lines == [
        *(f"{tmp_path / f'walk{number}.rtm'}: no changes, file not written" for number in range(2)),
        "2 files: 2 converted",
    ]


# Packing ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def loose(tmp_path):
    """A folder with two files."""
    folder = tmp_path / "loose"
    folder.mkdir()
    (folder / "Ship.oof").write_bytes(b"model")
    (folder / "hull.OGF").write_bytes(b"texture")
    return folder


def content_of(path):
    document = hog2.read(path.read_bytes(), path.name, Report())
    return {name: bytes(content) for name, content in zip(document.names, document.contents, strict=True)}


def test_a_folder_becomes_an_archive_that_is_no_part_of_itself(loose, capsys):
    target = loose / "mod.hog"
    for _ in range(2):
        assert cli.main(["pack", str(loose), "-o", str(target)]) == 0
        assert content_of(target) == {"hull.OGF": b"texture", "Ship.oof": b"model"}
    assert capsys.readouterr().out.splitlines()[-1] == f"{target}: 2 files, {68 + 2 * 48 + 12} bytes"


def test_one_file_of_an_archive_is_replaced_in_place_with_a_backup(loose, capsys):
    target = loose / "mod.mn3"
    cli.main(["pack", str(loose), "-o", str(target)])
    before = target.read_bytes()
    capsys.readouterr()
    assert cli.main(["pack", str(loose), "--onto", str(target), "--in-place"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{target}: no changes, file not written"
    other = loose.parent / "ship.OOF"
    other.write_bytes(b"other model")
    assert cli.main(["pack", str(other), "--onto", str(target), "--in-place", "--backup"]) == 0
    assert content_of(target) == {"hull.OGF": b"texture", "Ship.oof": b"other model"}
    assert capsys.readouterr().out.splitlines()[0] == "replaced: ship.OOF"
    assert target.with_name("mod.mn3.bak").read_bytes() == before


def test_an_archive_that_loses_files_is_reported_and_kept(loose, capsys):
    target = loose / "mod.hog"
    cli.main(["pack", str(loose), "-o", str(target)])
    before = target.read_bytes()
    assert cli.main(["pack", str(loose / "Ship.oof"), "-o", str(target)]) == 0
    message = "has 1 file that the new one does not have (hull.OGF); it is kept with .bak added. To add files"
    assert message in capsys.readouterr().err
    assert content_of(target) == {"Ship.oof": b"model"}
    backup = target.with_name("mod.hog.bak")
    assert backup.read_bytes() == before
    # The backup has another archive, so that this one would be lost.
    own = target.read_bytes()
    (loose / "other.oof").write_bytes(b"other")
    assert cli.main(["pack", str(loose / "other.oof"), "-o", str(target)]) == 2
    assert "the old archive would be lost: it has 1 file that the new one does not have" in capsys.readouterr().err
    assert (target.read_bytes(), backup.read_bytes()) == (own, before)
    backup.write_bytes(own)
    assert cli.main(["pack", str(loose / "other.oof"), "-o", str(target)]) == 0
    assert (content_of(target), backup.read_bytes()) == ({"other.oof": b"other"}, own)


def test_empty_files_come_out_of_an_archive_and_go_in_again(loose, tmp_path):
    (loose / "empty.txt").touch()
    first, again = tmp_path / "first.hog", tmp_path / "again.hog"
    assert cli.main(["pack", str(loose), "-o", str(first)]) == 0
    assert cli.main(["extract", str(first), "-o", str(tmp_path / "out")]) == 0
    assert cli.main(["pack", str(tmp_path / "out"), "-o", str(again)]) == 0
    assert content_of(again) == {"empty.txt": b"", "hull.OGF": b"texture", "Ship.oof": b"model"}


def test_names_of_files_may_follow_the_folder(loose, tmp_path, capsys):
    archive, out = tmp_path / "mod.hog", tmp_path / "out"
    cli.main(["pack", str(loose), "-o", str(archive)])
    assert cli.main(["extract", str(archive), "-o", str(out), "ship.oof"]) == 0
    assert [path.name for path in out.iterdir()] == ["Ship.oof"]
    capsys.readouterr()
    assert cli.main(["extract", str(archive), "-o", str(archive)]) == 2
    assert "this is a file, not a folder. Name a folder with -o." in capsys.readouterr().err


def test_files_in_archives_are_packed_under_their_names(loose, samples, tmp_path, run):
    addon, target = tmp_path / "addon.pbo", tmp_path / "mod.hog"
    addon.write_bytes(written.pbo([(b"data\\Wing.ogf", b"wing"), (b"data\\fin.ogf", b"fin"), (b"x.txt", b"")]))
    assert run("pack", f"{addon}/data/wing.OGF", loose / "Ship.oof", f"{addon}/x.txt", "-o", target)[0] == 0
    before = target.read_bytes()
    for arguments in (["pack", target], ["convert", samples / "descent3/ship.oof", "--to", "2300"]):
        status, _, message = run(*arguments, "-o", target)
        assert status != 0
        assert "nothing to put into it" in message or "no other file replaces" in message
        assert target.read_bytes() == before
    assert content_of(target) == {"Ship.oof": b"model", "Wing.ogf": b"wing", "x.txt": b""}
    assert run("pack", f"{target}/*.oof", f"{addon}/data", "-o", tmp_path / "other.hog")[0] == 0
    assert content_of(tmp_path / "other.hog") == {"fin.ogf": b"fin", "Ship.oof": b"model", "Wing.ogf": b"wing"}
    status, _, err = run("pack", f"{addon}/data/none.ogf", "-o", tmp_path / "third.hog")
    assert status == 2
    assert "there is no file named 'data\\none.ogf' in it" in err
    status, _, err = run("pack", loose / "Ship.oof", "--onto", addon, "-o", tmp_path / "third.hog")
    assert status == 2
    assert "this is not an archive of Descent 3, but of another kind: archive of a game (archive)" in err


def test_a_folder_with_folders_is_not_packed_without_them(loose, tmp_path, run):
    (loose / "sub").mkdir()
    (loose / "sub" / "fin.ogf").write_bytes(b"fin")
    target = tmp_path / "mod.hog"
    status, _, err = run("pack", loose, "-o", target)
    assert status == 2
    assert "an archive has no folders, and this folder has some (sub). Name what goes into it, such as " in err
    assert not target.exists()
    assert run("pack", loose / "*", "-o", target)[0] == 0
    assert content_of(target) == {"fin.ogf": b"fin", "hull.OGF": b"texture", "Ship.oof": b"model"}


def test_a_name_that_matches_no_file_does_not_keep_the_others_back(loose, tmp_path, run):
    archive = tmp_path / "mod.hog"
    run("pack", loose, "-o", archive)
    status, out, err = run("extract", archive, "none.oof", "ship.oof", "-o", tmp_path / "out")
    assert (status, out) == (2, [str(tmp_path / "out/Ship.oof")])
    assert err == f"motionbridge: {archive}: there is no file named 'none.oof' in it. List it to see the names.\n"
    status, out, _ = run("extract", f"{archive}/HULL.ogf", "-o", tmp_path / "one")
    assert (status, out) == (0, [str(tmp_path / "one/hull.OGF")])


def test_extracting_files_of_one_name_takes_that_of_the_game(tmp_path, run):
    archive = tmp_path / "a.db0"
    archive.write_bytes(written.xray([(b"a.txt", b"first"), (b"a.txt", b"second"), (b"b.txt", b"")]))
    status, out, err = run("extract", archive, "-o", tmp_path / "out")
    assert (status, len(out)) == (0, 2)
    assert (tmp_path / "out/a.txt").read_bytes() == b"second"
    assert err == f"motionbridge: {archive}: 1 file left out: the game takes another of the same name.\n"


def test_extracting_checks_the_sum_of_a_pbo_and_names_its_prefix(tmp_path, run):
    archive = tmp_path / "a.pbo"
    data = bytearray(written.pbo([(b"a.txt", b"text")], properties=[(b"prefix", b"x\\addon")]))
    data[-25] ^= 1
    archive.write_bytes(data)
    status, out, err = run("extract", archive, "-o", tmp_path / "out")
    assert (status, len(out)) == (2, 1)
    assert "damaged: the SHA-1 after the files is not that of the archive; written as it is" in err
    status, _, err = run("extract", archive, "x/addon/a.txt", "-o", tmp_path / "out")
    assert status == 2
    assert "Leave out x\\addon\\: the names in the archive are without it." in err
    (tmp_path / "out/a.txt").unlink()
    (tmp_path / "out/a.txt").mkdir()
    status, _, err = run("extract", archive, "-o", tmp_path / "out", "--overwrite")
    assert status == 2
    assert "left out: a folder of this name is there (a.txt)" in err


def test_an_output_that_ends_like_a_folder_is_one(camera, run, tmp_path):
    out = tmp_path / "folder"
    assert run("convert", camera, "--to", "4", "-o", f"{out}/")[0] == 0
    assert [path.name for path in out.iterdir()] == [camera.name]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["pack", "{loose}", "--in-place"], "Name it with --onto"),
        (["pack", "{loose}/Ship.oof", "-o", "{loose}/out.pbo"], "only archives of Descent 3 are written. Give it one"),
        (["pack", "{loose}/Ship.oof", "--onto", "{loose}/Ship.oof", "-o", "{loose}/out.hog"], "motionbridge: "),
        (["pack", "{loose}/nothing", "-o", "{loose}/out.hog"], "there is no such file"),
        (["pack", "{loose}/empty", "-o", "{loose}/out.hog"], "there is no file in it"),
        (["pack", "{loose}/Ship.oof", "{loose}/empty/../Ship.oof", "-o", "{loose}/out.hog"], "two files are named"),
    ],
)
def test_what_cannot_be_packed_is_refused(arguments, words, loose, capsys):
    (loose / "empty").mkdir()
    assert cli.main([argument.format(loose=loose) for argument in arguments]) == 2
    assert words in capsys.readouterr().err
    assert not (loose / "out.hog").exists()
    assert not (loose / "out.pbo").exists()
