"""The fuzzer finds what it is there to find, repeats itself by its seed, and finds nothing in a short run of ours."""

import random
import struct
from dataclasses import replace

import fuzz
import numpy as np
import pytest
from fuzzing import law, mutation, packing, structures, tally, targets

from addon.core.errors import ReadError
from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats import FORMATS, format_named
from addon.formats.descent3 import oof
from addon.formats.descent3.oof.document import SubObject

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


@pytest.mark.deep
@pytest.mark.parametrize("seed", ["one", "two"])
def test_a_short_run_over_the_samples_finds_nothing(run, samples, seed):
    cases_each = 40
    number = cases_each * len(targets.TARGETS)
    status, out, saved = run("--cases", str(number), "--seed", seed)
    assert (status, saved) == (0, []), out
    assert f"seed {seed}: {number} cases of {len(targets.files_of([samples]))} files" in out
    counted = {line.split()[0]: list(map(int, line.split()[1:4])) for line in out.splitlines() if "%" in line}
    assert set(counted) == {*targets.TARGETS, "all"}
    for name, (cases, refused, kept) in counted.items():
        assert cases == cases_each or name == "all"
        assert refused, f"{name}: a run in which nothing is refused tries nothing"
        assert kept, f"{name}: a run in which nothing is kept tries nothing"
    assert out.endswith("findings: 0\n")


@pytest.mark.deep
def test_a_short_run_over_real_files_finds_nothing(tmp_path, capsys, corpus):
    paths = [str(corpus / folder) for folder in ("omf", "ogf", "rtm_binarised", "oof")]
    chosen = [argument for name in ("omf", "ogf", "rtm", "oof") for argument in ("--format", name)]
    status = fuzz.main(["--cases", "300", "--seed", "real", "--output", str(tmp_path), *chosen, *paths])
    assert status == 0, capsys.readouterr().out


def test_the_same_seed_gives_the_same_cases(samples):
    chosen = [*targets.TARGETS.values()]
    mine, same, other = (fuzz.Cases([samples], seed, chosen) for seed in ("a", "a", "b"))
    for target in chosen:
        first = [mine.case(target, number) for number in range(10)]
        assert first == [same.case(target, number) for number in range(10)]
        assert first != [other.case(target, number) for number in range(10)]
        assert mine.case(target, 9) == first[9], "a case does not hang on those before it"


def test_every_format_is_a_target():
    assert [target.name for target in targets.FORMAT_TARGETS] == [known.name for known in FORMATS]


def test_tallies_are_added_up(run, samples, tmp_path, capsys):
    lines = tmp_path / "tallies" / "all.jsonl"
    for seed in ("x", "y"):
        motions = [samples / "weapon.omf"]
        run("--cases", "20", "--seed", seed, "--format", "omf", "--tally", str(lines), files=motions)
    run("--cpu-seconds", "0.05", "--seed", "z", "--format", "lzo", "--format", "mask", "--tally", str(lines))
    sums = tally.read([lines])
    assert list(sums) == ["omf", "lzo", "mask"]
    assert sums["omf"].cases == 40
    assert all(0.05 <= sums[name].cpu < 5 for name in ("lzo", "mask"))
    assert tally.read([lines.parent]) == sums
    assert fuzz.main(["--sum", str(lines), str(lines)]) == 0
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines() if line.startswith("omf  ")] == [
        ["omf", "80"]
    ]


def test_refusals_of_many_files_are_one_line_of_the_table():
    own_tally = tally.Tally("skl")
    own_tally.outcomes.update(
        {"kept": 9, "not decoded": 2, "not encoded: root H: 3 keys": 3, "not encoded: Bone 7 X: 12 keys": 4}
    )
    own_tally.outcomes.update(
        {"not encoded: the motion 'a' has no tracks": 1, "not encoded: the motion 'b c' has no tracks": 1}
    )
    _, _, _, *refusals = tally.table([own_tally])
    assert refusals == [
        "skl not encoded: … keys: 7",
        "skl not decoded: 2",
        "skl not encoded: the motion … has no tracks: 2",
    ]


def lose_a_byte(monkeypatch):
    monkeypatch.setattr(OMF.module, "write", lambda _: b"lost")


def lose_a_byte_when_recomposed(monkeypatch):
    monkeypatch.setattr(OMF.module, "recompose", lambda _: b"lost")


