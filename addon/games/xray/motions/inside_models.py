"""Motions inside a model: the model and they are saved one by one, and each follows what the other wrote."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ....blender.properties import is_local, keep, kept
from ....core.files import FileLocation
from ....core.report import Report
from ....formats.xray import object as editor_model
from ....formats.xray import ogf
from ....formats.xray.ogf.document import motion_set_of, with_motion_set
from ...plan import location_of, remember_saved
from .files import are_stored

if TYPE_CHECKING:
    from ....blender.typed import Object
    from ....formats.xray.omf.document import MotionSet
    from ....formats.xray.skl import Skl
    from .properties import MotionFile


def files_inside(listed: Any, path: Path | str) -> list[Any]:
    """Return those of an armature's files ``listed`` that are inside the model at ``path``."""
    location = FileLocation(bpy.path.abspath(str(path)))
    return [file for file in listed if file.embedded and location_of(file).is_same(location)]


def follow_model(holder: Object, path: Path | str, data: bytes) -> None:
    """After the game model at ``path`` was replaced by ``data``: recognise the file as that of the motions inside it.

    Only if ``data`` has the motions that were imported or saved last, which is what Save Back takes them for.
    """
    inside: list[MotionFile] = files_inside(holder.motionbridge_motion_files, path) if is_local(holder) else []
    motions = motion_set_of(ogf.read(data, Path(path).name, Report())) if inside else None
    for file in inside:
        if motions is not None and are_stored(file, motions):
            file.sha256 = hashlib.sha256(data).hexdigest()


def follow_motions(holder: Object, path: str, motions: MotionSet, before: str, digest: str) -> None:
    """After motions were saved into the game model at ``path``: put them into the stored model of ``holder`` too.

    Otherwise its next export would write the motions as they were imported. ``before`` and ``digest``: the SHA-256 of
    the file with the old and with the new motions, "" for ``before`` if other programs had changed the file. The new
    file counts as saved from here if the old one was the imported or last saved one.
    """

    def changed(data: bytes) -> bytes | None:
        base = ogf.read(data, Path(path).name, Report())
        return ogf.write(with_motion_set(base, motions)) if motion_set_of(base) is not None else None

    _follow(holder.motionbridge_model, path, changed, before, digest)


def follow_editor_motions(holder: Object, path: str, motions: Skl, before: str, digest: str) -> None:
    """Do the same as `follow_motions` for a model of the editor."""
    _follow(holder.motionbridge_editor_model, path, lambda data: with_motions(data, motions), before, digest)


def with_motions(data: bytes, motions: Skl) -> bytes:
    """Return the bytes ``data`` of an editor model with other motions."""
    base = editor_model.read(data, "", Report())
    return editor_model.write(base.with_model(base.model.with_motions(motions)))


def _follow(properties: Any, path: str, changed: Callable[[bytes], bytes | None], before: str, digest: str) -> None:
    """``changed``: returns the model with the new motions, None if it has none inside."""
    data = kept(properties, "document")
    if not properties.is_model or not data or not location_of(properties).is_same(FileLocation(path)):
        return
    model = changed(data)
    if model is None:
        return
    keep(properties, "document", model)
    if before and before in {properties.saved, hashlib.sha256(data).hexdigest()}:
        properties.saved = digest
        remember_saved(properties.id_data, path, digest)
