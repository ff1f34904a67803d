"""Files planned before they are written: their bytes, the changes, and the base file. Used by every format."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import bpy

from ..blender.properties import is_local, kept
from ..core import files
from ..core.changes import Changes
from ..core.errors import MotionbridgeError, WriteError
from ..core.files import FileLocation
from ..core.report import Message, joined, listed, say
from ..formats import compare, is_comparable

if TYPE_CHECKING:
    from bpy.types import ID

    from ..core.report import Report


class LocatedFile(Protocol):
    """Property group that knows a file."""

    path: str
    """Where the file is, which may be relative to the .blend."""


class StoredFile(LocatedFile, Protocol):
    """Property group of a data-block that was made from a file."""

    saved: str
    """SHA-256 of the file as it was saved last."""

    @property
    def id_data(self) -> Any:
        """The data-block."""


class OtherBase(Enum):
    """The base file for saving back if the file on disk is no longer the imported one."""

    REFUSE = "refuse"
    DISK = "disk"
    """The file on disk: changes that others made to it are kept."""
    IMPORTED = "imported"
    """The file as imported: changes that others made since are overwritten."""


_saved: dict[tuple[int, FileLocation, str], str] = {}


def remember_saved(holder: ID, path: str, digest: str, part: str = "") -> None:
    """Remember the SHA-256 of what was saved for a data-block (object or action) at ``path``.

    ``part``: what of the file was saved, if it is not the whole (``motions``). Kept outside the .blend, because undo
    does not restore files.
    """
    _saved[holder.session_uid, _location(path), part] = digest


def saved_here(holder: ID, path: str, part: str = "") -> str:
    """Return the SHA-256 of a data-block's last save at ``path`` since Blender was started; "" if there was none."""
    return _saved.get((holder.session_uid, _location(path), part), "")


def _location(path: Path | str) -> FileLocation:
    return FileLocation(str(Path(path)))


def location_of(properties: LocatedFile) -> FileLocation:
    """Return where the file is whose path ``properties`` store, which may be relative to the .blend."""
    return FileLocation(bpy.path.abspath(properties.path))


_exported: dict[int, str] = {}


def remember_destination(holders: Iterable[ID], path: str) -> None:
    """Remember the file to which data-blocks were exported, until Blender is closed. Kept outside the .blend, because
    an export changes nothing in the scene.
    """
    _exported.update((holder.session_uid, path) for holder in holders)


def last_destination(holders: Iterable[ID]) -> str:
    """Return the file to which the first of these data-blocks that was exported was exported last; "" if none was."""
    return next((path for holder in holders if (path := _exported.get(holder.session_uid))), "")


