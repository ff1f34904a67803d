"""Level files: import, export, Save Back, checks and panels."""

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from ...blender import scope
from ...blender.compat import PATH_OPTIONS
from ...blender.typed import Context, Object
from ...core.errors import ReadError, WriteError
from ...core.report import Report, say
from ...games.xray import kinds
from ...games.xray.levels import details as level_details
from ...games.xray.levels import file as level_file
from ...games.xray.levels import folder as level_folder
from ...games.xray.levels import geometry as level_geometry
from ...games.xray.levels import marks, tree_sets
from ...games.xray.levels import materials as level_materials
from ...games.xray.levels.properties import DRAWN_KINDS, KINDS, VISUAL_KINDS, holder_of, meshes_of
from ...games.xray.options import LevelExportOptions, LevelFolderOptions, LevelImportOptions
from ..bases import (
    BlenderOperator,
    BlenderPanel,
    ExportHelper,
    ImportHelper,
    classes_of,
    file_sentence,
    iface_,
    options_from,
    properties_from,
    rpt_,
    tell,
)
from ..files import (
    FileExport,
    FileImport,
    FirstView,
    source_collection,
)
from ..layouts import draw_folded, fields, paragraph
from ..operation import Check, Need, Operation, Outcome, StartsAtOnce, draw_last_check, stores_nothing
from ..preferences import known_games
from ..saving import ModelSaveBack
from ..sidebar import MotionbridgePanel
from ..target import MESH
from .level_faces import FaceValues, draw_active_face, draw_ground, kind_of, known_materials
from .level_layers import layers_of
from .level_trees import draw_tree
from .materials import draw_materials
from .target import level_holders_to_export

if TYPE_CHECKING:
    from ...games.plan import FilePlan
    from ...games.xray.levels.file import ImportedLevelFile

LevelImportProperties: Any = properties_from(LevelImportOptions)
LevelFolderProperties: Any = properties_from(LevelFolderOptions)
LevelExportProperties: Any = properties_from(LevelExportOptions)


class LevelChoices(LevelImportProperties):
    """Mixin: options shared by the imports of a level file and of a level folder."""

    kind_of_options = LevelImportOptions
    weld: BoolProperty(
        name="Weld Occluders",
        description="Merge coinciding vertices of occluders; unedited faces are exported unchanged",
        default=False,
    )
    weld_distance: FloatProperty(
        name="Weld Distance",
        description="Vertices closer than this are merged; the engine merges vertices within 1 cm",
        default=0.01,
        min=0.0,
        max=1.0,
        precision=3,
        subtype="DISTANCE",
    )

    def draw(self, _context: Context) -> None:
        layout = fields(self.layout)
        layout.prop(self, "split")
        layout.prop(self, "textures")
        self.draw_weld(layout)

    def draw_weld(self, layout: Any) -> None:
        """Draw whether and how vertices of occluders are merged."""
        layout.prop(self, "weld")
        distance = layout.column()
        distance.enabled = self.weld
        distance.prop(self, "weld_distance")

    def level_options(self, context: Context) -> Any:
        """Return the options, with the games of the preferences."""
        return options_from(
            self,
            self.kind_of_options,
            weld=self.weld_distance if self.weld else None,
            games=known_games(context, "XRAY"),
        )


class IMPORT_SCENE_OT_xray_level_geometry(FileImport, LevelChoices, ImportHelper, BlenderOperator):
    """Import collision, occluders, sound occluders, detail objects, errors of a S.T.A.L.K.E.R. (X-Ray) level"""

    bl_idname = "import_scene.xray_level_geometry"
    bl_label = "Import X-Ray Level Geometry"

    filename_ext = ".cform"
    filter_glob: StringProperty(default=kinds.LEVELS.glob, options={"HIDDEN"})

    def run(self, context: Context, report: Report) -> Outcome:
        paths = self.chosen_files(say("Choose at least one of {}", ", ".join(level_geometry.SUFFIXES)))

        def work(path: str, report: Report) -> "ImportedLevelFile":
            imported = level_geometry.import_file(context, path, self.level_options(context), report)
            if len(paths) > 1:  # for one file the outcome has the counts
                report.note(imported.counts, imported.name)
            return imported

        imports = self.import_each(context, paths, work, report)
        if models := [imported.holder for imported in imports if imported.kind == "DM"]:
            level_details.lay_out_models(models)
        level_file.extend_clipping(context, [obj for imported in imports for obj in imported.objects], report)
        if len(imports) == 1:
            return Outcome(tell(say("{}: {}", imports[0].name, imports[0].counts), rpt_))
        return Outcome(tell(say("Imported {:# file|# files}", len(imports)), rpt_))


