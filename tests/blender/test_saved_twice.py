"""What is saved twice is what is saved once: the bytes depend on the scene, not on how often it was saved."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np
import pytest

from addon.blender import compat
from addon.core.report import Report
from addon.formats.arma import rtm
from addon.formats.xray import skl
from addon.ui.arma import models as arma_models
from addon.ui.arma import panels as arma_panels
from addon.ui.descent3 import models as descent_models
from addon.ui.xray import editor_models, levels, models, motion_files, paths, skeletal
from tests.blender.test_save_back import dialog_of
from tests.blender.test_skl_motions import CURVED, made_motion, rig_of, written
from tests.real_files import CORPUS, MOTIONS_OF_MODELS, SAMPLES, motions_of_model

# Edits look up what they edit: after a reload nothing from before is there.


def move_a_key() -> None:
    """Change a key of the action that the active object plays."""
    curves = compat.curve_bag(bpy.context.view_layer.objects.active.animation_data.action).fcurves
    curve = next(
        (curve for curve in curves if curve.data_path.endswith("location") and len(curve.keyframe_points)), curves[0]
    )
    curve.keyframe_points[0].co[1] += 0.25
    curve.update()


def move_a_vertex() -> None:
    """Move a vertex of the active object, or of the first mesh below it."""
    active = bpy.context.view_layer.objects.active
    obj = next(
        entry for entry in (active, *active.children_recursive) if entry.type == "MESH" and len(entry.data.vertices)
    )
    obj.data.vertices[0].co[2] += 0.25
    obj.data.update()


def move_an_object() -> None:
    """Move the active object."""
    bpy.context.view_layer.objects.active.location.x += 0.25


def raise_a_slot() -> None:
    """Raise the grass of a slot."""
    bpy.context.view_layer.objects.active.data.attributes["height"].data[0].value += 1


def import_level(path: Path) -> None:
    """Import the folder of a level; what its file ``path`` stores is active."""
    assert bpy.ops.import_scene.xray_level(directory=str(path.parent)) == {"FINISHED"}
    kinds = {obj.motionbridge_level.kind: obj for obj in reversed(bpy.data.objects)}
    wanted = ("SURFACE",) if path.suffix else ("LIGHT", "GLOW", "TREE")
    bpy.context.view_layer.objects.active = next(kinds[kind] for kind in wanted if kind in kinds)


def import_motions(path: Path) -> None:
    """Import motions of the game onto their model, which lies beside them."""
    assert bpy.ops.import_scene.xray_ogf(filepath=str(path.with_name("model.ogf")), textures=False) == {"FINISHED"}
    assert bpy.ops.import_scene.xray_omf(filepath=str(path)) == {"FINISHED"}


def import_editor_motions(path: Path) -> None:
    """Import motions of the editor onto an armature with their bones."""
    rig_of(skl.bone_names(skl.read(path.read_bytes(), path.name, Report()).motions[0]))
    assert bpy.ops.import_scene.xray_skl(filepath=str(path)) == {"FINISHED"}


def importer(name: str, **options: object) -> Callable[[Path], None]:
    """Return the function that imports a file with an operator."""

    def call(path: Path) -> None:
        assert getattr(bpy.ops.import_scene, name)(filepath=str(path), **options) == {"FINISHED"}

    return call


class Format(NamedTuple):
    """How a file is imported, edited and saved; our own ``samples``, and patterns of ``real`` files."""

    load: Callable[[Path], None]
    edit: Callable[[], None]
    save: type
    samples: tuple[str, ...] = ()
    real: tuple[str, ...] = ()
    alike: Callable[[bytes, bytes], bool] = bytes.__eq__


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
    "ogf": Format(GAME_MODEL, move_a_vertex, models.MOTIONBRIDGE_OT_model_save_back, ("humanoid.ogf",), ("ogf/*",)),
    "omf": Format(import_motions, move_a_key, motion_files.MOTIONBRIDGE_OT_save_back, ("humanoid.omf",)),
    "object": Format(importer("xray_object"), move_a_vertex, EDITOR_SAVE, ("weapon.object",), ("object/*",)),
    "skl": Format(
        import_editor_motions, move_a_key, skeletal.MOTIONBRIDGE_OT_skeletal_save_back, (), ("skl/*", "skls/*")
    ),
    "anm": Format(importer("xray_anm"), move_a_key, paths.MOTIONBRIDGE_OT_path_save_back, ("camera.anm",), ("anm/*",)),
    **{
        name: Format(LEVEL_FILE, move_a_vertex, LEVEL_SAVE, (sample,), (f"{name}/*",))
        for name, sample in (
            ("hom", "level/level.hom"),
            ("som", "level/level.som"),
            ("cform", "level/level.cform"),
            ("dm", "level/grass.dm"),
        )
    },
    "details": Format(LEVEL_FILE, raise_a_slot, LEVEL_SAVE, ("level/level.details",), ("details/*",)),
    "level": Format(import_level, move_an_object, LEVEL_SAVE, ("level/level",), ("level/*/level",)),
    "geom": Format(import_level, move_a_vertex, LEVEL_SAVE, ("level/level.geom",), ("level/*/level.geom",)),
    "p3d": Format(
        ARMA_MODEL, move_a_vertex, arma_models.MOTIONBRIDGE_OT_arma_model_save_back, ("arma/man.p3d",), ("p3d/*.p3d",)
    ),
    "rtm": Format(ARMA_MOTION, move_a_key, ARMA_SAVE, ("arma/walk.rtm",), ("rtm*/*.rtm",), alike_matrices),
    "oof": Format(SHIP, move_a_vertex, SHIP_SAVE, ("descent3/ship.oof",), ("oof/*",)),
}


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


def cases() -> list:
    """Return our samples and the two smallest real files of each format; all others are deep."""
    result = [] if CORPUS else [pytest.param("", None, id="no corpus", marks=pytest.mark.skip(reason="no corpus"))]
    for name, form in FORMATS.items():
        real = {file for pattern in form.real for file in (CORPUS.glob(pattern) if CORPUS else ())}
        if name == "omf":
            real = {file for file in OWNERS if file.parent.name == name}
        real = {file for file in real if file.name not in NOT_IMPORTED | WITHOUT_CONTENT and "odol" not in file.name}
        own = [SAMPLES / sample for sample in form.samples]
        for number, file in enumerate([*own, *sorted(real, key=lambda file: (file.stat().st_size, file))]):
            deep = (pytest.mark.deep,) if number > len(own) + 1 else ()
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


def reload(folder: Path) -> None:
    """Save the scene and open it again."""
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"), compress=False)
    bpy.ops.wm.open_mainfile(filepath=str(folder / "scene.blend"))


def saved_twice_is_saved_once(form: Format, once: Path, twice: Path) -> None:
    """Check that two edits that are saved together give what they give one by one, and that nothing else is written."""

    def save() -> set[str]:
        return dialog_of(form.save, backup=False).execute(bpy.context)

    form.load(once)
    form.edit()
    form.edit()
    assert save() == {"FINISHED"}
    bpy.ops.wm.read_homefile(use_empty=True)
    written = [twice.read_bytes()]
    form.load(twice)
    for number in range(2):
        for _ in range(2):
            assert save() == {"CANCELLED"}
        if number:
            reload(twice.parent)
            assert save() == {"CANCELLED"}
        assert twice.read_bytes() == written[-1]
        form.edit()
        assert save() == {"FINISHED"}
        assert twice.read_bytes() not in written
        written.append(twice.read_bytes())
    assert form.alike(written[-1], once.read_bytes())
    assert save() == {"CANCELLED"}
    reload(twice.parent)
    assert save() == {"CANCELLED"}
    assert twice.read_bytes() == written[-1]


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if form.samples])
def test_the_frame_that_is_shown_changes_nothing_that_is_saved(name, tmp_path):
    form = FORMATS[name]
    if name == "omf":
        (tmp_path / "of").mkdir()
        shutil.copy(SAMPLES / "humanoid.ogf", tmp_path / "of" / "model.ogf")
        path = Path(shutil.copy(SAMPLES / form.samples[0], tmp_path / "of"))
    else:
        path = copied(SAMPLES / form.samples[0], tmp_path / "of")
    form.load(path)
    form.edit()
    plans = []
    for frame in (0, 3.25, 40):
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
        plan = dialog_of(form.save)._shown.plan
        plans.append([(part.path, part.data) for part in getattr(plan, "plans", [plan])])
    assert plans[0] == plans[1] == plans[2]


@pytest.mark.parametrize(("name", "file"), cases())
def test_what_is_saved_twice_is_what_is_saved_once(name, file, tmp_path):
    saved_twice_is_saved_once(FORMATS[name], copied(file, tmp_path / "once"), copied(file, tmp_path / "twice"))


@pytest.mark.parametrize("name", ["made.skl", "made.skls"])
def test_editor_motions_saved_twice_are_what_is_saved_once(name, tmp_path):
    for folder in ("once", "twice"):
        (tmp_path / folder).mkdir()
        written(tmp_path / folder, made_motion(CURVED), name=name)
    saved_twice_is_saved_once(FORMATS["skl"], tmp_path / "once" / name, tmp_path / "twice" / name)
