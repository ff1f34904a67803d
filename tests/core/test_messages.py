"""Messages are English texts that keep their template and values, by which they are translated."""

import copy
import pickle

import numpy as np
import pytest

from addon.core.errors import ReadError
from addon.core.problems import whole
from addon.core.report import Message, Report, counted, joined, listed, on_one_line, say, translated

RUSSIAN = {
    "{} faces have no area": "{} грань без площади|{} грани без площади|{} граней без площади",
    "{} of {} faces have no area; delete them": "без площади граней: {} из {}; удалите их",
    "{} is above {} m in {}": "в {2}: {0} выше {1} м",
    "left out: {}": "пропущено: {}",
    "it has no faces": "граней нет",
    "Leave it out": "Пропустите его",
    "the number of bones": "число костей",
    "{}: too large": "{}: слишком много",
    "line {}": "строка {}",
    "and {} more": "и ещё {}",
    "{} and {} more": "{} и ещё {}",
    "{} motions": "{} анимация|{} анимации|{} анимаций",
}


def told(text):
    return translated(text, RUSSIAN)


@pytest.mark.parametrize(
    ("message", "english", "russian"),
    [
        (say("{:# face has|# faces have} no area", 1), "1 face has no area", "1 грань без площади"),
        (say("{:# face has|# faces have} no area", np.int64(3)), "3 faces have no area", "3 грани без площади"),
        (say("{:# face has|# faces have} no area", 0), "0 faces have no area", "0 граней без площади"),
        (
            say("{0} of {1:# face|# faces} {0:has|have} no area; delete {0:it|them}", 1, 30),
            "1 of 30 faces has no area; delete it",
            "без площади граней: 1 из 30; удалите их",
        ),
        (
            say("{:.2f} is above {:g} m in {!r}", 1.5, 1.0, "a b"),
            "1.50 is above 1 m in 'a b'",
            "в 'a b': 1.50 выше 1 м",
        ),
        (say("left out: {}", say("it has no faces")), "left out: it has no faces", "пропущено: граней нет"),
        (say("{}: too large", "the number of bones"), "the number of bones: too large", "число костей: слишком много"),
        (say("{!r}: {}", "hull", say("it has no faces")), "'hull': it has no faces", "'hull': граней нет"),
        (whole("it has no faces", "Leave it out").line, "it has no faces; leave it out", "граней нет; пропустите его"),
        (listed([say("it has no faces"), "b", "c"], 2), "it has no faces, b and 1 more", "граней нет, b и ещё 1"),
        (counted(2, "motion"), "2 motions", "2 анимации"),
        (say("nobody knows {}", counted(5, "motion")), "nobody knows 5 motions", "nobody knows 5 анимаций"),
        (joined(["walk", counted(1, "motion")]), "walk, 1 motion", "walk, 1 анимация"),
        ("it has no faces", "it has no faces", "граней нет"),
        ("walk", "walk", "walk"),
        (say("{{}} stays {}", 1), "{} stays 1", "{} stays 1"),
    ],
)
def test_a_message_is_english_and_translated_by_its_template(message, english, russian):
    assert message == english
    assert told(message) == russian


def test_a_refusal_in_a_sentence_is_translated():
    refusal = ReadError(say("left out: {}", "walk"), file="a.ltx", line=3, remedy="Leave it out")
    assert str(refusal) == "a.ltx, line 3: left out: walk. Leave it out."
    assert told(str(refusal)) == "a.ltx, строка 3: пропущено: walk. Пропустите его."
    assert told(say("left out: {}", refusal)) == "пропущено: a.ltx, строка 3: пропущено: walk. Пропустите его."
    assert str(ReadError(refusal.sentence())) == str(refusal)


def test_lines_of_a_report_are_translated():
    report = Report()
    for number in range(6):
        report.warn(say("{:# face has|# faces have} no area", 2), f"hull_{number}")
    report.note("it has no faces")
    named = "hull_0: 2, hull_1: 2, hull_2: 2, hull_3: 2, hull_4: 2"
    assert report.lines() == [f"12 faces have no area ({named}, and 1 more)", "it has no faces"]
    assert [*map(told, report.lines())] == [f"12 граней без площади ({named}, и ещё 1)", "граней нет"]


def test_equal_sentences_are_equal_messages():
    assert say("{} left", 1) == "1 left" == say("1 {}", "left")
    assert len({say("{} left", 1), say("1 {}", "left")}) == 1


@pytest.mark.parametrize("carry", [copy.copy, copy.deepcopy, lambda entry: pickle.loads(pickle.dumps(entry))])  # noqa: S301
def test_a_message_can_be_copied_and_sent_to_another_process(carry):
    message = say("left out: {}", say("{} is above {} m in {}", 1, 2.5, "a"))
    copied = carry(message)
    assert type(copied) is Message
    assert (copied, copied.template, copied.values) == (message, message.template, message.values)
    assert told(copied) == told(message)


def test_a_message_on_one_line_is_still_a_message():
    message = on_one_line(say("left out: {}", "a\nb"))
    assert message == "left out: a\\nb"
    assert on_one_line(told(message)) == "пропущено: a\\nb"
