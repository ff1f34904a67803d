"""Trees of a level: an empty for each place, which instances the collection of its parts.

A tree of the game is a visual for each of its parts, such as bark and leaves, at the same place; many places have the
same parts. So one empty is the whole tree for Blender's own tools. The empty refers to the visuals of its place, and
with them to the light of each part. The collection of the parts is linked to a scene only while it is edited.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Matrix

from ....core.errors import WriteError
from ....core.report import say
from ....formats.xray.level import structure
from .file import listed_objects, new_object

if TYPE_CHECKING:
    from ....blender.typed import Mesh, Object, Scene


DISPLAY_SIZE = 0.25
"""Metres of the axes of an empty."""


def build(names: Sequence[str], trees: Sequence[Sequence[tuple[int, int]]], datas: Sequence[Mesh]) -> list[Object]:
    """Create an empty, not linked to a collection, for each of ``trees``, and the collections of their parts.

    ``names`` (trees,). A tree is a list of (visual, index in ``datas``); those of the same meshes share a collection.
    """
    sets: dict[tuple[int, ...], Any] = {}
    result = []
    for name, pairs in zip(names, trees, strict=True):
        key = tuple(data for _, data in pairs)
        if key not in sets:
            sets[key] = _build_set(_without_index(name), [datas[number] for number in key])
        empty = new_object(name, None, "TREE", pairs[0][0])
        empty.motionbridge_level.visuals = " ".join(str(visual) for visual, _ in pairs)
        empty.motionbridge_level.parts = empty.instance_collection = sets[key]
        empty.instance_type = "COLLECTION"
        empty.empty_display_size = DISPLAY_SIZE
        result.append(empty)
    return result


def _build_set(name: str, datas: Iterable[Mesh]) -> bpy.types.Collection:
    collection: Any = bpy.data.collections.new(name)
    collection.motionbridge_level.is_tree = True
    for number, data in enumerate(datas):
        collection.objects.link(new_object(_without_index(data.name), data, "TREE_PART", number))
    return collection


def _without_index(name: str) -> str:
    return name.rpartition(" ")[0] or name


def follow(impostor: Object, tree: Object) -> None:
    """Let an impostor, whose corners are in world space, move with its tree, unless that is too small to be seen."""
    matrix = np.array(tree.matrix_basis, np.float64)
    if np.isfinite(matrix).all() and np.linalg.norm(matrix[:3, :3], axis=0).min() > structure.INVISIBLE_BELOW:
        impostor.parent = tree
        impostor.matrix_parent_inverse = Matrix(np.linalg.inv(matrix).tolist())


def is_tree(obj: Object | None) -> bool:
    """Return whether an object is a tree of a level, as an empty with parts."""
    return obj is not None and obj.motionbridge_level.kind == "TREE" and obj.motionbridge_level.parts is not None


def visuals_of(tree: Object) -> list[int]:
    """Return the visuals of a tree, one for each part that it had when it was imported. Raises `WriteError`."""
    stored = tree.motionbridge_level.visuals.split()
    if not all(visual.isdecimal() for visual in stored):
        raise WriteError(
            say("what is stored of the tree {!r} is damaged", tree.name), remedy="Undo this or import the level again"
        )
    return [int(visual) for visual in stored]


def parts_of(collection: bpy.types.Collection | None) -> dict[int, Object]:
    """Return index -> object of the parts in the collection of a tree; of copies, the first by name."""
    result: dict[int, Any] = {}
    objects: list[Any] = [] if collection is None else list(collection.objects)
    for obj in sorted(objects, key=lambda obj: str(obj.name_full)):
        if obj.motionbridge_level.kind == "TREE_PART":
            result.setdefault(obj.motionbridge_level.row, obj)
    return result


def sets_of(trees: Iterable[Object]) -> list[bpy.types.Collection]:
    """Return the collections of parts that objects show, those that are trees, each once."""
    collections = (tree.motionbridge_level.parts for tree in trees)
    return [collection for collection in dict.fromkeys(collections) if collection is not None]


def begin_editing(scene: Scene, tree: Object) -> int:
    """Link the parts of a tree to a scene, instead of those that are edited; return the number of trees with them."""
    end_editing(scene)
    parts: Any = tree.motionbridge_level.parts
    scene.collection.children.link(parts)
    parts.motionbridge_level.edited_from = tree
    parts.motionbridge_level.tree_count = sum(obj.motionbridge_level.parts == parts for obj in scene.objects)
    return int(parts.motionbridge_level.tree_count)


def edited_sets(scene: Scene) -> list[Any]:
    """Return the collections of parts that are linked to a scene, to be edited."""
    children: Any = scene.collection.children
    return [collection for collection in children if collection.motionbridge_level.is_tree]


def end_editing(scene: Scene) -> Object | None:
    """Unlink the parts that are edited; return the tree from which that began."""
    tree: Any = None
    for collection in edited_sets(scene):
        tree = collection.motionbridge_level.edited_from
        collection.motionbridge_level.edited_from = None
        scene.collection.children.unlink(collection)
    return tree


def refuse_without_parts(trees: Iterable[Object], objects: Iterable[Object]) -> None:
    """Raise `WriteError` if trees do not show their parts any more, or if ``objects`` include parts outside of them.

    Blender's Make Instances Real does both.
    """
    for tree in trees:
        collection = tree.instance_collection if tree.instance_type == "COLLECTION" else None
        if is_tree(tree) and collection != tree.motionbridge_level.parts:
            raise WriteError(
                say("the tree {!r} does not show its parts any more", tree.name),
                remedy="Undo what changed its instancing, such as Make Instances Real",
            )
    loose = [obj for obj in objects if obj.motionbridge_level.kind == "TREE_PART" and not _is_in_set(obj)]
    if loose:
        raise WriteError(
            say("parts of trees are objects of their own: {}", listed_objects(loose)),
            remedy="Undo Make Instances Real, or delete these objects",
        )


def _is_in_set(part: Object) -> bool:
    collections: Any = part.users_collection
    return any(collection.motionbridge_level.is_tree for collection in collections)
