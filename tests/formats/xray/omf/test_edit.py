"""Editing a set of motions as a list, and saying what differs."""

import struct
from dataclasses import replace

import numpy as np
import pytest

from addon.core.errors import WriteError
from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats.xray import omf
from addon.formats.xray.chunks import Chunk
from addon.formats.xray.conversion import bone_order_of
from addon.formats.xray.omf import edit
from addon.formats.xray.omf.codec import with_motions
from addon.formats.xray.omf.document import Motion, MotionFlag, MotionLibrary, MotionSet
from addon.formats.xray.omf.mapping import decode, encode
from tests.formats.xray.omf.test_bytes import definition, motion, omf_file, parameters
from tests.formats.xray.omf.test_motions_as_clips import flat_skeleton, identity_clip, load
from tests.work import lines_run

HUMAN = "omf/human_smart_cover.omf"


def labels(motions: MotionSet) -> list[str]:
    assert [motion.label for motion in motions.library.motions] == [
        definition.label for definition in motions.parameters.definitions
    ]
    assert [definition.motion for definition in motions.parameters.definitions] == list(
        range(len(motions.library.motions))
    )
    return [motion.label for motion in motions.library.motions]


def made(*names: str, bones: int = 2) -> MotionSet:
    return encode([identity_clip(bones, 2, name) for name in names], skeleton=flat_skeleton(bones))[0]


def turned(motions: MotionSet, name: str) -> MotionSet:
    clip = identity_clip(2, 2, name)
    clip.rotations[1] = (0, 1, 0, 0)
    return encode([clip], motions)[0]


def test_a_rename_is_that_name_and_nothing_else(corpus) -> None:
    data = (corpus / HUMAN).read_bytes()
    before = load(data)
    old = before.motion_set.parameters.definitions[17].label
    after = before.with_motion_set(edit.rename(before.motion_set, old.upper(), "renamed"))
    result = omf.write(after)
    assert list(Walk(omf.VIEWS).differences(before, load(result))) == [f"motion {old!r} is now called 'renamed'"]
    assert len(result) == len(data) + 2 * (len("renamed") - len(old))
    assert omf.write(before) == data
    back = edit.rename(load(result).motion_set, "renamed", old)
    assert omf.write(before.with_motion_set(back)) == data


def test_a_motion_has_the_name_of_its_definition_everywhere() -> None:
    library, parameters = made("walk", "run")
    hidden = [
        replace(motion, name=b"\x81", frames=frames) for motion, frames in zip(library.motions, (2, 0), strict=True)
    ]
    protected = MotionSet(with_motions(library, hidden), parameters)
    assert protected.labels == ["walk", "run"]
    assert "the motion 'run' has 0 frames" in edit.problems(protected)
    assert [clip.name for clip in decode(protected, Report())] == ["walk", "run"]
    undefined = protected._replace(parameters=replace(parameters, definitions=parameters.definitions[:1]))
    assert undefined.labels == ["walk", hidden[1].label]
    assert undefined.definition(1) is None


def test_deleting_keeps_the_others_byte_for_byte(corpus) -> None:
    before = load((corpus / HUMAN).read_bytes())
    names = labels(before.motion_set)
    after = edit.delete(before.motion_set, [names[3], names[200]])
    assert labels(after) == [name for index, name in enumerate(names) if index not in (3, 200)]
    kept = [motion for index, motion in enumerate(before.motion_set.library.motions) if index not in (3, 200)]
    assert [motion.body for motion in after.library.motions] == [motion.body for motion in kept]
    assert load(omf.write(before.with_motion_set(after))).motion_set.library.motions[-1].label == names[-1]


def test_reordering_puts_the_named_first() -> None:
    motions = made("a", "b", "c", "d")
    assert labels(edit.reorder(motions, ["d", "B"])) == ["d", "b", "a", "c"]
    assert labels(motions) == ["a", "b", "c", "d"]


def test_splitting_and_merging_gives_the_whole_back(corpus) -> None:
    data = (corpus / HUMAN).read_bytes()
    document = load(data)
    names = labels(document.motion_set)
    some, rest = edit.split(document.motion_set, names[:40])
    assert labels(some) == names[:40]
    assert labels(rest) == names[40:]
    assert omf.write(document.with_motion_set(edit.merge(some, rest))) == data


def test_merging_puts_tracks_into_this_files_bone_order() -> None:
    mine, other = made("walk"), turned(made("run"), "run")
    bones = other.parameters.partitions[0].bones
    bones[0].track, bones[1].track = 1, 0
    merged = edit.merge(mine, other)
    assert labels(merged) == ["walk", "run"]
    assert merged.library.motions[1].track_bytes(0) == other.library.motions[0].track_bytes(1)
    assert merged.library.motions[1].track_bytes(1) == other.library.motions[0].track_bytes(0)


