"""File > Import > X-Ray Level Geometry (.cform, .hom, .som, .details, .err, .dm) and X-Ray Level Folder."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from ...blender import scope
from ...core.errors import ReadError
from ...core.report import Report
from ...games.xray.levels import file as level_file
from ...games.xray.levels import folder as level_folder
from ...games.xray.levels import importing as level
from ...games.xray.levels import models as level_models
from .. import view_range
from ..bases import BlenderOperator, FileHandler, ImportHelper
from ..file_import import DropInScene, FileImport
from ..layouts import fields
from ..operation import Operation, Outcome
from ..preferences import folders, game_materials
from ..wording import said

if TYPE_CHECKING:
    from ...games.xray.levels.file import ImportedLevelFile

SPLIT_ITEMS = (
    ("WHOLE", "One Mesh", "The collision as one mesh"),
    ("SECTOR", "By Sector", "One mesh per sector; exported as one mesh"),
    ("MATERIAL", "By Game Material", "One mesh per game material; exported as one mesh"),
)


class LevelChoices:
    """The options that a file and a folder have in common."""

    split: EnumProperty(name="Collision", description="How to split the collision into meshes", items=SPLIT_ITEMS)
    weld: BoolProperty(
        name="Weld Occluders",
        description="Join coinciding corners of occluders; unedited faces are exported unchanged",
        default=False,
    )
    weld_distance: FloatProperty(
        name="Weld Distance",
        description="Corners closer than this are joined; the engine joins corners within 1 cm",
        default=0.01,
        min=0.0,
        max=1.0,
        precision=3,
        subtype="DISTANCE",
    )
    textures: BoolProperty(name="Textures", description="Show the textures of the detail models", default=True)

    def draw(self, _context: Any) -> None:
        """The options, in browser, dialog and presets alike."""
        chosen: Any = self
        layout = fields(chosen.layout)
        layout.prop(self, "split")
        layout.prop(self, "weld")
        distance = layout.column()
        distance.enabled = chosen.weld
        distance.prop(self, "weld_distance")
        layout.prop(self, "textures")

    def level_options(self, context: Any, collection: str = "") -> "level_file.LevelOptions":
        """What was chosen, with the user's folders."""
        chosen: Any = self
        game, textures = folders(context)
        return level_file.LevelOptions(
            split=chosen.split,
            weld=chosen.weld_distance if chosen.weld else None,
            textures=chosen.textures,
            game_materials=game_materials(context),
            game_folder=game,
            textures_folder=textures,
            collection=collection,
        )


class IMPORT_SCENE_OT_xray_level_geometry(FileImport, LevelChoices, ImportHelper, BlenderOperator):
    """Import collision, occluders, sound occluders, detail objects, errors of a S.T.A.L.K.E.R. (X-Ray) level"""

    bl_idname = "import_scene.xray_level_geometry"
    bl_label = "Import X-Ray Level Geometry"

    filename_ext = ".cform"
    filter_glob: StringProperty(default="*.cform;*.hom;*.som;*.details;*.err;*.dm", options={"HIDDEN"})

    def run(self, context: Any, report: Report) -> Outcome:
        """Import every file."""
        paths = self.chosen_files(f"Choose at least one of {', '.join(level.SUFFIXES)}")
        made: list[ImportedLevelFile] = []
        with scope.progress(context, len(paths)) as step:

            def one(path: str, found: Report) -> None:
                made.append(level.import_file(context, path, self.level_options(context), found))
                if len(paths) > 1:  # of one alone the outcome says it
                    found.note(made[-1].counts, made[-1].name)
                step(len(made))

            self.each_file(paths, one, report)
        level_models.lay_out([one.holder for one in made if one.kind == "DM"])
        view_range.show_far(context, [shown for one in made for shown in one.objects], report)
        if len(made) == 1:
            return Outcome(f"{made[0].name}: {made[0].counts}")
        return Outcome(said("Imported files: {}").format(len(made)))


class IMPORT_SCENE_OT_xray_level(Operation, LevelChoices, BlenderOperator):
    """Import every supported file of a S.T.A.L.K.E.R. (X-Ray) level folder, one collection per kind"""

    bl_idname = "import_scene.xray_level"
    bl_label = "Import X-Ray Level Folder"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    directory: StringProperty(name="Level Folder", description="Folder that contains level.cform", subtype="DIR_PATH")
    filter_glob: StringProperty(default="*.cform;*.hom;*.som;*.details;*.err;*.dm", options={"HIDDEN"})

    def edited(self, context: Any) -> Iterable[Any]:
        """Nothing: new objects are made."""
        return ()

    def invoke(self, context: Any, _event: Any) -> Any:
        """The file browser."""
        self.called_by_person(from_browser=True)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context: Any, report: Report) -> Outcome:
        """Import what the folder holds."""
        if not self.directory:
            raise ReadError("no folder is chosen", remedy="Choose the folder with level.cform")
        folder = Path(bpy.path.abspath(self.directory))
        with scope.progress(context, len(level_folder.files_in(folder))) as step:
            made = level_folder.import_folder(context, folder, self.level_options(context), report, step)
        view_range.show_far(context, [shown for one in made for shown in one.objects], report)
        names = ", ".join(one.name for one in made)
        return Outcome(said("Imported files: {}").format(f"{len(made)} ({names})"))


class IO_FH_motionbridge_xray_level_geometry(DropInScene, FileHandler):
    """Drop of a level's files, and their export by collections."""

    bl_idname = "IO_FH_motionbridge_xray_level_geometry"
    bl_label = "X-Ray Level Geometry"
    bl_import_operator = "import_scene.xray_level_geometry"
    bl_export_operator = "export_scene.xray_level_geometry"
    bl_file_extensions = ".cform;.hom;.som;.details;.err;.dm"


CLASSES = (
    IMPORT_SCENE_OT_xray_level_geometry,
    IMPORT_SCENE_OT_xray_level,
    IO_FH_motionbridge_xray_level_geometry,
)
