"""Blender's types as our code meets them, for annotations: when the extension runs they are those of `bpy.types`.

The stubs of `bpy` know nothing of the properties that the extension adds, and call optional what code that Blender
calls always finds: a scene, its view layer, a pose, an active object that was asked for before. Here stands what we
rely on, in every gated version. Any is what depends on the kind of a thing (``Object.data``, modifiers, constraints,
the layers of a mesh), and what a game keeps in its property groups, since this layer knows no game: a function that
works on one says so (``part: DescentPartProperties``).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import bpy

if TYPE_CHECKING:

    class Object(bpy.types.Object):
        """An object; code that reads ``pose`` has asked that it is an armature."""

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
        """An action; its F-curves are asked of `compat`."""

        frame_range: Any
        curve_frame_range: Any

        motionbridge_animation: Any
        motionbridge_controls: "Action | None"
        motionbridge_controls_digest: str
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
        """A bone of a pose."""

        id_data: Object
        bone: Bone
        parent: "PoseBone | None"
        constraints: Any

        motionbridge_euler_order: str

    class Armature(bpy.types.Armature):
        """The bones of an armature object."""

        bones: Any
        collections_all: Any

        motionbridge_skeleton: Any

    class Mesh(bpy.types.Mesh):
        """The mesh of an object."""

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

        motionbridge_skeleton_files: Any

    class ViewLayer(bpy.types.ViewLayer):
        """A view layer, in which objects are active and selected."""

        objects: Any
        layer_collection: bpy.types.LayerCollection
        depsgraph: bpy.types.Depsgraph

    class Context(bpy.types.Context):
        """What Blender hands to operators, panels and menus."""

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