FOLDED = {"SKIP_SAVE", "SKIP_PRESET", "HIDDEN"}
"""Options of properties that open a part of a dialog."""


class IMPORT_SCENE_OT_xray_level(FirstView, Operation, LevelFolderProperties, LevelChoices, BlenderOperator):
    """Import every supported file of a S.T.A.L.K.E.R. (X-Ray) level folder, one collection per kind"""

    bl_idname = "import_scene.xray_level"
    bl_label = "Import X-Ray Level Folder"
    bl_options = {"REGISTER", "UNDO", "PRESET"}
    edited = stores_nothing  # the import creates new objects
    kind_of_options = LevelFolderOptions

    directory: StringProperty(
        name="Level Folder",
        description="Folder with the files of a level, such as level and level.cform",
        subtype="DIR_PATH",
        options=PATH_OPTIONS,
    )
    filter_glob: StringProperty(default=f"{kinds.LEVELS.glob};*level", options={"HIDDEN"})
    texture_shading: BoolProperty(
        name="Texture Shading",
        description="Let the solid 3D views of this window show textures; scripts leave views as they are",
        default=True,
    )
    show_contents: BoolProperty(name="Contents", description="Show what of the level is imported", options=FOLDED)
    show_options: BoolProperty(name="Options", description="Show the options", options=FOLDED)

    at_once: BoolProperty(name="At Once", description="Import the files without a dialog", options=FOLDED)

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        self.invoked_by_user(from_browser=not self.at_once)
        if self.at_once:
            return self.execute(context)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context: Context, report: Report) -> Outcome:
        if not self.directory:
            raise ReadError("no folder is chosen", remedy="Choose the folder with the files of a level")
        folder = Path(bpy.path.abspath(self.directory))
        options = self.level_options(context)
        with scope.progress(context, len(level_folder.files_in(folder, options))) as step:
            level_files = level_folder.import_folder(context, folder, options, report, step)
        level_file.extend_clipping(context, [obj for imported in level_files for obj in imported.all_objects], report)
        names = dict.fromkeys(imported.name for imported in level_files)
        count = sum(len(imported.all_objects) for imported in level_files)
        return Outcome(tell(say("Imported {:# file|# files}, {:# object|# objects}", len(names), count), rpt_))

    def draw(self, _context: Context) -> None:
        """Draw how the level is shown; what of it is imported, and the options of other files, are folded."""
        layout = fields(self.layout)
        for name in ("textures", "texture_shading", "split"):
            layout.prop(self, name)
        if body := draw_folded(layout, self, "show_contents"):
            for name in dict.fromkeys((*level_folder.VISUALS, *level_folder.OPTION_OF_SUFFIX.values())):
                body.prop(self, name)
        if body := draw_folded(layout, self, "show_options"):
            body.prop(self, "sectors")
            body.prop(self, "detail")
            self.draw_weld(body)


LINE_LENGTH = 30


def _has_exported(context: Context) -> bool:
    """Return whether the scene has level objects that can be exported."""
    kinds_there = {obj.motionbridge_level.kind for obj in context.scene.objects}
    return not kinds_there.isdisjoint(DRAWN_KINDS | VISUAL_KINDS | {"LEVEL"})


