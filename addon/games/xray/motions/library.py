"""Motions of an armature, of any kind of motion file: list, import, copy, name, export and Save Back.

The game's files (`omf_codec.OMF`) and the editor's (`skl_codec.SKL`) each have a `Codec`; everything else is the same
for both.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeAlias, TypeVar

import bpy

from ....blender import action as actions
from ....blender import action_lists, armature, control_transfer, imported_bones, nla
from ....blender.action_lists import Kind, label_of
from ....blender.armature import Rest, is_turned_or_scaled
from ....blender.bone_curves import bone_of
from ....blender.compat import curves_of
from ....blender.control_links import control_action
from ....blender.imported_bones import BonesInArmature
from ....blender.properties import drop
from ....blender.sampling import Sampler
from ....blender.scope import rows_removed_on_failure
from ....core import files, names
from ....core.errors import ReadError, WriteError
from ....core.report import Report, listed, say
from ....formats.xray.omf.edit import LONGEST_NAME
from ...plan import FilePlan, OtherBase, location_of, remember_saved, saved_here, starts_from_disk
from ..bones.properties import game_name, in_order
from . import files as motion_files
from . import hosts, replaced
from .files import lists_of
from .properties import LISTS, SKL_LISTS, order_of_angles

if TYPE_CHECKING:
    from ....blender.armature import Rest
    from ....blender.typed import Action, Context, Object
    from ..options import MotionExportOptions, MotionImportOptions, SkeletalExportOptions, SkeletalImportOptions
    from .gathering import Gatherer
    from .properties import MotionFile, SkeletalFile


Document = TypeVar("Document")
File = TypeVar("File", "MotionFile", "SkeletalFile")
PlanType = TypeVar("PlanType", bound="Plan[Any]")
HostType = TypeVar("HostType", bound="hosts.Host[Any]")
ImportType = TypeVar("ImportType", "MotionImportOptions", "SkeletalImportOptions")
Samples: TypeAlias = dict[Any, Any]
ExportType = TypeVar("ExportType", "MotionExportOptions", "SkeletalExportOptions")
AnyCodec: TypeAlias = "Codec[Any, Any, Any, Any, Any, Any]"
"""For functions that hand a codec on, or use it alone."""


MOTIONS = "motions"  # for `remember_saved`
_saved: dict[tuple[int, str, str], set[bytes]] = {}
"""`Codec.fingerprints` of the motions saved for a file (its name) of an armature (its ``session_uid``) at a path.

