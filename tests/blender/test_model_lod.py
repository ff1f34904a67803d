"""The path of the model that the game shows at a distance: in the panel of an imported model, and written as edited."""

import struct
from pathlib import Path

import bpy
import pytest

from addon.core.errors import WriteError
from addon.core.report import Report
from addon.formats.xray import object as editor_model
from addon.formats.xray.object.chunk_types import LodName
from addon.games.xray.models import exporting
from addon.games.xray.models.importing import import_model
from addon.games.xray.models.making import plan_new_object
from addon.games.xray.options import EditorModelExportOptions, ModelExportOptions, ModelImportOptions
from addon.ui.xray.models import MOTIONBRIDGE_PT_model
from tests.blender import raw_ogf
from tests.blender.test_level_panel import Layout
from tests.real_files import corpus_files

LOD = 23


def chunk(body: bytes) -> bytes:
    return struct.pack("<II", LOD, len(body)) + body


@pytest.fixture
def opened(samples, tmp_path):
    """Import a sample with bytes appended. Returns its holder and its bytes."""

    def opened(name: str, appended: bytes = b""):
        path = tmp_path / name
        path.write_bytes((samples / name).read_bytes() + appended)
        model = import_model(bpy.context, path, ModelImportOptions(), Report())
        return model.holder, path.read_bytes()

    return opened


def planned(holder):
    return exporting.plan_export(bpy.context, holder, "", ModelExportOptions(), Report())


@pytest.mark.parametrize("end", [b"\r\n", b"\n", b"\0"])
def test_the_path_of_a_file_is_shown_and_only_its_chunk_changes_with_it(opened, end):
    holder, data = opened("weapon.ogf", chunk(b"dynamics\\far" + end))
    properties = holder.motionbridge_model
    assert properties.lod == "dynamics\\far"
    assert planned(holder).data == data
    properties.lod = "dynamics\\other"
    plan = planned(holder)
    assert plan.data == data.replace(chunk(b"dynamics\\far" + end), chunk(b"dynamics\\other" + end))
    assert plan.sentence() == "LOD changed"
    properties.lod = ""
    assert planned(holder).data == data.replace(chunk(b"dynamics\\far" + end), b"")


def test_a_model_with_bones_gets_a_path_that_it_did_not_have(opened):
    holder, data = opened("weapon.ogf")
    assert holder.motionbridge_model.lod == ""
    holder.motionbridge_model.lod = "dynamics\\far"
    assert planned(holder).data == data + chunk(b"dynamics\\far\r\n")


@pytest.mark.parametrize("wanted", ["one\ntwo", "one\r"])
def test_a_path_of_two_lines_is_refused(opened, wanted):
    holder, _ = opened("weapon.ogf")
    holder.motionbridge_model.lod = wanted
    with pytest.raises(WriteError, match="line break"):
        planned(holder)


def test_a_whole_model_instead_of_a_path_is_not_replaced(opened, samples):
    holder, data = opened("weapon.ogf", chunk((samples / "weapon.ogf").read_bytes()))
    assert holder.motionbridge_model.lod == ""
    assert planned(holder).data == data
    holder.motionbridge_model.lod = "dynamics\\far"
    with pytest.raises(WriteError, match="no LOD can be added"):
        planned(holder)


def test_a_new_editor_model_of_an_imported_one_keeps_the_path(opened):
    holder, _ = opened("weapon.ogf", chunk(b"dynamics\\far\r\n"))
    plan = plan_new_object(bpy.context, holder, "new.object", EditorModelExportOptions(), Report())
    assert editor_model.read(plan.data, "new.object", Report()).model.first(LodName).name == b"dynamics\\far"


def test_the_panel_has_the_field(opened):
    opened("weapon.ogf")
    panel = type("Panel", (MOTIONBRIDGE_PT_model.__bases__[0],), {"draw": MOTIONBRIDGE_PT_model.draw})()
    panel.layout = Layout()
    panel.draw(bpy.context)
    assert ("lod", True) in panel.layout.kept


@pytest.mark.parametrize("path", corpus_files("ogf/bx_gl.ogf"))
def test_the_path_of_a_real_model(path: Path):
    model = import_model(bpy.context, path, ModelImportOptions(), Report())
    assert model.holder.motionbridge_model.lod == "test_fmt_ogf\\lod_object"
    model.holder.motionbridge_model.lod = "test\\other"
    old = raw_ogf.chunks(path.read_bytes())
    new = raw_ogf.chunks(planned(model.holder).data)
    assert new.keys() == old.keys()
    assert {number for number in old if old[number][1] != new[number][1]} == {LOD}
    assert new[LOD][1] == b"test\\other\r\n"