@dataclass
class FilePlan:
    """A file before it is written: `write` puts ``data`` on disk; ``changes`` lists what differs from the base file."""

    path: str
    data: bytes
    changes: Changes
    imported: str = field(default="", kw_only=True)
    """SHA-256 of the file as imported or last saved; "" if unknown."""
    base: str = field(default="", kw_only=True)
    """SHA-256 of the file that ``changes`` compare with; "" if unknown, or if there is none."""
    is_compared: bool = field(default=False, kw_only=True)
    """Whether ``changes`` were compared with the file on disk."""
    is_preview: bool = field(default=False, kw_only=True)
    """Whether something that seems unedited was not compared, so that the file has to be planned again for writing."""
    archived: str = field(default="", kw_only=True)
    """Path in an archive that the .blend has again after undo, if ``path`` is the file of a mod that was saved."""

    @property
    def plans(self) -> Sequence[FilePlan]:
        """One plan for each file to be written, in this order."""
        return (self,)

    def sentence(self) -> Message:
        """Return what will change, in one sentence."""
        return self.changes.sentence()

    @property
    def is_as_imported(self) -> bool:
        """Whether the bytes are the same as those of the file as imported or last saved."""
        return bool(self.imported) and self.digest == self.imported

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes to be written."""
        return hashlib.sha256(self.data).hexdigest()

    def on_disk(self) -> str | None:
        """Return the SHA-256 of what `write` would replace, None if there is nothing. Raises `ReadError`."""
        return FileLocation(self.path).digest()

    def is_saved(self) -> bool:
        """Return whether the file on disk already has these bytes, and the .blend has its path."""
        return not self.archived and self.on_disk() == self.digest

    @property
    def file_name(self) -> str:
        """Path that tells the format, and names the file in messages."""
        return self.path

    def content_on_disk(self) -> bytes:
        """Return the bytes of what `write` would replace, b"" if there is nothing. Raises `ReadError`."""
        return FileLocation(self.path).content()

    def compare_with_disk(self) -> None:
        """Let ``changes`` be those to the file on disk, if that is not the file they compare with.

        A file of another format, or one that no export could write, is replaced as a whole: ``changes`` stay.
        """
        if self.is_compared or not is_comparable(self.file_name, self.data):
            return
        self.is_compared = True
        with suppress(MotionbridgeError):
            before = self.content_on_disk()
            if before and hashlib.sha256(before).hexdigest() != self.base:
                self.changes = compare(self.file_name, before, self.data)

    def refuse_unwritable(self) -> None:
        """Raise the `WriteError` that `write` would raise, as far as that can be checked in advance."""
        files.refuse_unwritable(self.path)

    def write(self, *, backup: bool = False) -> None:
        """Write the file; ``backup`` as in `files.write_atomically`. Raises `WriteError`.

        ``changes`` are those to the file that was replaced.
        """
        self.compare_with_disk()
        files.write_atomically(self.path, self.data, backup=backup)

    def onto_imported(self, stored: StoredFile, if_changed: OtherBase) -> None:
        """Check that this plan, which is based on the imported file, may replace the file on disk.

        Raises `WriteError` if others changed the file on disk and ``if_changed`` is `OtherBase.REFUSE`.
        """
        self.imported = self.base = imported_digest(stored)
        known = {None, self.digest, *known_digests(stored)}
        if if_changed is OtherBase.REFUSE and self.on_disk() not in known:
            raise changed_on_disk(self.path)

    def settle(self, stored: StoredFile) -> None:
        """After the file was saved back: recognise it on disk, also after undo."""
        stored.saved = self.digest
        remember_saved(stored.id_data, self.path, self.digest)

    def settle_exported(self, stored: StoredFile) -> None:
        """After the file was exported: if it replaced the source file of ``stored``, others did not change that.

        Stored in the .blend; linked data knows it until Blender is closed.
        """
        if not stored.path or not location_of(stored).is_same(_location(self.path)):
            return
        remember_saved(stored.id_data, location_of(stored).path, self.digest)
        if is_local(stored.id_data):
            stored.saved = self.digest


def changed_on_disk(path: str) -> WriteError:
    """Return the error for a file that others changed, and that a plan based on the imported file would replace."""
    remedy = "Choose the file as imported as Base File, which overwrites it, or import the file on disk again"
    words = "the file on disk is no longer the one that was imported"
    return WriteError(words, file=path, remedy=remedy, option="if_changed")


class Together(FilePlan):
    """Several files that are saved together."""

    def __init__(self, path: str, plans: Sequence[FilePlan], data: bytes = b"", changes: Changes | None = None) -> None:
        """``path`` represents the save; ``data`` and ``changes`` are of this file if it is one of those written."""
        super().__init__(path, data, changes if changes is not None else Changes())
        self._plans = plans

    @property
    def plans(self) -> Sequence[FilePlan]:
        """The given plans."""
        return self._plans

    def sentence(self) -> Message:
        """Return what will change in each file."""
        return joined((say("{}: {}", Path(plan.path).name, plan.sentence()) for plan in self.plans), "; ")

    def is_saved(self) -> bool:
        """Return whether all files on disk already have the planned bytes."""
        return all(plan.is_saved() for plan in self.plans)

    def compare_with_disk(self) -> None:
        """Do the same for each plan."""
        for plan in self.plans:
            plan.compare_with_disk()

    def refuse_unwritable(self) -> None:
        """Raise the first `WriteError` that `write` would raise, as far as that can be checked in advance."""
        for plan in self.plans:
            plan.refuse_unwritable()

    def write(self, *, backup: bool = False) -> None:
        """Write the files, or none if one of them is write-protected.

        Raises `WriteError`; if the system refuses one later, those before it are already written.
        """
        self.refuse_unwritable()
        self.compare_with_disk()
        for plan in self.plans:
            plan.write(backup=backup)


def changes_on_disk(path: str, data: bytes) -> Changes | None:
    """Return what writing ``data`` to ``path`` would change, None if that cannot be compared."""
    plan = FilePlan(path, data, uncompared := Changes())
    plan.compare_with_disk()
    return plan.changes if plan.changes is not uncompared else None


def starts_from_disk(path: Path | str, known: Collection[str], if_changed: OtherBase) -> bool:
    """Return whether the file on disk is the base for saving; False if it is missing or the imported file is the base.

    ``known``: SHA-256 values of the file as imported or saved since. Raises `WriteError` if the file on disk is another
    one and ``if_changed`` is `OtherBase.REFUSE`.
    """
    digest = _location(path).digest()
    if digest is None:
        return False
    if digest in known or if_changed is OtherBase.DISK:
        return True
    if if_changed is OtherBase.REFUSE:
        raise WriteError(
            "the file on disk is no longer the one that was imported",
            file=str(path),
            remedy="Choose the Base File: the file on disk, or the file as imported",
            option="if_changed",
        )
    return False


def imported_digest(stored: Any) -> str:
    """Return the SHA-256 of the imported file, which ``stored`` keeps as ``document``."""
    return hashlib.sha256(kept(stored, "document")).hexdigest()


def known_digests(stored: StoredFile) -> set[str]:
    """Return the SHA-256 values of a file as imported, and as saved since."""
    return {imported_digest(stored), stored.saved, saved_here(stored.id_data, bpy.path.abspath(stored.path))}


def warn_of_pasted(owner: ID, parts: Iterable[tuple[ID, Any]], path_of: Callable[[Any], str], report: Report) -> None:
    """Warn of objects that are not written because they belong to another copy of what stores the file.

    Blender's Paste (Ctrl V) copies an object with everything that it refers to. ``owner``: the data-block that stores
    the file. ``parts``: objects of the scene, each with its own owner, or None. ``path_of``: returns the path of an
    owner's file, as it is stored.
    """
    others: dict[Any, list[str]] = {}
    for part, of in parts:
        if of is not None and of != owner:
            others.setdefault(of, []).append(part.name)
    path = bpy.path.abspath(path_of(owner))
    pasted = [name for of, other in others.items() if bpy.path.abspath(path_of(of)) == path for name in other]
    if path and pasted:
        report.warn(
            "objects of another copy of the file (pasted, or imported again) are not written; to "
            "copy a part, use Shift D",
            listed(sorted(pasted)),
        )
