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


def _game_motions(document: skl.Skl, report: Report) -> list[bytes]:
    return [omf.write(conversion.game_motions(document.motions, report))]


def _editor_motions(document: omf.Omf, report: Report) -> list[bytes]:
    return [skl.write(conversion.editor_motions(document, report))]


def _game_motions_inside(document: Object, report: Report) -> list[bytes]:
    return [omf.write(conversion.game_motions(document.model.motions, report, document.model.parts))]


def _motions_inside(document: Object, _report: Report) -> list[bytes]:
    if not document.model.motions:
        raise WriteError("there are no motions in the object", remedy="Choose an object with motions")
    return [skl.write(skl.new_skls(document.model.motions))]


def game_model(name: str, choice: GameModelChoice) -> Rendering:
    """Return the function that writes an editor model called ``name`` as a game model. Raises `ReadError` if the file
    of ``choice.bones_as`` cannot be read.
    """
    order = conversion.bone_order_of(choice.bones_as).bones if choice.bones_as else ()
    settings = conversion.ModelSettings(SOC if choice.soc else COP, choice.merge, order, choice.most_bones)
    return lambda document, report: [ogf.write(conversion.game_model(document, name, settings, report))]


def _game_motions_into(document: omf.Omf, target: Object, report: Report) -> Object:
    return conversion.into_model(conversion.editor_motions(document, report).motions, target, report)


def _editor_motions_into(document: skl.Skl, target: Object, report: Report) -> Object:
    return conversion.into_model(document.motions, target, report)


def _inside_motions_into(document: Object, target: Object, report: Report) -> Object:
    return conversion.into_model(document.model.motions, target, report)


RENDERINGS: Mapping[str, Mapping[str, Rendering]] = {
    "ogf_image": {"png": ogf_image.as_png},
    "paa": {"png": paa.as_png},
    "omf": {"skls": _editor_motions},
    "skl": {"omf": _game_motions},
    "object": {"skls": _motions_inside, "omf": _game_motions_inside, "ogf": game_model("", GameModelChoice())},
}
"""By the name of the format (`formats.FORMATS`), then by the suffix of the result."""

INTO_MODELS: Mapping[str, Callable[[Any, Object, Report], Object]] = {
    "omf": _game_motions_into,
    "skl": _editor_motions_into,
    "object": _inside_motions_into,
}
"""Functions that add a document's motions to an editor model, by the name of the format."""
