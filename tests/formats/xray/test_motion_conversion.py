"""Motions of the editor as those of the game and back, on the command line."""

import numpy as np
import pytest

from addon import cli
from addon.core import rotation
from addon.core.errors import WriteError
from addon.core.report import Report
from addon.formats.xray import bones, conversion, omf, skl
from addon.formats.xray import object as editor_model
from addon.formats.xray.omf.document import Motion, Track, TrackFlag
from addon.formats.xray.omf.mapping import decode as decode_clips
from tests.real_files import corpus_files


def read(module, data, name):
    return module.read(data, name, Report())


def farthest(entry, other):
    """Radians and metres between the keys of two clips."""
    angles = rotation.angles_between(rotation.normalised(entry.rotations), rotation.normalised(other.rotations))
    return angles.max(initial=0), np.abs(entry.translations - other.translations).max(initial=0)


def same_motions(first, second, radians, metres):
    own_mine, others = (decode_clips(result.motion_set, Report()) for result in (first, second))
    assert [clip.name for clip in own_mine] == [clip.name for clip in others]
    for mine, other in zip(own_mine, others, strict=True):
        assert (mine.bones, mine.frames) == ([bone.lower() for bone in other.bones], other.frames)
        angle, apart = farthest(mine, other)
        assert angle < radians
        assert apart < metres


@pytest.mark.parametrize("name", ["humanoid.omf", "weapon.omf"])
def test_motions_of_the_game_survive_as_through_the_editors(samples, name):
    before = read(omf, (samples / name).read_bytes(), name)
    between = skl.write(conversion.editor_motions(before, Report()))
    editor = read(skl, between, "a.skls")
    after = conversion.game_motions(editor.motions, Report())
    same_motions(before, after, 2e-4, 1e-4)
    mine, others = (result.motion_set.parameters.definitions for result in (before, after))
    for first, other in zip(mine, others, strict=True):
        assert (first.flags & 0xFF, first.bone_or_part) == (other.flags, other.bone_or_part)
        assert first.timing.tolist() == other.timing.tolist()
        assert [mark.name for mark in first.marks] == [mark.name for mark in other.marks]


@pytest.mark.parametrize("file", corpus_files("omf/coc_dev_bolt_tiny.omf", "omf/gwr_knife_tiny_marks.omf"))
def test_real_motions_survive_it(file):
    before = read(omf, file.read_bytes(), file.name)
    after = conversion.game_motions(conversion.editor_motions(before, Report()).motions, Report())
    same_motions(before, after, 2e-3, 1e-3)


@pytest.mark.parametrize("file", corpus_files("skls/unarmed.skls"))
def test_real_motions_of_the_editor_are_sampled_on_every_frame(file):
    document = read(skl, file.read_bytes(), file.name)
    motion = document.motions[0]
    clip = conversion.sampled(motion, Report())
    assert clip.frames == motion.last - motion.first + 1
    whole = [
        (number, track.envelopes[1].decoded().values)
        for number, track in enumerate(motion.tracks)
        if len(track.envelopes[1].keys) == clip.frames
    ]
    assert whole
    for number, keys in whole:
        np.testing.assert_allclose(clip.translations[number, :, 1], keys, atol=1e-7)


def test_bone_parts_of_an_object_become_those_of_the_motions(samples):
    model = read(editor_model, (samples / "weapon.object").read_bytes(), "weapon.object").model
    parts = [bones.Part(b"body", [b"wpn_body", b"trigger"]), bones.Part(b"rest", [b"Bolt", b"magazine"])]
    created = conversion.game_motions(model.motions, Report(), parts)
    result = created.motion_set.parameters.partitions
    assert [(part.name, [(bone.name, bone.track) for bone in part.bones]) for part in result] == [
        (b"body", [(b"wpn_body", 0), (b"trigger", 3)]),
        (b"rest", [(b"bolt", 2), (b"magazine", 1)]),
    ]


def test_another_rate_is_sampled_at_the_games():
    motion = skl.SkeletalMotion(b"a", 0, 10, np.float32(10), 6, 0, 0xFFFF, np.ones(4, "<f4"), [])
    report = Report()
    assert conversion.sampled(motion, report).rotations.shape[0] == 0
    assert "sampled at 30 frames per second instead of 10" in report.notes
    assert conversion.sampled(motion, report).frames == 31


