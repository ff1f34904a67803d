"""F1 over a button or field opens its section of the guide, in the language of the interface.

Blender asks for the page of what is under the mouse pointer by its lower-case API name, such as
``bpy.ops.import_scene.xray_omf`` or ``bpy.types.motionproperties.speed``. The first pattern that matches decides. The
pages are part of the extension; `scripts/make_manual.py` makes them from the guide.
"""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy.app import translations

from .preferences import MotionbridgePreferences

MANUAL = Path(__file__).resolve().parents[1] / "manual"
LANGUAGES = ("en", "ru")
"""The first one is used for all languages without pages."""

_GUIDE = "guide.html"
_ANIMATIONS = "stalker-animations.html"
_MODELS = "stalker-models.html"
_PREFERENCES = f"{_GUIDE}#installation-and-preferences"
_FROM_GAME = f"{_GUIDE}#from-the-game"
_MODEL = f"{_MODELS}#a-model"
_NEW_MODEL = f"{_MODELS}#a-new-model"
_READABLE = f"{_MODELS}#readable-bones"
_EDITOR_MODELS = f"{_MODELS}#the-editors-models"
_CONTROLS = f"{_ANIMATIONS}#control-rig"
_MOTIONS = f"{_ANIMATIONS}#motions"
_SAVING = f"{_ANIMATIONS}#saving-back"
_EDITOR = f"{_ANIMATIONS}#the-editors-motions-and-bones"
_PATHS = f"{_ANIMATIONS}#motion-paths"
_HANDS = "stalker-first-person.html"
_LEVEL = "stalker-levels.html"
_ARMA = "arma.html"
_DESCENT = "descent3.html"

_PAGES: dict[str, tuple[str, ...]] = {
    _NEW_MODEL: (
        "ops.motionbridge.bones_as",
        "ops.motionbridge.choose_game_material",
        "ops.motionbridge.fit_shapes",
        "ops.motionbridge.new_game_model",
        "ops.motionbridge.user_data*",
        "types.listedgamematerial*",
    ),
    _FROM_GAME: (
        "ops.import_scene.xray_textures*",
        "ops.motionbridge.add_game*",
        "ops.motionbridge.copy_into_mod*",
        "ops.motionbridge.from_game*",
        "types.gamefile*",
    ),
    _PREFERENCES: ("types.motionbridgepreferences*",),
    _READABLE: ("ops.motionbridge.original_bones", "ops.motionbridge.readable_bones"),
    _CONTROLS: (
        "ops.motionbridge.*control*",
        "ops.motionbridge.hold_bone*",
    ),
    _EDITOR_MODELS: (
        "ops.*.xray_object*",
        "ops.motionbridge.editor_model*",
        "ops.motionbridge.take_over_xray*",
        "types.editor*",
        "types.surfaceproperties*",
    ),
    _EDITOR: (
        "ops.*.xray_bones*",
        "ops.*.xray_skl*",
        "ops.motionbridge.*editor_motion*",
        "ops.motionbridge.*skeletal*",
        "types.bonesfileproperties*",
        "types.skeletal*",
    ),
    _SAVING: (
        "ops.motionbridge.save_back*",
        "ops.motionbridge.update_status*",
    ),
    _PATHS: ("ops.*.xray_anm*", "ops.motionbridge.*path*", "types.pathproperties*"),
    _LEVEL: (
        "ops.*.xray_level*",
        "ops.motionbridge.details*",
        "ops.motionbridge.level*",
        "types.levelcollection*",
        "types.levelproperties*",
        "types.listedmodel*",
    ),
    _ARMA: (
        "ops.*.arma*",
        "types.animation*",
        "types.arma*",
        "types.lodlist*",
        "types.markproperties*",
        "types.skeletonfiles*",
    ),
    _DESCENT: ("ops.*.descent*", "types.battery*", "types.descent*"),
    _HANDS: ("ops.motionbridge.*hud*", "ops.motionbridge.attach_weapon*", "types.*hud*"),
    _MODEL: (
        "ops.*.xray_ogf*",
        "ops.motionbridge.add_reference*",
        "ops.motionbridge.remove_reference*",
        "types.boneproperties*",
        "types.jointlimit*",
        "types.materialproperties*",
        "types.meshproperties*",
        "types.modelproperties*",
        "types.motionreferenceproperties*",
    ),
    _MOTIONS: (
        "ops.*.xray_omf*",
        "ops.motionbridge.*mark*",
        "ops.motionbridge.*motion*",
        "ops.motionbridge.*partition*",
        "ops.motionbridge.match_scene*",
        "ops.motionbridge.restore_rotation_modes*",
        "types.*mark*",
        "types.*motion*",
        "types.partition*",
    ),
    f"{_GUIDE}#when-something-is-refused": ("ops.motionbridge.*",),
}
SECTIONS = tuple((f"bpy.{name}", page) for page, names in _PAGES.items() for name in names)
"""Pairs of a pattern of API names and the page, relative to the folder of a language."""


def section_of() -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return what Blender asks for: the address of the pages, and `SECTIONS`."""
    language = next((language for language in LANGUAGES if translations.locale.startswith(language)), LANGUAGES[0])
    return f"{(MANUAL / language).as_uri()}/", SECTIONS


def register() -> None:
    """Register the map of pages; for names that match no pattern, Blender uses its own manual."""
    bpy.utils.register_manual_map(section_of)
    # F1 looks up a property's class in `bpy.types`, where Blender lists all classes except preferences.
    setattr(bpy.types, MotionbridgePreferences.__name__, MotionbridgePreferences)


def unregister() -> None:
    """Remove the map of pages."""
    delattr(bpy.types, MotionbridgePreferences.__name__)
    bpy.utils.unregister_manual_map(section_of)