def test_merging_counts_partitions_by_name() -> None:
    mine, other = made("walk"), made("run")
    mine.parameters.partitions[0].name = b"legs"
    other.parameters.definitions[0].bone_or_part = 0
    with pytest.raises(WriteError, match="plays on the bone part 'default', which this file lacks"):
        edit.merge(mine, other)
    other.parameters.partitions[0].name = b"Legs"
    assert edit.merge(mine, other).parameters.definitions[1].bone_or_part == 0
    other.parameters.partitions[0].name = b"torso"
    other.parameters.definitions[0].flags |= MotionFlag.FX
    assert edit.merge(mine, other).parameters.definitions[1].bone_or_part == 0


def test_merging_a_name_twice_is_refused_or_replaces() -> None:
    mine = made("walk", "run")
    other = turned(made("WALK"), "WALK")
    with pytest.raises(WriteError, match="both files have a motion named 'WALK'"):
        edit.merge(mine, other)
    merged = edit.merge(mine, other, replace_same=True)
    assert labels(merged) == ["WALK", "run"]
    assert merged.library.motions[0].body == other.library.motions[0].body


def test_merging_other_bones_is_refused() -> None:
    with pytest.raises(WriteError, match=r"different bones \(2 and 3; bone2\)"):
        edit.merge(made("walk"), made("run", bones=3))


def test_setting_parameters_changes_those_alone() -> None:
    before = made("walk", "run")
    after = edit.set_parameters(
        before,
        "run",
        timing={"speed": 1.5},
        set_flags=MotionFlag.STOP_AT_END,
        clear_flags=MotionFlag.FX,
        bone_or_part=0,
    )
    play = after.parameters.definitions[1]
    assert (play.timing.tolist(), play.flags, play.bone_or_part) == ([1.5, 1, 2, 2], 2, 0)
    assert before.parameters.definitions[1].timing.tolist() == [1, 1, 2, 2]
    lines = list(Walk(omf.VIEWS).differences(omf.new_omf(before), omf.new_omf(after)))
    assert lines == [
        "motion 'run': flags: none / stop_at_end",
        "motion 'run': bone or part: 65535 / 0",
        "motion 'run': speed: 1.0 / 1.5",
    ]


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (lambda motions: edit.rename(motions, "walk", "RUN"), "named 'run' already exists"),
        (lambda motions: edit.rename(motions, "wal", "x"), "Did you mean walk"),
        (lambda motions: edit.rename(motions, "walk", "x" * 200), "longer than 127"),
        (lambda motions: edit.delete(motions, ["fly"]), "no motion named 'fly'"),
        (
            lambda motions: edit.set_parameters(motions, "walk", timing={"speed": 1000}),
            "outside what the file can store",
        ),
    ],
)
def test_impossible_edits_are_refused_with_a_remedy(action, reason: str) -> None:
    motions = made("walk", "run")
    with pytest.raises(WriteError) as refusal:
        action(motions)
    assert reason in str(refusal.value)
    assert refusal.value.remedy


def test_the_number_of_a_motion_is_the_index_it_has() -> None:
    assert labels(edit.delete(made("a", "b", "c"), ["a"])) == ["b", "c"]


def test_a_file_whose_definitions_are_missing_is_not_guessed_at() -> None:
    motions = made("a", "b")
    motions.parameters.definitions.pop()
    with pytest.raises(WriteError, match="so they cannot be matched"):
        edit.delete(motions, ["a"])


def test_differences_name_motion_bone_frame_and_steps() -> None:
    before = omf.new_omf(made("walk", "run"))
    clip = decode(before.motion_set, Report())[1]
    clip.rotations[1, :, 1] = (0.0, 0.001)
    clip.rotations[1, :, 0] = 1.0
    clip.translations[0] = (1, 2, 3)
    after = before.with_motion_set(encode([clip], before.motion_set)[0])
    assert list(Walk(omf.VIEWS).differences(before, after)) == [
        "motion 'run': bone 'bone0': translation: frame 0: 0.0 0.0 -0.0 / 1.0 2.0 -3.0, by at most 3 m",
        "motion 'run': bone 'bone1': track flags: 2 / 0",
        "motion 'run': bone 'bone1': rotation: 1 / 2 frames",
    ]
    clip.rotations[1, :, 1] = (0.0, 0.002)
    more = after.with_motion_set(encode([clip], after.motion_set)[0])
    assert list(Walk(omf.VIEWS).differences(after, more)) == [
        "motion 'run': bone 'bone1': rotation: frame 1: 33 0 0 32767 / 66 0 0 32767, by at most 33 LSB"
    ]
    assert list(Walk(omf.VIEWS).differences(after, after)) == []


