"""The table of fuzzed readers: initial files of each target, ways to damage them, and the judge of the result."""

from __future__ import annotations

import functools
import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from addon.formats import FORMATS, HEAD_SIZE, archives, detect
from fuzzing import law, packed_archives, packing, structures
from fuzzing.mutation import Way, mutated

MEMORY = (4 << 20, 160.0)
"""Memory limit for reading: a fixed part, and a part per byte (an empty chunk: 8 bytes, several Python objects)."""
DECODED_MEMORY = (64 << 20, 4096.0)
"""Memory limit for decoding: a constant track still has an array row per frame (`omf.tracks.POSES_PER_BYTE`)."""


@dataclass(frozen=True)
class Target:
    """A reader of untrusted bytes.

    ``judge``: function (bytes, with decoding or not) -> outcome; ``accepts``: whether a file (path, first bytes) can be
    damaged for this target; ``seeds``: further bytes to damage; ``methods``: for its structure. ``fresh``, if
    given, generates the bytes of half the cases.
    """

    name: str
    title: str
    judge: Callable[..., str]
    accepts: Callable[[Path, bytes], bool]
    seeds: Sequence[bytes] = ()
    methods: tuple[Way, ...] = (structures.set_floats,)
    fresh: Callable[[Random], bytes] | None = None

    def case(self, random: Random, data: bytes, other: bytes) -> bytes:
        """Return the bytes of a case, from a file's ``data`` and another file to borrow from."""
        result = self.fresh(random) if self.fresh is not None and random.random() < 0.5 else data
        if result is not data and random.random() < 0.5:
            return result
        return mutated(result, random, other, self.methods)


# What there is to begin with where no file is of a format ------------------------------------------------------------


def _gam() -> bytes:
    plain = b"\7\0Hull\0hull.oaf\0\0" + struct.pack("<8f", 0, 0.25, 0.5, 1, 2, 0, 4, 0.125) + b"\3"
    plain += struct.pack("<iI", -1, 1 << 6 | 1 << 22) + b"zap\0" + struct.pack("<f", 1)
    drawn = b"\6\0Fire\0fire.ogf\0gone\0" + bytes(33) + struct.pack("<iI", 0, 1 << 24)
    drawn += struct.pack("<255H", *range(255)) + b"\1\2\3" + struct.pack("<ffB", 0.5, 0.25, 9)
    drawn += struct.pack("<h", 2) + bytes(range(16)) + struct.pack("<if", 5, 1)
    pages = ((1, plain), (5, b"a ship"), (1, drawn), (1, plain.replace(b"Hull", b"HULL")))
    return b"".join(bytes((kind,)) + struct.pack("<i", len(body) + 4) + body for kind, body in pages)


def _chunk(number: int, body: bytes) -> bytes:
    return struct.pack("<II", number, len(body)) + body


def _bones() -> bytes:
    def bone(name: bytes) -> bytes:
        joint = struct.pack("<I", 2) + struct.pack("<12f", *range(12)) + struct.pack("<2f", 1, 1)
        parts = (
            (1, b"\2\0"),
            (2, name + b"\0"),
            (3, struct.pack("<7f", 0, 1, 0, 0, 0, 0, 0.5)),
            (4, b"creatures\\human\0"),
            (5, struct.pack("<HH", 1, 0) + bytes(15 * 4 + 10 * 4 + 7 * 4 + 4)),
            (6, joint),
            (7, struct.pack("<4f", 10, 0, 0.1, 0)),
            (8, struct.pack("<I", 1)),
            (9, struct.pack("<2f", 100, 100)),
            (0x10, struct.pack("<f", 0.5)),
        )
        return b"".join(_chunk(number, body) for number, body in parts)

    bodies = [bone(name) for name in (b"root", b"spine", b"head")]
    partition = struct.pack("<I", 1) + b"default\0" + struct.pack("<I", 3) + b"root\0spine\0head\0"
    return b"".join(_chunk(number, body) for number, body in enumerate(bodies)) + _chunk(0x923, partition)