def test_translations_beyond_32_bits_become_infinite_with_a_warning(samples):
    document = read(omf, (samples / "humanoid.omf").read_bytes(), "humanoid.omf")
    motion = document.motion_set.library.motions[0]
    tracks = [motion.track(number) for number in range(motion.track_count)]
    moved = next(track for track in tracks if track.size is not None)
    moved.size = np.full(3, 3e38, np.float32)
    motion.body = Motion.of(motion.name, motion.frames, tracks).body
    damaged = read(omf, omf.write(document), "humanoid.omf")
    report = Report()
    created = conversion.editor_motions(damaged, report)
    assert any("NaN or infinite values" in warning for warning in report.warnings)
    values = [envelope.keys["value"] for track in created.motions[0].tracks for envelope in track.envelopes]
    assert sum(np.isinf(channel).sum() for channel in values) > 0
    assert not any(np.isnan(channel).any() for channel in values)


@pytest.mark.filterwarnings("error")
def test_infinite_rotations_of_a_damaged_file_stay_on_their_frames_with_a_warning(samples):
    document = read(omf, (samples / "humanoid.omf").read_bytes(), "humanoid.omf")
    motion = document.motion_set.library.motions[0]
    tracks = [motion.track(number) for number in range(motion.track_count)]
    sound = read(omf, omf.write(document), "humanoid.omf")
    damaged = np.tile(np.array([0, 0, 0, 1], "<f4"), (motion.frames, 1))
    damaged[3] = (np.inf, 0, np.inf, np.nan)
    tracks[2] = Track(TrackFlag.FLOAT_KEYS, damaged, np.zeros((1, 3), "<f4"), rotation_crc=0)
    changed = Motion.of(motion.name, motion.frames, tracks)
    motion.body, motion.starts = changed.body, changed.starts
    report = Report()
    created = conversion.editor_motions(read(omf, omf.write(document), "humanoid.omf"), report)
    assert any("NaN or infinite values" in warning for warning in report.warnings)
    values = np.stack([envelope.keys["value"] for envelope in created.motions[0].tracks[2].envelopes[3:]])
    assert np.flatnonzero(np.isnan(values).any(axis=0)).tolist() == [3]
    others = conversion.editor_motions(sound, Report()).motions[0].tracks
    for number in {*range(motion.track_count)} - {2}:
        for own_envelope, other in zip(
            created.motions[0].tracks[number].envelopes, others[number].envelopes, strict=True
        ):
            assert own_envelope.keys.tobytes() == other.keys.tobytes()


@pytest.mark.parametrize("last", [-1, 1 << 30])
def test_motions_without_frames_or_with_absurdly_many_are_refused(last):
    motion = skl.SkeletalMotion(b"a", 0, last, np.float32(30), 6, 0, 0xFFFF, np.ones(4, "<f4"), [])
    with pytest.raises(WriteError, match="frames 0 to"):
        conversion.sampled(motion, Report())


@pytest.fixture
def run(capsys):
    def run(*arguments):
        status = cli.main([str(argument) for argument in arguments])
        return status, capsys.readouterr().err

    return run


def test_on_the_command_line(run, samples, tmp_path):
    status, err = run("convert", samples / "weapon.object", "--to", "skls", "-o", tmp_path)
    assert (status, err) == (0, "")
    inside = read(editor_model, (samples / "weapon.object").read_bytes(), "a").model.first(skl.Skl)
    assert (tmp_path / "weapon.skls").read_bytes() == skl.write(inside)
    assert run("convert", tmp_path / "weapon.skls", "--to", "omf", "-o", tmp_path / "one.omf") == (0, "")
    assert run("convert", samples / "weapon.object", "--to", "omf", "-o", tmp_path / "two.omf") == (0, "")
    assert run("diff", tmp_path / "one.omf", tmp_path / "two.omf")[0] == 0
    assert run("convert", tmp_path / "one.omf", "--to", "skls", "-o", tmp_path / "again.skls") == (0, "")
    again = read(skl, (tmp_path / "again.skls").read_bytes(), "again.skls")
    assert [motion.label for motion in again.motions] == ["fire"]


