"""Operators for new models of the game: prepare an armature or mesh that the user made for the export."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, FloatProperty, StringProperty

from ...blender import compat, scope
from ...blender.typed import Context, Object
from ...core.errors import WriteError
from ...core.report import Report, say
from ...formats.xray import conversion
from ...games.xray.bones import values
from ...games.xray.bones.properties import SHAPES, known
from ...games.xray.levels import game_materials as level_game_materials
from ...games.xray.models import making
from ...games.xray.models.properties import remembered
from ..bases import BlenderOperator, ImportHelper, classes_of, rpt_
from ..files import FileImport
from ..layouts import fields
from ..operation import Need, Operation, Outcome
from ..preferences import known_games
from ..target import RIG, active_object, active_rig, on_rig
from .level_faces import ListedGameMaterial
from .target import root_of_active

WATER = 1000.0
"""Density of water, in kilograms per cubic metre."""


def _can_become_model(context: Context) -> bool:
    """Return whether the active object can become a model, or is a new one with bones that were not set up."""
    holder = root_of_active(context)
    if holder is None or holder.type not in {"ARMATURE", "MESH", "EMPTY"}:
        return False
    return remembered(holder) is None or making.has_new_bones(holder)


class MOTIONBRIDGE_OT_new_game_model(Operation, BlenderOperator):
    """Add the panels of a game model to the active armature or mesh: shapes, masses, motion references, user data"""

    bl_idname = "motionbridge.new_game_model"
    bl_label = "New X-Ray Model"
    needs = (Need("Select an armature or mesh that is not an X-Ray model yet", _can_become_model),)

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        holder = root_of_active(context)
        return tuple(owner for owner in (holder, holder.data) if owner is not None)

    def run(self, context: Context, report: Report) -> Outcome:
        holder = root_of_active(context)
        with scope.object_mode(context):
            number = making.set_up(holder)
        sentence = rpt_("{} is an X-Ray model now, see Properties > Object; new bones: {}")
        return Outcome(sentence.format(holder.name, number))


def _has_known_bones(rig: Object) -> bool:
    return any(known(bone) is not None for bone in rig.data.bones)


class MOTIONBRIDGE_OT_fit_shapes(Operation, BlenderOperator):
    """Fit a collision shape around the vertices of each bone, and set its mass from the volume"""

    bl_idname = "motionbridge.fit_shapes"
    bl_label = "Fit Shapes to Mesh"
    needs = (
        RIG,
        Need("The active armature is not an X-Ray model: use New X-Ray Model first", on_rig(_has_known_bones)),
    )

    shape: EnumProperty(name="Shape", description="Collision shape of the bone", items=SHAPES[1:], default="BOX")
    density: FloatProperty(
        name="Density", description="Kilograms per cubic meter of the shape", default=WATER, min=0.0, soft_max=10000.0
    )
    selected: BoolProperty(name="Selected Bones", description="Only the selected bones of the armature", default=False)

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        return (active_rig(context).data,)

    def draw(self, _context: Context) -> None:
        layout = fields(self.layout)
        for name in ("shape", "density", "selected"):
            layout.prop(self, name)

    def run(self, context: Context, report: Report) -> Outcome:
        rig = active_rig(context)
        with scope.object_mode(context):
            if rig.motionbridge_editor_model.is_made:
                making.set_up(rig)
            chosen = {bone.name for bone in rig.data.bones if not self.selected or compat.is_selected(rig, bone)}
            number = making.fit_shapes(context, rig, self.shape, chosen, density=self.density, report=report)
        return Outcome(rpt_("Bones with a fitted shape: {}").format(number), done=number > 0)


class MOTIONBRIDGE_OT_bones_as(FileImport, ImportHelper, BlenderOperator):
    """Give the new model the bone order and bone parts of another model or motion file"""

    bl_idname = "motionbridge.bones_as"
    bl_label = "Copy Bone Order..."
    needs = (
        RIG,
        Need(
            "The active armature is not a new X-Ray model: use New X-Ray Model first",
            on_rig(lambda rig: rig.motionbridge_editor_model.is_made),
        ),
    )
    bl_options = {"REGISTER", "UNDO"}

    filename_ext = ".omf"
    filter_glob: StringProperty(default="*.omf;*.ogf", options={"HIDDEN"})

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        rig = active_rig(context)
        return (rig, rig.data)

    def draw(self, _context: Context) -> None:
        """There are no options."""

    def run(self, context: Context, report: Report) -> Outcome:
        (path, *_) = self.chosen_files("Choose a model (.ogf) or a motion file (.omf)")
        rig = active_rig(context)
        with scope.object_mode(context):
            making.set_up(rig)
            number = values.take_order(rig, conversion.bone_order_of(path), report)
        parts = len(rig.motionbridge_editor_model.parts)
        return Outcome(rpt_("Bones in the order of {}: {}, bone parts: {}").format(Path(path).name, number, parts))


class MOTIONBRIDGE_OT_choose_game_material(Operation, BlenderOperator):
    """Choose the game material from a list of the names in gamemtl.xr"""

    bl_idname = "motionbridge.choose_game_material"
    bl_label = "Choose Game Material"
    needs = (Need("Select an X-Ray bone, or an object with a material", active_object),)

    target: EnumProperty(
        name="Target",
        description="What gets the game material",
        items=(
            ("BONE", "Bone", "The active bone and the selected ones"),
            ("SURFACE", "Surface", "The active material"),
        ),
        options={"SKIP_SAVE"},
    )
    material_name: StringProperty(name="Game Material", description="Name in gamemtl.xr", options={"SKIP_SAVE"})
    listed: CollectionProperty(type=ListedGameMaterial, options={"SKIP_SAVE", "HIDDEN"})

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        if self.target == "BONE":
            return (active_rig(context).data,) if active_rig(context) is not None else ()
        material = context.view_layer.objects.active.active_material
        return (material,) if material is not None else ()

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Open a dialog with the current material; for bones it lists only materials of dynamic objects."""
        self.listed.clear()
        for name in sorted(material_names(context, dynamic=self.target == "BONE"), key=str.lower):
            self.listed.add().name = name
        if not self.properties.is_property_set("material_name"):
            self.material_name = next((getattr(owner, field) for owner, field in self._chosen(context)), "")
        return context.window_manager.invoke_props_dialog(self, width=400)

    def draw(self, _context: Context) -> None:
        """Draw the search field, and a note if there is no gamemtl.xr."""
        layout = fields(self.layout)
        layout.prop_search(self, "material_name", self, "listed", icon="MATERIAL")
        if not len(self.listed):
            layout.label(text="gamemtl.xr not found: add the game in the preferences", icon="INFO")

    def run(self, context: Context, report: Report) -> Outcome:
        chosen = self._chosen(context)
        there = material_names(context, dynamic=self.target == "BONE")
        if not chosen:
            raise WriteError(
                "neither an X-Ray bone nor an object with a material is selected",
                remedy="Select an X-Ray bone, or an object with a material",
            )
        if there and self.material_name not in there:
            raise WriteError(
                say("there is no such game material: {!r}", self.material_name),
                remedy="Choose one from the list; add the game to Installed Games in the preferences",
            )
        with scope.object_mode(context):
            for owner, field in self._chosen(context):
                setattr(owner, field, self.material_name)
        return Outcome(rpt_("Game material {}: {}").format(self.material_name, len(chosen)))

    def _chosen(self, context: Context) -> list[tuple[Any, str]]:
        """Return pairs of a property group and the field to set, that of the active bone first."""
        if self.target == "SURFACE":
            material = context.view_layer.objects.active.active_material
            return [(material.motionbridge_surface, "game_material")] if material is not None else []
        rig = active_rig(context)
        if rig is None or rig.type != "ARMATURE":
            return []
        active = rig.data.edit_bones.active if rig.mode == "EDIT" else rig.data.bones.active
        name = active.name if active is not None else ""
        bones = sorted(rig.data.bones, key=lambda bone: bone.name != name)
        bones_chosen = [bone for bone in bones if bone.name == name or compat.is_selected(rig, bone)]
        return [(bone.motionbridge_xray, "material") for bone in bones_chosen if known(bone) is not None]


def material_names(context: Context, *, dynamic: bool) -> set[str]:
    """Return names of the game's materials; ``dynamic``: only those for dynamic objects. Empty without gamemtl.xr."""
    holder = context.view_layer.objects.active
    model = remembered(holder) if holder is not None else None
    path = Path(bpy.path.abspath(model.path)) if model is not None else None
    return level_game_materials.labels_for(path, known_games(context, "XRAY"), dynamic=dynamic)


CLASSES = classes_of(__name__)
