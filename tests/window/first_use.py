"""From the zip to a playing motion and on to a saved edit, in a Blender that has never seen the extension.

Each click of the walk is written with what a person reads before it. Nothing here imports the extension: it is what the
zip brings.
"""

from pathlib import Path
from typing import Any

import bpy

from tests.window import stage
from tests.window.stage import Steps

MODULE = "bl_ext.user_default.motionbridge"
MOST = 25
archive = Path()
"""The zip; set by the script that plays this."""


def dropped(path: Path) -> Steps:
    """Drop a file into the viewport, and accept the dialog that comes."""
    stage.forget_reports()
    yield from stage.drop(path)
    yield from stage.confirm()
    yield from stage.reported()


def installed(hand: stage.Hand) -> Steps:
    """Drag the zip onto the window; Blender asks with the name of the extension."""
    assert not hasattr(bpy.types, "IMPORT_SCENE_OT_xray_ogf"), "this Blender knows the extension already"
    hand.click('README, "Drag the zip onto the window": the zip', 'dialog "Install Add-on": OK')
    with stage.there():
        bpy.ops.extensions.package_install_files("INVOKE_DEFAULT", url=str(archive))
    yield
    yield
    yield from stage.confirm()
    yield from stage.until(lambda: MODULE in bpy.context.preferences.addons, "the extension to be enabled")
    yield


def sidebar_opened(hand: stage.Hand) -> Steps:
    """N, and the tab of the extension."""
    hand.click('README, "key N": N', 'the tab "Motionbridge"')
    large = stage.area("INFO")
    large.type = "VIEW_3D"  # the viewport of the scenes is too small for a sidebar
    large.spaces.active.show_region_ui = True
    region: Any = next(region for region in large.regions if region.type == "UI")
    yield from stage.until(lambda: not region.is_property_readonly("active_panel_category"), "the tabs to be drawn")
    region.active_panel_category = "Motionbridge"
    yield
    yield
    large.type = "INFO"
    yield


def from_the_zip() -> Steps:
    """A model and its motions are dropped, one is found and played, a bone of it is keyed, and the file saved back."""
    hand, scene = stage.Hand(MOST), bpy.context.scene
    yield from installed(hand)
    path = stage.sample("humanoid.omf")
    before = path.read_bytes()
    for name in ("humanoid.ogf", "humanoid.omf"):
        hand.click(f'README, "Drop an .ogf, .omf": {name}', 'dialog "Import": OK')
        yield from dropped(stage.sample(name) if name != path.name else path)
    yield from sidebar_opened(hand)
    rig = bpy.context.view_layer.objects.active
    assert rig.type == "ARMATURE"
    hand.click("the row of a motion, by its name")
    rig.motionbridge_playing = bpy.data.actions.find("wave")
    yield
    hand.click('the status bar names the motion: "Play" below the timeline')
    stage.call("screen.animation_play")
    yield from stage.until(lambda: scene.frame_current > 1, "the motion to play")
    stage.call("screen.animation_cancel", restore_frame=False)
    hand.click("Play again, to stop", 'menu "Object Mode": Pose Mode', "a bone", "R, then a click where it ends")
    stage.call("object.mode_set", mode="POSE")
    bone = rig.pose.bones[0]
    bone.rotation_quaternion = (0.9, 0.1, 0.0, 0.0)
    hand.click('menu "Pose": Insert Keyframe')
    bone.keyframe_insert("rotation_quaternion")
    stage.step("Key")
    yield
    hand.click('"Save Back", beside the name of the file', 'dialog "1 motion changed": Save')
    stage.forget_reports()
    stage.invoke("motionbridge.save_back")
    yield
    yield
    yield from stage.confirm()
    yield from stage.reported()
    assert path.read_bytes() != before, stage.sentence()
    backups = [entry.read_bytes() for entry in path.parent.iterdir() if entry != path and "omf" in entry.name]
    assert backups == [before], "the old file is kept beside the new one"
    hand.rests()


SCENES = [("from the zip to a playing motion and a saved edit", from_the_zip)]
