"""Files of Arma: import and export of animations (.rtm), import of models (.p3d), and the panel of a model."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, FloatProperty, StringProperty

from ...blender import nla, scope
from ...blender.typed import Context, Object
from ...core import files
from ...core.errors import ReadError
from ...core.report import Report, listed
from ...formats.arma import skeletons
from ...games.arma import animation_export, animation_import, kinds, model_import
from ...games.arma.options import AnimationExportOptions, AnimationImportOptions, ModelImportOptions
from .. import playing
from ..bases import (
    CALL,
    BlenderOperator,
    ExportHelper,
    ImportHelper,
    MixedIn,
    classes_of,
    file_sentence,
    options_from,
    path_search,
    properties_from,
    rpt_,
    tell,
)
from ..bones import HiddenKeysChoice
from ..files import ArmatureExport, FileImport, ModelFileImport, doubts_of, draw_doubts
from ..layouts import FoldedOptions, draw_folded, fields
from ..operation import Outcome, call_operator
from ..preferences import known_games
from ..sidebar import MotionbridgePanel
from ..target import active_rig, rig_to_export

if TYPE_CHECKING:
    from ...games.arma.animation_import import ImportedAnimation
    from ...games.arma.model_import import ImportedModel

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
    """Mixin for operators that read or write files for an armature: how bone names of both are matched."""

    bone_names: EnumProperty(
        name="Bone Names",
        description="How bone names of the file are matched to bone names of the armature",
        items=NAMINGS,
        default="AS_THEY_ARE",
    )
    bone_table: StringProperty(
        name="Table",
        description='A JSON file: {"bones": {"name in the file": "name in the armature"}}',
        search=path_search(".json"),
        search_options={"SUGGESTION"},
    )

    def draw_bone_names(self, layout: bpy.types.UILayout) -> None:
        """Draw the option, and the path of the table if one is needed."""
        layout.prop(self, "bone_names")
        if self.bone_names == "TABLE":
            layout.prop(self, "bone_table")

    def table(self) -> "skeletons.BoneTable":
        """Return the table of bone names. Raises `ReadError`."""
        if self.bone_names == "AS_THEY_ARE":
            return skeletons.BoneTable()
        if self.bone_names == "TABLE":
            if not self.bone_table:
                raise ReadError(
                    "no table of bone names is set",
                    remedy="Choose a JSON file, or another setting of Bone Names",
                )
            return skeletons.read_table_file(bpy.path.abspath(self.bone_table))
        shipped = skeletons.flashpoint_to_arma()
        return shipped if self.bone_names == "FLASHPOINT_ON_ARMA" else shipped.reversed()


SKELETON_FILES = ("config", "pivots_model")


class SkeletonFilesChoice(MixedIn):
    """Mixin for operators with `config` and optionally `pivots_model`, listed before the class that opens a dialog."""

    def invoke(self, context: Context, event: bpy.types.Event) -> Any:
        """Set the files stored in the scene, then open the dialog."""
        chosen = context.scene.motionbridge_skeleton_files
        for name in SKELETON_FILES:
            if getattr(self, name, None) is not None and getattr(chosen, name):
                setattr(self, name, getattr(chosen, name))
        return super().invoke(context, event)


class SkeletonFilesPanel(MotionbridgePanel):
    """Skeleton files of the scene, in a panel below one of Arma's."""

    bl_label = "Arma Skeleton Files"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = fields(self.layout.column())
        for name in SKELETON_FILES:
            column.prop(context.scene.motionbridge_skeleton_files, name)


AnimationImportProperties: Any = properties_from(AnimationImportOptions)
AnimationExportProperties: Any = properties_from(AnimationExportOptions)

TARGETS = (
    ("AUTOMATIC", "Automatic", "The active armature if it has bones of the animation, otherwise a new armature"),
    ("ACTIVE", "Active Armature", "Bones are matched by name; upper and lower case are the same"),
    (
        "NEW",
        "New Armature",
        "Create an armature for the animation; further files with matching bones are imported onto it",
    ),
)
TIMINGS = (
    ("KEYS", "One Frame per Key", "One frame per key of the file"),
    (
        "SECONDS",
        "By Phase",
        "Frames follow the phases of the keys, in a cycle of the given seconds at the scene's frame rate",
    ),
)


