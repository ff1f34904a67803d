"""Every file format, one line each: bytes <-> document <-> model.

A format is a module with the functions of `FormatModule`. Nothing here knows Blender.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Protocol

from ..core.errors import ReadError
from ..core.report import Report
from .arma import p3d, rtm
from .descent3 import gam, hog2, ogf_image, oof
from .xray import anm, bones, cform, details, dm, err, gamemtl, hom, ogf, omf, skl, som
from .xray.chunks import starts_like_chunks

HEAD_SIZE = 64
"""How many first bytes `detect` wants to see."""


class FormatModule(Protocol):
    """What a format offers. ``Any`` stands for the format's own document."""

    def read(self, data: bytes, file: str, report: Report) -> Any:
        """The document of ``data``; ``file`` is its name for messages. Raises `ReadError`."""

    def write(self, document: Any) -> bytes:
        """The bytes of a document: those it was read from where nothing was changed."""

    def recompose(self, document: Any) -> bytes:
        """As `write`, but every field that has a type is written from its value, never from a kept run of bytes."""

    def raw_size(self, document: Any) -> int:
        """How many bytes of the file the document keeps without knowing what they mean."""

    def describe(self, document: Any) -> list[str]:
        """A few lines for people."""

    def dump(self, document: Any) -> Iterator[str]:
        """Everything as text, a value or a row a line, made for comparing two files with a text tool."""

    def differences(self, first: Any, second: Any) -> Iterator[str]:
        """What differs, in the format's own words."""


@dataclass(frozen=True)
class Format:
    """A format: its short ``name``, what it is in the game, its file suffixes, how a file of it begins.

    ``conversions`` by the name of what comes out (a version): each takes a document and gives another of this format,
    tells a report what that costs, and raises `WriteError` for what cannot be. ``renderings`` by the name of another
    kind of file (``png``): each takes a document and gives the bytes of one such file or of several.
    ``along_skeleton`` are conversions that may need to know which bone hangs on which, and are given that or None.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    starts_like: Callable[[bytes], bool]
    module: FormatModule
    conversions: Mapping[str, Callable[[Any, Report], Any]] = field(default_factory=dict)
    renderings: Mapping[str, Callable[[Any, Report], list[bytes]]] = field(default_factory=dict)
    along_skeleton: Mapping[str, Callable[[Any, Any, Report], Any]] = field(default_factory=dict)


FORMATS: tuple[Format, ...] = (
    Format("omf", "X-Ray skeletal motions", (".omf",), starts_like_chunks(omf.MOTIONS, omf.PARAMETERS), omf),
    Format("details", "X-Ray detail objects", (".details",), details.starts_like, details),
    Format("som", "X-Ray sound occluders", (".som",), som.starts_like, som),
    Format("hom", "X-Ray occluders", (".hom",), hom.starts_like, hom),
    Format("cform", "X-Ray collision", (".cform",), cform.starts_like, cform),
    Format("err", "X-Ray level errors", (".err",), err.starts_like, err),
    Format("gamemtl", "X-Ray game materials", (".xr",), gamemtl.starts_like, gamemtl),
    Format("ogf", "X-Ray model", (".ogf",), starts_like_chunks(ogf.HEADER), ogf),
    Format("anm", "X-Ray object animation", (".anm",), starts_like_chunks(anm.ANIMATION), anm, anm.CONVERSIONS),
    Format("skl", "X-Ray editor motions", (".skl", ".skls"), starts_like_chunks(skl.MOTION), skl),
    Format("bones", "X-Ray bone properties", (".bones",), bones.starts_like, bones),
    Format("rtm", "Arma animation", (".rtm",), rtm.starts_like, rtm, along_skeleton=rtm.CONVERSIONS),
    Format("p3d", "Arma model", (".p3d",), p3d.starts_like, p3d),
    Format("oof", "Descent 3 model", (".oof",), oof.starts_like, oof, oof.CONVERSIONS),
    Format("hog2", "Descent 3 archive", (".hog", ".mn3"), hog2.starts_like, hog2),
    Format(
        "ogf_image",
        "Descent 3 texture",
        (".ogf", ".oaf"),
        ogf_image.starts_like,
        ogf_image,
        renderings={"png": ogf_image.as_png},
    ),
    Format("gam", "Descent 3 table", (".gam",), gam.starts_like, gam),
    Format("dm", "X-Ray detail model", (".dm",), dm.starts_like, dm),
)


def detect(path: PurePath | str, head: bytes) -> Format | None:
    """The format of a file by its suffix, or where that says nothing by its first `HEAD_SIZE` bytes."""
    suffix = PurePath(path).suffix.lower()
    named = [known for known in FORMATS if suffix in known.suffixes]
    if named:
        return next((known for known in named if known.starts_like(head)), named[0])
    return next((known for known in FORMATS if known.starts_like(head)), None)


def format_named(name: str) -> Format:
    """The format with this short name. Raises `ReadError` for a name nobody knows."""
    for known in FORMATS:
        if known.name == name:
            return known
    raise ReadError(f"there is no format called {name!r}", remedy=f"Known: {', '.join(f.name for f in FORMATS)}")
