"""Options of X-Ray's imports and exports, as the interface shows them and as recipes take them.

They are needed when the extension is enabled, so no format and no recipe is loaded here.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from pathlib import Path
from typing import Any

from ...formats.xray import omf
from ..options import (
    FittingOptions,
    HiddenKeysOptions,
    Options,
    bone_display_option,
    choice,
    listed,
    number_or_none,
    option,
    path,
)
from .motions.properties import PATH_VERSIONS, ROTATIONS


def _fake_user() -> Any:
    return option(True, "Fake User", "Keep actions without users when the .blend file is saved")


def _stash() -> Any:
    return option(False, "Stash", "Also add each action to a muted NLA track of the armature")


# Motions --------------------------------------------------------------------------------------------------------------


class MotionImportOptions(Options):
    """``motions`` by name, None for all; where the first key goes; whether saving keeps unused actions."""

    motions: Collection[str] | None = None
    first_frame: int = option(0, "First Frame", "Frame of the first key")
    fake_user: bool = _fake_user()
    assign_first: bool = True
    stash: bool = _stash()
    resample: bool = option(
        False,
        "Match Scene Frame Rate",
        "Space the keys for the scene's frame rate, so that motions last as long as in the game; otherwise each key "
        "is one frame",
    )


class RestChange(Enum):
    """What to do about a rest pose that was edited after the motions were imported."""

    REFUSE = "refuse"
    GAME_POSE = "game pose"
    """Keep what the game showed: keys are taken relative to the rest pose of the import."""
    OFFSETS = "offsets"
    """Keep the offsets: keys are taken relative to the rest pose as it is now, as Blender shows them."""


REST_CHANGES = (
    ("REFUSE", "Stop", "Cancel the export and ask for a choice"),
    ("GAME_POSE", "Keep Pose in Game", "The motions look the same in the game as before the edit"),
    ("OFFSETS", "Keep Offsets", "The motions follow the new rest pose, as in Blender"),
)


class ExportOptions(HiddenKeysOptions):
    """What an edited rest pose means, what is done about keys that Blender hides, whether renamed motions are."""

    rest_change: RestChange = choice(
        RestChange.REFUSE,
        "Edited Rest Pose",
        "How to export motions if the rest pose has changed since import",
        REST_CHANGES,
        options={"SKIP_SAVE"},
    )
    rename: bool = True


WIDTHS = (
    ("AUTOMATIC", "Automatic", "8 bits if that moves no new key by more than 0.1 mm, otherwise 16 bits"),
    ("NARROW", "8 Bit", "Small files, low precision"),
    ("WIDE", "16 Bit", "Twice the size, 256 times the precision"),
)


class MotionExportOptions(ExportOptions):
    """How to write: translation width, and whether a motion that was renamed in the panel gets its new name.

    Without ``look`` nothing is sampled: bones that not only keys move count as unedited, and the plan lists
    the actions.
    """

    width: omf.Width = listed(
        "AUTOMATIC",
        lambda name: omf.Width[name],
        "Translation Keys",
        "Precision of edited translation keys; the status bar shows the largest error",
        WIDTHS,
    )
    rename: bool = option(True, "Rename Motions", "Write the new names of motions that were renamed in the panel")
    look: bool = True


class SkeletalExportOptions(ExportOptions, FittingOptions):
    """``version`` of motions that are in no file yet: 6 or with marks 7 where it is None, or 5."""

    version: int | None = None


class SkeletalFileOptions(SkeletalExportOptions):
    """For a file of its own."""

    version: int | None = listed(
        "AUTOMATIC",
        number_or_none,
        "Version of New Motions",
        "Version of motions that were not imported; imported motions keep theirs",
        (
            ("AUTOMATIC", "6, with Marks 7", "Read by every editor; handles are rounded to 0.98 ms and 0.98 mm"),
            ("5", "5", "Handles are stored exactly; four times the size, no marks"),
        ),
    )


class Rotation(Enum):
    """What imported bones are turned by."""

    AUTOMATIC = "automatic"
    """Quaternions where other actions turn the armature by them, else angles."""
    EULER = "euler"
    QUATERNION = "quaternion"


ROTATION_CHOICES = (
    ("AUTOMATIC", "Automatic", "Quaternions if other actions of the armature use them, otherwise Euler angles"),
    *ROTATIONS,
)


class SkeletalImportOptions(FittingOptions):
    """``motions`` by name, None for all."""

    motions: Collection[str] | None = None
    rotation: Rotation = choice(Rotation.AUTOMATIC, "Rotation", "Rotation mode of the bones", ROTATION_CHOICES)
    fake_user: bool = _fake_user()
    assign_first: bool = True
    stash: bool = _stash()


# Motion paths ---------------------------------------------------------------------------------------------------------


class Target(Enum):
    """What an imported path moves."""

    EMPTY = "empty"
    CAMERA = "camera"
    """A new empty with a camera below it that looks where the game's camera looks."""
    ACTIVE = "active"
    """The active object; an active camera gets the empty that moves it."""


