"""The registry of file formats. Each format converts between bytes, document and model.

A format is a module with the functions of `FormatModule`. Nothing here imports Blender.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from .. import lazy

lazy.attach(__name__)

from ..core import inner_files
from ..core.errors import ReadError
from ..core.report import Report, say

if TYPE_CHECKING:
    from ..core.changes import Changes
    from ..core.walk import Walk


def _inner_file(path: str) -> inner_files.InnerFile | None:
    result: inner_files.InnerFile | None = import_module(f"{__name__}.archives").find_inner(path)
    return result


def _is_archive(path: str, only_read: bool) -> bool:
    archives = import_module(f"{__name__}.archives")
    result: bool = archives.is_only_read(path) if only_read else archives.is_archive(path)
    return result


inner_files.find = _inner_file
inner_files.is_archive = _is_archive

HEAD_SIZE = 64
"""Number of bytes from the start of a file that `detect` needs."""


class GameModelChoice(NamedTuple):
    """Options for converting an editor model to a game model: ``soc`` for Shadow of Chernobyl instead of the later
    games, ``merge`` to merge details smaller than a millimetre as the SDK does.

    ``bones_as``: path of a model or motion file whose bone order is used; "" for the SDK's order. ``most_bones``: the
    largest number of bones that the engine supports, 64 in the games.
    """

    soc: bool = False
    merge: bool = False
    bones_as: str = ""
    most_bones: int = 64


class FormatModule(Protocol):
    """The functions that every format module has. ``Any`` stands for the format's own document type.

    A module may also have ``VIEWS``: how the classes of its document are shown in a dump and in differences
    (`core.walk`). It may have `pieces(document)`, which yields the bytes of `write` as consecutive runs, without
    copying large arrays, and two tables of conversions. ``CONVERSIONS``: name of the result (a version) -> function
    that takes a document and returns another document of the same format, reports what is lost, and raises
    `WriteError` if the conversion is impossible. ``ALONG_SKELETON``: the same for conversions that may need the
    hierarchy of the bones; they take it, or None, as another argument.
    """

    def starts_like(self, head: bytes) -> bool:
        """Return whether a file whose first `HEAD_SIZE` bytes are ``head`` may be of this format."""

    def read(self, data: bytes, file: str, report: Report) -> Any:
        """Parse ``data`` into a document. ``file`` is the file's name for messages. Raises `ReadError`."""

    def write(self, document: Any) -> bytes:
        """Return the bytes of a document. Parts that were not changed keep the bytes they were read from."""

    def recompose(self, document: Any) -> bytes:
        """Like `write`, but compose every field that has a type from its value, never from a stored run of bytes."""

    def raw_size(self, document: Any) -> int:
        """Return how many bytes of the file the document stores without interpreting them."""

    def describe(self, document: Any) -> list[str]:
        """Return a summary of a few lines."""


class Format(NamedTuple):
    """A file format: its short ``name``, its ``title`` (what the files are in the game), its suffixes, and the dotted
    path of its module below this package.

    The module is imported on first use. ``file_names``: names of files that have no suffix. ``mapped``: files are so
    large that they are mapped into memory instead of being read.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    module_path: str
    file_names: tuple[str, ...] = ()
    mapped: bool = False

    @property
    def module(self) -> FormatModule:
        """The format's module, imported on first use."""
        return cast("FormatModule", import_module(f"{__name__}.{self.module_path}"))

    @property
    def walk(self) -> Walk:
        """The walk over a document of this format, for its dump and for the differences between two."""
        make: Callable[[Mapping[type, Any]], Walk] = import_module("..core.walk", __name__).Walk
        return make(self._table("VIEWS"))

    def starts_like(self, head: bytes) -> bool:
        """Return whether a file whose first `HEAD_SIZE` bytes are ``head`` may be of this format."""
        return self.module.starts_like(head)

    @property
    def conversions(self) -> Mapping[str, Callable[[Any, Report], Any]]:
        """Table ``CONVERSIONS`` of the module (see `FormatModule`), or an empty one."""
        return self._table("CONVERSIONS")

    @property
    def along_skeleton(self) -> Mapping[str, Callable[[Any, Any, Report], Any]]:
        """Table ``ALONG_SKELETON`` of the module (see `FormatModule`), or an empty one."""
        return self._table("ALONG_SKELETON")

    @property
    def into_model(self) -> Callable[[Any, Any, Report], Any] | None:
        """Function that adds a document's motions to an X-Ray editor model (`renderings`); None without motions."""
        renderings: Any = import_module(f"{__name__}.renderings")
        return renderings.into_model if self.name in renderings.WITH_MOTIONS else None

    def game_model(self, name: str, choice: GameModelChoice) -> Callable[[Any, Report], list[bytes]]:
        """Return the function that writes the file ``name`` as an `.ogf` with the options ``choice``."""
        make: Callable[..., Callable[[Any, Report], list[bytes]]] = import_module(f"{__name__}.renderings").game_model
        return make(name, choice)

    @property
    def renderings(self) -> Mapping[str, Callable[[Any, Report], list[bytes]]]:
        """Functions that write a document as another format, by the suffix of the result (see `renderings`)."""
        functions: Mapping[str, Mapping[str, Any]] = import_module(f"{__name__}.renderings").RENDERINGS
        return functions.get(self.name, {})

    def _table(self, name: str) -> Mapping[Any, Any]:
        result: Mapping[Any, Any] = getattr(self.module, name, {})
        return result


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
    Format("oof", "Descent 3 model", (".oof", ".pof"), "descent3.oof"),
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
    Format("paa", "Arma texture", (".paa", ".pac"), "arma.paa"),
)


