"""Long work: progress in the status bar, Esc, one step of undo, repeating; every pause is taken here."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import bpy

from addon.blender import scope
from addon.ui import operation
from tests.window import exports, identity, imports, stage
from tests.window.stage import Steps


def in_small_steps(scene: Callable[[], Steps], interval: float = 0.01) -> Callable[[], Steps]:
    """The scene, with work that pauses wherever it can, for so many seconds."""

    def played() -> Steps:
        before = operation.FIRST_STEP, operation.STEP, operation.TIMER_INTERVAL
        operation.FIRST_STEP = operation.STEP = 0.0
        operation.TIMER_INTERVAL = interval
        try:
            yield from scene()
        finally:
            operation.FIRST_STEP, operation.STEP, operation.TIMER_INTERVAL = before

    return played


def running() -> list[str]:
    """Operators that have the window's events at the moment."""
    return [modal_operator.bl_idname for modal_operator in stage.window().modal_operators]


def dropped_and_stopped() -> Steps:
    """Esc after a drop and its list: nothing is left of the actions that were made already."""
    stage.call("import_scene.xray_ogf", filepath=str(stage.sample("humanoid.ogf")))
    identity.settle("Import of the model")
    before = imports.state()
    yield from stage.drop(stage.sample("humanoid.omf"))
    yield from stage.confirm()
    yield from stage.until(lambda: running() and bpy.data.actions, "the first action")
    stage.press("ESC")
    yield from stage.until(lambda: not running(), "the import to stop")
    assert imports.state() == before, imports.state()
    assert stage.sentence() == "Stopped: no changes were made", stage.sentence()


def kinds() -> set[str]:
    """What of a level is in the file."""
    return {obj.motionbridge_level.kind for obj in bpy.data.objects}


@contextmanager
def progress_seen() -> Iterator[list[float]]:
    """The steps that the progress at the mouse pointer, which no picture shows, is told meanwhile."""
    seen: list[float] = []
    actual = scope.progress

    @contextmanager
    def watched(context: object, steps: int) -> Iterator[Callable[[float], None]]:
        with actual(context, steps) as step:
            yield lambda done: (seen.append(done), step(done))[1]

    scope.progress = watched
    try:
        yield seen
    finally:
        scope.progress = actual


def folder_stopped(reached: Callable[[], object]) -> Steps:
    """Esc in the import of a level folder from the file browser: nothing of it stays, or all of it in one undo step."""
    before = imports.state()
    with progress_seen() as seen:
        yield from stage.choose("import_scene.xray_level", stage.sample("level"))
    if operation.STEPS_FROM_BROWSER:
        yield from stage.until(lambda: running() and reached(), "this far")
        stage.press("ESC")
        yield from stage.until(lambda: not running(), "the import to stop")
        assert stage.sentence() == "Stopped: no changes were made", stage.sentence()
    else:  # done at once: the key comes when it is over
        stage.press("ESC")
        yield from stage.until(stage.sentence, "the import")
        assert not running()
        assert seen == sorted(seen)
        assert len(set(seen)) > 10, seen
        assert {"SURFACE", "TREE", "AI", "CFORM", "SPAWNED"} <= kinds(), kinds()
        yield from stage.undo()
    assert imports.state() == before, imports.state()


def browsed_and_stopped() -> Steps:
    """At the first object."""
    yield from folder_stopped(lambda: bpy.data.objects)


def browsed_and_stopped_late() -> Steps:
    """With the visuals, the AI map, collision and occluders there already."""
    yield from folder_stopped(lambda: {"SURFACE", "AI", "CFORM", "HOM"} <= kinds())


def export_stopped() -> Steps:
    """Esc while motions are read: no file is written, the scene is as before."""
    path = identity.import_humanoid()
    before = path.read_bytes()
    exports.key_bone()
    identity.settle("Edit")
    playing = identity.rig().animation_data.action.name
    yield from stage.browse("export_scene.xray_omf")
    yield from stage.accept(path)
    yield from stage.until(running, "the export")
    stage.press("ESC")
    yield from stage.until(lambda: not running(), "the export to stop")
    assert path.read_bytes() == before
    assert [path.name for path in stage.folder().iterdir() if path.name.startswith("humanoid.omf")] == ["humanoid.omf"]
    assert identity.rig().animation_data.action.name == playing
    assert stage.sentence() == "Stopped: no changes were made", stage.sentence()


