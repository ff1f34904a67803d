"""A file before it is written: its bytes, what in them is different, and what they start from, for every format."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core import files
from ..core.errors import WriteError

if TYPE_CHECKING:
    from bpy.types import ID

    from ..core.changes import Changes, Words


class OtherBase(Enum):
    """What saving back starts from where the file on disk is no longer the one that was imported."""

    REFUSE = "refuse"
    DISK = "disk"
    """The file on disk: what others changed in it meanwhile stays."""
    IMPORTED = "imported"
    """The file as it was imported: what others changed meanwhile is overwritten."""


_saved: dict[tuple[int, str], str] = {}


def remember_saved(holder: ID, path: str, digest: str) -> None:
    """Know what was saved for a data-block (object or action) at ``path``: undo takes no file back."""
    _saved[holder.session_uid, str(Path(path))] = digest


def saved_here(holder: ID, path: str) -> str:
    """The SHA-256 of what was saved last for a data-block at ``path`` since Blender was started; "" for nothing."""
    return _saved.get((holder.session_uid, str(Path(path))), "")


@dataclass
class FilePlan:
    """A file that could be written: nothing is on disk before `write`. ``changes`` tells what is different in it."""

    path: str
    data: bytes
    changes: Any
    imported = ""
    """The SHA-256 of the file as it was imported, or saved last, where that is known."""

    @property
    def plans(self) -> Sequence[FilePlan]:
        """A plan for each file that is written, in that order."""
        return (self,)

    def sentence(self, words: Words | None = None) -> str:
        """What will change, in one sentence. ``words`` as `Changes.sentence` takes them."""
        return str(self.changes.sentence(words))

    @property
    def is_as_imported(self) -> bool:
        """Whether it would be the file as it was imported, or saved last, byte for byte."""
        return bool(self.imported) and self.digest == self.imported

    @property
    def digest(self) -> str:
        """The SHA-256 of what would be written."""
        return hashlib.sha256(self.data).hexdigest()

    def is_saved(self) -> bool:
        """Whether the file on disk is what would be written."""
        return digest_on_disk(self.path) == self.digest

    def refuse_unwritable(self) -> None:
        """Raises the `WriteError` that `write` would raise, as far as that can be said before."""
        files.refuse_unwritable(self.path)

    def write(self, *, backup: bool = False) -> None:
        """Put the file on disk in one step. Raises `WriteError`."""
        files.write_atomically(self.path, self.data, backup=backup)


class Together(FilePlan):
    """Several files in one save."""

    def __init__(self, path: str, plans: Sequence[FilePlan], data: bytes = b"", changes: Changes | None = None) -> None:
        """``path`` of the file that names them all, with its ``data`` and ``changes`` where it is one of them."""
        super().__init__(path, data, changes)
        self._plans = plans

    @property
    def plans(self) -> Sequence[FilePlan]:
        """As given."""
        return self._plans

    def sentence(self, words: Words | None = None) -> str:
        """What will change in each file."""
        return "; ".join(f"{Path(plan.path).name}: {plan.sentence(words)}" for plan in self.plans)

    def is_saved(self) -> bool:
        """Whether no file would change."""
        return all(plan.is_saved() for plan in self.plans)

    def refuse_unwritable(self) -> None:
        """Raises the first `WriteError` that `write` would raise, as far as that can be said before."""
        for plan in self.plans:
            plan.refuse_unwritable()

    def write(self, *, backup: bool = False) -> None:
        """Put the files on disk. Raises `WriteError`; those before are written then."""
        for plan in self.plans:
            plan.write(backup=backup)


def digest_on_disk(path: Path | str) -> str | None:
    """The SHA-256 of a file, None where there is none. Raises `ReadError`."""
    return hashlib.sha256(files.read_file(path)).hexdigest() if Path(path).is_file() else None


def starts_from_disk(path: Path | str, known: Collection[str], if_changed: OtherBase) -> bool:
    """Whether a file is to be saved onto the one on disk; False where it is missing, or the imported one counts.

    ``known``: the SHA-256 of the file as it was imported, or saved since. Raises `WriteError` where the file on disk is
    another one and nothing was decided (option ``if_changed``).
    """
    digest = digest_on_disk(path)
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


def onto_imported(plan: FilePlan, properties: Any, imported: str, if_changed: OtherBase) -> None:
    """Let a plan of what starts from the imported file alone be for the file that it came from.

    ``properties`` of an object or action hold as ``saved`` the SHA-256 of what was saved last; ``imported`` is that of
    the imported file. Raises `WriteError` where others changed the file and nothing was decided.
    """
    known = {imported, properties.saved, saved_here(properties.id_data, plan.path), plan.digest}
    if if_changed is OtherBase.REFUSE and digest_on_disk(plan.path) not in {None, *known}:
        raise WriteError(
            "the file on disk is no longer the one that was imported",
            file=plan.path,
            remedy="Choose the file as imported as Base File, which overwrites it, or import the file on disk again",
            option="if_changed",
        )
    plan.imported = imported


def keep_saved(plan: FilePlan, properties: Any) -> None:
    """After a plan of `onto_imported` was written: the file on disk is known, also after undo."""
    properties.saved = plan.digest
    remember_saved(properties.id_data, plan.path, plan.digest)
