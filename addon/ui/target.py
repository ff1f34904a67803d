"""What of the scene is meant: the active armature, however the user points at it; and the scene's rate and length."""

from collections.abc import Callable, Iterable
from typing import Any

import bpy
from bpy.props import StringProperty

from ..blender import action as blender_action
from ..blender import armature
from ..blender.control_links import is_control_rig, moved_by
from ..blender.typed import Action, Context, Object
from ..core.errors import WriteError
from ..core.report import Report, counted_plural
from ..games.xray.levels import details as level_details
from ..games.xray.levels.properties import DRAWN_KINDS, holder_of
from .bases import said
from .operation import Operation, Outcome


def active_rig(context: Context) -> Any:
    """The active armature object, that of the active mesh, or that which the active control rig moves; else None.

    Hidden ones count.
    """
    active = context.view_layer.objects.active
    if active is None or active.type == "ARMATURE":
        return moved_by(active)
    found = active.find_armature()
    return found if found is not None else (active.parent if _is_rig(active.parent) else None)


def active_action(context: Context) -> Any:
    """The action that the active armature plays, or None."""
    rig = active_rig(context)
    data = rig.animation_data if rig is not None else None
    return data.action if data is not None else None


def _is_rig(shown: Object | None) -> bool:
    return shown is not None and shown.type == "ARMATURE"


def lacks_rig(operator: Any, context: Context) -> bool:
    """For polls: whether no armature is active, which then is the operator's reason."""
    if active_rig(context) is not None:
        return False
    operator.poll_message_set("No armature is active: select one")
    return True


def rigs_of(context: Context) -> list[Object]:
    """All armature objects of the scene but control rigs."""
    return [shown for shown in context.scene.objects if shown.type == "ARMATURE" and not is_control_rig(shown)]


def likely_rig(context: Context) -> Any:
    """The active armature, else the only one of the scene; None where it is not clear."""
    rig = active_rig(context)
    rigs = rigs_of(context)
    return rigs[0] if rig is None and len(rigs) == 1 else rig


def rig_to_export(context: Context, collection: str) -> Object:
    """The armature a motion export means: the only one of ``collection``, else the active, else the scene's only one.

    Raises `WriteError`.
    """
    if collection:
        rigs = [shown for shown in objects_of(collection) if shown.type == "ARMATURE"]
        if len(rigs) != 1:
            raise WriteError(
                f"the collection {collection!r} holds {len(rigs) or 'no'} armature{'s' if len(rigs) > 1 else ''}",
                remedy="Keep one armature in a collection that exports motions",
            )
        return rigs[0]
    rig = likely_rig(context)
    if rig is None:
        raise WriteError("no armature is active", remedy="Several armatures have motions: make one active")
    return rig


def action_to_export(rig: Object) -> Any:
    """The action that an armature plays. Raises `WriteError`."""
    data = rig.animation_data
    if data is None or data.action is None:
        raise WriteError(f"{rig.name!r} plays no action", remedy="Choose one in the Action editor")
    return data.action


def some_action(rig: Object, found: list[Action]) -> list[Action]:
    """The actions that were found for an armature, at least one. Raises `WriteError`."""
    if not found:
        raise WriteError(f"no action moves the bones of {rig.name!r}", remedy="Import motions, or key some poses")
    return found


def model_to_export(context: Context, collection: str) -> Object:
    """The object that remembers the model a model export means. Raises `WriteError`."""
    if collection:
        holders = [shown for shown in objects_of(collection) if shown.motionbridge_model.is_model]
        if len(holders) != 1:
            raise WriteError(
                f"the collection {collection!r} holds {len(holders) or 'no'} imported model"
                f"{'s' if len(holders) > 1 else ''}",
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


def editor_model_of(context: Context) -> Any:
    """What remembers the editor's model that the active object is part of, or None."""
    shown = context.view_layer.objects.active
    while shown is not None and not shown.motionbridge_editor_model.is_model:
        shown = shown.parent
    return shown


def checked_editor_model_of(context: Context) -> Any:
    """`editor_model_of`, or the new model that the active object is part of: below it or deformed by it; or None."""
    found = editor_model_of(context) or active_rig(context) or context.view_layer.objects.active
    while found is not None:
        model = found.motionbridge_editor_model
        if model.is_model or model.is_made:
            return found
        found = found.parent
    return None


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
        number = counted_plural(len(found), "models") if found else "no model"
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
            f"the collection {collection!r} holds {len(found) or 'no'} moving object{'s' if len(found) > 1 else ''}",
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
            f"{where} holds {len(found) or 'no'} file{'s' if len(found) > 1 else ''} of a level",
            remedy="Select the mesh to export" if not collection else "Keep one in a collection that exports it",
        )
    return found[0]


