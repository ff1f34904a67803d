"""Options of X-Ray's imports and exports, for the interface and for the functions that import and export.

They are loaded when the extension is enabled, so this module loads no file format, no import and no export.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...formats.xray import omf
from ..options import (
    Choice,
    FittingOptions,
    HiddenKeysOptions,
    Options,
    bone_display_option,
    choice,
    listed,
    modifiers_option,
    number_or_none,
    option,
    path,
)

if TYPE_CHECKING:
    from ...core.game import InstalledGame

ROTATIONS = (
    ("EULER", "Euler ZXY", "Euler angles, as the editor stores them; curves are preserved"),
    ("QUATERNION", "Quaternion", "Quaternions, like imported game motions"),
)
PATH_VERSIONS = (
    (
        "AUTOMATIC",
        "Same as Imported",
        "The version of the imported file; for new paths version 3, which stores handles exactly",
    ),
    ("3", "3", "Handles are stored exactly; read by every engine and editor"),
    ("4", "4", "Handles are rounded to 0.98 ms; written by old builds only"),
    ("5", "5", "Handles are rounded to 0.98 ms; written by the latest editors"),
)


def _fake_user() -> Any:
    return option(True, "Fake User", "Keep actions without users when the .blend file is saved")


def _stash() -> Any:
    return option(False, "Stash", "Also add each action to a muted NLA track of the armature")


def _bone_limit() -> Any:
    return option(
        64,
        "Bone Limit",
        "Maximum number of bones: 64 in the games, 128 or more in some rebuilt engines",
        min=64,
        max=0xFFFF,
    )


# Motions --------------------------------------------------------------------------------------------------------------


class MotionImportOptions(Options):
    """Options of importing motions of the game (`.omf`). ``motions``: names of the motions to import, None for all.

    ``assign_first``: the armature plays the first imported action.
    """

    motions: Collection[str] | None = None
    first_frame: int = option(0, "First Frame", "Frame of the first key")
    fake_user: bool = _fake_user()
    assign_first: bool = True
    stash: bool = _stash()
    resample: bool = option(
        False,
        "Match Scene Frame Rate",
        "Scale key times to the scene's frame rate, so that motions last as long as in the game; "
        "otherwise each key is one frame",
    )


class RestChange(Choice):
    """How to export motions if the rest pose was edited after they were imported."""

    REFUSE = "Stop", "Cancel the export and ask for a choice"
    GAME_POSE = "Keep Pose in Game", "The motions look the same in the game as before the edit"
    """Keys are relative to the rest pose at import."""
    OFFSETS = "Keep Offsets", "The motions follow the new rest pose, as in Blender"
    """Keys are relative to the current rest pose, as Blender shows them."""


class ExportOptions(HiddenKeysOptions):
    """Options of every export of motions: edited rest pose, hidden keys, renamed motions."""

    rest_change: RestChange = choice(
        RestChange.REFUSE,
        "Edited Rest Pose",
        "How to export motions if the rest pose has changed since import",
        options={"SKIP_SAVE"},
    )
    rename: bool = True


WIDTHS = (
    ("AUTOMATIC", "Automatic", "8 bits if that moves no new key by more than 0.1 mm, otherwise 16 bits"),
    ("NARROW", "8 Bit", "Small files, low precision"),
    ("WIDE", "16 Bit", "Twice the size, 256 times the precision"),
)


class MotionExportOptions(ExportOptions):
    """Options of exporting motions of the game.

    ``sample`` False: nothing is sampled. Bones that are moved by more than their keys then count as unedited, and the
    plan lists their actions as ``unseen``.
    """

    width: omf.Width = listed(
        "AUTOMATIC",
        lambda name: omf.Width[name],
        "Translation Keys",
        "Precision of edited translation keys; the status bar shows the largest error",
        WIDTHS,
    )
    rename: bool = option(True, "Rename Motions", "Write the new names of motions that were renamed in the panel")
    most_bones: int = _bone_limit()
    sample: bool = True


class SkeletalExportOptions(ExportOptions, FittingOptions):
    """Options of exporting motions of the editor.

    ``version`` of motions that were not imported: None for 6, or 7 for those with marks; or 5.
    """

    version: int | None = None


class SkeletalFileOptions(SkeletalExportOptions):
    """Options of exporting motions of the editor to a separate file, not into a model."""

    version: int | None = listed(
        "AUTOMATIC",
        number_or_none,
        "Version of New Motions",
        "Version of motions that were not imported; imported motions keep theirs",
        (
            ("AUTOMATIC", "6 (7 with Marks)", "Read by every editor; handles are rounded to 0.98 ms and 0.98 mm"),
            ("5", "5", "Handles are stored exactly; four times the size, no marks"),
        ),
    )


class Rotation(Enum):
    """Rotation mode of the bones that imported motions move."""

    AUTOMATIC = "automatic"
    """Quaternions if other actions of the armature use them, otherwise Euler angles."""
    EULER = "euler"
    QUATERNION = "quaternion"


ROTATION_CHOICES = (
    ("AUTOMATIC", "Automatic", "Quaternions if other actions of the armature use them, otherwise Euler angles"),
    *ROTATIONS,
)


class SkeletalImportOptions(FittingOptions):
    """Options of importing motions of the editor. ``motions``: names of the motions to import, None for all.

    ``assign_first``: the armature plays the first imported action.
    """

    motions: Collection[str] | None = None
    rotation: Rotation = choice(Rotation.AUTOMATIC, "Rotation", "Rotation mode of the bones", ROTATION_CHOICES)
    fake_user: bool = _fake_user()
    assign_first: bool = True
    stash: bool = _stash()


# Motion paths ---------------------------------------------------------------------------------------------------------


class Target(Choice):
    """The object that an imported path moves."""

    EMPTY = "New Empty", "Create an empty for each path"
    CAMERA = "New Camera", "Create an empty for each path, with a child camera that looks as in the game"
    ACTIVE = "Active Object", "The first path moves the active object; the others become actions"
    """An active camera is parented to a new empty, which the path moves."""


class PathImportOptions(Options):
    """Options of importing motion paths.

    ``play`` False: the action is created, but the object does not play it until `paths.play` is called, and does not
    become the active object.
    """

    target: Target = choice(Target.EMPTY, "Import Onto", "Which object follows the path")
    draw_curve: bool = option(
        False, "Draw as Curve", "Also create a curve object for each path, with one point per location key"
    )
    fake_user: bool = _fake_user()
    play: bool = True


class PathExportOptions(FittingOptions):
    """Options of exporting a motion path. ``version``: 3, 4, 5, or None for the imported version.

    ``banked``: an object that moves along a curve object tilts with the curve.
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
    """Options of importing a model. ``games``: searched after the game that contains the model.

    ``collection``: name of a new collection for the model; empty for the active collection.
    """

    meshes: bool = option(True, "Meshes", "Import the meshes too, not only the armature")
    textures: bool = option(
        True,
        "Textures",
        "Show textures found in the game that contains the model, or in those of the preferences",
    )
    readable_bones: bool = bone_display_option()
    games: tuple[InstalledGame, ...] = ()
    collection: str = ""


