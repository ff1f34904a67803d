"""How faces of a model look: ordinary pictures in place of the game's, colours that the game would make itself.

The game's pictures (PAA) cannot be shown. Somebody who has made or unpacked textures has them as PNG or TGA under the
same names: beside the model, in ``data`` there, or in the folders that the texture's path names. These are looked for
below the model's folder and those around it up to the project's, and in the work folder of the tools; nowhere else,
since a model from a stranger may name any path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from ...blender import material
from ...core.model import Material
from ...core.report import Report

PICTURES = (".png", ".tga")
SEE_THROUGH = "_ca"
"""Names of textures whose alpha is transparency end like this."""
WORK_DRIVE = "p:"
"""The drive that the tools take for the game's root; a path may name it."""
PROJECT_MARKS = frozenset({".git", ".hemtt", "mod.cpp"})
ADDON_MARKS = frozenset({"config.cpp", "model.cfg", "$pboprefix$", "$pboprefix$.txt", "$prefix$"})
"""Lower-case names of files whose folder is a project, or an addon of it."""
DEEPEST = 16
"""Folders of a texture's path that are looked at, and folders around a model."""
_COLOUR = re.compile(r"^#\([^)]*\)\s*color\(([^)]*)\)", re.IGNORECASE)


@dataclass
class Surfaces:
    """``model`` the file whose surfaces are built; ``work_folder`` what the tools' work drive holds, None where it is
    not known; ``missing`` textures for which no picture was found.
    """

    model: Path
    textures: bool
    work_folder: Path | None = None
    missing: list[str] = field(default_factory=list)
    _folders: dict[Path, dict[str, Path]] = field(default_factory=dict)

    def build(self, wanted: Material) -> Any:
        """A Blender material; the one that is there where it looks the same."""
        colour = colour_of(wanted.texture)
        if colour is not None:
            return material.build(wanted, colour=colour)
        found = self.picture(wanted.texture) if self.textures else None
        image = material.load_image(found) if found is not None else None
        if image is None:
            if self.textures and wanted.texture and not wanted.texture.startswith("#"):
                self.missing.append(wanted.texture)
            return material.build(wanted)
        stem = PurePosixPath(wanted.texture.replace("\\", "/").lower()).stem
        return material.build(wanted, image, see_through=stem.endswith(SEE_THROUGH))

    def picture(self, texture: str) -> Path | None:
        """The picture that shows a texture of the game."""
        path = PurePosixPath(texture.replace("\\", "/").lower())
        if not path.stem or texture.startswith("#"):
            return None
        own = self.model.absolute().parent
        places = [own, *self._below(own, ("data",))]
        parts = _folders_of(path)
        for around in self._roots(own):
            # ``P:\\tag\\addon\\data\\a.paa`` may lie as tag/addon/data or, for the addon's author, as addon/data.
            for start in range(len(parts)):
                places += self._below(around, tuple(parts[start:]))
        for place in dict.fromkeys(places):
            there = self._listing(place)
            found = next((there[path.stem + suffix] for suffix in PICTURES if path.stem + suffix in there), None)
            if found is not None and found.is_file():
                return found
        return None

    def _roots(self, own: Path) -> list[Path]:
        """The model's folder, those around it up to the project's or the work folder, and the work folder."""
        work = [self.work_folder.absolute()] if self.work_folder is not None else []
        around = [own, *own.parents][: DEEPEST + 1]
        last = next((place for place, folder in enumerate(around) if folder in work), None)
        if last is None:
            last = next((place for place, folder in enumerate(around) if self._is_marked(folder, PROJECT_MARKS)), None)
        if last is None:
            marked = [place for place, folder in enumerate(around) if self._is_marked(folder, ADDON_MARKS)]
            last = max(marked, default=0)
        return [*around[: last + 1], *work]

    def _is_marked(self, folder: Path, marks: frozenset[str]) -> bool:
        """Whether a folder is a project's by what is in it; a whole disk is only where it is the work drive."""
        if folder == folder.parent:
            return folder.drive.lower() == WORK_DRIVE
        return any(mark in self._listing(folder) for mark in marks)

    def _below(self, folder: Path, parts: tuple[str, ...]) -> list[Path]:
        """The folder that ``parts`` lead to, in whatever case."""
        for part in parts:
            found = self._listing(folder).get(part)
            if found is None or not found.is_dir():
                return []
            folder = found
        return [folder]

    def _listing(self, folder: Path) -> dict[str, Path]:
        if folder not in self._folders:
            try:
                self._folders[folder] = {entry.name.lower(): entry for entry in sorted(folder.iterdir())}
            except OSError:  # not to be looked into: nothing is found there
                self._folders[folder] = {}
        return self._folders[folder]

    def tell(self, report: Report) -> None:
        """Say once what cannot be shown."""
        missing = list(dict.fromkeys(self.missing))
        if missing:
            report.note(
                "textures of the game (PAA) cannot be shown; .png or .tga files of the same names beside the model can"
                f"; missing: {len(missing)}, such as {missing[0]}",
                self.model.name,
            )


def _folders_of(texture: PurePosixPath) -> list[str]:
    """The folders that a texture's path names, from the root of the work drive; none on any other drive."""
    parts = [part for part in texture.parent.parts if part not in ("/", "//", "..", ".")]
    if parts and parts[0].endswith(":"):
        if parts[0] != WORK_DRIVE:
            return []
        del parts[0]
    return parts[-DEEPEST:]


def colour_of(texture: str) -> tuple[float, float, float, float] | None:
    """Red, green, blue and alpha of a texture that is only a colour, ``#(argb,8,8,3)color(1,0,0,1,co)``; else None."""
    found = _COLOUR.match(texture.strip())
    if found is None:
        return None
    try:
        values = [min(max(float(value), 0.0), 1.0) for value in found[1].split(",")[:4]]
    except ValueError:
        return None
    return (values[0], values[1], values[2], values[3]) if len(values) == 4 else None
