"""Textures of Descent 3 from images: which bytes a painted pixel changes, animations, and what is refused."""

import shutil
import struct

import bpy
import numpy as np
import pytest

from addon.blender import material
from addon.core.report import Report
from addon.formats.descent3 import ogf_image
from addon.games.descent3 import textures
from tests.formats.descent3.test_ogf_image import image, runs
from tests.real_files import SAMPLES

HULL, PUFF = SAMPLES / "descent3" / "SampleHull.ogf", SAMPLES / "descent3" / "SamplePuff.oaf"


def imported(path):
    before = set(bpy.data.images)
    assert bpy.ops.import_scene.descent3_ogf(filepath=str(path)) == {"FINISHED"}
    return [picture for picture in bpy.data.images if picture not in before]


def export(path, obj, **options):
    assert bpy.ops.export_scene.descent3_ogf(filepath=str(path), image=obj.name, **options) == {"FINISHED"}
    return path.read_bytes()


def refused(**options):
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.export_scene.descent3_ogf(**options)
    return str(caught.value)


def read(data, name):
    return ogf_image.read(data, name, Report())


def paint(actual, across, up, colour):
    width, height = actual.size
    values = np.empty(4 * width * height, np.float32)
    actual.pixels.foreach_get(values)
    values.reshape(height, width, 4)[up, across] = np.array(colour) / 255
    actual.pixels.foreach_set(values)


def test_unpainted_textures_leave_byte_for_byte(tmp_path):
    (hull,) = imported(HULL)
    assert export(tmp_path / "hull.ogf", hull) == HULL.read_bytes()
    frames = imported(PUFF)
    assert len(frames) == len(read(PUFF.read_bytes(), "a.oaf").frames) > 1
    for frame in frames:
        assert export(tmp_path / "puff.oaf", frame) == PUFF.read_bytes()


def test_a_painted_pixel_changes_itself(tmp_path):
    path = tmp_path / "wall.ogf"
    data = image(122, 4, 2, runs((4, 0x801F), (0, 0x8000), (3, 0xFC00)))
    path.write_bytes(data)
    (actual,) = imported(path)
    paint(actual, 1, 1, (0, 255, 0, 255))  # of the upper row
    after = export(path, actual, backup=True)
    assert after == data[: -len(runs((1, 1), (1, 1), (1, 1)))] + runs((0, 0x801F), (0, 0x83E0), (2, 0x801F)) + runs(
        (0, 0x8000), (3, 0xFC00)
    )
    assert path.with_name("wall.ogf.bak").read_bytes() == data
    assert export(path, actual) == after


def test_a_frame_of_an_animation_is_written_into_it(tmp_path):
    path = tmp_path / "SamplePuff.oaf"
    shutil.copy(PUFF, path)
    frames = imported(path)
    colour = (255, 255, 255, 255) if material.gather_pixels(frames[1])[0, 0, 0] < 128 else (0, 0, 0, 255)
    paint(frames[1], 0, frames[1].size[1] - 1, colour)
    before, after = read(PUFF.read_bytes(), "a.oaf"), read(export(path, frames[1]), "a.oaf")
    first = [ogf_image.write(ogf_image.OgfImage([frame])) for frame in before.frames]
    second = [ogf_image.write(ogf_image.OgfImage([frame])) for frame in after.frames]
    assert [a == b for a, b in zip(first, second, strict=True)] == [number != 1 for number in range(len(first))]
    assert ogf_image.decode(after)[1][0, 0].tolist()[:3] == list(colour[:3])
    # As a texture of its own it is that frame alone.
    alone = read(export(tmp_path / "alone.ogf", frames[1]), "alone.ogf")
    assert (len(alone.frames), alone.animation) == (1, None)


def test_frames_exported_one_by_one_into_another_file_are_all_there(tmp_path):
    path = tmp_path / "mod.oaf"
    frames = imported(PUFF)
    for frame in frames[:2]:
        dark = material.gather_pixels(frame)[0, 0, 0] < 128
        paint(frame, 0, frame.size[1] - 1, (255, 255, 255, 255) if dark else (0, 0, 0, 255))
        export(path, frame)
    before, after = (ogf_image.decode(read(data, "a.oaf")) for data in (PUFF.read_bytes(), path.read_bytes()))
    assert [np.array_equal(old, new) for old, new in zip(before, after, strict=True)] == [
        number > 1 for number in range(len(frames))
    ]