class EXPORT_SCENE_OT_xray_level_geometry(LevelExportProperties, FileExport, ExportHelper, BlenderOperator):
    """Export part of a S.T.A.L.K.E.R. (X-Ray) level: the selected collision or occluders, or the active object"""

    bl_idname = "export_scene.xray_level_geometry"
    bl_label = "Export X-Ray Level Geometry"
    needs = (Need("No level objects in the scene; click Use in X-Ray Level in the Import panel", _has_exported),)

    filename_ext = ""
    filter_glob: StringProperty(default=kinds.LEVELS.exported_glob, options={"HIDDEN"})
    collection: source_collection("Export the level object of this collection")
    types = ("MESH",)
    checked = ("anew",)
    is_costly = True

    def suggest(self, context: Context) -> None:
        """Suggest the imported file."""
        with suppress(WriteError):  # the preview reports it
            holder = level_holders_to_export(context, self.collection, whole=True)[0]
            came_from = holder.motionbridge_level.path
            suffix = level_geometry.SUFFIX_OF[holder.motionbridge_level.kind]
            self.filepath = bpy.path.abspath(came_from) if came_from else f"{bpy.path.clean_name(holder.name)}{suffix}"

    def check(self, context: Context) -> bool:
        """Keep the typed name: the suffix depends on the kind of file and is added by `run`."""
        self.previewed(context)
        return True

    def written(self, context: Context) -> Collection[Object]:
        holders = level_holders_to_export(context, self.collection, whole=True)
        return [obj for holder in holders for obj in (holder, *level_geometry.written_objects(context.scene, holder))]

    def can_write(self, obj: Object) -> bool:
        """Of meshes, those whose kind can be set in the panel."""
        return obj.motionbridge_level.kind in {"NONE", *DRAWN_KINDS}

    def preview(self, context: Context, report: Report) -> "FilePlan":
        """Warn of what the game or its tools would reject, and of what the export would warn of.

        The checks of a whole `level` stay in its panel: they compare its layers, which takes long.
        """
        holder, *others = level_holders_to_export(context, self.collection, whole=True)
        materials = known_materials(context, holder, Report())
        options = options_from(self, LevelExportOptions, game_materials=materials)
        problems = []
        if holder.motionbridge_level.kind != "LEVEL":
            problems = [problem.problem for problem in level_geometry.find_problems(context, holder, Report(), options)]
        own_report = Report()
        path = bpy.path.abspath(holder.motionbridge_level.path)
        plan: FilePlan = level_geometry.plan_export(context, holder, path, options, own_report, others=others)
        if plan.changes and (others or holder.type != "MESH"):  # the report has those of the whole file
            problems = []
        for problem in problems:
            report.warn(problem.sentence)
            own_report.warnings.pop(problem.line, None)
        report.include(own_report)
        return plan

    def draw(self, context: Context) -> None:
        layout = fields(self.layout)
        layout.prop(self, "modifiers", text=iface_("Apply Modifiers"), translate=False)
        layout.prop(self, "anew")
        holder = holder_of(context.view_layer.objects.active)
        if holder is not None and holder.motionbridge_level.kind == "LEVEL":
            words = iface_("If vertices were edited, level.geom and level.geomx are written beside the file")
            paragraph(layout.column(align=True), words, LINE_LENGTH, "INFO")
        self.draw_last(context)

    def run(self, context: Context, report: Report) -> Outcome:
        path = Path(self.named_file(kinds.LEVELS))
        holder, *others = level_holders_to_export(context, self.collection, whole=not path.suffix)
        suffix = level_geometry.SUFFIX_OF[holder.motionbridge_level.kind]
        if not path.suffix and not path.is_dir():  # a folder is refused later
            path = path.with_suffix(suffix)
        if path.suffix.lower() != suffix and not path.is_dir():
            words = "{!r} needs a file with the suffix {}, not {}"
            raise WriteError(say(words, holder.name, suffix, path.suffix), remedy="Use this suffix")
        materials = known_materials(context, holder, report)
        options = options_from(self, LevelExportOptions, game_materials=materials, backup=self.backup)
        plan = level_geometry.export_file(context, holder, path, options, report, others=others)
        return Outcome(file_sentence(path, plan))


PANEL_PROPERTIES = {"LIGHT": ("light_range",), "GLOW": ("shader", "texture"), "PORTAL": ("front_sector", "back_sector")}
"""Kind of object -> properties that its panel edits, because the viewport does not show them."""
TEXTURED_KINDS = frozenset({"SURFACE", "TREE", "TREE_PART", "LOD"})
"""Kinds of objects whose panel shows the textures and shaders of their materials."""
LEGEND_SHOWN = 24
NUMBER = re.compile(r"\d[\d.]*")
NEW_KINDS = tuple(item for item in KINDS if item[0] in DRAWN_KINDS)


class MOTIONBRIDGE_OT_level_begin(Operation, BlenderOperator):
    """Use the active mesh and the selected ones as parts of a level, and add missing face attributes"""

    bl_idname = "motionbridge.level_begin"
    bl_label = "Use in Level"
    needs = (MESH,)

    kind: EnumProperty(
        name="Kind",
        description="Part of the level that the object is",
        items=NEW_KINDS,
    )

    def objects(self, context: Context) -> list[Object]:
        """Return the active mesh, and the other selected ones that are not part of a level."""
        selected = [obj for obj in context.selected_objects if obj.type == "MESH" and holder_of(obj) is None]
        return list(dict.fromkeys([context.active_object, *selected]))

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        return [block for obj in self.objects(context) for block in (obj, obj.data)]

    def run(self, context: Context, report: Report) -> Outcome:
        objects = self.objects(context)
        holder = holder_of(objects[0])
        path = "" if holder is None or holder.motionbridge_level.kind == self.kind else holder.motionbridge_level.path
        for obj in objects:
            level_geometry.begin(context, obj, self.kind)
        if path:
            report.note(say("it no longer belongs to {}", Path(path).name), objects[0].name)
        return Outcome(rpt_("{} can now be exported for a level").format(", ".join(obj.name for obj in objects)))


