"""Options of Arma's imports and exports.

They are needed when the extension is enabled, so no format, import or export is loaded here.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from ...formats.arma import lod_kinds, skeletons
from ..options import (
    Choice,
    HiddenKeysOptions,
    Options,
    bone_display_option,
    choice,
    listed,
    made,
    modifiers_option,
    option,
    path,
)
from .properties import STEP_ITEMS

if TYPE_CHECKING:
    from ...core.game import InstalledGame


def _prefix() -> Any:
    return option("", "Prefix", "Prefix of the armature's bone names before the names of the game")


def _config() -> Any:
    return path("model.cfg", "The model.cfg of the skeleton; if empty, the one in the file's folder or above", ".cfg")


def _table() -> Any:
    return made(lambda: skeletons.BoneTable())  # noqa: PLW0108 - of a module that is loaded late


# Import of animations -------------------------------------------------------------------------------------------------


class HierarchyFrom(Choice):
    """Source of the bone hierarchy."""

    AUTOMATIC = (
        "Automatic",
        "The model.cfg in the file's folder or above, otherwise the built-in skeleton with these bones, otherwise none",
    )
    """The model.cfg that is set or that is in the file's folder or above, else a fitting built-in skeleton, or none."""
    CONFIG = "model.cfg", "The skeleton of the model.cfg set below or found in the file's folder or above"
    ARMA3 = "Arma 3 Man", "OFP2_ManSkeleton of Arma 3"
    ARMA2 = "Arma 2 Man", "OFP2_ManSkeleton of Arma 2"
    FLASHPOINT = "Flashpoint Man", "The Operation Flashpoint man; the game has no hierarchy, this one is for display"
    FLAT = "None", "No bone has a parent"
    """No bone has a parent: the pose is right, but there is no bone chain to animate."""


class PivotsFrom(Choice):
    """Source of the joints of a new armature; the posed mesh looks the same with each."""

    AUTOMATIC = (
        "Automatic",
        "From the pivots model if one is set, otherwise from the animation, otherwise from the built-in skeleton",
    )
    MODEL = "Pivots Model", "Points of a .p3d model with the names of the bones"
    ANIMATION = "Animation", "Joints are the points around which bones rotate in the animation"
    BUILT_IN = "Built-In Skeleton", "Joints of the Arma 3 man, accurate to 1 cm"


class StepMode(Enum):
    """How the step is shown in Blender; the file can be exported unchanged with each."""

    LEFT_OUT = "LEFT_OUT"
    OBJECT = "OBJECT"
    BONES = "BONES"


class AnimationImportOptions(Options):
    """Options of importing animations.

    ``seconds``: duration of a cycle, None for one frame per key. ``prefix``: what Blender's bone names have before the
    game's names. ``table``: names of the file's bones in an existing armature, where they differ. ``config`` and
    ``pivots_model``: paths, "" for none. ``whole_skeleton``: a new armature also gets the bones of the hierarchy that
    the animation does not move. ``games``: searched for a model.cfg after the animation's project.
    """

    hierarchy: HierarchyFrom = choice(
        HierarchyFrom.AUTOMATIC,
        "Hierarchy",
        "Parents of the bones; the pose is the same with every choice, but binarised files need the game's hierarchy",
    )
    config: str = _config()
    pivots: PivotsFrom = choice(
        PivotsFrom.AUTOMATIC,
        "Joints",
        "Head positions of the new armature's bones; the pose is the same with every choice",
    )
    pivots_model: str = path("Pivots Model", "A .p3d model with one point per bone", ".p3d")
    whole_skeleton: bool = option(
        False,
        "Whole Skeleton",
        "Also add the bones of the hierarchy that the animation does not move to a new armature",
    )
    readable_bones: bool = bone_display_option()
    prefix: str = _prefix()
    table: skeletons.BoneTable = _table()
    first_frame: int = option(0, "First Frame", "Frame of phase 0, or of the first key")
    seconds: float | None = None
    games: tuple[InstalledGame, ...] = ()
    step: StepMode = choice(
        StepMode.LEFT_OUT,
        "Step",
        "How the travel of one cycle (step) is shown; every choice exports the same file",
        STEP_ITEMS,
    )
    fake_user: bool = option(True, "Fake User", "Keep actions without users when the .blend file is saved")
    assign: bool = True
    stash: bool = option(False, "Stash", "Add each action to its own muted NLA track")


# Export of animations -------------------------------------------------------------------------------------------------


class Encoding(Choice):
    """Encoding of the written file."""

    AS_IT_CAME = "Same as Imported", "The encoding of the imported file; plain for new animations"
    PLAIN = "Plain", "The encoding that tools read (RTM_0101)"
    BINARISED = (
        "Binarised",
        "The game's own encoding (BMTR 5): half precision, one scale for all axes, needs a hierarchy",
    )