def _skl() -> bytes:
    keys = b"".join(struct.pack("<ff", value, time) + b"\4" for value, time in ((0, 0), (1, 1)))
    envelope = b"\1\1\2\0" + keys
    bone = b"root\0\0" + envelope * 6
    body = b"walk\0" + struct.pack("<IIfH", 0, 30, 30, 6) + struct.pack("<BHffff", 0, 0xFFFF, 1, 2, 2, 0)
    return _chunk(0x1200, body + struct.pack("<H", 1) + bone)


_WEAPON = (
    b'#include "weapons\\*.ltx"\r\n; a remark\r\n[hud_base] ; nothing\r\n\r\n[wpn_pm_hud]:hud_base, wpn_base\r\n'
    b'$spawn = "weapons\\pm;1" ; one\r\nanm_show\t= draw , idle//two\r\n\tfire_point = -0.1 5,0,1e-3\r\nflag\r\n'
    b'text = "over\r\nlines" \r\n\xef\xf0\xe8 = \xe2\xe5\xf2'
)
_LTX = (
    _WEAPON,
    b"![s]:a,!b\n!key\n>list = x,y\n<list = z\n@[t]\nk=1\n!![u]\n",
)
_TREE = b"\1".join(
    [
        b'#include "b.ltx"\n[base]\nk = 1\nl = a,b\n[wpn]:base\nk = 2\n#include "a\\*.ltx"\n',
        b"![wpn]:other,!base\n!k\n>l = c\n@[new]:wpn\nm = 1\n!![gone]\n",
        b"[gone]\n[other]\nk = 3\n",
        b'#include "..\\a\\d.ltx"\n[c]:base\n',
        b"[d]\nx = 0.1 5\n",
    ]
)


_TABLE = json.dumps({"comment": "two", "bones": {"Hips": "pelvis", "neck": "Neck", "\u0433": "head"}}).encode()
_CONFIG = b"""#define PAIR(a, b) #a, #b
class CfgSkeletons {
    class Default { isDiscrete = 1; skeletonInherit = ""; skeletonBones[] = {}; };
    class Man : Default { skeletonBones[] = { PAIR(pelvis, ), "spine", "pelvis", "head", "spine" }; };
    class Armed : Man { skeletonInherit = "Man"; skeletonBones[] += { "weapon", "spine" }; pivotsModel = "a\\b.p3d"; };
};
class CfgModels { class Default { skeletonName = ""; }; class soldier : Default { skeletonName = "Armed"; }; };
"""
_MASKS = (
    b"actors\\stalker\\*.omf\nwalk.omf\nstalker/walk.omf",
    b"*\na.omf\n",
    b"?.omf\na.omf\nab.omf",
    b"x\\*\\b\nx/y/b.omf\n",
    b"*a*b*c*\nxaybzc\nabc\ncba\n",
)
_LETTERS = (
    "a",
    "b",
    "A",
    "*",
    "*",
    "?",
    "\\",
    "/",
    ".",
    ".omf",
    "x",
    "actors",
    "stalker",
    "[",
    "\xe4",
    "\xdf",
    "..",
    ":",
)


def _fresh_mask(random: Random) -> bytes:
    signs = random.choice((2, 4, 8, 40, 400))
    lines = ["".join(random.choice(_LETTERS) for _ in range(random.randint(0, signs))) for _ in range(6)]
    return "\n".join([lines[0], *(line.replace("*", "") for line in lines[1:])]).encode("latin-1")


def _fresh_lzo(random: Random) -> bytes:
    tokens = packing.random_tokens(random, random.choice((8, 33, 300, 5000)), 49151)
    return len(packing.expanded(tokens)).to_bytes(4, "little") + packing.pack_lzo(tokens)


def _fresh_lzss(random: Random) -> bytes:
    tokens = packing.random_tokens(random, 18, 4095, 4096)
    return len(packing.expanded(tokens, b" " * 4096)).to_bytes(4, "little") + packing.pack_lzss(tokens)


def _fresh_lzhuf(random: Random) -> bytes:
    tokens = packing.random_tokens(random, 60, 4096, 4096)
    return len(packing.expanded(tokens, b" " * 4096)).to_bytes(4, "little") + packing.pack_lzhuf(tokens)