class MOTIONBRIDGE_OT_level_two_sided(FaceValues, BlenderOperator):
    """Set whether the selected occluders work from both sides or only from the front"""

    bl_idname = "motionbridge.level_two_sided"
    bl_label = "Two-Sided"
    kinds = ("HOM", "SOM")

    two_sided: BoolProperty(
        name="Two-Sided",
        description="Hide what is behind the face from both sides, not only from the front",
        default=True,
    )

    def run(self, context: Context, _report: Report) -> Outcome:
        return self.set_values(context, {"two_sided": self.two_sided})


class MOTIONBRIDGE_OT_level_occlusion(FaceValues, BlenderOperator):
    """Set how much sound passes through the selected faces"""

    bl_idname = "motionbridge.level_occlusion"
    bl_label = "Set Sound Occlusion"
    kinds = ("SOM",)

    occlusion: FloatProperty(
        name="Sound That Passes",
        description="Share of the sound volume that passes through; 0 for silence",
        default=0.05,
        min=0,
        max=1,
    )

    def run(self, context: Context, _report: Report) -> Outcome:
        return self.set_values(context, {"occlusion": self.occlusion})


def _is_checked(context: Context) -> bool:
    """Return whether the active object belongs to a level file that can be exported, or is an AI map."""
    holder = holder_of(context.active_object)
    return holder is not None and holder.motionbridge_level.kind in level_geometry.CHECKED


class MOTIONBRIDGE_OT_level_check(StartsAtOnce, Check, BlenderOperator):
    """Find errors and warnings for the game, and select the first affected faces or vertices; their layer is shown"""

    bl_idname = "motionbridge.level_check"
    bl_label = "Select Invalid Faces"
    needs = (Need("The active object is not part of a level", _is_checked),)

    def find(self, context: Context, report: Report) -> tuple[Any, list[Any]]:
        """Check the file of the active object."""
        holder = holder_of(context.view_layer.objects.active)
        options = LevelExportOptions(game_materials=known_materials(context, holder, report))
        return holder, level_geometry.find_problems(context, holder, report, options)

    def layers_of(self, context: Context, obj: Any) -> list[Any]:
        return layers_of(context, obj)


class MOTIONBRIDGE_OT_level_ai_links(Operation, BlenderOperator):
    """Show the links between the nodes of the AI map as edges, one-way links in red, or remove these edges"""

    bl_idname = "motionbridge.level_ai_links"
    bl_label = "Show or Hide Links"
    needs = (Need("The active object is not an AI map", lambda context: kind_of(context) == "AI"),)

    def run(self, context: Context, _report: Report) -> Outcome:
        with scope.leaving_edit_mode(context):
            if marks.hide_links(context.active_object):
                return Outcome(rpt_("Links are hidden"))
            both, one_way = marks.show_links(context.active_object)
        return Outcome(
            tell(say("{:# link leads|# links lead} both ways, {:# link|# links} one way", both, one_way), rpt_)
        )


def legend_name(slot_material: bpy.types.Material) -> str:
    """Return what a colour shows, in the user's language: its name is the English of it, with numbers."""
    name = slot_material.name
    return name if "{" in name else tell(say(NUMBER.sub("{}", name), *NUMBER.findall(name)))