def test_a_longer_motion_says_which_of_the_common_frames_differ_by_bone() -> None:
    files = []
    for frames, edited in ((4, 1), (6, 2)):
        clip = identity_clip(2, frames, "walk")
        clip.rotations[1, :, 1] = 0.001 * np.arange(frames)
        clip.rotations[1, edited, 1] = 0.1
        files.append(omf.new_omf(encode([clip], made("walk"))[0]))
    assert list(Walk(omf.VIEWS).differences(*files)) == [
        "motion 'walk': frames: 4 / 6",
        (
            "motion 'walk': bone 'bone1': rotation: 2 of the common 4 frames differ, first 1: "
            "3260 0 0 32604 / 33 0 0 32767, by at most 3227 LSB"
        ),
    ]


def test_motions_that_only_moved_up_are_not_listed(corpus) -> None:
    before = load((corpus / HUMAN).read_bytes())
    first = before.motion_set.parameters.definitions[0].label
    after = before.with_motion_set(edit.delete(before.motion_set, [first]))
    assert list(Walk(omf.VIEWS).differences(before, after)) == [f"motion {first!r} is only in the first"]
    moved = before.with_motion_set(edit.reorder(before.motion_set, ["lead_0_idle_0"]))
    assert list(Walk(omf.VIEWS).differences(before, moved)) == ["the motions are in another order"]


def test_a_number_that_does_not_count_the_motions_is_a_difference() -> None:
    before, after = omf.new_omf(made("walk", "run")), omf.new_omf(made("walk", "run"))
    after.motion_set.parameters.definitions[1].motion = 7
    after.motion_set.library.motions[1].identifier = 9
    assert list(Walk(omf.VIEWS).differences(before, after)) == [
        "motion 'run': motion number less its index: - / 6",
        "motion 'run': chunk less its index: 1 / 8",
    ]


@pytest.mark.parametrize("renamed", [False, True])
@pytest.mark.parametrize("distinct", [False, True])
def test_thousands_of_motions_are_reported_apart_in_linear_work(renamed, distinct) -> None:
    """All of one name or each of its own, the same keys under other names or none in common."""

    def compared(count: int):
        files = []
        for side in (b"left", b"right"):
            named = [side + (str(number).encode() if distinct else b"") for number in range(count)]
            rotation = 0 if renamed or side == b"left" else 1
            keys = [b"\2" + struct.pack("<4h3f", rotation, number, 0, 0, 0, 0, 0) for number in range(count)]
            definitions = [definition(name, number) for number, name in enumerate(named)]
            motions = [motion(name, track) for name, track in zip(named, keys, strict=True)]
            files.append(load(omf_file(motions, parameters(3, [b"a"], definitions))))
        lines = list(Walk(omf.VIEWS).differences(*files))
        assert len(lines) == (count if renamed else 2 * count)
        return lambda: list(Walk(omf.VIEWS).differences(*files))

    assert lines_run(compared(400)) < 2.1 * lines_run(compared(200))


def test_a_dump_names_bones_and_says_where_names_are_missing() -> None:
    motions = made("walk")
    lines = list(Walk(omf.VIEWS).dump(omf.new_omf(motions)))
    at = lines.index("bone part 'default'")
    assert lines[at + 1 : at + 5] == ["  bone 'bone0'", "    track 0", "  bone 'bone1'", "    track 1"]
    bones = motions.parameters.partitions[0].bones
    bones[1] = replace(bones[1], name=None)
    assert "  bone -" in list(Walk(omf.VIEWS).dump(omf.new_omf(motions)))


def test_translations_of_one_file_only_are_shown_as_missing_in_the_other() -> None:
    motions = made("walk")
    clip = identity_clip(2, 2, "walk")
    clip.translations[1, 1] = (0, 0, 1)
    still, moved = omf.new_omf(motions), omf.new_omf(encode([clip], motions)[0])
    bone = "motion 'walk': bone 'bone1': "
    for first, other, size, init in (
        (still, moved, "- / 0.0 0.0 0.003937008", "- / 0.0 0.0 -0.5"),
        (moved, still, "0.0 0.0 0.003937008 / -", "0.0 0.0 -0.5 / -"),
    ):
        lines = list(Walk(omf.VIEWS).differences(first, other))
        assert lines[2:] == [f"{bone}translation size: {size}", f"{bone}translation init: {init}"]
    other_order = replace(still, sections=still.sections[::-1])
    assert "the chunks are in another order" in list(Walk(omf.VIEWS).differences(still, other_order))


