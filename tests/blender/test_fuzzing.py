"""A bounded part of scripts/fuzz_blender.py: the same damaged samples each time are imported and exported here."""

import fuzz
import fuzz_in_blender
import pytest
from fuzzing import law
from fuzzing.blender_targets import BLENDER_TARGETS, SAVED, BlenderTarget
from fuzzing.targets import TARGETS

from addon.core.errors import ReadError

CASES = 4
"""Of each target."""


@pytest.mark.parametrize("name", BLENDER_TARGETS)
def test_damaged_files_are_refused_or_are_written_unchanged(name, samples, tmp_path):
    target = BLENDER_TARGETS[name]
    cases = fuzz.Cases([samples, SAVED], "gate", [TARGETS[target.bytes_of]])
    for number in range(CASES):
        source, data = cases.case(TARGETS[target.bytes_of], number)
        outcome, finding = fuzz_in_blender.run_case(target, source, data, tmp_path / "case", f"gate:{name}:{number}")
        assert not finding, f"case {number} of {source}: {finding}"
        assert outcome != "broken"


def run(samples, tmp_path, seed="seed"):
    data = (samples / "level" / "level.hom").read_bytes()
    return fuzz_in_blender.run_case(BLENDER_TARGETS["hom"], "level.hom", data, tmp_path / "case", seed)


def fail(*_, **__):
    raise KeyError("oops")


def test_what_the_law_forbids_is_found(samples, tmp_path, monkeypatch):
    assert run(samples, tmp_path) == ("kept", "")
    with monkeypatch.context() as patched:
        patched.setattr("addon.formats.xray.hom.decode", fail)
        assert "KeyError: 'oops'" in run(samples, tmp_path)[1]
    with monkeypatch.context() as patched:
        patched.setattr("addon.blender.properties.seal_of", lambda _: b"\1" * 17)
        assert any("was exported" in run(samples, tmp_path, seed)[1] for seed in "abcdefgh")
    with monkeypatch.context() as patched:
        prepare = BlenderTarget.prepare
        patched.setattr(BlenderTarget, "prepare", lambda *arguments: (prepare(*arguments)[0], b"lost"))
        assert "exported unedited it is changed" in run(samples, tmp_path)[1]
    with monkeypatch.context() as patched:
        patched.setattr("addon.blender.scope._FileState.restore", lambda *_: None)
        patched.setattr("addon.blender.scope.make_current", refuse)
        assert "left something behind" in run(samples, tmp_path)[1]
    data = bytearray((samples / "level/level.hom").read_bytes())
    data[20:24] = b"\0\0\xc0\x7f"
    with monkeypatch.context() as patched:
        patched.setattr(law, "ANNOUNCED", ("never said",))
        finding = fuzz_in_blender.run_case(BLENDER_TARGETS["hom"], "x.hom", bytes(data), tmp_path / "case", "seed")[1]
        assert "that the report does not announce" in finding


def refuse(*_, **__):
    raise ReadError("odd")
