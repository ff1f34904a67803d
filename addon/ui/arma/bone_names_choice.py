"""What bones are called in the file and in the armature: the same, or as a table says."""

from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ...core.errors import ReadError
from ...formats.arma import bone_table

NAMINGS = (
    ("AS_THEY_ARE", "Same Names", "The file and the armature use the same bone names"),
    (
        "FLASHPOINT_ON_ARMA",
        "Flashpoint on Arma",
        "The file has the bones of the Flashpoint man, the armature those of the Arma man",
    ),
    (
        "ARMA_ON_FLASHPOINT",
        "Arma on Flashpoint",
        "The file has the bones of the Arma man, the armature those of the Flashpoint man",
    ),
    ("TABLE", "Custom Table", "A JSON table maps bone names of the file to bone names of the armature"),
)


class BoneNamesChoice:
    """Mixed into operators that read or write files for an armature."""

    bone_names: EnumProperty(
        name="Bone Names",
        description="How bone names of the file are matched to bone names of the armature",
        items=NAMINGS,
        default="AS_THEY_ARE",
    )
    bone_table: StringProperty(
        name="Table",
        description='A JSON file: {"bones": {"name in the file": "name in the armature"}}',
        default="",
    )

    def draw_bone_names(self, layout: Any) -> None:
        """The choice, and the file where one is asked for."""
        layout.prop(self, "bone_names")
        if self.bone_names == "TABLE":
            layout.prop(self, "bone_table")

    def table(self) -> "bone_table.BoneTable":
        """What is chosen. Raises `ReadError`."""
        if self.bone_names == "AS_THEY_ARE":
            return bone_table.BoneTable()
        if self.bone_names == "TABLE":
            if not self.bone_table:
                raise ReadError(
                    "no table of bone names is set",
                    remedy="Choose a JSON file, or another setting of Bone Names",
                )
            return bone_table.read_file(bpy.path.abspath(self.bone_table))
        shipped = bone_table.flashpoint_to_arma()
        return shipped if self.bone_names == "FLASHPOINT_ON_ARMA" else shipped.reversed()
