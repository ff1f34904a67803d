"""The summary counts what pytest found, and nothing that went wrong looks like success."""

from collections import Counter

import pytest
import rings
from environment import Unavailable

RESULTS = """<?xml version="1.0"?><testsuites><testsuite errors="1" failures="2" skipped="3" tests="10">
<testcase><skipped message="no corpus"/></testcase><testcase><skipped message="no corpus"/></testcase>
<testcase><skipped message="too slow"/></testcase></testsuite></testsuites>"""
GOOD = RESULTS.replace('errors="1" failures="2"', 'errors="0" failures="0"')


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results.xml"


def judged(results, status, **options):
    return rings._tests("pure", "here", (status, "said"), results, 1.0, **options)


def test_counts_are_those_of_pytest(results):
    results.write_text(RESULTS, encoding="utf-8")
    result = judged(results, 1)
    assert (result.status, result.passed, result.failed, result.skipped) == (rings.FAILED, 4, 3, 3)
    assert result.skip_reasons == Counter({"no corpus": 2, "too slow": 1})


def test_good_results_pass(results):
    results.write_text(GOOD, encoding="utf-8")
    assert (judged(results, 0).status, judged(results, 0).failed) == (rings.PASSED, 0)


@pytest.mark.parametrize("status", [1, 2, 3, -11, 139, None])
def test_a_bad_end_fails_however_good_the_results(results, status):
    results.write_text(GOOD, encoding="utf-8")
    assert (judged(results, status).status, judged(results, status).failed) == (rings.FAILED, 1)


def test_no_results_fail_even_with_a_good_status(results):
    assert (judged(results, 0).status, judged(results, 0).failed) == (rings.FAILED, 1)


def test_no_test_is_a_failure_unless_tests_were_chosen(results):
    assert judged(results, 5).status == rings.FAILED
    assert judged(results, 5, narrowed=True).status == rings.PASSED


def summary(capsys, *outcomes):
    status = rings._summary(outcomes, 1.0)
    return status, capsys.readouterr().out


def test_last_line_is_the_total(capsys):
    first = rings.Outcome("pure", "here", rings.PASSED, passed=3, skipped=1, skip_reasons=Counter({"no corpus": 1}))
    second = rings.Outcome("lint", "ruff", rings.PASSED, passed=1)
    status, message = summary(capsys, first, second)
    assert status == 0
    assert message.endswith("\n4 passed, 0 failed, 1 skipped\n")
    assert "1 × no corpus" in message


def test_what_could_not_run_is_in_the_table_and_fails(capsys):
    ran = rings.Outcome("pure", "here", rings.PASSED, passed=3)
    gap = rings.Outcome("Blender", "4.2", rings.NOT_RUN, note="install it")
    status, message = summary(capsys, ran, gap)
    assert status == 1
    assert "COULD NOT RUN: install it" in message


def test_an_excused_gap_is_in_the_table_and_does_not_fail(capsys):
    ran = rings.Outcome("pure", "here", rings.PASSED, passed=3)
    gap = rings.Outcome("Blender", "Debian", rings.NOT_RUN, note="needs root", excused=True)
    status, message = summary(capsys, ran, gap)
    assert status == 0
    assert "COULD NOT RUN (excused): needs root" in message


def test_choosing_no_test_at_all_fails(capsys):
    assert summary(capsys, rings.Outcome("lint", "ruff", rings.PASSED, passed=1))[0] == 1


def test_chroot_is_excused_without_root_but_a_failing_set_up_is_not(monkeypatch):
    def lacking():
        raise Unavailable("needs root")

    def broken():
        raise RuntimeError("setting up the chroot failed")

    monkeypatch.setattr(rings.chroot, "possible", lacking)
    assert [(result.status, result.excused) for result in rings._debian([], [])] == [(rings.NOT_RUN, True)]
    monkeypatch.setattr(rings.chroot, "possible", lambda: None)
    monkeypatch.setattr(rings.blenders, "debian", broken)
    assert [(result.status, result.excused) for result in rings._debian([], [])] == [(rings.NOT_RUN, False)]


@pytest.mark.parametrize("error", [Unavailable("no mirror"), RuntimeError("setting up failed")])
def test_unstable_is_excused_where_it_cannot_be_had(monkeypatch, error):
    def lacking(suite):
        assert suite == "sid"
        raise error

    monkeypatch.setattr(rings.blenders, "debian", lacking)
    (result,) = rings._unstable([], [])
    assert (result.status, result.excused, result.note) == (rings.NOT_RUN, True, str(error))


