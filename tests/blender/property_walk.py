"""Every value that the extension's own properties hold, changed one by one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import bpy

from addon import games

Restore = Callable[[], None]
FEWER, MORE, ANOTHER_ORDER = "a row less", "a row more", "another order"


class Value(NamedTuple):
    """A stored value: ``owner`` is a data-block or a bone, ``steps`` lead from there to the group that has ``name``.

    Rows of collections are looked up each time: Blender moves them in memory.
    """

    owner: Any
    steps: tuple[str | int, ...]
    name: str
    part: int | str | None = None
    """Component of a vector, item of an enumeration of flags, or what happens to a collection."""

    @property
    def group(self) -> Any:
        group = self.owner
        for step in self.steps:
            group = group[step] if isinstance(step, int) else getattr(group, step)
        return group

    @property
    def path(self) -> str:
        """Where it is, without indices: the same for all bones, all rows."""
        steps = "".join("[]" if isinstance(step, int) else f".{step}" for step in (*self.steps, self.name))
        part = "" if self.part is None else f" {self.part}"
        return f"{self.owner.bl_rna.identifier}{steps}{part}"

    @property
    def label(self) -> str:
        """The class that declares it, and its name; of a property of one of Blender's own types that type."""
        return f"{self.group.bl_rna.identifier}.{self.name}"


def declared() -> set[str]:
    """The labels of all properties, except those that only hold a group of properties."""
    labels = set()
    for added in games.ADDED:
        for group in added.classes:
            labels |= {f"{group.__name__}.{name}" for kind in group.__mro__ for name in inspect.get_annotations(kind)}
        labels |= {f"{kind.__name__}.{name}" for kind, name in added.held if not _is_group(kind, name)}
    return {label for label in labels if label not in HELD_GROUPS}


HELD_GROUPS = {f"BoneProperties.limit_{axis}" for axis in "xyz"}


def _is_group(kind: Any, name: str) -> bool:
    prop = kind.bl_rna.properties[name]
    return prop.type == "POINTER" and bpy.types.PropertyGroup.bl_rna in _bases(prop.fixed_type.bl_rna)


def _bases(rna: Any) -> Iterator[Any]:
    while rna is not None:
        yield rna
        rna = rna.base


def owners() -> Iterator[Any]:
    """All data-blocks and bones."""
    for prop in bpy.data.bl_rna.properties:
        if prop.type == "COLLECTION" and prop.identifier != "all_ids":
            for block in getattr(bpy.data, prop.identifier):
                yield block
                if isinstance(block, bpy.types.Armature):
                    yield from block.bones
                elif isinstance(block, bpy.types.Object) and block.pose is not None:
                    yield from block.pose.bones


def values() -> Iterator[Value]:
    """What the imports of the games stored in this file."""
    for owner in owners():
        for added in games.ADDED:
            for kind, name in added.held:
                if isinstance(owner, kind):
                    yield from _values(owner, (), name)


def _values(owner: Any, steps: tuple[str | int, ...], name: str) -> Iterator[Value]:
    group = Value(owner, steps, name).group
    prop, held = group.bl_rna.properties[name], getattr(group, name)
    if isinstance(held, bpy.types.PropertyGroup):
        if is_used(held):
            for inner in own_properties(held):
                yield from _values(owner, (*steps, name), inner)
    elif group is not owner or _is_stored(owner, name):
        yield from (Value(owner, steps, name, part) for part in _parts(prop, held))
        for index, row in enumerate(held) if prop.type == "COLLECTION" else ():
            for inner in ("name", *own_properties(row)):
                if inner != "name" or row.name:
                    yield from _values(owner, (*steps, name, index), inner)


def _parts(prop: Any, held: Any) -> list[Any]:
    """What can be changed by itself."""
    if prop.type == "COLLECTION":
        return [FEWER if len(held) else MORE, *([ANOTHER_ORDER] if len(held) > 1 else [])]
    if prop.type == "ENUM" and prop.is_enum_flag:
        return [item.identifier for item in prop.enum_items]
    return list(range(prop.array_length)) if getattr(prop, "is_array", False) else [None]


def own_properties(group: Any) -> list[str]:
    """What the class of a group declares."""
    return [prop.identifier for prop in group.bl_rna.properties if prop.identifier not in {"rna_type", "name"}]


def is_used(group: Any) -> bool:
    """Whether anything was stored in a group."""
    return any(_is_stored(group, name) for name in own_properties(group) if name not in computed(group))


def _is_stored(group: Any, name: str) -> bool:
    held = getattr(group, name)
    if isinstance(held, bpy.types.PropertyGroup):
        return is_used(held)
    prop = group.bl_rna.properties[name]
    if prop.type in {"POINTER", "COLLECTION"}:  # reading a pointer sets it to nothing
        return bool(held)
    return bool(group.is_property_set(name))