@lru_cache(maxsize=64)
def _bones_in(path: str, _changed: int) -> list[str]:
    """Return the bones of an animation file; none if it cannot be read, which the import reports."""
    try:
        return animation_import.read_animation(path, Report()).document.bones
    except ReadError:
        return []


class IMPORT_SCENE_OT_arma_rtm(
    AnimationImportProperties,
    FoldedOptions,
    BoneNamesChoice,
    SkeletonFilesChoice,
    FileImport,
    ImportHelper,
    BlenderOperator,
):
    """Import animations of Arma and Operation Flashpoint (.rtm, plain or binarised) as actions"""

    bl_idname = "import_scene.arma_rtm"
    bl_label = "Import Arma Animation"

    filename_ext = ".rtm"
    filter_glob: StringProperty(default=kinds.ANIMATIONS.glob, options={"HIDDEN"})
    target: EnumProperty(
        name="Import Onto", description="Which armature plays the animation", items=TARGETS, default="AUTOMATIC"
    )
    _in_browser = False
    timing: EnumProperty(
        name="Timing", description="Which frames the keys are placed on", items=TIMINGS, default="KEYS"
    )
    seconds: FloatProperty(
        name="Seconds",
        description="Duration of a cycle in the game: 1 / speed of its config, or -speed if the speed is negative",
        default=1.0,
        min=0.01,
        soft_max=20.0,
    )

    def draw(self, context: Context) -> None:
        """Draw the options that apply to the other settings."""
        draw_doubts(self.layout, self._doubts(context))
        if paths := [Path(path).name for path in self.paths()]:
            self.layout.label(text=listed(paths, 3), icon="FILE", translate=False)
        fields(self.layout.column()).prop(self, "target")
        layout = draw_folded(self.layout, self, "show_options")
        if layout is None:
            return
        if self.target != "NEW" and active_rig(context) is not None:
            layout.prop(self, "prefix")
            self.draw_bone_names(layout)
        layout.prop(self, "hierarchy")
        if self.hierarchy in {"AUTOMATIC", "CONFIG"}:
            layout.prop(self, "config")
        if self.target != "ACTIVE":
            layout.prop(self, "pivots")
            if self.pivots in {"AUTOMATIC", "MODEL"}:
                layout.prop(self, "pivots_model")
            layout.prop(self, "whole_skeleton")
            layout.prop(self, "readable_bones")
        layout.prop(self, "first_frame")
        layout.prop(self, "timing")
        if self.timing == "SECONDS":
            layout.prop(self, "seconds")
        layout.prop(self, "step")
        layout.prop(self, "fake_user")
        layout.prop(self, "stash")

    def invoke_popup(self, context: Context) -> Any:
        """Note whether the file browser opens, where the chosen files are not known yet."""
        self._in_browser = not self.properties.is_property_set("filepath")
        return super().invoke_popup(context)

    def execute(self, context: Context) -> Any:
        """Import; if files chosen in the file browser are likely to be for another armature, ask first, with the dialog
        of dropped files.
        """
        if self._in_browser and self._doubts(context):
            self._in_browser = False
            names = [{"name": entry.name} for entry in self.files if entry.name]
            options = self.as_keywords(ignore=("files", "filter_glob"))
            call_operator(self, CALL.import_scene.arma_rtm, files=names, **options)
            return {"CANCELLED"}
        return super().execute(context)

    def _doubts(self, context: Context) -> list[str]:
        """Return `doubts_of` the chosen files, if the active armature gets them."""
        rig = active_rig(context)
        if self.target != "ACTIVE" or rig is None:
            return []
        try:
            table = self.table()
        except ReadError:  # the import reports it
            return []
        paths = [path for path in self.paths() if files.is_file(path)]
        bones = {path: _bones_in(path, Path(path).stat().st_mtime_ns) for path in paths}
        return doubts_of(
            {path: animation_import.bones_in_armature(rig, names, self.prefix, table) for path, names in bones.items()}
        )

    def _options(self, context: Context, *, assign: bool) -> AnimationImportOptions:
        seconds, games = self.seconds if self.timing == "SECONDS" else None, known_games(context, "ARMA")
        return options_from(
            self, AnimationImportOptions, table=self.table(), seconds=seconds, assign=assign, games=games
        )

    def run(self, context: Context, report: Report) -> Outcome:
        """Import every file and play the first animation of each armature."""
        chosen = self.chosen_files("Choose at least one animation (.rtm)")
        rig = active_rig(context) if self.target != "NEW" else None
        if rig is None and self.target == "ACTIVE":
            raise ReadError("no armature is active", remedy="Select the armature to animate, or choose a new one")
        animations: list[ImportedAnimation] = []
        rigs = [rig] if rig is not None else []
        with scope.object_mode(context), scope.progress(context, len(chosen)) as step:

            def import_one(file: str, report: Report) -> None:
                animations.append(self._import(context, file, rigs, {done.rig for done in animations}, report))
                if animations[-1].rig not in rigs:
                    rigs.append(animations[-1].rig)
                step(len(animations))

            self.each_file(chosen, import_one, report)
        if animations[0].rig is not rig:
            scope.make_current(context, [animations[0].rig], animations[0].rig)
        return Outcome(
            f"{rpt_('Imported animations: {}').format(len(animations))}; "
            f"{playing.state_of(context, animations[0].action.name)}"
        )

    def _import(
        self, context: Context, file: str, rigs: list[Object], moving: set[Object], report: Report
    ) -> "ImportedAnimation":
        """Import onto the first of ``rigs`` that has the animation's bones, else onto a new armature.

        ``moving``: armatures that already play an imported animation.
        """
        if self.target == "ACTIVE":
            options = self._options(context, assign=rigs[0] not in moving)
            return animation_import.import_animation(context, rigs[0], file, options=options, report=report)
        animation = animation_import.read_animation(file, report)
        bones, table = animation.document.bones, self.table()
        counts = ((rig, animation_import.bones_in_armature(rig, bones, self.prefix, table)) for rig in rigs)
        fitting = next((rig for rig, count in counts if not count.are_few), None)
        options = self._options(context, assign=fitting not in moving)
        return animation_import.import_animation(context, fitting, animation, options=options, report=report)


