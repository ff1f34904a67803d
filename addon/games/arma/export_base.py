"""The file an action came from, as it would look on the armature: what an export compares with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...blender import delta_action
from ...blender.delta_action import RestPose
from ...blender.record import kept
from ...core.deltas import DeltaChannels
from ...core.errors import ReadError
from ...core.model import DeltaClip
from ...core.report import Report
from ...formats.arma import rtm
from ...formats.arma.hierarchy import Hierarchy
from . import step, timing
from .animation_properties import WITH_SCALES
from .export_bones import WrittenBones

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
            raise ReadError(
                f"of its file {len(document.phases)} frames of {len(document.bones)} bones are kept, but keys of "
                f"{len(frames)} frames and {len(properties.bones)} bones",
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
        """(bones, frames, 4, 4) as the clip's: what would be gathered had nobody touched anything.

        ``untouched``: nobody did, these are the deltas (bones of the armature, frames, 4, 4) gathered. ``modes``: the
        rotation mode that each bone's keys were read by.
        """
        shown = self._shown(untouched, modes)
        frames = rtm.frame_sources(clip.phases, self.clip.phases)
        same_bones = np.array_equal(bones.sources, np.arange(len(shown)))
        if same_bones and len(frames) == len(self.clip.phases):
            return shown
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
