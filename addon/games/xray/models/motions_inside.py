"""Motions inside a game model: the model and they are saved one by one, and each follows what the other wrote."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....blender.properties import is_local, keep, kept
from ....core.files import FileLocation
from ....core.report import Report
from ....formats.xray import ogf
from ....formats.xray.ogf.document import motion_set_of, with_motion_set
from ...plan import location_of, remember_saved
from ..motions.files import are_stored

if TYPE_CHECKING:
    from ....blender.typed import Object
    from ....formats.xray.omf.document import MotionSet


def files_inside(holder: Object, path: Path | str) -> list[Any]:
    """Return the motion files of an armature that are inside the model at ``path``."""
    listed = holder.motionbridge_motion_files
    return [file for file in listed if file.embedded and location_of(file).is_same(FileLocation(str(path)))]


def follow_model(holder: Object, path: Path | str, data: bytes) -> None:
    """After the model at ``path`` was replaced by ``data``: recognise the file as that of the motions inside it.

    Only if ``data`` has the motions that were imported or saved last, which is what Save Back takes them for.
    """
    inside = files_inside(holder, path) if is_local(holder) else []
    motions = motion_set_of(ogf.read(data, Path(path).name, Report())) if inside else None
    for file in inside:
        if motions is not None and are_stored(file, motions):
            file.sha256 = hashlib.sha256(data).hexdigest()


def follow_motions(holder: Object, path: str, motions: MotionSet, before: str, digest: str) -> None:
    """After motions were saved into the model at ``path``: put them into the stored model of ``holder`` too.

    Otherwise its next export would write the motions as they were imported. ``before`` and ``digest``: the SHA-256 of
    the file with the old and with the new motions, "" for ``before`` if other programs had changed the file. The new
    file counts as saved from here if the old one was the imported or last saved one.
    """
    properties = holder.motionbridge_model
    data = kept(properties, "document")
    if not properties.is_model or not data or not location_of(properties).is_same(FileLocation(str(path))):
        return
    base = ogf.read(data, Path(path).name, Report())
    if motion_set_of(base) is None:
        return
    known = {properties.saved, hashlib.sha256(data).hexdigest()}
    keep(properties, "document", ogf.write(with_motion_set(base, motions)))
    if before and before in known:
        properties.saved = digest
        remember_saved(holder, path, digest)