class EXPORT_SCENE_OT_arma_rtm(
    AnimationExportProperties,
    FoldedOptions,
    BoneNamesChoice,
    HiddenKeysChoice,
    SkeletonFilesChoice,
    ArmatureExport,
    ExportHelper,
    BlenderOperator,
):
    """Export the active armature's animation for Arma and Operation Flashpoint (.rtm)"""

    bl_idname = "export_scene.arma_rtm"
    bl_label = "Export Arma Animation"

    filename_ext = ".rtm"
    filter_glob: StringProperty(default=kinds.ANIMATIONS.exported_glob, options={"HIDDEN"})
    checked = ("filepath", "names", "config", "prefix", "bone_names", "bone_table", "from_file")

    def preview(self, context: Context, report: Report) -> None:
        """Warn of bones that the game does not know."""
        rig, findings = rig_to_export(context, self.collection), Report()
        options = options_from(self, AnimationExportOptions, table=self.table(), games=known_games(context, "ARMA"))
        animation_export.check_bones(context, rig, self.filepath, options, findings)
        report.include(Report(findings.warnings))

    def suggest(self, context: Context) -> None:
        """Suggest the imported file."""
        rig = active_rig(context)
        action = nla.playing(rig).action if rig is not None else None
        if action is not None:
            came_from = action.motionbridge_animation.path
            self.filepath = bpy.path.abspath(came_from) if came_from else f"{bpy.path.clean_name(action.name)}.rtm"
            self.first, self.last = (round(frame) for frame in action.frame_range)

    def draw(self, context: Context) -> None:
        """Draw the options that apply to the other settings."""
        layout, rig = fields(self.layout.column()), active_rig(context)
        action = nla.playing(rig).action if rig is not None else None
        is_imported = action is not None and action.motionbridge_animation.is_animation
        self.draw_hidden_keys(layout, rig)
        layout.prop(self, "kind")
        if self.kind == "BINARISED":
            layout.prop(self, "config")
        if is_imported:
            layout.prop(self, "from_file")
        elif self.frames == "KEYS":
            layout.prop(self, "tolerance")
        layout.prop(self, "step")
        if self.step == "BONE" and rig is not None:
            layout.prop_search(self, "step_bone", rig.data, "bones")
        if (further := draw_folded(self.layout, self, "show_options")) is not None:
            self._draw_further(further, is_imported=is_imported)
        self.draw_last(context)

    def _draw_further(self, layout: Any, *, is_imported: bool) -> None:
        """Draw the options that few exports need; those of the source file only for an imported animation."""
        layout.prop(self, "frames")
        if self.frames == "RANGE":
            layout.prop(self, "first")
            layout.prop(self, "last")
        if self.frames != "KEYS":
            layout.prop(self, "every")
        if is_imported:
            layout.prop(self, "phases")
        if self.step == "BONE":
            layout.prop(self, "vertical")
        layout.prop(self, "names")
        if self.names == "CONFIG" and self.kind != "BINARISED":
            layout.prop(self, "config")
        layout.prop(self, "prefix")
        self.draw_bone_names(layout)
        layout.prop(self, "own_markers")

    def run(self, context: Context, report: Report) -> Outcome:
        path = self.named_file(kinds.ANIMATIONS)
        options = options_from(self, AnimationExportOptions, table=self.table(), games=known_games(context, "ARMA"))
        rig = rig_to_export(context, self.collection)
        with scope.progress(context, context.scene.frame_end) as step:
            plan = animation_export.plan_export(context, rig, path, options=options, report=report, progress=step)
        plan.write(backup=self.backup)
        if (action := nla.playing(rig).action) is not None:
            plan.settle_exported(action.motionbridge_animation)
        self.restore_hidden_keys(rig, [action])
        return Outcome(file_sentence(path, plan))


