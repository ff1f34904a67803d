"""What is said of many places is said once, with a count and the first places."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from addon.core.errors import ReadError
from addon.core.report import Report, on_one_line, say, translated


def test_an_empty_report_says_nothing():
    assert not Report()
    assert Report().lines() == []


def test_repeated_findings_fold_and_keep_the_order_of_their_first_appearance():
    report = Report()
    report.warn("the checksum is wrong", "walk_0")
    report.warn("no end")
    for motion in ("walk_1", "run_2"):
        report.warn("the checksum is wrong", motion)
    assert report
    assert report.lines() == ["the checksum is wrong (walk_0, walk_1, run_2)", "no end"]


def test_warnings_come_before_notes():
    report = Report()
    report.note("compressed", "0xE")
    report.warn("odd")
    assert report.lines() == ["odd", "compressed (0xE)"]
    only_a_note = Report()
    only_a_note.note("compressed")
    assert only_a_note


def test_five_positions_are_named_and_the_others_counted():
    report = Report()
    for number in range(5):
        report.warn("odd", f"m{number}")
    assert report.lines() == ["odd (m0, m1, m2, m3, m4)"]
    report.warn("odd", "m5")
    report.warn("odd", "m6")
    assert report.lines() == ["odd (m0, m1, m2, m3, m4, and 2 more)"]


def test_the_same_position_is_named_once_but_counted_each_time():
    report = Report()
    for motion in ("walk", "walk", "run", "", "walk"):
        report.warn("odd", motion)
    assert report.lines() == ["odd (5 times: walk, run)"]


def test_a_finding_without_positions_only_counts():
    report = Report()
    report.warn("odd")
    report.warn("odd")
    assert report.lines() == ["odd (2 times)"]


def test_another_reports_findings_join_the_same_lines_and_it_stays_as_it_was():
    first, other = Report(), Report()
    first.warn("odd", "a")
    other.warn("odd", "b")
    other.note("fine", "c")
    first.include(other)
    assert first.lines() == ["odd (a, b)", "fine (c)"]
    first.warn("odd", "d")
    assert other.lines() == ["odd (b)", "fine (c)"]


@given(st.text(), st.text())
def test_every_line_is_one_line_without_control_characters(finding, path):
    report = Report()
    report.warn(f"the motion {finding} is odd", path)
    for line in (*report.lines(), ReadError(finding, file=path, remedy=finding).sentence()):
        assert len(line.splitlines()) == 1
        assert not {unicodedata.category(sign) for sign in line} & {"Cc", "Zl", "Zp"}


def test_a_printable_text_is_not_escaped():
    text = "ходьба 'walk' C:\\new \N{NO-BREAK SPACE}\ue000"
    assert on_one_line(text) == text
    assert on_one_line("wa\nlk\x1b") == "wa\\nlk\\x1b"


def test_a_sentence_about_each_thing_has_the_number_of_things():
    report = Report()
    for texture in ("sand", "grass", "sand"):
        report.warn(say("{:# texture is|# textures are} missing: set {0:its|their} folder", 1), texture)
    assert report.lines() == ["2 textures are missing: set their folder (sand, grass)"]
    assert report.lines(most=0) == ["2 textures are missing: set their folder"]
    russian = {"{} textures are missing: set their folder": "нет {} текстуры|нет {} текстур|нет {} текстур"}
    assert translated(report.lines(most=0)[0], russian) == "нет 2 текстур"


def test_counted_sentences_about_several_places_are_one_with_their_sum():
    report = Report()
    for count, part in ((5, "hull"), (3, "wing"), (5, "tail"), (1, "")):
        report.warn(say("{:# face has|# faces have} no {}", count, "area"), part)
    report.warn(say("{:# face has|# faces have} no {}", 2, "material"), "hull")
    report.note(say("{:# face has|# faces have} no {}", 2, "area"), "mast")
    assert report.lines() == [
        "14 faces have no area (hull: 5, tail: 5, wing: 3)",
        "2 faces have no material (hull)",
        "2 faces have no area (mast)",
    ]


def test_sentences_with_another_number_are_not_added():
    report = Report()
    for bones, rig in ((70, "stalker"), (70, "dog"), (66, "cat")):
        report.warn(say("{:# bone|# bones}, the game supports {}", bones, 64), rig)
        report.warn(say("the chunk declares {:# byte|# bytes}", bones), rig)
    assert report.lines() == [
        "70 bones, the game supports 64 (stalker, dog)",
        "the chunk declares 70 bytes (stalker, dog)",
        "66 bones, the game supports 64 (cat)",
        "the chunk declares 66 bytes (cat)",
    ]


def test_reports_do_not_share_their_findings():
    Report().warn("odd")
    assert Report().lines() == []
