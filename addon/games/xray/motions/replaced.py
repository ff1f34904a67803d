"""What is lost when an export replaces a file that has motions, which is said before writing and after."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ....blender.properties import kept
from ....core import files
from ....core.errors import ReadError
from ....core.report import Report, listed, say
from ....formats.xray import object as editor_model
from ....formats.xray import ogf, skl
from ....formats.xray.ogf.document import motion_set_of
from ...plan import StoredFile


def removed(on_disk: Iterable[str], written: Iterable[str]) -> list[str]:
    """Return the names of motions ``on_disk`` that are not ``written``; case does not matter."""
    kept = {name.lower() for name in written}
    return [name for name in on_disk if name.lower() not in kept]


def warn_of_removed(names: list[str], report: Report) -> None:
    """Warn of motions of the replaced file, if there are any."""
    if names:
        report.warn(say("{0:# motion|# motions} of the replaced file {0:is|are} removed", len(names)), listed(names))


def names_inside(model: bytes, path: str) -> list[str]:
    """Return the names of the motions inside a model, which the suffix of ``path`` says is one of the game or of the
    editor. Raises `ReadError`.
    """
    if path.lower().endswith(".ogf"):
        motion_set = motion_set_of(ogf.read(model, path, Report()))
        return motion_set.labels if motion_set is not None else []
    inside = editor_model.read(model, path, Report()).model.first(skl.Skl)
    return [motion.label for motion in inside.motions] if inside is not None else []


def names_inside_file(path: Path) -> list[str]:
    """Return the names of the motions inside the model at ``path``; none if there is no model that can be read."""
    if not files.is_file(path):
        return []
    try:
        return names_inside(files.read_file(path), str(path))
    except ReadError:
        return []


def warn_of_model(stored: StoredFile, path: str, data: bytes, suffix: str, report: Report) -> None:
    """Warn, before ``data`` replaces the model at ``path``, of what is lost: other hard links, the motions inside it.

    ``suffix``: that of the kind of model that is written, whatever the file is called. Motions of the imported model,
    if ``stored`` has one, were deleted or renamed by the user and do not count.
    """
    files.warn_of_replacing(path, report)
    on_disk = names_inside_file(Path(path))
    if on_disk:
        models = {data, kept(stored, "document")} - {b""}  # one, if nothing was edited
        known = [name for model in models for name in names_inside(model, suffix)]
        warn_of_removed(removed(on_disk, known), report)
