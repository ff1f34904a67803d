"""Write documents as other formats: textures as pictures, editor models and motions as those of the game."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..core.errors import WriteError
from ..core.report import Report
from . import GameModelChoice
from .arma import paa
from .descent3 import ogf_image
from .xray import conversion, ogf, omf, skl
from .xray.object.document import Object
from .xray.ogf.building import COP, SOC

Rendering = Callable[[Any, Report], list[bytes]]
"""Function (document, report) -> the bytes of one or several files of another format. Raises `WriteError`."""


def _motions(document: Any, report: Report) -> list[skl.SkeletalMotion]:
    """Return the motions of a motion file or an editor model, as the editor has them."""
    if isinstance(document, omf.Omf):
        return conversion.editor_motions(document, report).motions
    return document.motions if isinstance(document, skl.Skl) else document.model.motions


def _as_editor_motions(document: Any, report: Report) -> list[bytes]:
    motions = _motions(document, report)
    if isinstance(document, Object) and not motions:
        raise WriteError("there are no motions in the object", remedy="Choose an object with motions")
    return [skl.write(skl.new_skls(motions))]


def _as_game_motions(document: Any, report: Report) -> list[bytes]:
    parts = document.model.parts if isinstance(document, Object) else ()
    return [omf.write(conversion.game_motions(_motions(document, report), report, parts))]


def into_model(document: Any, target: Object, report: Report) -> Object:
    """Return the editor model ``target`` with the motions of a motion file or of another model."""
    return conversion.into_model(_motions(document, report), target, report)


def game_model(name: str, choice: GameModelChoice) -> Rendering:
    """Return the function that writes an editor model called ``name`` as a game model. Raises `ReadError` if the file
    of ``choice.bones_as`` cannot be read.
    """
    order = conversion.bone_order_of(choice.bones_as).bones if choice.bones_as else ()
    settings = conversion.ModelSettings(SOC if choice.soc else COP, choice.merge, order, choice.most_bones)
    return lambda document, report: [ogf.write(conversion.game_model(document, name, settings, report))]


RENDERINGS: Mapping[str, Mapping[str, Rendering]] = {
    "ogf_image": {"png": ogf_image.as_png},
    "paa": {"png": paa.as_png},
    "omf": {"skls": _as_editor_motions},
    "skl": {"omf": _as_game_motions},
    "object": {"skls": _as_editor_motions, "omf": _as_game_motions, "ogf": game_model("", GameModelChoice())},
}
"""By the name of the format (`formats.FORMATS`), then by the suffix of the result."""
WITH_MOTIONS = ("omf", "skl", "object")
"""Formats whose motions `into_model` takes."""
