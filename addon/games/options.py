"""Options of imports and exports. Each is declared once, as a class field with its name and description for the
interface.

`ui.bases` creates an operator's properties from such a class, and fills the class from the operator's settings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, ClassVar, NamedTuple, dataclass_transform

from ..blender.rotation_modes import HiddenKeys

Items = Sequence[tuple[str, str, str]]
"""Identifier, label and tooltip of each item of an enum property."""


class Option(NamedTuple):
    """A field of `Options`.

    ``default``: default value, unless ``make`` is given, a function that creates it.
    ``declared``: keyword arguments of the Blender property; None for fields that users do not set.
    ``suffixes``: for a path, the suffixes it accepts; None if the field is not a path.
    ``value``: converts the chosen enum identifier to the field's value, for enum properties whose items are not members
    of a Python `Enum`.
    """

    default: Any = None
    declared: dict[str, Any] | None = None
    suffixes: tuple[str, ...] | None = None
    make: Callable[[], Any] | None = None
    value: Callable[[str], Any] | None = None


def option(default: Any, name: str, description: str, **declared: Any) -> Any:
    """Return a field that users set. ``declared``: limits, units and other arguments of the Blender property."""
    return Option(default, {"name": name, "description": description, **declared})


def bone_display_option() -> Any:
    """Return the Readable Bones option, for imports that may create an armature."""
    return option(
        True,
        "Readable Bones",
        "Draw each bone of a new armature up to the next joint, and sort bones into collections and colors by body "
        "part; exported files are the same",
    )


def modifiers_option() -> Any:
    """Return the Apply Modifiers option of every export of meshes."""
    return option(
        True,
        "Apply Modifiers",
        "Export the mesh with its modifiers and shape keys applied, but not bent by the armature",
    )


class Choice(Enum):
    """What users choose from. A member's name is its identifier in Blender, its value begins with label and tooltip."""

    @property
    def label(self) -> str:
        """Name in the interface."""
        return str(self.value[0])

    @classmethod
    def items(cls) -> Items:
        """Return the items of an enum property."""
        return tuple((member.name, *member.value[:2]) for member in cls)


def choice(default: Any, name: str, description: str, items: Items | None = None, **declared: Any) -> Any:
    """Return a field for one member, or a frozenset of members, of a `Choice`.

    ``items`` are needed for another `Enum`; they have the names of its members as identifiers.
    """
    if items is None:
        member: Choice = next(iter(default)) if isinstance(default, frozenset) else default
        items = member.items()
    return option(default, name, description, items=items, **declared)


def listed(chosen: str, value: Callable[[str], Any], name: str, description: str, items: Items) -> Any:
    """Return an enum field with the value ``value(identifier)``; ``chosen`` is the default identifier."""
    declared = {"name": name, "description": description, "items": items, "default": chosen}
    return Option(None, declared, make=lambda: value(chosen), value=value)


def number_or_none(identifier: str) -> int | None:
    """Convert an identifier for `listed`: digits to int, any other identifier such as ``AUTOMATIC`` to None."""
    return int(identifier) if identifier.isdigit() else None


def path(name: str, description: str, *suffixes: str) -> Any:
    """Return a field for a file path, or for a folder if no ``suffixes`` are given; "" if not set."""
    return Option("", {"name": name, "description": description}, suffixes)


def made(make: Callable[[], Any]) -> Any:
    """Return a field that users do not set; ``make`` creates its value for each import or export."""
    return Option(make=make)


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Options:
    """Options of an import or export: keyword-only fields that cannot be changed afterwards.

    Replaces `dataclass`: the extension needs all options when it is enabled, and the code that `dataclass` compiles for
    each class would take a tenth of that time.
    """

    FIELDS: ClassVar[dict[str, Option]] = {}

    def __init_subclass__(cls) -> None:
        """Turn the annotated class attributes into fields; their values become the defaults."""
        declared = {name: vars(cls)[name] for name in cls.__annotations__}
        own = {name: value if isinstance(value, Option) else Option(value) for name, value in declared.items()}
        for name, field in own.items():
            setattr(cls, name, field.default)
        inherited = [base.FIELDS for base in reversed(cls.__bases__) if issubclass(base, Options)]
        cls.FIELDS = {name: field for fields in [*inherited, own] for name, field in fields.items()}

    def __init__(self, **given: Any) -> None:
        """Raises `TypeError` if a name is not a field."""
        unknown = given.keys() - self.FIELDS.keys()
        if unknown:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(sorted(unknown))}")
        made_now = {name: field.make() for name, field in self.FIELDS.items() if field.make is not None}
        vars(self).update(made_now | given)

    def __setattr__(self, name: str, value: object) -> None:
        """Raises `AttributeError`: options cannot be changed."""
        raise AttributeError(f"{type(self).__name__}.{name} cannot be set")


HIDDEN_KEYS = (
    ("STOP", "Stop", "Cancel the export and ask for a choice"),
    ("RESTORE", "Restore Mode", "Export the keys and restore the rotation mode that plays them"),
    ("SHOWN", "Export as Shown", "Export what Blender shows, without these keys"),
)


class HiddenKeysOptions(Options):
    """How an export of motions treats keys of the motion in play that Blender does not show."""

    hidden_keys: HiddenKeys = choice(
        HiddenKeys.STOP,
        "Hidden Keys",
        "How to export the motion in play if a changed rotation mode or a solo NLA track hides its keys; all other "
        "motions are exported from their own keys",
        HIDDEN_KEYS,
        options={"SKIP_SAVE"},
    )


class FittingOptions(Options):
    """Tolerances for fitting curves where keys cannot be written as they are."""

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
        """Tolerance in metres and radians."""
        return self.millimetres / 1000, math.radians(self.degrees)
