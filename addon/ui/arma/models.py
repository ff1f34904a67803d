"""Models (.p3d): import, and the panel about them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ...core.errors import ReadError
from ...core.report import Report
from ...games.arma import kinds, model_import
from ...games.arma.properties import is_of_model, level_of
from .. import nearby_paths
from ..bases import BlenderOperator, BlenderPanel, ImportHelper
from ..files import FileImport
from ..layouts import fields
from ..operation import Outcome
from ..preferences import arma_folder
from ..sidebar import MotionbridgePanel
from ..target import active_rig
from ..translations import said
from .animations import BoneNamesChoice, SkeletonFilesChoice

if TYPE_CHECKING:
    from ...games.arma.model_import import ImportedModel

LEVELS = (
    ("FIRST", "First Visual", "The LOD shown at close range"),
    ("VISUAL", "All Visual", "All LODs that show the model from outside"),
    ("VIEWS", "Views", "Inside views of gunner, pilot and cargo"),
    ("SHADOW", "Shadow", "LODs that cast shadows"),
    ("GEOMETRY", "Geometry", "LODs for collision, view and fire geometry, also for the inside; buoyancy, PhysX"),
    ("MEMORY", "Memory", "Import named points as empties in their own collection"),
    ("OTHER", "Others", "Land contact, roadway, paths, hit points, edit, subparts, wreck"),
)
RIGS = (
    ("AUTOMATIC", "Automatic", "The active armature if its bones are selections of the model, otherwise none"),
    ("ACTIVE", "Active Armature", "Selections follow the bones of the same name; upper and lower case are the same"),
    (
        "NEW",
        "New Armature",
        ("Create an armature from the model.cfg set below or found in the file's folder, or from a known man"),
    ),
    ("NONE", "None", "Only the meshes"),
)


class IMPORT_SCENE_OT_arma_p3d(BoneNamesChoice, SkeletonFilesChoice, FileImport, ImportHelper, BlenderOperator):
    """Import editable models of Arma and Operation Flashpoint (.p3d, MLOD), to show animations on them"""

    bl_idname = "import_scene.arma_p3d"
    bl_label = "Import Arma Model"

    filename_ext = ".p3d"
    filter_glob: StringProperty(default=kinds.MODELS.glob, options={"HIDDEN"})
    levels: EnumProperty(
        name="LODs",
        description="Which levels of detail (LODs) to import",
        items=LEVELS,
        default={"FIRST"},
        options={"ENUM_FLAG"},
    )
    rig: EnumProperty(
        name="Armature", description="Which armature the meshes are parented to", items=RIGS, default="AUTOMATIC"
    )
    config: StringProperty(
        name="model.cfg",
        description="The model.cfg of the skeleton; if empty, the one in the file's folder",
        search=nearby_paths.offered(".cfg"),
        search_options={"SUGGESTION"},
    )
    pivots_model: StringProperty(
        name="Pivots Model",
        description=(
            "A .p3d model with one point per bone; if empty, the one that the model.cfg names in the folder "
            "of the file, or the points of the model itself"
        ),
        search=nearby_paths.offered(".p3d"),
        search_options={"SUGGESTION"},
    )
    prefix: StringProperty(
        name="Prefix", description="Prefix of the armature's bone names before the names of the game", default=""
    )
    proxies: BoolProperty(
        name="Proxies", description="Import models attached to this one (proxies) as empties", default=True
    )
    textures: BoolProperty(
        name="Textures",
        description=(
            "Show .png and .tga files with the names of the game's textures: next to the model, in its data "
            "folder, or by the texture path in the project or the Arma folder of the preferences"
        ),
        default=True,
    )
    new_collection: BoolProperty(
        name="New Collection", description="Import each model into its own collection", default=False
    )

    def draw(self, context: Any) -> None:
        """The options, those that nothing is asked of left out."""
        layout = fields(self.layout)
        layout.column().prop(self, "levels")
        layout.prop(self, "rig")
        if self.rig == "NEW":
            layout.prop(self, "config")
            layout.prop(self, "pivots_model")
        elif self.rig != "NONE" and active_rig(context) is not None:
            layout.prop(self, "prefix")
            self.draw_bone_names(layout)
        for name in ("proxies", "textures", "new_collection"):
            layout.prop(self, name)

    def run(self, context: Any, report: Report) -> Outcome:
        """Import every file."""
        paths = self.chosen_files("Choose at least one model (.p3d)")
        if not self.levels:
            raise ReadError("no LOD is chosen", remedy="Choose at least one LOD")
        rig = active_rig(context) if self.rig in {"AUTOMATIC", "ACTIVE"} else None
        if rig is None and self.rig == "ACTIVE":
            raise ReadError("no armature is active", remedy="Select the armature to animate, or choose a new one")
        made = self.import_each(context, paths, lambda path, found: self._import(context, rig, path, found), report)
        meshes, empties = sum(len(one.meshes) for one in made), sum(len(one.empties) for one in made)
        return Outcome(
            said("Imported models: {} (meshes: {}, points and proxies: {})").format(len(made), meshes, empties)
        )

    def _import(self, context: Any, rig: Any, path: str, report: Report) -> ImportedModel:
        document = model_import.read_model(path, report)
        if (
            self.rig == "AUTOMATIC"
            and rig is not None
            and not model_import.fits(rig, document, self.prefix, self.table())
        ):
            rig = None
        options = model_import.ModelImportOptions(
            levels=frozenset(model_import.Levels[name] for name in self.levels),
            textures=self.textures,
            proxies=self.proxies,
            new_rig=self.rig == "NEW",
            config=bpy.path.abspath(self.config),
            pivots_model=bpy.path.abspath(self.pivots_model),
            prefix=self.prefix,
            table=self.table(),
            collection=Path(path).stem if self.new_collection else "",
            work_folder=arma_folder(context),
        )
        return model_import.import_model(context, rig, path, options, report, document=document)


class MOTIONBRIDGE_PT_arma_model(MotionbridgePanel, BlenderPanel):
    """What the active object is to a model of Arma."""

    bl_label = "Arma Model"
    bl_order = -1

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Something of a model is active."""
        return is_of_model(context.active_object)

    def draw(self, context: Any) -> None:
        """The point, the level, its properties."""
        layout = self.layout
        active = context.active_object
        mark = active.motionbridge_arma_mark
        if mark.kind != "NONE":
            icon = "LINKED" if mark.kind == "PROXY" else "DOT"
            layout.label(text=mark.game_name or active.name, icon=icon, translate=False)
        level = level_of(active)
        if level is None:
            return
        facts = layout.column(align=True)
        facts.label(text=Path(level.path).name, icon="FILE_3D", translate=False)
        text = f"{level.kind} ({level.resolution:g})" if level.kind == "visual" else level.kind
        facts.label(text=text, icon="MESH_DATA", translate=False)
        if not len(level.properties):
            layout.label(text="No named properties")
            return
        rows = layout.box().column(align=True)
        for entry in level.properties:
            row = rows.row()
            row.label(text=entry.name, translate=False)
            row.label(text=entry.value, translate=False)


CLASSES = (
    IMPORT_SCENE_OT_arma_p3d,
    MOTIONBRIDGE_PT_arma_model,
)
