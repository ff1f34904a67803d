"""Colours of a level's collision, occluders and sound occluders: stable, and easy to tell apart.

Collision has one Blender material for each game material; assigning another one to a face changes its game material.
Colours of occluders only show their attributes.
"""

from __future__ import annotations

import colorsys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ....blender import material
from ....core import files, problems
from ....core import model as core_model
from ....core.errors import MotionbridgeError
from ....core.model import Domain, Material
from ....core.problems import Problem
from ....core.report import Report
from ....formats.xray import gamemtl, som
from ....formats.xray import occluders as occluder_files
from ..game_tree import GAME_MATERIALS, GameTree, find_game_materials

if TYPE_CHECKING:
    from ....blender import typed
    from ....blender.typed import Mesh, Object


MOST_MATERIALS = 512
"""Most materials of collision; a real game has about a hundred. The rest is grey, with its numbers in the attribute."""
MOST_SHARES = 16
"""Most occlusion factors with exact colours; if there are more, they are rounded to tenths."""
_ONE_SIDED, _SHARE = "one-sided", "lets "
_OCCLUDERS = ("occluder, two-sided", f"occluder, {_ONE_SIDED}")
ONE_SIDED, TWO_SIDED = (0.95, 0.45, 0.08, 1.0), (0.15, 0.55, 0.85, 1.0)
BACK = (0.06, 0.06, 0.07, 1.0)
DETAIL_MODEL = (0.55, 0.7, 0.25, 1.0)
NOTHING_GROWS = (0.12, 0.12, 0.13, 1.0)
MOST_COLOURS = 64
"""Most exact colours of slots; if there are more, red, green and blue are rounded to thirds."""
_SLOTS_AT_A_TIME = 1 << 13
"""Number of slots processed at a time, to save memory."""

Slots = tuple[list[Any], NDArray[np.int32]]
"""Blender materials, and for each face the index of its material."""


def game_colour(number: int) -> tuple[float, float, float, float]:
    """Return the colour of a game material: always the same for a number, and far from those of others.

    Hue and tone are multiples of inverse powers of the plastic number, which in two dimensions keep any few numbers
    apart; the golden ratio would give 5 and 39, or 3 and 37, the same hue.
    """
    hue, tone = number * 0.7548776662466927 % 1.0, number * 0.5698402909980532 % 1.0
    return (*colorsys.hsv_to_rgb(hue, 0.9 - 0.45 * tone, 0.4 + 0.5 * tone), 1.0)


def read_names(path: Path | None, report: Report) -> dict[int, str]:
    """Return number -> name of the game materials in a `gamemtl.xr`; empty without a file or if it is not readable."""
    if path is None:
        return {}
    found = Report()
    try:
        document = gamemtl.read(files.read_file(path), str(path), found)
    except MotionbridgeError as refusal:
        report.warn(f"game materials are shown by number: {refusal}")
        return {}
    for line in found.lines():
        report.warn(f"{path.name}: {line}")
    return {number: found.label for number, found in document.by_id().items()}


def labels_for(path: str, chosen: Path | None, game_folder: Path | None, *, dynamic: bool) -> set[str]:
    """Return names of the game materials, found as by `names_for`; with ``dynamic`` only those that bones may have."""
    found = _file_for(path, chosen, game_folder)
    if found is None:
        return set()
    try:
        document = gamemtl.read(files.read_file(found), str(found), Report())
    except MotionbridgeError:
        return set()  # the dialog shows that it has no list
    listed = document.by_id().values()
    return {one.label for one in listed if not dynamic or (one.flags or 0) & gamemtl.Flag.DYNAMIC}


def names_for(path: str, chosen: Path | None, game_folder: Path | None, report: Report) -> dict[int, str]:
    """Return number -> name of the game materials for a level's file; empty if no readable `gamemtl.xr` is found.

    ``chosen``: the `gamemtl.xr` set by the user. ``path``: of the level's file, "" for a mesh without one.
    """
    return read_names(_file_for(path, chosen, game_folder), report)


def _file_for(path: str, chosen: Path | None, game_folder: Path | None) -> Path | None:
    if chosen is not None:
        return chosen
    if path:
        return find_game_materials(Path(path), game_folder)
    return GameTree(game_folder).find_file(GAME_MATERIALS) if game_folder is not None else None


def warn_of_unknown(values: NDArray[np.int32], names: Mapping[int, str], place: str, report: Report) -> None:
    """Warn of numbers (faces,) that are not in the list of game materials, if that is known."""
    missing = [number for number in distinct_numbers(values).tolist() if number not in names] if names else []
    if missing:
        listing = ", ".join(map(str, missing[:8])) + (f" and {len(missing) - 8} more" if len(missing) > 8 else "")
        report.warn(f"faces have game materials that {GAME_MATERIALS} lacks: {listing}", place)