def crash(monkeypatch):
    monkeypatch.setattr(OMF.module, "read", lambda *_: int("no number"))


def crash_in_words(monkeypatch):
    monkeypatch.setattr(Walk, "dump", lambda *_: iter(range(1 // 0)))


def say_nothing(monkeypatch):
    def refuse(*_):
        raise ReadError("")

    monkeypatch.setattr(OMF.module, "read", refuse)


def dawdle(monkeypatch):
    """By a clock of the test's own, which stands still but for this."""
    read, hours = OMF.module.read, []
    monkeypatch.setattr(fuzz.time, "process_time", lambda: 3600.0 * len(hours))
    monkeypatch.setattr(OMF.module, "read", lambda *arguments: hours.append(1) or read(*arguments))


def hang(monkeypatch):
    def rotation(*_, **__):
        for _ in iter(int, 1):
            pass

    monkeypatch.setattr(fuzz, "HANGS_AFTER", 0.2)
    monkeypatch.setattr(OMF.module, "read", rotation)


def hoard(monkeypatch):
    read = OMF.module.read
    monkeypatch.setattr(OMF.module, "read", lambda *arguments: bytearray(50 << 20) and read(*arguments))


def differ_from_itself(monkeypatch):
    monkeypatch.setattr(Walk, "differences", lambda *_: iter(["everything"]))


def fail_to_decode(monkeypatch):
    def fail(*_):
        raise KeyError("bone")

    monkeypatch.setitem(law.ROUND_TRIPS, "omf", fail)


def change_what_was_not_edited(monkeypatch):
    def change(document, _):
        return replace(document, tail=b"more")

    monkeypatch.setitem(law.ROUND_TRIPS, "omf", change)


def say_nothing_of_nan(monkeypatch):
    monkeypatch.setattr(law, "ANNOUNCED", ("never said",))


@pytest.mark.parametrize(
    ("defect", "words"),
    [
        (lose_a_byte, "gives other bytes: first different byte at offset 0"),
        (lose_a_byte_when_recomposed, "gives other bytes: first different byte at offset 0"),
        (crash, "ValueError: invalid literal"),
        (crash_in_words, "ZeroDivisionError"),
        (say_nothing, "the refusal says nothing"),
        (dawdle, " s for "),
        pytest.param(hoard, "bytes of memory for", marks=pytest.mark.deep),
        (differ_from_itself, "a document differs from itself: everything"),
        (fail_to_decode, "KeyError: 'bone' (test_fuzz.py:"),
        (change_what_was_not_edited, "decoded and encoded it is changed: the same up to offset"),
        (say_nothing_of_nan, "that no warning announces"),
        pytest.param(
            hang,
            "Hanging: no answer within 0.2 seconds",
            marks=pytest.mark.skipif(not hasattr(fuzz.signal, "setitimer"), reason="no alarms on this system"),
        ),
    ],
)
def test_every_kind_of_defect_is_found_and_saved(run, samples, monkeypatch, defect, words):
    defect(monkeypatch)
    motions = [samples / "humanoid.omf", samples / "weapon.omf"]
    chosen = ("--format", "omf", "--seed", "x")
    status, out, saved = run("--cases", "2" if defect is hang else "80", *chosen, files=motions)
    assert status == 1
    assert words in out
    files = [path for path in saved if path.suffix != ".txt"]
    assert files
    assert f"findings: {len(files)}\n" in out
    number = int(files[0].stem.removeprefix("x-"))
    target = targets.TARGETS["omf"]
    assert files[0].read_bytes() == fuzz.Cases(motions, "x", [target]).case(target, number)[1]
    again = run("--only", str(number), *chosen, files=motions)
    assert again[0] == 1
    assert words in again[1]


@pytest.mark.parametrize("is_used", [True, False])
def test_nan_normals_of_a_model_must_be_announced_where_a_face_uses_them(samples, is_used):
    part = next(section.value for section in ship(samples).sections if isinstance(section.value, SubObject))
    vertex = part.faces.corners["vertex"][0]
    part.normals = part.normals.copy()
    part.normals[vertex] = np.nan
    if not is_used:
        part.faces.corners = part.faces.corners.copy()
        part.faces.corners["vertex"][part.faces.corners["vertex"] == vertex] = vertex + 1
    wheres = {where for where, values in law.floats_of(part) if not np.isfinite(values).all()}
    assert wheres == ({"SubObject.normals"} if is_used else set())


def ship(samples):
    return oof.read((samples / "descent3" / "ship.oof").read_bytes(), "ship.oof", Report())


def test_nothing_to_damage_is_trouble(tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("nothing")
    assert fuzz.main([str(tmp_path)]) == 2
    assert "no files of a known format" in capsys.readouterr().err


def test_chunks_come_apart_and_together(samples):
    result = list(samples.glob("*.o[gm]f"))
    assert len(result) == 5
    for path in result:
        nodes = mutation.parse(path.read_bytes())
        assert mutation.compose(nodes) == path.read_bytes()
        assert any(isinstance(node.body, list) for node in nodes)


@pytest.mark.parametrize(
    "data", [b"", b"1234567", struct.pack("<II", 1, 1), struct.pack("<II", 1, 0xFFFFFFFF) + bytes(9)]
)
def test_what_is_no_run_of_chunks_is_not_one(data):
    assert not mutation.parse(data)


@pytest.mark.parametrize("kind", mutation.WAYS)
def test_every_way_damages_and_survives_any_bytes(samples, kind):
    source = (samples / "weapon.omf").read_bytes()
    changed = [kind(source, seeded(seed), source[::-1]) for seed in range(40)]
    assert all(isinstance(data, bytes) for data in changed)
    assert sum(data != source for data in changed) >= 20
    for odd in (b"", b"\0", bytes(8), struct.pack("<II", 1, 4) + bytes(4)):
        for seed in range(40):
            kind(odd, seeded(seed), odd)


STRUCTURES = {
    "weapon.omf": (structures.pack_chunk, structures.set_floats),
    "arma/man.p3d": (structures.change_tags, structures.change_counts),
    "arma/walk_binarised.rtm": (structures.pack_frames,),
    "arma/model.cfg": (structures.change_words, structures.nest_text),
    "descent3/ship.hog": (structures.change_table,),
    "descent3/SampleHull.ogf": (structures.change_runs,),
}


@pytest.mark.parametrize(("file", "method"), [(file, kind) for file, kinds in STRUCTURES.items() for kind in kinds])
def test_ways_that_know_a_structure_damage_and_survive_any_bytes(samples, file, method):
    source = (samples / file).read_bytes()
    assert sum(method(source, seeded(seed), source[::-1]) != source for seed in range(40)) >= 20
    for odd in (b"", b"\0", bytes(8), source[:40], b"HOG2" + bytes(80), b"BMTR\5\0\0\0" + bytes(40)):
        for seed in range(40):
            assert isinstance(method(odd, seeded(seed), odd), bytes)


@pytest.mark.parametrize("seed", range(20))
def test_packed_streams_are_read_by_the_plain_readers(seed):
    for longest, farthest, before, pack, unpack in (
        (60, 4096, 4096, packing.pack_lzhuf, packing.unpack_lzhuf),
        (5000, 49151, 0, packing.pack_lzo, packing.unpack_lzo),
        (18, 4095, 4096, packing.pack_lzss, packing.unpack_lzss),
    ):
        tokens = packing.random_tokens(seeded(seed), longest, farthest, before)
        plain = packing.expanded(tokens, b" " * before)
        stream = pack(tokens)
        assert unpack(stream, len(plain)) == (plain, len(stream))
        if before == 0 or longest == 60:
            assert unpack(pack(packing.tokens_of(plain, longest, farthest)), len(plain))[0] == plain


def test_the_plain_lzhuf_tree_is_halved_like_the_projects():
    plain = bytes((i * i * 7 + i // 3) % 256 for i in range(40_000))
    stream = packing.pack_lzhuf([plain])
    assert targets.TARGETS["lzhuf"].judge(len(plain).to_bytes(4, "little") + stream) == "kept"


@pytest.mark.parametrize("name", ["lzhuf", "lzo", "lzss"])
def test_a_stream_read_differently_is_a_finding(name, monkeypatch):
    target = targets.TARGETS[name]
    assert target.fresh is not None
    data = target.fresh(seeded(1))
    assert target.judge(data) == "kept"
    monkeypatch.setattr(packing, f"unpack_{name}", lambda _, size: (bytes(size), 1))
    with pytest.raises(law.Broken, match="other bytes than a plain reader"):
        target.judge(data)
