"""Environments are found or made whole, and what cannot be had is said in one sentence."""

import contextlib
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from environment import ROOT, Unavailable, blenders, chroot, folder, machine, settings, virtual, window


def program(path, text):
    """A small shell script that can be started."""
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture(autouse=True)
def _no_memory():
    machine._works.cache_clear()


def test_folder_is_in_the_checkout_unless_it_is_shared(monkeypatch, tmp_path):
    monkeypatch.delenv("MOTIONBRIDGE_ENVIRONMENTS", raising=False)
    assert folder() == ROOT / ".venv"
    monkeypatch.setenv("MOTIONBRIDGE_ENVIRONMENTS", str(tmp_path))
    assert folder() == tmp_path


def test_every_gated_blender_has_a_wheel_and_stubs():
    tables = settings()["tool"]["motionbridge"]
    assert set(tables["stubs"]) == {"4.2", "4.5", "5.0", "5.2", "5.3"}
    assert set(tables["stubs"]) == set(tables["wheels"])
    assert all(version in tables["wheels"] for version in blenders.WHEEL_FOR_PYTHON.values())
    assert all(tables["wheels"][wheel]["python"] == python for python, wheel in blenders.WHEEL_FOR_PYTHON.items())


def test_the_newest_wheel_is_what_pip_offers_for_the_newest_python(monkeypatch):
    asked = []
    monkeypatch.setattr(virtual, "dev", lambda: Path("python"))
    monkeypatch.setattr(virtual, "_run", lambda command, _: asked.append(command) or "bpy (9.1.0)\nAvailable: 9.1.0")
    virtual.newest.cache_clear()
    assert blenders.is_wheel("newest")
    name, requirements, python = blenders._environment("newest")
    virtual.newest.cache_clear()
    assert (name, requirements[0], python) == ("blender-newest", "bpy==9.1.0", "3.13")
    assert "3.13" in asked[0]


def test_a_pip_that_names_no_version_is_reported(monkeypatch):
    monkeypatch.setattr(virtual, "dev", lambda: Path("python"))
    monkeypatch.setattr(virtual, "_run", lambda *_: "")
    virtual.newest.cache_clear()
    with pytest.raises(Unavailable, match=r"no version of bpy for Python 3.13: update pip"):
        blenders._environment("newest")


def test_pythons_are_tried_before_they_are_believed(monkeypatch, tmp_path):
    """A pyenv shim is on PATH and does not run; the right one stands behind it."""
    shims, real = tmp_path / "shims", tmp_path / "bin"
    shims.mkdir()
    real.mkdir()
    program(shims / "python3.99", "echo 'pyenv: python3.99: command not found' >&2; exit 127")
    program(real / "python3.99", "echo 3.99")
    monkeypatch.setenv("PATH", os.pathsep.join([str(shims), str(real)]))
    assert machine.python("3.99") == real / "python3.99"


def test_pythons_of_pyenv_are_found_without_their_shims(monkeypatch, tmp_path):
    binaries = tmp_path / "versions" / "3.99.1" / "bin"
    binaries.mkdir(parents=True)
    program(binaries / "python3.99", "echo 3.99")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert machine.python("3.99") == binaries / "python3.99"


def test_python_that_is_not_here_is_named():
    with pytest.raises(Unavailable, match=r"Python 3\.98 is needed.*install it"):
        machine.python("3.98")


def test_missing_libraries_are_named_where_they_cannot_be_installed(monkeypatch):
    monkeypatch.setattr(machine, "SYSTEM_LIBRARIES", {"libnothing.so.9": "libnothing9", "libc.so.6": "libc6"})
    monkeypatch.setattr(machine, "can_install", lambda: False)
    with pytest.raises(Unavailable, match="apt-get install libnothing9`"):
        machine.require_system_libraries()


