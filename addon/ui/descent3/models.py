"""Models (.oof), archives and textures (.ogf, .oaf): import, export and Save Back."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, StringProperty

from ...blender.typed import Context, Object
from ...core.errors import ReadError, WriteError
from ...core.report import Report, joined, say
from ...games import plan as plans
from ...games.descent3 import hierarchy, kinds, model, model_export, rotors, textures
from ...games.descent3.model_properties import holder_of
from ...games.descent3.options import ModelExportOptions, ModelImportOptions
from .. import layouts
from ..bases import (
    CALL,
    BlenderList,
    BlenderOperator,
    ExportHelper,
    ImportHelper,
    MixedIn,
    classes_of,
    file_sentence,
    iface_,
    options_from,
    path_search,
    properties_from,
    rpt_,
    tell,
)
from ..files import (
    FileExport,
    ModelFileImport,
    source_collection,
)
from ..images import ImageExport, ImageImport
from ..layouts import FoldedOptions, TickedChoice, TickedRows, draw_folded, fields, name_filter
from ..operation import Need, Outcome, call_operator
from ..playing import TICKS_PER_SECOND
from ..preferences import known_games
from ..saving import ModelSaveBack
from ..target import has_mesh, objects_of

if TYPE_CHECKING:
    from ...games.plan import FilePlan

ModelImportProperties: Any = properties_from(ModelImportOptions)
ModelExportProperties: Any = properties_from(ModelExportOptions)
AS_ITEMS = (
    ("OBJECTS", "Objects", "Create one object per sub-object, parented like the sub-objects"),
    ("BONES", "Armature", "Create an armature with one bone per sub-object and parent each sub-object to its bone"),
)
KEY_ITEMS = (
    ("EVERY", "Every Tick", "Playback is the same as in the game"),
    ("FEW", "As in the File", "Keys of the file, and more where needed to stay within 0.05° of the game"),
)
IN_VIEW = ("shown_as", "textures", "animation", "new_collection")
FURTHER = ("readable_bones", "points", "animated_textures", "keys", "rotors", "match_scene")
OPTIONS = (*IN_VIEW, "show_options", *FURTHER)
"""Options of the import's dialog: those in view, and those that are folded."""


class BesideModel(MixedIn):
    """Mixin for operators with file browsers: these open beside the file of the model in the scene."""

    def project_folder(self, context: Context) -> str:
        """Return the folder of the active model's file, else of the first one that has a file."""
        holders = (holder_of(context.view_layer.objects.active), *context.scene.objects)
        paths = (holder.motionbridge_descent_model.path for holder in holders if holder is not None)
        path = Path(bpy.path.abspath(next(filter(None, paths), "")))
        return str(path.parent.parent if model_export.is_in_archive(str(path)) else path.parent) if path.name else ""


class ListedModel(bpy.types.PropertyGroup):
    """A model in an archive that can be imported; ``name`` is the model's name."""

    file: StringProperty()
    bytes: IntProperty(options={"HIDDEN"})
    ticked: BoolProperty(name="Import Model", description="Import this model", default=False)


