"""What the dialog From the Game says of chosen files before they are imported: their textures, and bones that fit.

A file is read for that when it was clicked or ticked, not while the user types.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ..blender.imported_bones import BonesInArmature
from ..core.errors import ReadError
from ..core.report import Report
from ..formats import archives, trees
from ..formats.arma import skeletons
from ..formats.xray import game_tree
from ..games.arma import animation_import, model_import
from ..games.arma import textures as arma
from ..games.descent3 import model
from ..games.descent3 import textures as descent3
from ..games.images import SOURCE
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
    """Return how many textures the chosen models or textures add to the .blend, and about how many bytes; "" if
    none.
    """
    images: Any = bpy.data.images
    packed = [image for image in images if image.packed_file]
    present = {image.get(SOURCE) or bpy.path.abspath(image.filepath) for image in packed}
    sizes: dict[str, int] = {}
    for name, path in chosen.items():
        key = offer.identifier, name
        if key not in opened.details:
            opened.details[key] = _sizes(path, opened, is_model=offer.identifier == "MODELS")
        sizes |= opened.details[key]
    added = [size for path, size in sizes.items() if path not in present]
    words = iface_("Textures: {}, which add about {:.1f} MB to the .blend")
    return words.format(len(added), sum(added) / MEGABYTE) if added else ""


def _sizes(path: Path, opened: Opened, *, is_model: bool) -> dict[str, int]:
    """Return path -> bytes that the textures of a model, or a texture, add to the .blend; without those that cannot be
    read, which the import reports.
    """
    result: dict[str, int] = {}
    with suppress(ReadError):
        for texture in _textures_of(path, opened) if is_model else [path]:
            with suppress(ReadError):
                result |= _added_by(texture, opened.source.kind, is_on_model=is_model)
    return result


def _textures_of(path: Path, opened: Opened) -> list[Path]:
    """Return the files of the textures of a model. Raises `ReadError`."""
    if opened.source.kind == "XRAY":
        return importing.textures_of(path, game_tree.GameTree(trees.folder_tree(path.parent), (opened.tree,)))
    game = opened.source.game
    read = model_import.textures_of if opened.source.kind == "ARMA" else model.textures_of
    return read(path, (game,) if game.folder.is_dir() else ())


def _added_by(texture: Path, kind: str, *, is_on_model: bool) -> dict[str, int]:
    """Return path -> bytes of a texture, nothing for one that Blender itself links. Raises `ReadError`."""
    if kind == "ARMA" and texture.suffix.lower() in arma.GAME_SUFFIXES:
        return {str(texture): arma.added_bytes(texture, **{"largest": arma.SHOWN_ON_MODELS} if is_on_model else {})}
    if kind == "DESCENT3":
        return {str(texture): descent3.added_bytes(texture, is_on_model=is_on_model)}
    file = archives.find_inner(texture)
    if file is None:
        return {}
    entry = file.archive.entry(file.number)
    return {file.path: max(entry.size, entry.stored)}


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
