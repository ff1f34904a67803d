"""Control rigs on every motion of real people and hands: how exactly it is shown, and that files are the same."""

import sys

import bpy
import numpy as np
import pytest

from addon.blender import control_links, control_rig
from addon.blender.bone_curves import evaluated_poses
from addon.blender.control_law import Law
from addon.core import affine, rotation
from tests.blender.rtm_scene import BINARISED, PLAIN, exported, load
from tests.blender.test_control_rig import METRES, RADIANS, motions_of, saved
from tests.real_files import CORPUS, REAL_MOTIONS_OF_MODELS

PEOPLE_AND_HANDS = (
    "human_stalker_hero_1", "gwr_wpn_hand_04", "ixray_wpn_hand_0", "nlc_pp91_hud", "nlc_walter99_hud",
    "gwr_beretta_hud", "gwr_knife_hud", "soc_bolt_hud", "coc_dev_bolt_hud", "coc_detector1_hud", "headflash_hud",
    "medkit_exo_hud", "hoc_backpack_hud",
)  # fmt: skip
FILES = [(model, name) for model in PEOPLE_AND_HANDS for name in REAL_MOTIONS_OF_MODELS[model]] if CORPUS else []


class Shown:
    """What an armature shows of actions without control rigs, to be compared with what their controls show."""

    def __init__(self, rig, actions):
        self._rig = rig
        self._before = {action: self._poses(action) for action in actions}

    def _poses(self, action):
        frames = control_rig.frames_of(action, self._rig)
        return affine.rigid(evaluated_poses(bpy.context, self._rig, action, frames))

    def compare(self, label, capsys):
        """Tell and check how far bones are off on any frame; controls have no scale, which is left out."""
        metres, radians = [np.empty(0)], [np.empty(0)]
        for action, poses in self._before.items():
            now = self._poses(action)
            metres.append(np.linalg.norm(now[..., :3, 3] - poses[..., :3, 3], axis=-1).ravel())
            turns = (rotation.from_matrices(one[..., :3, :3]) for one in (now, poses))
            radians.append(rotation.angles_between(*turns).ravel())
        apart, turned = np.concatenate(metres), np.concatenate(radians)
        frames = sum(map(len, self._before.values()))
        with capsys.disabled():
            sys.stdout.write(
                f"\n{label}: {len(self._before)} motions, {frames} frames; off by at most {apart.max():.1e} m, "
                f"{turned.max():.1e} rad; "
                f"99% by {np.quantile(apart, 0.99):.1e} m, {np.quantile(turned, 0.99):.1e} rad\n"
            )
        assert apart.max() < METRES
        assert turned.max() < RADIANS


@pytest.mark.skipif(CORPUS is None, reason="MOTIONBRIDGE_CORPUS is not set")
@pytest.mark.parametrize(("model", "name"), FILES)
def test_every_motion_is_shown_exactly_and_leaves_byte_for_byte(model, name, tmp_path, capsys):
    bpy.ops.import_scene.xray_ogf(filepath=str(CORPUS / "ogf" / f"{model}.ogf"))
    rig = next(shown for shown in bpy.data.objects if shown.type == "ARMATURE")
    file = CORPUS / "omf" / f"{name}.omf"
    bpy.context.view_layer.objects.active = rig
    bpy.ops.import_scene.xray_omf(filepath=str(file))
    every = motions_of(rig)
    shown = Shown(rig, every)
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    bpy.ops.motionbridge.move_motions_to_controls()
    assert all(action.motionbridge_controls is not None for action in every)
    shown.compare(f"{model}, {name}.omf", capsys)
    law = Law(rig)
    assert [action.name for action in every if law.bones(action)] == []
    assert saved(rig, tmp_path / "unedited.omf") == file.read_bytes()
    control_links.controls_of(rig).pose.bones["Root"]["looked at"] = 1.0
    law, bones = Law(rig), set(rig.data.bones.keys())
    assert [action.name for action in every if law.bones(action) != bones] == []
    assert saved(rig, tmp_path / "sampled.omf") == file.read_bytes()


@pytest.mark.parametrize("file", PLAIN + BINARISED)
def test_every_animation_is_shown_exactly(file, capsys):
    done = load(file)
    shown = Shown(done.rig, [done.action])
    bpy.context.view_layer.objects.active = done.rig
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    shown.compare(file.name, capsys)
    assert exported(done) == file.read_bytes()
