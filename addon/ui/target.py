"""Which armature, action, model or collection an operator works on."""

from collections.abc import Callable, Iterable
from typing import Any

import bpy
from bpy.props import StringProperty

from ..blender import armature, nla
from ..blender.control_links import is_control_rig, moved_by
from ..blender.properties import nearest_ancestor
from ..blender.typed import Action, Context, Object
from ..core.errors import WriteError
from ..core.report import say
from .operation import Need, Operation


def active_rig(context: Context) -> Any:
    """Return the armature of the active object, or None: the active armature, the one that deforms or is the parent of
    the active object, or the one that the active control rig moves.

    Hidden armatures count.
    """
    active = context.view_layer.objects.active
    if active is None or active.type == "ARMATURE":
        return moved_by(active)
    own_armature = active.find_armature()
    return own_armature if own_armature is not None else (active.parent if _is_rig(active.parent) else None)


def active_action(context: Context) -> Any:
    """Return the motion in play on the active armature, or None."""
    rig = active_rig(context)
    return nla.playing(rig).action if rig is not None else None


def _is_rig(obj: Object | None) -> bool:
    return obj is not None and obj.type == "ARMATURE"


RIG = Need("No armature is active: select one", active_rig)


def active_object(context: Context) -> Any:
    """Return the active object, or None; unlike ``context.active_object`` it is there in long work too."""
    return context.view_layer.objects.active


def on_active(find: Callable[[Any], Any]) -> Callable[[Context], Any]:
    """Return ``find`` of the active object (or None), for a `Need`."""
    return lambda context: find(active_object(context))


def on_rig(find: Callable[[Any], Any]) -> Callable[[Context], Any]:
    """Return ``find`` of the active armature, for a `Need` after `RIG`."""
    return lambda context: find(active_rig(context))


MESH = Need("The active object is not a mesh", on_active(lambda obj: obj is not None and obj.type == "MESH"))


def rigs_of(context: Context) -> list[Object]:
    """Return all armature objects of the scene except control rigs."""
    return [obj for obj in context.scene.objects if obj.type == "ARMATURE" and not is_control_rig(obj)]


def likely_rig(context: Context) -> Any:
    """Return the active armature, else the scene's only armature, else None."""
    rig = active_rig(context)
    rigs = rigs_of(context)
    return rigs[0] if rig is None and len(rigs) == 1 else rig


def rig_to_export(context: Context, collection: str) -> Object:
    """Return the armature to export: the only one of ``collection``, else the active one, else the scene's only one.

    Raises `WriteError` if there is none, or several in the collection.
    """
    if collection:
        rigs = [obj for obj in objects_of(collection) if obj.type == "ARMATURE"]
        if len(rigs) != 1:
            words = "the collection {!r} holds several armatures" if rigs else "the collection {!r} holds no armature"
            raise WriteError(
                say(words, collection),
                remedy="Keep one armature in a collection that exports motions",
            )
        return rigs[0]
    rig = likely_rig(context)
    if rig is None:
        raise WriteError("no armature is active", remedy="Several armatures have motions: make one active")
    return rig


def action_to_export(rig: Object) -> Any:
    """Return the motion in play on an armature. Raises `WriteError` if it plays none."""
    action = nla.playing(rig).action
    if action is None:
        raise WriteError(say("{!r} plays no action", rig.name), remedy="Choose one in the Action Editor")
    return action


def some_action(rig: Object, result: list[Action]) -> list[Action]:
    """Return ``result``, the actions of an armature. Raises `WriteError` if there are none."""
    if not result:
        raise WriteError(say("no action moves the bones of {!r}", rig.name), remedy="Import motions, or key some poses")
    return result


def editor_model_of(context: Context) -> Any:
    """Return the object that stores the imported editor model (.object) of the active object, or None."""
    return nearest_ancestor(
        context.view_layer.objects.active, lambda ancestor: ancestor.motionbridge_editor_model.is_model
    )


def checked_editor_model_of(context: Context) -> Any:
    """Return the object that stores the editor model of the active object, imported or new, or None.

    The active object may be its descendant or be deformed by it.
    """
    start = editor_model_of(context) or active_rig(context) or context.view_layer.objects.active
    return nearest_ancestor(
        start,
        lambda ancestor: ancestor.motionbridge_editor_model.is_model or ancestor.motionbridge_editor_model.is_made,
    )


def active_model(context: Context) -> Any:
    """Return the object that stores the imported model (.ogf) of the active object, or None."""
    return nearest_ancestor(context.view_layer.objects.active, lambda ancestor: ancestor.motionbridge_model.is_model)


def has_mesh(context: Context) -> bool:
    """For `poll`: whether the scene has a mesh, apart from custom shapes of bones, which an append can bring along."""
    return any(obj.type == "MESH" and not armature.is_shape(obj) for obj in context.scene.objects)


def objects_of(collection: str) -> list[Object]:
    """Return all objects of a collection and its children, without custom shapes of bones and control rigs.

    Raises `WriteError` if there is no such collection.
    """
    collection_of_objects: Any = bpy.data.collections.get(collection)
    if collection_of_objects is None:
        raise WriteError(say("there is no collection {!r}", collection), remedy="Choose one of the file's collections")
    return [obj for obj in collection_of_objects.all_objects if not (armature.is_shape(obj) or is_control_rig(obj))]


class OnAction(Operation):
    """Mixin for operators on one action: the one named by a property, else the active one."""

    needs: tuple[Need, ...] = (RIG, Need("The active armature has no action: choose one in the list", active_action))

    action: StringProperty(
        name="Action",
        description="Name of the action; empty for the active one",
        options={"SKIP_SAVE", "HIDDEN"},
    )

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        return (self.chosen(context)[1],)

    def chosen(self, context: Context) -> tuple[Any, Any]:
        """Return the armature and the action. Raises `WriteError` if there is none."""
        rig = rig_to_export(context, "")
        action = bpy.data.actions.get(self.action) if self.action else active_action(context)
        if action is None:
            raise WriteError(
                say("there is no action {!r}", self.action) if self.action else say("{!r} plays no action", rig.name),
                remedy="Choose one in the list of motions",
            )
        return rig, action
