"""Small files of every format: our samples, and bytes that the tests of a format write out by hand."""

from typing import Any, NamedTuple

from addon.core.report import Report
from addon.formats import Format
from addon.formats.verification import open_document
from addon.formats.xray import bones
from tests.formats.arma import test_paa
from tests.formats.arma.rtm import small_files
from tests.formats.descent3 import test_gam, test_hog2, test_ogf_image
from tests.formats.descent3.oof import annotated as ship
from tests.formats.xray import test_cform, test_details, test_dm, test_err, test_gamemtl, test_hom, test_som
from tests.formats.xray.anm import test_bytes as test_anm
from tests.formats.xray.bones import test_bones
from tests.formats.xray.level import annotated as level
from tests.formats.xray.object import small_object
from tests.formats.xray.ogf import small_model
from tests.formats.xray.omf import test_bytes as test_omf
from tests.formats.xray.skl import test_skl
from tests.real_files import SAMPLES

NOT_OURS = ("model.cfg",)
"""Samples of files that are no documents: they are only read."""


class Document(NamedTuple):
    """A file, its format and what it is read to."""

    name: str
    data: bytes
    format: Format
    value: Any

    def read(self, data: bytes) -> Any:
        return self.format.module.read(data, self.name.rpartition("/")[2], Report())

    def lines(self, data: bytes) -> list[str]:
        """What is reported on reading."""
        report = Report()
        self.format.module.read(data, self.name.rpartition("/")[2], report)
        return report.lines()


def document_of(name: str, data: bytes) -> Document:
    result, value, _ = open_document(data, name.rpartition("/")[2])
    return Document(name, data, result, value)


def _image(kind: int, pixels: bytes) -> bytes:
    return test_ogf_image.image(kind, 2, 2, pixels, levels=2, identifier=b"id")


def _bones_of(name: str) -> bytes:
    model = document_of(name, (SAMPLES / name).read_bytes()).value.model
    return bones.write(next(section.value for section in model.sections if isinstance(section.value, bones.Bones)))


ANNOTATED = {
    "old.anm": test_anm.VERSION_3,
    "version_4.anm": test_anm.VERSION_4,
    "version_5.anm": test_anm.VERSION_5,
    "small.bones": test_bones.SMALL,
    "weapon.bones": _bones_of("weapon.object"),
    "small.cform": test_cform.SMALL,
    "version_2.cform": test_cform.old(2),
    "build.cform": test_cform.build(),
    "small.details": test_details.SMALL,
    "old.details": test_details.OLD,
    "small.dm": test_dm.SMALL,
    "small.err": test_err.SMALL,
    "small.xr": test_gamemtl.SMALL,
    "small.hom": test_hom.SMALL,
    "small.som": test_som.SMALL,
    "annotated/level": level.SMALL_LEVEL,
    "annotated/level.geom": level.SMALL_GEOM,
    "annotated/level.ai": level.SMALL_AI,
    "annotated/level.wallmarks": level.SMALL_WALLMARKS,
    "annotated/level.ps_static": level.NEW_PARTICLES,
    "annotated/level.env_mod": level.NEW_WEATHER,
    "annotated/level.snd_static": level.SMALL_SOUNDS,
    "annotated/level.spawn": level.SMALL_SPAWN,
    "small.omf": test_omf.SMALL,
    "small.object": small_object.small(),
    "old.object": small_object.OLD,
    "small.ogf": small_model.MODEL,
    **{f"version_{version}.skl": test_skl.single(version) for version in test_skl.MOTIONS},
    "several.skls": test_skl.LIST,
    "plain.rtm": small_files.plain() + small_files.events((0.5, b"step", b"left")),
    "old.rtm": small_files.plain(mark=b"RTM_0100"),
    **{
        f"version_{version}.rtm": small_files.binarised(version, keys=((1, b"step", 0.5, b"left"),) * (version > 3))
        for version in (3, 4, 5)
    },
    **{f"version_{version}.oof": ship.model(version) for version in (1807, 1908, 2300)},
    "small.hog": test_hog2.archive(test_hog2.FILES, start=68 + 3 * 48 + 2, tail=b"end"),
    "small.gam": test_gam.page(1, test_gam.PLAIN) + test_gam.page(5, b"ship") + test_gam.page(1, test_gam.PROCEDURAL),
    **{f"small_{kind}.ogf": _image(kind, test_ogf_image.TWO_LEVELS) for kind in (121, 122, 124)},
    "indexed.paa": test_paa.texture(None, (3, 1, bytes((2, 0, 1, 2))), palette=bytes(range(9))),
}

SMALL = [
    *(
        document_of(path.relative_to(SAMPLES).as_posix(), path.read_bytes())
        for path in sorted(SAMPLES.rglob("*"))
        if path.is_file() and path.name not in NOT_OURS
    ),
    *(document_of(name, data) for name, data in ANNOTATED.items()),
]
