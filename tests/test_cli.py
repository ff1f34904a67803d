"""The command line as people use it: exit statuses, one sentence for each mistake, and files that survive them."""

import errno
import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from benchmarks.files import made_path

from addon import cli
from addon.cli import processes, verification
from addon.core.errors import ReadError
from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats import format_named
from addon.formats.arma import p3d
from addon.formats.descent3 import hog2
from addon.formats.verification import Status
from tests.conftest import IN_BLENDER
from tests.formats.archives import written
from tests.formats.arma.p3d.test_polygons import level

ROOT = Path(__file__).resolve().parents[1]


def chunk(number, body):
    return struct.pack("<II", number, len(body)) + body


def omf_bytes(motions=(b"walk", b"run"), frames=2):
    """An .omf of one bone standing still, every field written out."""
    still = b"\x02" + struct.pack("<4h", 0, 0, 0, 32767) + struct.pack("<3f", 1, 2, 3)
    library = chunk(0, struct.pack("<I", len(motions)))
    parameters = struct.pack("<HH", 4, 1) + b"default\0" + struct.pack("<H", 1) + b"root\0" + struct.pack("<I", 0)
    parameters += struct.pack("<H", len(motions))
    for number, name in enumerate(motions):
        library += chunk(number + 1, name + b"\0" + struct.pack("<I", frames) + still)
        parameters += name + b"\0" + struct.pack("<IHH4fI", 0, 0xFFFF, number, 1, 1, 2, 2, 0)
    return chunk(0x0E, library) + chunk(0x0F, parameters)


@pytest.fixture
def omf(tmp_path):
    path = tmp_path / "motions.omf"
    path.write_bytes(omf_bytes())
    return path


# ---- looking


def test_info_of_several_files(run, samples, omf):
    status, out, err = run("info", samples / "humanoid.omf", omf)
    assert status == 0
    assert err == ""
    assert out[0] == f"{samples / 'humanoid.omf'}: X-Ray skeletal motions (omf), 8759 bytes"
    assert f"{omf}: X-Ray skeletal motions (omf), {len(omf_bytes())} bytes" in out


def test_info_goes_on_after_a_file_it_cannot_read(run, tmp_path, omf):
    status, out, err = run("info", tmp_path / "missing.omf", omf)
    assert status == 2
    assert err == f"motionbridge: {tmp_path / 'missing.omf'}: there is no such file. Check its name and folder.\n"
    assert out[0].startswith(f"{omf}: ")


def test_info_says_what_is_odd(run, omf):
    omf.write_bytes(omf_bytes() + b"\1\2\3")
    status, out, _ = run("info", omf)
    assert status == 0
    assert [line for line in out if line.startswith("  warning: 3 extra bytes after")]


@pytest.mark.parametrize("name", ["humanoid.omf", "humanoid.ogf", "weapon_embedded.ogf"])
def test_dump_says_everything_and_the_same_each_time(run, samples, name):
    status, out, err = run("dump", samples / name)
    assert (status, err) == (0, "")
    assert len(out) > 100
    assert run("dump", samples / name)[1] == out


def test_dumps_differ_where_files_do(run, samples, tmp_path):
    data = bytearray((samples / "humanoid.omf").read_bytes())
    at = data.index(b"walk\0") + 5 + 4 + 1 + 1  # the name, the number of frames, the first track's flags, half a key
    data[at] ^= 1
    (tmp_path / "changed.omf").write_bytes(data)
    before, after = run("dump", samples / "humanoid.omf")[1], run("dump", tmp_path / "changed.omf")[1]
    assert sum(first != other for first, other in zip(before, after, strict=True)) == 1


def test_diff_of_the_same_bytes_is_silent(run, samples):
    assert run("diff", samples / "weapon.ogf", samples / "weapon.ogf") == (0, [], "")


def test_diff_names_the_motion(run, omf, tmp_path):
    other = tmp_path / "other.omf"
    other.write_bytes(omf_bytes((b"walk", b"trot")))
    status, out, err = run("diff", omf, other)
    assert (status, err) == (1, "")
    assert len(out) == 1
    assert "'run'" in out[0]
    assert "'trot'" in out[0]


def test_diff_tells_of_bytes_that_have_no_name(run, omf, tmp_path, monkeypatch):
    other = tmp_path / "other.omf"
    other.write_bytes(omf_bytes((b"walk", b"trot")))
    monkeypatch.setattr(Walk, "differences", lambda *_: iter(()))
    status, out, _ = run("diff", omf, other)
    assert status == 1
    assert "first different byte at offset" in out[0]