TARGETS = (
    ("EMPTY", "A New Empty", "Create an empty for each path"),
    ("CAMERA", "A New Camera", "Create an empty for each path, with a child camera that looks as in the game"),
    ("ACTIVE", "The Active Object", "The first path moves the active object; the others become actions"),
)


class PathImportOptions(Options):
    """What moves; whether the path is drawn as a curve object too.

    ``play`` False: the action is made, but what moves does not `play` it yet, and is not made active.
    """

    target: Target = choice(Target.EMPTY, "Import Onto", "Which object follows the path", TARGETS)
    draw_curve: bool = option(
        False, "Draw as Curve", "Also create a curve object for each path, with one point per location key"
    )
    fake_user: bool = _fake_user()
    play: bool = True


class PathExportOptions(FittingOptions):
    """``version`` 3, 4, 5 or None for the one it came in.

    ``banked``: what moves along a curve object tilts as the curve does.
    """

    version: int | None = listed("AUTOMATIC", number_or_none, "Version", "Version of the file to write", PATH_VERSIONS)
    millimetres: float = option(
        0.1,
        "Tolerance (mm)",
        "Largest distance between a fitted curve and the sampled object; larger rounding of stored handles is "
        "reported as a warning",
        min=0.001,
        soft_max=10.0,
        precision=3,
    )
    banked: bool = option(True, "Tilt with Curve", "An object that follows a curve object tilts with the curve")


# Models ---------------------------------------------------------------------------------------------------------------


class ModelImportOptions(Options):
    """``game_folder`` holds ``meshes`` and ``textures``, searched besides the folders the model is in.

    ``collection`` names a new collection to put the model into; empty for the active one.
    """

    meshes: bool = option(True, "Meshes", "Import the meshes too, not only the armature")
    textures: bool = option(
        True,
        "Textures",
        "Show textures found in the folders of the preferences, or in the game folders that contain the model",
    )
    readable_bones: bool = bone_display_option()
    textures_folder: Path | None = None
    game_folder: Path | None = None
    collection: str = ""


class ModelKind(Enum):
    """What a model without an armature becomes."""

    STATIC = "static"
    RIGID = "rigid"


MODEL_KINDS = (
    ("STATIC", "Static", "No bones: decoration that nothing moves"),
    ("RIGID", "Rigid Dynamic", "One bone with a box as its collision shape: an object that falls and can be picked up"),
)


class ModelExportOptions(Options):
    """``kind``, ``bones_as``, ``motions_inside`` and ``collapse`` are for new models; ``backup`` keeps the old one."""

    skeleton: bool = option(True, "Skeleton", "Bones with their rest pose, shapes and joints")
    meshes: bool = option(True, "Meshes", "Meshes with their weights and materials")
    most_links: int = listed(
        "4",
        int,
        "Bones per Vertex",
        "Greatest number of bones that move one vertex",
        (
            ("4", "Four", "Clear Sky and Call of Pripyat: up to four bones move a vertex"),
            ("2", "Two", "Shadow of Chernobyl: up to two bones move a vertex"),
        ),
    )
    replace_meshes: bool = option(
        False,
        "Replace Meshes",
        "Write all meshes of an imported model as new ones, in any number and with any materials. Everything else "
        "keeps its bytes",
    )
    kind: ModelKind = choice(
        ModelKind.STATIC, "Without Armature", "What a new model without an armature becomes", MODEL_KINDS
    )
    bones_as: str = path(
        "Bones as in",
        "Model or motion file whose order and parts of bones a new model takes, so that its motions fit",
        ".ogf",
        ".omf",
    )
    motions_inside: bool = option(
        False,
        "Motions Inside",
        "Write the armature's motions into a new model. The game reads them only in a model without motion references",
    )
    collapse: bool = option(
        False, "Merge within 1 mm", "Merge vertices of a new model that are nearer than a millimetre, as the SDK does"
    )
    backup: bool = True


