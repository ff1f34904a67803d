"""A click on a motion in a window: it plays, in the preview range of its length."""

import bpy

from addon.ui.preferences import preferences
from tests.window import identity, stage
from tests.window.stage import Steps


def a_click_plays() -> Steps:
    """One click for each motion: with Play on Click it plays at once, and the next one goes on playing."""
    identity.import_humanoid()
    wanted, scene = preferences(bpy.context), bpy.context.scene
    before = scene.frame_start, scene.frame_end
    wanted.play_on_click = True
    screen = stage.window().screen
    try:
        for name, last in (("nod", 7), ("wave", 36)):
            identity.rig().motionbridge_playing = bpy.data.actions.find(name)  # what a click on its row does
            assert (scene.frame_preview_start, scene.frame_preview_end) == (0, last)
            yield from stage.until(
                lambda: screen.is_animation_playing and scene.frame_current > 0, "the motion to play"
            )
            yield
            assert scene.frame_current <= last
    finally:
        wanted.play_on_click = False
        if screen.is_animation_playing:
            stage.call("screen.animation_cancel", restore_frame=False)
    assert (scene.frame_start, scene.frame_end) == before


SCENES = [("a click on a motion plays it in its length", a_click_plays)]
