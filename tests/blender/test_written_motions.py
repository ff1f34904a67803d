"""What is in the written motion files, as the game's engine and the user look at them: counts, lengths, warnings."""

import shutil
import struct
from pathlib import Path

import bpy
import pytest

from addon.core.report import Report
from addon.formats.xray import ogf, omf
from addon.formats.xray.ogf.motions import motion_set_of
from addon.formats.xray.omf.document import Motion, MotionSet
from tests.blender.test_motions import needs_corpus
from tests.blender.test_ui import game_folder, load


@pytest.fixture
def game(tmp_path, samples) -> Path:
    return game_folder(tmp_path, samples)


def motions_in(path: Path) -> MotionSet:
    if path.suffix == ".ogf":
        found = motion_set_of(ogf.read(path.read_bytes(), path.name, Report()))
        assert found is not None
        return found
    return omf.read(path.read_bytes(), path.name, Report()).motion_set


def sound_motions(path: Path) -> list[str]:
    """The names in a file, once it is sure that the engine finds what it is told to look for."""
    library, parameters = motions_in(path)
    count, *motions = library.entries
    assert count.body == struct.pack("<I", len(motions))
    assert all(isinstance(motion, Motion) for motion in motions)
    assert [motion.identifier for motion in motions] == list(range(1, len(motions) + 1))
    assert [definition.motion for definition in parameters.definitions] == list(range(len(motions)))
    labels = [motion.label for motion in motions]
    assert [definition.label for definition in parameters.definitions] == labels
    return labels


# Fewer or more motions than the source --------------------------------------------------------------------------------


@pytest.fixture
def detector(corpus, tmp_path) -> Path:
    """A file of 22 motions with its skeleton beside it."""
    shutil.copy(corpus / "ogf" / "coc_detector1_hud.ogf", tmp_path)
    return Path(shutil.copy(corpus / "omf" / "coc_detector1.omf", tmp_path))


def import_detector(detector: Path):
    rig = load(detector.parent, "coc_detector1_hud.ogf", detector.name)
    (file,) = rig.motionbridge_motion_files
    return rig, sorted(bpy.data.actions, key=lambda action: action.motionbridge_motion.place), file


def delete_in_panel(*actions) -> None:
    for action in actions:
        assert bpy.ops.motionbridge.delete_motion(action=action.name) == {"FINISHED"}


@needs_corpus
def test_the_active_action_of_22_is_a_file_of_one(detector, tmp_path):
    _, actions, _ = import_detector(detector)
    rig = bpy.context.view_layer.objects.active
    rig.animation_data.action = actions[7]
    target = tmp_path / "one.omf"
    assert bpy.ops.export_scene.xray_omf(filepath=str(target), choose="ACTIVE") == {"FINISHED"}
    before = motions_in(detector).library.motions[7]
    assert sound_motions(target) == [before.label]
    assert bytes(motions_in(target).library.motions[0].body) == bytes(before.body)


@needs_corpus
def test_chosen_names_are_numbered_from_one(detector, tmp_path):
    import_detector(detector)
    names = [motion.label for motion in motions_in(detector).library.motions]
    target = tmp_path / "three.omf"
    chosen = [names[2], names[3], names[21]]
    assert bpy.ops.export_scene.xray_omf(filepath=str(target), motions=";".join(chosen)) == {"FINISHED"}
    assert sound_motions(target) == chosen
    everything = tmp_path / "all.omf"
    assert bpy.ops.export_scene.xray_omf(filepath=str(everything), motions=";".join(names)) == {"FINISHED"}
    assert everything.read_bytes() == detector.read_bytes()


@needs_corpus
@pytest.mark.parametrize("on_disk", [True, False], ids=["file on disk", "file gone"])
def test_a_motion_deleted_in_the_panel_leaves_no_gap(detector, on_disk):
    _, actions, _ = import_detector(detector)
    names = [motion.label for motion in motions_in(detector).library.motions]
    delete_in_panel(actions[4], actions[20])
    if not on_disk:
        detector.unlink()
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert sound_motions(detector) == [name for place, name in enumerate(names) if place not in (4, 20)]


@needs_corpus
def test_motions_go_into_a_file_of_others_without_gaps(detector, tmp_path):
    import_detector(detector)
    target = tmp_path / "some.omf"
    names = [motion.label for motion in motions_in(detector).library.motions]
    assert bpy.ops.export_scene.xray_omf(filepath=str(target), motions=";".join(names[5:9])) == {"FINISHED"}
    wanted = ";".join(names[7:12])
    assert bpy.ops.export_scene.xray_omf(filepath=str(target), onto="FILE", motions=wanted) == {"FINISHED"}
    assert sound_motions(target) == names[5:12]


def test_motions_inside_a_model_are_numbered_too(game):
    load(game, "weapon_embedded.ogf", "")
    model = game / "weapon_embedded.ogf"
    names = sound_motions(model)
    assert len(names) > 1
    actions = sorted(bpy.data.actions, key=lambda action: action.motionbridge_motion.place)
    target = game / "one.omf"
    assert bpy.ops.export_scene.xray_omf(filepath=str(target), motions=actions[-1].name) == {"FINISHED"}
    assert sound_motions(target) == names[-1:]
    delete_in_panel(actions[0])
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert sound_motions(model) == names[1:]
