"""Which game a folder has."""

from __future__ import annotations

from pathlib import Path

from . import arma, descent3, organizer, xray
from .disk import Disk, Root

XRAY, ARMA, DESCENT3 = "XRAY", "ARMA", "DESCENT3"
LOOKED_FOR = (
    "Choose the folder with fsgame.ltx, gamedata or ModOrganizer.ini (S.T.A.L.K.E.R.), with Addons, Dta, config.cpp or "
    "$PBOPREFIX$ in it (Arma), or with .hog archives (Descent 3)"
)


def kind_of_archive(path: Path) -> str:
    """Return which game an archive is of, by its name; "" if it is not named as one."""
    name = path.name.lower()
    if name.endswith(descent3.ARCHIVES):
        return DESCENT3
    if name.endswith(arma.ARCHIVES):
        return ARMA
    return XRAY if xray.is_archive_name(name) else ""


def kind_of(folder: Path) -> str:
    """Return which game a folder has: `XRAY`, `ARMA`, `DESCENT3`, or "" if it has none."""
    names = Disk([Root(folder)]).names("")
    if organizer.SETTINGS.lower() in names or not names.keys().isdisjoint(xray.MARKS):
        return XRAY
    if any(name.endswith(descent3.ARCHIVES) for name in names):
        return DESCENT3
    if any(xray.is_archive_name(name) for name in names):
        return XRAY
    if not names.keys().isdisjoint(arma.MARKS) or arma.has_addons(folder):
        return ARMA
    if any(name in names and names[name][1] for name in xray.PARTS):
        return XRAY
    return ARMA if arma.has_sources(folder) else ""
