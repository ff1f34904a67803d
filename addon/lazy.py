"""Modules that are loaded on first use, so that they do not delay the start of Blender.

Enabling the extension registers classes and properties, and most sessions then open no file of a game. The modules in
`MODULES` are represented by a `LazyModule`: ``from ..games.xray import paths`` loads nothing, and
``paths.import_path(…)`` loads the module. ``from ..games.xray.paths import import_path`` loads it at once, as usual; so
modules that are loaded at the start import these modules, never names out of them.
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
        "control_edits",
        "control_match",
        "control_rig",
        "control_transfer",
        "delta_action",
        "foreign_motions",
        "material",
        "mesh",
        "mirror",
        "modifiers",
        "motion_preview",
        "nla",
        "sampling",
        "scope",
        "spread",
        "transforms",
        "views",
    ),
    "core": (
        "bone_map",
        "files",
        "game",
        "model",
        "names",
        "pausing",
        "retarget",
        "rig_names",
        "space",
        "spread",
    ),
    "formats": ("archives", "trees"),
    "formats.arma": (
        "lists",
        "renaming",
        "skeletons",
    ),
    "formats.descent3": ("oof",),
    "formats.xray": (
        "cform",
        "conversion",
        "details",
        "game_tree",
        "omf",
    ),
    "games": (
        "images",
        "linked_textures",
        "mods",
        "plan",
        "renamed_bones",
    ),
    "games.arma": (
        "animation_edit",
        "animation_export",
        "animation_import",
        "flags",
        "lod_list",
        "mass",
        "model_check",
        "model_export",
        "model_import",
        "new_lods",
        "proxies",
        "renamed_selections",
        "selections",
        "textures",
        "timing",
    ),
    "games.descent3": (
        "editing",
        "hierarchy",
        "model",
        "model_export",
        "motion",
        "rotors",
        "textures",
    ),
    "games.xray": ("paths",),
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
        "game_materials",
        "geometry",
        "marks",
        "materials",
        "tree_sets",
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
        "inside_models",
        "library",
        "list_edits",
        "omf_codec",
        "omf_host",
        "read_files",
        "replaced",
        "saved_edits",
        "skl_codec",
        "timing",
    ),
    "ui": (
        "game_details",
        "listed_actions",
        "scene_command",
    ),
}
"""Package below this one -> the modules of it that are loaded on first use."""


class LazyModule(ModuleType):
    """Placeholder for a module that is not loaded yet; each access to an attribute is passed on to the module."""

    def __getattr__(self, name: str) -> Any:
        # `import_module` takes up to ten microseconds even for a loaded module, too long in loops over keys.
        module = sys.modules.get(self.__name__)
        return getattr(module or import_module(self.__name__), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(import_module(self.__name__), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(import_module(self.__name__), name)


def attach(package: str) -> None:
    """Set a `LazyModule` in the package for each of its modules in `MODULES` that is not loaded yet.

    Each package in `MODULES` calls this before any other import. The import system replaces a placeholder when it loads
    the module.
    """
    for name in MODULES[package.removeprefix(f"{__package__}").lstrip(".")]:
        full_name = f"{package}.{name}"
        if full_name not in sys.modules:
            setattr(sys.modules[package], name, LazyModule(full_name))