class FramesFrom(Choice):
    """Which frames become keys of the file."""

    KEYS = "Keys", "Every frame where a bone has a key, and in new animations the frames needed for Tolerance"
    EVERY = "Every Nth Frame", "Every Nth frame of the action's range, and the last frame"
    RANGE = "Range", "Every Nth frame of a range"


class PhasesFrom(Choice):
    """Phases of the written keys."""

    KEPT = "From the File", "Phases of the file's keys, interpolated between them; new animations go from 0 to 1"
    EVEN = "Evenly Spaced", "Evenly spaced from 0 to 1"


class StepFrom(Choice):
    """Source of the file's step."""

    AUTOMATIC = "Automatic", "The step of the action's panel, or the travel of the object's keys if they were edited"
    TYPED = "Step of the Action", "The step typed into the action's panel"
    BONE = (
        "Travel of a Bone",
        "The distance a bone travels in one cycle is removed from the animation and becomes the step",
    )


class NamesFrom(Choice):
    """Source of the order of bones and of their upper and lower case."""

    FILE = "Source File", "Names and order of the source file, or of the armature's skeleton if there is none"
    CONFIG = "model.cfg", "Names and order of the model.cfg set below or found in the file's folder or above"
    ARMATURE = "Armature", "Names and order of the armature's bones"


class AnimationExportOptions(HiddenKeysOptions):
    """Options of exporting animations.

    ``every``, ``first``, ``last``: frames for `FramesFrom`. ``step_bone``: Blender's bone name. ``config``: a path or
    "". ``prefix``: what Blender's bone names have before the game's names. ``table``: names for the file where they
    differ. ``games``: as in `AnimationImportOptions`.

    ``own_markers``: the user's own pose markers become events too. ``from_file`` False: the source file is ignored.
    ``pairs``: write a pose of one frame as two frames, as the game's own tools do. ``tolerance``: in metres, largest
    error of the game's interpolation between keys of a new animation; 0 to write only Blender's keys.
    """

    kind: Encoding = choice(Encoding.AS_IT_CAME, "File", "Encoding of the written file")
    frames: FramesFrom = choice(FramesFrom.KEYS, "Frames", "Which frames become keys")
    every: int = option(1, "Every Nth", "Number of frames from one key to the next", min=1)
    first: int = option(0, "First", "First frame of the range")
    last: int = option(20, "Last", "Last frame of the range")
    phases: PhasesFrom = choice(PhasesFrom.KEPT, "Phases", "Phase of each key in the cycle")
    step: StepFrom = choice(StepFrom.AUTOMATIC, "Step", "Distance the model moves in one cycle")
    step_bone: str = option("", "Bone", "The bone whose travel becomes the step")
    vertical: bool = option(False, "Include Vertical", "Include the vertical travel of the bone in the step")
    names: NamesFrom = choice(NamesFrom.FILE, "Bone Order", "Where the names and the order of the bones come from")
    config: str = path(
        "model.cfg", "The model.cfg of the skeleton, for names, order and the hierarchy of binarised files", ".cfg"
    )
    prefix: str = _prefix()
    table: skeletons.BoneTable = _table()
    own_markers: bool = option(
        False, "Markers as Events", "Export new pose markers of the action as events with the markers' names"
    )
    from_file: bool = option(True, "Edit Source File", "Unedited values keep the exact numbers of the source file")
    pairs: bool = True
    games: tuple[InstalledGame, ...] = ()
    tolerance: float = option(
        0.001,
        "Tolerance",
        "Largest error of the game's interpolation before a new animation gets another key; 0 for Blender's keys only",
        min=0.0,
        soft_max=0.1,
        precision=4,
        subtype="DISTANCE",
    )


# Import of models -----------------------------------------------------------------------------------------------------


class Levels(Choice):
    """Groups of levels of detail, by purpose."""

    FIRST = "First Resolution", "The LOD shown at close range"
    VISUAL = "All Resolutions", "All LODs that show the model from outside"
    VIEWS = "Views", "Inside views of gunner, pilot and cargo"
    SHADOW = "Shadows", "LODs that cast shadows"
    GEOMETRY = "Geometries", "Geometry, View Geometry and Fire Geometry, also for the inside; buoyancy, PhysX"
    MEMORY = "Memory", "Import named points as empties in their own collection"
    OTHER = "Others", "Land Contact, Roadway, Paths, Hit-points, Edit, Sub Parts, Wreckage and unknown ones"


