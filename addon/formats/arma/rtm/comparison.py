"""What differs between two animations, in the words of an export."""

from __future__ import annotations

from ....core.changes import Changes
from ....core.report import Report
from ..skeletons import Hierarchy
from . import Binarised, Rtm, decode, encode_binarised, encode_plain


def compare(before: Rtm, after: Rtm) -> Changes:
    """Return what differs in ``after``. Raises `WriteError` for what an export would refuse."""
    # A binarised file does not store the parents of bones. Any hierarchy works if decode and encode use the same one.
    flat = Hierarchy("none", dict.fromkeys([*before.bones, *after.bones], ""))
    clip = decode(after, Report(), flat)
    if isinstance(before, Binarised):
        return encode_binarised(clip, flat, before)[1]
    return encode_plain(clip, before)[1]
