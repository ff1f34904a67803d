"""The geometry that is made for a real level: every visual finds its vertices, indices and windows."""

import os
import subprocess
import sys

import make_geometry
import numpy as np
import pytest

from addon.core.report import Report
from addon.formats.xray import level as levels
from addon.formats.xray.level import geometry, mesh
from tests.real_files import CORPUS, SAMPLES

LEVELS = [SAMPLES / "level" / "level", *([CORPUS / "level" / "nlc_l06_rostok" / "level"] if CORPUS else ())]


@pytest.mark.parametrize("source", LEVELS, ids=lambda path: path.parent.name)
def test_every_visual_is_drawn(source, tmp_path):
    make_geometry.main(source, tmp_path)
    report = Report()
    document = levels.read((tmp_path / "level").read_bytes(), "level", report)
    own_document = geometry.read((tmp_path / "level.geom").read_bytes(), "level.geom", report)
    rows = mesh.drawn(document, own_document, report)
    assert len(rows) == np.isin(document.visuals.types, (*mesh.SURFACES, *mesh.TREES)).sum()
    assert not report.warnings
    for row in rows[:: max(len(rows) // 100, 1)]:
        assert len(mesh.triangles(row, own_document)) == row["triangles"]


def test_the_same_geometry_in_every_process(tmp_path):
    source = SAMPLES / "level" / "level"
    for seed in "35":  # in which a set of the attributes' names has different orders
        command = [sys.executable, make_geometry.__file__, source, tmp_path / seed]
        subprocess.run(command, check=True, timeout=60, env=os.environ | {"PYTHONHASHSEED": seed})
    assert len({(tmp_path / seed / "level.geom").read_bytes() for seed in "35"}) == 1
