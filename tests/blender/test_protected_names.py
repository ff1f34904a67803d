"""Motion files whose motions have scrambled names, as tools that protect files leave them: the game looks up those of
the definitions, and so does everything here.
"""

import shutil
from dataclasses import replace
from pathlib import Path

import bpy
import pytest

from addon.blender import compat
from addon.core.report import Report
from addon.formats.xray import ogf, omf
from addon.formats.xray.ogf.document import motion_set_of
from addon.formats.xray.omf.codec import with_motions
from addon.formats.xray.omf.document import MotionSet
from addon.games.xray.hud.pairs import MotionFiles
from addon.games.xray.models.importing import import_model
from addon.games.xray.motions import library
from addon.games.xray.options import ModelImportOptions
from tests.blender.scenes import reopen
from tests.blender.test_ui import last_report, turn_a_key
from tests.real_files import CORPUS

NOTHING = "humanoid.omf: no changes to save"


def scrambled(path: Path) -> None:
    """Scramble the names in the motions of a file."""
    document = omf.read(path.read_bytes(), path.name, Report())
    motions, parameters = document.motion_set
    hidden = [replace(motion, name=bytes([0x80 + number, 7])) for number, motion in enumerate(motions.motions)]
    path.write_bytes(omf.write(document.with_motion_set(MotionSet(with_motions(motions, hidden), parameters))))


def names_in(path: Path) -> tuple[list[str], list[str]]:
    """The names in the definitions of a file, and those in its motions."""
    motions = omf.read(path.read_bytes(), path.name, Report()).motion_set
    return [definition.label for definition in motions.parameters.definitions], [
        motion.label for motion in motions.library.motions
    ]


@pytest.fixture
def protected(samples, tmp_path):
    """A folder with a model and its protected motions, the model imported with them."""
    for name in ("humanoid.ogf", "humanoid.omf"):
        shutil.copy(samples / name, tmp_path / name)
    scrambled(tmp_path / "humanoid.omf")
    opened(tmp_path / "humanoid.ogf", tmp_path / "humanoid.omf")
    return tmp_path / "humanoid.omf"


def opened(model: Path, motions: Path):
    assert bpy.ops.import_scene.xray_ogf(filepath=str(model), textures=False) == {"FINISHED"}
    rig = bpy.context.view_layer.objects.active
    assert bpy.ops.import_scene.xray_omf(filepath=str(motions)) == {"FINISHED"}
    return rig


def edit():
    turn_a_key(bpy.context.object.animation_data.action)


def save():
    return bpy.ops.motionbridge.save_back(backup=False)


def test_saved_again_and_again_the_names_stay(protected, tmp_path):
    names = names_in(protected)
    assert set(names[0]).isdisjoint(names[1])
    for _ in range(2):
        edit()
        assert save() == {"FINISHED"}
        assert last_report()[0].startswith("humanoid.omf: 1 motion, 1 track changed, 4 unchanged")
        assert save() == {"CANCELLED"}
        assert last_report()[0] == NOTHING
        reopen(tmp_path)
        assert save() == {"CANCELLED"}
        assert names_in(protected) == names


def test_a_deleted_motion_goes_and_the_others_keep_their_names(protected):
    definitions, motions = names_in(protected)
    bpy.context.object.motionbridge_motion_row = 1
    assert bpy.ops.motionbridge.delete_motion() == {"FINISHED"}
    for _ in range(2):
        save()
        assert names_in(protected) == ([definitions[0], *definitions[2:]], [motions[0], *motions[2:]])
    assert last_report()[0] == NOTHING


def test_a_renamed_motion_has_its_new_name_everywhere(protected):
    definitions, motions = names_in(protected)
    library.motions_of(bpy.context.object.motionbridge_motion_files[0])[1].motionbridge_motion.motion_name = "other"
    for _ in range(2):
        save()
        assert names_in(protected) == (
            [definitions[0], "other", *definitions[2:]],
            [motions[0], "other", *motions[2:]],
        )


@pytest.mark.parametrize("first", [edit, save])
def test_an_export_keeps_the_names(protected, tmp_path, first):
    names = names_in(protected)
    edit()
    first()
    assert bpy.ops.export_scene.xray_omf(filepath=str(tmp_path / "other.omf")) == {"FINISHED"}
    assert names_in(tmp_path / "other.omf") == names


def test_a_linked_export_saves_back_with_the_names(protected, tmp_path):
    names, other = names_in(protected), tmp_path / "other.omf"
    assert bpy.ops.export_scene.xray_omf(filepath=str(other), remember=True) == {"FINISHED"}
    assert save() == {"CANCELLED"}
    edit()
    assert save() == {"FINISHED"}
    assert last_report()[0].startswith("other.omf: 1 motion, 1 track changed, 4 unchanged")
    assert names_in(other) == names
    assert save() == {"CANCELLED"}


def test_motions_inside_a_model_keep_their_names(samples, tmp_path):
    path = tmp_path / "weapon.ogf"
    model = ogf.read((samples / "weapon_embedded.ogf").read_bytes(), "", Report())
    motions, parameters = motion_set_of(model)
    hidden = [replace(motion, name=bytes([0x80 + number, 7])) for number, motion in enumerate(motions.motions)]
    changed = MotionSet(with_motions(motions, hidden), parameters)
    path.write_bytes(ogf.write(ogf.document.with_motion_set(model, changed)))
    rig = opened(path, path)
    for _ in range(2):
        turn_a_key(rig.animation_data.action, f'pose.bones["{rig.pose.bones[0].name}"].rotation_quaternion')
        assert save() == {"FINISHED"}
        motion_set = motion_set_of(ogf.read(path.read_bytes(), "", Report()))
        assert motion_set.labels == [definition.label for definition in parameters.definitions]
        assert [motion.name for motion in motion_set.library.motions] == [motion.name for motion in hidden]


def test_a_scene_finds_motions_by_the_names_of_the_game(protected, tmp_path):
    bpy.ops.wm.read_homefile(use_empty=True)
    model = import_model(bpy.context, tmp_path / "humanoid.ogf", ModelImportOptions(textures=False), Report())
    motion_files = MotionFiles(model, tmp_path / "humanoid.ogf", str(protected), Report()).import_named(
        bpy.context, ["idle", "walk"], Report()
    )
    assert sorted(motion_files) == ["idle", "walk"]


@pytest.mark.skipif(CORPUS is None, reason="MOTIONBRIDGE_CORPUS is not set")
def test_a_real_protected_file_keeps_its_names(tmp_path):
    path = tmp_path / "saiga.omf"
    shutil.copy(CORPUS / "omf" / "protected_saiga12_hud_animation.omf", path)
    rig = opened(CORPUS / "ogf" / "protected_saiga12_hud.ogf", path)
    names = names_in(path)
    assert len(set(names[0]) - set(names[1])) == 17
    curves = [fcurve for fcurve in compat.curve_bag(rig.animation_data.action).fcurves if fcurve.array_index == 1]
    curve = next(curve for curve in curves if curve.data_path.endswith("rotation_quaternion"))
    for _ in range(3):
        curve.keyframe_points[0].co[1] += 0.2
        assert save() == {"FINISHED"}
        assert "renamed" not in last_report()[0]
        assert names_in(path) == names
        assert save() == {"CANCELLED"}
