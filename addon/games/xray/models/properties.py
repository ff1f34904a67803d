"""What X-Ray adds to objects: the model's file, the motion files it plays, its user data; and which mesh is which.

The model is remembered on its armature, on the mesh of a model without bones, or on the empty above several.
"""

from collections.abc import Iterable
from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, IntProperty, PointerProperty, StringProperty

from ....blender.properties import AddedProperties, bytes_property, seal_property
from ....blender.typed import Object
from ....core import names


class MotionReferenceProperties(bpy.types.PropertyGroup):
    """A motion file that the model plays; ``name`` as the model has it, which may be a mask."""


class ModelProperties(bpy.types.PropertyGroup):
    """The model an object was imported from."""

    is_model: BoolProperty(name="Model", description="This object was imported from a game model")
    path: StringProperty(name="Path", description="Path of the imported model", subtype="FILE_PATH")
    document: bytes_property("The model as stored in its file")
    document_seal: seal_property()
    references: CollectionProperty(type=MotionReferenceProperties)
    active_reference: IntProperty(options={"HIDDEN"})
    user_data: StringProperty(name="User Data", description="Settings of the model in ini format")


class MeshProperties(bpy.types.PropertyGroup):
    """Which mesh of a model an object is."""

    is_part: BoolProperty(name="Mesh of a Model", description="This object was imported from a game model")
    part: StringProperty(name="Part", description="Indices of the mesh inside the model", default="")


ADDED = AddedProperties(
    (MotionReferenceProperties, ModelProperties, MeshProperties),
    {
        (bpy.types.Object, "motionbridge_model"): PointerProperty(type=ModelProperties),
        (bpy.types.Object, "motionbridge_mesh"): PointerProperty(type=MeshProperties),
    },
)


def remembered(shown: Object) -> Any:
    """What an object remembers of the model it came from or becomes, one of the game or of the editor; None without."""
    if shown.motionbridge_model.is_model:
        return shown.motionbridge_model
    of_editor = shown.motionbridge_editor_model
    return of_editor if of_editor.is_model or of_editor.is_made else None


def holder_of(shown: Any) -> Any:
    """The object that remembers the model that ``shown`` is part of: itself, one above it, the armature that deforms
    it; None without.
    """
    above = shown
    while above is not None and remembered(above) is None:
        above = above.parent
    if above is not None or shown is None:
        return above
    rig = shown.find_armature()
    return rig if rig is not None and remembered(rig) is not None else None


def part_text(path: tuple[int, ...]) -> str:
    """How a mesh's place in the tree is kept: ``0.2``; empty for the model itself."""
    return ".".join(map(str, path))


def groups_without_bones(labels: Iterable[str]) -> dict[str, str]:
    """The name of a vertex group for each of a model's bones -> the bone's own.

    For models whose skeleton cannot be built: files give two bones one name, or none, and Blender would number groups.
    """
    found: dict[str, str] = {}
    for label in labels:
        found[names.distinct(label or "bone", found.keys())] = label
    return found


def objects_below(holder: Any) -> list[Object]:
    """Everything below a model, but not what belongs to another one that is attached to it, such as a weapon."""
    return [shown for shown in holder.children_recursive if _model_above(shown, holder) == holder]


def _model_above(shown: Any, holder: Object) -> Object:
    while shown != holder and not (shown.motionbridge_model.is_model or shown.motionbridge_editor_model.is_model):
        shown = shown.parent
    return shown


def meshes_of(holder: Object) -> dict[str, list[Any]]:
    """Part -> the objects that say they are it: of ``holder`` and everything below it."""
    found: dict[str, list[Any]] = {}
    for shown in (holder, *objects_below(holder)):
        if shown.type == "MESH" and shown.motionbridge_mesh.is_part:
            found.setdefault(shown.motionbridge_mesh.part, []).append(shown)
    return found
