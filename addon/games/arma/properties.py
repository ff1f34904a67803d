"""Properties of Arma on Blender's types: on actions and armatures (step, events, source file, the game's skeleton) and
on objects of a model (level of detail, named properties, points and proxies).

An action stores its whole source file, so that unedited parts are exported byte for byte.
"""

from collections.abc import Iterable
from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ...blender.action_lists import ListedAction
from ...blender.compat import PATH_OPTIONS
from ...blender.properties import AddedProperties, Event, bytes_property, seal_property, status_property
from ...blender.typed import Object
from ...formats.arma import lists, lod_kinds

STEP_ITEMS = (
    ("LEFT_OUT", "Not Shown", "The animation stays in place, as in the file; the step is only a value of the action"),
    ("OBJECT", "On Object", "Keys of the armature object move the animation"),
    ("BONES", "On Root Bones", "Root bones move forward; the export removes the step again"),
)
POINT_ITEMS = (
    ("NONE", "None", "Not part of an Arma model"),
    ("POINT", "Point", "A point of the Memory LOD"),
    ("PROXY", "Proxy", "Where another model is attached"),
)


POINT_SIZE, PROXY_SIZE = 0.02, 0.1
"""Display size of the empties of points and proxies, in metres."""


# Animations ---------------------------------------------------------------------------------------------------------


event_renamed, phase_typed = Event(), Event()
"""The user typed the name or the phase of an event."""


class AnimationEvent(bpy.types.PropertyGroup):
    """An event that the game triggers at a phase of the animation."""

    label: StringProperty(
        name="Event",
        description="The event's name, such as StepSound",
        default="StepSound",
        update=event_renamed.update,
    )
    value: StringProperty(name="Value", description="Value of the event; most events have none")
    phase: FloatProperty(
        name="Phase",
        description="Time of the event: 0 is the start of the cycle, 1 its end",
        precision=4,
        update=phase_typed.update,
    )
    marker: StringProperty(options={"HIDDEN"})


class AnimationBone(bpy.types.PropertyGroup):
    """A bone of the animation file; ``name`` as spelled in the file."""

    bone: StringProperty(name="Bone", description="Bone of the armature that the track moves; empty if there is none")
    parent: StringProperty(name="Parent", description="Bone to which a binarised file stores this bone relatively")


class AnimationProperties(bpy.types.PropertyGroup):
    """Data of an action that is an animation of the game."""

    is_animation: BoolProperty(name="Animation", description="This action is an animation of the game")
    step: FloatVectorProperty(
        name="Step",
        description="Distance the model moves in one cycle; characters face -Y, so forward is negative",
        subtype="TRANSLATION",
        precision=4,
    )
    step_mode: EnumProperty(
        name="Step Shown",
        description="How the step is shown in Blender",
        items=STEP_ITEMS,
        default="LEFT_OUT",
        options={"HIDDEN"},
    )
    step_shown: FloatVectorProperty(
        description="What keys of the object or the root bones carry, metres a phase", options={"HIDDEN"}
    )
    step_zero: FloatProperty(
        description="The phase at which root bones that carry the step have not moved yet", options={"HIDDEN"}
    )
    events: CollectionProperty(type=AnimationEvent)
    active_event: IntProperty(options={"HIDDEN"})
    bones: CollectionProperty(type=AnimationBone)
    path: StringProperty(
        name="File", description="Path where the file was imported or last written", subtype="FILE_PATH"
    )
    status: status_property("Comparison with the source file")
    document: bytes_property("The file as it was read")
    document_seal: seal_property()
    saved: StringProperty(description="SHA-256 of the file that was saved last", options={"HIDDEN"})
    is_cut: IntProperty(
        description="Not 0: keys outside the action's frame range were left out of the file when it was saved",
        options={"HIDDEN"},
    )
    frames: bytes_property("The frame that each of the file's keys was put on, 32-bit numbers")
    frames_seal: seal_property()
    digest: bytes_property("A fingerprint of the keys as they were made from the file")
    digest_seal: seal_property()
    phases: bytes_property("The phase of each of the file's keys, 32-bit numbers")
    phases_seal: seal_property()


# Skeletons ----------------------------------------------------------------------------------------------------------


class SkeletonBone(bpy.types.PropertyGroup):
    """A bone of the game's skeleton; ``name`` as spelled in the game."""

    bone: StringProperty(name="Bone", description="Bone of the armature")
    parent: StringProperty(name="Parent", description="Name of the parent in the game")


