"""Files of motions that a dialog lists before they are imported, each parsed once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....blender.imported_bones import BonesInArmature
from ....core.report import Report
from .library import bones_in

if TYPE_CHECKING:
    from ....blender.typed import Object
    from .library import AnyCodec, Opened


class ReadFiles:
    """Files of one operator, each parsed once for both its list of motions and its import."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[tuple[int, int], Opened[Any], Report]] = {}

    def list_motions(self, codec: AnyCodec, path: str) -> list[tuple[str, int]]:
        """Return the name and the number of frames of each motion, and keep the file for `take`. Raises `ReadError`."""
        state = _file_state(path)
        if path not in self._read or self._read[path][0] != state:
            report = Report()
            self._read[path] = state, codec.read(path, report), report
        return codec.motions(self._read[path][1].document)

    def bones_in(self, codec: AnyCodec, path: str, rig: Object) -> BonesInArmature:
        """Return how many of the bones of a listed file ``rig`` has."""
        document = self._read[path][1].document
        in_file = codec.bones(rig, document, range(len(codec.motions(document))))
        return BonesInArmature(len(bones_in(rig, in_file)[0]), len(in_file))

    def take(self, codec: AnyCodec, path: str, report: Report) -> Opened[Any]:
        """Remove and return the kept file, with its report. Reads it again if it has changed on disk."""
        state, opened, found_report = self._read.pop(path, (None, None, report))
        if opened is None or state != _file_state(path):
            return codec.read(path, report)
        report.include(found_report)
        return opened


def _file_state(path: str) -> tuple[int, int]:
    """Return the modification time and the size of a file; zeros if unknown, and reading it reports why."""
    try:
        status = Path(path).stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
