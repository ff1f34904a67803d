"""Which model, level, motion file or action an operator of S.T.A.L.K.E.R. works on."""

from collections.abc import Iterable
from typing import Any

import bpy

from ...blender import action_lists, bone_curves, compat
from ...blender.properties import refuse_linked
from ...blender.typed import Action, Context, Object
from ...core.errors import ReadError, WriteError
from ...core.report import Report, say
from ...games.xray.levels import details as level_details
from ...games.xray.levels.properties import DRAWN_KINDS, JOINED, VISUAL_KINDS, holder_of, is_new
from ...games.xray.motions import library
from ...games.xray.motions.properties import SKL_LISTS
from .. import bases
from ..target import active_model, active_rig, editor_model_of, likely_rig, objects_of


def rig_to_import_onto(context: Context, report: Report) -> Object:
    """Return the active armature, else the scene's only one. Raises `ReadError`."""
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
    """Draw the name of the armature that the operator works on, or that there is none."""
    rig = likely_rig(context)
    if rig is None:
        layout.label(text="No armature is active", icon="ERROR")
    else:
        layout.label(text=bases.iface_("Armature: {}").format(rig.name), icon="ARMATURE_DATA", translate=False)


def root_of_active(context: Context) -> Any:
    """Return the active armature, or the topmost parent of the active object, or None."""
    result = active_rig(context) or context.view_layer.objects.active
    while result is not None and result.type != "ARMATURE" and result.parent is not None:
        result = result.parent
    return result


def model_to_export(context: Context, collection: str) -> Object:
    """Return the object that stores the imported model to export. Raises `WriteError` if it is not clear which one.

    It is the only one of ``collection``, else that of the active object, else the scene's only one.
    """
    if collection:
        holders = [obj for obj in objects_of(collection) if obj.motionbridge_model.is_model]
        if len(holders) != 1:
            words = (
                "the collection {!r} holds several imported models"
                if holders
                else "the collection {!r} holds no imported model"
            )
            raise WriteError(
                say(words, collection),
                remedy="Keep one model in a collection that exports it",
            )
        return holders[0]
    holder = active_model(context)
    models = [obj for obj in context.scene.objects if obj.motionbridge_model.is_model]
    if holder is None and len(models) == 1:
        return models[0]
    if holder is None:
        raise WriteError("no imported model is active", remedy="Select the armature or a mesh of the model")
    return holder


def game_model_to_export(context: Context, collection: str) -> Any:
    """Return the object to export as a model of the game (.ogf). Raises `WriteError`.

    It stores the imported model of the active object; else it is the object that becomes a new model; if no suitable
    object is active, it stores the scene's only imported model.
    """
    if collection:
        imported = [obj for obj in objects_of(collection) if obj.motionbridge_model.is_model]
        return model_to_export(context, collection) if imported else editor_model_to_export(context, collection)
    holder, active = active_model(context), context.view_layer.objects.active
    rig = active_rig(context)
    if holder is None and rig is not None and rig.motionbridge_model.is_model:
        return rig
    if holder is None and active is not None and active.type in {"ARMATURE", "MESH", "EMPTY"}:
        return editor_model_to_export(context, collection)
    return model_to_export(context, collection)


def editor_model_to_export(context: Context, collection: str) -> Any:
    """Return the object to export as an editor model (.object). Raises `WriteError`.

    It stores the imported model of the active object, else it is the active armature or object; with a ``collection``
    it is the only model, armature or mesh there.
    """
    if not collection:
        result = editor_model_of(context) or active_rig(context) or context.view_layer.objects.active
        if result is None:
            raise WriteError("no object is active", remedy="Select the armature or the mesh to export")
        return result
    inside = objects_of(collection)
    imported = [obj for obj in inside if obj.motionbridge_editor_model.is_model]
    rigs = [obj for obj in inside if obj.type == "ARMATURE"]
    meshes = [obj for obj in inside if obj.type == "MESH" and obj.parent not in inside]
    result = imported or rigs or meshes
    if len(result) != 1:
        words = "the collection {!r} holds several models" if result else "the collection {!r} holds no model"
        raise WriteError(
            say(words, collection),
            remedy="Keep one model, armature or mesh in a collection that exports one",
        )
    return result[0]


