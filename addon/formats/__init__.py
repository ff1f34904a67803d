"""Every file format, one line each: bytes <-> document <-> model.

A format is a module with the functions of `FormatModule`. Nothing here knows Blender.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import PurePath
from typing import Any, NamedTuple, Protocol, cast

from ..core.errors import ReadError
from ..core.report import Report

HEAD_SIZE = 64
"""How many first bytes `detect` wants to see."""


class GameModelChoice(NamedTuple):
    """How a model of the game is made: for Shadow of Chernobyl or the later games; whether near vertices are merged.

    ``bones_as``: path of a model or motion file whose order of bones it gets, "" for the SDK's own.
    """

    soc: bool = False
    merge: bool = False
    bones_as: str = ""


class FormatModule(Protocol):
    """What a format offers. ``Any`` stands for the format's own document.

    A module may have `pieces` too: the bytes of `write` in runs that follow each other, without copies of large arrays.
    And tables. ``CONVERSIONS`` by the name of what comes out (a version): each takes a document and
    gives another of this format, tells a report what that costs, and raises `WriteError` for what cannot be.
    ``ALONG_SKELETON``: conversions that may need to know the hierarchy of the bones, and are given that or None.
    """

    def starts_like(self, head: bytes) -> bool:
        """Whether a file whose first `HEAD_SIZE` bytes are these may be of this format."""

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


class Format(NamedTuple):
    """A format: its short ``name``, what it is in the game, its file suffixes, and where below here its module is.

    The module is loaded when it is first asked for. ``file_names`` are whole names of files without a suffix.
    ``mapped``: files are so large that they are mapped into memory instead of read.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    place: str
    file_names: tuple[str, ...] = ()
    mapped: bool = False

    @property
    def module(self) -> FormatModule:
        """The module that knows the format."""
        return cast("FormatModule", import_module(f"{__name__}.{self.place}"))

    def starts_like(self, head: bytes) -> bool:
        """Whether a file whose first `HEAD_SIZE` bytes are these may be of this format."""
        return self.module.starts_like(head)

    @property
    def conversions(self) -> Mapping[str, Callable[[Any, Report], Any]]:
        """See `FormatModule`."""
        return self._table("CONVERSIONS")

    @property
    def along_skeleton(self) -> Mapping[str, Callable[[Any, Any, Report], Any]]:
        """See `FormatModule`."""
        return self._table("ALONG_SKELETON")

    @property
    def into_model(self) -> Callable[[Any, Any, Report], Any] | None:
        """What puts its motions into a model of X-Ray's editor (`renderings`); None of formats without such motions."""
        found: Mapping[str, Any] = import_module(f"{__name__}.renderings").INTO_MODELS
        return found.get(self.name)

    def game_model(self, name: str, choice: GameModelChoice) -> Callable[[Any, Report], list[bytes]]:
        """The rendering as `.ogf` of a file called ``name``, for a game and with bones in an order."""
        make: Callable[..., Callable[[Any, Report], list[bytes]]] = import_module(f"{__name__}.renderings").game_model
        return make(name, choice)

    @property
    def renderings(self) -> Mapping[str, Callable[[Any, Report], list[bytes]]]:
        """What it can be written as, by the suffix of that (`renderings`)."""
        found: Mapping[str, Mapping[str, Any]] = import_module(f"{__name__}.renderings").RENDERINGS
        return found.get(self.name, {})

    def _table(self, name: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = getattr(self.module, name, {})
        return found


FORMATS: tuple[Format, ...] = (
    Format("omf", "X-Ray skeletal motions", (".omf",), "xray.omf"),
    Format("details", "X-Ray detail objects", (".details",), "xray.details"),
    Format("som", "X-Ray sound occluders", (".som",), "xray.som"),
    Format("hom", "X-Ray occluders", (".hom",), "xray.hom"),
    Format("cform", "X-Ray collision", (".cform",), "xray.cform"),
    Format("err", "X-Ray level errors", (".err",), "xray.err"),
    Format("gamemtl", "X-Ray game materials", (".xr",), "xray.gamemtl"),
    Format("level", "X-Ray level", (), "xray.level", ("level",)),
    Format("level_geom", "X-Ray level geometry", (".geom", ".geomx"), "xray.level.geometry", mapped=True),
    Format("wallmarks", "X-Ray wallmarks", (".wallmarks",), "xray.wallmarks"),
    Format("ogf", "X-Ray model", (".ogf",), "xray.ogf"),
    Format("anm", "X-Ray object animation", (".anm",), "xray.anm"),
    Format("skl", "X-Ray editor motions", (".skl", ".skls"), "xray.skl"),
    Format("bones", "X-Ray bone properties", (".bones",), "xray.bones"),
    Format("object", "X-Ray editor model", (".object",), "xray.object"),
    Format("rtm", "Arma animation", (".rtm",), "arma.rtm"),
    Format("p3d", "Arma model", (".p3d",), "arma.p3d"),
    Format("oof", "Descent 3 model", (".oof",), "descent3.oof"),
    Format("hog2", "Descent 3 archive", (".hog", ".mn3"), "descent3.hog2"),
    Format("ogf_image", "Descent 3 texture", (".ogf", ".oaf"), "descent3.ogf_image"),
    Format("gam", "Descent 3 table", (".gam",), "descent3.gam"),
    Format("dm", "X-Ray detail model", (".dm",), "xray.dm"),
    Format("ltx", "X-Ray configuration", (".ltx",), "xray.ltx"),
    Format("ai", "X-Ray AI map", (".ai",), "xray.level_ai"),
    Format("ps_static", "X-Ray static particles", (".ps_static",), "xray.ps_static"),
    Format("env_mod", "X-Ray weather modifiers", (".env_mod",), "xray.env_mod"),
    Format("snd_static", "X-Ray static sounds", (".snd_static",), "xray.snd_static"),
    Format("spawn", "X-Ray spawned objects of a level", (".spawn",), "xray.spawn"),
)


def detect(path: PurePath | str, head: bytes) -> Format | None:
    """The format of a file by its name or suffix, or where that says nothing by its first `HEAD_SIZE` bytes."""
    name, suffix = PurePath(path).name.lower(), PurePath(path).suffix.lower()
    whole = next((known for known in FORMATS if name in known.file_names), None)
    if whole is not None:
        return whole
    named = [known for known in FORMATS if suffix in known.suffixes]
    if len(named) == 1:
        return named[0]
    if named:
        return next((known for known in named if known.starts_like(head)), named[0])
    return next((known for known in FORMATS if known.starts_like(head)), None)


def format_named(name: str) -> Format:
    """The format with this short name. Raises `ReadError` for an unknown name."""
    for known in FORMATS:
        if known.name == name:
            return known
    raise ReadError(f"there is no format named {name!r}", remedy=f"Known: {', '.join(f.name for f in FORMATS)}")