def computed(group: Any) -> set[str]:
    """Properties with functions that get and set something else."""
    annotations = inspect.get_annotations(type(group))
    return {name for name, prop in annotations.items() if "get" in getattr(prop, "keywords", {})}


def changes(value: Value) -> Iterator[Callable[[], Restore]]:
    """Functions that each set another value; each returns the function that sets the old one again."""
    group = value.group
    prop = group.bl_rna.properties[value.name]
    old = getattr(group, value.name)
    if prop.type == "COLLECTION":
        yield _with_rows(value)
        return
    names = [value.name]
    if isinstance(group, bpy.types.PropertyGroup) and value.name in computed(group):
        names = [name for name in own_properties(group) if _is_plain(group, name) and name not in computed(group)]
    for other in _others(prop, old, value.part):

        def change(other: Any = other) -> Restore:
            before = [_plain_value(value.group, name) for name in names]
            block_name = value.group.id_data.name
            setattr(value.group, value.name, other)

            def restore() -> None:
                _set_plain_values(value.group, names, before)
                if value.group.id_data.name != block_name:  # a motion that is renamed renames its action
                    value.group.id_data.name = block_name

            return restore

        yield change


def _is_plain(group: Any, name: str) -> bool:
    return group.bl_rna.properties[name].type not in {"POINTER", "COLLECTION"}


def _plain_value(group: Any, name: str) -> tuple[bool, Any]:
    """Whether a value is stored, and the value, apart from Blender's memory."""
    held = getattr(group, name)
    if getattr(group.bl_rna.properties[name], "is_array", False):
        held = tuple(held)
    return group.is_property_set(name), set(held) if isinstance(held, set) else held


def _set_plain_values(group: Any, names: list[str], before: list[tuple[bool, Any]]) -> None:
    for name, (was_stored, old) in zip(names, before, strict=True):
        if _plain_value(group, name) != (was_stored, old):
            setattr(group, name, old)
            if not was_stored:
                group.property_unset(name)


def _others(prop: Any, old: Any, part: Any) -> Iterator[Any]:
    if prop.type == "BOOLEAN":
        yield not old
    elif prop.type == "ENUM" and prop.is_enum_flag:
        yield old ^ {part}
    elif prop.type == "ENUM":
        yield from (item.identifier for item in prop.enum_items if item.identifier != old)
    elif prop.type == "STRING":
        yield old + (b"x" if isinstance(old, bytes) else "x")
        if old:
            yield old[:0]
    elif prop.type == "POINTER":
        if old is not None:
            yield None
        blocks = [block for block in owners() if isinstance(block, bpy.types.ID) and block != old]
        yield from [block for block in blocks if block.bl_rna == prop.fixed_type.bl_rna][:1]
    elif getattr(prop, "is_array", False):
        yield from ((*old[:part], number, *old[part + 1 :]) for number in _numbers(prop, old[part]))
    else:
        yield from _numbers(prop, old)


def _numbers(prop: Any, old: Any) -> Iterator[Any]:
    steps = (1, -1, 1000) if prop.type == "INT" else (0.25, -0.25)
    yield from (old + step for step in steps if prop.hard_min <= old + step <= prop.hard_max)


def _with_rows(value: Value) -> Callable[[], Restore]:
    def rows() -> Any:
        return getattr(value.group, value.name)

    def change() -> Restore:
        last = len(rows()) - 1
        if value.part == MORE:
            rows().add()
            return lambda: rows().remove(last + 1)
        if value.part == ANOTHER_ORDER:
            rows().move(0, last)
            return lambda: rows().move(last, 0)
        contents = _contents(rows()[last])
        rows().remove(last)
        return lambda: _fill(rows().add(), contents)

    return change


def _contents(row: Any) -> dict[str, Any]:
    contents = {}
    for name in ("name", *own_properties(row)):
        held, prop = getattr(row, name), row.bl_rna.properties[name]
        if isinstance(held, bpy.types.PropertyGroup):
            contents[name] = _contents(held)
        elif prop.type == "COLLECTION":
            contents[name] = [_contents(inner) for inner in held]
        elif name == "name" or row.is_property_set(name):
            contents[name] = tuple(held) if getattr(prop, "is_array", False) else held
    return contents


def _fill(row: Any, contents: dict[str, Any]) -> None:
    for name, held in contents.items():
        if isinstance(held, dict):
            _fill(getattr(row, name), held)
        elif isinstance(held, list):
            for inner in held:
                _fill(getattr(row, name).add(), inner)
        else:
            setattr(row, name, held)
