"""Targets of an export of game motions: an `.omf`, a model that contains motions, or the file as it was imported."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ....blender import action_lists, nla
from ....blender.properties import keep, seal_of, stored_seal
from ....core import files, names
from ....core.changes import CLAUSES
from ....core.errors import WriteError
from ....core.report import Message, Report, joined, say
from ....formats.xray import ogf, omf
from ....formats.xray.ogf.document import Ogf, motion_set_of, with_motion_set
from ....formats.xray.omf import edit
from ....formats.xray.omf.codec import write_motion
from ....formats.xray.omf.document import Definition, Motion, MotionSet, Omf
from ....formats.xray.omf.mapping import Identity
from ...plan import location_of
from ..bones import values
from ..options import RestChange
from . import files as motion_files
from . import timing as motion_timing
from .hosts import Host, Identities, MotionIdentity, found_by_name, identities_of
from .inside_models import follow_motions
from .library import Plan, saved_motions, written_names
from .properties import LISTS
from .unedited import remember_unedited

if TYPE_CHECKING:
    from ....blender.typed import Action, Object
    from ..options import MotionExportOptions
    from .properties import MotionFile


@dataclass
class MotionPlan(Plan[Omf]):
    """A file of motions to write.

    ``deleted``: names of removed motions. ``reordered``: whether the order of the motions changes.
    """

    deleted: list[str] = field(default_factory=list)
    reordered: bool = False
    kept_deleted: list[MotionIdentity] = field(default_factory=list)
    """Motions that were deleted in the panel but stay in this file."""
    was_known: bool = False
    """Whether the file on disk was the one that the armature had imported or saved."""
    unsampled: list[Action] = field(default_factory=list)
    """Actions with bones that were not sampled although they need it."""

    def compare_with_disk(self) -> None:
        """Do nothing: a save starts from the file on disk, and ``changes`` have rounding errors."""

    @property
    def renamed(self) -> list[tuple[str, str]]:
        """Old and new names of motions that were renamed in the panel."""
        return list(self.changes.renamed)

    def sentence(self) -> Message:
        """Describe the changes in one sentence."""
        parts = [self.changes.sentence()]
        if self.deleted:
            parts.append(say("{} deleted", len(self.deleted)))
        if self.reordered:
            parts.append(say("in another order"))
        return joined(parts, CLAUSES)


@dataclass
class OmfHost(Host[MotionPlan]):
    """Target of an export of the game's motions: a motion file, or a model that contains motions.

    ``file``: the same file as stored on the rig, with ``imported``, its motions without tracks; ``stored``: which they
    are. ``replaces``: actions that have no index here
    replace motions of their names. ``is_known``: the file is the imported one, whose bytes the actions store.
    """

    motions: MotionSet | None
    document: Omf | None = None
    model: Ogf | None = None
    file: MotionFile | None = None
    imported: MotionSet | None = None
    stored: list[MotionIdentity] = field(default_factory=list)
    replaces: bool = False
    is_known: bool = True
    as_imported: bool = False
    """Whether it was put together from the bytes that actions store, not read from disk."""
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

    @property
    def labels(self) -> list[str]:
        """The names of the motions here."""
        return (
            [definition.label for definition in self.motions.parameters.definitions] if self.motions is not None else []
        )

    def keep(self, indices: Sequence[int]) -> None:
        """Remove all motions but those at these indices."""
        if self.motions is not None:
            self.motions = edit.arranged(self.motions, indices)
        rank = {index: new for new, index in enumerate(indices)}
        self.table = {identity: rank[index] for identity, index in self.table.items() if index in rank}

    def identity(self, action: Action, label: str) -> Identity:
        """Return which motion here an action replaces if it gets the name ``label``."""
        index = self.index(action)
        if index is None and self.replaces:
            taken = {self.index(other) for other in self.identities}
            free = (i for i, name in enumerate(self.labels) if name.lower() == label.lower() and i not in taken)
            index = next(free, None)
        of_file = self.file is not None and action.motionbridge_motion.file == self.file.name
        source = motion_files.motion_of(action) if of_file and (index is None or not self.is_known) else None
        return Identity(index, source)

    def digest_at(self, index: int) -> bytes:
        """Return the digest of the motion at an index and of how it is played."""
        if self.motions is None:
            return b""
        library, parameters = self.motions
        return fingerprint(write_motion(library.motions[index]), parameters.definitions[index])

    def remove_deleted(self, *, whole: bool) -> None:
        """Remove the motions that were deleted in the panel, so that other motions can get their names.

        If only one action is saved (not ``whole``) into a file on disk, they are kept. A target that was put together
        from actions never contains them.
        """
        if self.file is None or not (whole or self.as_imported) or not len(self.file.deleted):
            return
        labels = self.labels
        removed = {index for identity in self._deleted() if (index := self.table.get(identity)) is not None}
        if removed:
            self.keep([index for index in range(len(labels)) if index not in removed])
        removed_names = [labels[index] for index in sorted(removed)]
        self.deleted = [entry.name for entry in self.file.deleted] if self.as_imported else removed_names

    def _deleted(self) -> list[MotionIdentity]:
        """Return what was deleted in the panel and is in the file as stored."""
        indices = [entry.index for entry in self.file.deleted] if self.file is not None else []
        return [self.stored[index] for index in indices if 0 <= index < len(self.stored)]

    def arrange(self, plan: MotionPlan, chosen: Sequence[Action], *, whole: bool) -> None:
        """Put the motions of ``plan`` in the order of the list, and store in it what was deleted."""
        plan.deleted = self.deleted
        if not whole:
            if not self.as_imported:
                plan.kept_deleted = [
                    replace(identity, index=self.table.get(identity, -1)) for identity in self._deleted()
                ]
            return
        motions = plan.document.motion_set
        indices = [self.index(action) for action in chosen]
        known = [
            (self.identities[action].index, here)
            for action, here in zip(chosen, indices, strict=True)
            if here is not None
        ]
        ranks = [stored if self.others_changed else here for stored, here in known]
        if ranks != sorted(ranks) or None in indices[: len(known)]:
            count = len(motions.library.motions)
            order = _in_list_order(indices, len(self.labels), count)
            plan.reordered = order != list(range(count))
            plan.data, plan.document = self.written(edit.arranged(motions, order))
            rank = {index: new for new, index in enumerate(order)}
            for table in (plan.written, plan.unwritten):
                table.update(
                    {action: replace(identity, index=rank[identity.index]) for action, identity in table.items()}
                )

    def written(self, motions: MotionSet) -> tuple[bytes, Omf]:
        """Return the bytes of the whole file with these motions, and the motions as a document."""
        if self.model is not None:
            return ogf.write(with_motion_set(self.model, motions)), omf.new_omf(motions)
        document = self.document.with_motion_set(motions) if self.document is not None else omf.new_omf(motions)
        return omf.write(document), document


def fingerprint(motion: bytes, definition: Definition) -> bytes:
    """Return a digest of a motion's bytes and of how it is played, without its index."""
    return _digest(seal_of(motion), definition)


