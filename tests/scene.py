"""The whole of a Blender file as a plain dict, and what differs between two of them.

Export promises to change nothing in the scene: `differences(before, snapshot())` must be empty. Everything that
Blender's own property system tells about each datablock is taken down, so what nobody thought of is compared too.
"""

import hashlib
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import bpy
import numpy as np

# Windows, tools and their brushes: not the user's data, and they move while nobody touches anything. Blender 5.2 lists
# every datablock once more in `all_ids`, windows included.
NOT_DATA = {"screens", "workspaces", "window_managers", "brushes", "libraries", "all_ids"}

# Properties that say how Blender holds a thing at the moment, or lead back to what is taken down elsewhere.
NOT_CONTENT = {
    "rna_type", "session_uid", "preview", "original", "tag", "is_evaluated", "is_runtime_data", "depsgraph", "id_data",
    "override_library", "library_weak_reference", "asset_data",
    "storage_type",  # reading an attribute's values changes how Blender 5.2 keeps them
    "uv_sculpt",  # reading its brush crashes Blender 4.2
}  # fmt: skip

# What a mesh holds is in its attributes; these collections are other doors to the same values.
OTHER_DOORS = {
    "vertices", "edges", "loops", "polygons", "loop_triangles", "loop_triangle_polygons", "vertex_normals",
    "polygon_normals", "corner_normals", "color_attributes", "vertex_colors", "uv_layers",
    "uv_layer_stencil", "uv_layer_clone",  # reading them makes Blender 4.5 forget which one it is
}  # fmt: skip

PLAIN = {"BOOLEAN", "INT", "FLOAT", "ENUM"}
SCALARS = (bool, int, float, str, bytes)
DICTIONARIES = (bpy.types.ID, bpy.types.Bone, bpy.types.PoseBone)
"""Types that hold properties of one's own."""


def snapshot() -> dict[str, Any]:
    """Everything in the file: "objects['Rig'].location" -> (0.0, 0.0, 0.0), arrays as their hash."""
    bpy.context.view_layer.update()  # computed values, as matrices, are those of now
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # what Blender will drop one day is still compared
        return _snapshot()


def stored() -> dict[str, Any]:
    """The part of `snapshot` that the extension's own properties make up, several times faster."""
    _forget()
    taken: dict[str, Any] = {}
    for prop in bpy.data.bl_rna.properties:
        if prop.type == "COLLECTION" and prop.identifier not in NOT_DATA:
            for datablock in getattr(bpy.data, prop.identifier):
                path = f"{prop.identifier}['{datablock.name_full}']"
                _take_own(taken, path, datablock)
                pose = getattr(datablock, "pose", None)
                for below, bones in (("bones", getattr(datablock, "bones", ())), ("pose.bones", pose and pose.bones)):
                    for index, bone in enumerate(bones or ()):
                        _take_own(taken, f"{path}.{below}[{index}]", bone)
    return taken


def _take_own(taken: dict[str, Any], path: str, struct: Any) -> None:
    for known in _own_properties(type(struct)):
        _take_value(taken, f"{path}.{known.name}", known, getattr(struct, known.name), set())


def _snapshot() -> dict[str, Any]:
    _forget()
    taken: dict[str, Any] = {"mode": bpy.context.mode}
    for scene in bpy.data.scenes:
        taken.update(_selection(scene))
    for prop in bpy.data.bl_rna.properties:
        if prop.type == "COLLECTION" and prop.identifier not in NOT_DATA:
            datablocks = getattr(bpy.data, prop.identifier)
            taken[prop.identifier] = sorted(datablock.name_full for datablock in datablocks)
            for datablock in datablocks:
                _take(taken, f"{prop.identifier}['{datablock.name_full}']", datablock, set())
    return taken


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """One line for each value that differs; nothing for equal scenes."""
    if repr(before) == repr(after):  # the usual case, and much faster than one by one
        return []
    return list(_differences(before, after))


