"""The motions of an armature, whatever kind of file they are in: what a file has, import, lists, names.

The game's files (`omf_codec.OMF`) and the editor's (`skl_codec.SKL`) differ in what their `Codec` says, and nowhere
else: reading, choosing, listing, naming, copying, exporting (`exporting`) and Save Back are the same for both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import bpy

from ....blender import action as actions
from ....blender import action_lists, armature
from ....blender.action_lists import Kind
from ....blender.properties import drop
from ....blender.sampling import Sampler
from ....blender.scope import rows_removed_on_failure
from ....core import names
from ....core.errors import ReadError, WriteError
from ....core.report import Report
from ....core.text import counted_plural, said_of
from ....formats.xray.omf.edit import LONGEST_NAME
from ..bones.properties import game_name
from .files import LISTS, SKL_LISTS, lists_of
from .properties import order_of_angles

if TYPE_CHECKING:
    from ....blender.armature import Rest
    from ....blender.typed import Action, Object
    from ..options import MotionImportOptions, SkeletalImportOptions
    from .exporting import Gatherer, Host, Plan
    from .properties import MotionFile, SkeletalFile


class Opened(NamedTuple):
    """A file that was read: its document, the SHA-256 of its bytes, whether it is a model with motions inside."""

    path: str
    document: Any
    digest: str
    embedded: bool = False


@dataclass
class MotionImport:
    """The new ``actions``, the file kept on the rig, and the bones of the file that are ``missing`` in the armature.

    ``kept_exactly`` tracks have the file's curves, ``fitted`` ones are near them (the editor's motions only).
    """

    actions: list[Any] = field(default_factory=list)
    file: Any = None
    missing: list[str] = field(default_factory=list)
    kept_exactly: int = 0
    fitted: int = 0


class Builder(Protocol):
    """Makes actions of the motions of one file."""

    def build(self, file: Any) -> Iterator[tuple[int, Any]]:
        """Each chosen motion's index in the file, and its action with all that ``file`` and the game say of it."""

    def missing(self) -> list[str]:
        """The file's names of bones that have keys in those motions and are not in the armature."""

    def tell(self, result: MotionImport) -> None:
        """Say, before the first action plays, what else is worth knowing."""

    def finish(self) -> None:
        """What is done when nothing can fail any more."""


class Codec(Protocol):
    """What makes a kind of motion file: how it is read, built, stored, gathered and encoded."""

    lists: Kind
    """The files of an armature, and what an action knows of its own."""

    def read(self, path: str, report: Report) -> Opened:
        """The file at ``path``. Raises `ReadError`."""

    def motions(self, document: Any) -> list[tuple[str, int]]:
        """Name and number of frames of every motion of a document."""

    def builder(
        self, rig: Object, opened: Opened, chosen: list[int], options: Any, report: Report
    ) -> AbstractContextManager[Builder]:
        """A maker of actions of the motions at these indices. Raises `ReadError` before anything is made."""

    def attach(self, rig: Object, opened: Opened) -> Any:
        """Keep a file on ``rig``: everything but its motions' keys, which go with their actions."""

    def mark_new(self, action: Action, order: int) -> None:
        """Note on an action that it is a new motion, and its number in the list."""

    def refuse_to_replace(self, path: str) -> None:
        """Raise `WriteError` where a new file of motions alone may not get this path."""

    def host(self, rig: Object, chosen: Sequence[Any], *, disk: str = "", file: Any = None) -> Host:
        """What ``chosen`` actions go into: the file at the path ``disk``, else ``file`` (or theirs) as imported."""

    def host_of_list(self, rig: Object, file: Any, listed: Sequence[Any], report: Report, *, disk: str) -> Host:
        """As `host`, for saving what a file's list says."""

    def gatherer(self, rig: Object, options: Any, report: Report, sampler: Sampler, host: Any) -> Gatherer:
        """A reader of actions."""

    def encode(self, gatherer: Any, gathered: list[Any], host: Any, path: str, options: Any) -> Plan:
        """The file with what was gathered in it."""

    def settle(self, plan: Any, rig: Object, file: Any, options: Any = None) -> Any:
        """After ``plan`` was written: the file on disk, and its names, are known. Gives back the file."""


# ---- import


