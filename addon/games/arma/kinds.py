"""File kinds of Operation Flashpoint and Arma for the interface."""

from ..kinds import Drop, FileKind

MODELS = FileKind("arma_p3d", "Arma Model", ("p3d",))
ANIMATIONS = FileKind("arma_rtm", "Arma Animation", ("rtm",), drop=Drop.MOTION)
TEXTURES = FileKind("arma_paa", "Arma Texture", ("paa",), drop=Drop.IMAGE)

KINDS = (MODELS, ANIMATIONS, TEXTURES)
