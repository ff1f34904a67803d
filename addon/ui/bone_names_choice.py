"""What bones are called in the file and in the armature: the same, or as a table says."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ..core.errors import ReadError
from ..formats.arma import bone_table
from ..formats.arma.bone_table import BoneTable

NAMINGS = (
    ("AS_THEY_ARE", "As They Are", "File and armature call bones the same"),
    (
        "FLASHPOINT_ON_ARMA",
        "Flashpoint on Arma",
        "The file has the bones of Flashpoint's man, the armature those of Arma's",
    ),
    (
        "ARMA_ON_FLASHPOINT",
        "Arma on Flashpoint",
        "The file has the bones of Arma's man, the armature those of Flashpoint's",
    ),
    ("TABLE", "Own Table", "A table in JSON says which bone of the armature each bone of the file is"),
)


class BoneNamesChoice:
    """Mixed into operators that read or write files for an armature."""

    bone_names: EnumProperty(
        name="Bone Names",
        description="Whether file and armature call the same bone differently",
        items=NAMINGS,
        default="AS_THEY_ARE",
    )
    bone_table: StringProperty(
        name="Table",
        description='A file in JSON: {"bones": {"name in the file": "name in the armature"}}',
        default="",
    )

    def draw_bone_names(self, layout: Any) -> None:
        """The choice, and the file where one is asked for."""
        layout.prop(self, "bone_names")
        if self.bone_names == "TABLE":
            layout.prop(self, "bone_table")

    def table(self) -> BoneTable:
        """What is chosen. Raises `ReadError`."""
        if self.bone_names == "AS_THEY_ARE":
            return BoneTable()
        if self.bone_names == "TABLE":
            if not self.bone_table:
                raise ReadError(
                    "no table of bone names is named",
                    remedy="Name a file in JSON, or choose another way of calling bones",
                )
            return bone_table.read_file(bpy.path.abspath(self.bone_table))
        shipped = bone_table.flashpoint_to_arma()
        return shipped if self.bone_names == "FLASHPOINT_ON_ARMA" else shipped.reversed()