def test_diff_refuses_different_formats(run, samples):
    status, out, err = run("diff", samples / "humanoid.omf", samples / "humanoid.ogf")
    assert (status, out) == (2, [])
    assert "X-Ray skeletal motions (omf)" in err
    assert "Compare files of one format" in err


# ---- mistakes


def mistakes(tmp_path):
    (tmp_path / "empty.omf").touch()
    (tmp_path / "text.omf").write_text("Once upon a time there was a file that was no motion at all.\n")
    (tmp_path / "text.ogf").write_text("Once upon a time there was a file that was no model at all.\n")
    (tmp_path / "notes.txt").write_text("Once upon a time\n")
    (tmp_path / "short.omf").write_bytes(b"\x0e\0")
    (tmp_path / "folder.omf").mkdir()
    return {
        "missing.omf": "there is no such file",
        "empty.omf": "the file is empty",
        "text.omf": "truncated, or not a chunked file",
        "text.ogf": "truncated, or not a chunked file",
        "notes.txt": "not a file of a known format",
        "short.omf": "no chunk 0xe",
        "folder.omf": "this is a folder",
    }


@pytest.mark.parametrize("command", [["info"], ["dump"], ["diff", "SELF"], ["edit", "list"]])
def test_every_mistake_is_one_sentence(run, tmp_path, command):
    for name, problem in mistakes(tmp_path).items():
        path = tmp_path / name
        status, out, err = run(*[path if word == "SELF" else word for word in command], path)
        assert (status, out) == (2, [])
        assert err.startswith("motionbridge: ")
        assert err.count("\n") == 1
        assert str(path) in err
        assert problem in err


@pytest.mark.skipif(
    os.name == "nt" or (hasattr(os, "geteuid") and os.geteuid() == 0), reason="root may read everything"
)
def test_a_file_that_may_not_be_read(run, omf):
    omf.chmod(0)
    status, _, err = run("info", omf)
    assert status == 2
    assert "denies permission to read it" in err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["frobnicate"],
        ["info"],
        ["verify", "--jobs", "0", "x"],
        ["verify", "--jobs", "many", "x"],
        ["edit"],
        ["edit", "rename", "a.omf", "walk", "run"],
        ["edit", "rename", "a.omf", "walk", "run", "-o", "b.omf", "--in-place"],
        ["edit", "set", "a.omf", "walk", "--speed", "fast", "-o", "b.omf"],
        ["edit", "set", "a.omf", "walk", "--flag", "sideways", "-o", "b.omf"],
    ],
)
def test_wrong_arguments_are_one_sentence(run, arguments):
    status, out, err = run(*arguments)
    assert (status, out) == (2, [])
    assert err.startswith("motionbridge: ")
    assert err.count("\n") == 1
    assert "--help" in err


def test_help_is_no_error(run):
    for arguments in (["--help"], ["verify", "--help"], ["edit", "set", "--help"]):
        status, out, err = run(*arguments)
        assert (status, err) == (0, "")
        assert out[0].startswith("usage: motionbridge")


@pytest.mark.parametrize("command", ["info", "dump", "verify", "diff", "edit", "convert", "extract", "pack"])
def test_the_help_of_every_command_says_what_it_does(run, command):
    _, out, _ = run(command, "--help")
    described = out[out.index("") + 1]
    assert described[0].isupper()
    assert not described.startswith("Exit status")


def test_names_a_terminal_lacks_are_escaped(tmp_path, monkeypatch):
    import io

    path = tmp_path / "m.omf"
    path.write_bytes(omf_bytes(("ходьба".encode("cp1251"),)))
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "ascii"))
    assert cli.main(["edit", "list", str(path)]) == 0
    assert rb"\u0445\u043e\u0434" in written.getvalue()


RENAMED = ("edit", "rename", "--in-place")
LOOKING = [("info",), ("dump",), ("verify", "-v"), ("edit", "list"), RENAMED, ("diff",), ("convert",)]


@pytest.mark.parametrize("command", LOOKING, ids=" ".join)
@pytest.mark.parametrize("name", [b"wa\nlk", b"\r\x1b[2Jwalk", b"\x0b\x7fwalk"], ids=["break", "escape", "others"])
def test_names_break_no_line_and_send_the_terminal_nothing(tmp_path, capsys, command, name):
    """Names of protected motions are random bytes; one of them may say anything to a terminal."""
    path, other = tmp_path / ("m\no.omf" if os.name == "posix" else "m.omf"), tmp_path / "other.omf"
    path.write_bytes(omf_bytes((name, name, b"run")))
    other.write_bytes(omf_bytes((name, b"run")))
    more = {RENAMED: ("run", "jump"), ("diff",): (other,), ("convert",): (tmp_path / "m.xyz",)}
    cli.main([*command, *map(str, (path, *more.get(command, ())))])
    written = capsys.readouterr()
    lines = (written.out + written.err).removesuffix("\n").split("\n")
    assert [line for line in lines if not line.isprintable()] == []
    assert not [line for line in lines if line.startswith(("lk", "o.omf", "[2J"))]