class ModelImportOptions(Options):
    """Options of importing models.

    ``new_rig``: create an armature from a model.cfg, ``config`` or the one in the file's folder or above.
    ``pivots_model``: P3D file of its joints, "" for the one that the model.cfg names or the model's own. ``games``:
    searched after the model's project for textures, a model.cfg and a pivots model. ``prefix`` and ``table`` as in
    `AnimationImportOptions`. ``collection``: name of a new collection; "" for none.
    """

    levels: frozenset[Levels] = choice(frozenset({Levels.FIRST}), "LODs", "Which levels of detail (LODs) to import")
    textures: bool = option(
        True,
        "Textures",
        "Show .png, .tga and .paa files with the names of the game's textures: next to the model, in its data folder, "
        "or by the texture path in the project or the games of the preferences",
    )
    proxies: bool = option(True, "Proxies", "Import models attached to this one (proxies) as empties")
    new_rig: bool = False
    readable_bones: bool = bone_display_option()
    config: str = _config()
    pivots_model: str = path(
        "Pivots Model",
        "A .p3d model with one point per bone; if empty, the one that the model.cfg names, or the points of the model "
        "itself",
        ".p3d",
    )
    prefix: str = _prefix()
    table: skeletons.BoneTable = _table()
    collection: str = ""
    games: tuple[InstalledGame, ...] = ()


# Export of models -----------------------------------------------------------------------------------------------------


class ModelExportOptions(Options):
    """Options of exporting models. ``games``: as in `ModelImportOptions`, for the paths of textures."""

    selected: bool = option(
        False,
        "Selected Only",
        "Of LODs that belong to no imported model, export the selected ones; otherwise all of the scene",
    )
    modifiers: bool = modifiers_option()
    transforms: bool = option(
        True,
        "Apply Transforms",
        "Export meshes as their objects are moved, rotated and scaled; the armature's own transform does not count",
    )
    games: tuple[InstalledGame, ...] = ()


# LODs of new models ---------------------------------------------------------------------------------------------------


class NewLod(Choice):
    """What the dialog for LODs of a new model makes."""

    RESOLUTIONS = "Resolutions", "Resolution LODs with fewer faces"
    GEOMETRY = "Geometry", "Collision: a convex component around each loose part, with a mass"
    VIEW = "View Geometry", "What hides the model from view"
    FIRE = "Fire Geometry", "Collision with bullets, with a penetration material"
    SHADOW = "Shadow Volume", "The faces of closed parts, and the hulls of open ones"
    MEMORY = "Memory", "Points that the game expects: of DayZ the corners, the center and the inventory view"
    PROPERTIES = "Named Properties", "Named properties by game and kind of model"


class Game(Choice):
    """A game for which a model is made."""

    ARMA3 = "Arma 3", "For Arma 3"
    DAYZ = "DayZ", "For DayZ"


class ModelKind(Choice):
    """What a new model is, which decides its named properties."""

    PLAIN = "Other", "No named properties"
    ITEM = "Item", "An item, weapon or a part of it: autocenter = 0"
    HOUSE = "House", "class and map = house, autocenter = 0"
    VEHICLE = "Vehicle", "Properties: class = vehicle, autocenter = 0"
    TREE_HARD = "Hard Tree", "Properties: class = treehard, map = tree"
    TREE_SOFT = "Soft Tree", "Properties: class = treesoft, map = tree"
    BUSH_HARD = "Hard Bush", "Properties: class = bushhard, map = bush"
    BUSH_SOFT = "Soft Bush", "Properties: class = bushsoft, map = bush"


class GeometryShape(Choice):
    """Shape of the components of a Geometry."""

    HULL = "Convex Hulls", "The convex hull of each loose part"
    BOX = "Boxes", "A box around each loose part"


class FireShape(Choice):
    """What View and Fire Geometry are made of."""

    HULL = "Convex Hulls", "The convex hull of each loose part"
    COPY = "Copy of Geometry", "The components of the Geometry LOD"


class NewLodOptions(Options):
    """Options for the LODs of a new model. ``material``: name or path of the penetration material, "" for metal."""

    lods: frozenset[NewLod] = choice(frozenset(NewLod), "LODs", "What to make; Shift-click chooses several")
    game: Game = choice(Game.ARMA3, "Game", "Game whose points, properties and penetration materials are used")
    model: ModelKind = choice(ModelKind.PLAIN, "Model", "What the model is, for its named properties")
    replace: bool = option(False, "Replace Existing", "Replace LODs, points and properties that exist")
    ratios: str = option(
        "50 25 10", "Faces (%)", "Faces of each further Resolution LOD, as percentages of the first one"
    )
    shape: GeometryShape = choice(GeometryShape.HULL, "Geometry", "Shape of the components of the Geometry LOD")
    fire: FireShape = choice(FireShape.HULL, "View and Fire", "What View and Fire Geometry are made of")
    density: float = option(
        200.0, "Density (kg/m³)", "Mass per volume of the components of the Geometry LOD", min=0.0, soft_max=10_000.0
    )
    smallest: float = option(
        0.1,
        "Smallest Part",
        "Loose parts smaller than this join the component of their neighbor",
        min=0.0,
        soft_max=2.0,
        subtype="DISTANCE",
    )
    material: str = ""


