"""Control rigs on every motion of real people and hands: how exactly it is shown, and that files are the same."""

import sys

import bpy
import numpy as np
import pytest

from addon.blender import control_links, control_transfer, scope
from addon.blender.bone_curves import evaluated_poses
from addon.blender.control_edits import ControlEdits
from addon.core import affine, rotation
from tests.blender.rtm_scene import BINARISED, PLAIN, exported, load
from tests.blender.test_control_rig import METRES, RADIANS, motions_of, saved
from tests.blender.test_motions import save_back
from tests.real_files import CORPUS, REAL_MOTIONS_OF_MODELS, corpus_files, sampled

PEOPLE_AND_HANDS = (
    "human_stalker_hero_1", "gwr_wpn_hand_04", "ixray_wpn_hand_0", "nlc_pp91_hud", "nlc_walter99_hud",
    "gwr_beretta_hud", "gwr_knife_hud", "soc_bolt_hud", "coc_dev_bolt_hud", "coc_detector1_hud", "headflash_hud",
    "medkit_exo_hud", "hoc_backpack_hud",
)  # fmt: skip
HANDS_ALONE = {
    "gwr_wpn_hand_04": ["hand_f1_marks", "hand_groza_big"],
    "ixray_wpn_hand_0": ["usable_items_big"],
}
"""Motions of hands whose own model the corpus lacks; all hands of one game have the same bones."""
HANDS_OF_SETS = {
    "anomaly": "anomaly_weapons/hands/wpn_hand_no_outfit.ogf",
    "axr_cop": "dynamics/weapons/wpn_hand/wpn_hand_01.ogf",
    "gunslinger": "dynamics/weapons/wpn_hand/wpn_hand_04.ogf",
    "soc_bmstu": "weapons/pm/wpn_pm_hud.ogf",
}
"""The hands of each set of first-person files, below its meshes."""
QUICK = 60_000
"""Size in bytes up to which a file of motions is played in every Blender; larger ones are deep tests."""

DIGITS = 1e-6
"""Of a distance: what poses lose along a chain of bones, which Blender keeps in numbers of seven digits. A cartridge
that a motion throws eleven metres away is off by that much more than the hand that throws it.
"""


def files():
    """Parameters: a model and one of its files of motions."""
    if CORPUS is None:
        return corpus_files("-")
    pairs = [
        (CORPUS / "ogf" / f"{model}.ogf", CORPUS / "omf" / f"{name}.omf")
        for model in PEOPLE_AND_HANDS
        for name in (*REAL_MOTIONS_OF_MODELS[model], *HANDS_ALONE.get(model, ()))
    ]
    for name, hands in HANDS_OF_SETS.items():
        meshes = CORPUS / "hud" / name / "gamedata" / "meshes"
        path = {*meshes.rglob("*hand*_animation.omf"), *(meshes / hands).parent.glob("*.omf")}
        pairs += [(meshes / hands, motions) for motions in sorted(path)]
    marks = {pair: () if pair[1].stat().st_size <= QUICK else pytest.mark.deep for pair in pairs}
    return [pytest.param(pair, id=f"{pair[0].stem}-{pair[1].stem}", marks=marks[pair]) for pair in pairs]


class Shown:
    """What an armature shows of actions without control rigs, to be compared with what their controls show."""

    def __init__(self, rig, actions):
        self._rig = rig
        self._before = self._poses(actions)

    def _poses(self, actions):
        result = {}
        with scope.only_evaluated(bpy.context, [self._rig]), scope.kept_frame(bpy.context):
            for action in actions:
                frames = control_transfer.frames_of(action, self._rig)
                result[action] = affine.rigid(evaluated_poses(bpy.context, self._rig, action, frames))
        return result

    def compare(self, label, capsys):
        """Tell and check how far bones are off on any frame; controls have no scale, which is left out."""
        metres, radians, allowed = [np.empty(0)], [np.empty(0)], [np.empty(0)]
        own_poses = self._poses(self._before)
        for action, poses in self._before.items():
            now = own_poses[action]
            metres.append(np.linalg.norm(now[..., :3, 3] - poses[..., :3, 3], axis=-1).ravel())
            allowed.append(METRES + DIGITS * np.linalg.norm(poses[..., :3, 3], axis=-1).ravel())
            rotations = (rotation.from_matrices(entry[..., :3, :3]) for entry in (now, poses))
            radians.append(rotation.angles_between(*rotations).ravel())
        apart, turned = np.concatenate(metres), np.concatenate(radians)
        frames = sum(map(len, self._before.values()))
        with capsys.disabled():
            sys.stdout.write(
                f"\n{label}: {len(self._before)} motions, {frames} frames; off by at most {apart.max():.1e} m, "
                f"{turned.max():.1e} rad; "
                f"99% by {np.quantile(apart, 0.99):.1e} m, {np.quantile(turned, 0.99):.1e} rad\n"
            )
        assert (apart < np.concatenate(allowed)).all()
        assert turned.max() < RADIANS


def is_shown_exactly_and_written_unchanged(rig, label, write, capsys, *, is_sampled=True):
    """Move all motions of a rig onto controls: ``write`` gives the same as before, also where each frame is sampled
    (``is_sampled``).
    """
    every, before = motions_of(rig), write()
    actual = Shown(rig, every)
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    bpy.ops.motionbridge.move_motions_to_controls()
    assert all(action.motionbridge_controls is not None for action in every)
    actual.compare(label, capsys)
    law = ControlEdits(rig)
    assert [action.name for action in every if law.bones(action)] == []
    assert write() == before
    if not is_sampled:
        return before
    control_links.controls_of(rig).pose.bones["root"]["looked at"] = 1.0
    law, bones = ControlEdits(rig), set(rig.data.bones.keys())
    assert [action.name for action in every if law.bones(action) != bones] == []
    assert write() == before
    return before


@pytest.mark.parametrize("pair", files())
def test_every_motion_is_shown_exactly_and_leaves_byte_for_byte(pair, tmp_path, capsys):
    model, motions = pair
    bpy.ops.import_scene.xray_ogf(filepath=str(model), motions="NONE")
    rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    bpy.context.view_layer.objects.active = rig
    bpy.ops.import_scene.xray_omf(filepath=str(motions))
    label = f"{model.name}, {motions.name}"
    written = is_shown_exactly_and_written_unchanged(rig, label, lambda: saved(rig, tmp_path / "out.omf"), capsys)
    assert written == motions.read_bytes()


@pytest.mark.parametrize(
    "model", sampled(corpus_files("ogf/odd_v4_bare_track_numbers.ogf", "ogf/soc_pm_hud_embedded.ogf"), 1)
)
def test_motions_inside_a_model_do_so_too(model, capsys):
    bpy.ops.import_scene.xray_ogf(filepath=str(model), motions="INSIDE")
    rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    (file,) = rig.motionbridge_motion_files
    assert file.embedded
    written = is_shown_exactly_and_written_unchanged(rig, model.name, lambda: save_back(rig, file).data, capsys)
    assert written == model.read_bytes()


@pytest.mark.parametrize("file", sampled(PLAIN + BINARISED))
def test_every_animation_is_shown_exactly(file, capsys):
    done = load(file)
    actual = Shown(done.rig, [done.action])
    bpy.context.view_layer.objects.active = done.rig
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    actual.compare(file.name, capsys)
    assert exported(done) == file.read_bytes()
