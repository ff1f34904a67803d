"""Targets of an export of game motions: an `.omf`, a model that contains motions, or the file as it was imported."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ....blender import action_lists, nla
from ....blender.properties import keep
from ....core import files, names
from ....core.changes import ENGLISH, Words
from ....core.errors import WriteError
from ....core.report import Report
from ....formats.xray import ogf, omf
from ....formats.xray.ogf.document import motion_set_of, with_motion_set
from ....formats.xray.omf import edit
from ....formats.xray.omf.codec import write_motion
from ....formats.xray.omf.document import Definition, Motion, MotionSet, Omf
from ....formats.xray.omf.mapping import Identity
from ...plan import is_same_file
from ..bones import values
from ..models.motions_inside import follow_motions
from ..options import RestChange
from . import files as motion_files
from . import timing as motion_timing
from .hosts import Host
from .library import Plan, saved_motions, written_names
from .properties import LISTS

if TYPE_CHECKING:
    from ....blender.typed import Action, Object
    from ..options import MotionExportOptions
    from .properties import MotionFile


@dataclass
class MotionPlan(Plan):
    """A file of motions to write.

    ``deleted``: names of removed motions. ``reordered``: whether the order of the motions changes.
    """

    deleted: list[str] = field(default_factory=list)
    reordered: bool = False
    indices: dict[Any, int] = field(default_factory=dict)
    """Action -> index of its motion in the written file, also for actions of the file that are not exported."""
    kept_deleted: list[tuple[str, int]] = field(default_factory=list)
    """Name and index of motions that were deleted in the panel but stay in this file."""
    was_known: bool = False
    """Whether the file on disk was the one that the armature had imported or saved."""
    unsampled: list[Any] = field(default_factory=list)
    """Actions with bones that were not sampled although they need it."""

    def compare_with_disk(self) -> None:
        """Do nothing: a save starts from the file on disk, and ``changes`` have rounding errors."""

    @property
    def renamed(self) -> list[tuple[str, str]]:
        """Old and new names of motions that were renamed in the panel."""
        return list(self.changes.renamed)

    def sentence(self, words: Words | None = None) -> str:
        """Describe the changes in one sentence."""
        phrases = words or ENGLISH
        parts = [self.changes.sentence(words)]
        if self.deleted:
            parts.append(phrases.translated("{} deleted").format(len(self.deleted)))
        if self.reordered:
            parts.append(phrases.translated("in another order"))
        return phrases.between.join(parts)


@dataclass
class OmfHost(Host):
    """Target of an export of the game's motions: a motion file, or a model that contains motions.

    ``file``: the same file as stored on the rig. ``moved``: index of a motion at import -> index here. ``indices``:
    action -> index of its motion here. ``replaces``: actions that are not in ``indices`` replace motions of their
    names. ``is_known``: the file is the imported one, whose bytes the actions store.
    """

    motions: MotionSet | None
    document: Omf | None = None
    model: Any = None
    file: Any = None
    moved: dict[int, int] = field(default_factory=dict)
    indices: dict[Any, int] = field(default_factory=dict)
    replaces: bool = False
    is_known: bool = True
    as_imported: bool = False
    """Whether it was put together from the bytes that actions store, not read from disk."""
    listed: Any = None
    """File on the rig whose list is to be saved."""
    others_changed: bool = False
    """Whether other programs changed the file on disk: motions then keep its order, unless the list was reordered."""
    deleted: list[str] = field(default_factory=list)
    """Names of the removed motions that were deleted in the panel."""
    parts: Sequence[tuple[str, Sequence[str]]] = ()
    """Names of bone parts with their bones, for a new file without motions."""

    @property
    def bones(self) -> set[str] | None:
        """Game names, in lower case, of the bones that have tracks here; None if they are not known for sure."""
        if self.motions is None:
            return None
        listed = [bone.name for part in self.motions.parameters.partitions for bone in part.bones]
        tracks = max((motion.track_count for motion in self.motions.library.motions), default=0)
        named = {names.decode(name).lower() for name in listed if name}
        return named if len(named) == len(listed) >= tracks else None

    def index(self, action: Action) -> int | None:
        """Return the index here of an action's motion, None for a new one."""
        return self.indices.get(action)

    def keep(self, indices: Sequence[int]) -> None:
        """Remove all motions but those at these indices."""
        if self.motions is not None:
            self.motions = edit.arranged(self.motions, indices)
        rank = {index: new for new, index in enumerate(indices)}
        self.moved = {before: rank[index] for before, index in self.moved.items() if index in rank}
        self.indices = {action: rank[index] for action, index in self.indices.items() if index in rank}

    def identity(self, action: Action, label: str) -> Identity:
        """Return which motion here an action replaces if it gets the name ``label``."""
        index = self.index(action)
        if index is None and self.replaces and self.motions is not None:
            labels = [definition.label.lower() for definition in self.motions.parameters.definitions]
            taken = set(self.indices.values())
            index = next((i for i, one in enumerate(labels) if one == label.lower() and i not in taken), None)
        of_file = self.file is not None and action.motionbridge_motion.file == self.file.name
        if index is not None:
            return Identity(index, motion_files.motion_of(action) if of_file and not self.is_known else None)
        return Identity(None, motion_files.motion_of(action) if of_file else None)

    def name_of(self, action: Action) -> str:
        """Return the name that the motion of an action has here, "" for a new one."""
        index = self.index(action)
        return self.motions.labels[index] if self.motions is not None and index is not None else ""

    @cached_property
    def _imported(self) -> tuple[list[Definition], dict[Any, int]]:
        """The definitions of the file at import, and its actions with their indices there."""
        definitions = motion_files.document_of(self.file).motion_set.parameters.definitions
        return definitions, action_lists.members(self.file, LISTS)

    def digests_of(self, action: Action) -> tuple[bytes, bytes] | None:
        """Return digests of an action's motion as it was imported, and as it is here; None for a new one."""
        index, stored = self.index(action), motion_files.motion_of(action)
        if self.motions is None or self.file is None or index is None or stored is None:
            return None
        library, parameters = self.motions
        definitions, indices = self._imported
        current = fingerprint(library.motions[index], parameters.definitions[index])
        return fingerprint(stored, definitions[indices[action]]), current

    def remove_deleted(self, *, whole: bool) -> None:
        """Remove the motions that were deleted in the panel, so that other motions can get their names.

        If only one action is saved (not ``whole``) into a file on disk, they are kept. A target that was put together
        from actions never contains them.
        """
        if not (whole or self.as_imported) or self.motions is None or not len(self.listed.deleted):
            return
        labels = [definition.label for definition in self.motions.parameters.definitions]
        removed = set()
        for entry in self.listed.deleted:
            index = self.moved.get(entry.place)
            if index is not None:
                removed.add(index)
        if removed:
            self.keep([index for index in range(len(labels)) if index not in removed])
        removed_names = [labels[index] for index in sorted(removed)]
        self.deleted = [entry.name for entry in self.listed.deleted] if self.as_imported else removed_names

    def arrange(self, plan: MotionPlan, chosen: Sequence[Action], *, whole: bool) -> None:
        """Put the motions of ``plan`` in the order of the list, and store in it what was deleted."""
        plan.deleted = self.deleted
        if not whole:
            if not self.as_imported:
                plan.kept_deleted = [(entry.name, self.moved.get(entry.place, -1)) for entry in self.listed.deleted]
            return
        motions = plan.document.motion_set
        indices = [self.index(action) for action in chosen]
        known = [index for index in indices if index is not None]
        imported_at = action_lists.members(self.listed, LISTS) if self.others_changed else self.indices
        ranks = [imported_at[action] for action in chosen if self.index(action) is not None]
        if ranks != sorted(ranks) or None in indices[: len(known)]:
            count = len(motions.library.motions)
            order = _in_list_order(indices, len(self.motions.library.motions) if self.motions else 0, count)
            plan.reordered = order != list(range(count))
            plan.data, plan.document = self.written(edit.arranged(motions, order))
            rank = {index: new for new, index in enumerate(order)}
            plan.indices = {action: rank[index] for action, index in plan.indices.items()}

    def written(self, motions: MotionSet) -> tuple[bytes, Omf]:
        """Return the bytes of the whole file with these motions, and the motions as a document."""
        if self.model is not None:
            return ogf.write(with_motion_set(self.model, motions)), omf.new_omf(motions)
        document = self.document.with_motion_set(motions) if self.document is not None else omf.new_omf(motions)
        return omf.write(document), document