def test_the_bones_of_a_motion_file_are_in_the_order_of_its_tracks(tmp_path) -> None:
    motions = made("walk")
    partition = motions.parameters.partitions[0]
    partition.bones.reverse()
    path = tmp_path / "a.omf"
    path.write_bytes(omf.write(omf.new_omf(motions)))
    order = bone_order_of(str(path))
    assert (order.bones, order.parts) == (["bone0", "bone1"], [("default", ["bone1", "bone0"])])


def test_a_description_counts_what_is_there(corpus) -> None:
    lines = omf.describe(load((corpus / HUMAN).read_bytes()))
    assert lines[0] == "231 motions, 15371 frames, 148 marks, parameters version 4"
    assert lines[1] == "bone parts: legs (13 bones), torso (30 bones), head (4 bones)"


# Chunk ids and counts ------------------------------------------------------------------------------------------------


def odd_file() -> MotionSet:
    """Motions in chunks 2, 5 and 7 with junk between, a count of 9, and definitions that number them 4, 4, 0."""
    plain = made("a", "b", "c")
    chunks = [Chunk(0, struct.pack("<I", 9)), Chunk(3, b"junk"), Chunk(0x8000_0001, b"")]
    ids = {"a": 2, "b": 5, "c": 7}
    motions = [replace(motion, identifier=ids[motion.label]) for motion in plain.library.motions]
    definitions = [
        replace(own_definition, motion=number)
        for own_definition, number in zip(plain.parameters.definitions, (4, 4, 0), strict=True)
    ]
    entries = [chunks[0], motions[1], chunks[1], motions[0], motions[2], chunks[2]]
    return MotionSet(MotionLibrary(entries, b"\1"), replace(plain.parameters, definitions=definitions))


def ids(motions: MotionSet) -> list[int | tuple[int, str]]:
    """Chunk ids as they lie in the file, those of motions with their names."""
    return [
        (entry.identifier, entry.label) if isinstance(entry, Motion) else entry.id for entry in motions.library.entries
    ]


def is_sound(motions: MotionSet) -> bool:
    """Whether the engine finds every motion that is declared, each with its definition."""
    count, *rest = motions.library.entries
    numbers = list(range(len(rest)))
    return (
        isinstance(count, Chunk)
        and (count.id, count.body) == (0, struct.pack("<I", len(rest)))
        and [motion.identifier for motion in rest] == [number + 1 for number in numbers]
        and [definition.motion for definition in motions.parameters.definitions] == numbers
    )


def test_as_many_motions_keep_the_odd_chunk_ids_of_their_file() -> None:
    motions = odd_file()
    assert ids(motions) == [0, (5, "b"), 3, (2, "a"), (7, "c"), 0x8000_0001]
    for changed in (turned(motions, "b"), edit.set_parameters(motions, "b", set_flags=int(MotionFlag.IDLE))):
        assert ids(changed) == ids(motions)
        assert [own_definition.motion for own_definition in changed.parameters.definitions] == [4, 4, 0]
        assert changed.library.tail == b"\1"
        assert changed.library.entries[3] is motions.library.entries[3]
    assert ids(edit.rename(motions, "b", "z")) == [0, (5, "z"), 3, (2, "a"), (7, "c"), 0x8000_0001]
    reordered = edit.reorder(motions, ["c"])
    assert ids(reordered) == [0, (5, "a"), 3, (2, "c"), (7, "b"), 0x8000_0001]
    assert [own_definition.motion for own_definition in reordered.parameters.definitions] == [0, 1, 2]
    same = edit.merge(motions, made("b"), replace_same=True)
    assert ids(same) == ids(motions)
    assert [own_definition.motion for own_definition in same.parameters.definitions] == [4, 4, 0]


def test_a_size_that_runs_past_the_end_stays_where_it_is() -> None:
    motions = made("a", "b")
    motions.library.entries[-1].declared = 999
    reordered = edit.reorder(motions, ["b"])
    assert [entry.declared for entry in reordered.library.motions] == [None, None]
    assert [entry.declared for entry in turned(motions, "a").library.motions] == [None, 999]


def test_other_motions_are_counted_and_numbered() -> None:
    motions = odd_file()
    entry, two = edit.split(motions, ["b"])
    for changed in (
        edit.delete(motions, ["a"]),
        edit.only(motions, [1, 2]),
        edit.only(motions, [2]),
        edit.merge(motions, made("d")),
        encode([identity_clip(2, 2, "d")], motions)[0],
        entry,
        two,
    ):
        assert is_sound(changed)
    assert edit.only(motions, [0, 1, 2]) is motions
