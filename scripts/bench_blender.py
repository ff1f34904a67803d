"""The part of scripts/bench.py that runs in Blender: one measurement per process.

    blender --background --factory-startup --python scripts/bench_blender.py -- NAME FILE

`KINDS` has the import and export functions by file suffix. Floors are in scripts/bench_floors.py; armatures moved by
constraints or control rigs, and long lists, are in scripts/bench_rigs.py. The last line printed is the figure: seconds,
or bytes.
"""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

import bench_rigs
import bpy
import numpy as np
from bench_clock import seconds_of
from bench_floors import Arrays, peak_growth, reading_all
from bench_rigs import import_library, new_rig

from addon import games
from addon.blender import compat
from addon.core.report import Report
from addon.formats.xray import cform, details, occluders
from addon.games.arma.animation_export import AnimationExportOptions
from addon.games.arma.animation_export import plan_export as plan_animation
from addon.games.arma.animation_import import AnimationImportOptions, import_animation
from addon.games.descent3 import model, model_export
from addon.games.descent3.hierarchy import Chosen
from addon.games.xray.hud import scene as hud_scene
from addon.games.xray.levels import folder as level_folder
from addon.games.xray.levels import geometry as level_geometry
from addon.games.xray.models import editor_exporting, importing
from addon.games.xray.models.importing import import_model
from addon.games.xray.motions import library
from addon.games.xray.motions.library import Onto
from addon.games.xray.motions.omf_codec import OMF, MotionExportOptions
from addon.games.xray.motions.skl_codec import SKL, SkeletalExportOptions, SkeletalImportOptions
from addon.games.xray.options import (
    EditorModelExportOptions,
    HudSceneOptions,
    LevelExportOptions,
    LevelFolderOptions,
    LevelImportOptions,
    ModelImportOptions,
    MotionImportOptions,
)
from addon.games.xray.paths import PathExportOptions, PathImportOptions, import_path, play
from addon.games.xray.paths import plan_export as plan_path

MANY_PATHS = 400


@dataclass(frozen=True)
class Kind:
    """Functions that import and export files of a suffix; ``save`` and ``edit`` get what ``load`` returned.

    ``onto`` creates what the file is imported onto, before the clock starts. ``allowed``: memory that an import may use
    in addition to Blender's own for the same arrays, in multiples of the file's size.
    """

    load: Callable[[str, Any], Any]
    save: Callable[[Any, str, bool], None]
    edit: Callable[[Any], None]
    onto: Callable[[str], Any] = lambda _path: None
    allowed: int = 0


def _raise_every_other_key(action: Any) -> None:
    for curve in compat.curve_bag(action).fcurves:
        points = curve.keyframe_points
        keys = np.empty(2 * len(points), np.float32)
        points.foreach_get("co", keys)
        keys[1::4] += 0.01
        points.foreach_set("co", keys)


def _change(attribute: Any, dtype: Any, change: Callable[[Any], Any]) -> None:
    """Change every tenth value of an attribute."""
    values = np.empty(len(attribute.data), dtype)
    attribute.data.foreach_get("value", values)
    values[::10] = change(values[::10])
    attribute.data.foreach_set("value", values)


# ---- motions of X-Ray: every key of every motion is edited


def _save_library(rig: Any, path: str, _new: bool) -> None:
    chosen = library.motions_of(rig.motionbridge_motion_files[0])
    own, options = Onto.OWN_FILES, MotionExportOptions()
    library.plan_export(OMF, bpy.context, rig, chosen, path, onto=own, options=options, report=Report()).write()


def _edit_library(_rig: Any) -> None:
    for action in bpy.data.actions:
        _raise_every_other_key(action)


# ---- motions of the X-Ray editor: one bone of each is turned at one key


def _load_editor_motions(path: str, rig: Any) -> Any:
    options = SkeletalImportOptions()
    return rig, library.import_motions(SKL, bpy.context, rig, path, options=options, report=Report()).actions


def _save_editor_motions(loaded: Any, path: str, _new: bool) -> None:
    rig, chosen = loaded
    options = SkeletalExportOptions()
    library.plan_export(SKL, bpy.context, rig, chosen, path, options=options, report=Report()).write()


