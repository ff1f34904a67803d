"""Each import dialog with a good file, a cut one, one of another kind, and cancelled; the same files dropped."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
from bpy_extras import view3d_utils
from mathutils import Vector

from tests.window import stage
from tests.window.stage import Steps


@dataclass(frozen=True)
class Import:
    """A dialog and what goes with it.

    ``onto``: samples imported before; ``lists``: a list follows the browser; ``where``: the editor that takes drops;
    ``salvages``: of a cut file what is whole is imported, with warnings.
    """

    name: str
    good: str
    onto: tuple[str, ...] = ()
    lists: bool = False
    where: str = "VIEW_3D"
    salvages: bool = False

    @property
    def label(self) -> str:
        """In names of scenes."""
        return f"{self.name.partition('.')[2]} {Path(self.good).name}"


IMPORTS = [
    Import("import_scene.xray_ogf", "humanoid.ogf", salvages=True),
    Import("import_scene.xray_omf", "humanoid.omf", onto=("humanoid.ogf",), lists=True),
    Import("import_scene.xray_skl", "motions.skls", onto=("humanoid.ogf",), lists=True),
    Import("import_scene.xray_bones", "humanoid.bones", onto=("humanoid.ogf",), salvages=True),
    Import("import_scene.xray_object", "weapon.object"),
    Import("import_scene.xray_anm", "camera.anm"),
    Import("import_scene.xray_level_geometry", "level/level.hom", salvages=True),
    Import("import_scene.arma_rtm", "arma/walk.rtm"),
    Import("import_scene.arma_p3d", "arma/man.p3d"),
    Import("import_scene.arma_paa", "arma/bricks_co.paa", where="IMAGE_EDITOR"),
    Import("import_scene.descent3_oof", "descent3/ship.oof"),
    Import("import_scene.descent3_oof", "descent3/ship.hog", lists=True),
    Import("import_scene.descent3_ogf", "descent3/SampleHull.ogf", where="IMAGE_EDITOR"),
]
FRAMED = ("xray_ogf", "xray_object")
"""Imports whose active object is the whole model."""
OTHER_KIND = "arma/model.cfg"


def begin(dialog: Import) -> dict[str, Any]:
    """What is there before; the state that an undo of the import leads to."""
    for name in dialog.onto:
        stage.call("import_scene.xray_ogf", filepath=str(stage.SAMPLES / name))
    for armature in bpy.data.armatures:
        for bone in armature.bones:
            bone.motionbridge_xray.mass = 77.0  # which no file says
    if dialog.onto:
        stage.forget_reports()
        stage.step("Import of what it goes onto")
    return state()


def state() -> dict[str, Any]:
    """Names of data-blocks, and properties of bones."""
    bones = [bone for armature in bpy.data.armatures for bone in armature.bones]
    return {**stage.data(), "masses": [bone.motionbridge_xray.mass for bone in bones]}


def is_framed(obj: Any) -> bool:
    """Whether the whole of an object is drawn in the middle of the viewport, and not tiny."""
    with stage.there():
        region, view = bpy.context.region, bpy.context.space_data.region_3d
        corners = [obj.matrix_world @ Vector(corner) for corner in obj.bound_box]
        points = [view3d_utils.location_3d_to_region_2d(region, view, corner) for corner in corners]
    size = max((first - second).length for first in points for second in points)
    return size > min(region.width, region.height) / 3 and all(
        0 < point.x < region.width and 0 < point.y < region.height for point in points
    )


def imported(dialog: Import, before: dict[str, Any]) -> Steps:
    """It reports, brings something, and is one step of undo."""
    yield from stage.reported()
    message = stage.reports()
    assert any(stage.sentence() in line for line in message), f"{stage.sentence()!r} is not among {message}"
    after = state()
    assert after != before, f"nothing was imported: {stage.sentence()}"
    if dialog.where == "IMAGE_EDITOR":
        image = stage.area(dialog.where).spaces.active.image
        assert stage.sentence().endswith(f": {image and image.name}"), f"{image} is shown after {stage.sentence()}"
    if dialog.name.endswith(FRAMED):
        rig = bpy.context.view_layer.objects.active
        yield from stage.until(lambda: is_framed(rig), "the view to frame the model")
    yield from stage.undo()
    yield from stage.until(lambda: state() == before, "undo to remove what was imported")
    yield from stage.redo()
    yield from stage.until(lambda: state() == after, "redo to bring it back")


def refused(path: Path, before: dict[str, Any], *words: str) -> Steps:
    """It says which file and why, once and without a traceback, and leaves nothing behind."""
    yield from stage.until(lambda: any(path.name in line for line in stage.reports()), f"a report about {path.name}")
    for _ in range(3):
        yield
    message = stage.reports()
    assert len(message) == 1, message
    assert "Traceback" not in message[0], message
    assert all(word in message[0] for word in words), message
    assert state() == before, "a refused import left something behind"


def left_out(dialog: Import, path: Path, before: dict[str, Any]) -> Steps:
    """A cut file: refused, or imported as far as it goes with warnings."""
    if not dialog.salvages:
        yield from refused(path, before)
        return
    yield from imported(dialog, before)
    report = bpy.context.window_manager.motionbridge_report
    assert len(report.splitlines()) > 1, f"no warning about a cut file: {report}"


def cut(dialog: Import) -> Path:
    """A file that ends too early."""
    path = stage.sample(dialog.good)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 5])
    return path


def of_another_kind(dialog: Import) -> Path:
    """A text with the name of such a file."""
    return stage.sample(OTHER_KIND, Path(dialog.good).name)


def browse_good(dialog: Import) -> Steps:
    before = begin(dialog)
    yield from stage.choose(dialog.name, stage.sample(dialog.good))
    if dialog.lists:
        yield from stage.confirm()
    yield from imported(dialog, before)


def browse_cut(dialog: Import) -> Steps:
    before = begin(dialog)
    path = cut(dialog)
    yield from stage.choose(dialog.name, path)
    yield from left_out(dialog, path, before)


def browse_other_kind(dialog: Import) -> Steps:
    before = begin(dialog)
    path = of_another_kind(dialog)
    yield from stage.choose(dialog.name, path)
    yield from refused(path, before)


def browse_cancel(dialog: Import) -> Steps:
    before = begin(dialog)
    yield from stage.browse(dialog.name)
    yield from stage.dismiss()
    assert not stage.reports()
    assert state() == before


def drop_good(dialog: Import) -> Steps:
    before = begin(dialog)
    yield from stage.drop(stage.sample(dialog.good), kind=dialog.where)
    yield from stage.confirm()
    yield from imported(dialog, before)


def drop_cut(dialog: Import) -> Steps:
    before = begin(dialog)
    path = cut(dialog)
    yield from stage.drop(path, kind=dialog.where)
    if not dialog.lists:
        yield from stage.confirm()
    yield from left_out(dialog, path, before)


def drop_cancel(dialog: Import) -> Steps:
    before = begin(dialog)
    yield from stage.drop(stage.sample(dialog.good), kind=dialog.where)
    yield from stage.key("ESC")
    yield
    assert not stage.reports()
    assert state() == before


DOUBTFUL = Import("import_scene.arma_rtm", "arma/walk.rtm", onto=("humanoid.ogf",))


def doubtful(*, imports: bool) -> Steps:
    """An animation chosen in the file browser for an armature that has one of its bones: nothing is imported before a
    dialog was confirmed.
    """
    before = begin(DOUBTFUL)
    yield from stage.choose(DOUBTFUL.name, stage.sample(DOUBTFUL.good), target="ACTIVE")
    for _ in range(5):
        yield
    assert not stage.reports()
    assert state() == before
    if imports:
        yield from stage.confirm()
        yield from imported(DOUBTFUL, before)
    else:
        yield from stage.key("ESC")
        yield
        assert not stage.reports()
        assert state() == before


def level_folder() -> Steps:
    """The import of a whole folder: its browser chooses no file."""
    before = state()
    folder = stage.sample("level")
    yield from stage.choose("import_scene.xray_level", folder)
    yield from stage.reported()
    assert stage.sentence().startswith("Imported "), stage.sentence()
    after = state()
    assert len(after["objects"]) > len(before["objects"])
    yield from stage.undo()
    yield from stage.until(lambda: state() == before, "undo to remove what was imported")


def remembered_folder() -> Steps:
    """The file browser of a texture opens where a model was imported from."""
    path = stage.sample("descent3/ship.oof")
    yield from stage.choose("import_scene.descent3_oof", path)
    yield from stage.reported()
    yield from stage.browse("import_scene.descent3_ogf")
    folder = Path(os.fsdecode(stage.area("FILE_BROWSER").spaces.active.params.directory))
    yield from stage.dismiss()
    assert folder == path.parent, f"the browser opened in {folder}"


Kind = Callable[[Import], Steps]
KINDS: list[Kind] = [browse_good, browse_cut, browse_other_kind, browse_cancel, drop_good, drop_cut, drop_cancel]
SCENES = [
    ("import xray_level folder: browse good", level_folder),
    ("import descent3: remembered folder", remembered_folder),
    ("import doubtful: import anyway", lambda: doubtful(imports=True)),
    ("import doubtful: cancel", lambda: doubtful(imports=False)),
    *(
        (f"import {dialog.label}: {kind.__name__.replace('_', ' ')}", lambda dialog=dialog, kind=kind: kind(dialog))
        for dialog in IMPORTS
        for kind in KINDS
    ),
]