def mover_to_export(context: Context, collection: str) -> Any:
    """Return the object whose path to export: the active one, or the only moving object of ``collection``.

    If nothing moves in the collection, its only curve. Raises `WriteError`.
    """
    if not collection:
        active = context.view_layer.objects.active
        if active is None:
            raise WriteError("no object is active", remedy="Select the object, camera or curve to export")
        return active
    inside = objects_of(collection)
    animated = [obj for obj in inside if obj.animation_data is not None and obj.animation_data.action is not None]
    followers = [obj for obj in animated if obj.animation_data.action.motionbridge_path.is_path]
    curves = [obj for obj in inside if obj.type == "CURVE"]
    candidates = followers or animated or curves
    if len(candidates) != 1:
        words = (
            "the collection {!r} holds several moving objects"
            if candidates
            else "the collection {!r} holds no moving object"
        )
        raise WriteError(
            say(words, collection),
            remedy="Keep one object that moves, or one curve, in a collection that exports a path",
        )
    return candidates[0]


def level_holders_to_export(context: Context, collection: str, *, whole: bool) -> list[Any]:
    """Return the object that stores the level file to export, followed by others that are written to the same file.

    It is the only one of ``collection``, else that of the active object, else of the selected ones, else the scene's
    only one. Of a kind of which any number of meshes become one file, the others are the selected new ones; if
    none of the kind is selected, and in a collection, all new ones. ``whole``: it may be the file `level` itself.

    Raises `WriteError`.
    """
    # Long work runs in a thread of its own, where the context has no `selected_objects`.
    selected = _level_holders([] if collection else context.view_layer.objects.selected, whole=whole)
    there = _level_holders(objects_of(collection) if collection else context.scene.objects, whole=whole)
    active = None if collection else _active_level_holder(context, whole=whole)
    holders = selected or there
    if active is not None:
        kind = active.motionbridge_level.kind
        alike = [holder for holder in selected if holder.motionbridge_level.kind == kind]
        new = [holder for holder in alike or there if holder.motionbridge_level.kind == kind and is_new(holder)]
        holders = [active, *new]
    elif len(holders) != 1:
        of_files = [holder for holder in holders if not is_new(holder)]
        kinds = {holder.motionbridge_level.kind for holder in holders}
        if len(of_files) > 1 or len(kinds) != 1 or not kinds <= JOINED:
            words = "the scene, where none is active, holds no file of a level"
            if collection:
                words = "the collection {!r} holds no file of a level"
            if holders:
                words = "the scene, where none is active, holds several files of a level"
                if collection:
                    words = "the collection {!r} holds several files of a level"
            raise WriteError(
                say(words, collection),
                remedy="Select the mesh to export" if not collection else "Keep one in a collection that exports it",
            )
        holders = [*of_files, *holders]
    holders = list(dict.fromkeys(holders))
    return holders if holders[0].motionbridge_level.kind in JOINED else holders[:1]


def _level_holders(objects: Iterable[Object], *, whole: bool) -> list[Any]:
    """Return what stores the level files of these objects; ``whole``: the file `level` if there is no other."""
    held = [obj for obj in objects if obj.motionbridge_level.kind in DRAWN_KINDS]
    grounds = [obj for obj in held if obj.motionbridge_level.kind == "DETAILS"]
    models = {model for ground in grounds for model in level_details.models_of(ground)}
    result = list(dict.fromkeys(holder_of(obj) for obj in held if obj not in models))
    if whole and not result:
        result = list({holder_of(obj): None for obj in objects if obj.motionbridge_level.level_file})
    return result


def _active_level_holder(context: Context, *, whole: bool) -> Any:
    """Return what stores the level file of the active object; None if it is not part of a level. Raises `WriteError`
    if its kind is not written.
    """
    active = holder_of(context.view_layer.objects.active)
    if active is None or active.motionbridge_level.kind in DRAWN_KINDS | ({"LEVEL"} if whole else set()):
        return active
    if active.motionbridge_level.kind in VISUAL_KINDS:
        words = "what remembers the level file of {!r} is gone"
        raise WriteError(say(words, active.name), remedy="Undo deleting it, or import the level again")
    if active.motionbridge_level.kind != "LEVEL":
        words = "{!r} is only for viewing: files of its kind are not written"
        raise WriteError(say(words, active.name), remedy="Select the object of the file to export")
    return None


def active_file(rig: Any) -> Any:
    """Return the motion file that is active in the panel, or None."""
    files = rig.motionbridge_motion_files if rig is not None else ()
    return files[min(max(rig.motionbridge_motion_file, 0), len(files) - 1)] if len(files) else None


def file_of_playing_motion(rig: Object) -> Any:
    """Return the file of the playing editor motion, else the last file that still has actions, else None."""
    data = rig.animation_data
    files = rig.motionbridge_skeletal_files
    if len(files) and data is not None and data.action is not None:
        own_file = action_lists.file_of(rig, data.action, SKL_LISTS)
        if own_file is not None:
            return own_file
    return next((file for file in reversed(files) if library.motions_of(file)), None)


def actions_moving(rig: Object) -> list[Action]:
    """Return the actions of the motion files of ``rig`` in order, then actions of no file that move its bones."""
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