def _differences(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    for path in sorted(before.keys() | after.keys()):
        if path not in after:
            yield f"{path} is gone (was {before[path]!r})"
        elif path not in before:
            yield f"{path} is new ({after[path]!r})"
        elif repr(before[path]) != repr(after[path]):  # by text: not-a-number is equal to itself
            yield f"{path}: {before[path]!r} -> {after[path]!r}"


def _selection(scene) -> Iterator[tuple[str, Any]]:
    """What is selected, hidden and active: it belongs to the layers and is no property of the objects."""
    for layer in scene.view_layers:
        path = f"scenes['{scene.name}'].view_layers['{layer.name}']"
        yield f"{path} active", getattr(layer.objects.active, "name", None)
        yield f"{path} selected", sorted(each.name for each in layer.objects if each.select_get(view_layer=layer))
        yield f"{path} hidden", sorted(each.name for each in layer.objects if each.hide_get(view_layer=layer))


def _take(taken: dict[str, Any], path: str, struct: Any, seen: set[tuple[int, type]]) -> None:
    kind = type(struct)
    identity = (struct.as_pointer(), kind)
    if identity in seen:
        return
    seen.add(identity)
    for known in _properties(kind):
        _take_value(taken, f"{path}.{known.name}", known, getattr(struct, known.name), seen)
    if isinstance(struct, bpy.types.Mesh):
        taken[f"{path} faces"] = _hash(struct.polygons, "loop_start", np.int32, 1)
        taken[f"{path} weights"] = _weights(struct)
    if isinstance(struct, DICTIONARIES):
        for key in struct.keys():  # noqa: SIM118 - no mapping, only some of one's methods
            taken[f"{path}['{key}']"] = _plain(struct[key])


class _Property(NamedTuple):
    name: str
    sort: str
    rows: Any
    """The type of a collection's rows."""


@cache
def _properties(kind: type) -> list[_Property]:
    """What is compared of a type; asking Blender for it again and again is slow."""
    left_out = NOT_CONTENT | OTHER_DOORS if issubclass(kind, bpy.types.Mesh) else NOT_CONTENT
    return [
        _Property(prop.identifier, prop.type, prop.fixed_type if prop.type == "COLLECTION" else None)
        for prop in kind.bl_rna.properties
        if prop.identifier not in left_out
    ]


@cache
def _own_properties(kind: type) -> list[_Property]:
    return [known for known in _properties(kind) if known.name.startswith("motionbridge_")]


def _forget() -> None:
    """Forgets what is known of types: properties may have been registered since."""
    for known in (_properties, _own_properties, _columns):
        known.cache_clear()


def _take_value(taken: dict[str, Any], path: str, known: _Property, value: Any, seen: set[tuple[int, type]]) -> None:
    if known.sort == "POINTER":
        _take_pointer(taken, path, value, seen)
    elif known.sort == "COLLECTION":
        _take_collection(taken, path, known.rows, value, seen)
    else:
        taken[path] = _plain(value)


def _take_pointer(taken: dict[str, Any], path: str, value: Any, seen: set[tuple[int, type]]) -> None:
    if value is None:
        taken[path] = None
    elif isinstance(value, bpy.types.ID) and not value.is_embedded_data:
        taken[path] = f"{value.bl_rna.identifier} {value.name_full}"
    else:
        taken[path] = _label(value)
        _take(taken, path, value, seen)


def _take_collection(taken: dict[str, Any], path: str, rows: Any, values: Any, seen: set[tuple[int, type]]) -> None:
    taken[f"{path} count"] = len(values)
    if hasattr(values, "active"):
        taken[f"{path}.active"] = _label(values.active)
    # A row may be of a type derived from the collection's own (strips, modifiers), and that one says more.
    is_table = len(values) and values[0] is not None and values[0].bl_rna == rows
    columns = _columns(rows) if is_table else {}
    if columns:
        for name, (dtype, width) in columns.items():
            taken[f"{path} {name}"] = _hash(values, name, dtype, width)
        return
    for index, value in enumerate(values):
        if value is None:
            taken[f"{path}[{index}]"] = None
        else:
            _take_pointer(taken, f"{path}[{index}]", value, seen)


def _label(struct: Any) -> str | None:
    """What a part of a datablock is called: by its name, a slot by its identifier, anything else by its type."""
    if struct is None:
        return None
    return getattr(struct, "name", None) or getattr(struct, "identifier", None) or struct.bl_rna.identifier


@cache
def _columns(struct: Any) -> dict[str, tuple[type, int]]:
    """What a row of a table of numbers consists of, as numpy reads it; nothing where the rows are more than that."""
    properties = [prop for prop in struct.properties if prop.identifier != "rna_type"]
    if not properties or any(
        prop.type not in PLAIN or (prop.type == "ENUM" and prop.is_enum_flag) for prop in properties
    ):
        return {}
    kinds = {"BOOLEAN": np.bool_, "INT": np.int32, "FLOAT": np.float32, "ENUM": np.int32}
    return {prop.identifier: (kinds[prop.type], max(getattr(prop, "array_length", 0), 1)) for prop in properties}


def _hash(values: Any, name: str, dtype: type, width: int) -> str:
    buffer = np.empty(len(values) * width, dtype)
    values.foreach_get(name, buffer)
    return hashlib.sha256(buffer.tobytes()).hexdigest()[:16]


def _weights(mesh: Any) -> str:
    rows = [(vertex.index, member.group, member.weight) for vertex in mesh.vertices for member in vertex.groups]
    return hashlib.sha256(repr(rows).encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    """A value that stays what it is when the scene goes on."""
    if value is None or isinstance(value, SCALARS):
        return value
    if isinstance(value, set):
        return sorted(value)
    if hasattr(value, "to_dict"):
        return {key: _plain(item) for key, item in value.to_dict().items()}
    if hasattr(value, "__len__"):
        return tuple(_plain(item) for item in value)
    return repr(value)