# ---- verify


def tree(tmp_path, samples):
    """One file of each kind of verdict that real files can have."""
    folder = tmp_path / "tree"
    (folder / "below").mkdir(parents=True)
    (folder / "good.omf").write_bytes((samples / "humanoid.omf").read_bytes())
    (folder / "below" / "good.ogf").write_bytes((samples / "weapon.ogf").read_bytes())
    (folder / "below" / "warned.omf").write_bytes(omf_bytes() + b"\0\1\2")
    (folder / "broken.omf").write_bytes(b"text, not chunks; long enough to hold a header")
    (folder / "empty.ogf").touch()
    (folder / "readme.txt").write_text("hello")
    return folder


EXPECTED = {
    "good.omf": ("omf", "identical"),
    "below/good.ogf": ("ogf", "identical"),
    "below/warned.omf": ("omf", "identical"),
    "broken.omf": ("omf", "refused"),
    "empty.ogf": ("ogf", "refused"),
    "readme.txt": (None, "unknown"),
}


@pytest.mark.parametrize(
    "jobs",
    [1, pytest.param(2, marks=pytest.mark.skipif(IN_BLENDER, reason="other processes would need a Blender each"))],
)
def test_verify_judges_every_file_of_a_tree_as_json(run, tmp_path, samples, jobs):
    folder = tree(tmp_path, samples)
    status, out, err = run("verify", "--json", "--jobs", jobs, folder)
    assert (status, err) == (2, "")
    objects = [json.loads(line) for line in out]
    assert all(list(each) == ["file", "format", "status", "raw_bytes", "detail", "findings"] for each in objects)
    result = {Path(each["file"]).relative_to(folder).as_posix(): each for each in objects}
    assert {name: (each["format"], each["status"]) for name, each in result.items()} == EXPECTED
    assert result["good.omf"]["raw_bytes"] == 0.0
    assert result["below/warned.omf"]["raw_bytes"] == pytest.approx(3 / (len(omf_bytes()) + 3))
    assert "3 extra bytes after" in result["below/warned.omf"]["detail"]
    assert result["broken.omf"]["raw_bytes"] is None
    assert "truncated, or not a chunked file" in result["broken.omf"]["detail"]
    assert "empty" in result["empty.ogf"]["detail"]
    assert result["good.omf"]["detail"] == result["readme.txt"]["detail"] == ""


def test_verify_lists_what_is_not_identical_and_sums_up(run, tmp_path, samples):
    folder = tree(tmp_path, samples)
    status, out, _ = run("verify", "--jobs", "1", folder)
    assert status == 2
    assert len(out) == 4
    assert out[0].startswith(f"refused   {folder / 'broken.omf'}, offset 0: ")
    assert out[1].startswith(f"refused   {folder / 'empty.ogf'}: the file is empty")
    assert out[2] == f"unknown   {folder / 'readme.txt'}"
    assert out[3] == "6 files: 3 identical (1 with warnings), 2 refused, 1 unknown"
    verbose = run("verify", "--jobs", "1", "-v", folder)[1]
    assert [line for line in verbose if line.startswith(f"warning   {folder / 'below' / 'warned.omf'}: 3 extra bytes")]
    assert len(verbose) == 5
    for name in ("broken.omf", "empty.ogf"):
        (folder / name).unlink()
    assert run("verify", "--jobs", "1", folder)[0] == 0  # a text is of no known format


def test_what_the_game_refuses_is_listed_though_identical(run, omf):
    data = bytearray(omf_bytes())
    index = data.index(struct.pack("<II", 0, 4)) + 8
    data[index] += 7
    omf.write_bytes(data)
    for options in ([], ["--deep"]):
        status, out, _ = run("verify", "--jobs", "1", *options, omf)
        assert status == 0
        assert out[0].startswith(f"problem   {omf}: ")
        assert "motions are declared" in out[0]
        assert out[1] == "1 file: 1 identical (1 with warnings)"
    assert any("  problem: " in line and "motions are declared" in line for line in run("info", omf)[1])
    assert "motions are declared" in json.loads(run("verify", "--json", omf)[1][0])["detail"]


