"""Retarget Motion: motions of other skeletons, from files or from an armature of the scene, as new ones of a game's."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, FloatProperty, IntProperty, StringProperty
from mathutils import Vector

from ..blender import action as actions
from ..blender import foreign_motions, motion_preview, scope
from ..blender.action_lists import label_of
from ..blender.control_links import is_control_rig
from ..blender.typed import Action, Context, Object
from ..core import names, retarget, space
from ..core.errors import MotionbridgeError, ReadError
from ..core.report import Report, say
from ..games.xray.bones.properties import game_name
from . import bone_maps, playing
from .bases import CALL, BlenderOperator, ImportHelper, classes_of, iface_, path_search, rpt_, tell
from .bone_maps import BoneMapChoice
from .layouts import TickedChoice, chosen_rows, draw_folded, draw_ticks, fields, paragraph
from .list_operators import listing_for_new
from .operation import Operation, Outcome, call_operator
from .sidebar import is_of_arma
from .target import RIG, active_rig
from .xray.motion_choices import ListedMotion
from .xray.motion_operators import MOTIONS

if TYPE_CHECKING:
    from ..blender.foreign_motions import ForeignMotion
    from ..blender.motion_preview import MotionPreview
    from ..core.bone_map import Rig
    from ..core.retarget import Retargeted
    from .layouts import Listing

SEPARATOR = ";"
SUFFIXES = (".bvh", ".fbx", ".glb", ".gltf")
ROOT_ITEMS = (
    ("KEPT", "Travel", "The body travels as in the source"),
    ("IN_PLACE", "In Place", "The body stays where it is at rest: the game moves it, in Arma by the step"),
)


class MOTIONBRIDGE_OT_retarget_motion(BoneMapChoice, TickedChoice, Operation, BlenderOperator):
    """Add motions of another skeleton (.bvh, .fbx, .glb, or an armature of the scene) to the active armature's list"""

    bl_idname = "motionbridge.retarget_motion"
    bl_label = "Retarget Motion"
    needs = (RIG,)

    filepath: StringProperty(
        name="Source File",
        description="Motion capture or animated character (.bvh, .fbx, .glb, .gltf)",
        options={"SKIP_SAVE"},
        search=path_search(*SUFFIXES),
        search_options={"SUGGESTION"},
    )
    armature: StringProperty(
        name="Source Armature",
        description="Armature of the scene whose motions are added, if no file is named",
        options={"SKIP_SAVE"},
    )
    motions: StringProperty(
        name="Motions",
        description="Names of the source's motions, separated by semicolons; empty for all",
        options={"SKIP_SAVE"},
    )
    rate: FloatProperty(
        name="Source Rate",
        description="Frames of the source armature per second; 0 for those of the scene. Files state their own",
        default=0.0,
        min=0.0,
        options={"SKIP_SAVE"},
    )
    root: EnumProperty(
        name="Root Motion", description="What becomes of the travel of the body", items=ROOT_ITEMS, default="KEPT"
    )
    feet: BoolProperty(
        name="Hold Feet and Hands",
        description=(
            "Keep feet in place where they stand in the source, and hands together that touch; the body is lowered "
            "where a leg is too short"
        ),
        default=True,
    )
    keep_source: BoolProperty(
        name="Keep Source",
        description="Keep the armature of the source file in the scene, with its motions",
        default=False,
    )
    frame: IntProperty(
        name="Show Frame", description="Frame that the viewport shows while this dialog is open", options={"SKIP_SAVE"}
    )
    show_bones: BoolProperty(name="Bones", description="Show which bone follows which", options={"SKIP_SAVE"})
    listed: CollectionProperty(type=ListedMotion, options={"SKIP_SAVE", "HIDDEN"})
    name_filter: StringProperty(
        name="Filter",
        description="Show motions whose names contain this text; * and ? match any letters",
        options={"SKIP_SAVE", "TEXTEDIT_UPDATE"},
    )
    if TYPE_CHECKING:  # as in `LongWork`
        _preview: MotionPreview | None = None
        _sources: Sequence[ForeignMotion] = ()
        _target: Rig | None = None
        _read: Report | None = None
        _source_read: tuple[Any, ...] | None = None
        _map_listed: tuple[Any, ...] | None = None
        _shown: Any = None
        _refusal: MotionbridgeError | None = None
    else:
        _preview = _target = _read = _source_read = _map_listed = _shown = _refusal = None
        _sources = ()

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The armature that gets the motions."""
        return (active_rig(context),)

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Open the dialog; the armature shows the first motion of the source. If none is named, it is chosen first."""
        if bpy.app.background:
            return self.execute(context)
        if not self.filepath and not self.armature:
            call_operator(self, CALL.motionbridge.choose_retarget_file)
            return {"CANCELLED"}
        return self.answer(context, self._ask)

    def _ask(self, context: Context, _report: Report) -> None:
        self._read_source(context)
        self._preview = motion_preview.MotionPreview(context, active_rig(context))
        self.check(context)
        self.frame = self._preview.frames[0]
        context.scene.frame_set(self.frame)
        context.window_manager.invoke_props_dialog(self, width=460, confirm_text=iface_("Retarget"))

    def check(self, context: Context) -> bool:
        """Show the motion with the fields of the dialog in the viewport; nothing where the operator is repeated."""
        if self._preview is None:
            return False
        self._refusal = None
        try:
            self._update(context, self._preview)
        except MotionbridgeError as refusal:
            self._refusal = refusal
        first, last = self._preview.frames
        self.frame = min(max(self.frame, first), last)
        if self.frame != context.scene.frame_current:
            context.scene.frame_set(self.frame)
        return True

    def _update(self, context: Context, preview: "MotionPreview") -> None:
        """Show the motion of the active row, if a field has changed that matters. Raises `MotionbridgeError`."""
        self._read_source(context)
        source = self._sources[min(self.active_listed, len(self._sources) - 1)]
        if (chosen := (id(source.rig), self.bone_map)) != self._map_listed:
            self._map_listed = chosen
            self.list_bones(source.rig, self._target_rig(context))
        rows = [(row.source, row.role) for row in self.linked_bones]
        fields_now = source.name, self.root, self.feet, rows
        if fields_now != self._shown:
            self._shown = fields_now
            rig = active_rig(context)
            listing, file = list_of(rig)
            bones, root_frame = bones_of(rig, listing, file), root_frame_of(context)
            preview.show(self._retargeted(context, source).poses, bones, root_frame)

    def _read_source(self, context: Context) -> None:
        """Read the motions of the source and list them, unless that was done. Raises `MotionbridgeError`."""
        wanted = self.filepath, self.armature, self.rate, self.motions
        if wanted != self._source_read:
            self._read = Report()
            self._sources, self._source_read = read_sources(context, self, self._read), wanted
            self.listed.clear()
            for source in self._sources:
                row = self.listed.add()
                row.name, row.frames = source.name, len(source.poses)

    def _target_rig(self, context: Context) -> "Rig":
        if self._target is None:
            self._target = foreign_motions.rig_of(active_rig(context))
        return self._target

    def _retargeted(self, context: Context, source: "ForeignMotion") -> "Retargeted":
        target = self._target_rig(context)
        root = retarget.RootMotion[self.root]
        links = self.links(source.rig, target)
        return retarget.retarget(source.rig, source.poses, target, links, root=root, feet=self.feet)

    def draw(self, context: Context) -> None:
        layout = fields(self.layout)
        if self.filepath:
            layout.label(text=Path(self.filepath).name, icon="FILE", translate=False)
        else:
            layout.prop_search(self, "armature", context.scene, "objects", icon="ARMATURE_DATA")
            layout.prop(self, "rate")
        if len(self.listed) > 1:
            draw_ticks(self.layout, self, "MOTIONBRIDGE_UL_listed_motions", iface_("Motions: {} of {}"), rows=4)
        for name in ("root", "feet", *(["keep_source"] if self.filepath else [])):
            layout.prop(self, name)
        if self._preview is None or not self._sources:
            return
        layout.prop(self, "frame")
        if self._refusal is not None:
            paragraph(layout, tell(self._refusal.sentence()), bone_maps.LINE, icon="ERROR")
        if (further := draw_folded(self.layout, self, "show_bones")) is not None:
            source = self._sources[min(self.active_listed, len(self._sources) - 1)]
            self.draw_bones(further, source.rig, self._target_rig(context))

    def cancel(self, context: Context) -> None:
        """Give back what was shown; called by Blender when the dialog is left without a confirmation."""
        self._close()
        super().cancel(context)

    def _close(self) -> None:
        if self._preview is not None:
            self._preview.close()
            self._preview = None

    def run(self, context: Context, report: Report) -> Outcome:
        """Add the motions; those that were read for the dialog are not read again, also when this is repeated."""
        self._close()
        rig, target = active_rig(context), self._target_rig(context)
        self._read_source(context)
        if self._read is not None:
            report.include(self._read)
        ticked = [row.name for row in chosen_rows(self)]
        sources = [source for source in self._sources if source.name in ticked]
        if not sources:
            raise ReadError("no motion is chosen", remedy="Tick at least one motion in the list")
        first = sources[0].rig
        links = self.links(first, target)
        for line in bone_maps.left_over(links, first, target):
            if line is not None:
                report.note(line)
        if self.saved_map:
            bone_maps.write_map(self.saved_map, first, target, links)
        results = [(source.name, self._retargeted(context, source)) for source in sources]
        added = add_motions(context, rig, [(name, result.poses) for name, result in results], report)
        if self.root == "IN_PLACE" and is_of_arma(context):
            for action, (_, result) in zip(added, results, strict=True):
                set_step(rig, action, result.travel.tolist())
        if self.keep_source and self.filepath:
            foreign_motions.keep_source(context, bpy.path.abspath(self.filepath), report)
        text = rpt_("{} got motions of another skeleton: {}")
        return Outcome(text.format(rig.name, ", ".join(label_of(action) for action in added)))