def active_model(context: Context) -> Any:
    """What remembers the model that the active object is part of, or None."""
    shown = context.view_layer.objects.active
    while shown is not None and not shown.motionbridge_model.is_model:
        shown = shown.parent
    return shown


def has_mesh(context: Context) -> bool:
    """For polls: whether there is a mesh in the scene, apart from the shapes of bones that an append brought."""
    return any(shown.type == "MESH" and not armature.is_shape(shown) for shown in context.scene.objects)


def objects_of(collection: str) -> list[Object]:
    """All objects of a collection and those below it, without shapes of bones and control rigs. Raises `WriteError`."""
    found: Any = bpy.data.collections.get(collection)
    if found is None:
        raise WriteError(f"there is no collection {collection!r}", remedy="Choose one of the file's collections")
    return [shown for shown in found.all_objects if not (armature.is_shape(shown) or is_control_rig(shown))]


def plays_action(operator: Any, context: Context) -> bool:
    """For polls: whether the active armature plays an action; where it does not, that is the operator's reason."""
    if lacks_rig(operator, context):
        return False
    operator.poll_message_set("The active armature has no action: choose one in the list")
    return active_action(context) is not None


class OnAction(Operation):
    """Mixed into operators on one action: the named one, else the active one."""

    action: StringProperty(
        name="Action",
        description="Name of the action; empty for the active one",
        options={"SKIP_SAVE", "HIDDEN"},
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The active armature plays an action."""
        return plays_action(cls, context)

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        return (self.chosen(context)[1],)

    def chosen(self, context: Context) -> tuple[Any, Any]:
        """The armature and the action. Raises `WriteError`."""
        rig = rig_to_export(context, "")
        action = bpy.data.actions.get(self.action) if self.action else active_action(context)
        if action is None:
            raise WriteError(
                f"there is no action {self.action!r}" if self.action else f"{rig.name!r} plays no action",
                remedy="Choose one in the list of motions",
            )
        return rig, action


# Rate and length of the scene -----------------------------------------------------------------------------------------


def match_scene(context: Context, rate: float, frames: Any) -> None:
    """Let the scene have the rate and the length of what has these first and last ``frames``."""
    scene = context.scene
    scene.render.fps = max(round(rate), 1)
    scene.render.fps_base = scene.render.fps / rate
    scene.frame_start, scene.frame_end = (round(frame) for frame in frames)


def come_into(context: Context, frames: tuple[int, int]) -> None:
    """Go to the first of these ``frames`` where the scene is at none of them: there what was clicked shows nothing."""
    scene = context.scene
    if not frames[0] <= scene.frame_current <= frames[1]:
        scene.frame_set(frames[0])


def frames_said(context: Context) -> Outcome:
    """From where to where the scene goes now."""
    scene = context.scene
    return Outcome(said("Frames {} to {}").format(scene.frame_start, scene.frame_end))


def note_other_rates(
    context: Context, actions: list[Action], rate_of: Callable[[Any], float], noun: str, report: Report
) -> None:
    """Say of which actions the game has another rate than the scene; ``noun`` is what the game calls them."""
    rate = blender_action.frames_per_second(context.scene)
    for action in actions:
        own = rate_of(action)
        if abs(rate - own) > 1e-3:
            report.note(
                f"the scene plays {rate:g} frames per second, the {noun} {own:g}; frames are not converted",
                action.name,
            )
