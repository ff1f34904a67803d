"""Targets of an export of editor motions: a `.skl`, a `.skls`, a model, or the file as it was imported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ....blender.properties import seal_of, stored_seal
from ....core import files
from ....core.changes import Changes, Noun, Part
from ....core.errors import WriteError
from ....core.report import Report, say
from ....formats.xray import object as editor_model
from ....formats.xray import skl
from ....formats.xray.skl import SkeletalMotion, Skl
from .files import skl_document_of
from .hosts import Host, Identities, MotionIdentity, found_by_name, identities_of
from .library import Plan, imported_name
from .properties import SKL_LISTS

if TYPE_CHECKING:
    from ....blender.typed import Action, Object
    from .properties import SkeletalFile


@dataclass
class MadeMotion:
    """A motion to write. ``change``: differences from the motion that it replaces, None if there are none."""

    action: Action
    motion: SkeletalMotion
    change: Part | None


@dataclass
class SklHost(Host[Plan[Skl]]):
    """Target of an export of editor motions.

    ``document``: the file on disk, or the file as it was imported (without keys); None for a new file.
    """

    document: Skl | None
    file: SkeletalFile | None = None
    on_disk: bool = False
    model: editor_model.Object | None = None
    """Model that contains the motions; None for a file of motions only."""
    stored: list[MotionIdentity] = field(default_factory=list)
    """The motions of ``file`` as it was imported."""
    deleted: list[str] = field(default_factory=list)
    """Names of the motions that were deleted in the panel and leave the file."""

    @classmethod
    def of(
        cls,
        rig: Object,
        document: Skl | None,
        file: SkeletalFile | None,
        *,
        on_disk: bool = False,
        model: editor_model.Object | None = None,
    ) -> SklHost:
        """Return a target that knows the motions of ``rig``: in ``file`` by their indices at import, else by name.

        What was saved since import is in no order that the armature stores, so motions on disk are found by name.
        """
        host = cls(document, file, on_disk, model)
        for known in rig.motionbridge_skeletal_files:
            identities = _identities(known, [motion.label for motion in skl_document_of(known).motions])
            host.identities |= identities.actions
            host.stored = identities.motions if known == file else host.stored
        if on_disk and document is not None:
            saved = {identity.name.lower() for identity in host.identities.values() if identity.index < 0}
            imported = [identity for identity in host.stored if identity.digest or identity.name.lower() not in saved]
            wanted = dict.fromkeys([*imported, *host.identities.values()])
            host.table = found_by_name(wanted, [motion.label for motion in document.motions])
        else:
            host.table = {identity: identity.index for identity in host.stored}
        return host

    def written(self, document: Skl) -> bytes:
        """Return the bytes of the file with the motions of ``document``. Raises `WriteError`."""
        if self.model is None:
            return skl.write(document)
        return editor_model.write(self.model.with_model(self.model.model.with_motions(document)))

    def name_of(self, action: Action) -> str:
        """Return the name of an action's motion in its file, "" for a new one."""
        return self.identities[action].name if action in self.identities else ""

    def digest_at(self, index: int) -> bytes:
        """Return the digest of the motion at an index, without unknown bytes after it."""
        return fingerprint(self.document.motions[index]) if self.document is not None else b""

    def room_for(self, chosen: list[Action], report: Report) -> list[Action]:
        """Return the motion that the file came with if it is a `.skl`, which stores one: no copies beside it."""
        originals = [action for action in chosen if action in self.identities and self.identities[action].index >= 0]
        if not originals or self.file is None or Path(self.file.path).suffix.lower() != ".skl":
            return chosen
        for action in chosen:
            if action not in originals:
                report.warn(
                    "a .skl file stores one motion: the copy is left out; export it to a file of its own", action.name
                )
        return originals

    def remove_deleted(self, *, whole: bool) -> None:
        """Remove the motions that were deleted in the panel from a file on disk, where it has them; a target as
        imported gets only motions with actions.
        """
        if self.file is None or self.document is None or not whole:
            return
        deleted = [self.stored[entry.index] for entry in self.file.deleted if 0 <= entry.index < len(self.stored)]
        here = {self.table[identity] for identity in deleted if identity in self.table}
        motions = self.document.motions
        self.deleted = [motions[index].label for index in sorted(here)]
        if self.on_disk and here:
            left = [index for index in range(len(motions)) if index not in here]
            self.document = self.document.with_motions([motions[index] for index in left])
            now = {old: new for new, old in enumerate(left)}
            self.table = {identity: now[old] for identity, old in self.table.items() if old in now}

    def joined(self, motions_made: list[MadeMotion], path: str) -> tuple[Skl, Changes, list[int]]:
        """Return the document to write at ``path``, its changes, and the index in it of each motion.

        Raises `WriteError` if ``path`` is a `.skl` and there is not exactly one motion.
        """
        changes = Changes(
            parts=[own_encoded.change for own_encoded in motions_made if own_encoded.change is not None],
            noun=Noun.MOTION,
            items=Noun.CHANNEL,
        )
        document, indices = self.document, list(range(len(motions_made)))
        changes.deleted[Noun.MOTION] += len(self.deleted)
        single = Path(path).suffix.lower() == ".skl"
        if document is not None and self.on_disk:
            motions, indices = self._replaced(document, motions_made, changes)
        else:
            motions = [own_encoded.motion for own_encoded in motions_made]
            for number, encoded in enumerate(motions_made):
                if document is not None and (index := self.index(encoded.action)) is not None:
                    motions[number] = replace(encoded.motion, tail=document.motions[index].tail)
        if single and len(motions) != 1:
            raise WriteError(
                say("a .skl file stores one motion, not {}", len(motions)),
                file=path,
                remedy="Export one action with File > Export, or name a file that ends in .skls",
            )
        changes.unchanged = len(motions) - len(changes.parts)
        if document is None or single != (document.sections is not None):
            return skl.new_skl(motions[0]) if single else skl.new_skls(motions), changes, indices
        return document.with_motions(motions), changes, indices

    def _replaced(
        self, document: Skl, motions_made: list[MadeMotion], changes: Changes
    ) -> tuple[list[SkeletalMotion], list[int]]:
        """Return the motions on disk, each replaced by the one in ``motions_made`` that it is or whose name it has,
        with the others at the end; and the index of each.
        """
        motions = list(document.motions)
        labels = [motion.label.lower() for motion in motions]
        known = [self.index(own_encoded.action) for own_encoded in motions_made]
        free = set(range(len(motions))).difference(known)
        indices = []
        for encoded, index in zip(motions_made, known, strict=True):
            if index is None:
                is_new = encoded.action not in self.identities
                same_name = (i for i in sorted(free) if is_new and labels[i] == encoded.motion.label.lower())
                index = next(same_name, len(motions))
                free.discard(index)
            indices.append(index)
            if index == len(motions):
                motions.append(encoded.motion)
                if encoded.change is None:
                    changes.parts.append(Part(encoded.motion.label, Noun.MOTION, new=True))
                continue
            old, motions[index] = motions[index], replace(encoded.motion, tail=motions[index].tail)
            if encoded.change is None and skl.bytes_of(old) != skl.bytes_of(motions[index]):
                changes.parts.append(Part(encoded.motion.label, Noun.MOTION, fields=(say("as imported"),)))
        return motions, indices


def _identities(file: SkeletalFile, labels: Sequence[str]) -> Identities:
    """Return the identities of a stored file's motions, called ``labels`` at import."""
    return identities_of(
        file,
        labels,
        lambda action, _: stored_seal(action.motionbridge_skeletal, "body"),
        lambda action, _: imported_name(action, SKL_LISTS),
    )


def host_on_disk(rig: Object, path: str, file: SkeletalFile | None) -> SklHost:
    """Return the file at ``path``, which may be a model that contains motions, as a target. Raises `ReadError`."""
    data = files.read_file(path)
    if not is_model(path):
        return SklHost.of(rig, skl.read(data, path, Report()), file, on_disk=True)
    model = editor_model.read(data, path, Report())
    return SklHost.of(rig, model.model.first(skl.Skl) or skl.new_skls([]), file, on_disk=True, model=model)


def fingerprint(motion: SkeletalMotion) -> bytes:
    """Return a digest of a motion as stored in a file, without unknown bytes after it."""
    return seal_of(skl.bytes_of(replace(motion, tail=b"")))


def is_model(path: str) -> bool:
    """Return whether a file is a model of the editor, by its suffix."""
    return path.lower().endswith(".object")