Not stored in the .blend, because an undo there does not undo files on disk.
"""


@dataclass
class Plan(FilePlan, Generic[Document]):
    """A file of motions to write."""

    document: Document
    written: dict[Action, hosts.MotionIdentity] = field(default_factory=dict)
    """The written actions, each with its motion in the planned file."""
    unwritten: dict[Action, hosts.MotionIdentity] = field(default_factory=dict)
    """Actions of the file that are not written, with their motions there."""
    edited: list[Action] = field(default_factory=list)
    """The written actions that differ from the file they are written into, including new ones."""
    theirs: list[Action] = field(default_factory=list)
    """Actions not written because other programs changed their motions on disk, which `settle_saved` restores."""
    shown_keys: dict[Action, str] = field(default_factory=dict)
    """`sampling.Movers.shown_keys` of the written actions."""

    def is_saved(self) -> bool:
        """Return whether the file on disk already equals the plan and no action has to be restored from it."""
        return not self.theirs and super().is_saved()

    def write(self, *, backup: bool = False) -> None:
        """Write the file, unless the bytes on disk are the same: writing them again would replace the backup."""
        if not super().is_saved():
            super().write(backup=backup)


class Opened(NamedTuple, Generic[Document]):
    """A file that was read. ``digest``: SHA-256 of its bytes. ``embedded``: it is a model that contains the motions."""

    path: str
    document: Document
    digest: str
    embedded: bool = False


@dataclass
class MotionImport(Generic[File]):
    """Result of an import. ``file``: stored on the rig. ``missing``: bones of the file that the armature lacks.

    Only for motions of the editor: number of tracks that have the file's curves (``kept_exactly``), and of those with
    curves fitted to them (``fitted``).
    """

    file: File
    actions: list[Action] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    kept_exactly: int = 0
    fitted: int = 0


class Builder(ABC, Generic[File]):
    """Creates the actions of the motions of one file."""

    @abstractmethod
    def __enter__(self) -> Self: ...

    @abstractmethod
    def __exit__(self, *failure: object) -> None: ...

    @abstractmethod
    def build(self, file: File) -> Iterator[tuple[int, Action]]:
        """Yield the index of each chosen motion and its finished action. ``file``: as stored on the rig."""

    @abstractmethod
    def report_results(self, result: MotionImport[File]) -> None:
        """Report anything else the user should know, before the first action is played."""

    def finish(self) -> None:
        """Do the last steps of the import, after which nothing can fail."""


class Codec(ABC, Generic[Document, File, HostType, PlanType, ImportType, ExportType]):
    """A kind of motion file: how it is read, built, stored, gathered and encoded.

    ``lists``: names of the properties for this kind of file on armatures and actions. ``suffix``: of a file of many
    motions, with the dot; ``model_suffix``: of the models that can contain motions.
    """

    lists: Kind
    suffix: str
    model_suffix: str

    def is_model(self, path: str) -> bool:
        """Return whether a file is a model, by its suffix."""
        return path.lower().endswith(self.model_suffix)

    def read(self, path: str, report: Report) -> Opened[Document]:
        """Read a motion file, or the motions inside a model. Raises `ReadError`."""
        data = files.read_file(path)
        digest = hashlib.sha256(data).hexdigest()
        if not self.is_model(path):
            return Opened(path, self.read_document(data, path, report), digest)
        inside = self.read_inside(data, path, report)
        if inside is None or not self.motions(inside):
            raise ReadError(
                "this model has no motions inside",
                file=path,
                remedy="Import the motion files its references name",
            )
        return Opened(path, inside, digest, embedded=True)

    @abstractmethod
    def read_document(self, data: bytes, path: str, report: Report) -> Document:
        """Read a file of motions. Raises `ReadError`."""

    @abstractmethod
    def read_inside(self, data: bytes, path: str, report: Report) -> Document | None:
        """Read the motions inside a model, None if it has none. Raises `ReadError`."""

    @abstractmethod
    def motions(self, document: Document) -> list[tuple[str, int]]:
        """Return the name and the number of frames of each motion of a document."""

    @abstractmethod
    def bones(self, rig: Object, document: Document, chosen: Sequence[int]) -> list[str]:
        """Return the names of the bones for which the motions at the indices ``chosen`` have tracks, each once.

        ``rig``: the armature, whose bones are those of tracks without names.
        """

    @abstractmethod
    def builder(
        self, rig: Object, opened: Opened[Document], chosen: list[int], options: ImportType, report: Report
    ) -> Builder[File]:
        """Return a builder for the motions at the indices ``chosen``. Raises `ReadError` before anything is created."""

    @abstractmethod
    def attach(self, rig: Object, opened: Opened[Document]) -> File:
        """Store a file on ``rig``, except the keys of its motions, which are stored on their actions."""

    def bones_of_new(self, rig: Object, _file: File) -> set[str]:
        """Return Blender's names of the bones for which a new motion of a file gets keys."""
        return {bone.name for bone in rig.data.bones}

    def mark_new(self, action: Action, order: int) -> None:
        """Mark an action as a new motion with this index in the list, if the kind of file has an order."""

    @abstractmethod
    def host(self, rig: Object, chosen: Sequence[Action], *, disk: str = "", file: File | None = None) -> HostType:
        """Return the target of an export of ``chosen``: the file at ``disk``, in which motions of the same names are
        replaced, else ``file`` (or theirs) as imported.
        """

    @abstractmethod
    def host_of_list(
        self, rig: Object, file: File, listed: Sequence[Action], report: Report, *, disk: str, others_changed: bool
    ) -> HostType:
        """Return the target for saving a file's list. ``others_changed``: keep those changes at ``disk``."""

    def left_alone(self, rig: Object, file: File, chosen: Sequence[Action], host: HostType) -> set[Action]:
        """Return those of ``chosen`` that the preview of a save of ``file`` into ``host`` need not compare."""
        return set()

    @abstractmethod
    def gatherer(
        self, rig: Object, options: ExportType, report: Report, sampler: Sampler, host: HostType
    ) -> Gatherer[PlanType]:
        """Return a reader of actions, which encodes them into ``host``."""

    @abstractmethod
    def settle(self, plan: PlanType, rig: Object, file: File, options: ExportType | None = None) -> File:
        """Make the written file the new "as imported", with the names of its motions. Returns the file on the rig."""

    @abstractmethod
    def fingerprints(self, document: Document) -> set[bytes]:
        """Return a digest of each motion of a document: of its bytes and of how it is played."""

    @abstractmethod
    def reload(self, plan: PlanType, rig: Object, file: File) -> None:
        """After `settle`: restore keys, marks and parameters of the plan's ``theirs`` from the written file."""