class ModelKind(Choice):
    """Type of model that an object without an armature is exported as."""

    STATIC = "Static", "No bones: scenery that never moves"
    RIGID = "Rigid Dynamic", "One bone with a box as its collision shape: an object that falls and can be picked up"


class ModelExportOptions(Options):
    """Options of exporting a model of the game.

    ``kind``, ``bones_as``, ``motions_inside`` and ``collapse`` apply to new models only. ``backup``: keep the replaced
    file as `.bak`.
    """

    skeleton: bool = option(True, "Skeleton", "Bones with their rest pose, shapes and joints")
    meshes: bool = option(True, "Meshes", "Meshes with their weights and materials")
    modifiers: bool = modifiers_option()
    most_links: int = listed(
        "4",
        int,
        "Bones per Vertex",
        "Maximum number of bones that move one vertex",
        (
            ("4", "Four", "Clear Sky and Call of Pripyat: up to four bones move a vertex"),
            ("2", "Two", "Shadow of Chernobyl: up to two bones move a vertex"),
        ),
    )
    most_bones: int = _bone_limit()
    replace_meshes: bool = option(
        False,
        "Replace Meshes",
        "Write all meshes as new ones, in any number and with any materials; the rest of the file keeps its bytes",
    )
    kind: ModelKind = choice(ModelKind.STATIC, "Model Type", "What the new model is in the game")
    bones_as: str = path(
        "Bone Order From",
        "Model or motion file whose bone order and bone parts the new model gets, so that its motions fit",
        ".ogf",
        ".omf",
    )
    motions_inside: bool = option(
        False,
        "Motions Inside",
        "Write the armature's motions into the new model; the game ignores them in a model with motion references",
    )
    collapse: bool = option(
        False, "Merge within 1 mm", "Merge vertices of a new model that are closer than 1 mm, as the SDK does"
    )
    backup: bool = True