def fingerprint(motion: Motion, definition: Definition) -> bytes:
    """Return a digest of a motion and of how it is played, without its index."""
    return hashlib.sha256(write_motion(motion) + repr(definition.playing).encode()).digest()


def host_on_disk(path: str, rig: Object, file: MotionFile | None = None) -> OmfHost:
    """Return the file at ``path``, a motion file or a model that contains motions, as a target.

    If ``rig`` has motions of this file, the target knows which of its motions they are: those of ``file``, by default
    of the first one with this path. Raises `ReadError`, or
    `WriteError` for a model without motions.
    """
    data = files.read_file(path)
    file = file_at(rig, path) if file is None else file
    if path.lower().endswith(".ogf"):
        model = ogf.read(data, path, Report())
        inside = motion_set_of(model)
        if inside is None:
            raise WriteError(
                "this model has no motions inside", file=path, remedy="Export to a motion file (.omf) that it refers to"
            )
        host = OmfHost(inside, model=model, file=file)
    else:
        document = omf.read(data, path, Report())
        host = OmfHost(document.motion_set, document, file=file)
    if file is not None:
        digest = hashlib.sha256(data).hexdigest()
        host.is_known = digest == file.sha256
        moved = host.moved = _moved_indices(file, host.motions, digest)
        members = action_lists.members(file, LISTS)
        host.indices = {action: moved[index] for action, index in members.items() if index in moved}
    return host