class ReadFiles:
    """The files of one operator, each parsed once for its list of motions and for its import."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[tuple[int, int], Opened, Report]] = {}

    def list_motions(self, codec: Codec, path: str) -> list[tuple[str, int]]:
        """As `list_motions`; the file is kept for `take`. Raises `ReadError`."""
        state = _state_of(path)
        if path not in self._read or self._read[path][0] != state:
            report = Report()
            self._read[path] = state, codec.read(path, report), report
        return codec.motions(self._read[path][1].document)

    def take(self, codec: Codec, path: str, report: Report) -> Opened:
        """The file, with what reading it reported; it is kept no longer, and read again if it changed on disk."""
        state, opened, found = self._read.pop(path, (None, None, report))
        if opened is None or state != _state_of(path):
            return codec.read(path, report)
        report.include(found)
        return opened


def _state_of(path: str) -> tuple[int, int]:
    """When a file was changed, and its size; zeros where that is unknown, of which reading it gives the reason."""
    try:
        found = Path(path).stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def list_motions(codec: Codec, path: str) -> list[tuple[str, int]]:
    """Name and frames of every motion of a file, without importing anything."""
    return codec.motions(codec.read(path, Report()).document)


def import_motions(
    codec: Codec,
    context: bpy.types.Context,
    rig: Object,
    path: str,
    *,
    options: MotionImportOptions | SkeletalImportOptions,
    report: Report,
    progress: Callable[[int], None] = lambda _: None,
    read: Callable[[Codec, str, Report], Opened] | None = None,
) -> MotionImport:
    """One action for each motion of the file at ``path``, on the armature object ``rig``.

    ``read`` gives the file where it has been read already, such as `ReadFiles.take`.
    Raises `ReadError` for a file that is none, of which no bone is in the armature, or what its codec refuses.
    """
    with rows_removed_on_failure(rig, codec.lists.files):
        opened = read(codec, path, report) if read is not None else codec.read(path, report)
        chosen = _chosen([name for name, _ in codec.motions(opened.document)], options.motions, path)
        armature.remember_names(rig.data)
        result = MotionImport()
        with codec.builder(rig, opened, chosen, options, report) as builder:
            result.file = codec.attach(rig, opened)
            for place, action in builder.build(result.file):
                action.use_fake_user = options.fake_user
                action_lists.add(result.file, action, place, codec.lists)
                result.actions.append(action)
                progress(len(result.actions))
            result.missing = builder.missing()
        if result.missing:
            report.warn(
                f"{said_of(len(result.missing), 'bones of the file', 'are')} not in the armature; "
                "their keys are kept and written back",
                ", ".join(result.missing),
            )
        builder.tell(result)
        if options.assign_first:
            actions.play(context, rig, result.actions[0], order_of_angles(result.actions[0]))
        if options.stash:
            actions.stash(rig, result.actions)
        builder.finish()
        hold_used(rig)  # last: an import that fails leaves the lists as they were
        return result


def _chosen(labels: list[str], wanted: Collection[str] | None, path: str) -> list[int]:
    """The indices of the motions with these names (None: all)."""
    lowered = [label.lower() for label in labels]
    asked = {name.lower() for name in wanted} if wanted is not None else set(lowered)
    unknown = sorted(asked - set(lowered))
    if unknown:
        raise ReadError(f"there is no motion named {unknown[0]!r}", file=path, remedy="Choose from the list of motions")
    chosen = [place for place, label in enumerate(lowered) if label in asked]
    if not chosen:
        raise ReadError("there are no motions in this file", file=path, remedy="Choose another file")
    return chosen


def refuse_strangers(bones: Collection[str], places: dict[str, int], rig: bpy.types.Object, path: str) -> None:
    """Raise `ReadError` where none of the ``bones`` of a file is in an armature with ``places`` as `bone_places`."""
    if bones and not {bone.lower() for bone in bones} & places.keys():
        raise ReadError(
            f"none of the {counted_plural(len(bones), 'bones')} of the file is in the armature {rig.name!r}",
            file=path,
            remedy="Select the armature these motions belong to",
        )


def bone_places(rig: Any, rest: Rest) -> dict[str, int]:
    """The place in ``rest`` of each bone by the game's name in lower case, or Blender's where the game's is unknown.

    Armatures of other importers have Blender's names only.
    """
    places: dict[str, int] = {}
    for place, bone in enumerate(rest.bones):
        places.setdefault(game_name(rig.data.bones[bone]).lower(), place)
    return places


def play(context: bpy.types.Context, rig: bpy.types.Object, action: bpy.types.Action) -> None:
    """Make ``rig`` play an action, its bones turned by what the action turns them by."""
    actions.play(context, rig, action, order_of_angles(action))
    hold_used(rig)


def hold_used(rig: bpy.types.Object) -> None:
    """Let the lists of an armature's files know which of their actions it uses; see `action_lists`."""
    for lists in (LISTS, SKL_LISTS):
        action_lists.hold_used(rig, lists)


