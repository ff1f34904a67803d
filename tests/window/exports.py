"""Each export dialog: untouched, edited, into a file it cannot write, with nothing to export, and cancelled; and what
is saved, undone and saved again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from tests.window import stage
from tests.window.stage import Steps


@dataclass(frozen=True)
class Export:
    """A dialog, the files that are imported first, the last of which is exported, and an edit that changes it."""

    name: str
    files: tuple[str, ...]
    edit: Callable[[], None]

    @property
    def label(self) -> str:
        """In names of scenes."""
        return f"{self.name.partition('.')[2]} {Path(self.files[-1]).name}"


IMPORTERS = {
    ".ogf": "import_scene.xray_ogf", ".omf": "import_scene.xray_omf", ".skls": "import_scene.xray_skl",
    ".bones": "import_scene.xray_bones", ".anm": "import_scene.xray_anm", ".rtm": "import_scene.arma_rtm",
    ".hom": "import_scene.xray_level_geometry", ".oof": "import_scene.descent3_oof",
    ".object": "import_scene.xray_object",
}  # fmt: skip


def move_vertex() -> None:
    """The first vertex of the first mesh, far enough for every format."""
    mesh = next(obj for obj in bpy.context.scene.objects if obj.type == "MESH").data
    mesh.vertices[0].co.x += 0.125
    mesh.update()


def key_bone(rig: Any = None) -> None:
    """A key on a bone of an armature, by default of the first, in the action that plays."""
    rig = rig or next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
    bone = rig.pose.bones[len(rig.pose.bones) // 2]
    frame = int(rig.animation_data.action.frame_range[0]) + 2
    bpy.context.scene.frame_set(frame)
    if bone.rotation_mode == "QUATERNION":
        bone.rotation_quaternion = (0.8, 0.0, 0.6, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    else:
        bone.rotation_euler = (0.3, 0.6, -0.4)
        bone.keyframe_insert("rotation_euler", frame=frame)


def weigh_bone() -> None:
    """The mass of a bone."""
    armature = next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE").data
    armature.bones[1].motionbridge_xray.mass = 123.0


def key_path() -> None:
    """A key of the path."""
    camera = bpy.context.view_layer.objects.active
    bpy.context.scene.frame_set(10)
    camera.location.x += 1.0
    camera.keyframe_insert("location", frame=10)


EXPORTS = [
    Export("export_scene.xray_ogf", ("humanoid.ogf",), move_vertex),
    Export("export_scene.xray_omf", ("humanoid.ogf", "humanoid.omf"), key_bone),
    Export("export_scene.xray_skl", ("humanoid.ogf", "motions.skls"), key_bone),
    Export("export_scene.xray_bones", ("humanoid.ogf", "humanoid.bones"), weigh_bone),
    Export("export_scene.xray_object", ("weapon.object",), move_vertex),
    Export("export_scene.xray_anm", ("camera.anm",), key_path),
    Export("export_scene.xray_level_geometry", ("level/level.hom",), move_vertex),
    Export("export_scene.arma_rtm", ("arma/walk.rtm",), key_bone),
    Export("export_scene.descent3_oof", ("descent3/ship.oof",), move_vertex),
]


def paint() -> None:
    """The first pixels of the image. Blender does not undo what a script paints."""
    image = next(image for image in bpy.data.images if image.get("motionbridge_source"))
    image.pixels[:16] = [1.0, 0.5, 0.0, 1.0] * 4


TEXTURES = [
    Export("export_scene.arma_paa", ("arma/bricks_co.paa",), paint),
    Export("export_scene.descent3_ogf", ("descent3/SampleHull.ogf",), paint),
]


def begin(dialog: Export) -> Path:
    """Import; the file that is exported."""
    for name in dialog.files:
        path = stage.sample(name)
        texture = f"import_scene.{dialog.name.partition('.')[2]}" if dialog in TEXTURES else ""
        stage.call(texture or IMPORTERS[path.suffix], filepath=str(path))
    stage.forget_reports()
    stage.step("Import")
    return path


def edit(dialog: Export) -> None:
    """The edit, as one step of undo."""
    dialog.edit()
    stage.step("Edit")


def export(dialog: Export, path: Path) -> Steps:
    """The dialog, which suggests the imported file; its button."""
    stage.forget_reports()
    yield from stage.browse(dialog.name)
    suggested = stage.area("FILE_BROWSER").spaces.active.params.filename
    assert suggested == path.name, f"the browser suggests {suggested}"
    yield from stage.accept(path)
    yield from stage.reported()
    assert stage.sentence().startswith(path.name), stage.sentence()


def untouched(dialog: Export) -> Steps:
    """The same bytes."""
    path = begin(dialog)
    before = path.read_bytes()
    yield from export(dialog, path)
    assert path.read_bytes() == before, f"an untouched file was changed: {stage.sentence()}"


def saved_undone_saved(dialog: Export) -> Steps:
    """The edit is in the file; undone, the file is what it was; done again, it is the edited one again."""
    path = begin(dialog)
    before = path.read_bytes()
    edit(dialog)
    yield from export(dialog, path)
    edited = path.read_bytes()
    assert edited != before, f"the edit is not in the file: {stage.sentence()}"
    assert path.with_name(f"{path.name}.bak").read_bytes() == before, "the backup is not the old file"
    yield from stage.undo()
    yield from export(dialog, path)
    assert path.read_bytes() == before, f"undo and export do not give the old file: {stage.sentence()}"
    yield from stage.redo()
    yield from export(dialog, path)
    assert path.read_bytes() == edited, f"redo and export do not give the edited file: {stage.sentence()}"


def cannot_be_written(dialog: Export) -> Steps:
    """A link to itself: a sentence, once, and nothing written."""
    begin(dialog)
    target = stage.folder() / f"loop{Path(dialog.files[-1]).suffix}"
    target.symlink_to(target)
    yield from stage.choose(dialog.name, target)
    yield from stage.until(stage.reports, "a report")
    yield
    message = stage.reports()
    assert len(message) == 1, message
    assert target.name in message[0], message
    assert sorted(path.name for path in stage.folder().glob("loop*")) == [target.name]


def nothing_to_export(dialog: Export) -> Steps:
    """An empty scene with an armature: greyed out, or a refusal, and no file."""
    armature = bpy.data.objects.new("bare", bpy.data.armatures.new("bare"))
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    with stage.there():
        grey = not stage.operator(dialog.name).poll()
    if not grey:
        target = stage.folder() / f"new{Path(dialog.files[-1]).suffix}"
        yield from stage.choose(dialog.name, target)
        yield from stage.until(stage.reports, "a report")
        assert stage.sentence() in stage.reports()[0], stage.reports()
        assert not target.exists()
    yield


def cancelled(dialog: Export) -> Steps:
    """Nothing is written, nothing is said."""
    path = begin(dialog)
    edit(dialog)
    before = path.read_bytes()
    yield from stage.browse(dialog.name)
    yield from stage.dismiss()
    assert path.read_bytes() == before
    assert not stage.reports()


Kind = Callable[[Export], Steps]
KINDS: list[Kind] = [untouched, saved_undone_saved, cannot_be_written, nothing_to_export, cancelled]


def painted(dialog: Export) -> Steps:
    """The painted pixels are in the file, and the old file is beside it."""
    path = begin(dialog)
    before = path.read_bytes()
    dialog.edit()
    yield from export(dialog, path)
    after = path.read_bytes()
    assert after != before
    assert path.with_name(f"{path.name}.bak").read_bytes() == before
    yield from export(dialog, path)
    assert path.read_bytes() == after


SCENES = [
    (f"export {dialog.label}: {kind.__name__.replace('_', ' ')}", lambda dialog=dialog, kind=kind: kind(dialog))
    for dialog in (*EXPORTS, *TEXTURES)
    for kind in (KINDS if dialog in EXPORTS else [untouched, painted, cannot_be_written])
]
