"""Scenes of a test: objects in them, meshes that are edited, and the scene saved and opened again."""

from collections.abc import Iterator
from contextlib import contextmanager

import bmesh
import bpy
import numpy as np


def add_object(name, data=None, *, active=False):
    """Return a new object of the scene, which may become the active one."""
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    if active:
        bpy.context.view_layer.objects.active = obj
    return obj


@contextmanager
def editing(mesh) -> Iterator[bmesh.types.BMesh]:
    """Edit a mesh without a mode; its parts can be looked up by their index."""
    work = bmesh.new()
    work.from_mesh(mesh)
    work.verts.ensure_lookup_table()
    work.faces.ensure_lookup_table()
    yield work
    work.to_mesh(mesh)
    work.free()


def delete_faces(mesh, *faces, context="FACES_ONLY"):
    """Delete faces by their index; with ``context`` "FACES" also what belongs to no other face."""
    with editing(mesh) as work:
        bmesh.ops.delete(work, geom=[work.faces[face] for face in faces], context=context)


def column(rows, name, width=1, kind=np.float32):
    """(rows, width) what rows of Blender say of one property; (rows,) for a single number."""
    flat = np.empty(len(rows) * width, kind)
    rows.foreach_get(name, flat)
    return flat.reshape(-1, width) if width > 1 else flat


def reopen(folder):
    """Save the scene in a folder and open it again."""
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"), compress=False)
    bpy.ops.wm.open_mainfile(filepath=str(folder / "scene.blend"))


def play_new(rig, name):
    """Let an armature play a new action of this name, with a key of one bone."""
    rig.animation_data.action = bpy.data.actions.new(name)
    rig.pose.bones[0].keyframe_insert("location", frame=1)
    return rig.animation_data.action
