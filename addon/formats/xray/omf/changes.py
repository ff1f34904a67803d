"""What an encoding changed, in the format's own words: the report, the badge and the sentence before saving."""

from __future__ import annotations

from dataclasses import dataclass, field

from ....core.text import counted


@dataclass(frozen=True)
class TrackChange:
    """A bone whose keys changed: how many rotation and translation keys are no longer the base's.

    ``error`` metres between a translation as it was asked for and as it is stored, at most, over the axes.
    """

    bone: str
    rotation_keys: int
    translation_keys: int
    error: float = 0.0


@dataclass(frozen=True)
class MotionChange:
    """A motion that is ``new``, or differs in ``tracks`` and in ``fields`` (length, marks, parameters).

    ``clip`` is the number of the clip it was encoded from.
    """

    name: str
    clip: int
    new: bool = False
    tracks: tuple[TrackChange, ...] = ()
    fields: tuple[str, ...] = ()


@dataclass
class Changes:
    """The motions that changed, those ``renamed`` (old name, new name), and how many did not change in either way."""

    motions: list[MotionChange] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    untouched: int = 0

    def worst_error(self) -> tuple[float, str, str]:
        """Metres, bone and motion where storing moved a translation most; 0 and empty names where it moved none."""
        errors = [(track.error, track.bone, motion.name) for motion in self.motions for track in motion.tracks]
        return max(errors, default=(0.0, "", ""))

    def sentence(self) -> str:
        """``1 motion, 1 track changed, 2 motions added, 230 untouched``."""
        changed = [motion for motion in self.motions if not motion.new]
        added = len(self.motions) - len(changed)
        tracks = sum(len(motion.tracks) for motion in changed)
        parts = []
        if changed:
            parts.append(f"{counted(len(changed), 'motion')}, {counted(tracks, 'track')} changed")
        if added:
            parts.append(f"{counted(added, 'motion')} added")
        parts.append(f"{self.untouched} untouched")
        return ", ".join(parts)