# ---- import


def list_motions(codec: AnyCodec, path: str) -> list[tuple[str, int]]:
    """Return the name and the number of frames of each motion of a file without importing it. Raises `ReadError`."""
    return codec.motions(codec.read(path, Report()).document)


def import_motions(
    codec: Codec[Document, File, HostType, PlanType, ImportType, ExportType],
    context: Context,
    rig: Object,
    path: str,
    *,
    options: ImportType,
    report: Report,
    progress: Callable[[int], None] = lambda _: None,
    read: Callable[[AnyCodec, str, Report], Opened[Document]] | None = None,
) -> MotionImport[File]:
    """Create one action for each chosen motion of the file at ``path``, on the armature object ``rig``.

    ``read``: returns the file if it has been read already, such as `ReadFiles.take`. Raises `ReadError` if the file is
    not a motion file, none of its bones is in the armature, or its codec refuses it.
    """
    with rows_removed_on_failure(rig, codec.lists.files):
        opened = read(codec, path, report) if read is not None else codec.read(path, report)
        chosen = _chosen([name for name, _ in codec.motions(opened.document)], options.motions, path)
        armature.remember_names(rig.data)
        with codec.builder(rig, opened, chosen, options, report) as builder:
            result = MotionImport(codec.attach(rig, opened))
            for index, action in builder.build(result.file):
                action.use_fake_user = options.fake_user
                action_lists.add(result.file, action, index)
                result.actions.append(action)
                progress(len(result.actions))
        in_file = codec.bones(rig, opened.document, chosen)
        present, result.missing = bones_in(rig, in_file)
        imported_bones.warn_of_missing(result.missing, BonesInArmature(len(present), len(in_file)), report)
        imported_bones.warn_of_constraints(rig, present, report)
        builder.report_results(result)
        if options.assign_first:
            actions.play(context, rig, result.actions[0], order_of_angles(result.actions[0]))
        if options.stash:
            actions.stash(rig, result.actions)
        builder.finish()
        hold_used(rig)  # last, so that a failed import leaves the lists unchanged
        return result