def collision(values: NDArray[np.int32], names: Mapping[int, str]) -> Slots:
    """Return a Blender material for each game material among ``values`` (faces,), in ascending order."""
    if not len(values):
        return [], np.zeros(0, np.int32)
    numbers, index = _distinct(values)
    if len(numbers) > MOST_MATERIALS:
        index = np.minimum(index, MOST_MATERIALS)
        numbers = numbers[:MOST_MATERIALS]
        others = [material.build_coloured("other game materials", material.NEUTRAL)]
    else:
        others = []
    made = [game_material(number, names.get(number, "")) for number in numbers.tolist()]
    return [*made, *others], index


def distinct_numbers(values: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the distinct numbers among ``values`` (n,), in ascending order."""
    if not len(values) or int(values.min()) < 0 or int(values.max()) > 0xFFFF:
        return np.unique(values).astype(np.int64)
    # A lookup table is faster than sorting a million faces.
    present = np.zeros(int(values.max()) + 1, np.bool_)
    present[values] = True
    return np.flatnonzero(present)


def _distinct(values: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    numbers = distinct_numbers(values)
    if not len(numbers) or numbers[0] < 0 or numbers[-1] > 0xFFFF:
        return numbers, np.searchsorted(numbers, values).astype(np.int32)
    index_of = np.zeros(int(numbers[-1]) + 1, np.int32)
    index_of[numbers] = np.arange(len(numbers), dtype=np.int32)
    index: NDArray[np.int32] = index_of[values]
    return numbers, index


def game_material(number: int, name: str) -> typed.Material | None:
    """Return the Blender material of a game material; it is created if it does not exist."""
    return material.build_coloured(name or f"game material {number}", game_colour(number), number=number)


def game_numbers(materials: Iterable[Any]) -> NDArray[np.int64]:
    """Return (slots,) the game material of each material slot, -1 for none."""
    slots = [made.motionbridge_material.number if made is not None else -1 for made in materials]
    return np.array(slots, np.int64)


def without_game_material(materials: Iterable[Any]) -> NDArray[np.bool_]:
    """Return (slots,) whether a slot is empty, or has a material that the import of collision did not create."""
    slots = [made is None or (_number(made) < 0 and made.get(material.TITLE) is None) for made in materials]
    return np.array(slots, np.bool_)


def occluders(two_sided: NDArray[np.bool_]) -> Slots:
    """Return a colour each for one- and two-sided faces; the back of one-sided ones, which hides nothing, is dark."""
    both, one = _OCCLUDERS
    made = [material.build_coloured(both, TWO_SIDED), material.build_coloured(one, ONE_SIDED, back=BACK)]
    return made, (~two_sided).astype(np.int32)


def share_colour(share: float) -> tuple[float, float, float, float]:
    """Return a colour from red (silences) over yellow to green (lets all sound through)."""
    return (*colorsys.hsv_to_rgb(min(max(share, 0.0), 1.0) / 3, 0.85, 0.85), 1.0)


def sound_occluders(occlusion: NDArray[np.float32], two_sided: NDArray[np.bool_]) -> Slots:
    """Return a colour for each share of the volume that is let through, with a dark back for one-sided faces."""
    finite = np.nan_to_num(occlusion.astype(np.float64), nan=0.0, posinf=1.0, neginf=0.0)
    shares, index_of_share = np.unique(finite, return_inverse=True)
    if len(shares) > MOST_SHARES:
        shares, index_of_share = np.unique(np.round(np.clip(finite, 0.0, 1.0), 1), return_inverse=True)
    numbers, index = _distinct((2 * index_of_share.ravel() + ~two_sided).astype(np.int32))
    made = []
    for number in numbers.tolist():
        share, one_sided = float(shares[number // 2]), bool(number % 2)
        name = _share_title(share, one_sided=one_sided)
        made.append(material.build_coloured(name, share_colour(share), back=BACK if one_sided else None))
    return made, index


def _share_title(share: float, *, one_sided: bool) -> str:
    return f"{_SHARE}{share:.0%} of sound through{f', {_ONE_SIDED}' if one_sided else ''}"


def _share_of(title: str) -> float:
    """Return the share that a colour of `sound_occluders` shows, to whole percents."""
    return float(title[len(_SHARE) :].partition("%")[0]) / 100 if title.startswith(_SHARE) else 0.0


def find_miscoloured(obj: Object, mesh: core_model.Mesh) -> Iterator[Problem]:
    """Yield a problem of the triangles of occluders whose colour shows other values than they have.

    A face that is drawn in Edit Mode has the colour of the first slot, and 0 in all attributes; one that is joined from
    another mesh has that mesh's material. Other materials that are not colours of ours show nothing.
    """
    if obj.motionbridge_level.kind not in ("HOM", "SOM"):
        return
    sides = mesh.values(occluder_files.TWO_SIDED, Domain.FACE)
    used = material.materials_of(obj, obj.data)
    titles = [made.get(material.TITLE, "") if made is not None else "" for made in used]
    if sides is None or mesh.material_index is None or not titles:
        return
    index = np.clip(mesh.material_index, 0, len(titles) - 1)
    colours = np.array([title in _OCCLUDERS or title.startswith(_SHARE) for title in titles])
    one_sided = np.array([title.endswith(_ONE_SIDED) for title in titles])
    wrong = one_sided[index] == sides.astype(np.bool_)
    plain = ~sides.astype(np.bool_)
    words = "have no color of an occluder, and are written one-sided"
    shares = mesh.values(som.OCCLUSION, Domain.FACE)
    remedy = "Select them and click Two-Sided or One-Sided"
    if obj.motionbridge_level.kind == "SOM" and shares is not None:
        finite = np.clip(np.nan_to_num(shares.astype(np.float64), nan=0.0), 0.0, 1.0)
        shown = np.array([_share_of(title) for title in titles])
        step = 0.1 if len(np.unique(finite)) > MOST_SHARES else 0.01
        wrong |= np.abs(shown[index] - finite) > 0.51 * step
        plain &= finite == 0
        words = "have no color of a sound occluder, and are written one-sided and letting no sound through"
        remedy = "Select them, click Two-Sided or One-Sided, and set the sound that passes through"
    what = "have other values than their color shows, and the values are exported"
    yield from problems.some(wrong & colours[index], "faces", what, remedy)
    yield from problems.some(plain & ~colours[index] & colours.any(), "faces", words, remedy)


def slots_by_model(numbers: NDArray[Any]) -> Slots:
    """Return a colour for each detail model; ``numbers`` (slots,): the model to show, -1 for none."""
    places = range(0, len(numbers), _SLOTS_AT_A_TIME)
    different = sorted(set[int]().union(*(np.unique(numbers[at : at + _SLOTS_AT_A_TIME]).tolist() for at in places)))
    index = np.empty(len(numbers), np.int32)
    for at in places:
        index[at : at + _SLOTS_AT_A_TIME] = np.searchsorted(different, numbers[at : at + _SLOTS_AT_A_TIME])
    made = [
        material.build_coloured(f"detail model {number:02}", game_colour(number))
        if number >= 0
        else material.build_coloured("nothing grows", NOTHING_GROWS)
        for number in different
    ]
    return made, index


def slots_by_share(shares: NDArray[Any], steps: int, what: str, colour: tuple[float, float, float]) -> Slots:
    """Return shades from black to a colour; ``shares`` (slots,) from 0 to 1, rounded to this number of steps."""
    rounded = np.rint(np.clip(np.nan_to_num(shares, nan=0.0), 0, 1) * steps).astype(np.int32)
    if not len(rounded):
        return [], rounded
    different, index = _distinct(rounded)
    made = []
    for step in different.tolist():
        share = step / steps
        shade = tuple(0.02 + (part - 0.02) * share for part in colour)
        made.append(material.build_coloured(f"{what} {share:.0%}", (*shade, 1.0)))
    return made, index


def slots_by_colour(colours: NDArray[np.float32]) -> Slots:
    """Return the colours of light baked into slots; ``colours`` (slots, 4): red, green, blue and 1."""
    if not len(colours):
        return [], np.zeros(0, np.int32)
    finite = np.clip(np.nan_to_num(colours[:, :3].astype(np.float64), nan=0.0), 0, 1).astype(np.float32)
    keys, index = np.unique(finite, axis=0, return_inverse=True)
    if len(keys) > MOST_COLOURS:
        keys, index = np.unique(np.rint(finite * 3) / np.float32(3), axis=0, return_inverse=True)
    made = [
        material.build_coloured("colour " + " ".join(f"{part:.2f}" for part in key), (*key, 1.0))
        for key in keys.tolist()
    ]
    return made, index.ravel().astype(np.int32)


def textured(surface: Material, tree: GameTree, textures: bool, report: Report) -> Any:
    """Return the material of a detail model, with its texture if that is found."""
    image = find_image(surface.texture, tree, report) if textures and surface.texture else None
    return material.build(surface, image, see_through=True)


def find_image(texture: str, tree: GameTree, report: Report) -> Any:
    """Return the image of a texture; None, with a warning, if it is not found or Blender cannot show it."""
    path = tree.find_texture(texture)
    image = material.load_image(path) if path is not None else None
    if path is None:
        report.warn("a texture is missing; set the textures folder to see it", texture)
    elif image is None:
        report.warn("Blender cannot show a texture", str(path))
    return image


def clear_slots(data: Mesh, slots: Slots) -> None:
    """Replace the materials of a mesh."""
    made, index = slots
    data.materials.clear()
    for one in made:
        data.materials.append(one)
    data.polygons.foreach_set("material_index", index)


def legend(meshes: list[Object]) -> list[tuple[Any, str]]:
    """Return the materials of objects, each with its meaning."""
    found = dict.fromkeys(made for obj in meshes for made in material.materials_of(obj, obj.data) if made)
    return [(made, made.name) for made in found]


def known_materials() -> list[typed.Material]:
    """Return the Blender materials that represent game materials, by their numbers."""
    made: Any = bpy.data.materials
    return sorted((one for one in made if one.motionbridge_material.number >= 0), key=_number)


def number_of(made: typed.Material | None, stored: int | None) -> int | None:
    """Return the game material of a face: that of its Blender material, else ``stored`` in its attribute."""
    number = made.motionbridge_material.number if made is not None else -1
    return int(number) if number >= 0 else stored


def _number(made: typed.Material) -> int:
    return int(made.motionbridge_material.number)
