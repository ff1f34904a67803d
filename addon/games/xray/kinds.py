"""Kinds of S.T.A.L.K.E.R. files, from which menus, file browsers and drag and drop are made."""

from ..kinds import Drop, FileKind

MODELS = FileKind("xray_ogf", "X-Ray Model", ("ogf",))
EDITOR_MODELS = FileKind("xray_object", "X-Ray Editor Model", ("object",))
MOTIONS = FileKind("xray_omf", "X-Ray Motions", ("omf",), inside=("ogf",), drop=Drop.MOTION)
EDITOR_MOTIONS = FileKind("xray_skl", "X-Ray Editor Motions", ("skl",), inside=("object",), drop=Drop.MOTION)
BONES = FileKind("xray_bones", "X-Ray Bone Properties", ("bones",))
PATHS = FileKind("xray_anm", "X-Ray Motion Path", ("anm",), drop=Drop.MOTION)
LEVELS = FileKind(
    "xray_level_geometry",
    "X-Ray Level Geometry",
    ("cform", "hom", "som", "details", "err", "dm"),
    exported=("cform", "hom", "som", "details", "dm"),
)
LEVEL_FOLDER = FileKind(
    "xray_level",
    "X-Ray Level Folder",
    (),
    folder=("level", "level_geom", "ai", "wallmarks", "ps_static", "env_mod", "snd_static", "spawn"),
)

KINDS = (MODELS, EDITOR_MODELS, MOTIONS, EDITOR_MOTIONS, BONES, PATHS, LEVELS, LEVEL_FOLDER)