def bones_in(rig: Object, names_in_file: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return Blender's names of the bones of a file that ``rig`` has, and the file's names of the others."""
    known: dict[str, str] = {}
    for bone in in_order(rig):
        known.setdefault(game_name(bone).lower(), bone.name)
    present = [known[name.lower()] for name in names_in_file if name.lower() in known]
    return present, [name for name in names_in_file if name.lower() not in known]


def _chosen(labels: list[str], wanted: Collection[str] | None, path: str) -> list[int]:
    """Return the indices of the motions named ``wanted`` (None: all). Raises `ReadError` if there are none."""
    lowered = [label.lower() for label in labels]
    asked = {name.lower() for name in wanted} if wanted is not None else set(lowered)
    unknown = sorted(asked - set(lowered))
    if unknown:
        words = "there is no motion named {!r}"
        raise ReadError(say(words, unknown[0]), file=path, remedy="Choose from the list of motions")
    chosen = [index for index, label in enumerate(lowered) if label in asked]
    if not chosen:
        raise ReadError("there are no motions in this file", file=path, remedy="Choose another file")
    return chosen


def refuse_unknown_bones(bones: Collection[str], indices: dict[str, int], rig: Object, path: str) -> None:
    """Raise `ReadError` if none of a file's ``bones`` is in the armature with these `bone_indices`."""
    if bones and not {bone.lower() for bone in bones} & indices.keys():
        words = "none of the file's bones is in the armature {!r}"
        raise ReadError(say(words, rig.name), file=path, remedy="Select the armature these motions belong to")


def bone_indices(rig: Object, rest: Rest) -> dict[str, int]:
    """Return the index of each bone in ``rest`` by its game name in lower case; Blender's name if it has none."""
    indices: dict[str, int] = {}
    for index, bone in enumerate(rest.bones):
        indices.setdefault(game_name(rig.data.bones[bone]).lower(), index)
    return indices


def play(context: Context, rig: Object, action: Action) -> None:
    """Assign an action to ``rig`` and set the rotation modes that play it."""
    actions.play(context, rig, action, order_of_angles(action))
    hold_used(rig)


def hold_used(rig: Object) -> None:
    """Let the action lists of an armature's files point to the actions it uses; see `action_lists`."""
    for lists in (LISTS, SKL_LISTS):
        action_lists.hold_used(rig, lists)


# ---- the list of a file


def motions_of(file: MotionFile | SkeletalFile) -> list[Action]:
    """Return the actions of a file in the order of its list; copies that are not yet added to it come last."""
    lists = lists_of(file)
    indices, listed = action_lists.members(file, lists), action_lists.listed(file)

    def rank(action: Action) -> tuple[Any, ...]:
        # Motions of the editor have no order property.
        order = getattr(lists.properties(action), "order", 0)
        return action not in listed, order, indices[action] < 0, indices[action], action.name

    return sorted(indices, key=rank)


def add(codec: AnyCodec, file: MotionFile | SkeletalFile, action: Action) -> Action:
    """Add an action as a new motion at the end of a file's list. A copy becomes independent of its original.

    Returns the action, or the copy that was added because another armature's file lists the action.
    """
    lists = codec.lists
    orders = [getattr(lists.properties(other), "order", 0) for other in motions_of(file)]
    motion = action.motionbridge_motion
    copies = action_lists.copies([action], lists)
    if copies or not motion.motion_name:
        motion.motion_name = name_of_copy(action, copies.get(action), lists)
    rig: Any = file.id_data
    before = action_lists.file_of(rig, action, lists)
    if before is not None:
        action_lists.remove(before, action)
    action = action_lists.own(rig, original := action, lists)
    properties, motion = lists.properties(action), action.motionbridge_motion
    if properties.file != file.name or action != original:
        drop(properties, "body")  # tracks of another file's bones
    motion.is_motion, properties.file, properties.index, properties.imported_name = True, file.name, -1, ""
    codec.mark_new(action, max(orders, default=-1) + 1)
    action_lists.add(file, action, -1)
    hold_used(rig)
    action.use_fake_user = True
    return action


def adopt_copies(codec: AnyCodec, rig: Object) -> None:
    """Add copies that the armature uses to their file as new motions; they stay there when others are played."""
    for file, action in action_lists.unlisted(rig, codec.lists):
        add(codec, file, action)


# ---- names


def imported_name(action: Action, lists: Kind) -> str:
    """Return the name of an action's motion in its file, "" for a new one."""
    return str(lists.properties(action).imported_name)


def written_names(chosen: Sequence[Action], lists: Kind, report: Report, *, rename: bool = True) -> list[str]:
    """Return the name to write for the motion of each action: the one in the panel.

    A copy made in Blender gets the name of its action, until the user types a name for it. Without ``rename``, motions
    keep their names in the file.
    """
    copies = action_lists.copies(chosen, lists)
    result = []
    for action in chosen:
        in_file = imported_name(action, lists)
        label = str(action.motionbridge_motion.motion_name or in_file or action.name)
        if action in copies:
            label = name_of_copy(action, copies[action], lists)
            report.note("a copy of another motion, written as a new one", f"{action.name}: {label}")
        elif not rename and in_file:
            label = in_file
        result.append(label)
    return result


def name_of_copy(action: Action, original: Action | None, lists: Kind) -> str:
    """Return the name for the motion of a copy: the one typed for it, else the name of its action."""
    label = str(action.motionbridge_motion.motion_name)
    inherited = {"", imported_name(action, lists), original and original.motionbridge_motion.motion_name}
    return names.shortened(action.name, LONGEST_NAME) if label in inherited else label


# Export ---------------------------------------------------------------------------------------------------------------


class Onto(Enum):
    """What an export starts from."""

    OWN_FILES = "own"
    """Only the chosen motions, with their imported bytes and bone parts."""
    FILE = "file"
    """A file on disk: motions of the same name are replaced, others are added, the rest stays."""


def plan_export(
    codec: Codec[Document, File, HostType, PlanType, ImportType, ExportType],
    context: Context,
    rig: Object,
    chosen: Sequence[Action],
    path: str,
    *,
    onto: Onto = Onto.OWN_FILES,
    options: ExportType,
    report: Report,
    progress: Callable[[int], None] = lambda _: None,
    samples: Samples | None = None,
) -> PlanType:
    """Plan the file at ``path`` with the motions of the actions ``chosen``. ``samples`` as in `Sampler`.

    Raises `WriteError` or, for the file on disk, `ReadError`.
    """
    if not chosen:
        raise WriteError("no motion is chosen", remedy="Tick motions in the list, or assign an action to the armature")
    if onto is Onto.OWN_FILES:
        hosts.refuse_to_replace(path, codec.suffix)
    host = codec.host(rig, chosen, disk=path if onto is Onto.FILE else "")
    plan = plan_onto(
        codec, context, rig, chosen, path, host=host, options=options, report=report, progress=progress, samples=samples
    )
    if onto is Onto.OWN_FILES and Path(path).is_file():
        _warn_of_removed(codec, plan, report)
    return plan


def plan_save_back(
    codec: Codec[Document, File, HostType, PlanType, ImportType, ExportType],
    context: Context,
    rig: Object,
    file: File,
    *,
    options: ExportType,
    if_changed: OtherBase,
    report: Report,
    progress: Callable[[int], None] = lambda _: None,
    only: Action | None = None,
    samples: Samples | None = None,
    is_preview: bool = False,
) -> PlanType:
    """Plan to save a file of ``rig``: edited, new, renamed, deleted and reordered motions; the rest stays as it is.

    ``only``: save one action; no other action is sampled or written. ``samples`` as in `Sampler`. ``is_preview``: leave
    out `Codec.left_alone`, unless the plan then changes no motion. Raises `WriteError` if other programs changed the
    file on disk and ``if_changed`` is `OtherBase.REFUSE`. With `OtherBase.DISK`, motions that were not edited in
    Blender stay as they are on disk.
    """
    listed = motions_of(file)
    if only is not None and only not in listed:
        words = "the action {!r} is not a motion of {}"
        raise WriteError(say(words, only.name, file.name), remedy="Play one of its motions, or save all")
    chosen = listed if only is None else [only]
    path = bpy.path.abspath(file.path)
    on_disk = starts_from_disk(path, _known_digests(rig, file), if_changed)
    others_changed = on_disk and if_changed is OtherBase.DISK and changed_by_others(rig, file)
    hosts.refuse_missing_model(file, path)
    host = codec.host_of_list(rig, file, listed, report, disk=path if on_disk else "", others_changed=others_changed)
    chosen = host.room_for(chosen, report)
    host.remove_deleted(whole=only is None)
    _warn_of_other_rigs(codec.lists, rig, file, report)
    theirs: dict[Action, None] = {}
    if others_changed:
        changed = host.changed_by_others(chosen, saved_motions(rig, file))
        theirs = dict.fromkeys(_unedited(codec, context, rig, file, changed, options=options, samples=samples))
    for action in theirs:
        report.warn(
            "motions that were changed on disk and not in Blender stay as they are on disk; their actions get the keys "
            "and values of the file",
            label_of(action),
        )
    compared = [action for action in chosen if action not in theirs]
    alone = codec.left_alone(rig, file, compared, host) if is_preview and not others_changed else set()
    how: Any = {"host": host, "options": options, "samples": samples}
    own_report = Report()
    plan = plan_onto(codec, context, rig, compared, path, report=own_report, progress=progress, left_alone=alone, **how)
    if alone and not plan.changes:
        alone, own_report = set(), Report()
        plan = plan_onto(codec, context, rig, compared, path, report=own_report, progress=progress, **how)
    report.include(own_report)
    plan.is_preview = bool(alone)
    host.arrange(plan, chosen, whole=only is None)
    plan.imported, plan.theirs = file.sha256, list(theirs)
    plan.base = (location_of(file).digest() or "") if others_changed else ""
    return plan


def _known_digests(rig: Object, file: MotionFile | SkeletalFile) -> set[str]:
    """Return the SHA-256 digests of a file as it was imported or last saved, and as it was saved before an undo."""
    path = bpy.path.abspath(file.path)
    return {file.sha256, saved_here(rig, path), saved_here(rig, path, MOTIONS + file.name)}


def saved_motions(rig: Object, file: MotionFile | SkeletalFile) -> set[bytes]:
    """Return `Codec.fingerprints` of the motions that were saved from here for a file since Blender was started."""
    return _saved.get((rig.session_uid, bpy.path.abspath(file.path), file.name), set())


def changed_by_others(rig: Object, file: MotionFile | SkeletalFile) -> bool:
    """Return whether the file on disk is neither the imported nor the saved one."""
    digest = location_of(file).digest()
    return digest is not None and digest not in _known_digests(rig, file)


def _unedited(
    codec: Codec[Document, File, HostType, PlanType, ImportType, ExportType],
    context: Context,
    rig: Object,
    file: File,
    chosen: Sequence[Action],
    *,
    options: ExportType,
    samples: Samples | None,
) -> list[Action]:
    """Return the actions that equal their imported motions, names included. The others as in `plan_onto`."""
    if not chosen:
        return []
    host = codec.host(rig, chosen, file=file)
    plan = plan_onto(
        codec, context, rig, chosen, file.name, host=host, options=options, report=Report(), samples=samples
    )
    renamed = {
        action for action, identity in plan.written.items() if identity.name != imported_name(action, codec.lists)
    }
    return [action for action in chosen if action not in plan.edited and action not in renamed]


def settle_saved(
    codec: Codec[Document, File, HostType, PlanType, ImportType, ExportType],
    context: Context,
    plan: PlanType,
    rig: Object,
    *,
    file: File,
    options: ExportType | None = None,
) -> File:
    """After the ``plan`` of `plan_save_back` was written: remember the file, restore the plan's ``theirs`` from it."""
    file = codec.settle(plan, rig, file, options)
    remember_shown(plan.written, plan.shown_keys)
    remember_saved(rig, plan.path, plan.digest, MOTIONS + file.name)
    _saved.setdefault((rig.session_uid, plan.path, file.name), set()).update(codec.fingerprints(plan.document))
    if plan.theirs:
        codec.reload(plan, rig, file)
    for action in plan.theirs:
        keys_replaced(context, rig, action)
    return file


def remember_shown(written: Iterable[Action], shown_keys: Mapping[Action, str]) -> None:
    """Remember which of the ``written`` motions were written as they were shown; ``shown_keys`` as in `Plan`."""
    for action in written:
        action.motionbridge_shown_keys = shown_keys.get(action, "")


def keys_replaced(context: Context, rig: Object, action: Action) -> None:
    """After an action got other keys: key the control rig to its poses, and set rotation modes that play it."""
    if control_action(rig, action) is not None:
        control_transfer.transfer(context, rig, action)
    if action == nla.assigned(rig):
        play(context, rig, action)


def _is_placed_by_configs(rig: Object) -> bool:
    """Return whether an armature is the hands or the item of a first-person scene, which configs place."""
    hands: Object = rig.parent if rig.parent is not None else rig
    owner: Object = rig
    return bool(owner.motionbridge_hud.is_hud or hands.motionbridge_hud.item == rig)


def plan_onto(
    codec: Codec[Document, File, HostType, PlanType, ImportType, ExportType],
    context: Context,
    rig: Object,
    chosen: Sequence[Action],
    path: str,
    *,
    host: HostType,
    options: ExportType,
    report: Report,
    progress: Callable[[int], None] = lambda _: None,
    samples: Samples | None = None,
    left_alone: Collection[Action] = (),
) -> PlanType:
    """Plan the file at ``path``: the target ``host`` with the motions of ``chosen``. ``samples`` as in `Sampler`.

    ``left_alone``: those of ``chosen`` whose motions in ``host`` stay as they are.
    """
    if is_turned_or_scaled(rig) and not _is_placed_by_configs(rig):
        report.warn(
            "the armature object is scaled or rotated, which the game does not see; apply its transform (Ctrl A) first "
            "if the motions should have it (keys of locations stay as they are)",
            rig.name,
        )
    files.warn_of_replacing(bpy.path.abspath(path), report)
    labels = written_names(chosen, codec.lists, report, rename=options.rename)
    hosts.refuse_same_names(chosen, labels, host)
    with Sampler(context, rig, samples) as sampler:
        gatherer = codec.gatherer(rig, options, report, sampler, host)
        read = [pair for pair in zip(chosen, labels, strict=True) if pair[0] not in left_alone]
        for done, (action, label) in enumerate(read, len(chosen) - len(read)):
            gatherer.add(action, label)
            progress(done + 1)
    for action, bones in sampler.distorted.items():
        report.warn(
            "the game stores no scale or shear: bones are written without",
            say("{}: {}", label_of(action), listed(bones)),
        )
    plan = gatherer.plan(path)
    plan.shown_keys = sampler.movers.shown_keys(chosen)
    for action in plan.edited:
        if imported_name(action, codec.lists) and not any(bone_of(curve.data_path) for curve in curves_of(action, rig)):
            report.warn(
                "the action has no keys of bones: where nothing else moves them, the motion becomes "
                "the rest pose (use Restore Motion for its keys, or import the file again)",
                label_of(action),
            )
    return plan


def _warn_of_removed(codec: AnyCodec, plan: Plan[Any], report: Report) -> None:
    """Warn of motions in the replaced file that are not written, and of a file that cannot be read."""
    try:
        on_disk = list_motions(codec, plan.path)
    except ReadError:
        report.warn("the replaced file cannot be read as motions; all of it is removed", Path(plan.path).name)
        return
    written = [name for name, _ in codec.motions(plan.document)]
    replaced.warn_of_removed(replaced.removed((name for name, _ in on_disk), written), report)


def _warn_of_other_rigs(lists: Kind, rig: Object, file: MotionFile | SkeletalFile, report: Report) -> None:
    path = bpy.path.abspath(file.path)
    for other in motion_files.objects():
        if other != rig and any(bpy.path.abspath(first.path) == path for first in lists.files_of(other)):
            report.note("another armature has motions of this file; each saves its own", f"{file.name}: {other.name}")
