"""The fuzzer finds what it is there to find, repeats itself by its seed, and finds nothing in a short run of ours."""

import random
import struct
import time

import fuzz
import mutation
import pytest

from addon.core.errors import ReadError
from addon.formats import format_named

OMF = format_named("omf")


def seeded(seed):
    return random.Random(seed)  # noqa: S311 (nothing here is secret)


@pytest.fixture
def run(tmp_path, capsys, samples):
    """Run the fuzzer over the samples or some of them: exit status, output, saved files."""

    def run(*arguments, files=(samples,)):
        status = fuzz.main([*arguments, "--output", str(tmp_path), *map(str, files)])
        return status, capsys.readouterr().out, sorted(tmp_path.iterdir())

    return run


@pytest.mark.parametrize("seed", ["one", "two"])
def test_a_short_run_over_the_samples_finds_nothing(run, samples, seed):
    status, out, saved = run("--cases", "600", "--seed", seed)
    assert (status, saved) == (0, []), out
    assert f"seed {seed}: 600 cases of {len(fuzz.files_of([samples]))} files" in out
    for outcome in ("omf kept", "omf refused", "ogf kept", "ogf refused"):
        assert f" {outcome}" in out, "a run in which one of these never happens tries nothing"
    assert out.endswith("findings: 0\n")


def test_a_short_run_over_real_files_finds_nothing(tmp_path, capsys, corpus):
    paths = [str(corpus / "omf"), str(corpus / "ogf")]
    status = fuzz.main(["--cases", "300", "--seed", "real", "--output", str(tmp_path), *paths])
    assert status == 0, capsys.readouterr().out


def test_the_same_seed_gives_the_same_cases(samples):
    files = fuzz.files_of([samples])
    one, same, other = (fuzz.Cases(files, seed) for seed in ("a", "a", "b"))
    assert [one.case(number) for number in range(50)] == [same.case(number) for number in range(50)]
    assert [one.case(number) for number in range(50)] != [other.case(number) for number in range(50)]
    assert one.case(49) == fuzz.Cases(files, "a").case(49), "a case does not hang on those before it"


def lose_a_byte(monkeypatch):
    monkeypatch.setattr(OMF.module, "write", lambda _: b"lost")


def lose_a_byte_when_recomposed(monkeypatch):
    monkeypatch.setattr(OMF.module, "recompose", lambda _: b"lost")


def crash(monkeypatch):
    monkeypatch.setattr(OMF.module, "read", lambda *_: int("no number"))


def crash_in_words(monkeypatch):
    monkeypatch.setattr(OMF.module, "dump", lambda _: iter(range(1 // 0)))


def say_nothing(monkeypatch):
    def refuse(*_):
        raise ReadError("")

    monkeypatch.setattr(OMF.module, "read", refuse)


def dawdle(monkeypatch):
    """By a clock of the test's own, which stands still but for this."""
    read, hours = OMF.module.read, []
    monkeypatch.setattr(fuzz.time, "perf_counter", lambda: 3600.0 * len(hours))
    monkeypatch.setattr(OMF.module, "read", lambda *arguments: hours.append(1) or read(*arguments))


def hang(monkeypatch):
    def sleep(*_, **__):
        time.sleep(30)

    monkeypatch.setattr(fuzz, "HANGS_AFTER", 1)
    monkeypatch.setattr(fuzz, "judge", sleep)


def hoard(monkeypatch):
    read = OMF.module.read
    monkeypatch.setattr(OMF.module, "read", lambda *arguments: bytearray(50 << 20) and read(*arguments))


def differ_from_itself(monkeypatch):
    monkeypatch.setattr(OMF.module, "differences", lambda *_: iter(["everything"]))


def fail_to_decode(monkeypatch):
    def fail(*_):
        raise KeyError("bone")

    monkeypatch.setitem(fuzz.DECODERS, "omf", fail)


@pytest.mark.parametrize(
    ("defect", "words"),
    [
        (lose_a_byte, "gives other bytes (4 for"),
        (lose_a_byte_when_recomposed, "gives other bytes (4 for"),
        (crash, "ValueError: invalid literal"),
        (crash_in_words, "ZeroDivisionError"),
        (say_nothing, "the refusal says nothing"),
        (dawdle, " s for "),
        (hoard, "bytes of memory for"),
        (differ_from_itself, "a document differs from itself: everything"),
        (fail_to_decode, "KeyError: 'bone' (test_fuzz.py:"),
        pytest.param(
            hang,
            "Hanging: no answer within 1 seconds",
            marks=pytest.mark.skipif(not hasattr(fuzz.signal, "SIGALRM"), reason="no alarms on this system"),
        ),
    ],
)
def test_every_kind_of_defect_is_found_and_saved(run, samples, monkeypatch, defect, words):
    defect(monkeypatch)
    motions = [samples / "humanoid.omf", samples / "weapon.omf"]
    status, out, saved = run("--cases", "2" if defect is hang else "40", "--seed", "x", files=motions)
    assert status == 1
    assert words in out
    files = [path for path in saved if path.suffix != ".txt"]
    assert files
    assert f"findings: {len(files)}\n" in out
    number = int(files[0].stem.removeprefix("x-"))
    found = fuzz.Cases(motions, "x").case(number)
    assert files[0].read_bytes() == found[2]
    again = run("--only", str(number), "--seed", "x", files=motions)
    assert again[0] == 1
    assert words in again[1]


def test_nothing_to_damage_is_trouble(tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("nothing")
    assert fuzz.main([str(tmp_path)]) == 2
    assert "no files of a known format" in capsys.readouterr().err


def test_chunks_come_apart_and_together(samples):
    for path in samples.glob("*.o[gm]f"):
        nodes = mutation.parse(path.read_bytes())
        assert mutation.compose(nodes) == path.read_bytes()
        assert any(isinstance(node.body, list) for node in nodes)


@pytest.mark.parametrize(
    "data", [b"", b"1234567", struct.pack("<II", 1, 1), struct.pack("<II", 1, 0xFFFFFFFF) + bytes(9)]
)
def test_what_is_no_run_of_chunks_is_none(data):
    assert not mutation.parse(data)


@pytest.mark.parametrize("way", mutation.WAYS)
def test_every_way_damages_and_survives_any_bytes(samples, way):
    source = (samples / "weapon.omf").read_bytes()
    changed = [way(source, seeded(seed), source[::-1]) for seed in range(40)]
    assert all(isinstance(data, bytes) for data in changed)
    assert sum(data != source for data in changed) >= 20
    for odd in (b"", b"\0", bytes(8), struct.pack("<II", 1, 4) + bytes(4)):
        for seed in range(40):
            way(odd, seeded(seed), odd)