class MOTIONBRIDGE_OT_choose_retarget_file(Operation, ImportHelper, BlenderOperator):
    """Add motions of the other selected armature, or of a file (.bvh, .fbx, .glb, .gltf), to the active armature"""

    bl_idname = "motionbridge.choose_retarget_file"
    bl_label = "Motion from Another Rig"
    bl_options = {"INTERNAL"}
    needs = (RIG,)

    filter_glob: StringProperty(default=";".join(f"*{suffix}" for suffix in SUFFIXES), options={"HIDDEN"})

    def invoke(self, context: Context, event: bpy.types.Event) -> Any:
        """Open the file browser, unless the armature to take is selected."""
        others = [obj for obj in context.selected_objects if obj.type == "ARMATURE" and obj != active_rig(context)]
        others = [obj for obj in others if not is_control_rig(obj)]
        if len(others) == 1:
            started = call_operator(self, CALL.motionbridge.retarget_motion, armature=others[0].name)
            return {"FINISHED"} if started else {"CANCELLED"}
        return super().invoke(context, event)

    def execute(self, _context: Context) -> set[str]:
        started = call_operator(self, CALL.motionbridge.retarget_motion, filepath=self.filepath)
        return {"FINISHED"} if started else {"CANCELLED"}


def read_sources(context: Context, operator: Any, report: Report) -> "list[ForeignMotion]":
    """Return the motions that an operator's properties name. Raises `ReadError`."""
    chosen = [name for name in operator.motions.split(SEPARATOR) if name]
    if operator.filepath:
        path = bpy.path.abspath(operator.filepath)
        return foreign_motions.read_file_motions(context, path, report, chosen)
    source: Any = context.scene.objects.get(operator.armature)
    if source is None or source.type != "ARMATURE":
        raise ReadError(
            say("there is no armature {!r}", operator.armature) if operator.armature else "no source is named",
            remedy="Choose a file or an armature of the scene",
        )
    if source == active_rig(context):
        raise ReadError(
            say("{!r} is both source and target", source.name), remedy="Make the armature active that gets the motions"
        )
    own = foreign_motions.actions_of_armature(source)
    if chosen:
        data: Any = bpy.data.actions
        own = [data[name] for name in chosen if name in data]
    if not own:
        raise ReadError(say("{!r} plays no action", source.name), remedy="Choose one in the Action Editor")
    rate = operator.rate or scope.frames_per_second(context.scene)
    return foreign_motions.read_armature_motions(context, source, own, rate, report)