class MOTIONBRIDGE_UL_listed_models(TickedRows, BlenderList):
    """Models in the chosen archives, with a check box each."""

    def size(self, item: Any) -> str:
        return iface_("{} kB").format(max(item.bytes // 1024, 1))


class IMPORT_SCENE_OT_descent3_oof(
    ModelImportProperties, BesideModel, FoldedOptions, TickedChoice, ModelFileImport, ImportHelper, BlenderOperator
):
    """Import models of Descent 3: sub-objects, textures, gun, attach and ground points, weapon batteries"""

    bl_idname = "import_scene.descent3_oof"
    bl_label = "Import Descent 3 Model"

    filename_ext = ".oof"
    filter_glob: StringProperty(default=f"{kinds.MODELS.glob};{kinds.ARCHIVES.glob}", options={"HIDDEN"})
    models: StringProperty(
        name="Models",
        description="Names of the models to import from archives, separated by semicolons; * for all",
        options={"SKIP_SAVE", "SKIP_PRESET", "HIDDEN"},
    )
    shown_as: EnumProperty(
        name="Import As", description="What to create from the sub-objects", items=AS_ITEMS, default="OBJECTS"
    )
    animated_textures: StringProperty(
        name="Animation Folder",
        description=(
            "Folder for the frames of animated textures, written as numbered files to play them at one per "
            "frame; if empty, one frame of each is shown"
        ),
        search=path_search(),
        search_options={"SUGGESTION"},
    )
    keys: EnumProperty(name="Keys", description="Which frames get keyframes", items=KEY_ITEMS, default="EVERY")
    match_scene: BoolProperty(
        name="Match Scene",
        description="Set the scene to 30 frames per second and to the ticks of the first animated model",
        default=False,
    )
    listed: CollectionProperty(type=ListedModel, options={"SKIP_SAVE", "SKIP_PRESET", "HIDDEN"})
    name_filter: StringProperty(
        name="Filter",
        description="Show models whose names contain this text; * and ? match any letters",
        options={"SKIP_SAVE", "SKIP_PRESET", "TEXTEDIT_UPDATE"},
    )

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Open the file browser; for dropped files a dialog with the options, for archives the list of their models."""
        self.invoked_by_user(from_browser=not self.paths())
        if self.at_once:
            return self.execute(context)
        if self._archives() and not bpy.app.background:
            return self.answer(context, self._list)
        return self.invoke_popup(context)

    def execute(self, context: Context) -> Any:
        """Import the models; archives chosen in the file browser are listed first."""
        listed_first = self.invoked and not bpy.app.background
        if listed_first and self._archives() and not self.models and not len(self.listed):
            names = [{"name": entry.name} for entry in self.files if entry.name]
            options = {name: getattr(self, name) for name in OPTIONS}
            importer = CALL.import_scene.descent3_oof
            call_operator(self, importer, filepath=self.filepath, directory=self.directory, files=names, **options)
            return {"CANCELLED"}
        answer: Any = super().execute(context)
        if answer == {"CANCELLED"} and len(self.listed) and not bpy.app.background:
            self._open_again(context)
        return answer

    def _open_again(self, context: Context) -> None:
        """Open the list again, with its check boxes and options, as soon as this dialog is gone: an error closes it."""
        rows = [{name: getattr(row, name) for name in ("name", "file", "bytes", "ticked")} for row in self.listed]
        chosen: dict[str, Any] = {name: getattr(self, name) for name in (*OPTIONS, "name_filter", "regular")}
        chosen |= {"filepath": self.filepath, "directory": self.directory, "active_listed": self.active_listed}
        names = [{"name": entry.name} for entry in self.files if entry.name]
        override = {"window": context.window, "area": context.area, "region": context.region}

        def open_list() -> None:
            now: Any = bpy.context  # the stubs of 5.2 lack temp_override as a context manager
            with now.temp_override(**override):
                CALL.import_scene.descent3_oof("INVOKE_DEFAULT", listed=rows, files=names, **chosen)

        bpy.app.timers.register(open_list, first_interval=0.0)

    def _archives(self) -> list[str]:
        return [path for path in self.paths() if is_archive(path)]

    def _list(self, context: Context, report: Report) -> None:
        paths = self._archives()
        if not len(self.listed):  # otherwise `_open_again` has filled it
            self._fill_list(paths, report)
        context.window_manager.invoke_props_dialog(
            self, width=460, title=Path(paths[0]).name, confirm_text=iface_("Import Models")
        )

    def _fill_list(self, paths: list[str], report: Report) -> None:
        def list_one(path: str, report: Report) -> None:
            for name, size in self._models_of(path, report):
                row = self.listed.add()
                row.name, row.file, row.bytes = name, path, size

        self.each_file(paths, list_one, report)
        for row in self.listed:
            row.ticked = len(self.listed) == 1

    def _models_of(self, path: str, report: Report) -> list[tuple[str, int]]:
        models = model.models_in(path, report)
        if not models:
            raise ReadError("there are no models in this archive", file=path, remedy="Choose another archive")
        return models

    def draw(self, _context: Context) -> None:
        layout = self.layout
        if len(self.listed):
            layouts.draw_ticks(layout, self, "MOTIONBRIDGE_UL_listed_models", iface_("Models: {} of {}"))
            highlighted = [row.name for row in self._selected_rows() if not row.ticked]
            for name in highlighted:
                text = iface_("No model is ticked: the highlighted one is imported, {}").format(name)
                layout.label(text=text, icon="INFO", translate=False)
        column = fields(layout.column())
        for name in IN_VIEW:
            column.prop(self, name)
        if (further := draw_folded(layout, self, "show_options")) is None:
            return
        needed = {
            "keys": self.animation,
            "animated_textures": self.textures,
            "readable_bones": self.shown_as == "BONES",
        }
        for name in FURTHER:
            row = further.row()
            row.active = needed.get(name, True)
            row.prop(self, name)

    def run(self, context: Context, report: Report) -> Outcome:
        paths = self.chosen_files("Choose at least one model (.oof, .pof) or archive (.hog, .mn3)")
        paths = self._model_files(paths, report)
        for row in self._selected_rows():
            if not row.ticked:
                report.note("no model was ticked: the highlighted one is imported", row.name)
        models = self.import_each(
            context, paths, lambda path, own_report: self._import(context, Path(path), own_report), report
        )
        parts, points = (
            sum(len(imported.parts) for imported in models),
            sum(len(imported.points) for imported in models),
        )
        names = ", ".join(imported.holder.name for imported in models)
        self._match(context, models)
        counted = [say("{:# sub-object|# sub-objects}", parts)]
        moving = sum(imported.moving for imported in models)
        if moving:
            counted.append(say("{} of them animated", moving))
        if points:
            counted.append(say("{:# point|# points}", points))
        if len(models) > 1:
            names = say("{:# model|# models} ({})", len(models), names)
        return Outcome(tell(say("Imported {}: {}", names, joined(counted)), rpt_))

    def _match(self, context: Context, models: "list[model.ImportedModel]") -> None:
        moving = next((imported_model for imported_model in models if imported_model.moving), None)
        if not self.match_scene or moving is None:
            return
        scene = context.scene
        scene.render.fps, scene.render.fps_base = TICKS_PER_SECOND, 1.0
        # The first possible start frame of a Blender scene is 0.
        scene.frame_start, scene.frame_end = max(moving.ticks[0], 0), max(moving.ticks[1], 1)
        for imported in models:
            rotors.show(context, imported.holder)

    def _model_files(self, paths: list[str], report: Report) -> list[str]:
        """Return the path of each model to import; from archives the selected or named ones. Raises `ReadError`."""
        result: list[str] = []
        wanted = {name.strip().lower() for name in self.models.split(";") if name.strip()}

        def list_one(path: str, file_report: Report) -> None:
            if is_archive(path):
                names = self._chosen(path, [name for name, _ in self._models_of(path, file_report)], wanted)
                result.extend(str(Path(path) / name) for name in names)
            else:
                result.append(path)

        self.each_file(paths, list_one, report)
        if not result:
            raise ReadError("no model is chosen", file=paths[0], remedy="Tick at least one model in the list")
        return list(dict.fromkeys(result))

    def _chosen(self, path: str, names: list[str], wanted: set[str]) -> list[str]:
        if len(self.listed):
            ticked = {row.name for row in self._selected_rows() if row.file == path}
            return [name for name in names if name in ticked]
        if wanted == {"*"} or (not wanted and len(names) == 1):
            return names
        missing = sorted(wanted.difference(*({name.lower(), Path(name).stem.lower()} for name in names)))
        if missing or not wanted:
            problem = (
                say("there is no model named {!r}", missing[0]) if missing else say("models in it: {}", len(names))
            )
            raise ReadError(problem, file=path, remedy=say("Name the models to import, such as {}", names[0]))
        return [name for name in names if {name.lower(), Path(name).stem.lower()} & wanted]

    def _selected_rows(self) -> list[ListedModel]:
        """Return the chosen rows of the list; if none is ticked, the active row, if the filter shows it."""
        if any(row.ticked for row in self.listed):
            return layouts.chosen_rows(self)
        fits = name_filter(self.name_filter, self.regular)
        return [row for row in self.listed[self.active_listed : self.active_listed + 1] if fits(row.name)]

    def _import(self, context: Context, path: Path, report: Report) -> "model.ImportedModel":
        options = options_from(
            self,
            ModelImportOptions,
            bones=self.shown_as == "BONES",
            few_keys=self.keys == "FEW",
            games=known_games(context, "DESCENT3"),
            animated=Path(bpy.path.abspath(self.animated_textures)) if self.animated_textures else None,
            collection=self.own_collection(path.name),
        )
        return model.import_model(context, path, options, report)


def is_archive(path: str) -> bool:
    """Whether a file has the suffix of an archive."""
    return Path(path).suffix.lower() in kinds.ARCHIVES.suffixes


NORMAL_ITEMS = (
    ("GAME", "Game's Normals", "Unedited normals remain unchanged; others are smoothed as by the game's own tools"),
    ("SHOWN", "Blender's Normals", "The normals that Blender shows; vertices are split at sharp edges"),
)


class EXPORT_SCENE_OT_descent3_oof(ModelExportProperties, BesideModel, FileExport, ExportHelper, BlenderOperator):
    """Export an imported Descent 3 model, whose unedited parts keep their bytes, or selected meshes"""

    bl_idname = "export_scene.descent3_oof"
    bl_label = "Export Descent 3 Model"
    needs = (Need("No mesh in the scene", has_mesh),)

    filename_ext = ".oof"
    filter_glob: StringProperty(default=kinds.MODELS.exported_glob, options={"HIDDEN"})
    collection: source_collection("Export the model of this collection, such as one level of detail")
    types = ("MESH",)
    checked = ("normals", "version", "anew")
    is_costly = True
    normals: EnumProperty(
        name="Normals", description="Which vertex normals to export", items=NORMAL_ITEMS, default="GAME"
    )

    def suggest(self, context: Context) -> None:
        """Suggest the imported file; of a new model the one that it was exported to last."""
        holder = holder_of(context.view_layer.objects.active)
        if holder is not None:
            came_from, last = holder.motionbridge_descent_model, plans.last_destination([holder])
            new = last or f"{bpy.path.clean_name(holder.name)}.oof"
            path = Path(bpy.path.abspath(came_from.path) if came_from.path else new)
            inside = model_export.is_in_archive(str(path))  # beside the archive
            self.filepath = str(path.parent.with_name(path.name) if inside else path)

    def written(self, context: Context) -> Collection[Object]:
        chosen = chosen_model(context, self.collection)
        return chosen.objects if chosen.holder is None else (chosen.holder, *chosen.holder.children_recursive)

    def draw(self, context: Context) -> None:
        layout = fields(self.layout)
        layout.prop(self, "modifiers", text=iface_("Apply Modifiers"), translate=False)
        for name in ("normals", "version", "anew"):
            layout.prop(self, name)
        self.draw_last(context)

    def preview(self, context: Context, report: Report) -> "FilePlan":
        chosen, findings = chosen_model(context, self.collection), Report()
        plan = model_export.plan_export(context, chosen, self._options(), findings)
        report.include(Report(findings.warnings))
        return plan

    def _options(self) -> ModelExportOptions:
        return options_from(self, ModelExportOptions, shown_normals=self.normals == "SHOWN", backup=self.backup)

    def run(self, context: Context, report: Report) -> Outcome:
        path = Path(self.named_file(kinds.MODELS))
        if path.suffix.lower() not in kinds.MODELS.exported_suffixes:
            problem = "the game reads models of .oof, not a file without suffix"
            if path.suffix:
                problem = say("the game reads models of .oof, not {}", path.suffix)
            raise WriteError(problem, remedy="Name the file .oof")
        chosen = chosen_model(context, self.collection)
        plan = model_export.export_model(context, chosen, path, self._options(), report)
        if chosen.holder is not None:
            plans.remember_destination([chosen.holder], str(path))
        return Outcome(file_sentence(path, plan))


def chosen_model(context: Context, collection: str = "") -> "hierarchy.Chosen":
    """Return the model to export: of ``collection``, else of the active object.

    Else the selected objects, else the scene's only model. Raises `WriteError`.
    """
    inside = list(objects_of(collection) if collection else context.scene.objects)
    holders = [obj for obj in inside if obj.motionbridge_descent_model.is_model]
    active = holder_of(context.view_layer.objects.active)
    if not collection and active is not None:
        return hierarchy.Chosen(active)
    if collection and not holders:
        return hierarchy.Chosen(None, inside)
    # Long work runs in a thread of its own, where the context has no `selected_objects`.
    chosen = [] if collection else context.view_layer.objects.selected
    selected = [obj for obj in chosen if holder_of(obj) is None]
    if selected:
        below = [child for obj in selected for child in obj.children_recursive]
        return hierarchy.Chosen(None, list(dict.fromkeys([*selected, *below])))
    if len(holders) == 1:
        return hierarchy.Chosen(holders[0])
    problem = say("no model is active, and the scene holds {}", len(holders) or say("none"))
    if collection:
        problem = say("no model is active, and the collection {!r} holds {}", collection, len(holders) or say("none"))
    raise WriteError(
        problem,
        remedy="Keep one model in a collection that exports it" if collection else "Select the objects of one model",
    )


class IMPORT_SCENE_OT_descent3_ogf(BesideModel, ImageImport, ImportHelper, BlenderOperator):
    """Import Descent 3 textures as images; animated textures as one image per frame"""

    bl_idname = "import_scene.descent3_ogf"
    bl_label = "Import Descent 3 Texture"

    filename_ext = ".ogf"
    filter_glob: StringProperty(default=kinds.TEXTURES.glob, options={"HIDDEN"})

    def run(self, context: Context, report: Report) -> Outcome:
        """Import every chosen file."""
        paths = self.chosen_files("Choose at least one texture (.ogf, .oaf)")
        return self.import_images(
            context, paths, lambda path, own_report: textures.import_pictures(Path(path), own_report), report
        )


class EXPORT_SCENE_OT_descent3_ogf(BesideModel, ImageExport, ExportHelper, BlenderOperator):
    """Export an image as a texture of Descent 3; what was not painted on an imported texture keeps its values"""

    bl_idname = "export_scene.descent3_ogf"
    bl_label = "Export Descent 3 Texture"

    filename_ext = ".ogf"
    filter_glob: StringProperty(default=kinds.TEXTURES.exported_glob, options={"HIDDEN"})
    kind_of_file = kinds.TEXTURES

    def planned(self, image: bpy.types.Image, path: str, report: Report) -> "FilePlan":
        return textures.plan_texture(image, path, report)


def _imported(context: Context) -> Any:
    """Return what stores the active object's model if it was imported from a file or an archive."""
    holder = holder_of(context.view_layer.objects.active)
    return holder if holder is not None and holder.motionbridge_descent_model.path else None


class MOTIONBRIDGE_OT_descent_save_back(ModelSaveBack, BlenderOperator):
    """Write the model to its source file, after a preview of the changes, with a backup"""

    bl_idname = "motionbridge.descent_save_back"
    bl_label = "Save Model Back"
    needs = (Need("The active object is not part of an imported model", _imported),)
    stored_in, recipe = "motionbridge_descent_model", model_export

    def notes(self, plan: Any) -> list[str]:
        if plan.archive is None:
            return []
        name = Path(plan.path).name
        return [iface_("1 file of {} changes: {}; the others keep their bytes").format(plan.archive.name, name)]

    def writes_archive(self, context: Context, path: str) -> bool:
        """Return whether a model is written into its archive: those of the games in the preferences are not."""
        folders = [game.folder for game in known_games(context, "DESCENT3")]
        return model_export.is_in_archive(path) and Path(path).parent.parent not in folders

    def sentence(self, plan: Any) -> str:
        """Name the archive and the model in it."""
        name = Path(plan.path).name
        return file_sentence(f"{plan.archive.name}: {name}" if plan.archive is not None else plan.path, plan)


CLASSES = classes_of(__name__)
