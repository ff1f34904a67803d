"""Retarget Motion: motions of other skeletons, from files or from an armature of the scene, as new ones of a game's."""

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from ..blender import action as actions
from ..blender import foreign_motions, scope
from ..blender.typed import Action, Context, Object
from ..core import bone_map, files, names, retarget, space
from ..core.errors import ReadError
from ..core.report import Report, listed, say
from ..games.xray.bones.properties import game_name
from . import playing
from .bases import CALL, BlenderOperator, ImportHelper, classes_of, iface_, path_search, rpt_
from .layouts import fields
from .list_operators import listing_for_new, listing_of
from .operation import Operation, Outcome, call_operator
from .sidebar import is_of_arma
from .target import RIG, active_rig
from .xray.motion_operators import MOTIONS

if TYPE_CHECKING:
    from ..blender.foreign_motions import ForeignMotion
    from ..core.bone_map import Link, Rig
    from .layouts import Listing

SEPARATOR = ";"
SUFFIXES = (".bvh", ".fbx", ".glb", ".gltf")
ROOT_ITEMS = (
    ("KEPT", "Travel", "The body travels as in the source"),
    ("IN_PLACE", "In Place", "The body stays where it is at rest: the game moves it"),
)


class MOTIONBRIDGE_OT_retarget_motion(Operation, BlenderOperator):
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
    bone_map: StringProperty(
        name="Bone Map",
        description="File with the pairs of bones (.json); if empty, they are found by names",
        options={"SKIP_SAVE"},
        search=path_search(".json"),
        search_options={"SUGGESTION"},
    )

    saved_map: StringProperty(
        name="Save Bone Map As",
        description="File (.json) that gets the pairs of bones that were used, to be corrected and named as Bone Map",
        options={"SKIP_SAVE"},
        search=path_search(".json"),
        search_options={"SUGGESTION"},
    )

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The armature that gets the motions."""
        return (active_rig(context),)

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Ask for the source, unless it is named, and the options."""
        self.invoked_by_user()
        return context.window_manager.invoke_props_dialog(self, width=400, confirm_text=iface_("Retarget"))

    def draw(self, context: Context) -> None:
        layout = fields(self.layout)
        layout.prop(self, "filepath")
        if not self.filepath:
            layout.prop_search(self, "armature", context.scene, "objects", icon="ARMATURE_DATA")
            layout.prop(self, "rate")
        for name in ("motions", "root", "feet", "bone_map", "saved_map"):
            layout.prop(self, name)

    def run(self, context: Context, report: Report) -> Outcome:
        rig = active_rig(context)
        sources = read_sources(context, self, report)
        target = foreign_motions.rig_of(rig)
        results = []
        for source in sources:
            links = self._links(source.rig, target, report)
            if self.saved_map:
                write_map(bpy.path.abspath(self.saved_map), source.rig, target, links)
            result = retarget.retarget(
                source.rig, source.poses, target, links, root=retarget.RootMotion[self.root], feet=self.feet
            )
            results.append((source.name, result.poses))
        added = add_motions(context, rig, results, report)
        text = rpt_("{} got motions of another skeleton: {}")
        return Outcome(text.format(rig.name, ", ".join(label_of(rig, action) for action in added)))

    def _links(self, source: "Rig", target: "Rig", report: Report) -> "list[Link]":
        """Return the pairs of bones; reports target bones with a role that have none. Raises `ReadError`."""
        if self.bone_map:
            return read_map(bpy.path.abspath(self.bone_map), source, target)
        of_source, of_target = bone_map.roles_of(source), bone_map.roles_of(target)
        links = bone_map.links_of(source, target, of_source, of_target)
        served = {link.target for link in links}
        without = [target.names[bone] for bones in of_target.parts.values() for bone in bones if bone not in served]
        if without:
            report.note(say("bones without a counterpart keep their rest pose: {}", listed(without)))
        return links


class MOTIONBRIDGE_OT_choose_retarget_file(Operation, ImportHelper, BlenderOperator):
    """Choose a file with motions of another skeleton (.bvh, .fbx, .glb, .gltf) for the active armature"""

    bl_idname = "motionbridge.choose_retarget_file"
    bl_label = "Motion from Another Rig"
    bl_options = {"INTERNAL"}
    needs = (RIG,)

    filter_glob: StringProperty(default=";".join(f"*{suffix}" for suffix in SUFFIXES), options={"HIDDEN"})

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
    listing = listing_for_new(rig)
    file = listing.edits.active(rig) if listing is not None else None
    results = []
    for name, matrices in poses:
        others = listing.edits.members(file) if listing is not None and file is not None else ()
        label = names.distinct(name, {label_of(rig, other) for other in others})
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


def bones_of(rig: Object, listing: "Listing | None", file: Any) -> list[str]:
    """Return the bones of an armature that get keys: those of the motion ``file``, else all."""
    if listing is not MOTIONS or file is None:
        return [bone.name for bone in rig.data.bones]
    in_file = {bone.name.lower() for partition in file.partitions for bone in partition.bones}
    return [bone.name for bone in rig.data.bones if game_name(bone).lower() in in_file]


def root_frame_of(context: Context) -> Any:
    """Return the axes of bones without parent, as in `foreign_motions.build`."""
    return None if is_of_arma(context) else space.XRAY_ROOT_FRAME


def label_of(rig: Object, action: Action) -> str:
    """Return a motion's name in its list, else that of the action."""
    known = listing_of(rig, action)
    return str(known[0].edits.row_of(action).name if known is not None else action.name)


# Bone maps ----------------------------------------------------------------------------------------------------------


def read_map(path: str, source: "Rig", target: "Rig") -> "list[Link]":
    """Return the pairs of a bone map that both skeletons have. Raises `ReadError`."""
    try:
        return bone_map.links_from(json.loads(files.read_file(path))["bones"], source, target)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ReadError("this is not a bone map", file=path, remedy="Save one from Retarget Motion") from None


def write_map(path: str, source: "Rig", target: "Rig", links: "Sequence[Link]") -> None:
    """Write the pairs of bones as a file for `read_map`."""
    text = json.dumps({"bones": bone_map.table_of(links, source, target)}, indent=1, ensure_ascii=False)
    files.write_atomically(path, f"{text}\n".encode())


CLASSES = classes_of(__name__)