# Results ------------------------------------------------------------------------------------------------------------


def add_motions(context: Context, rig: Object, poses: "Sequence[tuple[str, Any]]", report: Report) -> list[Action]:
    """Add poses (frames, bones, 4, 4), each with a name, as new motions to the list of an armature, and play the first;
    without a list they are only actions.
    """
    listing, file = list_of(rig)
    results = []
    for name, matrices in poses:
        others = listing.edits.members(file) if listing is not None and file is not None else ()
        label = names.distinct(name, {label_of(other) for other in others})
        action = foreign_motions.build(rig, label, matrices, bones_of(rig, listing, file), root_frame_of(context))
        if listing is not None and file is not None:
            action = listing.edits.add(file, action)
        action.use_fake_user = True
        results.append(action)
    if listing is None or file is None:
        actions.play(context, rig, results[0])
        first, last = results[0].frame_range
        playing.start(context, (round(first), round(last)))
        return results
    if limit := listing.edits.limit(file):
        report.warn(limit, file.name)
    listing.play(rig, results[0])
    return results


def set_step(rig: Object, action: Action, travel: "Sequence[float]") -> None:
    """Let the game of Arma move the model by what was taken out: ``travel`` (3,) in world axes, without its height."""
    level = Vector((*travel[:2], 0.0))
    action.motionbridge_animation.step = rig.matrix_world.to_quaternion().inverted() @ level


def list_of(rig: Object) -> "tuple[Listing | None, Any]":
    """Return the list that gets new motions of an armature, and the file in it; None without."""
    listing = listing_for_new(rig)
    return listing, listing.edits.active(rig) if listing is not None else None


def bones_of(rig: Object, listing: "Listing | None", file: Any) -> list[str]:
    """Return the bones of an armature that get keys: those of the motion ``file``, else all."""
    if listing is not MOTIONS or file is None:
        return [bone.name for bone in rig.data.bones]
    in_file = {bone.name.lower() for partition in file.partitions for bone in partition.bones}
    return [bone.name for bone in rig.data.bones if game_name(bone).lower() in in_file]


def root_frame_of(context: Context) -> Any:
    """Return the axes of bones without parent, as in `foreign_motions.build`."""
    return None if is_of_arma(context) else space.XRAY_ROOT_FRAME


CLASSES = classes_of(__name__)
