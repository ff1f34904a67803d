"""What the dialog From the Game says of chosen files before they are imported: their textures, and bones that fit.

A file is read for that when it was clicked or ticked, not while the user types.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ..blender.imported_bones import BonesInArmature
from ..core.errors import ReadError
from ..core.report import Report
from ..formats import archives, trees
from ..formats.arma import skeletons
from ..formats.xray import game_tree
from ..games.arma import animation_import
from ..games.xray.models import importing
from ..games.xray.motions import omf_codec, read_files, skl_codec
from .bases import iface_, tell
from .game_offers import Offer, Opened

if TYPE_CHECKING:
    from ..blender.typed import Object

MEGABYTE = 1 << 20
NAMED = 3
"""Most files of which the bones are compared with those of the armature, a line each."""


def textures(opened: Opened, offer: Offer, chosen: Mapping[str, Path]) -> str:
    """Return how many textures out of archives X-Ray models or textures add to the .blend, and how many bytes; "" if
    none.
    """
    images: Any = bpy.data.images
    present = {bpy.path.abspath(image.filepath) for image in images if image.packed_file}
    sizes: dict[str, int] = {}
    for name, path in chosen.items():
        key = offer.identifier, name
        if key not in opened.details:
            opened.details[key] = _sizes(path, opened, is_model=offer.identifier == "MODELS")
        sizes |= opened.details[key]
    added = [size for path, size in sizes.items() if path not in present]
    words = iface_("Textures: {}, which add {:.1f} MB to the .blend")
    return words.format(len(added), sum(added) / MEGABYTE) if added else ""


def _sizes(path: Path, opened: Opened, *, is_model: bool) -> dict[str, int]:
    """Return path -> bytes of the textures of a model, or of a texture, that are in archives; none if it cannot be
    read, which the import reports.
    """
    try:
        tree = game_tree.GameTree(trees.folder_tree(path.parent), (opened.tree,))
        paths = importing.textures_of(path, tree) if is_model else [path]
        inner = [archives.find_inner(texture) for texture in paths]
    except ReadError:
        return {}
    entries = {file.path: file.archive.entry(file.number) for file in inner if file is not None}
    return {path: max(entry.size, entry.stored) for path, entry in entries.items()}


def bones(opened: Opened, rig: "Object", chosen: Mapping[str, Path]) -> list[str]:
    """Return a line for each of the first files of motions: how many of its bones an armature has."""
    lines = []
    for name, path in list(chosen.items())[:NAMED]:
        key = name, str(rig.session_uid)
        if key not in opened.details:
            opened.details[key] = _fit(opened.source.kind, str(path), rig)
        fit = opened.details[key]
        if fit is not None:
            lines.append(f"{path.name}: {tell(fit.sentence())}")
    return lines


def _fit(kind: str, path: str, rig: "Object") -> BonesInArmature | None:
    """Return how many bones of a file of motions an armature has; None if it cannot be read, which the import
    reports.
    """
    try:
        if kind == "ARMA":
            names = animation_import.read_animation(path, Report()).document.bones
            return animation_import.bones_in_armature(rig, names, "", skeletons.BoneTable())
        codec: Any = omf_codec.OMF if path.lower().endswith((".omf", ".ogf")) else skl_codec.SKL
        listed = read_files.ReadFiles()
        listed.list_motions(codec, path)
        return listed.bones_in(codec, path, rig)
    except ReadError:
        return None