def test_verify_of_a_model_lists_the_worst_first_and_each_on_a_line_if_verbose(run, tmp_path):
    lods = [level([[0, 1, 2], [0, 2, 3]], resolution=kind) for kind in (1, 3e15)]
    for lod in lods:
        lod.texts = [(b"p:\\a.paa", b"")]
    path = tmp_path / "model.p3d"
    path.write_bytes(p3d.write(p3d.P3d(0x101, lods)))
    drive = "LODs 0, 1 (Resolution 1, Roadway): paths with a drive: p:\\a.paa [Paths]"
    down = "LOD 1 (Roadway): 2 of 2 faces do not face up, so that people fall through [Roadway Direction]"
    assert run("verify", path)[1] == [f"error     {path}: {drive}; {down}", "1 file: 1 identical (1 with warnings)"]
    assert run("verify", "-v", path)[1] == [
        f"error     {path}",
        f"  error    {drive}. Begin with the addon's folder",
        f"  warning  {down}. Flip them (Alt N)",
        "1 file: 1 identical (1 with warnings)",
    ]
    assert [row["kind"] for row in json.loads(run("verify", "--json", path)[1][0])["findings"]] == ["error", "warning"]


def test_verify_goes_through_the_files_of_every_kind_of_archive(run, tmp_path, samples):
    model = (samples / "descent3/ship.oof").read_bytes()
    (tmp_path / "a.hog").write_bytes(hog2.write(hog2.new_hog2({"ship.oof": model, "damaged.oof": b"none"})))
    (tmp_path / "b.db0").write_bytes(written.xray([(b"x\\a.omf", b""), (b"x\\a.omf", omf_bytes())]))
    status, out, _ = run("verify", "--json", tmp_path)
    statuses = {Path(row["file"]).relative_to(tmp_path).as_posix(): row["status"] for row in map(json.loads, out)}
    assert (status, statuses) == (
        2,
        {
            "a.hog": "identical",
            "a.hog/damaged.oof": "refused",
            "a.hog/ship.oof": "identical",
            "b.db0": "listed",
            "b.db0/x\\a.omf": "identical",
        },
    )


def test_verify_says_where_a_format_loses_bytes(run, omf, monkeypatch):
    data = omf_bytes()
    monkeypatch.setattr(format_named("omf").module, "recompose", lambda _: data[:50] + b"\xee" + data[51:])
    status, out, _ = run("verify", "--jobs", "1", omf)
    assert status == 1
    assert out[0].startswith(f"differs   {omf}: ")
    assert "first different byte at offset 50 (0xee instead of" in out[0]
    assert out[1] == "1 file: 1 differs"


def test_a_crash_on_one_file_stops_no_other(run, tmp_path, samples, monkeypatch):
    folder = tree(tmp_path, samples)
    monkeypatch.setattr(format_named("omf").module, "read", lambda *_: {}["no such key"])
    status, out, _ = run("verify", "--json", "--jobs", "1", folder)
    assert status == 1
    objects = [json.loads(line) for line in out]
    crashed = [each for each in objects if each["status"] == "crashed"]
    assert len(crashed) == 3
    assert crashed[0]["format"] == "omf"
    assert crashed[0]["detail"].startswith("KeyError: 'no such key' (test_cli.py:")
    assert [each["status"] for each in objects if each["file"].endswith("good.ogf")] == ["identical"]


@pytest.mark.skipif(IN_BLENDER, reason="Blender's own process would be asked to start others")
@pytest.mark.deep
def test_a_process_that_dies_costs_its_file_only(tmp_path, samples):
    """Run by a script of its own, in which reading one file ends the process as a crash in C would."""
    folder = tree(tmp_path, samples)
    script = tmp_path / "deadly.py"
    script.write_text(
        "import os, sys\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "from addon import cli\n"
        "from addon.formats import format_named\n"
        "module = format_named('ogf').module\n"
        "def die(*_): os._exit(9)\n"
        "module.read = die\n"
        "if __name__ == '__main__':\n"
        "    sys.exit(cli.main(['verify', '--json', '--jobs', '2', sys.argv[1]]))\n"
    )
    done = subprocess.run([sys.executable, script, folder], capture_output=True, text=True, timeout=120, check=False)
    objects = [json.loads(line) for line in done.stdout.splitlines()]
    verdicts = {Path(each["file"]).relative_to(folder).as_posix(): each["status"] for each in objects}
    assert verdicts == {name: status for name, (_, status) in EXPECTED.items()} | {"below/good.ogf": "crashed"}
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_verify_refuses_what_is_not_there(run, tmp_path, omf):
    status, out, err = run("verify", omf, tmp_path / "missing")
    assert (status, out) == (2, [])
    assert err == f"motionbridge: {tmp_path / 'missing'}: there is no such file or folder. Check its name.\n"
    (tmp_path / "hollow").mkdir()
    status, _, err = run("verify", tmp_path / "hollow")
    assert status == 2
    assert "there are no files" in err


