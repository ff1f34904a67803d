"""What is measured in Blender of every kind of file, and of single ones: import, export, memory, and their floors.

`KINDS` says how files of each suffix are imported, exported and edited. Entries of `MEASUREMENTS` take a path, and
return seconds, or bytes.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from addon.blender import compat, material
from addon.core.binary import Reader
from addon.core.compression import lzo
from addon.core.report import Report
from addon.formats import archives
from addon.formats.xray import cform, details, occluders
from addon.games.arma import animation_export, animation_import
from addon.games.descent3 import model, model_export
from addon.games.descent3.hierarchy import Chosen
from addon.games.plan import OtherBase
from addon.games.xray import options, paths
from addon.games.xray.hud import scene as hud_scene
from addon.games.xray.levels import folder as level_folder
from addon.games.xray.levels import geometry as level_geometry
from addon.games.xray.models import editor_exporting, importing
from addon.games.xray.motions import library
from addon.games.xray.motions.omf_codec import OMF, MotionExportOptions
from addon.games.xray.motions.skl_codec import SKL, SkeletalExportOptions, SkeletalImportOptions

from . import SAMPLES, seconds_of
from .floors import Arrays, peak_growth, reading_all
from .rigs import import_library, motions_of, new_rig, planned_save_back

MANY_PATHS = 400


@dataclass(frozen=True)
class Kind:
    """Functions that import and export files of a suffix; ``save`` and ``edit`` get what ``load`` returned.

    ``load`` gets the path, and what ``onto`` created before the clock starts. ``save`` gets the path, and whether a new
    file is written. ``allowed``: memory that an import may use in addition to Blender's own for the same arrays, in
    multiples of the file's size.
    """

    load: Callable[[str, Any], Any]
    save: Callable[[Any, str, bool], object]
    edit: Callable[[Any], None]
    onto: Callable[[str], Any] = lambda _path: None
    allowed: int = 0


# ---- edits


def _raise_every_other_key(action_list: Iterable[Any]) -> None:
    for action in action_list:
        for curve in compat.curve_bag(action).fcurves:
            points = curve.keyframe_points
            keys = np.empty(2 * len(points), np.float32)
            points.foreach_get("co", keys)
            keys[1::4] += 0.01
            points.foreach_set("co", keys)


def _raise_middle_key(curve: Any) -> None:
    curve.keyframe_points[len(curve.keyframe_points) // 2].co[1] += 0.1


def _raise_one_bone(action_list: Iterable[Any]) -> None:
    for number, action in enumerate(action_list):
        curves = [curve for curve in compat.curve_bag(action).fcurves if curve.data_path.endswith("rotation_euler")]
        _raise_middle_key(curves[7 * number % len(curves)])


def _raise_channels(owner: Any) -> None:
    for curve in compat.curve_bag(owner.animation_data.action).fcurves:
        _raise_middle_key(curve)


def _raise_tenth(objects: Iterable[Any]) -> None:
    for mesh in (obj.data for obj in objects):
        stored = mesh.attributes["position"].data
        values = np.empty(3 * len(stored), np.float32)
        stored.foreach_get("vector", values)
        values[2::30] += 0.25
        stored.foreach_set("vector", values)
        mesh.update()


def _raise_vertex(obj: Any) -> None:
    obj.data.vertices[0].co[2] += 0.25


def _raise_largest(_holder: Any) -> None:
    _raise_vertex(max(bpy.data.objects, key=lambda obj: len(obj.data.polygons) if obj.type == "MESH" else 0))


def _edit_level(name: str, dtype: Any, change: Callable[[Any], Any]) -> Callable[[Any], None]:
    """Return a function that moves a vertex, and changes every tenth value of an attribute."""

    def edit(holder: Any) -> None:
        attribute = holder.data.attributes[name]
        values = np.empty(len(attribute.data), dtype)
        attribute.data.foreach_get("value", values)
        values[::10] = change(values[::10])
        attribute.data.foreach_set("value", values)
        models = holder.motionbridge_level.models  # of detail objects
        _raise_vertex(models.objects[0] if models else holder)

    return edit


# ---- the table


def _plan_motions(codec: Any, rig: Any, chosen: Any, path: str, **how: Any) -> Any:
    return library.plan_export(codec, bpy.context, rig, chosen, path, report=Report(), **how)


def _save_library(rig: Any, path: str, _new: bool) -> None:
    _plan_motions(OMF, rig, motions_of(rig), path, onto=library.Onto.OWN_FILES, options=MotionExportOptions()).write()


def _load_editor_motions(path: str, rig: Any) -> Any:
    chosen = SkeletalImportOptions()
    return rig, library.import_motions(SKL, bpy.context, rig, path, options=chosen, report=Report()).actions


def _load_animation(path: str, rig: Any) -> Any:
    chosen = animation_import.AnimationImportOptions()
    return animation_import.import_animation(bpy.context, rig, path, options=chosen, report=Report())


def _plan_animation(rig: Any, path: str) -> Any:
    chosen = animation_export.AnimationExportOptions()
    return animation_export.plan_export(bpy.context, rig, path, options=chosen, report=Report())


def _load_visuals(path: str, _onto: Any) -> Any:
    chosen = options.LevelFolderOptions(textures=False)
    folders = level_folder.import_folder(bpy.context, Path(path).parent, chosen, Report(), lambda _done: None)
    return folders[0].held[0].motionbridge_level.level_file


def _load_level(path: str, _onto: Any) -> Any:
    return level_geometry.import_file(bpy.context, path, options.LevelImportOptions(), Report()).holder


def _save_level(holder: Any, path: str, new: bool) -> None:
    chosen = options.LevelExportOptions(anew=new)
    level_geometry.export_file(bpy.context, holder, Path(path), chosen, Report())


OCCLUDERS = Kind(_load_level, _save_level, _edit_level(occluders.TWO_SIDED, np.bool_, np.logical_not), allowed=3)
KINDS = {
    ".omf": Kind(
        import_library,
        _save_library,
        edit=lambda _rig: _raise_every_other_key(bpy.data.actions),
        onto=lambda _path: new_rig(),
    ),
    ".skls": Kind(
        _load_editor_motions,
        lambda loaded, path, _new: _plan_motions(SKL, *loaded, path, options=SkeletalExportOptions()).write(),
        edit=lambda loaded: _raise_one_bone(loaded[1]),
        onto=lambda _path: new_rig(),
    ),
    ".anm": Kind(
        lambda path, _: paths.import_path(bpy.context, path, paths.PathImportOptions(), Report()).owner,
        lambda owner, path, _new: paths.plan_export(
            bpy.context, owner, path, options=paths.PathExportOptions(), report=Report()
        ).write(),
        edit=_raise_channels,
    ),
    ".rtm": Kind(
        _load_animation,
        lambda loaded, path, _new: _plan_animation(loaded.rig, path).write(),
        edit=lambda loaded: _raise_every_other_key([loaded.action]),
        onto=lambda path: _load_animation(path, None).rig,
    ),
    ".oof": Kind(
        lambda path, _: model.import_model(bpy.context, Path(path), model.ModelImportOptions(), Report()),
        lambda loaded, path, _new: model_export.export_model(
            bpy.context, Chosen(loaded.holder), Path(path), model_export.ModelExportOptions(), Report()
        ),
        edit=lambda loaded: _raise_tenth(loaded.parts),
    ),
    ".object": Kind(
        lambda path, _: importing.import_editor_model(bpy.context, path, options.ModelImportOptions(), Report()).holder,
        lambda holder, path, _new: editor_exporting.plan_export(
            bpy.context, holder, path, options.EditorModelExportOptions(), Report()
        ).write(),
        edit=lambda holder: _raise_tenth(holder.children[:1]),
    ),
    ".cform": Kind(_load_level, _save_level, _edit_level(cform.SECTOR, np.int32, lambda old: old + 1), allowed=3),
    ".hom": OCCLUDERS,
    ".som": OCCLUDERS,
    "": Kind(_load_visuals, _save_level, _raise_largest, allowed=20),
    ".details": Kind(
        _load_level, _save_level, _edit_level(details.MODEL[0], np.int32, lambda old: (old + 1) % 7), allowed=3
    ),
}


# ---- what is measured of every kind


def _loader(path: str) -> Callable[[], Any]:
    """Create what the file is imported onto; return a function that imports it."""
    kind = _kind(path)
    onto = kind.onto(path)
    return lambda: kind.load(path, onto)


def _kind(path: str) -> Kind:
    return KINDS[Path(path).suffix]


def _prepare_floor(path: str) -> float:
    load = _loader(path)
    bpy.data.batch_remove(list(bpy.data.actions))
    known = {obj for obj in bpy.data.objects if obj.type == "ARMATURE"}
    load()
    data = pickle.dumps(Arrays.of_all(known))
    Path(f"{path}.floor").write_bytes(data)
    return float(len(data))


def _passing(path: str) -> Callable[[], None]:
    arrays: Arrays = pickle.loads(Path(f"{path}.floor").read_bytes())  # noqa: S301 - written by `_prepare_floor`
    return arrays.pass_to_blender


def _allowed(path: str) -> int:
    return _kind(path).allowed * Path(path).stat().st_size


def _exported(path: str, *, edited: bool = False, new: bool = False) -> float:
    loaded = _loader(path)()
    if edited:
        _kind(path).edit(loaded)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"exported{Path(path).suffix}"
        seconds = seconds_of(lambda: _kind(path).save(loaded, str(target), new))
        if not new and (target.read_bytes() == Path(path).read_bytes()) == edited:
            raise ValueError(f"the exported file is {'still' if edited else 'not'} the imported one")
    return seconds


def _read_back(path: str) -> float:
    kept = _loader(path)()
    image, read = Path(path).read_bytes(), reading_all()
    with tempfile.TemporaryDirectory() as folder:
        seconds = seconds_of(lambda: (read(), (Path(folder) / "floor").write_bytes(image)))
    del kept
    return seconds


# ---- what is measured of one kind


def _saved_back(path: str) -> float:
    rig = _loader(path)()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "motions.omf"
        copy.write_bytes(Path(path).read_bytes())
        rig.motionbridge_motion_files[0].path = str(copy)
        return seconds_of(lambda: planned_save_back(rig).write())


def _checked(path: str) -> float:
    holder = _loader(path)()
    return seconds_of(lambda: level_geometry.find_problems(bpy.context, holder, Report()))


def _saved_tree(path: str) -> float:
    holder = _loader(path)()
    bpy.context.view_layer.update()  # as the window has done after the import
    next(obj for obj in bpy.data.objects if obj.motionbridge_level.kind == "TREE").location.x += 1
    how: Any = {"if_changed": OtherBase.REFUSE, "report": Report()}
    return seconds_of(lambda: level_geometry.plan_save_back(bpy.context, holder, **how))


def _import_many_paths(path: str) -> None:
    chosen, report = paths.PathImportOptions(play=False), Report()
    imported = [paths.import_path(bpy.context, path, chosen, report) for _ in range(MANY_PATHS)]
    paths.play(bpy.context, imported, report)


def _game(folder: str) -> Path:
    """Arrange the samples in the folders of a game."""
    game = Path(folder) / "first_person" / "gamedata"
    moved = {file: f"configs/{file.name}" for file in (SAMPLES / "configs").iterdir()}
    for name in ("humanoid.ogf", "humanoid.omf", "weapon.ogf", "weapon.omf"):
        moved[SAMPLES / name] = f"meshes/samples/{name}"
    for source, target in moved.items():
        (game / target).parent.mkdir(parents=True, exist_ok=True)
        (game / target).write_bytes(source.read_bytes())
    return game


def _open_first_person(game: Path) -> None:
    hud_scene.new_scene(bpy.context, options.HudSceneOptions(section="wpn_sample", folders=(game,)), Report())


def _open_its_files(game: Path) -> None:
    for name in ("humanoid", "weapon"):
        rig = _import_model(game / f"meshes/samples/{name}.ogf").rig
        import_library(str(game / f"meshes/samples/{name}.omf"), rig)


def _import_model(path: Path, **how: bool) -> Any:
    return importing.import_model(bpy.context, path, options.ModelImportOptions(**how), Report())


def _textures_of_archive(archive: str) -> float:
    names = archives.open_archive(archive, Report()).table.names
    return seconds_of(lambda: [material.shown_image(Path(archive, *name.split("\\"))) for name in names])


def _textures_of_folder(archive: str) -> float:
    """Load the same textures from a folder, and unpack them 1.2 times."""
    opened = archives.open_archive(archive, Report())
    stored = [(opened.stored_bytes(index), opened.entry(index).size) for index in range(len(opened))]
    with tempfile.TemporaryDirectory() as folder:
        written = archives.extract(opened, Path(folder), Report())
        unpacking = seconds_of(lambda: [lzo.unpack(Reader(data), size) for data, size in stored])
        return seconds_of(lambda: [material.shown_image(path) for path in written]) + 1.2 * unpacking


def _import_bones(*, readable: bool) -> float:
    return seconds_of(lambda: _import_model(SAMPLES / "humanoid.ogf", readable_bones=readable))


MEASUREMENTS: dict[str, Callable[[str], float]] = {
    # Store the arrays of what the import creates beside the file, for floors in processes that import nothing.
    "prepare_floor": _prepare_floor,
    # Import a file from disk until it plays or is shown. Floor: pass the prepared arrays to Blender.
    "import_file": lambda path: seconds_of(_loader(path)),
    "pass_to_blender": lambda path: seconds_of(_passing(path)),
    # By how many bytes the peak memory of the process grows during the import. Floor: the growth while the same arrays
    # are passed to Blender, and the allowance of the kind.
    "memory_of_import": lambda path: peak_growth(_loader(path)),
    "memory_allowed": lambda path: peak_growth(_passing(path)) + _allowed(path),
    # Export the unedited import to a new file; the import after an edit; a new file of what is in Blender, without the
    # imported one as its base. Floor: read all arrays from Blender and write as many bytes.
    "export_file": _exported,
    "export_edited": partial(_exported, edited=True),
    "export_as_new": partial(_exported, new=True),
    "read_back": _read_back,
    # Compare every motion with its file, and write the file again.
    "save_back": _saved_back,
    # Check a level across its layers; plan Save Back after one tree was moved.
    "check_level": _checked,
    "save_back_tree": _saved_tree,
    # List names and lengths of a file's motions, without importing them.
    "list_names": lambda path: seconds_of(lambda: library.list_motions(OMF, path)),
    # Import the same path `MANY_PATHS` times, each onto its own empty.
    "import_many_paths": lambda path: seconds_of(partial(_import_many_paths, path)),
    # Create a first-person scene from its section: configs, two models, and the motions of its actions. Floor: import
    # only the models and motion files of that scene.
    "open_first_person": lambda folder: seconds_of(partial(_open_first_person, _game(folder))),
    "open_its_files": lambda folder: seconds_of(partial(_open_its_files, _game(folder))),
    # Import a character's model with bones drawn from head to head. Floor: with Blender's own drawing of bones.
    "import_readable": lambda _folder: _import_bones(readable=True),
    "import_plain": lambda _folder: _import_bones(readable=False),
    # Load the textures of an archive. Floor: load them from a folder, and unpack them 1.2 times.
    "textures_of_archive": _textures_of_archive,
    "textures_of_folder": _textures_of_folder,
}
