"""The motions of a model's files as the game looks them up, and their import."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from ....core.errors import ReadError
from ....core.report import Report
from ....formats.xray import hud
from ..models.importing import ImportedModel
from ..motions import library, omf_codec
from ..motions.library import Opened
from ..options import MotionImportOptions


class MotionFiles:
    """The motion files of an imported model; ``extra`` one besides them, which wins.

    ``table`` name -> (index of the file, index of the definition), see `formats.xray.hud.motion_table`. A file that
    cannot be read is reported and left out.
    """

    def __init__(self, model: ImportedModel, path: Path, extra: str, report: Report) -> None:
        """Read all of them."""
        self._rig = model.rig
        self.files: list[Opened] = []
        paths = [str(file) for reference in model.references for file in reference.files]
        if model.motions is not None and not paths:
            self.files.append(omf_codec.opened_model(str(path), model.motions, model.digest))
        for file in dict.fromkeys([*paths, *([extra] if extra else [])]):
            try:
                self.files.append(omf_codec.OMF.read(file, report))
            except ReadError as refusal:  # the others are good
                report.warn(f"motions left out: {str(refusal).rstrip('.')}")
        self.table = hud.motion_table(opened.document.motion_set for opened in self.files)

    def import_named(self, context: Any, names: Iterable[str] | None, report: Report) -> dict[str, Any]:
        """Name in lower case -> the action of that motion, in the order of the files.

        Of ``names`` those that the game finds, each from the file that it takes it from; without them everything.
        """
        wanted = None if names is None else list(names)
        found: dict[str, Any] = {}
        for number, opened in enumerate(self.files):
            labels = {label.lower() for label, _ in omf_codec.OMF.motions(opened.document)}
            if wanted is not None:
                labels &= {name for name in wanted if self.table[name][0] == number}
            if labels:
                found |= self._import(context, opened, labels, report)
        return found

    def _import(self, context: Any, opened: Opened, chosen: Collection[str], report: Report) -> dict[str, Any]:
        result = library.import_motions(
            omf_codec.OMF,
            context,
            self._rig,
            opened.path,
            options=MotionImportOptions(motions=chosen, assign_first=False),
            report=report,
            read=lambda _codec, _path, _report: opened,
        )
        found: dict[str, Any] = {}
        for action in result.actions:
            found.setdefault(str(action.motionbridge_motion.imported_name).lower(), action)
        return found