class Sdk(Choice):
    """The editor that a new model is written for."""

    SOC = "Shadow of Chernobyl", "Smoothing groups; motion references as one text"
    COP = "Clear Sky, Call of Pripyat", "Edges are sharp or smooth; motion references as a list"


class EditorModelExportOptions(Options):
    """Options of exporting a model of the editor.

    ``sdk`` applies to new models only; imported ones keep the smoothing rule of their file. ``backup``: keep the
    replaced file as `.bak`.
    """

    skeleton: bool = option(True, "Skeleton", "Bones with their rest pose, shapes and joints")
    meshes: bool = option(True, "Meshes", "Meshes with their weights and materials")
    modifiers: bool = modifiers_option()
    motions: bool = option(
        True,
        "Motions",
        "Write motions inside the model: those of the imported model, or all of the armature in a new one",
    )
    sdk: Sdk = choice(Sdk.COP, "New Model For", "Editors that the new model is written for")
    backup: bool = True


# Levels ---------------------------------------------------------------------------------------------------------------


class Split(Choice):
    """How to split the collision of a level into meshes."""

    WHOLE = "One Mesh", "Import the collision as one mesh"
    SECTOR = "By Sector", "One mesh per sector; exported as one mesh"
    MATERIAL = "By Game Material", "One mesh per game material; exported as one mesh"


class LevelImportOptions(Options):
    """Options of importing level geometry.

    ``weld``: distance in metres within which vertices of occluders are merged, None to merge none. ``games``: searched
    after the game that contains the file. ``collection``: name of a new collection; empty for the active collection.
    """

    split: Split = choice(Split.WHOLE, "Collision", "How to split the collision into meshes")
    weld: float | None = None
    textures: bool = option(True, "Textures", "Show the textures of surfaces and detail models")
    games: tuple[InstalledGame, ...] = ()
    collection: str = ""


class LevelFolderOptions(LevelImportOptions):
    """Options of importing a compiled level: kinds of visuals to import besides the other files of its folder."""

    surfaces: bool = option(True, "Surfaces", "Static surfaces of the level (level, level.geom)")
    trees: bool = option(True, "Trees", "Trees and other objects that occur many times, as objects that share meshes")
    impostors: bool = option(True, "Impostors", "Flat images that the game shows instead of distant trees")
    sectors: bool = option(True, "Sectors as Collections", "Put surfaces and trees in one collection per sector")
    portals: bool = option(True, "Portals", "Openings between two sectors")
    lights: bool = option(True, "Lights", "The sun and the static lights of the level")
    glows: bool = option(True, "Glows", "Glowing spots around lamps, as empties")
    ai_map: bool = option(True, "AI Map", "Nodes that creatures walk on (level.ai), colored by cover")
    wallmarks: bool = option(True, "Wallmarks", "Marks painted onto walls and ground (level.wallmarks)")
    placed: bool = option(
        True, "Placed Objects", "Particles, weather modifiers, sounds and spawned objects, as empties with their names"
    )
    detail: float = option(
        1.0, "Detail", "Level of detail of progressive surfaces and trees; 1 for all faces", min=0, max=1,
        subtype="FACTOR",
    )  # fmt: skip


