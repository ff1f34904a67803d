"""What must be true of every file whatever its bytes: the judges of `targets`, one for each kind of reader.

A judge takes bytes and returns a word for the outcome (``refused``, ``kept``, …). It raises `Broken` if the law is
broken, and does not catch unexpected exceptions.
"""

from __future__ import annotations

import dataclasses
import functools
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from operator import ne
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from addon.core.binary import Reader
from addon.core.compression import lzhuf, lzo, lzss
from addon.core.errors import MotionbridgeError, ReadError, WriteError
from addon.core.report import Report
from addon.formats import Format, archives
from addon.formats.arma import model_cfg, p3d, rtm, skeletons
from addon.formats.arma.skeletons import MAN_ARMA_3
from addon.formats.descent3 import oof
from addon.formats.descent3.oof.document import SubObject
from addon.formats.engine_rules import remarks
from addon.formats.round_trips import ROUND_TRIPS
from addon.formats.trees import masks
from addon.formats.verification import first_difference
from addon.formats.xray import cform, game_tree, hom, ltx, som
from addon.formats.xray.level import mesh as visual_mesh
from addon.formats.xray.level.geometry import Geometry
from addon.formats.xray.ltx.codec import scanned as scan_ltx
from addon.formats.xray.ltx.edit import with_value
from addon.formats.xray.ltx.tree import ConfigTree
from addon.formats.xray.object import mapping
from addon.formats.xray.object.smoothing import Rule, corner_normals
from addon.formats.xray.ogf.mesh import decode_meshes
from addon.formats.xray.ogf.skeleton import decode_skeleton
from fuzzing import packing

PACKED = 200
"""Compressed data may unpack to this many times its size: `lzhuf` refuses more."""
DUMPED_UP_TO = 100_000
"""Size in bytes up to which a document is also dumped as text, which is slow."""
CONVERTED_UP_TO = 200_000
DEEPEST = 40
ANNOUNCED = ("nan or infinite", "nan is not a valid", "inf is not a valid")
"""Words that warnings of NaN or infinite values contain."""


class Broken(Exception):
    """The law is broken; the message says how."""


# Files of formats ---------------------------------------------------------------------------------------------------


def judge_format(known: Format, data: bytes, *, decoding: bool = True) -> str:
    """Read, write and describe the bytes of a format; with ``decoding`` also import, export and convert them.

    Returns "refused", "not decoded" (no import), "not encoded: …" (no export of the unedited document) or "kept".
    """
    module = known.module
    report = Report()
    try:
        document = module.read(data, "damaged", report)
    except ReadError as refusal:
        _require_reason(refusal)
        return "refused"
    for kind in (module.write, module.recompose):
        again = kind(document)
        if again != data:
            raise Broken(f"{kind.__name__} gives other bytes: {first_difference(data, again)}")
    if not 0 <= module.raw_size(document) <= max(len(data), unpacked(report) * PACKED * len(data)):
        raise Broken(f"raw_size says {module.raw_size(document)} of {len(data)} bytes")
    module.describe(document)
    remarks(known.name, document)
    report.lines()
    if len(data) <= DUMPED_UP_TO:
        deque(known.walk.dump(document), maxlen=0)
        same = next(iter(known.walk.differences(document, document)), None)
        if same is not None:
            raise Broken(f"a document differs from itself: {same}")
    return _judge_decoding(known, document, data, report) if decoding else "kept"


def _require_reason(refusal: MotionbridgeError) -> None:
    if not str(refusal).strip(". "):
        raise Broken("the refusal says nothing") from refusal


def unpacked(report: Report) -> bool:
    """Return whether some data of the file was compressed."""
    return any("compressed" in note for note in report.notes)


def _judge_decoding(known: Format, document: Any, data: bytes, report: Report) -> str:
    outcome = "kept"
    round_trip = ROUND_TRIPS.get(known.name)
    if round_trip is not None:
        try:
            again = known.module.write(round_trip(document, report))
            if again != data:
                raise Broken(f"decoded and encoded it is changed: {first_difference(data, again)}")
        except ReadError as refusal:
            _require_reason(refusal)
            outcome = "not decoded"
        except WriteError as refusal:
            _require_reason(refusal)
            outcome = f"not encoded: {refusal.problem}"
    _require_warning(document, report)
    if known.name in FURTHER_CHECKS:
        FURTHER_CHECKS[known.name](document, report)
    if len(data) <= CONVERTED_UP_TO:
        _convert(known, document)
    report.lines()
    return outcome