def _digest(seal: bytes, definition: Definition) -> bytes:
    return hashlib.sha256(seal + repr(definition.playing).encode()).digest()


def _identities(file: MotionFile, motions: MotionSet) -> Identities:
    """Return the identities of a stored file's ``motions``, whose bytes the actions store.

    Raises `WriteError` if the file has other numbers of motions and definitions.
    """
    definitions = [definition for _, definition in edit.pairs(motions)]

    def digest(action: Action, index: int) -> bytes:
        seal = stored_seal(action.motionbridge_motion, "body")
        return _digest(seal, definitions[index]) if seal else b""

    labels = [definition.label for definition in definitions]
    return identities_of(file, labels, digest, lambda _, index: labels[index] if index >= 0 else "")


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
        host.imported = motion_files.document_of(file).motion_set
        host.stored, host.identities = _identities(file, host.imported)
        host.is_known = hashlib.sha256(data).hexdigest() == file.sha256
        if host.is_known:
            host.table = {identity: identity.index for identity in host.stored}
        else:
            host.table = found_by_name(host.stored, host.labels)
    return host


def _find_saved(host: OmfHost, listed: Sequence[Action], saved: Collection[bytes]) -> None:
    """Find the motions of actions that were new or renamed when they were saved, before that was undone: by name."""
    if host.is_known or host.file is None:
        return
    taken = {host.index(action) for action in host.identities}
    free = {
        label.lower(): index
        for index, label in enumerate(host.labels)
        if index not in taken and host.digest_at(index) in saved
    }
    waiting = [action for action in listed if host.index(action) is None] if free else []
    for action, label in zip(waiting, written_names(waiting, LISTS, Report()), strict=True):
        if (index := free.pop(label.lower(), None)) is not None:
            identity = host.identities.get(action) or MotionIdentity(location_of(host.file), -1, label)
            host.identities[action], host.table[identity] = identity, index


def file_at(rig: Object, path: str) -> MotionFile | None:
    """Return the motion file of ``rig`` with this path, or None."""
    return next(
        (file for file in rig.motionbridge_motion_files if location_of(file).is_same(files.FileLocation(path))), None
    )