def test_patterns_the_shell_left_alone_are_resolved(run, tmp_path):
    for name in ("a.omf", "b.omf", "c.txt"):
        (tmp_path / name).write_bytes(omf_bytes())
    assert run("verify", tmp_path / "*.omf")[1] == ["2 files: 2 identical"]
    assert run("verify", tmp_path / "*.ogf")[0] == 2


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need rights there")
def test_links_in_a_tree_end_no_walk(run, tmp_path, omf):
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "dangling.omf").symlink_to(tmp_path / "nowhere")
    status, out, _ = run("verify", tmp_path)
    assert status == 2
    assert out[0].startswith(f"refused   {tmp_path / 'dangling.omf'}: there is no such file")
    assert out[1] == "2 files: 1 identical, 1 refused"


@pytest.mark.skipif(os.name == "nt", reason="file names of POSIX are bytes")
def test_a_file_name_that_is_not_a_text_is_still_judged(run, tmp_path):
    name = os.fsdecode(b"\xff\xfe.omf")
    (tmp_path / name).write_bytes(omf_bytes())
    status, out, _ = run("verify", "--json", tmp_path)
    assert status == 0
    assert json.loads(out[0])["file"].endswith(name)
    assert run("info", tmp_path / name)[0] == 0


def test_judging_never_raises_for_a_file(tmp_path):
    assert verification.judge(str(tmp_path)).status is Status.REFUSED
    assert verification.judge(str(tmp_path / "missing.omf")).format == "omf"


# ---- as a program


def start(*arguments, **options):
    return subprocess.Popen([sys.executable, "-m", "addon.cli", *map(str, arguments)], cwd=ROOT, text=True, **options)


pure = pytest.mark.skipif(IN_BLENDER, reason="a program of its own needs no Blender around it")


