"""What each format decodes to: all that an import takes from its `decode` functions, without Blender."""

from collections.abc import Callable
from typing import Any

import numpy as np

from addon.core.report import Report
from addon.formats.arma import p3d, paa, rtm
from addon.formats.arma.skeletons import Hierarchy
from addon.formats.descent3 import ogf_image, oof
from addon.formats.xray import (
    anm,
    bones,
    cform,
    details,
    dm,
    err,
    hom,
    level_ai,
    skl,
    som,
    wallmarks,
)
from addon.formats.xray.level import mesh as level_mesh
from addon.formats.xray.level import structure
from addon.formats.xray.object import mapping as editor_mapping
from addon.formats.xray.ogf.chunk_types import BoneNames, IkData
from addon.formats.xray.ogf.document import motion_set_of
from addon.formats.xray.ogf.mesh import bone_labels, decode_meshes
from addon.formats.xray.ogf.skeleton import decode_skeleton
from addon.formats.xray.omf.mapping import decode as decode_motions


def _ogf(document):
    motions = motion_set_of(document)
    skeleton = document.first(BoneNames) is not None and document.first(IkData) is not None
    return [
        decode_skeleton(document, Report()) if skeleton else None,
        decode_meshes(document, Report()),
        [] if motions is None else decode_motions(motions, Report(), bone_labels(document)),
    ]


def _bones(document):
    return [bones.decode_bone(bone).entry for bone in document.bones]


def _object(document):
    model = document.model
    values = [section.value for section in model.sections]
    return [
        editor_mapping.decode_skeleton(model, "model"),
        [editor_mapping.decode_mesh(mesh, model, Report()) for mesh in model.meshes],
        [bones.decode_bone(bone).entry for bone in model.bones],
        [skl.decode(value, Report()) for value in values if isinstance(value, skl.Skl)],
    ]


def _details(document):
    models = [dm.decode(model, Report(), "model") for model in document.models.values()]
    return [details.decode(document, Report()), models]


def _rtm(document):
    flat = Hierarchy("none", dict.fromkeys(document.bones, "")) if isinstance(document, rtm.Binarised) else None
    return rtm.decode(document, Report(), flat)


def _level(document):
    everything = np.arange(len(document.visuals))
    return [
        structure.shaders(document),
        structure.boxes(document, everything),
        [structure.portal_corners(portal) for portal in document.portals],
        structure.impostors(document),
        level_mesh.tree_matrices(document, everything),
        level_mesh.sectors(document),
        document.visuals.types,
        document.visuals.shaders,
    ]


MODELS: dict[str, Callable[[Any], Any]] = {
    "omf": lambda document: decode_motions(document.motion_set, Report()),
    "ogf": _ogf,
    "bones": _bones,
    "object": _object,
    "details": _details,
    "rtm": _rtm,
    "level": _level,
    "level_geom": lambda document: [level_mesh.decode_vertices(buffer) for buffer in document.vertices],
    "p3d": lambda document: [p3d.content_of(lod, "lod", Report()) for lod in document.lods],
    "paa": lambda document: [paa.decode(document, level) for level in document.levels],
    "ogf_image": ogf_image.decode,
    "ai": lambda document: level_ai.decode(document, "level.ai"),
    "wallmarks": lambda document: wallmarks.decode(document, "level.wallmarks"),
    **{
        module.__name__.rpartition(".")[2]: lambda document, module=module: module.decode(document, Report())
        for module in (anm, cform, dm, err, hom, oof, skl, som)
    },
}
"""Functions by the name of the format. The other formats are never decoded: archives, tables, configs and lists of
entries, whose fields Blender's objects are made of directly.
"""