def mentions_not_finite(message: str) -> bool:
    """Return whether warnings mention NaN or infinite values."""
    return any(words in message.lower() for words in ANNOUNCED)


def _require_warning(document: Any, report: Report) -> None:
    """Raise `Broken` if a document contains NaN or infinite values without a warning."""
    where = next((position for position, array in floats_of(document) if not np.isfinite(array).all()), None)
    if where is not None and not mentions_not_finite("\n".join(report.warnings)):
        raise Broken(f"a NaN or infinite value of {where} that no warning announces")


def floats_of(value: Any, where: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the path and the values of every float and array of floats inside a document or a model."""
    if isinstance(value, np.ndarray):
        if value.dtype.names is not None:
            for name in value.dtype.names:
                yield from floats_of(value[name], f"{where}.{name}", depth)
        elif value.dtype.kind == "f":
            yield where, value
    elif isinstance(value, float | np.floating):
        yield where, np.asarray(value)
    elif depth < DEEPEST and isinstance(value, list | tuple):
        for part in value:
            yield from floats_of(part, where, depth + 1)
    elif depth < DEEPEST and isinstance(value, dict):
        yield from floats_of(list(value.values()), where, depth + 1)
    elif depth < DEEPEST and dataclasses.is_dataclass(value):
        for part in dataclasses.fields(value):
            held = getattr(value, part.name)
            if isinstance(value, SubObject) and part.name == "normals":
                held = _used_normals(value)
            yield from floats_of(held, f"{type(value).__name__}.{part.name}", depth + 1)


def _used_normals(part: SubObject) -> NDArray[np.float32]:
    """Return the normals of vertices with faces. Tools write NaN for the others, which is not worth a warning."""
    used = np.zeros(len(part.normals), np.bool_)
    vertices = part.faces.corners["vertex"]
    used[vertices[(vertices >= 0) & (vertices < len(used))]] = True
    return part.normals[used]


def _convert(known: Format, document: Any) -> None:
    """Run every conversion: it must refuse, or return a document that can be written and read again."""
    plain = [functools.partial(change, document) for change in known.conversions.values()]
    along = [
        functools.partial(change, document, bones)
        for change in known.along_skeleton.values()
        for bones in (MAN_ARMA_3, None)
    ]
    for conversion in (*plain, *along):
        with suppress(MotionbridgeError):
            written = known.module.write(conversion(Report()))
            try:
                known.module.read(written, "converted", Report())
            except ReadError as refusal:
                raise Broken(f"what a conversion wrote is refused: {refusal}") from refusal
    for rendering in known.renderings.values():
        with suppress(MotionbridgeError):
            rendering(document, Report())


def _check_ogf(document: Any, report: Report) -> None:
    for part in (decode_skeleton, decode_meshes):
        with suppress(MotionbridgeError):
            part(document, report)


def _check_rtm(document: Any, report: Report) -> None:
    """Decode and encode with the built-in man as skeleton, which fits most binarised animations."""
    if not isinstance(document, rtm.Binarised):
        return
    with suppress(ReadError):
        clip = rtm.decode(document, report, MAN_ARMA_3)
        again, changes = rtm.encode_binarised(clip, MAN_ARMA_3, document)
        if again is not document:
            raise Broken(f"an animation nobody edited is changed: {changes.sentence()}")


def _check_p3d(document: Any, report: Report) -> None:
    for lod in document.lods:
        with suppress(MotionbridgeError):
            p3d.decode_polygons(lod, report, {}, "lod")
        with suppress(MotionbridgeError):
            p3d.named_points(lod)
        with suppress(MotionbridgeError):
            deque(p3d.proxies(lod), maxlen=0)
        with suppress(MotionbridgeError):
            p3d.centres(lod, list(p3d.selection_weights(lod))[:50])
    with suppress(MotionbridgeError):
        p3d.pivots(document, list(MAN_ARMA_3.parents), report)


def _check_oof(document: Any, report: Report) -> None:
    with suppress(MotionbridgeError):
        deque(oof.find_problems(oof.decode(document, report)), maxlen=0)


def _check_ltx(document: Any, report: Report) -> None:
    """Compare the fast scan with the document, and check that changing a value changes only its line."""
    data = ltx.write(document)
    scanned = scan_ltx(data)
    if scanned is not None and scanned != document.parts:
        raise Broken("the fast scan finds other sections or includes than the document has")
    for head in document.heads[-1:]:
        item = next((entry for entry in document.items(head) if not entry.change), None)
        if item is None:
            continue
        section = f"{head.change}[{head.name}]"
        with suppress(WriteError):
            changed = with_value(document, section, item.key, "0.5,1").document
            if len(changed.lines) != len(document.lines) or sum(map(ne, changed.lines, document.lines)) > 1:
                raise Broken(f"{section} {item.key}: more than its line is changed")


def _check_object(document: Any, report: Report) -> None:
    with suppress(MotionbridgeError):
        mapping.decode_skeleton(document.model, "damaged")
    for mesh in document.model.meshes:
        with suppress(MotionbridgeError):
            mapping.decode_mesh(mesh, document.model, report)
        for rule in Rule:
            with suppress(MotionbridgeError):
                corner_normals(mesh, rule)


def _check_problems(module: Any) -> Callable[[Any, Report], None]:
    def check(document: Any, report: Report) -> None:
        with suppress(MotionbridgeError):
            deque(module.find_problems(module.decode(document, report)), maxlen=0)

    return check


def _check_level(document: Any, report: Report) -> None:
    """Decode what the visuals draw, with an empty geometry."""
    empty = Geometry(14, 0, [], [], document.visuals.windows, document.run)
    visual_mesh.drawn(document, empty, report)
    visual_mesh.tree_matrices(document, np.arange(len(document.visuals)))
    visual_mesh.sectors(document)


def _check_geometry(document: Any, _report: Report) -> None:
    for buffer in document.vertices:
        visual_mesh.decode_vertices(buffer)


FURTHER_CHECKS: dict[str, Callable[[Any, Report], None]] = {
    "ogf": _check_ogf,
    "rtm": _check_rtm,
    "p3d": _check_p3d,
    "oof": _check_oof,
    "object": _check_object,
    "cform": _check_problems(cform),
    "hom": _check_problems(hom),
    "som": _check_problems(som),
    "ltx": _check_ltx,
    "level": _check_level,
    "level_geom": _check_geometry,
}
"""Further steps of imports, exports and checks that round trips do not contain, by format."""


# What is read besides -----------------------------------------------------------------------------------------------


def judge_model_cfg(data: bytes) -> str:
    """Judge a `model.cfg`: the parents of every bone can be looked up and form no cycle."""
    try:
        config = model_cfg.read(data, "model.cfg", report := Report())
    except ReadError as refusal:
        _require_reason(refusal)
        return "refused"
    report.lines()
    for skeleton in config.skeletons.values():
        bones = list(skeleton.parents)
        parents = skeleton.parent_indices(bones)
        depth = np.arange(len(parents))
        for _ in range(len(parents).bit_length() + 1):  # pointer doubling reaches all roots, except from a cycle
            above = np.append(parents, -1)
            parents = np.where(parents >= 0, above[parents], -1)
        if (parents[depth] >= 0).any():
            raise Broken(f"the parents of {skeleton.name!r} form a cycle")
        skeleton.unknown(bones[:50])
    for model in config.models:
        config.skeleton_of(model)
    return "kept"


def judge_bone_table(data: bytes) -> str:
    """Judge a table of bone names: every pair is found in both directions."""
    try:
        table = skeletons.read_table(data, "table.json")
    except ReadError as refusal:
        _require_reason(refusal)
        return "refused"
    for left, right in list(table.pairs.items())[:50]:
        if (table.in_armature(left), table.in_file(right)) != (right, left):
            raise Broken(f"{left!r} -> {right!r} is not found in both directions")
        if table.reversed().in_armature(right) != left:
            raise Broken(f"{right!r} -> {left!r} is not found in the reversed table")
    return "kept"


def _judge_stream(
    module: Any, reference_decoder: Callable[[bytes, int], tuple[bytes, int]], size: int, stream: bytes
) -> str:
    expected: tuple[bytes, int] | None = None
    if size <= PACKED * len(stream):
        with suppress(packing.Damaged):
            expected = reference_decoder(stream, size)
    reader = Reader(stream, "stream")
    try:
        plain, used = module.unpack(reader, size)
    except ReadError as refusal:
        _require_reason(refusal)
        if expected is not None and len(expected[0]) == size:
            raise Broken(f"a good stream is refused: {refusal}") from refusal
        return "refused"
    if expected is None or (plain, len(used)) != expected or reader.position != len(used):
        raise Broken(f"the stream gives other bytes than a plain reader finds ({len(plain)} bytes)")
    return "kept"


def judge_lzo(data: bytes) -> str:
    """Judge four bytes of size and an LZO stream: it must unpack as with the reference decoder in `packing`."""
    return _judge_stream(lzo, packing.unpack_lzo, int.from_bytes(data[:4], "little") & 0xFFFFFF, data[4:])


def judge_lzss(data: bytes) -> str:
    """Judge four bytes of size and an LZSS stream, as `judge_lzo`."""
    return _judge_stream(lzss, packing.unpack_lzss, int.from_bytes(data[:4], "little") & 0xFFFFFF, data[4:])


def judge_lzhuf(data: bytes) -> str:
    """Judge the body of a compressed chunk: as `judge_lzo`, and the whole stream must be used."""
    size, stream = int.from_bytes(data[:4], "little"), data[4:]
    expected: tuple[bytes, int] | None = None
    if len(data) > 4 and 0 < size <= lzhuf.HIGHEST_RATIO * len(stream):
        with suppress(packing.Damaged):
            expected = packing.unpack_lzhuf(stream, size)
    good = expected is not None and (len(expected[0]), expected[1]) == (size, len(stream))
    try:
        plain = lzhuf.unpack(Reader(data, "stream"))
    except ReadError as refusal:
        _require_reason(refusal)
        if good:
            raise Broken(f"a good stream is refused: {refusal}") from refusal
        return "refused"
    if not good or expected is None or plain != expected[0]:
        raise Broken(f"the stream gives other bytes than a plain reader finds ({len(plain)} bytes)")
    return "kept"


# Names that lead to files -------------------------------------------------------------------------------------------

_FILES = ("a.omf", "AB.OMF", "x/a.omf", "x/y/b.omf", "actors/stalker/walk.omf", "no.txt", "x/z.[1].omf", "\xe4.omf")


@functools.cache
def _game() -> tuple[Path, tempfile.TemporaryDirectory[str]]:
    """Return a folder with files that references may lead to, and what removes it at the end of the program."""
    kept = tempfile.TemporaryDirectory(prefix="motionbridge-fuzz-")
    for name in _FILES:
        path = Path(kept.name, "meshes", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    Path(kept.name, "outside.omf").write_bytes(b"")
    return Path(kept.name), kept


def judge_mask(data: bytes) -> str:
    """Judge a motion reference (first line) and names (other lines): a mask must match as a simple matcher does."""
    root = _game()[0]
    reference, *names = (line.decode("latin-1") for line in data.split(b"\n")[:40])
    tree = game_tree.tree_of(root / "meshes" / "x" / "model.ogf", (), Report())
    motions = tree.find_motions(reference)
    outside = [path for path in motions if not path.resolve().is_relative_to(root / "meshes")]
    if outside:
        raise Broken(f"{reference!r} leads out of its folder: {outside[0]}")
    mask = reference.lower()
    if len(mask) <= 300 and "*" in mask:
        fits = masks.path_test(mask)
        for name in (*names, *_FILES):
            if len(name) <= 300 and fits(name) != _fits_by_table(mask, name):
                raise Broken(f"{name!r} and {mask!r}: {fits(name)}")
    return "kept" if motions else "refused"


def _fits_by_table(mask: str, name: str) -> bool:
    """Match by dynamic programming: whether each prefix of the mask matches each prefix of the name."""
    fitting = [True] + [False] * len(name)
    for sign in mask:
        if sign == "*":
            for index in range(1, len(fitting)):
                fitting[index] = fitting[index] or fitting[index - 1]
        else:
            fitting = [False] + [
                before and (sign == "?" or _same_letter(sign, letter))
                for before, letter in zip(fitting[:-1], name, strict=True)
            ]
    return fitting[-1]


def _same_letter(entry: str, other: str) -> bool:
    return entry == other or entry.lower() == other.lower() or entry.upper() == other.upper()


def judge_ltx_tree(data: bytes) -> str:
    """Judge configurations that include each other, separated by a byte 1: all sections have values or are refused."""
    with tempfile.TemporaryDirectory(prefix="motionbridge-fuzz-") as name:
        configs = Path(name) / "gamedata" / "configs"
        (configs / "a").mkdir(parents=True)
        (Path(name) / "outside.ltx").write_bytes(b"[outside]\n")
        names = ("system.ltx", "mod_system_x.ltx", "b.ltx", "a/c.ltx", "a/d.ltx")
        for file, body in zip(names, data.split(b"\1"), strict=False):
            (configs / file).write_bytes(body)
        tree = ConfigTree([configs.parent])
        try:
            result = tree.load(report := Report())
        except ReadError as refusal:
            _require_reason(refusal)
            return "refused"
        report.lines()
        if any(not file.path.is_relative_to(configs) for file in result.files) or "outside" in result.sections:
            raise Broken("an include leads out of the folders")
        outcome = "kept"
        for section in result.sections:
            try:
                result.values(section)
            except ReadError as refusal:
                _require_reason(refusal)
                outcome = "not inherited"
    return outcome


_DEVICES = {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"} | {
    f"{device}{number}" for device in ("com", "lpt") for number in "0123456789\xb9\xb2\xb3"
}


def judge_extraction(data: bytes) -> str:
    """Judge the extraction of an archive, under names of Arma and of X-Ray: only new files below the folder, with names
    valid everywhere.
    """
    outcomes = {_extracted(data, suffix) for suffix in (".pbo", ".db0")}
    return "kept" if "kept" in outcomes else "refused"


def _extracted(data: bytes, suffix: str) -> str:
    with tempfile.TemporaryDirectory(prefix="motionbridge-fuzz-") as name:
        source, folder = Path(name) / f"damaged{suffix}", Path(name) / "inner" / "folder"
        source.write_bytes(data)
        folder.mkdir(parents=True)
        (folder / "file.oof").write_bytes(b"mine")
        try:
            archive = archives.open_archive(source, report := Report())
            written = archives.extract(archive, folder, report)
        except ReadError as refusal:
            _require_reason(refusal)
            return "refused"
        report.lines()
        archives.describe(archive.table)
        files = {path for path in Path(name).rglob("*") if path.is_file()}
        if files != {source, folder / "file.oof", *written} or (folder / "file.oof").read_bytes() != b"mine":
            raise Broken(f"something was written outside of the folder, or over a file: {sorted(map(str, files))}")
        for path in written:
            inner = path.relative_to(folder)
            if any(_is_unsafe(part) for part in inner.parts):
                raise Broken(f"a file of the name {inner.as_posix()!r} was made")
            if path.read_bytes() != archive.read(cast("int", archive.find(str(inner)))):
                raise Broken(f"{inner.as_posix()!r} has other bytes than the archive")
        if len({str(path).lower() for path in written}) != len(written):
            raise Broken(f"names that are the same on some systems: {sorted(map(str, written))}")
    return "kept"


def _is_unsafe(name: str) -> bool:
    is_device = name.split(".", maxsplit=1)[0].rstrip().lower() in _DEVICES
    return is_device or name[-1] in ". " or any(ord(sign) < 32 or sign in '\\/:*?"<>|' for sign in name)
