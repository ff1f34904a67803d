"""Targets of `scripts/fuzz_blender.py`: operators, their options, and files placed beside the damaged one."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "tests" / "samples"
SAVED = ROOT / "tests" / "saved" / "0.1.0"
"""Folder with files of the X-Ray editor, of which there are no samples."""

Step = tuple[str, Path, Mapping[str, Any]]
"""An import operator, a file and options."""


@dataclass(frozen=True)
class BlenderTarget:
    """A kind of file that an operator imports.

    ``bytes_of``: the target of `targets` whose cases are imported; ``importer`` and ``exporter``: operators of
    `bpy.ops.import_scene` and `export_scene`; ``options``: possible values of options, of which one is chosen at
    random; ``base``: what is imported before, or the model that ``models`` lists for a source file. ``beside``: files
    copied beside the damaged one. With ``imported`` one of these is imported instead of the damaged file, which is
    named ``named``.
    """

    bytes_of: str
    importer: str
    exporter: str | None = None
    options: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    export_options: Mapping[str, Any] = field(default_factory=dict)
    base: Sequence[Step] = ()
    beside: Sequence[Path] = ()
    imported: str = ""
    named: str = ""
    out_suffix: str = ""
    models: Mapping[str, str] = field(default_factory=dict)

    def prepare(self, folder: Path, source: str, data: bytes) -> tuple[Path, bytes]:
        """Write the files into an emptied folder. Returns the path to import, and the bytes an export must write."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for file in self.beside:
            shutil.copy(file, folder / file.name)
        name = self.named or source
        if "." not in name:  # a seed of the table of targets
            name = f"damaged.{self.bytes_of}"
        (folder / name).write_bytes(data)
        path = folder / (self.imported or name)
        return path, path.read_bytes()

    def scene(self, source: str) -> list[Step]:
        """Return the imports to run before that of a case from the file ``source``."""
        model = self.models.get(source)
        return [("xray_ogf", Path(model), {})] if model else list(self.base)


HUMANOID: tuple[Step, ...] = (("xray_ogf", SAMPLES / "humanoid.ogf", {}),)
WEAPON = str(SAMPLES / "weapon.ogf")
LEVEL = "xray_level_geometry"
SHIP = SAMPLES / "descent3" / "ship.oof"
ARMA = tuple(SAMPLES / "arma" / name for name in ("model.cfg", "man.p3d"))

BLENDER_TARGETS = {
    "ogf": BlenderTarget("ogf", "xray_ogf", "xray_ogf"),
    "omf": BlenderTarget("omf", "xray_omf", "xray_omf", base=HUMANOID, models={"weapon.omf": WEAPON}),
    "skl": BlenderTarget(
        "skl",
        "xray_skl",
        "xray_skl",
        {"rotation": ("EULER", "QUATERNION")},
        {"choose": "ALL"},
        HUMANOID,
    ),
    "bones": BlenderTarget("bones", "xray_bones", "xray_bones", base=HUMANOID),
    "anm": BlenderTarget("anm", "xray_anm", "xray_anm", {"draw_curve": (False, True)}),
    "cform": BlenderTarget("cform", LEVEL, LEVEL),
    "hom": BlenderTarget("hom", LEVEL, LEVEL),
    "som": BlenderTarget("som", LEVEL, LEVEL),
    "details": BlenderTarget("details", LEVEL, LEVEL),
    "dm": BlenderTarget("dm", LEVEL, LEVEL),
    "err": BlenderTarget("err", LEVEL),
    "gamemtl": BlenderTarget(
        "gamemtl",
        LEVEL,
        LEVEL,
        beside=(SAMPLES / "level" / "level.cform",),
        imported="level.cform",
        named="gamemtl.xr",
        out_suffix=".cform",
    ),
    "rtm": BlenderTarget("rtm", "arma_rtm", "arma_rtm", beside=ARMA),
    "p3d": BlenderTarget("p3d", "arma_p3d", options={"levels": ({"FIRST", "MEMORY"}, {"FIRST"})}, beside=ARMA[:1]),
    "model_cfg": BlenderTarget(
        "model_cfg",
        "arma_rtm",
        "arma_rtm",
        beside=(SAMPLES / "arma" / "walk_binarised.rtm", ARMA[1]),
        imported="walk_binarised.rtm",
        named="model.cfg",
        out_suffix=".rtm",
    ),
    "oof": BlenderTarget("oof", "descent3_oof", "descent3_oof", {"shown_as": ("OBJECTS", "BONES")}),
    "hog2": BlenderTarget("hog2", "descent3_oof"),
    "gam": BlenderTarget(
        "gam",
        "descent3_oof",
        "descent3_oof",
        beside=(SHIP, SAMPLES / "descent3" / "SampleHull.ogf"),
        imported="ship.oof",
        named="table.gam",
        out_suffix=".oof",
    ),
    "ogf_image": BlenderTarget("ogf_image", "descent3_ogf"),
    "paa": BlenderTarget("paa", "arma_paa", "arma_paa"),
}
"""Targets by name, the same as ``bytes_of``."""
