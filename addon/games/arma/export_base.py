"""What an export starts from: the file that an action came from, as it would look on the armature, and which bones the
new file gets, in which order and spelling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...blender import delta_action
from ...blender.delta_action import RestPose
from ...blender.properties import kept
from ...core.deltas import DeltaChannels
from ...core.errors import ReadError, WriteError
from ...core.model import DeltaClip
from ...core.report import Report
from ...formats.arma import rtm
from ...formats.arma.skeletons import BoneTable, Hierarchy
from . import skeletons, step, timing
from .properties import WITH_SCALES

if TYPE_CHECKING:
    from ...blender.typed import Object
    from .properties import AnimationProperties


Floats = NDArray[np.float64]


@dataclass
class Base:
    """``document`` and its ``clip``; ``frames`` (keys,) where its keys were put; ``rest`` of the armature.

    ``places`` (bones,) which bone of the armature each of the file's moves, -1 for none; ``carried`` (3,) the
    step that bones carry where that is its ``mode``. ``scaled`` as in `rtm.decode`, ``zero``
    as in `step.moved`.
    """

    document: rtm.Rtm
    clip: DeltaClip
    frames: NDArray[np.float32]
    rest: RestPose
    places: NDArray[np.intp]
    mode: str
    carried: Floats
    digest: bytes
    scaled: bool = True
    zero: float = 0.0

    @staticmethod
    def of(action: Any, rest: RestPose) -> Base | None:
        """What an action keeps of its file; None where it has no file."""
        properties = action.motionbridge_animation
        data = kept(properties, "document")
        if not data:
            return None
        document = rtm.read(data, action.name, Report())
        frames, _ = timing.kept_keys(properties)
        if len(frames) != len(document.phases) or len(properties.bones) != len(document.bones):
            counts = [len(document.phases), len(frames), len(document.bones), len(properties.bones)]
            raise ReadError(
                "the data kept of its file does not agree: frames {} and {}, bones {} and {}".format(*counts),
                file=action.name,
                remedy="Import the file again",
            )
        parents = Hierarchy("", {entry.name: entry.parent for entry in properties.bones})
        scaled = properties.data_version >= WITH_SCALES
        clip = rtm.decode(document, Report(), parents, action.name, scaled=scaled)
        place = {bone: number for number, bone in enumerate(rest.bones)}
        places = np.array([place.get(entry.bone, -1) for entry in properties.bones], np.intp)
        return Base(
            document,
            clip,
            frames,
            rest,
            places,
            properties.step_mode,
            np.array(properties.step_shown),
            kept(properties, "digest"),
            scaled,
            properties.step_zero,
        )

    def unshown_scales(self) -> list[str]:
        """The bones whose scale in the file was left out when it was imported (by version 0.1.0)."""
        if self.scaled or not isinstance(self.document, rtm.Binarised):
            return []
        return rtm.scaled_bones(self.document)

    def reference(
        self, bones: WrittenBones, clip: DeltaClip, untouched: Floats | None, modes: dict[str, str]
    ) -> Floats:
        """(bones, frames, 4, 4) as the clip's: what would be gathered if nothing had been edited.

        ``untouched``: the deltas (bones of the armature, frames, 4, 4) that were gathered, if nothing was. ``modes``:
        the rotation mode that each bone's keys were read by. Rows that the base does not have hold anything.
        """
        shown = self._shown(untouched, modes)
        frames = rtm.frame_sources(clip.phases, self.clip.phases)
        return shown[np.ix_(np.maximum(bones.sources, 0), np.maximum(frames, 0))]

    def channels(self) -> tuple[DeltaChannels, NDArray[np.bool_]]:
        """What keys of the file's frames hold, and which bones (bones,) of the armature have them."""
        rows = np.flatnonzero(self.places >= 0)
        deltas = self.clip.deltas[rows]
        if self.mode == step.BONES:
            deltas = step.moved(deltas, self.carried, self.clip.phases, zero=self.zero)
        values, animated = delta_action.on_bones(self.rest, self.places[rows], deltas)
        return delta_action.channels_of(values, self.rest, animated), animated

    def channels_at(self, frames: NDArray[np.float32]) -> tuple[DeltaChannels, NDArray[np.bool_]]:
        """The same on any frames, in proportion between those of the file."""
        found, animated = self.channels()
        before, after, share = self._neighbours(frames)
        for name in ("locations", "rotations", "scales"):
            held = getattr(found, name)
            setattr(found, name, (1.0 - share) * held[:, before] + share * held[:, after])
        return found, animated

    def _shown(self, untouched: Floats | None, modes: dict[str, str]) -> Floats:
        """(bones, frames, 4, 4) of the file's bones and frames, as Blender shows them, without the step."""
        rows = np.flatnonzero(self.places >= 0)
        if untouched is None:
            found, _ = self.channels()
            delta_action.as_angles(found, self.rest, modes)
            untouched = delta_action.shown_by(found.locations, found.rotations, found.scales, self.rest)
        shown = untouched[self.places[rows]]
        if self.mode == step.BONES:
            shown = step.moved(shown, self.carried, self.clip.phases, -1.0, self.zero)
        result = self.clip.deltas.copy()
        result[rows] = shown
        return result

    def deltas_at(self, rows: NDArray[np.intp], frames: NDArray[np.float32], phases: NDArray[np.float32]) -> Floats:
        """(rows, frames, 4, 4) what the file says of bones, blended between its frames as the game blends."""
        stored = self.clip.deltas[rows]
        sources = rtm.frame_sources(phases, self.clip.phases)
        before, after, share = self._neighbours(frames)
        share = share[..., None]
        blended = (1.0 - share) * stored[:, before] + share * stored[:, after]
        known = sources >= 0
        blended[:, known] = stored[:, sources[known]]
        result: Floats = blended
        return result

    def _neighbours(self, frames: NDArray[np.float32]) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """(frames,) the file's frames on both sides of any, and (frames, 1) the share of the second."""
        after = np.clip(np.searchsorted(self.frames, frames), 1, max(len(self.frames) - 1, 1))
        before = after - 1
        after = np.minimum(after, len(self.frames) - 1)
        gap = np.maximum(self.frames[after] - self.frames[before], np.finfo(np.float32).tiny)
        share: Floats = np.clip((frames - self.frames[before]) / gap, 0.0, 1.0)[:, None].astype(np.float64)
        return before, after, share


