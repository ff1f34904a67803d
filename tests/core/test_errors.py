"""A refusal is one sentence, with its place and its remedy, and crosses process borders whole."""

import copy
import pickle

import pytest

from addon.core.errors import MotionbridgeError, ReadError, WriteError


def test_a_pop_up_names_the_file_without_its_folders(tmp_path):
    refusal = ReadError("it is broken", file=str(tmp_path / "walk.omf"), offset=4, remedy="Copy it again")
    assert refusal.sentence(with_folder=False) == "walk.omf, offset 4: it is broken. Copy it again."
    assert str(refusal).startswith(str(tmp_path))
    # Places that are not paths, such as names of actions, stay as they are.
    assert ReadError("it is broken", file="run/left").sentence(with_folder=False) == "run/left: it is broken."


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "it is broken."),
        ({"file": "a.omf"}, "a.omf: it is broken."),
        ({"offset": 0}, "offset 0: it is broken."),
        ({"chunk": "0xE/0x3", "offset": 12}, "chunk 0xE/0x3, offset 12: it is broken."),
        (
            {"file": "a.omf", "chunk": "0xE", "offset": 12, "remedy": "Copy it again"},
            "a.omf, chunk 0xE, offset 12: it is broken. Copy it again.",
        ),
        ({"file": "a.ltx", "line": 12}, "a.ltx, line 12: it is broken."),
        ({"remedy": "Copy it again."}, "it is broken. Copy it again."),
        ({"remedy": "Did you mean run?"}, "it is broken. Did you mean run?"),
    ],
)
def test_the_sentence_names_only_what_is_known(arguments, sentence):
    assert str(ReadError("it is broken", **arguments)) == sentence
    assert str(ReadError("it is broken.", **arguments)) == sentence


@pytest.mark.parametrize("kind", [ReadError, WriteError])
@pytest.mark.parametrize("carry", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])  # noqa: S301 (our own)
def test_every_part_survives_a_journey_between_processes(kind, carry):
    before = kind("it is broken", file="б.omf", offset=12, chunk="0xE", remedy="Copy it again")
    after = carry(before)
    assert type(after) is kind
    assert vars(after) == vars(before)
    assert str(after) == str(before)
    assert after.args == before.args


def test_both_refusals_are_caught_as_one():
    assert issubclass(ReadError, MotionbridgeError)
    assert issubclass(WriteError, MotionbridgeError)
    assert not issubclass(ReadError, WriteError)
