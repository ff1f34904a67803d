"""File kinds of Descent 3 and kinds of sub-objects for the interface."""

from ..kinds import Drop, FileKind

MODELS = FileKind("descent3_oof", "Descent 3 Model", ("oof",))
ARCHIVES = FileKind("descent3_oof", "Descent 3 Archive", ("hog2",), exported=(), handler="descent3_hog")
TEXTURES = FileKind("descent3_ogf", "Descent 3 Texture", ("ogf_image",), drop=Drop.IMAGE)

KINDS = (MODELS, ARCHIVES, TEXTURES)

PART_KINDS = (
    ("NONE", "Plain", "An ordinary sub-object", 0),
    ("ROTATE", "Rotor ($rotate)", "Rotates permanently around the axis of its keys", 1),
    ("JITTER", "Jitter ($jitter)", "The vertices tremble", 2),
    ("SHELL", "Door Housing ($shell)", "The room around a door; not drawn, has no children", 3),
    ("FACING", "Billboard ($facing)", "One textured face that always looks at the camera", 4),
    ("FRONT_FACE", "Door Front ($frontface)", "One face that closes a door; not drawn, has no children", 5),
    ("GLOW", "Glow ($glow)", "Light at the pivot; its one face gives the direction and is not drawn", 6),
    ("THRUSTER", "Thruster ($thruster)", "Glow of an engine; its one face gives the direction and is not drawn", 7),
    ("TURRET", "Turret ($fov)", "Rotated by the game around the axis of its keys", 8),
    ("MONITOR", "Cockpit Monitor ($monitor)", "A cockpit gauge", 9),
    ("VIEWER", "Cockpit Eye ($viewer)", "Position of the eye in a cockpit", 10),
    ("LAYER", "Cockpit Layer ($layer)", "Drawn after the gauges of a cockpit", 11),
    ("CUSTOM", "Team Logo ($custom)", "Drawn only with the texture of a team or player", 12),
    ("OTHER", "Other", "A property string unknown to the game", 13),
)
"""Kinds of sub-objects by their property string (`formats.descent3.oof.commands`), as enum items."""
GLOWS = {identifier: label for identifier, label, *_ in PART_KINDS if identifier in ("GLOW", "THRUSTER")}
"""Sub-objects that are lights at their pivots -> their names in the interface."""
