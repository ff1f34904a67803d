"""Options of imports and exports, each declared once: a field of a class with what the interface says about it.

`ui.bases` makes an operator's properties from such a class, and the options from what is set on the operator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, ClassVar, NamedTuple, dataclass_transform

from ..blender.rotation_modes import HiddenKeys


class Option(NamedTuple):
    """A field of `Options`: its default, or the function that makes it.

    ``declared`` is what a property of Blender is declared with, None for what users do not set; ``suffixes`` those of
    the files that a path may name, None for what is no path; ``value`` of an identifier, for a property that lists
    other things than the members of an enumeration.
    """

    default: Any = None
    declared: dict[str, Any] | None = None
    suffixes: tuple[str, ...] | None = None
    make: Callable[[], Any] | None = None
    value: Callable[[str], Any] | None = None


def option(default: Any, name: str, description: str, **declared: Any) -> Any:
    """A field that users set. ``declared`` are limits, units and what else a property of Blender takes."""
    return Option(default, {"name": name, "description": description, **declared})


def bone_display_option() -> Any:
    """The option of every import that may make an armature."""
    return option(
        True,
        "Readable Bones",
        "Draw each bone of a new armature up to the next joint, and sort bones into collections and colors by body "
        "part; exported files are the same",
    )


def choice(
    default: Enum | frozenset[Any], name: str, description: str, items: Sequence[tuple[str, str, str]], **declared: Any
) -> Any:
    """One member of an enumeration, or a set of them; ``items`` are named as its members are."""
    return option(default, name, description, items=items, **declared)


def listed(
    chosen: str, value: Callable[[str], Any], name: str, description: str, items: Sequence[tuple[str, str, str]]
) -> Any:
    """What ``value`` makes of the identifier of one of ``items``; ``chosen`` is that of the default."""
    declared = {"name": name, "description": description, "items": items, "default": chosen}
    return Option(None, declared, make=lambda: value(chosen), value=value)


def number_or_none(identifier: str) -> int | None:
    """For `listed`: whole numbers, and one identifier such as ``AUTOMATIC`` that stands for None."""
    return int(identifier) if identifier.isdigit() else None


def path(name: str, description: str, *suffixes: str) -> Any:
    """The path of a file, "" for none; folders where there are no ``suffixes``."""
    return Option("", {"name": name, "description": description}, suffixes)


def made(make: Callable[[], Any]) -> Any:
    """A field that users do not set, made for each import or export."""
    return Option(make=make)


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Options:
    """What an import or export is told. Fields are given by name and do not change afterwards.

    The extension needs all options when it is enabled, and the code that `dataclass` compiles for each class would be a
    tenth of the time that this takes.
    """

    FIELDS: ClassVar[dict[str, Option]] = {}

    def __init_subclass__(cls) -> None:
        """Turns the class's annotated values into fields; their defaults are what the class has."""
        found = {name: vars(cls)[name] for name in cls.__annotations__}
        own = {name: value if isinstance(value, Option) else Option(value) for name, value in found.items()}
        for name, field in own.items():
            setattr(cls, name, field.default)
        inherited = [base.FIELDS for base in reversed(cls.__bases__) if issubclass(base, Options)]
        cls.FIELDS = {name: field for fields in [*inherited, own] for name, field in fields.items()}

    def __init__(self, **given: Any) -> None:
        """Raises `TypeError` if a name is not a field's."""
        unknown = given.keys() - self.FIELDS.keys()
        if unknown:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(sorted(unknown))}")
        made_now = {name: field.make() for name, field in self.FIELDS.items() if field.make is not None}
        vars(self).update(made_now | given)

    def __setattr__(self, name: str, value: object) -> None:
        """Raises `AttributeError`: options do not change."""
        raise AttributeError(f"{type(self).__name__}.{name} cannot be set")


HIDDEN_KEYS = (
    ("STOP", "Stop", "Cancel the export and ask for a choice"),
    ("RESTORE", "Restore Mode", "Export the keys and restore the rotation mode that plays them"),
    ("SHOWN", "Export as Shown", "Export what Blender shows, without these keys"),
)


class HiddenKeysOptions(Options):
    """What an export of motions does about rotation keys that the rotation mode of their bone hides."""

    hidden_keys: HiddenKeys = choice(
        HiddenKeys.STOP,
        "Hidden Keys",
        "How to export bones whose rotation keys are hidden because the rotation mode has changed",
        HIDDEN_KEYS,
        options={"SKIP_SAVE"},
    )


class FittingOptions(Options):
    """How closely curves are fitted where keys cannot be taken as they are."""

    millimetres: float = option(
        0.1,
        "Tolerance (mm)",
        "Largest distance between a fitted curve and the sampled values",
        min=0.001,
        soft_max=10.0,
        precision=3,
    )
    degrees: float = option(
        0.01,
        "Tolerance (°)",
        "Largest error of a fitted rotation, in degrees",
        min=0.0001,
        soft_max=1.0,
        precision=4,
    )

    @property
    def tolerance(self) -> tuple[float, float]:
        """In metres and radians."""
        return self.millimetres / 1000, math.radians(self.degrees)
