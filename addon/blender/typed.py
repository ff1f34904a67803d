"""Blender types for annotations, with the properties that the extension adds; at run time they are those of
`bpy.types`.

The stubs of `bpy` do not know properties added by extensions, and declare as optional what is always present in code
that Blender calls: a scene, its view layer, a pose, an active object that was checked before. The classes here declare
what the extension relies on in every supported Blender version. `Any` is used for what depends on the type of an object
(``Object.data``, modifiers, constraints, mesh layers), and for the property groups of games, because this layer knows
no game. A function that needs the properties of one game names their class (``part: DescentPartProperties``).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import bpy

if TYPE_CHECKING:

    class Object(bpy.types.Object):
        """An object. Code that reads ``pose`` must have checked that it is an armature object."""

        data: Any
        pose: Any
        matrix_world: Any
        animation_data: Any
        animation_data_create: Any
        get: Any
        modifiers: Any
        constraints: Any
        active_material: Any
        material_slots: Any
        parent: "Object | None"
        children: "tuple[Object, ...]"
        children_recursive: Sequence["Object"]  # type: ignore[assignment]

        motionbridge_animations: Any
        motionbridge_arma_level: Any
        motionbridge_arma_mark: Any
        motionbridge_bones: Any
        motionbridge_descent_model: Any
        motionbridge_descent_part: Any
        motionbridge_descent_point: Any
        motionbridge_editor_mesh: Any
        motionbridge_drawn_before: str
        motionbridge_editor_model: Any
        motionbridge_hud: Any
        motionbridge_is_control_rig: bool
        motionbridge_level: Any
        motionbridge_mesh: Any
        motionbridge_model: Any
        motionbridge_motion_file: int
        motionbridge_motion_files: Any
        motionbridge_skeletal_files: Any

    class Action(bpy.types.Action):
        """An action. Get its F-curves with the functions of `compat`."""

        frame_range: Any
        curve_frame_range: Any

        motionbridge_animation: Any
        motionbridge_controls: "Action | None"
        motionbridge_controls_digest: str
        motionbridge_shown_keys: str
        motionbridge_motion: Any
        motionbridge_path: Any
        motionbridge_skeletal: Any

    class Bone(bpy.types.Bone):
        """A bone of an armature."""

        color: Any
        id_data: Any
        parent: "Bone | None"

        motionbridge_is_colored: bool
        motionbridge_known_as: str
        motionbridge_xray: Any

    class PoseBone(bpy.types.PoseBone):
        """A pose bone."""

        id_data: Object
        bone: Bone
        parent: "PoseBone | None"
        constraints: Any

        motionbridge_euler_order: str

    class Armature(bpy.types.Armature):
        """The data of an armature object."""

        bones: Any
        collections_all: Any

        motionbridge_skeleton: Any

    class Mesh(bpy.types.Mesh):
        """The data of a mesh object."""

        attributes: Any
        get: Any
        materials: Any
        normals_split_custom_set: Any
        normals_split_custom_set_from_vertices: Any

    class Material(bpy.types.Material):
        """A material."""

        get: Any

        motionbridge_material: Any
        motionbridge_surface: Any

    class Scene(bpy.types.Scene):
        """A scene."""

        objects: Any

        motionbridge_arma_lods: Any
        motionbridge_skeleton_files: Any

    class ViewLayer(bpy.types.ViewLayer):
        """A view layer, which stores the active object and the selection."""

        objects: Any
        layer_collection: bpy.types.LayerCollection
        depsgraph: bpy.types.Depsgraph

    class Context(bpy.types.Context):
        """The context that Blender passes to operators, panels and menus."""

        scene: Scene
        view_layer: ViewLayer
        collection: bpy.types.Collection
        window_manager: Any
        preferences: bpy.types.Preferences
        tool_settings: Any
        workspace: Any
        space_data: Any
        object: Any
        active_object: Any
        edit_bone: Any
        material: Any
        screen: Any
        selected_objects: Sequence[Object]  # type: ignore[assignment]
        selected_pose_bones: Sequence[PoseBone]  # type: ignore[assignment]

else:
    from bpy.types import (  # noqa: F401 (for those who import them from here)
        Action,
        Armature,
        Bone,
        Context,
        Material,
        Mesh,
        Object,
        PoseBone,
        Scene,
        ViewLayer,
    )