class SkeletonProperties(bpy.types.PropertyGroup):
    """The game's skeleton as stored on an armature: spelling, order and hierarchy of the bones."""

    skeleton: StringProperty(name="Skeleton", description="The skeleton's name in the game")
    for_display: BoolProperty(
        name="For Display",
        description="The hierarchy is for display; the skeleton of the game does not have it",
        options={"HIDDEN"},
    )
    bones: CollectionProperty(type=SkeletonBone)


class SkeletonFiles(bpy.types.PropertyGroup):
    """Skeleton files that import and export dialogs suggest, set once per scene."""

    config: StringProperty(
        name="model.cfg",
        description="Default model.cfg of the dialogs; if empty, the one in the folder of the imported file or above",
        subtype="FILE_PATH",
        options=PATH_OPTIONS,
    )
    pivots_model: StringProperty(
        name="Pivots Model",
        description="Default pivots model of the import dialogs: a .p3d model with one point per bone",
        subtype="FILE_PATH",
        options=PATH_OPTIONS,
    )


# Models -------------------------------------------------------------------------------------------------------------


def _matching(names: Iterable[str], typed: str) -> list[str]:
    """Return the names that contain what is typed, each once; all of them while it is one of them."""
    known = list(dict.fromkeys(names))
    wanted = typed.strip().lower()
    return known if wanted in known else [name for name in known if wanted in name.lower()]


def suggested_properties(active: Object | None, typed: str) -> list[str]:
    """Return named properties that mean something in the LOD of an object and that it does not have yet."""
    level = level_of(active)
    if level is None:
        return []
    present = {row.name.lower() for row in level.properties} - {typed.strip().lower()}
    known = lists.properties_of(lod_kinds.kind_of(level.resolution))
    return _matching((name for name in known if name not in present), typed)


def suggested_values(name: str, typed: str) -> list[str]:
    """Return the values that a named property may have."""
    return _matching(lists.values_of(name), typed)


def suggested_marks(kind: str, typed: str) -> list[str]:
    """Return names of points, or paths of proxies: those of the file first, then those that the games know."""
    objects: Any = bpy.data.objects
    marks = (obj.motionbridge_arma_mark for obj in objects)
    used = sorted(mark.game_name for mark in marks if mark.kind == kind and mark.game_name)
    if kind == "POINT":
        return _matching((*used, *lists.MEMORY_POINTS), typed)
    paths = [path for path, number in (name.rsplit(".", 1) for name in used if "." in name) if number.isdecimal()]
    return _matching((f"{path}.001" for path in (*paths, *lists.PROXIES)), typed)


def _suggested_materials(_material: Any, context: Any, typed: str) -> list[str]:
    """Return the paths of materials in the file; for a geometry LOD penetration materials first."""
    level = level_of(context.object)
    is_geometry = level is not None and lod_kinds.kind_of(level.resolution) in lod_kinds.GEOMETRIES
    materials: Any = bpy.data.materials
    used = {material.motionbridge_material.shader for material in materials}
    known = lists.penetration_materials() if is_geometry else ()
    return _matching((*known, *sorted(path for path in used if path.lower().endswith(".rvmat"))), typed)


def _material(material: Any) -> str:
    return str(material.motionbridge_material.shader)


def _set_material(material: Any, path: str) -> None:
    material.motionbridge_material.shader = path


class NamedProperty(bpy.types.PropertyGroup):
    """A named property of a level of detail; ``name`` is the property's name.

    Also a vertex group whose name differs from that of its selection, the ``value``; and a selection of an imported
    model, in lower case, whose new name is the ``value``.
    """

    label: StringProperty(
        name="Property",
        description="Name of the property; those that the game reads in a LOD of this kind are suggested",
        get=lambda row: row.name,
        set=lambda row, name: setattr(row, "name", name),
        options={"SKIP_SAVE"},
        search=lambda row, _context, typed: suggested_properties(row.id_data, typed),
        search_options={"SUGGESTION"},
    )
    value: StringProperty(
        name="Value",
        description="Named properties of the model for the game",
        search=lambda row, _context, typed: suggested_values(row.name, typed),
        search_options={"SUGGESTION"},
    )


class ArmaModelProperties(bpy.types.PropertyGroup):
    """An imported model: its file, stored on a collection that is in no scene and to which its objects point."""

    path: StringProperty(name="File", description="Path of the model file", subtype="FILE_PATH")
    document: bytes_property("The file as it was read")
    document_seal: seal_property()
    saved: StringProperty(description="SHA-256 of the file that was saved last", options={"HIDDEN"})
    imported: StringProperty(
        description="Indices of the LODs that became objects, separated by spaces", options={"HIDDEN"}
    )
    others: StringProperty(
        description="Names of the LODs with points that did not become objects, each on a line", options={"HIDDEN"}
    )
    renamed: CollectionProperty(type=NamedProperty)