class MOTIONBRIDGE_PT_level(MotionbridgePanel, BlenderPanel):
    """Level properties of the active object."""

    bl_label = "X-Ray Level"
    bl_order = 10

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The active object belongs to a level file."""
        return holder_of(context.active_object) is not None

    def draw(self, context: Context) -> None:
        layout = self.layout
        active = context.active_object
        holder = holder_of(active)
        properties = holder.motionbridge_level
        level = active.motionbridge_level if properties.kind == "LEVEL" else properties
        layout.label(text=iface_(next(label for key, label, _ in KINDS if key == level.kind)))
        if level.kind in ("SURFACE", "TREE") and level.row < 0:
            layout.label(text="Only boxes: level.geom is missing", icon="INFO")
        for name in PANEL_PROPERTIES.get(level.kind, ()):
            fields(layout).prop(level, name)
        if properties.kind == "DM":
            column = layout.column()
            column.use_property_split = True
            for name in ("waving", "min_scale", "max_scale"):
                column.prop(properties, name)
            column.label(text="Origin at ground level", icon="INFO")
        shown_meshes = [active] if active.type == "MESH" else meshes_of(holder)
        if level.kind in TEXTURED_KINDS:
            draw_materials(layout, tree_sets.parts_of(level.parts).values() or [active])
        elif properties.kind != "DETAILS":
            self._draw_legend(shown_meshes)
        if properties.kind == "ERR":
            column = layout.column(align=True)
            column.label(text="The findings are selected:", icon="INFO")
            column.label(text="Press Tab to edit, numpad . to zoom in")
        if level.kind in ("TREE", "TREE_PART"):
            draw_tree(layout, context)
        if active.type == "MESH":
            self._draw_faces(context, properties.kind)
            if properties.kind == "DETAILS":
                draw_ground(layout, active)
        self._draw_buttons(holder)
        if properties.kind == "DETAILS":
            # Last, since it has a line per detail model.
            self._draw_legend(shown_meshes)

    def _draw_buttons(self, holder: Object) -> None:
        layout, kind = self.layout, holder.motionbridge_level.kind
        if kind == "AI":
            layout.operator("motionbridge.level_ai_links", icon="MESH_GRID")
        if kind in level_geometry.CHECKED:
            layout.operator("motionbridge.level_check", icon="VIEWZOOM")
            draw_last_check(layout, holder)
        if kind in level_geometry.SUFFIX_OF:
            column = layout.column(align=True)
            column.operator("motionbridge.level_save_back", icon="FILE_TICK")
            column.operator("export_scene.xray_level_geometry", text="Export", icon="EXPORT")
        else:
            layout.label(text="Only for viewing, not exported", icon="INFO")

    def _draw_legend(self, meshes: list[Object]) -> None:
        column = self.layout.column(align=True)
        materials = level_materials.legend(meshes)
        for slot_material in materials[:LEGEND_SHOWN]:
            row = column.row(align=True)
            colour = row.row()
            colour.ui_units_x = 1.5
            colour.prop(slot_material, "diffuse_color", text="")
            row.label(text=legend_name(slot_material), translate=False)
        if len(materials) > LEGEND_SHOWN:
            column.label(text=iface_("and {} more").format(len(materials) - LEGEND_SHOWN), translate=False)

    def _draw_faces(self, context: Context, kind: str) -> None:
        if kind in ("HOM", "SOM"):
            # Blender's overlay: blue is the front, the side from which a one-sided face hides what is behind it.
            overlay = context.space_data.overlay
            self.layout.prop(overlay, "show_face_orientation", text="Front Blue, Back Red")
        column = self.layout.column(align=True)
        if kind in ("HOM", "SOM", "CFORM"):
            column.label(text="Selected faces:")
        if kind in ("HOM", "SOM"):
            row = column.row(align=True)
            row.operator("motionbridge.level_two_sided", text="Two-Sided").two_sided = True
            row.operator("motionbridge.level_two_sided", text="One-Sided").two_sided = False
        if kind == "SOM":
            column.label(text="Sound that passes through:")
            row = column.row(align=True)
            for share in (0.0, 0.05, 0.6, 1.0):
                row.operator("motionbridge.level_occlusion", text=f"{share:g}").occlusion = share
        if kind in ("HOM", "SOM"):
            column.operator("motionbridge.level_colours", icon="FILE_REFRESH").shown_by = "SAME"
        if kind == "CFORM":
            # Blender's own; a level's collision is drawn as wire at first, since it coincides with surfaces.
            self.layout.prop(context.active_object, "display_type", text="Display As")
            column.operator("motionbridge.level_collision", icon="MATERIAL")
            draw_active_face(self.layout, context.active_object.data)


def _imported(context: Context) -> Any:
    """Return what stores the level file of the active object, if it was imported and can be exported."""
    holder = holder_of(context.view_layer.objects.active)
    exported = holder is not None and holder.motionbridge_level.kind in level_geometry.SUFFIX_OF
    return holder if exported and holder.motionbridge_level.path else None


class MOTIONBRIDGE_OT_level_save_back(ModelSaveBack, BlenderOperator):
    """Write the active level object to its source file, after a preview of the changes, with a backup"""

    bl_idname = "motionbridge.level_save_back"
    bl_label = "Save Level File Back"
    needs = (Need("The active object was not imported from a level file", _imported),)
    stored_in, recipe = "motionbridge_level", level_geometry

    def notes(self, plan: "FilePlan") -> list[str]:
        """Return the names of the other files that are written."""
        names = ", ".join(Path(file_plan.path).name for file_plan in plan.plans if file_plan.path != plan.path)
        return [iface_("Also written: {}").format(names)] if names else []


CLASSES = classes_of(__name__)
