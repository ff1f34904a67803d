"""Blender's classes that ours are made from, as `Any`: Blender finds out by itself which methods a class has, and the
stubs of its versions disagree about them.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy_extras import io_utils

BlenderOperator: Any = bpy.types.Operator
BlenderPanel: Any = bpy.types.Panel
BlenderMenu: Any = bpy.types.Menu
BlenderList: Any = bpy.types.UIList
BlenderGizmoGroup: Any = bpy.types.GizmoGroup
FileHandler: Any = bpy.types.FileHandler
ImportHelper: Any = io_utils.ImportHelper
ExportHelper: Any = io_utils.ExportHelper

CALL: Any = bpy.ops
"""Operators by name."""
