"""Every format that is saved back: how its files are imported, edited and saved; our samples and real files."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np
import pytest

from addon.blender import compat
from addon.core.files import read_file
from addon.core.report import Report
from addon.formats.arma import rtm
from addon.formats.xray import details, skl
from addon.ui.arma import models as arma_models
from addon.ui.arma import panels as arma_panels
from addon.ui.descent3 import models as descent_models
from addon.ui.xray import editor_models, levels, models, motion_files, paths, skeletal
from tests.blender.test_skl_motions import CURVED, made_motion, rig_of, written
from tests.real_files import CORPUS, MOTIONS_OF_MODELS, SAMPLES, motions_of_model

# Edits look up what they edit: after a reload nothing from before is there.


def move_a_key(at: int = 0) -> None:
    """Change the first key of a location, or the last one, of the action that the active object plays."""
    curves = compat.curve_bag(bpy.context.view_layer.objects.active.animation_data.action).fcurves
    moving = [curve for curve in curves if curve.data_path.endswith("location") and len(curve.keyframe_points)]
    curve = (moving or curves)[at]
    curve.keyframe_points[at].co[1] += 0.25
    curve.update()


def move_a_vertex(at: int = 0) -> None:
    """Move the first vertex of the active object and the meshes below it, or the last one."""
    active = bpy.context.view_layer.objects.active
    meshes = [
        entry for entry in (active, *active.children_recursive) if entry.type == "MESH" and len(entry.data.vertices)
    ]
    meshes[at].data.vertices[at].co[2] += 0.25
    meshes[at].data.update()


def move_an_object(at: int = 0) -> None:
    """Move the active object, or the last tree of a level."""
    trees = sorted(str(obj.name) for obj in bpy.data.objects if obj.motionbridge_level.kind == "TREE")
    moved = bpy.data.objects[trees[at]] if at else bpy.context.view_layer.objects.active
    moved.location.x += 0.25


def edit_a_slot(at: int = 0) -> None:
    """Raise the grass of the first slot, or darken the last one."""
    mesh = bpy.context.view_layer.objects.active.data
    if at:
        mesh.attributes[details.SUN].data[at].value = 0.2
    else:
        mesh.attributes["height"].data[0].value += 1


def import_level(path: Path) -> None:
    """Import the folder of a level; what its file ``path`` stores is active."""
    assert bpy.ops.import_scene.xray_level(directory=str(path.parent)) == {"FINISHED"}
    by_row = sorted(bpy.data.objects, key=lambda obj: -obj.motionbridge_level.row)
    kinds = {obj.motionbridge_level.kind: obj for obj in by_row}  # the first of each kind
    wanted = ("SURFACE",) if path.suffix else ("LIGHT", "GLOW", "TREE")
    bpy.context.view_layer.objects.active = next(kinds[kind] for kind in wanted if kind in kinds)


def import_motions(path: Path) -> None:
    """Import motions of the game onto their model, which lies beside them."""
    assert bpy.ops.import_scene.xray_ogf(filepath=str(path.with_name("model.ogf")), textures=False) == {"FINISHED"}
    assert bpy.ops.import_scene.xray_omf(filepath=str(path)) == {"FINISHED"}


def import_editor_motions(path: Path) -> None:
    """Import motions of the editor onto an armature with their bones."""
    rig_of(skl.bone_names(skl.read(read_file(path), path.name, Report()).motions[0]))
    assert bpy.ops.import_scene.xray_skl(filepath=str(path)) == {"FINISHED"}


def importer(name: str, **options: object) -> Callable[[Path], None]:
    """Return the function that imports a file with an operator."""

    def call(path: Path) -> None:
        assert getattr(bpy.ops.import_scene, name)(filepath=str(path), **options) == {"FINISHED"}

    return call


class Format(NamedTuple):
    """How a file is imported, edited and saved; our own ``samples``, and patterns of ``real`` files.

    ``edit`` makes one edit, and another one for -1. ``export``: the operator that exports it. ``says``: part of what is
    said of an edit.
    """

    load: Callable[[Path], None]
    edit: Callable[..., None]
    save: type
    export: str = ""
    samples: tuple[str, ...] = ()
    real: tuple[str, ...] = ()
    alike: Callable[[bytes, bytes], bool] = bytes.__eq__
    says: str = "changed"


def alike_matrices(first: bytes, second: bytes) -> bool:
    """Whether two animations differ only by twice what counts as unedited in a matrix, in metres.

    Each of two edits may move a number by less than that; saved one by one, neither of them is written.
    """
    mine, other = (rtm.read(data, "", Report()) for data in (first, second))
    if first == second or isinstance(mine, rtm.Binarised):
        return first == second
    near = bool(np.abs(mine.matrices - other.matrices).max() <= 2 * rtm.TOLERANCE)
    return near and rtm.write(replace(mine, matrices=other.matrices)) == second


LEVEL_FILE, LEVEL_SAVE = importer("xray_level_geometry"), levels.MOTIONBRIDGE_OT_level_save_back
GAME_MODEL, EDITOR_SAVE = importer("xray_ogf", textures=False), editor_models.MOTIONBRIDGE_OT_editor_model_save_back
ARMA_MODEL = importer("arma_p3d", rig="NONE", textures=False)
ARMA_MOTION, ARMA_SAVE = importer("arma_rtm"), arma_panels.MOTIONBRIDGE_OT_arma_save_back
SHIP, SHIP_SAVE = importer("descent3_oof", textures=False), descent_models.MOTIONBRIDGE_OT_descent_save_back
FORMATS = {
    "ogf": Format(
        GAME_MODEL, move_a_vertex, models.MOTIONBRIDGE_OT_model_save_back, "xray_ogf", ("humanoid.ogf",), ("ogf/*",),
        says="1 mesh changed",
    ),
    "omf": Format(import_motions, move_a_key, motion_files.MOTIONBRIDGE_OT_save_back, "xray_omf", ("humanoid.omf",)),
    "object": Format(
        importer("xray_object"), move_a_vertex, EDITOR_SAVE, "xray_object", ("weapon.object",), ("object/*",),
        says="1 mesh changed",
    ),
    "skl": Format(
        import_editor_motions, move_a_key, skeletal.MOTIONBRIDGE_OT_skeletal_save_back, "xray_skl", (),
        ("skl/*", "skls/*"), says="1 motion, 1 channel changed",
    ),
    "anm": Format(
        importer("xray_anm"), move_a_key, paths.MOTIONBRIDGE_OT_path_save_back, "xray_anm", ("camera.anm",), ("anm/*",),
        says="1 channel, 2 keys (X) changed",
    ),
    **{
        name: Format(LEVEL_FILE, move_a_vertex, LEVEL_SAVE, "xray_level_geometry", (sample,), (f"{name}/*",))
        for name, sample in (
            ("hom", "level/level.hom"),
            ("som", "level/level.som"),
            ("cform", "level/level.cform"),
            ("dm", "level/grass.dm"),
        )
    },
    "details": Format(
        LEVEL_FILE, edit_a_slot, LEVEL_SAVE, "xray_level_geometry", ("level/level.details",), ("details/*",)
    ),
    "level": Format(import_level, move_an_object, LEVEL_SAVE, "", ("level/level",), ("level/*/level",)),
    "geom": Format(import_level, move_a_vertex, LEVEL_SAVE, "", ("level/level.geom",), ("level/*/level.geom",)),
    "p3d": Format(
        ARMA_MODEL, move_a_vertex, arma_models.MOTIONBRIDGE_OT_arma_model_save_back, "arma_p3d", ("arma/man.p3d",),
        ("p3d/*.p3d", "odd/*.p3d"), says="1 LOD changed",
    ),
    "rtm": Format(
        ARMA_MOTION, move_a_key, ARMA_SAVE, "arma_rtm", ("arma/walk.rtm",), ("rtm*/*.rtm",), alike_matrices,
        "1 frame changed",
    ),
    "oof": Format(SHIP, move_a_vertex, SHIP_SAVE, "descent3_oof", ("descent3/ship.oof",), ("oof/*",)),
}  # fmt: skip


NOT_IMPORTED = {
    "odd_d3_texture_not_xray.ogf", "odd_hand_text_mangled.ogf", "odd_chunk_size_wrong_middle.ogf",
    "odd_strafe_right_text_mangled.anm", "odd_git_lfs_pointer.hom", "odd_truncated_header.cform",
    "odd_cwr_fuzz_tagg_oob.p3d",
}  # fmt: skip
"""Real files that the import refuses, as it does models that were made for the game (odol)."""
OWNERS = {file: model for model, motions in map(motions_of_model, MOTIONS_OF_MODELS) for file in motions}
"""Motions of the game -> the model that they belong to."""
if CORPUS:
    OWNERS[CORPUS / "omf/protected_saiga12_hud_animation.omf"] = CORPUS / "ogf/protected_saiga12_hud.ogf"
WITHOUT_CONTENT = {"bx_no_mesh.object", "no_keys_pl_test.anm"}


def cases(most: int = 2) -> list:
    """Return our samples and the ``most`` smallest real files of each format; all others are deep."""
    result = [] if CORPUS else [pytest.param("", None, id="no corpus", marks=pytest.mark.skip(reason="no corpus"))]
    for name, form in FORMATS.items():
        real = {file for pattern in form.real for file in (CORPUS.glob(pattern) if CORPUS else ())}
        if name == "omf":
            real = {file for file in OWNERS if file.parent.name == name}
        real = {file for file in real if file.name not in NOT_IMPORTED | WITHOUT_CONTENT and "odol" not in file.name}
        own = [SAMPLES / sample for sample in form.samples]
        for number, file in enumerate([*own, *sorted(real, key=lambda file: (file.stat().st_size, file))]):
            deep = (pytest.mark.deep,) if number >= len(own) + most else ()
            result.append(pytest.param(name, file, id=f"{name} {file.parent.name}/{file.name}", marks=deep))
    return result


def copied(file: Path, folder: Path) -> Path:
    """Return a copy of a file in a new folder, with what belongs to it."""
    folder.mkdir()
    if file.suffix in ("", ".geom"):
        return shutil.copytree(file.parent, folder / file.parent.name) / file.name
    if file in OWNERS:
        shutil.copy(OWNERS[file], folder / "model.ogf")
    return Path(shutil.copy(file, folder))


def sample_of(name: str, folder: Path) -> Path:
    """Return a file of a format in a new folder: a copy of our sample, or motions of the editor that are made."""
    if FORMATS[name].samples:
        return copied(SAMPLES / FORMATS[name].samples[0], folder)
    folder.mkdir()
    return written(folder, made_motion(CURVED))