def plan_ends(message: str, *, stops: bool) -> Steps:
    """Stop the plan that Save Back makes, or confirm its dialog; ``message`` in the sentence that comes then."""
    if stops:
        yield from stage.until(running, "the plan to begin")
        stage.press("ESC")
        yield from stage.until(lambda: not running(), "the plan to stop")
        assert stage.sentence() == "Stopped: no changes were made", stage.sentence()
    else:
        yield from stage.until(lambda: not running(), "the dialog")
        yield from stage.confirm()
        yield from stage.until(stage.sentence, "a report")
        assert message in stage.sentence(), stage.sentence()


def save_back_planned(*, stops: bool) -> Steps:
    """Save Back looks at every frame of a rig with inverse kinematics before its dialog opens; Esc, or the dialog."""
    path = identity.import_humanoid()
    before = path.read_bytes()
    exports.key_bone()
    rig = identity.rig()
    rig.pose.bones["hand_l"].constraints.new("IK").chain_count = 2
    identity.settle("Edit")
    playing, frame = rig.animation_data.action.name, bpy.context.scene.frame_current
    stage.invoke("motionbridge.save_back")
    yield from plan_ends(path.name, stops=stops)
    assert (path.read_bytes() == before) == stops
    rig = identity.rig()
    assert (rig.animation_data.action.name, bpy.context.scene.frame_current) == (playing, frame)


def level_saved_back(*, stops: bool) -> Steps:
    """Save Back of a level looks at every mesh before its dialog opens; Esc, or a tree, a wall and its shadow moved."""
    folder = stage.sample("level")
    names = ("level", "level.geom", "level.geomx")
    before = [(folder / name).read_bytes() for name in names]
    stage.call("import_scene.xray_level", directory=str(folder))
    tree, wall = bpy.data.objects["bush 00002"], bpy.data.objects["bricks 00001"]
    tree.location.x += 1
    wall.data.vertices[0].co.z += 1
    bpy.context.view_layer.objects.active = wall
    identity.settle("Edit")
    stage.invoke("motionbridge.level_save_back")
    yield from plan_ends("1 tree, 1 mesh changed", stops=stops)
    assert [(folder / name).read_bytes() == old for name, old in zip(names, before, strict=True)] == [stops] * 3


def level_save_back_stopped() -> Steps:
    yield from level_saved_back(stops=True)


def level_save_back_awaited() -> Steps:
    yield from level_saved_back(stops=False)


def save_back_plan_stopped() -> Steps:
    yield from save_back_planned(stops=True)


def save_back_plan_awaited() -> Steps:
    yield from save_back_planned(stops=False)


def repeated() -> Steps:
    """With other options, from the panel of the last operation: done at once, in place of what was done."""
    yield from stage.drop(stage.sample("camera.anm"))
    yield from stage.confirm()
    yield from stage.until(lambda: stage.sentence() and not running(), "the import")
    after = imports.state()
    with stage.there():
        assert bpy.ops.ed.undo_redo() == {"FINISHED"}
    yield
    assert not running()
    assert imports.state() == after, imports.state()


def status_found() -> Steps:
    """Update Status from its button."""
    identity.import_humanoid()
    exports.key_bone()
    identity.settle("Edit")
    stage.invoke("motionbridge.update_status")
    yield from stage.until(lambda: stage.sentence() and not running(), "the status")
    assert stage.sentence().startswith("Edited: 1, new: 0"), stage.sentence()


STOPPED = 0.5  # seconds of each pause: time to press a key
STOPS = (
    dropped_and_stopped,
    browsed_and_stopped,
    browsed_and_stopped_late,
    export_stopped,
    save_back_plan_stopped,
    level_save_back_stopped,
)
SCENES = [
    *((f"long work: {scene.__name__.replace('_', ' ')}", in_small_steps(scene, STOPPED)) for scene in STOPS),
    *(
        (f"long work: {scene.__name__.replace('_', ' ')}", in_small_steps(scene))
        for scene in (repeated, status_found, save_back_plan_awaited, level_save_back_awaited)
    ),
    *(
        (f"in small steps: {name}", in_small_steps(scene))
        for name, scene in [*imports.SCENES, *exports.SCENES]
        if name.endswith(("drop good", "undone saved"))
    ),
]