def _find_saved(host: OmfHost, listed: Sequence[Action], saved: Collection[bytes]) -> None:
    """Find the motions of actions that were new or renamed when they were saved, before that was undone: by name."""
    if host.is_known or host.motions is None:
        return
    library, parameters = host.motions
    taken = set(host.indices.values())
    free = {
        definition.label.lower(): index
        for index, (motion, definition) in enumerate(zip(library.motions, parameters.definitions, strict=False))
        if index not in taken and fingerprint(motion, definition) in saved
    }
    waiting = [action for action in listed if action not in host.indices] if free else []
    for action, label in zip(waiting, written_names(waiting, LISTS, Report()), strict=True):
        if (index := free.pop(label.lower(), None)) is not None:
            host.indices[action] = index


def file_at(rig: Object, path: str) -> MotionFile | None:
    """Return the motion file of ``rig`` with this path, or None."""
    return next((file for file in rig.motionbridge_motion_files if is_same_file(file.path, path)), None)


def _moved_indices(file: MotionFile, on_disk: MotionSet | None, digest: str) -> dict[int, int]:
    """Return the index of each motion in the file on disk: index at import -> index there.

    If the file was changed, motions are matched by name; those of the same name in their order.
    """
    before = [one.label.lower() for one in motion_files.document_of(file).motion_set.parameters.definitions]
    if digest == file.sha256 or on_disk is None:
        return {index: index for index in range(len(before))}
    available: dict[str, list[int]] = {}
    for index, one in enumerate(on_disk.parameters.definitions):
        available.setdefault(one.label.lower(), []).append(index)
    return {index: available[label].pop(0) for index, label in enumerate(before) if available.get(label)}


def host_as_imported(rig: Object, chosen: Sequence[Action], file: MotionFile | None = None) -> OmfHost:
    """Return the imported motions of ``chosen``, in ``file`` or in the file most of them came from, as a target."""
    file = file if file is not None else _common_file(rig, chosen)
    if file is None:
        return OmfHost(None, parts=values.order_of_new_model(rig).parts)
    indices_in_file = action_lists.members(file, LISTS)
    originals: dict[int, Motion] = {}
    imported_at: dict[Any, int] = {}
    for action in chosen:
        motion = motion_files.motion_of(action)
        if motion is not None and indices_in_file.get(action, -1) >= 0:
            imported_at[action] = indices_in_file[action]
            originals[indices_in_file[action]] = motion
    document = motion_files.joined(file, originals)
    library, parameters = document.motion_set
    rank = {index_in_file: index for index, index_in_file in enumerate(sorted(originals))}
    indices = {action: rank[index_in_file] for action, index_in_file in imported_at.items()}
    motions = MotionSet(library, motion_files.with_partitions(parameters, file))
    return OmfHost(motions, document, file=file, moved=rank, indices=indices, as_imported=True)