class Sdk(Enum):
    """Which editors a new model is for."""

    SOC = "soc"
    COP = "cop"


SDKS = (
    ("SOC", "Shadow of Chernobyl", "Smoothing groups; motion references as one text"),
    ("COP", "Clear Sky, Call of Pripyat", "Edges are sharp or smooth; motion references as a list"),
)


class EditorModelExportOptions(Options):
    """``sdk`` counts for new models alone: imported ones keep the rule of their file. ``backup`` keeps the old file."""

    skeleton: bool = option(True, "Skeleton", "Bones with their rest pose, shapes and joints")
    meshes: bool = option(True, "Meshes", "Meshes with their weights and materials")
    motions: bool = option(
        True, "Motions", "Motions inside: those of the imported model, or in a new one all of the armature"
    )
    sdk: Sdk = choice(Sdk.COP, "New Model For", "Editors that a model which was not imported is written for", SDKS)
    backup: bool = True


# Levels ---------------------------------------------------------------------------------------------------------------


class Split(Enum):
    """Into which meshes collision is split."""

    WHOLE = "whole"
    SECTOR = "sector"
    MATERIAL = "material"


SPLITS = (
    ("WHOLE", "One Mesh", "The collision as one mesh"),
    ("SECTOR", "By Sector", "One mesh per sector; exported as one mesh"),
    ("MATERIAL", "By Game Material", "One mesh per game material; exported as one mesh"),
)


class LevelImportOptions(Options):
    """``weld`` of occluders: metres, None for none.

    ``game_materials`` a `gamemtl.xr`, else it is looked for around the file and in ``game_folder``. ``collection``
    names a new collection; empty for the active one.
    """

    split: Split = choice(Split.WHOLE, "Collision", "How to split the collision into meshes", SPLITS)
    weld: float | None = None
    textures: bool = option(True, "Textures", "Show the textures of surfaces and detail models")
    game_materials: Path | None = None
    game_folder: Path | None = None
    textures_folder: Path | None = None
    collection: str = ""


class LevelFolderOptions(LevelImportOptions):
    """Which kinds of a compiled level's visuals are imported, besides the other files of its folder."""

    surfaces: bool = option(True, "Surfaces", "Static surfaces of the level (level, level.geom)")
    trees: bool = option(True, "Trees", "Trees and other objects that occur many times, as objects that share meshes")
    impostors: bool = option(
        True, "Impostors", "Flat images that the game shows instead of distant trees; the collection is excluded"
    )
    sectors: bool = option(True, "Sectors as Collections", "Put surfaces and trees in one collection per sector")
    portals: bool = option(True, "Portals", "Openings between two sectors; the collection is excluded")
    lights: bool = option(True, "Lights", "The sun and the static lights of the level")
    glows: bool = option(True, "Glows", "Glowing spots around lamps, as empties")
    ai_map: bool = option(
        True, "AI Map", "Nodes that creatures walk on (level.ai), coloured by cover; the collection is excluded"
    )
    wallmarks: bool = option(True, "Wallmarks", "Marks painted onto walls and ground (level.wallmarks)")
    placed: bool = option(
        True, "Placed Objects", "Particles, weather spheres, sounds and spawned objects, as empties with their names"
    )
    detail: float = option(
        1.0, "Detail", "Level of detail of progressive surfaces and trees; 1 for all faces", min=0, max=1,
        subtype="FACTOR",
    )  # fmt: skip


class LevelExportOptions(Options):
    """``modifiers`` applied as the viewport shows them; ``anew`` makes a new file, of the newest version, where one was
    imported; ``backup`` keeps the old file. ``game_materials`` the ids of the game's `gamemtl.xr`, none where it was
    not found.
    """

    modifiers: bool = option(False, "Apply Modifiers", "Export the mesh with its modifiers applied")
    anew: bool = option(
        False, "New File", "Write a new file of the newest version from the mesh, without the imported data"
    )
    backup: bool = True
    game_materials: frozenset[int] = frozenset()


