"""Modules that are loaded when they are first used, so that Blender's start does not wait for them.

Enabling the extension registers classes and properties; most sessions then open no file of a game. The modules of
`MODULES` stand ready as `LazyModule`: ``from ..games.xray import paths`` costs nothing, and
``paths.import_path(…)`` loads it. ``from ..games.xray.paths import import_path`` loads it at
once, as everywhere; so what is loaded at the start imports modules of this table, never names out of them.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

MODULES: dict[str, tuple[str, ...]] = {
    "": ("cli",),
    "blender": (
        "action",
        "armature",
        "attributes",
        "bone_curves",
        "control_match",
        "control_rig",
        "delta_action",
        "mesh",
        "sampling",
        "scope",
        "transforms",
    ),
    "core": (
        "files",
        "model",
        "names",
        "pausing",
        "phrases",
    ),
    "formats.arma": ("skeletons",),
    "formats.descent3": ("oof",),
    "formats.xray": (
        "cform",
        "conversion",
        "details",
        "omf",
    ),
    "games": (
        "plan",
        "renamed_bones",
    ),
    "games.arma": (
        "animation_edit",
        "animation_export",
        "animation_import",
        "model_import",
        "timing",
    ),
    "games.descent3": (
        "hierarchy",
        "model",
        "model_export",
        "motion",
        "property_values",
        "textures",
    ),
    "games.xray": (
        "game_tree",
        "paths",
    ),
    "games.xray.bones": ("values",),
    "games.xray.hud": (
        "attachments",
        "pairs",
        "placing",
        "scene",
        "sections",
    ),
    "games.xray.levels": (
        "details",
        "file",
        "folder",
        "geometry",
        "marks",
        "materials",
    ),
    "games.xray.models": (
        "editor_exporting",
        "exporting",
        "importing",
        "making",
        "taken_over",
    ),
    "games.xray.motions": (
        "files",
        "library",
        "omf_codec",
        "omf_host",
        "skl_codec",
        "timing",
    ),
    "ui": (
        "listed_actions",
        "scene_command",
    ),
}
"""Package below here -> those of its modules that are loaded late."""


class LazyModule(ModuleType):
    """Stands for a module in whoever imported it before it was loaded; each attribute is the module's own."""

    def __getattr__(self, name: str) -> Any:
        # The import system takes a microsecond or ten to find what it has: loops ask for each key of an action.
        found = sys.modules.get(self.__name__)
        return getattr(found or import_module(self.__name__), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(import_module(self.__name__), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(import_module(self.__name__), name)


def attach(package: str) -> None:
    """Called by a package of `MODULES` before anything else: its modules that are not loaded yet stand ready.

    The import system replaces each by the module itself when that is loaded.
    """
    for name in MODULES[package.removeprefix(f"{__package__}").lstrip(".")]:
        full_name = f"{package}.{name}"
        if full_name not in sys.modules:
            setattr(sys.modules[package], name, LazyModule(full_name))