def host_as_imported(rig: Object, chosen: Sequence[Action], file: MotionFile | None = None) -> OmfHost:
    """Return the imported motions of ``chosen``, in ``file`` or in the file most of them came from, as a target."""
    file = file if file is not None else _common_file(rig, chosen)
    if file is None:
        return OmfHost(None, parts=values.order_of_new_model(rig).parts)
    whole = motion_files.document_of(file)
    stored = _identities(file, whole.motion_set)
    originals: dict[int, Motion] = {}
    for action in chosen:
        motion = motion_files.motion_of(action)
        if motion is not None and action in stored.actions:
            originals[stored.actions[action].index] = motion
    document = motion_files.joined(file, whole, originals)
    library, parameters = document.motion_set
    return OmfHost(
        MotionSet(library, motion_files.with_partitions(parameters, file)),
        document,
        file=file,
        imported=whole.motion_set,
        stored=stored.motions,
        identities=stored.actions,
        table={stored.motions[index]: rank for rank, index in enumerate(sorted(originals))},
        as_imported=True,
    )


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
        before = host.imported.parameters if host.imported is not None else None
        edited = before is not None and motion_files.with_partitions(before, file) is not before
        if host.motions is not None and (edited or not others_changed):
            host.motions = host.motions._replace(parameters=motion_files.with_partitions(host.motions.parameters, file))
        host.others_changed = others_changed
        return host
    host = host_as_imported(rig, listed, file)
    imported = sum(host.index(action) is not None for action in listed)
    there = len(host.imported.library.motions) if host.imported is not None else 0
    missing = there - len(file.deleted) - imported
    if missing > 0:
        report.warn(say("motions of the file that were not imported and cannot be written: {}", missing), path.name)
    return host


def _in_list_order(listed: Sequence[int | None], known: int, count: int) -> list[int]:
    """Return the indices of a file's motions in the order of the list; motions that are not in the list come last.

    None in ``listed`` is a new motion; new motions have the indices from ``known`` on.
    """
    added = iter(range(known, count))
    front = [next(added) if index is None else index for index in listed]
    taken = set(front)
    return front + [index for index in range(count) if index not in taken]


def settle(
    plan: MotionPlan, rig: Object, file: MotionFile | None = None, options: MotionExportOptions | None = None
) -> MotionFile:
    """After ``plan`` was written: make the written file the new "as imported". Returns the motion file on the rig.

    If ``file`` is None, the rig gets a new motion file, so that its motions can be saved back.
    """
    digest = plan.digest
    known = file.sha256 if file is not None and plan.was_known else ""
    follow_motions(rig, plan.path, plan.document.motion_set, known, digest)
    before = action_lists.members(file, LISTS) if file is not None else {}
    files_of = {action: identity.name for action, identity in action_lists.files_of_actions(rig, LISTS).items()}
    for action in plan.written:
        other = rig.motionbridge_motion_files.get(files_of.get(action, ""))
        if other is not None and other != file:
            action_lists.remove(other, action)
    plan.written = {
        action if action in before else action_lists.own(rig, action, LISTS): identity
        for action, identity in plan.written.items()
    }
    if file is None:
        file = motion_files.attach(rig, plan.path, LISTS)
    elif options is not None and options.rest_change is RestChange.OFFSETS:
        motion_files.keep_rest(file, rig)
    seal = stored_seal(file, "document")
    motion_files.keep_document(file, plan.document, plan.path, digest)
    is_same = seal == stored_seal(file, "document")  # else the digests of all are of another file
    file.deleted.clear()
    for deleted in plan.kept_deleted:
        entry = file.deleted.add()
        entry.name, entry.index = deleted.name, deleted.index
    motions = plan.document.motion_set
    labels = motions.labels
    play = nla.playing(rig)
    for action, written in plan.written.items():
        motion, index = action.motionbridge_motion, written.index
        motion.is_motion = True
        motion.file, motion.index, motion.order, motion.status = file.name, index, index, "UNTOUCHED"
        stored = motions.library.motions[index]
        motion.motion_name = motion.imported_name = labels[index]
        keep(motion, "body", write_motion(stored))
        if not (play.ends(action) or (action in plan.shown_keys and action != play.action)):  # else keys do not say it
            motion_timing.set_length(action, stored.frames, rig)
    indices = {action: identity.index for action, identity in (plan.written | plan.unwritten).items()}
    kept = dict.fromkeys(plan.written) | dict.fromkeys(before)
    action_lists.replace(file, [(action, indices.get(action, -1)) for action in kept])
    saved = [action for action in plan.written if not is_same or action in plan.edited]
    remember_unedited(rig, file, [action for action in saved if action not in plan.shown_keys])
    return file