@pure
def test_it_runs_without_blender_from_any_start(samples):
    """In a fresh process whose imports are told: no bpy, no mathutils."""
    code = (
        "import sys; from addon.cli import main; status = main(['info', sys.argv[1]]); "
        "assert not {'bpy', 'mathutils'} & set(sys.modules); sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, samples / "weapon.omf"], cwd=ROOT, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    with start("info", samples / "weapon.omf", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert out.splitlines()[0].endswith("1099 bytes")


@pure
@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_a_reader_who_leaves_early_is_no_trouble(tmp_path):
    path = tmp_path / "long.anm"
    path.write_bytes(made_path(1000))  # listed it is longer than the 64 KB that a pipe holds
    with start("dump", path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


@pure
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_one_sentence(samples):
    with open("/dev/full", "w") as full, start("dump", samples / "weapon.omf", stdout=full, stderr=-1) as process:  # noqa: PTH123
        assert process.stderr.read() == "motionbridge: cannot write the output: No space left on device.\n"
    assert process.returncode == 2


@pure
@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX")
def test_no_output_at_all_is_no_trouble(samples):
    command = 'exec "$0" -m addon.cli info "$1" >&-'
    arguments = ["sh", "-c", command, sys.executable, samples / "weapon.omf"]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pure
def test_work_that_has_not_begun_when_the_block_is_left_is_not_done():
    with processes.pool(1) as pool:
        pending = [pool.submit(time.sleep, 0.05) for _ in range(30)]
        pending[0].result()
    assert sum(entry.cancelled() for entry in pending) > 20


@pure
@pytest.mark.parametrize("module", ["numpy", "addon.cli.conversion", "addon.formats.xray.omf"])
def test_an_interrupt_while_the_commands_are_loaded_is_no_traceback(module):
    code = f"""
import runpy, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r} and "addon.cli" in sys.modules:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
sys.argv = ["motionbridge", "--help"]
runpy.run_module("addon.cli", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (130, b"", b"")


@pure
@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals of POSIX")
def test_workers_never_hear_an_interrupt_not_even_while_they_start():
    with processes.pool(2) as pool:
        assert signal.SIGINT in pool.submit(signal.pthread_sigmask, signal.SIG_BLOCK, []).result()
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_a_folder_that_may_not_be_looked_into_is_one_sentence(run, samples, tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_dir", refuse)
    status, _, err = run("convert", samples / "camera.anm", "--to", "4", "-o", tmp_path / "out.anm")
    message = (
        f"motionbridge: {tmp_path / 'out.anm'}: the system refuses access: Permission denied. Check its permissions"
    )
    assert (status, err.startswith(message)) == (2, True)


def test_verify_says_which_folder_it_cannot_read(run, omf, monkeypatch):
    closed, scandir = omf.parent / "closed", os.scandir
    closed.mkdir()

    def refuse(path):
        if str(path) == str(closed):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    status, out, err = run("verify", omf.parent)
    assert (status, out) == (0, ["1 file: 1 identical"])
    assert err == f"motionbridge: {closed}: the files in this folder are left out: Permission denied.\n"


def test_a_refused_edit_says_nothing_of_changes(run, omf):
    status, out, err = run("edit", "rename", omf, "walk", "stroll", "-o", omf.parent / "missing" / "out.omf")
    assert (status, out) == (2, [])
    assert "its folder does not exist" in err


# ---- edit


def names_of(path):
    document = format_named("omf").module.read(Path(path).read_bytes(), str(path), Report())
    return [definition.label for definition in document.motion_set.parameters.definitions]


def test_listing_motions(run, samples):
    status, out, _ = run("edit", "list", samples / "humanoid.omf")
    assert status == 0
    assert [line.split()[1] for line in out] == ["walk", "idle", "wave", "jump", "nod"]


def test_a_renamed_motion_is_all_that_differs(run, omf, tmp_path):
    out_file = tmp_path / "out.omf"
    status, out, _ = run("edit", "rename", omf, "run", "trot", "-o", out_file)
    assert status == 0
    assert out[-1] == f"{out_file}: 2 motions, {len(omf_bytes()) + 2} bytes"
    assert out_file.read_bytes() == omf_bytes((b"walk", b"trot"))
    assert omf.read_bytes() == omf_bytes()
    status, out, _ = run("diff", omf, out_file)
    assert status == 1
    assert len(out) == 1


def test_editing_in_place_replaces_the_file_and_keeps_a_backup_when_asked(run, omf):
    assert run("edit", "rename", omf, "walk", "march", "--in-place", "--backup")[0] == 0
    assert omf.read_bytes() == omf_bytes((b"march", b"run"))
    assert Path(f"{omf}.bak").read_bytes() == omf_bytes()
    assert sorted(path.name for path in omf.parent.iterdir()) == ["motions.omf", "motions.omf.bak"]


def test_a_failing_write_leaves_the_old_file(run, omf, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    status, _, err = run("edit", "rename", omf, "walk", "march", "--in-place")
    assert status == 2
    assert (
        err
        == f"motionbridge: {omf}: cannot write it: No space left on device. Make room there, or choose another drive.\n"
    )
    assert omf.read_bytes() == omf_bytes()
    assert [path.name for path in omf.parent.iterdir()] == ["motions.omf"]


def test_what_we_could_not_read_replaces_nobodys_file(run, omf, monkeypatch):
    module = format_named("omf").module
    read = module.read
    calls = []

    def read_once(*arguments):
        calls.append(arguments)
        if len(calls) > 1:
            raise ReadError("that cannot be read")
        return read(*arguments)

    monkeypatch.setattr(module, "read", read_once)
    assert run("edit", "rename", omf, "walk", "march", "--in-place")[0] == 2
    assert omf.read_bytes() == omf_bytes()


def test_deleting(run, omf, tmp_path):
    status, out, _ = run("edit", "delete", omf, "walk", "-o", tmp_path / "out.omf")
    assert (status, out[0]) == (0, "motion 'walk' was removed")
    assert (tmp_path / "out.omf").read_bytes() == omf_bytes((b"run",))


def test_names_are_compared_as_the_game_does_and_patterns_match_many(run, samples, tmp_path):
    out_file = tmp_path / "out.omf"
    assert run("edit", "delete", samples / "humanoid.omf", "WALK", "?o?", "-o", out_file)[0] == 0
    assert names_of(out_file) == ["idle", "wave", "jump"]
    assert run("edit", "delete", samples / "humanoid.omf", "*", "-o", out_file)[0] == 0
    assert names_of(out_file) == []


def test_reordering(run, samples, tmp_path):
    out_file = tmp_path / "out.omf"
    assert run("edit", "reorder", samples / "humanoid.omf", "jump", "w*", "-o", out_file)[0] == 0
    assert names_of(out_file) == ["jump", "walk", "wave", "idle", "nod"]


def test_splitting_and_merging_gives_the_old_file(run, samples, tmp_path):
    whole, entry, rest, again = samples / "humanoid.omf", tmp_path / "1.omf", tmp_path / "2.omf", tmp_path / "3.omf"
    assert run("edit", "split", whole, "walk", "idle", "-o", entry, "--rest", rest)[0] == 0
    assert names_of(entry) == ["walk", "idle"]
    assert names_of(rest) == ["wave", "jump", "nod"]
    assert run("edit", "merge", entry, rest, "-o", again)[0] == 0
    assert again.read_bytes() == whole.read_bytes()


def test_splitting_in_place_takes_the_motions_out(run, omf, tmp_path):
    assert run("edit", "split", omf, "run", "-o", tmp_path / "run.omf", "--in-place")[0] == 0
    assert (omf.read_bytes(), (tmp_path / "run.omf").read_bytes()) == (omf_bytes((b"walk",)), omf_bytes((b"run",)))
    assert run("edit", "split", omf, "walk", "-o", omf, "--in-place")[0] == 2
    assert names_of(omf) == ["walk"]


def test_merging_the_same_name_needs_a_word(run, omf, tmp_path):
    other = tmp_path / "other.omf"
    other.write_bytes(omf_bytes((b"run", b"hop"), frames=9))
    status, _, err = run("edit", "merge", omf, other, "-o", tmp_path / "out.omf")
    assert status == 2
    assert "'run'" in err
    assert not (tmp_path / "out.omf").exists()
    status, out, _ = run("edit", "merge", omf, other, "--replace", "-o", tmp_path / "out.omf")
    assert status == 0
    assert "motion 'hop' was added" in out
    assert names_of(tmp_path / "out.omf") == ["walk", "run", "hop"]
    assert (tmp_path / "out.omf").read_bytes().count(b"\0\x09\0\0\0") == 2


def definition_of(path, name):
    """flags, bone or part, motion, and the four floats of a motion of `omf_bytes`, read with nothing of ours."""
    data = path.read_bytes()
    at = data.index(name + b"\0", data.index(b"default\0")) + len(name) + 1
    return struct.unpack_from("<IHH4f", data, at)


def test_setting_parameters(run, omf):
    arguments = ["--speed", "1.5", "--falloff", "0.25", "--flag", "stop-at-end", "--flag", "idle", "--in-place"]
    status, out, _ = run("edit", "set", omf, "run", *arguments)
    assert status == 0
    assert out
    assert definition_of(omf, b"run") == (0x42, 0xFFFF, 1, 1.5, 1.0, 2.0, 0.25)
    assert definition_of(omf, b"walk") == (0, 0xFFFF, 0, 1.0, 1.0, 2.0, 2.0)
    assert len(omf.read_bytes()) == len(omf_bytes())
    assert run("edit", "set", omf, "run", "--no-flag", "idle", "--part", "Default", "--in-place")[0] == 0
    assert definition_of(omf, b"run")[:2] == (0x02, 0)
    assert run("edit", "set", omf, "*", "--flag", "fx", "--bone", "0", "--in-place")[0] == 0
    assert definition_of(omf, b"run")[:2] == (0x03, 0)
    assert definition_of(omf, b"walk")[:2] == (0x01, 0)
    assert run("edit", "set", omf, "run", "--part", "all", "--in-place")[0] == 0
    assert definition_of(omf, b"run")[1] == 0xFFFF


def test_setting_what_is_set_already_leaves_the_file_alone(run, omf):
    before = omf.stat().st_mtime_ns
    status, out, _ = run("edit", "set", omf, "run", "--speed", "1", "--in-place", "--backup")
    assert status == 0
    assert out == [f"{omf}: no changes, file not written"]
    assert omf.stat().st_mtime_ns == before
    assert not Path(f"{omf}.bak").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["rename", "jog", "trot"], "no motion named 'jog'"),
        (["rename", "run", "walk"], "'walk' already exists"),
        (["rename", "run", "走る"], "1251"),
        (["rename", "run", ""], "without a name"),
        (["rename", "run", "x" * 200], "longer than"),
        (["delete", "jog"], "no motion named 'jog'"),
        (["delete", "j*"], "no motion matches 'j*'"),
        (["reorder", "jog"], "no motion named 'jog'"),
        (["set", "run"], "no parameter is given"),
        (["set", "run", "--speed", "101"], "outside what the file can store"),
        (["set", "run", "--speed", "nan"], "outside what the file can store"),
        (["set", "run", "--part", "legs"], "no bone part named 'legs'"),
        (["set", "run", "--bone", "1"], "there is no bone 1. The bone parts have 1 bone, from 0"),
        (["set", "run", "--bone", "-1"], "there is no bone -1"),
        (["set", "run", "--flag", "fx", "--no-flag", "fx"], "to be set and cleared"),
    ],
)
def test_what_cannot_be_done_is_refused_and_the_file_stays(run, omf, arguments, problem):
    action, *others = arguments
    status, _, err = run("edit", action, omf, *others, "--in-place")
    assert status == 2
    assert err.startswith("motionbridge: ")
    assert err.count("\n") == 1
    assert problem in err
    assert omf.read_bytes() == omf_bytes()
    assert [path.name for path in omf.parent.iterdir()] == ["motions.omf"]


def test_the_edited_file_is_named_twice_only_by_in_place(run, omf):
    status, _, err = run("edit", "rename", omf, "run", "trot", "-o", omf.parent / "." / omf.name)
    assert status == 2
    assert "--in-place" in err
    assert omf.read_bytes() == omf_bytes()


def test_nothing_is_split_off_if_the_rest_is_refused(run, omf):
    apart = omf.parent / "apart.omf"
    status, _, err = run("edit", "split", omf, "run", "-o", apart, "--rest", omf)
    assert (status, apart.exists()) == (2, False)
    assert "this is the file that is edited. Use --in-place to replace it." in err


def test_models_are_not_edited_here(run, samples):
    status, _, err = run("edit", "list", samples / "weapon_embedded.ogf")
    assert status == 2
    assert "Choose an .omf file" in err


def test_a_real_file_loses_nothing_but_a_name(run, corpus, tmp_path):
    """human_smart_cover.omf: 231 motions, 3.4 MB."""
    source, renamed = corpus / "omf/human_smart_cover.omf", tmp_path / "renamed.omf"
    old = names_of(source)[100]
    assert run("edit", "rename", source, old, "renamed_by_a_test", "-o", renamed)[0] == 0
    status, out, _ = run("diff", source, renamed)
    assert status == 1
    assert len(out) == 1
    assert old in out[0]
    assert run("edit", "rename", renamed, "renamed_by_a_test", old, "--in-place")[0] == 0
    assert renamed.read_bytes() == source.read_bytes()


@pytest.mark.skipif(IN_BLENDER, reason="real files are verified once, outside of Blender")
def test_every_real_file_is_identical_or_refused(run, corpus):
    status, out, _ = run("verify", "--json", corpus / "omf", corpus / "ogf")
    objects = [json.loads(line) for line in out]
    assert status == (2 if any(each["status"] == "refused" for each in objects) else 0)
    assert len(objects) == len(list((corpus / "omf").iterdir())) + len(list((corpus / "ogf").iterdir()))
    for each in objects:
        odd = Path(each["file"]).name.startswith("odd_")
        assert each["status"] == "identical" or (odd and each["status"] == "refused"), each
        assert odd or each["raw_bytes"] < 0.02, each


@pytest.mark.parametrize("arguments", [["info", "x"], ["--help"], []])
def test_a_python_without_numpy_is_reported_in_one_sentence(arguments):
    # -S: without the packages that were installed.
    command = [sys.executable, "-S", "-m", "addon.cli", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("motionbridge: this Python has no numpy. Install it: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_to_itself_is_refused(samples, tmp_path, capfd):
    loop = tmp_path / "loop.oof"
    loop.symlink_to(loop)
    ship = str(samples / "descent3" / "ship.oof")
    assert cli.main(["convert", ship, "--to", "2300", "-o", str(loop)]) == 2
    assert cli.main(["convert", str(loop), "--to", "2300", "--in-place"]) == 2
    message = capfd.readouterr().err
    assert "leads back to itself" in message
    assert "Traceback" not in message
    assert loop.is_symlink()


@pytest.mark.skipif(os.name == "nt", reason="hard links of POSIX")
def test_other_names_of_a_replaced_file_are_reported(samples, tmp_path, capfd):
    path = tmp_path / "walk.omf"
    path.write_bytes((samples / "humanoid.omf").read_bytes())
    os.link(path, tmp_path / "staging.omf")
    assert cli.main(["edit", "delete", str(path), "walk", "--in-place"]) == 0
    assert "1 other hard link to the file keeps the old content" in capfd.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="hard links of POSIX")
def test_other_names_of_a_replaced_picture_are_reported(samples, tmp_path, capfd):
    texture = str(samples / "arma" / "bricks_co.paa")
    path = tmp_path / "skin.png"
    path.write_bytes(b"an old picture")
    os.link(path, tmp_path / "staging.png")
    assert cli.main(["convert", texture, "--to", "png", "-o", str(path)]) == 0
    assert "1 other hard link to the file keeps the old content" in capfd.readouterr().err