def motions_in(path):
    document = read(editor_model if path.suffix == ".object" else skl, path.read_bytes(), path.name)
    return document.model.motions if path.suffix == ".object" else document.motions


def test_motions_into_a_model_replace_those_of_their_name_and_no_other_byte_changes(run, samples, tmp_path):
    model, out = samples / "weapon.object", tmp_path / "out.object"
    assert run("convert", model, "--to", "skls", "-o", tmp_path / "same.skls") == (0, "")
    to_model = ("--to", "object", "--model", model, "-o", out)
    assert run("convert", tmp_path / "same.skls", *to_model) == (0, "")
    assert out.read_bytes() == model.read_bytes()
    assert run("convert", model, *to_model) == (0, "")
    assert out.read_bytes() == model.read_bytes()
    assert run("convert", samples / "weapon.omf", *to_model)[0] == 0
    held, (fire,) = motions_in(out), motions_in(model)
    listed = read(omf, (samples / "weapon.omf").read_bytes(), "a").motion_set.parameters.definitions
    assert [motion.name for motion in held] == [b"fire", *(entry.name for entry in listed if entry.name != b"fire")]
    assert run("convert", out, "--to", "omf", "-o", tmp_path / "back.omf")[0] == 0
    before, after = (read(editor_model, path.read_bytes(), "a").model for path in (model, out))
    kept = [
        [bytes(section.chunk.body) for section in result.sections if section.chunk.id != 0x916]
        for result in (before, after)
    ]
    assert kept[0] == kept[1]
    assert fire.label == "fire"


def test_what_motions_cannot_be_written_into_is_refused(run, samples, tmp_path):
    out = tmp_path / "out.object"
    source = samples / "weapon.omf"
    assert "Name an .object with --model" in run("convert", source, "--to", "object", "-o", out)[1]
    status, err = run("convert", source, "--to", "object", "--model", samples / "weapon.ogf", "-o", out)
    assert (status, "not an .object" in err) == (2, True)
    status, err = run("convert", samples / "camera.anm", "--to", "object", "--model", source, "-o", out)
    assert (status, "holds no motions of X-Ray" in err) == (2, True)
    status, err = run("convert", source, "--to", "object", "--model", samples / "weapon.object", "--in-place")
    assert (status, "does not replace it" in err) == (2, True)
    assert not out.exists()


def is_small(result):
    """Whether a parameter of `corpus_files` takes a second or less, or stands for a missing corpus."""
    (path,) = result.values
    return path is None or path.stat().st_size < 100_000


@pytest.mark.parametrize("file", list(filter(is_small, corpus_files("omf", "skl", "skls"))))
def test_real_motion_files_in_each_direction(run, samples, file, tmp_path):
    """Into a model and out of it again: what comes out is what the file itself is converted to."""
    model, back = tmp_path / "model.object", tmp_path / "back.skls"
    status, err = run("convert", file, "--to", "object", "--model", samples / "weapon.object", "-o", model)
    direct = tmp_path / "direct.skls"
    if file.suffix == ".omf":
        refused = run("convert", file, "--to", "skls", "-o", direct)[0]
        assert (status != 0) == (refused != 0 or not motions_in(direct))
    else:
        direct = file
    if status:
        assert err
        assert not model.exists()
        return
    assert run("convert", model, "--to", "skls", "-o", back)[0] == 0
    mine, others = motions_in(back)[1:], motions_in(direct)
    assert sorted(entry.name for entry in mine) == sorted(other.name for other in others)
    mine.sort(key=lambda entry: entry.name.lower())
    others.sort(key=lambda entry: entry.name.lower())
    assert [skl.write(skl.new_skls([entry])) for entry in mine] == [
        skl.write(skl.new_skls([other])) for other in others
    ]


def test_an_object_without_motions_is_refused(run, samples, tmp_path):
    document = read(editor_model, (samples / "weapon.object").read_bytes(), "a")
    sections = [section for section in document.model.sections if not isinstance(section.value, skl.Skl)]
    (tmp_path / "still.object").write_bytes(editor_model.write(document.with_model(editor_model.Model(sections))))
    for kind in ("skls", "omf"):
        status, err = run("convert", tmp_path / "still.object", "--to", kind, "-o", tmp_path / "out")
        assert status == 2
        assert "there are no motions" in err
        assert not (tmp_path / "out").exists()