# ---- the list of a file


def motions_of(file: MotionFile | SkeletalFile) -> list[Action]:
    """The actions of a file of any kind, in the order of its list; a copy comes last until it is added."""
    lists = lists_of(file)
    places, listed = action_lists.members(file, lists), action_lists.listed(file, lists)

    def rank(action: Action) -> tuple[Any, ...]:
        # The editor's motions have no order of their own.
        order = getattr(lists.properties(action), "order", 0)
        return action not in listed, order, places[action] < 0, places[action], action.name

    return sorted(places, key=rank)


def add(codec: Codec, file: Any, action: Action) -> None:
    """Make an action a new motion of a file, at the end of its list; a copy is no longer one of another motion."""
    lists = codec.lists
    orders = [getattr(lists.properties(other), "order", 0) for other in motions_of(file)]
    known, motion = lists.properties(action), action.motionbridge_motion
    copies = action_lists.copies([action], lists)
    if copies or not motion.motion_name:
        motion.motion_name = name_of_copy(action, copies.get(action), lists)
    before = action_lists.file_of(file.id_data, action, lists)
    if before is not None:
        action_lists.remove(before, action, lists)
    if known.file != file.name:
        drop(known, "body")  # tracks of another file's bones
    motion.is_motion, known.file, known.place, known.imported_name = True, file.name, -1, ""
    codec.mark_new(action, max(orders, default=-1) + 1)
    action_lists.add(file, action, -1, lists)
    hold_used(file.id_data)
    action.use_fake_user = True


def adopt_copies(codec: Codec, rig: bpy.types.Object) -> None:
    """Make copies that the armature uses motions of their file, so that they stay when it plays others."""
    for file, action in action_lists.unlisted(rig, codec.lists):
        add(codec, file, action)


# ---- names


def imported_name(action: Action, lists: Kind) -> str:
    """The name an action's motion had in its file, "" for a new one."""
    return str(lists.properties(action).imported_name)


def written_names(chosen: Sequence[Action], lists: Kind, report: Report, *, rename: bool = True) -> list[str]:
    """The name that the motion of each action gets: the one in the panel.

    A copy that was made in Blender has the original's name until somebody types another: it gets the action's. Without
    ``rename`` motions keep the names of their file.
    """
    copies = action_lists.copies(chosen, lists)
    found = []
    for action in chosen:
        in_file = imported_name(action, lists)
        label = str(action.motionbridge_motion.motion_name or in_file or action.name)
        if action in copies:
            label = name_of_copy(action, copies[action], lists)
            report.note("a copy of another motion, written as a new one", f"{action.name}: {label}")
        elif not rename and in_file:
            label = in_file
        found.append(label)
    return found


def name_of_copy(action: Action, original: Action | None, lists: Kind) -> str:
    """The name that a copy's motion gets: the one typed for it, else the action's."""
    label = str(action.motionbridge_motion.motion_name)
    inherited = {"", imported_name(action, lists), original and original.motionbridge_motion.motion_name}
    return names.shortened(action.name, LONGEST_NAME) if label in inherited else label


def refuse_one_name(
    chosen: Sequence[Action], labels: Sequence[str], had_one_name: Callable[[list[Any], str], bool]
) -> None:
    """Raise `WriteError` where two motions would have one name, unless those actions had it in the file."""
    found: dict[str, list[Any]] = {}
    for action, label in zip(chosen, labels, strict=True):
        found.setdefault(label.lower(), []).append(action)
    for label, twins in found.items():
        if len(twins) > 1 and not had_one_name(twins, label):
            raise WriteError(
                f"the actions {' and '.join(repr(action.name) for action in twins[:3])} would be motions of one name, "
                f"{label!r}",
                remedy="Type another name for one of them in the Motion panel",
            )