TEXTURE_TYPES = (
    ("AUTOMATIC", "Automatic", "As in the texture that the image was imported from, otherwise by name and alpha"),
    ("DXT1", "DXT1", "Compressed to 4 bits per pixel, alpha is 0 or 1"),
    ("DXT5", "DXT5", "Compressed to 8 bits per pixel, with alpha"),
    ("ARGB8888", "ARGB 8888", "Not compressed, 8 bits for each color and alpha"),
    ("ARGB4444", "ARGB 4444", "4 bits for each color and alpha, for Operation Flashpoint"),
    ("ARGB1555", "ARGB 1555", "5 bits for each color, alpha is 0 or 1, for Operation Flashpoint"),
    ("AI88", "Gray and Alpha", "8 bits of gray and of alpha"),
)
TEXTURE_ALPHAS = (
    ("AUTOMATIC", "Automatic", "As in the texture that the image was imported from, otherwise by name and alpha"),
    ("OPAQUE", "Opaque", "The game ignores alpha"),
    ("CLIP", "Alpha Clip", "Each pixel is either drawn or not"),
    ("BLEND", "Alpha Blend", "Pixels are mixed with what is behind them"),
)


def _unless_automatic(identifier: str) -> str:
    return "" if identifier == "AUTOMATIC" else identifier


class TextureExportOptions(Options):
    """Options of exporting textures; ``kind`` and ``alpha``: names in `paa.TextureType` and `paa.Alpha`, "" for
    automatic.
    """

    kind: str = listed("AUTOMATIC", _unless_automatic, "Type", "How the texture stores its pixels", TEXTURE_TYPES)
    alpha: str = listed("AUTOMATIC", _unless_automatic, "Alpha", "How the game draws the texture", TEXTURE_ALPHAS)


_LOD_PURPOSES = {
    lod_kinds.RESOLUTION: "What is drawn; lower numbers are more detailed",
    lod_kinds.SHADOW: "The shadow; closed, triangles with sharp edges",
    lod_kinds.SHADOW_BUFFER: "The shadow of distant objects",
    lod_kinds.GEOMETRY: "Collision and physics; closed convex parts with mass",
    lod_kinds.PHYSX: "Collision and physics of vehicles in Arma 3",
    lod_kinds.BUOYANCY: "Volume that floats",
    lod_kinds.MEMORY: "Named points",
    lod_kinds.LAND_CONTACT: "Points that touch the ground",
    lod_kinds.ROADWAY: "Faces on which people walk",
    lod_kinds.PATHS: "Ways of people inside of a building",
    lod_kinds.HIT_POINTS: "Points that are damaged",
    lod_kinds.VIEW_GEOMETRY: "What hides the model from view",
    lod_kinds.FIRE_GEOMETRY: "Collision with bullets",
    "View Pilot": "Seen by the pilot or driver",
    "View Gunner": "Seen by the gunner",
    "View Commander": "Seen by the commander",
    "View Cargo": "Seen by passengers; several are possible",
    "View Pilot Geometry": "View geometry for the pilot",
    "View Gunner Geometry": "View geometry for the gunner",
    "View Commander Geometry": "View geometry for the commander",
    "View Cargo Geometry": "View geometry for passengers",
    "View Pilot Fire Geometry": "Fire geometry for the pilot",
    "View Gunner Fire Geometry": "Fire geometry for the gunner",
    "View Commander Fire Geometry": "Fire geometry for the commander",
    "View Cargo Fire Geometry": "Fire geometry for passengers",
    "Shadow Volume View Pilot": "Shadow in the pilot's view",
    "Shadow Volume View Gunner": "Shadow in the gunner's view",
    "Shadow Volume View Cargo": "Shadow in the view of passengers; several are possible",
    lod_kinds.SUB_PARTS: "Subparts",
    lod_kinds.WRECKAGE: "The wreck",
    lod_kinds.EDIT: "For editing only; several are possible",
}


def lod_identifier(word: str) -> str:
    """Return the identifier of a kind of LOD: ``VIEW_PILOT`` for ``View Pilot``."""
    return word.upper().replace(" ", "_").replace("-", "_")


LOD_KINDS = tuple((lod_identifier(word), word, purpose) for word, purpose in _LOD_PURPOSES.items())
"""Kinds of LODs as items of an enumeration: their names in Object Builder, and what they are for."""
LOD_WORDS = {lod_identifier(word): word for word in _LOD_PURPOSES}
