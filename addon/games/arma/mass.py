"""Masses of the points of geometry LODs: set in all or by density, on whole meshes or on parts of them, and shown as
colors with the center of mass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from ...blender import attributes, modifiers, scope, sharp_mesh
from ...blender.mesh import outside_edit_mode, positions_of
from ...core.model import Domain
from ...core.report import Report
from ...formats.arma import p3d
from ...formats.arma.p3d import components
from . import flags

if TYPE_CHECKING:
    from ...blender.typed import Context, Mesh, Object

COLOURS = "mass_color"
"""Color attribute that shows the masses."""
NOTHING = (0.1, 0.1, 0.1, 1.0)
"""Color of vertices without mass."""
CENTRE_SIZE = 0.25
"""Size of the empty at the center of mass, as a share of the size of its LOD."""


def _stored(data: Mesh) -> NDArray[np.float32]:
    values = attributes.gather(data, p3d.MASS_ATTRIBUTE, Domain.VERTEX, np.float32)
    return values if values is not None else np.zeros(len(data.vertices), np.float32)


def mass_of(obj: Object, *, selected: bool = False) -> float:
    """Return the sum of the masses of a LOD's points, or of the selected ones, in kg; 0 without masses."""
    with outside_edit_mode(obj) as data:
        values = _stored(data)
        if selected:
            values = values[flags.selected(data, "VERTEX")]
    return float(values.sum(dtype=np.float64))


def mass_by_density(obj: Object, density: float, *, selected: bool = False) -> float:
    """Return the mass of the closed pieces of a LOD, or of those with selected vertices, in kg.

    ``density`` in kg per cubic metre. Called in object mode. Raises `WriteError` for pieces that are not closed.
    """
    mesh, _ = sharp_mesh.gather(obj, {}, most_corners=4)
    chosen = flags.selected(obj.data, "VERTEX") if selected else np.ones(len(mesh.positions), np.bool_)
    scale = abs(obj.matrix_local.determinant())
    return density * scale * float(components.chosen_volumes(components.Surface(mesh), chosen).sum())


def set_mass(obj: Object, total: float, report: Report, *, by_volume: bool, selected: bool = False) -> int:
    """Distribute a mass of ``total`` kg on the points of a LOD, or of its selected parts; return on how many.

    The other points keep theirs. Called in object mode. Raises `WriteError`.
    """
    if modifiers.is_modified(obj):
        report.warn("its modifiers are applied later, which can change the sum: apply them first", obj.name)
    mesh, _ = sharp_mesh.gather(obj, {}, most_corners=4)
    chosen = flags.selected(obj.data, "VERTEX") if selected else None
    values, replaced = components.mass_of_points(mesh, total, by_volume=by_volume, chosen=chosen)
    if selected:
        values = np.where(replaced, values, _stored(obj.data))
    groups: Any = obj.vertex_groups
    group = groups.get(p3d.MASS_ATTRIBUTE)
    if group is not None:  # Blender makes no attribute with the name of a vertex group, but the other way round
        group.name += "_"
    attributes.write(obj.data, p3d.MASS_ATTRIBUTE, Domain.VERTEX, values)
    if group is not None:
        group.name = p3d.MASS_ATTRIBUTE
    if is_shown(obj):
        _colour(obj)
        place_centre(obj)
    obj.data.update()
    return int(replaced.sum())


# Shown as colors ------------------------------------------------------------------------------------------------------


def is_shown(obj: Any) -> bool:
    """Return whether the colors of a mesh are those of its masses."""
    return COLOURS in obj.data.color_attributes


def centre_of(obj: Object) -> NDArray[np.float64] | None:
    """Return the center of mass (3,) in the space of a LOD's mesh; None without a mass."""
    with outside_edit_mode(obj) as data:
        values, positions = _stored(data).astype(np.float64), positions_of(data).astype(np.float64)
    total = float(values.sum())
    return values @ positions / total if total > 0 else None


def show(context: Context, obj: Any) -> float:
    """Color a LOD by its masses and mark the center of mass, in Object Mode; return the largest mass of a point."""
    _colour(obj)
    obj.data.color_attributes.active_color = obj.data.color_attributes[COLOURS]
    obj.display_type = "TEXTURED"
    level = obj.motionbridge_arma_level
    if level.centre is None or level.centre.parent != obj:
        centre: Any = bpy.data.objects.new("Center of Mass", None)
        centre.empty_display_type, centre.show_in_front, centre.parent = "PLAIN_AXES", True, obj
        centre.hide_select = True
        for collection in obj.users_collection or [context.scene.collection]:
            collection.objects.link(centre)
        level.centre = centre
    level.centre.empty_display_size = max(CENTRE_SIZE * max(obj.dimensions), 0.01)
    place_centre(obj)
    return float(_stored(obj.data).max(initial=0))


def hide(obj: Any) -> None:
    """Remove the colors and the mark of the center of mass."""
    obj.data.color_attributes.remove(obj.data.color_attributes[COLOURS])
    obj.display_type = "WIRE"
    centre = obj.motionbridge_arma_level.centre
    if centre is not None and centre.parent == obj:
        bpy.data.objects.remove(centre)


def place_centre(obj: Any) -> None:
    """Move the mark of a LOD's center of mass, if there is one."""
    centre, position = obj.motionbridge_arma_level.centre, centre_of(obj)
    if centre is not None and centre.parent == obj and position is not None:
        centre.location = Vector(position.tolist())


def follow_undo(context: Context) -> None:
    """Move the marks of LODs in Edit Mode, where an undo changes meshes only."""
    for obj in scope.objects_of(context.view_layer):
        if obj.mode == "EDIT" and obj.type == "MESH" and obj.motionbridge_arma_level.centre is not None:
            place_centre(obj)


def colours_of(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return (n, 4) colors of masses: blue to green to red for the largest one, gray for none."""
    largest = float(values.max(initial=0))
    share = values / (largest if largest > 0 else 1.0)
    result = np.ones((len(values), 4), np.float32)
    result[:, 0], result[:, 2] = np.clip(2 * share - 1, 0, 1), np.clip(1 - 2 * share, 0, 1)
    result[:, 1] = 1 - np.abs(2 * share - 1)
    result[values <= 0] = NOTHING
    return result


def _colour(obj: Any) -> None:
    attributes.write(obj.data, COLOURS, Domain.VERTEX, colours_of(_stored(obj.data)))
