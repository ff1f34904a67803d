"""Models of Descent 3 into Blender and back, judged by their bytes and by readers of the test's own."""

import bpy
import numpy as np
import pytest

from addon.core.errors import ReadError, WriteError
from addon.core.report import Report
from addon.games.descent3 import model, model_export
from addon.games.descent3.hierarchy import Chosen
from tests.formats.descent3.oof import annotated
from tests.real_files import corpus_files
from tests.scene import differences, snapshot


def imported(path, **options):
    report = Report()
    return model.import_model(bpy.context, model.Source(path), model.ImportOptions(**options), report), report


def planned(chosen, **options):
    report = Report()
    chosen = chosen if isinstance(chosen, Chosen) else Chosen(chosen)
    return model_export.plan_export(bpy.context, chosen, model_export.ExportOptions(**options), report), report


# Every byte ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bones", [False, True], ids=["objects", "bones"])
@pytest.mark.parametrize("path", corpus_files("oof"))
def test_what_nobody_touched_leaves_byte_for_byte_through_a_saved_scene(path, bones, tmp_path):
    made, _ = imported(path, bones=bones)
    name = made.holder.name
    before = snapshot()
    plan, _ = planned(made.holder)
    assert differences(before, snapshot()) == []
    assert plan.sentence() == "nothing changed"
    assert plan.data == path.read_bytes()
    saved = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=saved)
    bpy.ops.wm.open_mainfile(filepath=saved)
    plan, _ = planned(bpy.data.objects[name])
    assert plan.data == path.read_bytes()
    assert plan.sentence() == "nothing changed"
