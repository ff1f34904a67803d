"""What differs between two files of editor motions, in the words of an export."""

from __future__ import annotations

from dataclasses import replace

from ...core import rebase
from ...core.changes import Changes, Noun, Part
from ...core.report import Report
from .skl import ALL_PARTS, Playback, Skl, decode_motion, encode_motion, with_playback


def compare(before: Skl, after: Skl) -> Changes:
    """Return what differs in the motions of ``after``. Raises `WriteError` for what an export refuses."""
    changes = Changes(noun=Noun.MOTION, items=Noun.CHANNEL)
    labels, listed = ([motion.label.lower() for motion in document.motions] for document in (before, after))
    sources = rebase.named_or_in_order(listed, labels)
    for motion, source in zip(after.motions, sources, strict=True):
        if source < 0:
            changes.add(Noun.MOTION, motion.label)
            continue
        playback = Playback(motion.label, motion.flags, min(motion.bone_or_part, ALL_PARTS), motion.timing)
        old, fields = with_playback(before.motions[source], playback)
        _, part = encode_motion(decode_motion(motion, Report()), old, None)
        if part is not None:
            changes.parts.append(replace(part, fields=(*part.fields, *fields)))
        elif fields:
            changes.parts.append(Part(motion.label, Noun.MOTION, fields=fields))
    changes.deleted[Noun.MOTION] += len(set(range(len(labels))) - set(sources))
    changes.unchanged = len(listed) - len(changes.parts)
    return changes