def test_missing_libraries_are_installed_where_that_is_possible(monkeypatch):
    installed = []
    monkeypatch.setattr(machine, "SYSTEM_LIBRARIES", {"libnothing.so.9": "libnothing9", "libc.so.6": "libc6"})
    monkeypatch.setattr(machine, "can_install", lambda: True)
    monkeypatch.setattr(machine, "install", installed.extend)
    machine.require_system_libraries()
    assert installed == ["libnothing9"]


def test_what_is_half_made_is_made_again(tmp_path):
    own_folder = tmp_path / "tool"
    with contextlib.suppress(KeyboardInterrupt), virtual.building(own_folder, {"pin": 1}) as needed:
        assert needed
        own_folder.mkdir()
        (own_folder / "half").touch()
        raise KeyboardInterrupt
    assert (own_folder / "half").exists()
    with virtual.building(own_folder, {"pin": 1}) as needed:
        assert needed
        assert not own_folder.exists()
        own_folder.mkdir()
    with virtual.building(own_folder, {"pin": 1}) as needed:
        assert not needed
    with virtual.building(own_folder, {"pin": 2}) as needed:
        assert needed
        own_folder.mkdir()
    assert json.loads((own_folder / "complete.json").read_text(encoding="utf-8")) == {"pin": 2}


def test_two_runs_do_not_make_the_same_thing_at_once(tmp_path):
    own_folder = tmp_path / "tool"
    code = (
        "import sys; from pathlib import Path; from environment import virtual\n"
        f"with virtual.building(Path({str(own_folder)!r}), {{}}) as needed: print(needed)"
    )
    with virtual.building(own_folder, {}) as needed:
        assert needed
        other = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT / "scripts", stdout=subprocess.PIPE, text=True)
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(1)
        own_folder.mkdir()
    message, _ = other.communicate(timeout=20)
    assert message == "False\n"


def test_nothing_is_removed_below_which_something_is_mounted(monkeypatch, tmp_path):
    assert all(point.is_absolute() for point in virtual._mount_points())
    own_folder = tmp_path / "chroot"
    own_folder.mkdir()
    monkeypatch.setattr(virtual, "_mount_points", lambda: [own_folder / "proc"])
    with pytest.raises(Unavailable, match="unmount it first"):
        virtual.remove(own_folder)
    assert own_folder.exists()
    monkeypatch.setattr(virtual, "_mount_points", lambda: [tmp_path / "other"])
    virtual.remove(own_folder)
    assert not own_folder.exists()


