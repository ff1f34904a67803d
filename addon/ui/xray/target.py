"""What of the scene an operator of S.T.A.L.K.E.R. means: models, paths, levels, motion files and their actions."""

from typing import Any

import bpy

from ...blender import bone_curves, compat
from ...blender.properties import refuse_linked
from ...blender.typed import Action, Context, Object
from ...core.errors import ReadError, WriteError
from ...core.report import Report
from ...games.xray.levels import details as level_details
from ...games.xray.levels.properties import DRAWN_KINDS, holder_of
from ...games.xray.motions import library
from .. import bases
from ..target import active_model, active_rig, editor_model_of, likely_rig, objects_of


def rig_to_import_onto(context: Context, report: Report) -> Object:
    """The active armature, or the only one there is. Raises `ReadError`."""
    rig = likely_rig(context)
    if rig is None:
        raise ReadError(
            "no armature is active", remedy="Import the model (.ogf) this belongs to, and click its armature"
        )
    refuse_linked((rig,))
    if rig != active_rig(context):
        report.note("no armature is active: the only one in the scene is used", rig.name)
    return rig


def draw_rig(layout: bpy.types.UILayout, context: Context) -> None:
    """Which armature is meant, or that there is none."""
    rig = likely_rig(context)
    if rig is None:
        layout.label(text="No armature is active", icon="ERROR")
    else:
        layout.label(text=bases.shown("Armature: {}").format(rig.name), icon="ARMATURE_DATA", translate=False)


def model_to_export(context: Context, collection: str) -> Object:
    """The object that remembers the model a model export means. Raises `WriteError`."""
    if collection:
        holders = [shown for shown in objects_of(collection) if shown.motionbridge_model.is_model]
        if len(holders) != 1:
            raise WriteError(
                f"the collection {collection!r} holds {'several imported models' if holders else 'no imported model'}",
                remedy="Keep one model in a collection that exports it",
            )
        return holders[0]
    holder = active_model(context)
    models = [shown for shown in context.scene.objects if shown.motionbridge_model.is_model]
    if holder is None and len(models) == 1:
        return models[0]
    if holder is None:
        raise WriteError("no imported model is active", remedy="Select the armature or a mesh of the model")
    return holder


def game_model_to_export(context: Context, collection: str) -> Any:
    """The object that an export of a model of the game means. Raises `WriteError`.

    What remembers the imported model that the active object is part of, else what would become a new one; the scene's
    only imported model where nothing is active that could.
    """
    if collection:
        imported = [shown for shown in objects_of(collection) if shown.motionbridge_model.is_model]
        return model_to_export(context, collection) if imported else editor_model_to_export(context, collection)
    holder, active = active_model(context), context.view_layer.objects.active
    rig = active_rig(context)
    if holder is None and rig is not None and rig.motionbridge_model.is_model:
        return rig
    if holder is None and active is not None and active.type in {"ARMATURE", "MESH", "EMPTY"}:
        return editor_model_to_export(context, collection)
    return model_to_export(context, collection)


def editor_model_to_export(context: Context, collection: str) -> Any:
    """The object that an export of an editor's model means. Raises `WriteError`.

    What remembers the imported model that the active object is part of, else the active armature or object; of a
    ``collection`` its only model, armature or mesh.
    """
    if not collection:
        found = editor_model_of(context) or active_rig(context) or context.view_layer.objects.active
        if found is None:
            raise WriteError("no object is active", remedy="Select the armature or the mesh to export")
        return found
    inside = objects_of(collection)
    imported = [shown for shown in inside if shown.motionbridge_editor_model.is_model]
    rigs = [shown for shown in inside if shown.type == "ARMATURE"]
    meshes = [shown for shown in inside if shown.type == "MESH" and shown.parent not in inside]
    found = imported or rigs or meshes
    if len(found) != 1:
        number = "several models" if found else "no model"
        raise WriteError(
            f"the collection {collection!r} holds {number}",
            remedy="Keep one model, armature or mesh in a collection that exports one",
        )
    return found[0]


def mover_to_export(context: Context, collection: str) -> Any:
    """The object whose path is meant: the only one that moves (else the only curve) of ``collection``, else the active.

    Raises `WriteError`.
    """
    if not collection:
        active = context.view_layer.objects.active
        if active is None:
            raise WriteError("no object is active", remedy="Select the object, camera or curve to export")
        return active
    inside = objects_of(collection)
    animated = [
        shown for shown in inside if shown.animation_data is not None and shown.animation_data.action is not None
    ]
    followers = [shown for shown in animated if shown.animation_data.action.motionbridge_path.is_path]
    curves = [shown for shown in inside if shown.type == "CURVE"]
    found = followers or animated or curves
    if len(found) != 1:
        raise WriteError(
            f"the collection {collection!r} holds {'several moving objects' if found else 'no moving object'}",
            remedy="Keep one object that moves, or one curve, in a collection that exports a path",
        )
    return found[0]


def level_holder_to_export(context: Context, collection: str, *, whole: bool) -> Any:
    """What remembers the file of a level that an export means: the only one of ``collection``, else the active's.

    Else the scene's only one. ``whole``: it may be the file `level` itself. Raises `WriteError`.
    """
    inside = objects_of(collection) if collection else context.scene.objects
    held = [shown for shown in inside if shown.motionbridge_level.kind in DRAWN_KINDS]
    models = {
        model
        for shown in held
        if shown.motionbridge_level.kind == "DETAILS"
        for model in level_details.models_of(shown)
    }
    found = list(dict.fromkeys(holder_of(shown) for shown in held if shown not in models))
    if whole and not found:
        found = list({holder_of(shown): None for shown in inside if shown.motionbridge_level.level_file})
    active = None if collection else holder_of(context.view_layer.objects.active)
    if active is not None and active.motionbridge_level.kind in DRAWN_KINDS | ({"LEVEL"} if whole else set()):
        return active
    if len(found) != 1:
        where = f"the collection {collection!r}" if collection else "the scene, where none is active,"
        raise WriteError(
            f"{where} holds {'several files' if found else 'no file'} of a level",
            remedy="Select the mesh to export" if not collection else "Keep one in a collection that exports it",
        )
    return found[0]


def active_file(rig: Any) -> Any:
    """The motion file that is chosen in the panel, or None."""
    files = rig.motionbridge_motion_files if rig is not None else ()
    return files[min(max(rig.motionbridge_motion_file, 0), len(files) - 1)] if len(files) else None


def actions_moving(rig: Object) -> list[Action]:
    """The actions of the files of ``rig`` in their order, then those of no file that move bones it has."""
    ordered = [action for file in rig.motionbridge_motion_files for action in library.motions_of(file)]
    ordered += [action for file in rig.motionbridge_skeletal_files for action in library.motions_of(file)]
    known = dict.fromkeys(ordered)
    return [*known, *(action for action in _actions() if action not in known and _moves(action, rig))]


def _actions() -> list[Any]:
    return list(bpy.data.actions)


def _moves(action: Action, rig: Object) -> bool:
    if action.motionbridge_motion.file or action.motionbridge_skeletal.file:
        return False
    bones = (bone_curves.bone_of(curve.data_path) for curve in compat.curves_of(action, rig))
    return next(filter(None, bones), "") in rig.data.bones
