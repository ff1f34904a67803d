"""Retarget Motion in a window: its dialog shows the motion, leaves no trace if cancelled, and is one undo step; and
a newcomer's way from a capture to a saved motion, click by click.
"""

from pathlib import Path

import bpy
import numpy as np

from tests import rigs
from tests.window import identity, spreading, stage
from tests.window.stage import Steps


def capture() -> Path:
    """A walk of another body in a BVH file, 60 frames."""
    path = stage.folder() / "strut.bvh"
    rig = rigs.body(np.random.default_rng(1))
    rigs.write_bvh(path, rig, rigs.walk(rig), 30.0)
    return path


def pose() -> np.ndarray:
    """(bones, 4, 4) what the armature shows."""
    bpy.context.view_layer.update()
    return np.array([np.array(bone.matrix) for bone in identity.rig().pose.bones])


def previewed_cancelled_and_undone() -> Steps:
    """The dialog shows the motion and another frame of it; Escape gives everything back; undo takes the motion."""
    identity.import_humanoid()
    path, rig, scene = capture(), identity.rig(), bpy.context.scene
    yield
    scene.frame_set(3)
    before, blocks, played = pose(), stage.data(), rig.animation_data.action
    stage.invoke("motionbridge.retarget_motion", filepath=str(path))
    yield
    yield
    previewed = pose()
    assert np.abs(previewed - before).max() > 0.05, "the dialog shows the motion"
    assert rig.animation_data.action != played
    stage.press("ESC")
    yield
    yield
    assert np.abs(pose() - before).max() < 1e-6, "cancelled"
    assert (stage.data(), rig.animation_data.action, scene.frame_current) == (blocks, played, 3)
    stage.invoke("motionbridge.retarget_motion", filepath=str(path), keep_source=True)
    yield
    yield from stage.confirm()
    assert "got motions of another skeleton: strut" in stage.sentence(), (stage.sentence(), stage.reports())
    assert len(stage.data()["armatures"]) == len(blocks["armatures"]) + 1, "the source is kept"
    yield from stage.undo()
    assert stage.data() == blocks, "undone"


def from_the_selected_armature() -> Steps:
    """The button takes the other selected armature; its dialog shows its motion; without one a browser opens."""
    identity.import_humanoid()
    path, rig = capture(), identity.rig()
    yield
    with stage.there():
        bpy.ops.import_anim.bvh(filepath=str(path))
    yield
    source = bpy.context.view_layer.objects.active
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    before = pose()
    stage.invoke("motionbridge.choose_retarget_file")
    yield
    yield
    assert np.abs(pose() - before).max() > 0.05, "the dialog shows the motion"
    yield from stage.confirm()
    assert "got motions of another skeleton: strut" in stage.sentence(), (stage.sentence(), stage.reports())
    source.select_set(False)
    yield from stage.browse("motionbridge.retarget_motion")
    yield from stage.dismiss()


def newcomers_walk() -> Steps:
    """From a model, its motions and a capture to a saved file, in which only the new motion is new."""
    hand = stage.Hand(16)
    path, source = stage.sample("humanoid.omf"), capture()
    before = spreading.library_of(path)
    for dropped in (stage.sample("humanoid.ogf"), path):
        stage.forget_reports()
        hand.click(f"drop {dropped.name}", "OK")
        yield from stage.drop(dropped)
        yield from stage.confirm()
        yield from stage.reported()
    stage.forget_reports()
    hand.click("menu below the list", "Motion from Another Rig", "file", "button of the browser")
    yield from stage.choose("motionbridge.choose_retarget_file", source)
    yield
    hand.click("field Root Motion", "In Place", "field Show Frame", "Retarget")
    yield from stage.confirm()
    yield from stage.until(stage.sentence, "a report")
    assert "got motions of another skeleton: strut" in stage.sentence(), (stage.sentence(), stage.reports())
    hand.click("play")
    stage.call("screen.animation_play")
    start = bpy.context.scene.frame_current
    yield from stage.until(lambda: bpy.context.scene.frame_current != start, "the motion to play")
    stage.call("screen.animation_cancel", restore_frame=False)
    hand.click("Save Back", "Save")
    yield from identity.save_back()
    after = spreading.library_of(path)
    assert after[:-1] == before, "all others keep bytes and order"
    assert after[-1][0] == "strut"
    hand.rests()


SCENES = [
    ("a retargeted motion is previewed, cancelled, added and undone", previewed_cancelled_and_undone),
    ("the selected armature is retargeted", from_the_selected_armature),
    ("a newcomer retargets a capture and saves it", newcomers_walk),
]