def _edit_editor_motions(loaded: Any) -> None:
    for number, action in enumerate(loaded[1]):
        curves = [one for one in compat.curve_bag(action).fcurves if one.data_path.endswith("rotation_euler")]
        curve = curves[7 * number % len(curves)]
        curve.keyframe_points[len(curve.keyframe_points) // 2].co[1] += 0.1


# ---- paths of X-Ray: a key of every channel is moved


def _load_path(path: str, _onto: Any) -> Any:
    return import_path(bpy.context, path, PathImportOptions(), Report()).owner


def _save_path(owner: Any, path: str, _new: bool) -> None:
    plan_path(bpy.context, owner, path, options=PathExportOptions(), report=Report()).write()


def _edit_path(owner: Any) -> None:
    for curve in compat.curve_bag(owner.animation_data.action).fcurves:
        curve.keyframe_points[len(curve.keyframe_points) // 2].co[1] += 0.1


# ---- animations of Arma: every bone is moved in every other frame


def _load_animation(path: str, rig: Any) -> Any:
    return import_animation(bpy.context, rig, path, options=AnimationImportOptions(), report=Report())


def _save_animation(loaded: Any, path: str, _new: bool) -> None:
    plan_animation(bpy.context, loaded.rig, path, options=AnimationExportOptions(), report=Report()).write()


def _edit_animation(loaded: Any) -> None:
    _raise_every_other_key(loaded.action)


# ---- models of Descent 3: every tenth vertex of every sub-object is moved


def _load_model(path: str, _onto: Any) -> Any:
    return model.import_model(bpy.context, model.Source(Path(path)), model.ModelImportOptions(), Report())


def _save_model(loaded: Any, path: str, _new: bool) -> None:
    options = model_export.ModelExportOptions()
    model_export.export_model(bpy.context, Chosen(loaded.holder), Path(path), options, Report())


def _edit_model(loaded: Any) -> None:
    for part in loaded.parts:
        _raise_vertices(part.data)


def _raise_vertices(mesh: Any) -> None:
    stored = mesh.attributes["position"].data
    values = np.empty(3 * len(stored), np.float32)
    stored.foreach_get("vector", values)
    values[2::30] += 0.25
    stored.foreach_set("vector", values)
    mesh.update()


# ---- levels of X-Ray: a vertex is moved, a tenth of the faces get another value


def _load_level(path: str, _onto: Any) -> Any:
    return level_geometry.import_file(bpy.context, path, LevelImportOptions(), Report()).holder


def _save_level(holder: Any, path: str, new: bool) -> None:
    level_geometry.export_file(bpy.context, holder, Path(path), LevelExportOptions(anew=new), Report())


def _edit_collision(holder: Any) -> None:
    holder.data.vertices[0].co[2] += 0.25
    _change(holder.data.attributes[cform.SECTOR], np.int32, lambda values: values + 1)


def _edit_occluders(holder: Any) -> None:
    holder.data.vertices[0].co[2] += 0.25
    _change(holder.data.attributes[occluders.TWO_SIDED], np.bool_, lambda values: ~values)


def _edit_details(ground: Any) -> None:
    _change(ground.data.attributes[details.MODEL[0]], np.int32, lambda values: (values + 1) % 7)
    ground.motionbridge_level.models.objects[0].data.vertices[0].co[2] += 0.25


# ---- what is seen of a compiled level: a vertex of its largest mesh is moved


def _load_visuals(path: str, _onto: Any) -> Any:
    options = LevelFolderOptions(textures=False)
    made = level_folder.import_folder(bpy.context, Path(path).parent, options, Report(), lambda _done: None)
    return made[0].held[0].motionbridge_level.level_file


def _edit_visuals(_holder: Any) -> None:
    largest = max(bpy.data.objects, key=lambda one: len(one.data.polygons) if one.type == "MESH" else 0)
    largest.data.vertices[0].co[2] += 0.25


# ---- models of the X-Ray editor: every tenth vertex is moved


def _load_editor_model(path: str, _onto: Any) -> Any:
    return importing.import_editor_model(bpy.context, path, ModelImportOptions(), Report()).holder


def _save_editor_model(holder: Any, path: str, _new: bool) -> None:
    options = EditorModelExportOptions()
    editor_exporting.plan_export(bpy.context, holder, path, options, Report()).write()


def _edit_editor_model(holder: Any) -> None:
    _raise_vertices(holder.children[0].data)


KINDS = {
    ".omf": Kind(import_library, _save_library, _edit_library, onto=lambda _path: new_rig()),
    ".skls": Kind(_load_editor_motions, _save_editor_motions, _edit_editor_motions, onto=lambda _path: new_rig()),
    ".anm": Kind(_load_path, _save_path, _edit_path),
    ".rtm": Kind(_load_animation, _save_animation, _edit_animation, onto=lambda path: _load_animation(path, None).rig),
    ".oof": Kind(_load_model, _save_model, _edit_model),
    ".object": Kind(_load_editor_model, _save_editor_model, _edit_editor_model),
    ".cform": Kind(_load_level, _save_level, _edit_collision, allowed=3),
    ".hom": Kind(_load_level, _save_level, _edit_occluders, allowed=3),
    ".som": Kind(_load_level, _save_level, _edit_occluders, allowed=3),
    "": Kind(_load_visuals, _save_level, _edit_visuals, allowed=20),
    ".details": Kind(_load_level, _save_level, _edit_details, allowed=3),
}


# ---- what is measured of every kind


def _kind(path: str) -> Kind:
    return KINDS[Path(path).suffix]


def _loaded(path: str) -> Any:
    return _kind(path).load(path, _kind(path).onto(path))


def prepare_floor(path: str) -> float:
    """Store the arrays of what the import creates beside the file, for floors in processes that import nothing."""
    onto = _kind(path).onto(path)
    for action in list(bpy.data.actions):
        bpy.data.actions.remove(action)
    known = {one for one in bpy.data.objects if one.type == "ARMATURE"}
    _kind(path).load(path, onto)
    data = pickle.dumps(Arrays.of_all(known))
    Path(f"{path}.floor").write_bytes(data)
    return float(len(data))


def _prepared(path: str) -> Arrays:
    arrays: Arrays = pickle.loads(Path(f"{path}.floor").read_bytes())  # noqa: S301 - written by `prepare_floor`
    return arrays


def import_file(path: str) -> float:
    """Import a file from disk until it plays or is shown."""
    onto = _kind(path).onto(path)
    return seconds_of(lambda: _kind(path).load(path, onto))


def pass_to_blender(path: str) -> float:
    """Floor of importing: pass the prepared arrays to Blender."""
    return seconds_of(_prepared(path).pass_to_blender)


def memory_of_import(path: str) -> float:
    """Return by how many bytes the peak memory of the process grows during the import."""
    onto = _kind(path).onto(path)
    return peak_growth(lambda: _kind(path).load(path, onto))


def memory_allowed(path: str) -> float:
    """Floor of that: the growth while the same arrays are passed to Blender, and the allowance of the kind."""
    return peak_growth(_prepared(path).pass_to_blender) + _kind(path).allowed * Path(path).stat().st_size


def export_file(path: str) -> float:
    """Export the unedited import to a new file."""
    seconds, data = _exported(path, _loaded(path))
    if data != Path(path).read_bytes():
        raise ValueError("the exported file is not the imported one")
    return seconds


def export_edited(path: str) -> float:
    """Export the import after an edit."""
    loaded = _loaded(path)
    _kind(path).edit(loaded)
    seconds, data = _exported(path, loaded)
    if data == Path(path).read_bytes():
        raise ValueError("the exported file is still the imported one")
    return seconds


def export_as_new(path: str) -> float:
    """Export a new file of what is in Blender, without the imported one as its base."""
    return _exported(path, _loaded(path), new=True)[0]


def _exported(path: str, loaded: Any, *, new: bool = False) -> tuple[float, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"exported{Path(path).suffix}"
        return seconds_of(lambda: _kind(path).save(loaded, str(target), new)), target.read_bytes()


def read_back(path: str) -> float:
    """Floor of exporting: read all arrays from Blender and write as many bytes."""
    kept = _loaded(path)
    image, read = Path(path).read_bytes(), reading_all()
    with tempfile.TemporaryDirectory() as folder:
        seconds = seconds_of(lambda: (read(), (Path(folder) / "floor").write_bytes(image)))
    del kept
    return seconds


# ---- what is measured of one kind


def save_back(motions: str) -> float:
    """Compare every motion with its file, and write the file again."""
    rig = _loaded(motions)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "motions.omf"
        copy.write_bytes(Path(motions).read_bytes())
        rig.motionbridge_motion_files[0].path = str(copy)
        return seconds_of(lambda: bench_rigs.planned_save_back(rig).write())


def list_names(motions: str) -> float:
    """List names and lengths of a file's motions, without importing them."""
    return seconds_of(lambda: library.list_motions(OMF, motions))


def import_many_paths(path: str) -> float:
    """Import the same path `MANY_PATHS` times, each onto its own empty."""

    def work() -> None:
        options, report = PathImportOptions(play=False), Report()
        play(bpy.context, [import_path(bpy.context, path, options, report) for _ in range(MANY_PATHS)], report)

    return seconds_of(work)


def _game(folder: str) -> Path:
    """Arrange the samples in the folders of a game."""
    game, samples = Path(folder) / "first_person" / "gamedata", ROOT / "tests" / "samples"
    for name in ("configs", "meshes/samples"):
        (game / name).mkdir(parents=True, exist_ok=True)
    for file in (samples / "configs").iterdir():
        (game / "configs" / file.name).write_bytes(file.read_bytes())
    for name in ("humanoid.ogf", "humanoid.omf", "weapon.ogf", "weapon.omf"):
        (game / "meshes" / "samples" / name).write_bytes((samples / name).read_bytes())
    return game


def open_first_person(folder: str) -> float:
    """Create a first-person scene from its section: configs, two models, and the motions of its actions."""
    options = HudSceneOptions(section="wpn_sample", folders=(_game(folder),))
    return seconds_of(lambda: hud_scene.new_scene(bpy.context, options, Report()))


def open_its_files(folder: str) -> float:
    """Import only the models and motion files of that scene."""
    models = _game(folder) / "meshes" / "samples"

    def work() -> None:
        for name in ("humanoid", "weapon"):
            rig = import_model(bpy.context, models / f"{name}.ogf", ModelImportOptions(), Report()).rig
            path = str(models / f"{name}.omf")
            library.import_motions(OMF, bpy.context, rig, path, options=MotionImportOptions(), report=Report())

    return seconds_of(work)


def _import_character(*, readable: bool) -> float:
    path = ROOT / "tests" / "samples" / "humanoid.ogf"
    options = ModelImportOptions(readable_bones=readable)
    return seconds_of(lambda: import_model(bpy.context, path, options, Report()))


def import_readable(_folder: str) -> float:
    """Import a character's model with bones drawn from head to head."""
    return _import_character(readable=True)


def import_plain(_folder: str) -> float:
    """Import it with Blender's own drawing of bones."""
    return _import_character(readable=False)


MEASUREMENTS: dict[str, Callable[[str], float]] = {
    measurement.__name__: measurement
    for measurement in (
        prepare_floor,
        import_file,
        pass_to_blender,
        memory_of_import,
        memory_allowed,
        export_file,
        export_edited,
        export_as_new,
        read_back,
        save_back,
        list_names,
        import_many_paths,
        open_first_person,
        open_its_files,
        import_readable,
        import_plain,
        *bench_rigs.MEASUREMENTS,
    )
}

if __name__ == "__main__":
    games.register()
    bpy.context.preferences.edit.use_global_undo = False
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    name, *files = sys.argv[sys.argv.index("--") + 1 :]
    figure = MEASUREMENTS[name](*files)
    print(f"\n{figure}", flush=True)
    os._exit(0)  # a Blender with classes still registered may hang while it shuts down