# The bones of the file ----------------------------------------------------------------------------------------------


@dataclass
class WrittenBones:
    """``names`` as the file gets them; ``places`` (bones,) of the armature, -1 where it lacks a bone of the base;
    ``sources`` (bones,) of the base file, -1 for new ones; ``left_out`` bones of the armature that deform nothing.
    """

    names: list[str]
    places: NDArray[np.intp]
    sources: NDArray[np.intp]
    left_out: list[str]

    def in_order(self, order: Sequence[int], names: Sequence[str]) -> WrittenBones:
        """The same bones in another order under other names."""
        chosen = np.array(order, np.intp)
        return WrittenBones(list(names), self.places[chosen], self.sources[chosen], self.left_out)


def written(
    rig: Object, keyed: NDArray[np.bool_], base: AnimationProperties | None, prefix: str, table: BoneTable
) -> WrittenBones:
    """The bones of the file the action came from (``base`` its properties) and those keyed since; without a file all.

    Bones that deform nothing are left out, unless the file has them. ``table`` has the last word on names. Raises
    `WriteError` where it gives two bones one name.
    """
    bones = rig.data.bones
    place = {bone.name: number for number, bone in enumerate(bones)}
    spelled = {entry.bone: entry.name for entry in rig.data.motionbridge_skeleton.bones}
    names, places = [], []
    for entry in base.bones if base is not None else ():
        names.append(_by_table(table, _without(prefix, entry.bone), entry.name))
        places.append(place.get(entry.bone, -1))
    sources = list(range(len(names)))
    known = set(places)
    left_out = []
    for number, bone in enumerate(bones):
        if number in known or (base is not None and not keyed[number]):
            continue
        if not bone.use_deform and bone.name not in spelled:
            left_out.append(bone.name)
            continue
        own = _without(prefix, bone.name)
        names.append(_by_table(table, own, spelled.get(bone.name) or own))
        places.append(number)
        sources.append(-1)
    if table:
        _refuse_doubles(names)
    result = WrittenBones(names, np.array(places, np.intp), np.array(sources, np.intp), left_out)
    return result if base is not None else _as_known(result, list(spelled.values()))


def _by_table(table: BoneTable, bone: str, name: str) -> str:
    """The file's name of a bone, which without the table would be ``name``; that where only case differs."""
    found = next((other for other in map(table.in_file, (bone, name)) if other not in (bone, name)), name)
    return name if found.lower() == name.lower() else found


def _refuse_doubles(names: Sequence[str]) -> None:
    lowered = [name.lower() for name in names]
    twice = next((name for name in names if lowered.count(name.lower()) > 1), None)
    if twice is not None:
        raise WriteError(
            f"two bones would have the name {twice!r} in the file",
            remedy="Choose another table of bone names, or switch Deform off for the wrong bone",
        )


def in_file(hierarchy: Hierarchy, table: BoneTable) -> Hierarchy:
    """A hierarchy of the armature with the names that the file gets."""
    if not table:
        return hierarchy
    parents = {table.in_file(bone): table.in_file(parent) for bone, parent in hierarchy.parents.items()}
    return Hierarchy(hierarchy.name, parents, for_display=hierarchy.for_display)


def _as_known(found: WrittenBones, order: Sequence[str]) -> WrittenBones:
    """In the order of the skeleton that the armature knows."""
    rank = {name: number for number, name in enumerate(order)}
    places = sorted(range(len(found.names)), key=lambda place: rank.get(found.names[place], len(rank)))
    return found.in_order(places, [found.names[place] for place in places])


def named_by_config(found: WrittenBones, hierarchy: Hierarchy) -> WrittenBones:
    """In the order and spelling of a hierarchy, bones it does not list behind."""
    rank = {bone.lower(): number for number, bone in enumerate(hierarchy.parents)}
    order = sorted(range(len(found.names)), key=lambda place: rank.get(found.names[place].lower(), len(rank)))
    return found.in_order(order, skeletons.spelled_as(hierarchy, [found.names[place] for place in order]))


def named_by_armature(found: WrittenBones, rig: Object, prefix: str) -> WrittenBones:
    """In the armature's order and spelling; bones it lacks behind, as their file spells them."""
    count = len(rig.data.bones)
    order = sorted(range(len(found.names)), key=lambda place: (int(found.places[place]) % (count + 1), place))
    names = []
    for place in order:
        name, bone = found.names[place], int(found.places[place])
        shown = _without(prefix, rig.data.bones[bone].name) if bone >= 0 else name
        # Blender may have had to call a bone otherwise; only the case of letters is its to say.
        names.append(shown if shown.lower() == name.lower() else name)
    return found.in_order(order, names)


def _without(prefix: str, name: str) -> str:
    return name[len(prefix) :] if prefix and name.lower().startswith(prefix.lower()) else name
