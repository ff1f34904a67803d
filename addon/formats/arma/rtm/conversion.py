"""From plain to binarised and back. Binarised files hold each bone relative to its parent, so it takes a hierarchy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ....core.report import Report
from ..hierarchy import Hierarchy
from .decoding import decode, parents_of
from .document import PACKED_BY_FLAG, PLAIN, Binarised, Plain, Rtm
from .encoding_binarised import encode_binarised
from .encoding_plain import encode_plain


def to_plain(document: Rtm, hierarchy: Hierarchy | None, report: Report) -> Plain:
    """The same animation as a plain file of today's version. Raises `ReadError` where a hierarchy is missing."""
    if isinstance(document, Plain):
        return document if document.magic == PLAIN else replace(document, magic=PLAIN)
    result, _ = encode_plain(decode(document, report, hierarchy))
    if document.meta:
        report.warn(f"{len(document.meta)} meta names are left out: plain files have none")
    return result


def to_binarised(document: Rtm, hierarchy: Hierarchy | None, report: Report) -> Binarised:
    """The same animation as a binarised file of version 5, its arrays uncompressed.

    Raises `ReadError` where a hierarchy is missing; an older binarised file needs none.
    """
    if isinstance(document, Binarised):
        return document if document.version == PACKED_BY_FLAG else document.unpacked()
    parents_of(document.bones, hierarchy, report)
    result, changes = encode_binarised(decode(document, report), hierarchy)
    for loss in changes.left_out:
        report.warn(loss)
    return result


ALONG_SKELETON: dict[str, Callable[[Rtm, Hierarchy | None, Report], Rtm]] = {
    "plain": to_plain,
    str(PACKED_BY_FLAG): to_binarised,
}
"""By the name of what comes out: ``plain``, or a binarised file's version."""
