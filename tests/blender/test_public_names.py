"""Names that scripts, presets and .blend files hold: from the first release on they are never renamed or removed, and
keep type, default and limits.

`public_names.txt` lists them. A new name is a new line there; after a release a change of an existing line breaks
somebody's script, before it the line is written anew.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path

import bpy

import addon.ui
from addon import games
from addon.ui import motion_lists

UNLIMITED = 2**31 - 1
LISTED = Path(__file__).with_name("public_names.txt")


def declared_by_us(kind: type) -> set[str]:
    """The properties that a class of ours and its mixins declare; not those of Blender's own helpers."""
    ours = [base for base in kind.__mro__ if not base.__module__.startswith(("bpy", "_bpy"))]
    return {name for base in ours for name in inspect.get_annotations(base)}


def rna_of(kind: type) -> bpy.types.Struct:
    if issubclass(kind, bpy.types.Operator):
        group, name = kind.bl_idname.split(".")
        return getattr(getattr(bpy.ops, group), name).get_rna_type()
    return kind.bl_rna


def default_of(prop: bpy.types.Property) -> str:
    if prop.type == "ENUM":
        value = ",".join(sorted(prop.default_flag)) if prop.is_enum_flag else prop.default
        return f"{value!r} of {' '.join(item.identifier for item in prop.enum_items)}"
    if prop.type in {"POINTER", "COLLECTION"}:
        return prop.fixed_type.identifier
    values = prop.default_array if getattr(prop, "is_array", False) else [prop.default]
    if prop.type not in {"INT", "FLOAT"}:
        return " ".join(f"{value:g}" for value in values) if len(values) > 1 else repr(prop.default)
    ends = (("from", prop.hard_min), ("to", prop.hard_max))
    limits = [f"{word} {limit:g}" for word, limit in ends if abs(limit) < UNLIMITED]
    return " ".join([*(f"{value:g}" for value in values), *limits])


def public_names() -> Iterator[str]:
    groups = [kind for added in (*games.ADDED, motion_lists.ADDED) for kind in added.classes]
    for kind in (*addon.ui.CLASSES, *groups):
        name = getattr(kind, "bl_idname", kind.__name__)
        yield f"{name} {kind.__bases__[-1].__name__}"
        if issubclass(kind, bpy.types.FileHandler):
            exporter = getattr(kind, "bl_export_operator", "")
            yield f"{name} {kind.bl_import_operator} {exporter} {kind.bl_file_extensions}".replace("  ", " - ")
        if issubclass(kind, bpy.types.Operator | bpy.types.PropertyGroup | bpy.types.AddonPreferences):
            own = declared_by_us(kind)
            for prop in rna_of(kind).properties:
                if prop.identifier in own:
                    yield f"{name}.{prop.identifier} {prop.type} {default_of(prop)}"


def test_public_names_stay():
    listed = LISTED.read_text(encoding="utf-8").splitlines()
    result = sorted(public_names())
    assert len(result) > 400
    gone, new = ("\n".join(sorted(set(first) - set(other))) for first, other in ((listed, result), (result, listed)))
    assert not gone, f"these are gone or changed:\n{gone}"
    assert not new, f"these are new: add their lines\n{new}"
    assert listed == sorted(listed)