class LevelExportOptions(Options):
    """Options of exporting level geometry. ``modifiers`` are applied as in the viewport.

    ``anew``: write a new file of the newest version, although one was imported. ``backup``: keep the replaced file as
    `.bak`. ``game_materials``: ids of the game's `gamemtl.xr`, empty if it was not found.
    """

    modifiers: bool = modifiers_option()
    anew: bool = option(
        False, "New File", "Write a new file of the newest version from the mesh, without the imported data"
    )
    backup: bool = True
    game_materials: frozenset[int] = frozenset()


class ScatterOptions(Options):
    """Options of showing the plants of a level.

    ``spacing``: metres between possible positions of a plant. ``most``: largest number of plants to show.
    ``on_collision``: place them on the collision mesh of the scene, if the scene has one.
    """

    spacing: float = option(
        0.5, "Spacing", "Distance between possible positions of plants", min=0.1, max=2.0, subtype="DISTANCE"
    )
    most: int = option(50_000, "Maximum Plants", "Largest number of plants to show", min=1, soft_max=500_000)
    on_collision: bool = option(
        True, "Place on Collision", "Place plants on the collision mesh of the scene within the height of the slot"
    )


# First person -------------------------------------------------------------------------------------------------------


class Game(Choice):
    """The game whose HUD is shown. Labels are the keys of `formats.xray.hud.VIEWS`."""

    SHADOW_OF_CHERNOBYL = "Shadow of Chernobyl, Clear Sky", "Field of view 30.4°"
    CALL_OF_PRIPYAT = "Call of Pripyat", "Field of view 24.8°"
    OPENXRAY = "OpenXRay", "Field of view 30.4°"
    ANOMALY = "Anomaly", "Field of view 37.4°; configs are changed by mod_*.ltx files (DLTX)"
    IX_RAY = "IX-Ray", "Field of view 33.8°; configs are changed by mod_*.ltx files (DLTX)"
    ADVANCED_X_RAY = "Advanced X-Ray", "Field of view 31.5°"


class Aspect(Choice):
    """Aspect ratio of the picture; the value ends with its width and height in pixels."""

    WIDE = "16:9", "Wide screen: the game reads the config keys that end in _16x9", (1920, 1080)
    NARROW = "4:3", "The game reads the config keys without _16x9", (1024, 768)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        width, height = self.value[2]
        return width, height


class Stance(Choice):
    """The stance whose offset from the configs is applied to the hands."""

    HIP = "Hip", "Hands at the default offset of the config"
    AIM = "Aiming", "Hands at the offset for aiming: aim_hud_offset or zoom_offset"
    LAUNCHER = "Grenade Launcher", "Hands at the offset for the selected grenade launcher: gl_hud_offset"


class HudSceneOptions(Options):
    """Options of a first-person scene: a ``section`` of the configs, or only the models ``hands`` and ``item``.

    ``folders`` (gamedata) of the game and its mods: the first one that has a file is used. ``configs``: files in these
    folders, read in this order; none for ``system.ltx``. ``hands_section``: "" for the first one of the game that
    exists. ``beside``: section of the item in the other hand, "" for none. ``games``: searched after the ``folders``.
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
    game: Game = choice(Game.ANOMALY, "Game", "Game whose camera and config rules are used")
    aspect: Aspect = choice(Aspect.WIDE, "Aspect Ratio", "Aspect ratio of the game's screen")
    stance: Stance = choice(Stance.HIP, "Stance", "Offset of the config that places the hands")
    anchor: str = option(
        "lead_gun",
        "Attach To",
        "Without a section: bone of the hands that the weapon is attached to; l_hand for detectors and torches",
    )
    motions: bool = option(True, "Motions", "Import the motions that the actions of the section play")
    textures: bool = option(
        True, "Textures", "Show textures found in the game folders and the games of the preferences"
    )
    games: tuple[InstalledGame, ...] = ()
