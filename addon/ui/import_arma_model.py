"""File > Import > Arma Model (.p3d) and the drop of such files: meshes for animations to be seen on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..core.errors import ReadError
from ..core.report import Report
from ..games.arma.model_import import ImportedModel, Levels, ModelImportOptions, fits, import_model
from .bases import BlenderOperator, FileHandler, ImportHelper
from .bone_names_choice import BoneNamesChoice
from .file_import import DropInScene, FileImport
from .layouts import fields
from .operation import Outcome
from .preferences import arma_folder
from .skeleton_files import SkeletonFilesChoice
from .target import active_rig
from .wording import said

LEVELS = (
    ("FIRST", "First Visual", "The level that is seen from nearby"),
    ("VISUAL", "All Visual", "All levels that are looked at from outside"),
    ("VIEWS", "Views", "What gunner, pilot and cargo see from inside"),
    ("SHADOW", "Shadow", "What casts shadows"),
    ("GEOMETRY", "Geometry", "What is run into, seen through and shot at, also from inside; buoyancy, PhysX"),
    ("MEMORY", "Memory", "Named points, as empties in a collection of their own"),
    ("OTHER", "Others", "Land contact, roadway, paths, hit points, edit, subparts, wreck"),
)
RIGS = (
    ("AUTOMATIC", "Automatic", "The active armature if its bones are selections of the model, else none"),
    ("ACTIVE", "Active Armature", "Selections move with the bones of their names, upper and lower case being the same"),
    ("NEW", "New Armature", "Made from the model.cfg below or beside the file, or of a known man"),
    ("NONE", "None", "The meshes alone"),
)


class IMPORT_SCENE_OT_arma_p3d(BoneNamesChoice, SkeletonFilesChoice, FileImport, ImportHelper, BlenderOperator):
    """Import models of the tools of Arma and Operation Flashpoint (.p3d, MLOD), to see animations on them"""

    bl_idname = "import_scene.arma_p3d"
    bl_label = "Import Arma Model"

    filename_ext = ".p3d"
    filter_glob: StringProperty(default="*.p3d", options={"HIDDEN"})
    levels: EnumProperty(
        name="Levels",
        description="Which levels of detail become objects",
        items=LEVELS,
        default={"FIRST"},
        options={"ENUM_FLAG"},
    )
    rig: EnumProperty(name="Armature", description="What the meshes hang on", items=RIGS, default="AUTOMATIC")
    config: StringProperty(
        name="model.cfg", description="The model.cfg of the skeleton; empty for the one beside the file", default=""
    )
    pivots_model: StringProperty(
        name="Pivots Model",
        description="A .p3d with a point for each bone; empty for the one that the model.cfg names, if it lies beside "
        "the file, or the model's own points",
        default="",
    )
    prefix: StringProperty(
        name="Prefix", description="What the armature's bones have before the game's names", default=""
    )
    proxies: BoolProperty(name="Proxies", description="Other models that hang on this one, as empties", default=True)
    textures: BoolProperty(
        name="Textures",
        description="Show .png and .tga files named like the game's textures: beside the model, in its data folder or "
        "where the texture's path leads within the project or the Arma folder of the preferences",
        default=True,
    )
    new_collection: BoolProperty(
        name="New Collection", description="Put each model into a collection of its own", default=False
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
            raise ReadError("no level is chosen", remedy="Choose at least one kind of level")
        rig = active_rig(context) if self.rig in {"AUTOMATIC", "ACTIVE"} else None
        if rig is None and self.rig == "ACTIVE":
            raise ReadError("no armature is active", remedy="Click the armature that is to move, or choose a new one")
        made = self.import_each(context, paths, lambda path, found: self._import(context, rig, path, found), report)
        meshes, empties = sum(len(one.meshes) for one in made), sum(len(one.empties) for one in made)
        return Outcome(
            said("Imported models: {} (meshes: {}, points and proxies: {})").format(len(made), meshes, empties)
        )

    def _import(self, context: Any, rig: Any, path: str, report: Report) -> ImportedModel:
        if self.rig == "AUTOMATIC" and rig is not None and not fits(rig, path, self.prefix, self.table()):
            rig = None
        options = ModelImportOptions(
            levels=frozenset(Levels[name] for name in self.levels),
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
        return import_model(context, rig, path, options, report)


class IO_FH_motionbridge_arma_p3d(DropInScene, FileHandler):
    """Drop of models."""

    bl_idname = "IO_FH_motionbridge_arma_p3d"
    bl_label = "Arma Model"
    bl_import_operator = "import_scene.arma_p3d"
    bl_file_extensions = ".p3d"


CLASSES = (IMPORT_SCENE_OT_arma_p3d, IO_FH_motionbridge_arma_p3d)