def test_a_frame_that_replaces_an_edited_one_of_another_file_is_a_change(tmp_path):
    path = tmp_path / "mod.oaf"
    frames = imported(PUFF)
    shutil.copy(PUFF, path)
    assert not textures.plan_texture(frames[0], str(path), Report()).changes.lines
    original = material.gather_pixels(frames[0])
    paint(frames[0], 0, 0, (255, 255, 255, 255) if original[-1, 0, 0] < 128 else (0, 0, 0, 255))
    export(path, frames[0])
    frames[0].reload()
    assert np.array_equal(material.gather_pixels(frames[0]), original)
    plan = textures.plan_texture(frames[0], str(path), Report())
    assert (plan.changes.lines, plan.data) == (["pixels"], PUFF.read_bytes())


def test_a_new_image_becomes_a_texture(tmp_path):
    picture = bpy.data.images.new("hull plate", 32, 16, alpha=True)
    picture.pixels.foreach_set(np.tile(np.array((1.0, 0.0, 0.0, 1.0), np.float32), 32 * 16))
    document = read(export(tmp_path / "plate.ogf", picture), "plate.ogf")
    (frame,) = document.frames
    assert (frame.label, frame.width, frame.height, len(frame.levels)) == ("plate.ogf", 32, 16, 5)
    assert [len(level) for level in frame.levels] == [3, 1, 1, 1, 1]  # 512 pixels: 250, 250, 12
    assert struct.unpack("<BH", frame.levels[4].tobytes()) == (2, 0xFC00)


def test_what_cannot_be_written_is_refused_and_nothing_is_left(tmp_path):
    bpy.data.images.new("wide", 2000, 2)
    model = tmp_path / "weapon.ogf"
    shutil.copy(SAMPLES / "weapon.ogf", model)
    assert "model of S.T.A.L.K.E.R." in refused(filepath=str(model), image="wide")
    assert model.read_bytes() == (SAMPLES / "weapon.ogf").read_bytes()
    assert "sides of a texture" in refused(filepath=str(tmp_path / "a.ogf"), image="wide")
    bpy.data.images.new("small", 4, 4)
    assert "imported from one" in refused(filepath=str(tmp_path / "a.oaf"), image="small")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["weapon.ogf"]


def test_losses_are_reported(tmp_path):
    path = tmp_path / "wall.ogf"
    path.write_bytes(image(122, 2, 2, runs((4, 0x801F))))
    (actual,) = imported(path)
    paint(actual, 0, 0, (13, 200, 0, 100))
    report = Report()
    textures.plan_texture(actual, str(path), report)
    message = "; ".join(report.lines())
    assert "alpha is only 0 or 255" in message
    assert "colors are approximated (5 bits)" in message


def test_textures_with_the_same_pixels_are_images_of_their_own(tmp_path):
    for name in ("a.ogf", "b.ogf"):
        (tmp_path / name).write_bytes(image(122, 2, 2, runs((4, 0x801F))))
    (first,), (second,) = imported(tmp_path / "a.ogf"), imported(tmp_path / "b.ogf")
    assert [entry[textures.SOURCE] for entry in (first, second)] == [
        str(tmp_path / name) for name in ("a.ogf", "b.ogf")
    ]
    assert imported(tmp_path / "a.ogf") == imported(tmp_path / "b.ogf") == []
    # A painted image is no longer the texture: importing that again brings the file's pixels.
    paint(first, 0, 0, (255, 0, 0, 255))
    (again,) = imported(tmp_path / "a.ogf")
    assert material.gather_pixels(again).tolist() == [[[0, 0, 255, 255]] * 2] * 2


def test_a_painted_texture_is_named_by_the_models_export(tmp_path):
    assert bpy.ops.import_scene.descent3_oof(filepath=str(HULL.with_name("ship.oof"))) == {"FINISHED"}
    holder = bpy.context.view_layer.objects.active
    out = str(tmp_path / "ship.oof")
    assert bpy.ops.export_scene.descent3_oof(filepath=out) == {"FINISHED"}
    assert "painted" not in bpy.context.window_manager.motionbridge_report
    paint(bpy.data.images["SampleHull"], 1, 1, (0, 0, 255, 255))
    bpy.context.view_layer.objects.active = holder
    assert bpy.ops.export_scene.descent3_oof(filepath=out) == {"FINISHED"}
    assert "the painted image 'SampleHull' is not part of the model" in bpy.context.window_manager.motionbridge_report