# Models ---------------------------------------------------------------------------------------------------------------

RIGS = (
    ("AUTOMATIC", "Automatic", "The active armature if its bones are selections of the model, otherwise none"),
    ("ACTIVE", "Active Armature", "Selections follow the bones of the same name; upper and lower case are the same"),
    (
        "NEW",
        "New Armature",
        (
            "Create an armature from the model.cfg set below or found in the file's folder or above, or from a "
            "built-in skeleton"
        ),
    ),
    ("NONE", "None", "Only the meshes"),
)


ModelImportProperties: Any = properties_from(ModelImportOptions)


class IMPORT_SCENE_OT_arma_p3d(
    ModelImportProperties,
    FoldedOptions,
    BoneNamesChoice,
    SkeletonFilesChoice,
    ModelFileImport,
    ImportHelper,
    BlenderOperator,
):
    """Import models of Arma and Operation Flashpoint (.p3d, MLOD), to edit them or to show animations on them"""

    bl_idname = "import_scene.arma_p3d"
    bl_label = "Import Arma Model"

    filename_ext = ".p3d"
    filter_glob: StringProperty(default=kinds.MODELS.glob, options={"HIDDEN"})
    rig: EnumProperty(
        name="Armature", description="Which armature the meshes are parented to", items=RIGS, default="AUTOMATIC"
    )

    def draw(self, context: Context) -> None:
        """Draw the options that apply to the other settings."""
        layout = fields(self.layout.column())
        layout.column().prop(self, "levels")
        layout.prop(self, "rig")
        if self.rig == "NEW":
            layout.prop(self, "config")
            layout.prop(self, "pivots_model")
        layout.prop(self, "textures")
        if (further := draw_folded(self.layout, self, "show_options")) is None:
            return
        if self.rig == "NEW":
            further.prop(self, "readable_bones")
        elif self.rig != "NONE" and active_rig(context) is not None:
            further.prop(self, "prefix")
            self.draw_bone_names(further)
        for name in ("proxies", "new_collection"):
            further.prop(self, name)

    def run(self, context: Context, report: Report) -> Outcome:
        paths = self.chosen_files("Choose at least one model (.p3d)")
        if not self.levels:
            raise ReadError("no LOD is chosen", remedy="Choose at least one LOD")
        rig = active_rig(context) if self.rig in {"AUTOMATIC", "ACTIVE"} else None
        if rig is None and self.rig == "ACTIVE":
            raise ReadError("no armature is active", remedy="Select the armature to animate, or choose a new one")
        models = self.import_each(
            context, paths, lambda path, own_report: self._import(context, rig, path, own_report), report
        )
        return Outcome(tell(model_import.sentence_of(models), rpt_))

    def _import(self, context: Context, rig: Object | None, path: str, report: Report) -> "ImportedModel":
        document = model_import.read_model(path, report)
        if (
            self.rig == "AUTOMATIC"
            and rig is not None
            and not model_import.fits(rig, document, self.prefix, self.table())
        ):
            rig = None
        options = options_from(
            self,
            ModelImportOptions,
            new_rig=self.rig == "NEW",
            table=self.table(),
            collection=self.own_collection(path),
            games=known_games(context, "ARMA"),
        )
        return model_import.import_model(context, rig, path, options, report, document=document)


CLASSES = classes_of(__name__)