COMPARISONS: Mapping[str, str] = {
    "anm": "xray.anm",
    "bones": "xray.bones",
    "cform": "xray.cform",
    "details": "xray.details.comparison",
    "dm": "xray.dm",
    "hom": "xray.hom",
    "level": "xray.level.comparison",
    "object": "xray.object.comparison",
    "ogf": "xray.ogf.comparison",
    "oof": "descent3.oof.comparison",
    "p3d": "arma.p3d.comparison",
    "rtm": "arma.rtm.comparison",
    "skl": "xray.skl_comparison",
    "som": "xray.som",
}
"""Name of a format -> dotted path of the module, below this package, that tells what differs between two documents, as
the `Changes` that an export of the second onto the first would report: by its ``compare(before, after)``, else by its
``decode`` and ``encode``.
"""


def is_comparable(name: str, data: bytes) -> bool:
    """Return whether `compare` compares a file of this name and content with another."""
    format_of_name = detect(name, data[:HEAD_SIZE])
    return format_of_name is not None and format_of_name.name in COMPARISONS


def compare(name: str, before: bytes, after: bytes) -> Changes:
    """Return what changes if the file ``name`` with the bytes ``before`` gets those ``after``, which `is_comparable`.

    Raises `MotionbridgeError` if the old file is not of the format, or has what no export can write.
    """
    source = cast("Format", detect(name, after[:HEAD_SIZE]))
    module: Any = import_module(f"{__name__}.{COMPARISONS[source.name]}")
    first, other = (source.module.read(data, name, Report()) for data in (before, after))
    if hasattr(module, "compare"):
        changes: Changes = module.compare(first, other)
    else:
        _, changes = module.encode(module.decode(other, Report()), first)
    if not changes and before != after:
        changes.note_other_data()
    return changes


def detect(path: PurePath | str, head: bytes) -> Format | None:
    """Return the format of a file: by its name or suffix, or by its first `HEAD_SIZE` bytes where the suffix is unknown
    or shared by several formats. None for an unknown format.
    """
    name, suffix = PurePath(path).name.lower(), PurePath(path).suffix.lower()
    whole = next((known for known in FORMATS if name in known.file_names), None)
    if whole is not None:
        return whole
    named = [known for known in FORMATS if suffix in known.suffixes]
    if len(named) == 1 or not head:  # no bytes to compare: without loading the modules of all formats
        return named[0] if named else None
    if named:
        return next((known for known in named if known.starts_like(head)), named[0])
    return next((known for known in FORMATS if known.starts_like(head)), None)


def format_named(name: str) -> Format:
    """Return the format with this short name. Raises `ReadError` for an unknown name."""
    for known in FORMATS:
        if known.name == name:
            return known
    raise ReadError(
        say("there is no format named {!r}", name), remedy=say("Known: {}", ", ".join(f.name for f in FORMATS))
    )