def test_unstable_counts_as_long_as_its_version_gates(monkeypatch):
    moved = rings.blenders.Blender("9.9.1 Debian sid", ("false",))
    monkeypatch.setattr(rings.blenders, "debian", lambda suite: moved)
    (result,) = rings._unstable([], [])
    assert (result.status, result.excused) == (rings.NOT_RUN, True)
    assert "9.9.1" in result.note
    same = rings.blenders.Blender(f"{rings._wheels()[-1]}.9 Debian sid", ("false",))
    monkeypatch.setattr(rings.blenders, "debian", lambda suite: same)
    failed = rings.Outcome("Blender", same.label, rings.FAILED, failed=1)
    monkeypatch.setattr(rings, "_inside", lambda find, *_: iter([failed] if find() is same else []))
    in_window = rings.Outcome("window", same.label, rings.PASSED, passed=1)
    monkeypatch.setattr(
        rings, "_in_window", lambda find, arguments, excused: iter([in_window] if find() is same and excused else [])
    )
    assert list(rings._unstable([], [])) == [failed, in_window]


def test_every_wheel_gates_but_those_that_report_it(monkeypatch):
    titles = [job.title for job in rings._jobs("all", [], fast=False)]
    assert titles[:2] == ["Blender 5.2", "lint"]  # with deep tests the longest; its result is useful early
    assert sorted(title for title in titles if title.startswith("Blender ")) == [
        "Blender 4.2", "Blender 4.5", "Blender 5.2", "Blender 5.3"
    ]  # fmt: skip
    assert [title for title in titles if title.startswith("types of")] == ["types of 4.2", "types of 5.3"]
    assert [title for title in titles if title.startswith("pure, ")] == ["pure, Python of 4.2", "pure, Python of 5.3"]
    usual = [job.title for job in rings._jobs(None, [], fast=False)]
    assert [title for title in usual if title.startswith("types of")] == ["types of 5.2"]
    released = [job.title for job in rings._jobs(None, [], fast=False, release=True)]
    assert {title for title in released if title.startswith("types of")} == {
        "types of 4.2", "types of 4.5", "types of 5.2", "types of 5.3"
    }  # fmt: skip
    # Those that pin no stubs are not left out: they fail.
    monkeypatch.setattr(rings, "_wheels", lambda: ["9.9"])
    jobs = {job.title: job for job in rings._jobs("all", [], fast=False)}
    assert "Blender 9.9" in jobs
    (result,) = rings._guarded(jobs["types of 9.9"])
    assert (result.status, result.excused) == (rings.FAILED, False)
    assert "No stubs of Blender 9.9" in result.note


def test_the_start_says_what_will_be_done_and_how_long_it_takes():
    jobs = rings._jobs("all", [], fast=False)
    message = rings._announcement(jobs, narrowed=False)
    assert all(job.title in message for job in jobs)
    assert f"about {round(sum(job.minutes for job in jobs) / 2)} minutes" in message
    assert "about 6 minutes" in rings._announcement(rings._jobs(None, [], fast=True), narrowed=False)


def test_files_go_from_each_blender_to_every_newer_one(monkeypatch):
    created = {version: rings.blenders.Blender(f"{version} wheel", ("false",)) for version in ("1.0", "1.5", "2.0")}
    monkeypatch.setattr(rings.blenders, "wheel_anywhere", created.__getitem__)
    ran = []

    def one_side(blender, folder, tests, label):
        ran.append((blender.label, folder, tests.rpartition("_")[2]))
        failed = label == "saved in 1.5 wheel"
        return rings.Outcome("across", label, rings.FAILED if failed else rings.PASSED, passed=1)

    monkeypatch.setattr(rings, "_one_side", one_side)
    outcomes = list(rings._across(list(created)))
    assert [outcome.blender for outcome in outcomes] == [
        "saved in 1.0 wheel", "1.0 wheel -> 1.5 wheel", "1.0 wheel -> 2.0 wheel", "saved in 1.5 wheel"
    ]  # fmt: skip
    assert [(label, tests) for label, _, tests in ran] == [
        ("1.0 wheel", "saving.py"), ("1.5 wheel", "opening.py"), ("2.0 wheel", "opening.py"), ("1.5 wheel", "saving.py")
    ]  # fmt: skip
    assert len({folder for _, folder, _ in ran[:3]}) == 1


def test_a_blender_that_cannot_be_had_is_reported_for_the_whole_ring(monkeypatch):
    def lacking(version):
        raise Unavailable(f"{version} is not there")

    monkeypatch.setattr(rings.blenders, "wheel_anywhere", lacking)
    (result,) = rings._across(["4.2", "5.0"])
    assert (result.status, result.excused, result.note) == (rings.NOT_RUN, False, "4.2 is not there")


