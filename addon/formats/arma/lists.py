"""Names that the games know: named properties with their values, penetration materials, proxies and memory points.

The lists are those of published models of Arma 3 and DayZ, of the community's wiki and of the released engine of Cold
War Assault.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from . import lod_kinds

ARMA3, DAYZ = "ARMA3", "DAYZ"
PENETRATION = {
    ARMA3: (
        "a3\\data_f\\penetration\\",
        (
            "metal metal_plate concrete building_dust_soft wood wood_plate glass cloth rubber plastic armour "
            "armour_plate armour_plate_30mm iron_cast engine fueltank vehicle_interior weapon_plate granite "
            "soft_ground meat meatbones"
        ),
    ),
    DAYZ: (
        "dz\\data\\data\\penetration\\",
        (
            "metalplate bricks concrete wood wood_desk iron ironplate castiron cloth dirt plastic plastic_material "
            "armor_1mm_plate ice meat meatbones"
        ),
    ),
}
"""Game -> folder of its penetration materials, and their names without suffix; the first is the usual one."""

_SLOTS = "top side muzzle magazineslot"
_WORN = "headgear mask eyewear vest body hips legs feet gloves armband backpack melee"
PROXIES = (
    *(f"a3\\data_f\\proxies\\weapon_slots\\{name}" for name in _SLOTS.split()),
    "a3\\data_f_mark\\proxies\\weapon_slots\\underbarrel",
    *(f"dz\\characters\\proxies\\{name}_dz" for name in _WORN.split()),
)
"""Models that the games attach: slots of Arma 3's weapons, and what DayZ's characters wear."""

MEMORY_POINTS = ("boundingbox_min", "boundingbox_max", "ce_center", "ce_radius", "invview")
"""Points that DayZ expects in the Memory LOD of an item."""


class Known(NamedTuple):
    """A named property: ``values`` that it may have, none if any; ``kinds`` of LODs in which it means something."""

    values: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset({lod_kinds.GEOMETRY})


_SWITCH = Known(("0", "1"))
_ANY = Known()
_DAMAGE = Known(("building", "tent", "no", "engine", "tree"))
_CLASSES = "house vehicle man road pond church fountain flag streetlamp forest treehard treesoft bushhard bushsoft"
_ON_MAP = (
    "house,building,hide,tree,small tree,bush,rock,fence,wall,church,chapel,cross,bunker,fortress,fountain,view-tower,"
    "lighthouse,quay,fuelstation,hospital,busstop,ruin,transmitter,watertower,power lines,railway,main road,road,track,"
    "forest border,forest square,forest triangle"
)

NAMED_PROPERTIES = {
    "class": Known(tuple(_CLASSES.split())),
    "map": Known(tuple(_ON_MAP.split(","))),
    "autocenter": Known(("0", "1"), lod_kinds.GEOMETRIES),
    "armor": _ANY,
    "aicovers": _ANY,
    "buoyancy": _SWITCH,
    "canbeoccluded": _SWITCH,
    "canclimb": _ANY,
    "canocclude": _SWITCH,
    "cratercolor": _ANY,
    "damage": _DAMAGE,
    "dammage": _DAMAGE,
    "forcenotalpha": _SWITCH,
    "frequent": _ANY,
    "keyframe": _ANY,
    "lodneeded": _ANY,
    "lodnoshadow": Known(("1", "0"), lod_kinds.DRAWN | lod_kinds.SHADOWS),
    "placement": Known(("slope",)),
    "prefershadowvolume": _SWITCH,
    "reversed": _ANY,
    "sbsource": Known(("visualex", "shadowvolume", "visual", "none")),
    "shadowbufferlod": _ANY,
    "shadowlod": _ANY,
    "shadowoffset": _ANY,
    "shadowvolumelod": _ANY,
    "step": _ANY,
    "viewdensity": _ANY,
    "xcount": _ANY,
}
"""Name in lower case, as Binarize makes it -> what is known of it. Models may have others."""


def properties_of(word: str) -> list[str]:
    """Return the named properties that mean something in a LOD of a kind."""
    return [name for name, known in NAMED_PROPERTIES.items() if word in known.kinds]


def values_of(name: str) -> tuple[str, ...]:
    """Return the values that a named property may have; none if they are not known."""
    return NAMED_PROPERTIES.get(name.strip().lower(), _ANY).values


def penetration_material(game: str, name: str) -> str:
    """Return the path of a penetration material; a ``name`` with a folder is one. "": the usual one of the game."""
    folder, known = PENETRATION[game]
    name = name.strip() or known.split()[0]
    if "\\" in name or "/" in name:
        return name.replace("/", "\\")
    return f"{folder}{name.removesuffix('.rvmat')}.rvmat"


def penetration_materials() -> Iterator[str]:
    """Yield the paths of the penetration materials of all games."""
    for game, (_, known) in PENETRATION.items():
        yield from (penetration_material(game, name) for name in known.split())