class ScatterOptions(Options):
    """``spacing`` metres between the places where a plant may stand; ``most`` plants that are shown.

    ``on_collision`` sets them down on the collision of the scene, if there is one.
    """

    spacing: float = option(
        0.5, "Spacing", "Metres between possible positions of a plant", min=0.1, max=2.0, subtype="DISTANCE"
    )
    most: int = option(50_000, "Maximum Plants", "Largest number of plants to show", min=1, soft_max=500_000)
    on_collision: bool = option(
        True, "Place on Collision", "Place plants on the collision mesh of the scene within the height of the slot"
    )


# First person -------------------------------------------------------------------------------------------------------


class Game(Enum):
    """Whose HUD is shown; the values are those of `formats.xray.hud.VIEWS`."""

    SHADOW_OF_CHERNOBYL = "Shadow of Chernobyl, Clear Sky"
    CALL_OF_PRIPYAT = "Call of Pripyat"
    OPENXRAY = "OpenXRay"
    ANOMALY = "Anomaly"
    IX_RAY = "IX-Ray"
    ADVANCED_X_RAY = "Advanced X-Ray"


GAMES = (
    ("SHADOW_OF_CHERNOBYL", "Shadow of Chernobyl, Clear Sky", "Field of view 30.4°"),
    ("CALL_OF_PRIPYAT", "Call of Pripyat", "Field of view 24.8°"),
    ("OPENXRAY", "OpenXRay", "Field of view 30.4°"),
    ("ANOMALY", "Anomaly", "Field of view 37.4°; configs are changed by mod_*.ltx files (DLTX)"),
    ("IX_RAY", "IX-Ray", "Field of view 33.8°; configs are changed by mod_*.ltx files (DLTX)"),
    ("ADVANCED_X_RAY", "Advanced X-Ray", "Field of view 31.5°"),
)


class Aspect(Enum):
    """The form of the picture: width and height in pixels."""

    WIDE = (1920, 1080)
    NARROW = (1024, 768)


ASPECTS = (
    ("WIDE", "16:9", "Wide screen: the game reads the config keys that end in _16x9"),
    ("NARROW", "4:3", "The game reads the config keys without _16x9"),
)


class Stance(Enum):
    """Which offset the hands have."""

    HIP = "hip"
    AIM = "aim"
    LAUNCHER = "launcher"


STANCES = (
    ("HIP", "Hip", "Hands as the config places them"),
    ("AIM", "Aiming", "With the offset for aiming: aim_hud_offset or zoom_offset"),
    ("LAUNCHER", "Grenade Launcher", "With the offset while the grenade launcher is selected: gl_hud_offset"),
)


class HudSceneOptions(Options):
    """What a first-person scene shows: a ``section`` of the configs, or the models of ``hands`` and ``item`` alone.

    ``folders`` of the game and its mods (gamedata), the first that has a file wins. ``configs`` files below them, read
    in this order; none for ``system.ltx``. ``hands_section`` "" for the first of the game's own that exists.
    ``beside`` is the section of what the other hand holds, "" for nothing.
    """

    section: str = ""
    folders: tuple[Path, ...] = ()
    configs: tuple[str, ...] = ()
    hands_section: str = ""
    beside: str = ""
    item: str = path("Weapon", "Model of the weapon; if empty, the one that the section names", ".ogf")
    hands: str = path("Hands", "Model of the hands; if empty, the one that the hands section names", ".ogf")
    hands_motions: str = path(
        "Hands Motions", "Motion file of the hands, besides those that their model refers to and that exist", ".omf"
    )
    game: Game = choice(Game.ANOMALY, "Game", "Game whose camera and config rules are used", GAMES)
    aspect: Aspect = choice(Aspect.WIDE, "Aspect", "Width to height of the picture", ASPECTS)
    stance: Stance = choice(Stance.HIP, "Stance", "Which offset of the config the hands have", STANCES)
    anchor: str = option(
        "lead_gun",
        "Attach To",
        "Without a section: bone of the hands that the weapon is attached to; l_hand for detectors and torches",
    )
    motions: bool = option(True, "Motions", "Import the motions that the actions of the section play")
    textures: bool = option(True, "Textures", "Show textures found in the game folders and the textures folder")
    textures_folder: Path | None = None
