"""The files of Descent 3 as the interface offers them."""

from ..kinds import Drop, FileKind

MODELS = FileKind("descent3_oof", "Descent 3 Model", ("oof",))
ARCHIVES = FileKind("descent3_oof", "Descent 3 Archive", ("hog2",), exported=(), handler="descent3_hog")
TEXTURES = FileKind("descent3_ogf", "Descent 3 Texture", ("ogf_image",), exported=(), drop=Drop.IMAGE)

KINDS = (MODELS, ARCHIVES, TEXTURES)
