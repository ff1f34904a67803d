"""Models, their motions and the editor's, imported, untouched and saved by this Blender."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.blender import action as actions
from addon.core.report import Report
from addon.games.descent3 import model as descent_model
from addon.games.xray.models.importing import import_model
from addon.games.xray.motions import library, omf_codec, skl_codec
from addon.games.xray.motions.omf_codec import MotionImportOptions
from addon.games.xray.motions.skl_codec import Rotation, SkeletalImportOptions
from addon.games.xray.options import ModelImportOptions
from tests.blender import test_control_rig as controlled
from tests.blender.test_skl_motions import made_motion, rig_of, written
from tests.real_files import MOTIONS_OF_MODELS, SHIPS, motions_of_model


@pytest.mark.parametrize("model", MOTIONS_OF_MODELS)
def test_an_unedited_import_is_saved(between, model) -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    model_path, motion_paths = motions_of_model(model)
    rig = import_model(bpy.context, model_path, ModelImportOptions(textures=False), Report()).rig
    for path in motion_paths:
        library.import_motions(
            omf_codec.OMF, bpy.context, rig, str(path), options=MotionImportOptions(), report=Report()
        )
    rig.name = "rig"
    bpy.ops.wm.save_as_mainfile(filepath=str(between / f"{model}.blend"))


@pytest.mark.parametrize("kind", [Rotation.EULER, Rotation.QUATERNION])
def test_editor_motions_are_saved(between, kind) -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig = rig_of(["root", "arm", "hand", "Finger"])
    path = written(between, made_motion([0, 1, 3]), made_motion([4], seed=5, apart=True), name=f"{kind.value}.skls")
    options = SkeletalImportOptions(rotation=kind)
    library.import_motions(skl_codec.SKL, bpy.context, rig, str(path), options=options, report=Report())
    bpy.ops.wm.save_as_mainfile(filepath=str(between / f"{kind.value}.blend"))


@pytest.mark.parametrize("ship", SHIPS, ids=lambda path: path.stem)
def test_a_ship_is_saved(between, ship) -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    model = descent_model.import_model(bpy.context, ship, descent_model.ModelImportOptions(), Report())
    model.holder.name = "ship"
    bpy.ops.wm.save_as_mainfile(filepath=str(between / f"{ship.stem}.oof.blend"))


@pytest.mark.parametrize("model", controlled.SKELETONS + controlled.REAL[:1])
def test_motions_on_a_control_rig_are_saved_unedited_and_edited(between, model) -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig, controls, _ = controlled.with_rig(model)
    rig.name = "rig"
    long = [action for action in controlled.motions_of(rig) if np.ptp(action.frame_range) > 5]
    for action in controlled.some(long, 5):
        actions.play(bpy.context, rig, action)
    bpy.ops.wm.save_as_mainfile(filepath=str(between / f"{model} controls.blend"))
    first = int(action.frame_range[0])
    change = Matrix.Translation((0.02, 0.03, 0.05))
    controlled.key(controls, controlled.goal_of(controls), range(first + 1, first + 4), change)
    controlled.saved(rig, between / f"{model} edited.omf")
    bpy.ops.wm.save_as_mainfile(filepath=str(between / f"{model} edited.blend"))
