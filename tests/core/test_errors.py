"""A refusal is one sentence, with its place and its remedy, and crosses process borders whole."""

import copy
import pickle

import pytest

from addon.core.errors import MotionbridgeError, ReadError, WriteError


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
