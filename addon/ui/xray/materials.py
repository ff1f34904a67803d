"""Texture, lightmaps and shader of materials of S.T.A.L.K.E.R. (X-Ray), in their panel and in that of a level."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpy
from bpy.props import StringProperty

from ...blender import material
from ...blender.typed import Context, Material, Object
from ...core.errors import ReadError
from ...core.report import Report
from ...games.arma.properties import is_of_model as is_of_arma_model
from ...games.xray.models import exporting as model_export
from ..bases import BlenderOperator, BlenderPanel, ImportHelper, classes_of, iface_, rpt_
from ..layouts import fields
from ..operation import Need, Operation, Outcome
from .models import PropertiesPanel

MOST_MATERIALS = 4
"""Most materials whose names in the game the panel of a level shows."""


class OnMaterial(Operation):
    """Mixin for operators that set the texture of a material, by its name."""

    needs = (Need("The file has no material", lambda _context: len(bpy.data.materials) > 0),)

    material: StringProperty(options={"SKIP_SAVE", "HIDDEN"})

    def edited(self, _context: Context) -> Iterable[bpy.types.ID | None]:
        """The material."""
        return (self.chosen(),)

    def chosen(self) -> Any:
        """Return the material. Raises `ReadError` if there is none of this name."""
        result: Any = bpy.data.materials.get(self.material)
        if result is None:
            raise ReadError("no material is chosen", remedy="Use the button beside its texture")
        return result

    def use(self, texture: str) -> Outcome:
        """Set the texture; lightmaps and shader stay."""
        self.chosen().motionbridge_material.own_texture = texture
        return Outcome(rpt_("{}: the texture is {}").format(self.material, texture))


class MOTIONBRIDGE_OT_choose_texture(OnMaterial, ImportHelper, BlenderOperator):
    """Choose the texture of the material among the files of the game's textures folder, and show it"""

    bl_idname = "motionbridge.choose_texture"
    bl_label = "Choose Texture"

    filter_glob: StringProperty(default="*.dds;*.tga;*.png", options={"HIDDEN"})

    def run(self, _context: Context, _report: Report) -> Outcome:
        """Show the image and take its path below ``textures``. Raises `ReadError` for other files."""
        path = Path(bpy.path.abspath(self.filepath))
        material.show_image(self.chosen(), material.shown_image(path))
        return self.use(model_export.texture_at(path.with_suffix("")))


class MOTIONBRIDGE_OT_texture_of_image(OnMaterial, BlenderOperator):
    """Use the path of the image that the material shows"""

    bl_idname = "motionbridge.texture_of_image"
    bl_label = "Use Path of Image"

    def run(self, _context: Context, _report: Report) -> Outcome:
        """Take the path of the material's image. Raises `ReadError` if it has none."""
        texture = model_export.texture_name(self.chosen())
        if not texture:
            raise ReadError("the material shows no image", remedy="Choose a texture")
        return self.use(texture)


def draw_material(column: Any, used: Material) -> None:
    """Draw texture, lightmaps and shader of a material, and the path of its image if that is another one."""
    names = used.motionbridge_material
    row = column.row(align=True)
    row.prop(names, "own_texture")
    row.operator("motionbridge.choose_texture", text="", icon="FILE_FOLDER").material = used.name
    if material.other_picture(used) or (not names.texture and material.image_of(used) is not None):
        text = iface_("Use {}").format(model_export.texture_name(used))
        column.operator(
            "motionbridge.texture_of_image", text=text, icon="IMAGE_DATA", translate=False
        ).material = used.name
    if names.lightmaps:
        column.prop(names, "lightmaps")
    column.prop(names, "shader")


def draw_materials(layout: Any, objects: Iterable[Object]) -> None:
    """Draw what `draw_material` does for the materials of meshes, with their names."""
    slots = (slot.material for obj in objects for slot in obj.material_slots)
    for used in list(dict.fromkeys(filter(None, slots)))[:MOST_MATERIALS]:
        column: Any = fields(layout).column(align=True)
        column.label(text=used.name, icon="MATERIAL", translate=False)
        draw_material(column, used)


class MOTIONBRIDGE_PT_material(PropertiesPanel, BlenderPanel):
    """Texture and shader of the material in the game."""

    bl_label = "X-Ray Material"
    bl_context = "material"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.material is not None and not is_of_arma_model(context.object)

    def draw(self, context: Context) -> None:
        draw_material(self.fields(), context.material)


CLASSES = classes_of(__name__)
