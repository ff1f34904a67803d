"""Targets of an export of editor motions: a `.skl`, a `.skls`, a model, or the file as it was imported."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....blender import action_lists
from ....core import files
from ....core.changes import Changes, Part
from ....core.errors import WriteError
from ....core.report import Report
from ....formats.xray import object as editor_model
from ....formats.xray import skl
from ....formats.xray.skl import SkeletalMotion, Skl
from .files import skl_motion_of
from .hosts import Host
from .library import imported_name
from .properties import SKL_LISTS

if TYPE_CHECKING:
    from ....blender.typed import Action, Object
    from .properties import SkeletalFile


@dataclass
class MadeMotion:
    """A motion to write.

    ``replaces``: name of the motion in the file that it replaces. ``change``: differences from that motion, None if
    there are none.
    """

    action: Any
    motion: SkeletalMotion
    replaces: str
    change: Part | None


@dataclass
class SklHost(Host):
    """Target of an export of editor motions.

    ``document``: the file on disk, or the file as it was imported (without keys); None for a new file.
    """

    rig: Any
    document: Skl | None
    file: Any = None
    on_disk: bool = False
    model: editor_model.Object | None = None
    """Model that contains the motions; None for a file of motions only."""

    def written(self, document: Skl) -> bytes:
        """Return the bytes of the file with the motions of ``document``. Raises `WriteError`."""
        if self.model is None:
            return skl.write(document)
        return editor_model.write(self.model.with_model(self.model.model.with_motions(document)))

    def name_of(self, action: Action) -> str:
        """Return the name that the motion of an action has here, "" for a new one."""
        return "" if action_lists.copies([action], SKL_LISTS) else imported_name(action, SKL_LISTS)

    @cached_property
    def _known(self) -> tuple[dict[Any, int], dict[str, SkeletalMotion]]:
        """The actions of the file with their indices, and the motions here by their names."""
        return action_lists.members(self.file, SKL_LISTS), by_name(self.document or skl.new_skls([]))

    def digests_of(self, action: Action) -> tuple[bytes, bytes] | None:
        """Return digests of an action's motion as it was imported, and as it is here; None for a new one."""
        indices, motions = self._known
        stored, current = skl_motion_of(action), motions.get(imported_name(action, SKL_LISTS).lower())
        if stored is None or current is None or indices.get(action, -1) < 0:
            return None
        return fingerprint(stored), fingerprint(current)

    def room_for(self, chosen: list[Action], report: Report) -> list[Action]:
        """Return the motion that the file came with if it is a `.skl`, which stores one: no copies beside it."""
        indices = self._known[0]
        originals = [action for action in chosen if indices.get(action, -1) >= 0]
        if not originals or Path(self.file.path).suffix.lower() != ".skl":
            return chosen
        for action in chosen:
            if action not in originals:
                report.warn("a .skl file stores one motion: left out; export it to a file of its own", action.name)
        return originals

    def joined(self, made: list[MadeMotion], path: str) -> tuple[Skl, Changes]:
        """Return the document to write at ``path``, and its changes.

        Raises `WriteError` if ``path`` is a `.skl` and there is not exactly one motion.
        """
        changes = Changes(parts=[one.change for one in made if one.change is not None], noun="motion", items="channel")
        if self.document is not None and self.on_disk:
            document, motions = self.document, self._replaced(made, changes)
        else:
            document, motions = self._as_imported(made, path), [one.motion for one in made]
        single = Path(path).suffix.lower() == ".skl"
        if single and len(motions) != 1:
            raise WriteError(
                f"a .skl file stores one motion, not {len(motions)}",
                file=path,
                remedy="Export one action with File > Export, or name a file that ends in .skls",
            )
        changes.unchanged = len(motions) - len(changes.parts)
        if single and document.sections is None:
            return skl.new_skl(motions[0]), changes
        if not single and document.sections is not None:
            return skl.new_skls(motions), changes
        return document.with_motions(motions), changes

    def _replaced(self, made: list[MadeMotion], changes: Changes) -> list[SkeletalMotion]:
        """Return the motions on disk, each replaced by the one of its name in ``made``; the others are added."""
        motions = list(self.document.motions) if self.document is not None else []
        labels = [motion.label.lower() for motion in motions]
        for one in made:
            name = one.replaces.lower()
            if name in labels:
                index = labels.index(name)
                old, motions[index] = motions[index], replace(one.motion, tail=motions[index].tail)
                if one.change is None and skl.bytes_of(old) != skl.bytes_of(motions[index]):
                    changes.parts.append(Part(one.motion.label, "motion", fields=("as imported",)))
                labels[index] = "\0"  # two motions of the same name replace one motion each
            else:
                motions.append(one.motion)
                if one.change is None:
                    changes.parts.append(Part(one.motion.label, "motion", new=True))
        return motions

    def _as_imported(self, made: list[MadeMotion], path: str) -> Skl:
        """Return the imported document, or a new one. Imported motions get back the unknown bytes after them."""
        if self.document is None:
            return skl.new_skl(made[0].motion) if path.lower().endswith(".skl") else skl.new_skls([])
        indices = action_lists.members(self.file, SKL_LISTS)
        for one in made:
            index = indices.get(one.action, -1)
            if 0 <= index < len(self.document.motions):
                one.motion = replace(one.motion, tail=self.document.motions[index].tail)
        return self.document


def host_on_disk(rig: Object, path: str, file: SkeletalFile | None) -> SklHost:
    """Return the file at ``path``, which may be a model that contains motions, as a target. Raises `ReadError`."""
    if not is_model(path):
        return SklHost(rig, skl.read(files.read_file(path), path, Report()), file, on_disk=True)
    model = editor_model.read(files.read_file(path), path, Report())
    return SklHost(rig, model.model.first(skl.Skl) or skl.new_skls([]), file, on_disk=True, model=model)


def fingerprint(motion: SkeletalMotion) -> bytes:
    """Return a digest of a motion as stored in a file, without unknown bytes after it."""
    return hashlib.sha256(skl.bytes_of(replace(motion, tail=b""))).digest()


def by_name(document: Skl) -> dict[str, SkeletalMotion]:
    """Return the motions by their names in lower case; the first one of each name."""
    return {motion.label.lower(): motion for motion in reversed(document.motions)}


def is_model(path: str) -> bool:
    """Return whether a file is a model of the editor, by its suffix."""
    return path.lower().endswith(".object")