def _common_file(rig: Object, chosen: Sequence[Action]) -> MotionFile | None:
    """The file most of the chosen motions came from; its bone parts are used."""
    files_of = action_lists.files_of_actions(rig, LISTS)
    named = Counter(files_of[action].name for action in chosen if action in files_of)
    return rig.motionbridge_motion_files[named.most_common(1)[0][0]] if named else None


def host_of_list(
    rig: Object, file: MotionFile, listed: Sequence[Action], report: Report, *, disk: str, others_changed: bool
) -> OmfHost:
    """Return the target for saving the list of ``file``: ``disk``, else the file as imported.

    It gets the bone parts of the panel. If other programs changed the file on disk (``others_changed``), its bone parts
    are kept unless they were edited in the panel. Motions inside a model are always written into the model on disk.
    """
    path = Path(bpy.path.abspath(file.path))
    if disk or file.embedded:
        host = host_on_disk(str(path), rig, file)
        _find_saved(host, listed, saved_motions(rig, file))
        before = motion_files.document_of(file).motion_set.parameters
        edited = motion_files.with_partitions(before, file) is not before
        if host.motions is not None and (edited or not others_changed):
            host.motions = host.motions._replace(parameters=motion_files.with_partitions(host.motions.parameters, file))
        host.listed, host.others_changed = file, others_changed
        return host
    host = host_as_imported(rig, listed, file)
    host.listed = file
    imported = sum(host.index(action) is not None for action in listed)
    missing = len(motion_files.document_of(file).motion_set.library.motions) - len(file.deleted) - imported
    if missing > 0:
        report.warn(f"motions of the file that were not imported and cannot be written: {missing}", path.name)
    return host


def _in_list_order(listed: Sequence[int | None], known: int, count: int) -> list[int]:
    """Return the indices of a file's motions in the order of the list; motions that are not in the list come last.

    None in ``listed`` is a new motion; new motions have the indices from ``known`` on.
    """
    added = iter(range(known, count))
    front = [next(added) if index is None else index for index in listed]
    taken = set(front)
    return front + [index for index in range(count) if index not in taken]


def settle(plan: MotionPlan, rig: Object, file: Any, options: MotionExportOptions | None) -> Any:
    """After ``plan`` was written: make the written file the new "as imported". Returns the motion file on the rig.

    If ``file`` is None, the rig gets a new motion file, so that its motions can be saved back.
    """
    digest = plan.digest
    known = file.sha256 if file is not None and plan.was_known else ""
    follow_motions(rig, plan.path, plan.document.motion_set, known, digest)
    before = action_lists.members(file, LISTS) if file is not None else {}
    files_of = {action: one.name for action, one in action_lists.files_of_actions(rig, LISTS).items()}
    for action, _ in plan.written:
        other = rig.motionbridge_motion_files.get(files_of.get(action, ""))
        if other is not None and other != file:
            action_lists.remove(other, action)
    own = {action: action_lists.own(rig, action, LISTS) for action, _ in plan.written if action not in before}
    plan.written = [(own.get(action, action), label) for action, label in plan.written]
    plan.indices = {own.get(action, action): index for action, index in plan.indices.items()}
    if file is None:
        file = motion_files.attach(rig, plan.path, LISTS)
    elif options is not None and options.rest_change is RestChange.OFFSETS:
        motion_files.keep_rest(file, rig)
    motion_files.keep_document(file, plan.document, plan.path, digest)
    file.deleted.clear()
    for name, place in plan.kept_deleted:
        entry = file.deleted.add()
        entry.name, entry.place = name, place
    motions = plan.document.motion_set
    labels = motions.labels
    play = nla.playing(rig)
    for action, _ in plan.written:
        motion, index = action.motionbridge_motion, plan.indices[action]
        motion.is_motion = True
        motion.file, motion.place, motion.order, motion.status = file.name, index, index, "UNTOUCHED"
        stored = motions.library.motions[index]
        motion.motion_name = motion.imported_name = labels[index]
        keep(motion, "body", write_motion(stored))
        if not (play.ends(action) or (action in plan.shown_keys and action != play.action)):  # else keys do not say it
            motion_timing.set_length(action, stored.frames, rig)
    kept = dict.fromkeys([action for action, _ in plan.written]) | dict.fromkeys(before)
    action_lists.replace(file, [(action, plan.indices.get(action, -1)) for action in kept])
    return file
