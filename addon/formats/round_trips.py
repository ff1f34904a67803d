"""Convert an unedited document as an import followed by an export does: document -> model -> document.

Only the steps in Blender are left out. A format without an `encode` is decoded only. A format that is never decoded (an
archive, a table) has no entry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..core.report import Report, say
from .arma import p3d, paa, rtm
from .arma.skeletons import Hierarchy
from .descent3 import ogf_image, oof
from .xray import anm, bones, cform, details, dm, err, hom, skl, som
from .xray import object as editor_model
from .xray.bones import decode_bone, encode_bone, with_bones
from .xray.chunks import Section
from .xray.ogf.chunk_types import BoneNames
from .xray.ogf.document import Ogf, motion_set_of, with_motion_set
from .xray.ogf.mesh import bone_labels, decode_meshes, encode_meshes
from .xray.ogf.skeleton import decode_skeleton, encode_skeleton
from .xray.omf.document import MotionSet, Omf
from .xray.omf.mapping import decode as decode_motions
from .xray.omf.mapping import encode as encode_motions

RoundTrip = Callable[[Any, Report], Any]
"""Function that takes a document and a report and returns the document that an export directly after an import would
write. Raises `MotionbridgeError`.
"""


def _motions(motions: MotionSet, report: Report, model_bones: list[str] | None = None) -> MotionSet:
    clips = decode_motions(motions, report, model_bones or [])
    return encode_motions(clips, motions)[0]


def _omf(document: Omf, report: Report) -> Omf:
    return document.with_motion_set(_motions(document.motion_set, report))


def _ogf(document: Ogf, report: Report) -> Ogf:
    result = document
    if document.first(BoneNames) is not None:
        result, _ = encode_skeleton(decode_skeleton(document, report), result)
    result, _ = encode_meshes(decode_meshes(document, report), result)
    motions = motion_set_of(document)
    return result if motions is None else with_motion_set(result, _motions(motions, report, bone_labels(document)))


def _bones(document: bones.Bones, _report: Report) -> bones.Bones:
    again = {
        index: encode_bone(section.value, decode_bone(section.value).entry)
        for index, section in enumerate(document.sections)
        if isinstance(section.value, bones.Bone)
    }
    return with_bones(document, again, [])


def _object(document: editor_model.Object, report: Report) -> editor_model.Object:
    def again(value: Any) -> Any:
        if isinstance(value, bones.Bones):
            return _bones(value, report)
        if isinstance(value, skl.Skl):
            return skl.encode(skl.decode(value, report), value)[0]
        return value

    model = document.model
    sections = [Section(section.chunk, again(section.value)) for section in model.sections]
    return document.with_model(editor_model.Model(sections, model.tail))


def _details(document: details.Details, report: Report) -> details.Details:
    models = {
        number: dm.encode(dm.decode(model, report, say("detail {}", number)), model)[0]
        for number, model in document.models.items()
    }
    return details.encode(details.decode(document, report), document, models)[0]


def _rtm(document: Any, report: Report) -> Any:
    if not isinstance(document, rtm.Binarised):
        return rtm.encode_plain(rtm.decode(document, report), document)[0]
    # The file does not store the parents of bones. Any hierarchy works here if decode and encode use the same one.
    flat = Hierarchy("none", dict.fromkeys(document.bones, ""))
    return rtm.encode_binarised(rtm.decode(document, report, flat), flat, document)[0]


def _p3d(document: p3d.P3d, report: Report) -> p3d.P3d:
    lods = [p3d.encode_lod(p3d.content_of(lod, "lod", report), lod, report)[0] for lod in document.lods]
    return replace(document, lods=lods)


def _decoded_errors(document: err.Err, report: Report) -> err.Err:
    err.decode(document, report)
    return document


def _decoded_image(document: Any, _report: Report) -> Any:
    ogf_image.decode(document)
    return document


def _texture(document: paa.Paa, _report: Report) -> paa.Paa:
    for level in document.levels:
        paa.decode(document, level)
    coding = paa.coding_of(document)
    if coding is None or not document.levels:
        return document
    return paa.encode(paa.picture(document), coding, document)


ROUND_TRIPS: Mapping[str, RoundTrip] = {
    "omf": _omf,
    "ogf": _ogf,
    "bones": _bones,
    "object": _object,
    "details": _details,
    "rtm": _rtm,
    "p3d": _p3d,
    "err": _decoded_errors,
    "ogf_image": _decoded_image,
    "paa": _texture,
    "anm": lambda document, report: anm.encode(anm.decode(document, report), document)[0],
    "skl": lambda document, report: skl.encode(skl.decode(document, report), document)[0],
    "cform": lambda document, report: cform.encode(cform.decode(document, report), document)[0],
    "hom": lambda document, report: hom.encode(hom.decode(document, report), document)[0],
    "som": lambda document, report: som.encode(som.decode(document, report), document)[0],
    "dm": lambda document, report: dm.encode(dm.decode(document, report), document)[0],
    "oof": lambda document, report: oof.encode(oof.decode(document, report), document)[0],
}
"""Round trips by the name of the format (`formats.FORMATS`)."""