@pytest.mark.deep
def test_requirements_that_cannot_be_had_are_reported_and_leave_nothing_that_counts(monkeypatch, tmp_path):
    monkeypatch.setenv("MOTIONBRIDGE_ENVIRONMENTS", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(Unavailable, match=r"pip could not install no-such-thing==1 .*check the network"):
        virtual.environment("broken", ["no-such-thing==1"])
    assert not (tmp_path / "broken" / "complete.json").exists()


def test_time_limit_ends_a_program_and_its_children(tmp_path):
    """All is read until the last one that could speak is gone: a child that was forgotten would leave its witness."""
    witness = tmp_path / "witness"
    status, message = blenders.run(["sh", "-c", f"echo begun; (sleep 3; touch {witness}) & wait"], limit=1)
    assert status is None
    assert message.startswith("begun\n")
    assert "stopped after 1 seconds" in message
    assert not witness.exists()


def test_old_blender_is_refused(tmp_path):
    old = program(tmp_path / "blender", "echo 'Blender 3.4.1'")
    with pytest.raises(Unavailable, match=r"is Blender 3\.4\.1: install 4\.2 or newer"):
        blenders.find(str(old))


def test_what_is_no_blender_is_refused(tmp_path):
    other = program(tmp_path / "blender", "echo 'a kitchen appliance'")
    with pytest.raises(Unavailable, match="is not a Blender"):
        blenders.find(str(other))
    with pytest.raises(Unavailable, match="is not a program"):
        blenders.find(str(tmp_path / "nothing"))


def test_blender_named_by_the_environment_comes_first(monkeypatch, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    for own_folder, version in ((first, "4.4.3"), (second, "4.3.2")):
        own_folder.mkdir()
        program(own_folder / "blender", f"echo 'Blender {version}'")
    monkeypatch.setenv("PATH", os.pathsep.join([str(second), os.environ["PATH"]]))
    monkeypatch.setenv("BLENDER", str(first / "blender"))
    assert blenders.find().label.startswith("4.4.3 ")
    monkeypatch.delenv("BLENDER")
    assert blenders.find().label.startswith("4.3.2 ")


def test_session_leaves_nothing_behind(tmp_path):
    blender = blenders.Blender("fake", ("sh", "-c", "echo $BLENDER_USER_RESOURCES $GAME"))
    with blenders.session(blender, {"GAME": tmp_path}) as session:
        status, message = session.run(session.blender_call(), 10)
        assert (status, message) == (0, f"{session.scratch}/user {tmp_path}\n")
        assert session.outside.is_dir()
    assert not session.outside.parent.exists()
    assert tmp_path.exists()


def test_a_wheel_for_another_python_goes_into_the_chroot_that_has_it(monkeypatch, tmp_path):
    created = []
    monkeypatch.setattr(blenders, "wheel", lambda version: f"{version} on this machine")
    monkeypatch.setattr(chroot, "ready", lambda: tmp_path)
    monkeypatch.setattr(
        chroot, "install", lambda own_folder, packages: created.append((own_folder, "libegl1" in packages))
    )
    monkeypatch.setattr(
        chroot, "environment", lambda own_folder, name, requirements: virtual.python_in(tmp_path / name)
    )
    monkeypatch.setattr(machine, "version_of_this", lambda: "3.11")
    monkeypatch.setattr(chroot, "is_possible", lambda: False)
    assert blenders.wheel_anywhere("5.2") == "5.2 on this machine"
    monkeypatch.setattr(chroot, "is_possible", lambda: True)
    assert blenders.wheel_anywhere("5.0") == "5.0 on this machine"
    result = blenders.wheel_anywhere("5.2")
    assert (result.root, result.label, created) == (tmp_path, "5.2.3 wheel", [(tmp_path, True)])
    assert result.started_from(tmp_path / "checkout")[1:] == [str(tmp_path / "checkout/scripts/launcher.py")]
    monkeypatch.setattr(machine, "version_of_this", lambda: "3.13")
    assert blenders.wheel_anywhere("5.2") == "5.2 on this machine"


def test_wheels_for_the_chroot_are_chosen_by_its_python(monkeypatch, tmp_path):
    packages = tmp_path / "opt/blender-5.2/lib/python3.13/site-packages"
    asked = []

    def pip(interpreter, requirements, options, verb="install"):
        asked.append((verb, interpreter, requirements, options))
        if verb == "download":
            (Path(options[options.index("--dest") + 1]) / "bpy-5.2.3.whl").touch()

    monkeypatch.setattr(chroot, "_run", lambda command: packages.mkdir(parents=True))
    monkeypatch.setattr(virtual, "dev", lambda: "this pip")
    monkeypatch.setattr(virtual, "pip", pip)
    (tmp_path / "opt").mkdir()
    for _ in range(2):
        python = chroot.environment(tmp_path, "blender-5.2", ["bpy==5.2.3"])
    assert python == virtual.python_in(Path("/opt/blender-5.2"))
    assert [(verb, interpreter) for verb, interpreter, *_ in asked] == [
        ("download", "this pip"), ("install", "this pip")
    ]  # fmt: skip
    for *_, options in asked:
        assert options[options.index("--python-version") + 1] == chroot.PYTHON
        assert "--only-binary=:all:" in options
        assert any(text.startswith("manylinux_2_28_") for text in options)
    assert asked[0][2] == ["bpy==5.2.3"]
    assert [Path(path).name for path in asked[1][2]] == ["bpy-5.2.3.whl"]
    assert asked[1][3][-1] == str(packages)
    assert not list(packages.iterdir())


def test_only_missing_packages_are_installed_inside_and_lists_fetched_when_stale(monkeypatch, tmp_path):
    own_folder, ran = tmp_path / "chroot", []
    own_folder.mkdir()
    listed = program(tmp_path / "chroot.sh", "echo 'libgl1 ii '; echo 'libegl1 rc '")
    monkeypatch.setattr(chroot, "entering", lambda position, surroundings: [str(listed)])

    def run(command):
        ran.append(command[1:])
        if len(ran) == 1:
            raise RuntimeError("404")

    monkeypatch.setattr(chroot, "_run", run)
    chroot.install(own_folder, ["libgl1"])
    assert ran == []
    chroot.install(own_folder, ["libgl1", "libegl1"])
    assert [command[1] for command in ran] == ["install", "update", "install"]
    assert ran[2][-1] == "libegl1"
    assert "libgl1" not in ran[2]


def test_only_unstable_may_have_lists_of_packages_that_are_out_of_date(monkeypatch, tmp_path):
    """Where it was made before that was so, too."""
    monkeypatch.setenv("MOTIONBRIDGE_ENVIRONMENTS", str(tmp_path))
    monkeypatch.setattr(chroot, "possible", lambda: None)
    monkeypatch.setattr(chroot, "make", lambda own_folder, *_: (own_folder / "etc/apt/apt.conf.d").mkdir(parents=True))
    for suite, options in ((chroot.UNSTABLE, ["old-lists"]), (chroot.SUITE, [])):
        for _ in range(2):
            written = chroot.ready(suite) / "etc/apt/apt.conf.d"
            assert [path.name for path in written.iterdir()] == options
            for path in written.iterdir():
                path.unlink()


def test_a_virtual_screen_that_cannot_be_installed_is_reported(monkeypatch, tmp_path):
    def broken(own_folder, packages):
        assert "xvfb" in packages
        raise RuntimeError("apt-get left with status 100")

    monkeypatch.setattr(chroot, "install", broken)
    with pytest.raises(Unavailable, match=r"No virtual screen in .*status 100.*: check the network connection"):
        window.ready(tmp_path)


def test_a_folder_goes_into_the_chroot_and_comes_back(tmp_path):
    folder = tmp_path / "between"
    folder.mkdir()
    (folder / "saved").write_text("by the older", encoding="utf-8")
    (tmp_path / "chroot" / "tmp").mkdir(parents=True)
    here = blenders.Session(blenders.Blender("here", ()), ROOT, tmp_path, tmp_path)
    with here.sharing(folder) as seen:
        assert seen == folder
    outside = tmp_path / "chroot" / "tmp"
    there = blenders.Session(blenders.Blender("there", (), tmp_path / "chroot"), Path("/"), Path("/scratch"), outside)
    with there.sharing(folder) as seen:
        assert seen == Path("/scratch/between")
        assert (outside / "between/saved").read_text(encoding="utf-8") == "by the older"
        (outside / "between/more").touch()
    assert sorted(path.name for path in folder.iterdir()) == ["more", "saved"]
    assert not list(outside.iterdir())


def test_chroot_gives_programs_nothing_of_this_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("SECRET", "of this machine")
    command = chroot.entering(tmp_path, {"GIVEN": "yes"})
    assert command[:4] == ["chroot", str(tmp_path), "/usr/bin/env", "-i"]
    assert "GIVEN=yes" in command
    assert not any("SECRET" in part for part in command)


def test_checkout_is_copied_without_what_git_ignores(tmp_path):
    blenders.copy_checkout(tmp_path)
    assert (tmp_path / "addon" / "__init__.py").is_file()
    assert (tmp_path / "tests" / "run.py").is_file()
    assert not (tmp_path / ".venv").exists()
    assert not (tmp_path / ".git").exists()