class ArmaLevelProperties(bpy.types.PropertyGroup):
    """A level of detail of a model."""

    model: PointerProperty(type=bpy.types.Collection, options={"HIDDEN"})
    index: IntProperty(
        description="Index of the LOD in the imported file, -1 for new ones", default=-1, options={"HIDDEN"}
    )
    centre: PointerProperty(
        type=bpy.types.Object, description="Empty that marks the center of mass", options={"HIDDEN"}
    )
    has_proxies: BoolProperty(
        name="Proxies Imported", description="Whether the proxies of the LOD were imported", options={"HIDDEN"}
    )
    uv_sets: StringProperty(
        description="Numbers of the further UV sets that became UV maps, separated by spaces", options={"HIDDEN"}
    )
    selections: CollectionProperty(type=NamedProperty)
    is_level: BoolProperty(name="Arma LOD", description="This mesh is a LOD of an Arma model")
    resolution: FloatProperty(name="Resolution", description="Number that identifies the LOD")
    path: StringProperty(name="File", description="Path of the model file", subtype="FILE_PATH")
    properties: CollectionProperty(type=NamedProperty)


class LodListProperties(bpy.types.PropertyGroup):
    """How the list of LODs in the sidebar shows them."""

    solo: BoolProperty(name="Solo", description="A click on a LOD hides the other LODs of the model", default=True)


class MarkProperties(bpy.types.PropertyGroup):
    """The point or proxy that an empty represents."""

    kind: EnumProperty(name="Type", description="What the empty represents in the model", items=POINT_ITEMS)
    game_name: StringProperty(
        name="Name",
        description="Name of the selection, or path of the attached model",
        search=lambda mark, _context, typed: suggested_marks(mark.kind, typed),
        search_options={"SUGGESTION"},
    )
    model: PointerProperty(type=bpy.types.Collection, options={"HIDDEN"})
    level: IntProperty(description="Index of the LOD in the imported file, -1 if new", default=-1, options={"HIDDEN"})
    source: IntProperty(
        description="Index of the point, or of the proxy among those of the LOD, -1 if new",
        default=-1,
        options={"HIDDEN"},
    )


def level_of(active: Object | None) -> Any:
    """Return the level of detail of the active object or its nearest ancestor that is one, else None."""
    while active is not None:
        if active.type == "MESH" and active.motionbridge_arma_level.is_level:
            return active.motionbridge_arma_level
        active = active.parent
    return None


def model_of(active: Object | None) -> Any:
    """Return the collection that stores the imported model of the active object, or None."""
    if active is None:
        return None
    level = level_of(active)
    return active.motionbridge_arma_mark.model or (level.model if level is not None else None)


def others_of(model: Any) -> list[str]:
    """Return the names of the LODs of an imported file that are not in Blender; none for a new model, None."""
    return list(model.motionbridge_arma_model.others.splitlines()) if model is not None else []


def is_of_model(active: Object | None) -> bool:
    """Return whether an object is a level of detail or one of its descendants, a point or a proxy of a model."""
    return active is not None and (level_of(active) is not None or active.motionbridge_arma_mark.kind != "NONE")


ADDED = AddedProperties(
    (
        AnimationEvent,
        AnimationBone,
        AnimationProperties,
        SkeletonBone,
        SkeletonProperties,
        SkeletonFiles,
        NamedProperty,
        ArmaModelProperties,
        ArmaLevelProperties,
        LodListProperties,
        MarkProperties,
    ),
    {
        (bpy.types.Action, "motionbridge_animation"): PointerProperty(type=AnimationProperties),
        (bpy.types.Armature, "motionbridge_skeleton"): PointerProperty(type=SkeletonProperties),
        (bpy.types.Object, "motionbridge_animations"): CollectionProperty(type=ListedAction),
        (bpy.types.Scene, "motionbridge_skeleton_files"): PointerProperty(type=SkeletonFiles),
        (bpy.types.Scene, "motionbridge_arma_lods"): PointerProperty(type=LodListProperties),
        (bpy.types.Collection, "motionbridge_arma_model"): PointerProperty(type=ArmaModelProperties),
        (bpy.types.Object, "motionbridge_arma_level"): PointerProperty(type=ArmaLevelProperties),
        (bpy.types.Object, "motionbridge_arma_mark"): PointerProperty(type=MarkProperties),
        (bpy.types.Material, "motionbridge_arma_rvmat"): StringProperty(
            name="Material File",
            description="Path of the material file in the game; penetration materials are suggested for geometry LODs",
            get=_material,
            set=_set_material,
            search=_suggested_materials,
            search_options={"SUGGESTION"},
            options={"SKIP_SAVE"},
        ),
    },
)