# The table ----------------------------------------------------------------------------------------------------------

_SEEDS = {"gam": (_gam(),), "bones": (_bones(),), "skl": (_skl(),), "ltx": _LTX}
_WAYS: dict[str, tuple[Way, ...]] = {
    "p3d": structures.P3D_WAYS,
    "rtm": structures.RTM_WAYS,
    "gam": (structures.change_pages, structures.set_floats),
    "hog2": (structures.change_table,),
    "ogf_image": (structures.change_runs,),
    "paa": (structures.change_levels, structures.change_levels, structures.set_floats),
    "cform": (structures.set_floats,),
    "dm": (structures.set_floats,),
    "ai": (structures.set_floats,),
    "oof": (structures.set_floats,),
    "ltx": structures.TEXT_WAYS,
}


def _of_format(name: str) -> Callable[[Path, bytes], bool]:
    def accepts(path: Path, head: bytes) -> bool:
        known = detect(path, head)
        return known is not None and known.name == name

    return accepts


def _by_bytes(judge: Callable[[bytes], str]) -> Callable[..., str]:
    def judged(data: bytes, *, decoding: bool = True) -> str:
        return judge(data)

    return judged


def _never(_path: Path, _head: bytes) -> bool:
    return False


def _is_config(path: Path, _head: bytes) -> bool:
    return path.name.lower().endswith("model.cfg")


def _is_archive(path: Path, _head: bytes) -> bool:
    return archives.is_archive(path)


FORMAT_TARGETS = tuple(
    Target(
        known.name,
        known.title,
        functools.partial(law.judge_format, known),
        _of_format(known.name),
        _SEEDS.get(known.name, ()),
        _WAYS.get(known.name, structures.CHUNK_FILE_WAYS),
    )
    for known in FORMATS
)
OTHER_TARGETS = (
    Target(
        "model_cfg",
        "Arma model.cfg",
        _by_bytes(law.judge_model_cfg),
        _is_config,
        (_CONFIG,),
        structures.TEXT_WAYS,
    ),
    Target(
        "bone_table",
        "tables of bone names",
        _by_bytes(law.judge_bone_table),
        _never,
        (_TABLE,),
        structures.TEXT_WAYS,
    ),
    Target(
        "ltx_tree",
        "X-Ray configurations that include each other",
        _by_bytes(law.judge_ltx_tree),
        _never,
        (_TREE,),
        structures.TEXT_WAYS,
    ),
    Target(
        "mask",
        "X-Ray motion references",
        _by_bytes(law.judge_mask),
        _never,
        _MASKS,
        structures.TEXT_WAYS,
        _fresh_mask,
    ),
    Target(
        "extraction",
        "files out of archives",
        _by_bytes(law.judge_extraction),
        _is_archive,
        (),
        (structures.change_table, *structures.CHUNK_FILE_WAYS),
        packed_archives.fresh,
    ),
    Target("lzhuf", "LZHUF streams", _by_bytes(law.judge_lzhuf), _never, (b"\1\0\0\0\0",), (), _fresh_lzhuf),
    Target("lzo", "LZO streams", _by_bytes(law.judge_lzo), _never, (b"\1\0\0\0\x12a\x11\0\0",), (), _fresh_lzo),
    Target("lzss", "LZSS streams", _by_bytes(law.judge_lzss), _never, (b"\1\0\0\0\1a\x61\0\0\0",), (), _fresh_lzss),
)
TARGETS = {target.name: target for target in (*FORMAT_TARGETS, *OTHER_TARGETS)}


def files_of(paths: Sequence[Path]) -> list[tuple[Path, list[str]]]:
    """Return the files in and below ``paths`` that targets accept, in a fixed order, with these targets' names."""
    files = []
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                with file.open("rb") as stream:
                    head = stream.read(HEAD_SIZE)
                names = [name for name, target in TARGETS.items() if target.accepts(file, head)]
                if names:
                    files.append((file, names))
    return files