def test_trouble_in_a_test_ring_is_its_outcome():
    def job():
        raise OSError("disk full")
        yield

    assert [(result.status, result.failed, result.note) for result in rings._guarded(rings.Job("a ring", 1, job))] == [
        (rings.FAILED, 1, "OSError: disk full")
    ]


def test_game_files_must_be_there_if_they_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("MOTIONBRIDGE_CORPUS", str(tmp_path / "gone"))
    with pytest.raises(Unavailable, match="not a folder"):
        rings.game_files()


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ([], ["tests/core", "tests/scripts"]),
        (["-k", "quantum"], ["tests/core", "tests/scripts", "-k", "quantum"]),
        (["tests/blender"], None),
        (["tests/blender/test_scene.py::test_it_notices", "-x"], None),
        (["tests/blender", "tests/scripts"], ["tests/scripts"]),
        (["tests/core/test_quantum.py::test_it", "-x"], ["tests/core/test_quantum.py::test_it", "-x"]),
        (["tests"], ["tests/core", "tests/scripts"]),
    ],
)
def test_a_ring_is_not_given_the_tests_of_another(given, left):
    assert rings._of_this_ring(given, ["tests/core", "tests/scripts"]) == left


def test_every_test_is_in_one_ring():
    tests = rings.ROOT / "tests"
    folders = [rings.ROOT / name for name in (*rings._pure_folders(), *rings.FOLDERS.values())]
    for file in [*tests.rglob("test_*.py"), *(tests / "window").glob("*.py")]:
        assert sum(file.is_relative_to(folder) for folder in folders) == 1, file
    assert rings._pure_folders()[:2] == ["tests/core", "tests/formats"]


def test_deep_tests_run_once_in_the_gate_and_everywhere_for_a_release(monkeypatch):
    ran = []
    monkeypatch.setattr(rings, "_inside", lambda find, name, usual, *_, **__: ran.append((name, usual)) or iter(()))
    monkeypatch.setattr(rings, "_in_this_python", lambda ring, given, **_: ran.append((ring, given[:2])))
    monkeypatch.setattr(rings, "_check", lambda *_: None)

    def deep_places(**options):
        ran.clear()
        for job in rings._jobs(options.pop("blender", None), [], fast=False, **options):
            if job.title.startswith("Blender ") or job.title in {"the pure tests", "the tests in Blender"}:
                list(job.run())
        return [name for name, usual in ran if usual != rings.NOT_DEEP]

    assert deep_places() == []
    assert deep_places(blender="all") == ["5.2", "pure"]
    assert deep_places(release=True) == ["4.2", "4.5", "5.2", "5.3", "pure"]


def test_the_ten_slowest_tests_are_printed(capsys):
    first = rings.Outcome("pure", "here", rings.PASSED, passed=9, durations={f"f.py::of_{n}": n for n in range(9)})
    second = rings.Outcome("Blender", "5.2", rings.PASSED, passed=9, durations={"g.py::long": 99.0, "g.py::none": 0.0})
    lines = summary(capsys, first, second)[1].partition("The ten slowest tests:\n")[2].splitlines()[:11]
    assert lines[0] == "   99.0 s  g.py::long (5.2)"
    assert [line.split()[2] for line in lines[1:9]] == [f"f.py::of_{n}" for n in range(8, 0, -1)]
    assert lines[10] == ""


@pytest.mark.parametrize(("seconds", "named"), [(rings.SLOW + 0.1, True), (rings.SLOW - 0.1, False)])
def test_a_slow_test_that_is_not_deep_is_named(capsys, results, seconds, named):
    case = f'''<testcase classname="tests.core.test_quantum" name="test_of[a]" time="9"><properties>
    <property name="processor seconds" value="{seconds}"/></properties></testcase>'''
    results.write_text(GOOD.replace("</testsuite>", f"{case}</testsuite>"), encoding="utf-8")
    printed = summary(capsys, judged(results, 0))[1].partition("is due:")[2]
    assert ("tests/core/test_quantum.py::test_of[a] (here)" in printed) == named


def test_durations_are_those_of_pytest_by_the_name_that_runs_it_again(results):
    case = '<testcase classname="tests.core.test_quantum" name="test_of[a]" time="2.5"/>'
    results.write_text(GOOD.replace("</testsuite>", f"{case}</testsuite>"), encoding="utf-8")
    assert judged(results, 0).durations["tests/core/test_quantum.py::test_of[a]"] == 2.5
