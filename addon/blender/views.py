"""The 3D views of the open windows: what is in them, and what they are turned to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import bpy
import numpy as np
from mathutils import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .typed import Context, Object

MARGIN = 1.1
SENSOR = 72.0
"""Millimetres that the longer side of a 3D view is wide, for which its lens counts."""
SMALLEST_RADIUS = 0.01
MOST_HELPERS = 0.25
"""Fraction of an armature's bones."""


def views_of(
    context: Context, windows: Iterable[bpy.types.Window] | None = None
) -> Iterator[tuple[bpy.types.Area, bpy.types.SpaceView3D]]:
    """Yield the 3D views of all open workspaces that show the scene, each with its area.

    ``windows``: those to look in, None for all.
    """
    # Not the context's screen: while a file browser fills the window, the 3D view is hidden in the same area.
    for window in context.window_manager.windows if windows is None else windows:
        if window.scene == context.scene:
            for screen in {window.screen, *window.workspace.screens}:
                for area in screen.areas:
                    yield from ((area, space) for space in area.spaces if space.type == "VIEW_3D")


def show_colours(context: Context, kind: Literal["MATERIAL", "TEXTURE", "VERTEX"]) -> None:
    """Let the solid 3D views of the context's window show textures, or the colors of materials or of attributes."""
    for _, space in views_of(context, filter(None, [context.window])):
        if space.shading.type == "SOLID":
            space.shading.color_type = kind


def preview_materials(context: Context, *, wanted: bool) -> None:
    """Let the solid and wireframe 3D views of the context's window preview materials, or let those that do be solid."""
    for _, space in views_of(context, filter(None, [context.window])):
        if space.shading.type in (("SOLID", "WIREFRAME") if wanted else ("MATERIAL",)):
            space.shading.type = "MATERIAL" if wanted else "SOLID"


def box_of_bones(rig: Object) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the lowest and the highest coordinates of an armature's posed bones in the world, without `_helpers`.

    None without bones, and if a coordinate is NaN or infinite.
    """
    bones: Any = rig.pose.bones if rig.pose is not None else ()
    if not len(bones):
        return None
    ends = np.empty((2, len(bones), 3), np.float32)
    for name, row in zip(("head", "tail"), ends, strict=True):
        bones.foreach_get(name, row.ravel())
    has_children = np.array([bool(len(bone.children)) for bone in bones])
    matrix = np.array(rig.matrix_world, np.float64)
    points = ends[:, ~_helpers(ends[0], has_children)].reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
    return (points.min(axis=0), points.max(axis=0)) if np.isfinite(points).all() else None


def _helpers(heads: NDArray[np.float32], has_children: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which bones (bones,) are helpers far from the body, such as a camera: they have no children, and are
    farther from each bone that has than half the size of those.

    None where a quarter of the bones or more would be.
    """
    body = heads[has_children]
    if len(body) < 2:
        return np.zeros(len(heads), np.bool_)
    size = float(np.linalg.norm(body.max(axis=0) - body.min(axis=0)))
    distances = np.linalg.norm(heads[:, None] - body, axis=-1).min(axis=1)
    result = distances > max(size / 2, SMALLEST_RADIUS)
    return result if result.mean() < MOST_HELPERS else np.zeros(len(heads), np.bool_)


def box_of(objects: Sequence[Object]) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the lowest and the highest coordinates in the world of objects with data, or that instance a collection.

    None without objects, and if a coordinate is NaN or infinite.
    """
    users: dict[Any, list[Any]] = {}
    for obj in objects:
        users.setdefault(obj.data or obj.instance_collection, []).append(obj)
    if not users:
        return None
    corners = np.concatenate([_corners(sharing) for sharing in users.values()])
    return (corners.min(axis=0), corners.max(axis=0)) if len(corners) and np.isfinite(corners).all() else None


def _corners(sharing: list[Object]) -> Any:
    """Return bounding box corners (n, 3) of objects with the same data or instances, which are measured only once."""
    own = _instanced_corners(sharing[0]) if sharing[0].data is None else np.array(sharing[0].bound_box, np.float64)
    matrices = np.array([obj.matrix_world for obj in sharing], np.float64)
    with np.errstate(invalid="ignore", over="ignore"):  # vertices of broken files
        turned = own @ np.swapaxes(matrices[:, :3, :3], 1, 2)
        return (turned + matrices[:, None, :3, 3]).reshape(-1, 3)


def _instanced_corners(obj: Object) -> NDArray[np.float64]:
    """Return bounding box corners (n, 3) of the meshes that an empty instances, in its space."""
    collection: Any = obj.instance_collection
    members = (_corners([member]) for member in collection.all_objects if member.type == "MESH")
    return np.concatenate([np.zeros((0, 3)), *members]) - np.array(collection.instance_offset)


def frame(context: Context, objects: Sequence[Object]) -> None:
    """Move the 3D views of the scene so that they show the objects: meshes, else armatures, else instances.

    Bones far from the others, such as a camera's, do not count. The direction stays. Views through a camera, of a
    single object (local view) or locked to one stay as they are.
    """
    context.view_layer.update()
    visible = [obj for obj in objects if obj.visible_get(view_layer=context.view_layer)]
    meshes, rigs = ([obj for obj in visible if obj.type == kind and obj.data] for kind in ("MESH", "ARMATURE"))
    instances = [obj for obj in visible if obj.instance_collection and obj.instance_type == "COLLECTION"]
    boxes = [box_of_bones(rig) for rig in rigs] if rigs and not meshes else [box_of(meshes or instances)]
    corners = [corner for box in boxes if box is not None for corner in box]
    if not corners:
        return
    box = np.min(corners, axis=0), np.max(corners, axis=0)
    radius = max(float(np.linalg.norm(box[1] - box[0])) / 2, SMALLEST_RADIUS)
    for area, space in views_of(context):
        view = space.region_3d
        if view is None or view.view_perspective == "CAMERA" or space.local_view or space.lock_object:
            continue
        shorter, longer = sorted((max(area.width, 1), max(area.height, 1)))
        view.view_location = Vector(((box[0] + box[1]) / 2).tolist())
        view.view_distance = MARGIN * radius * space.lens / (SENSOR / 2) * longer / shorter
