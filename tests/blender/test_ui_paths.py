"""Motion paths as users and scripts meet them: operators, the sidebar's panel, collections, the command, refusals."""

import errno
import shutil
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.blender import compat
from addon.core.envelope import Behaviour, Envelope, Shape, evaluate
from addon.core.report import Report
from addon.formats.xray import anm
from addon.formats.xray.anm import Animation, new_anm
from addon.formats.xray.envelopes import stored
from addon.ui import scene_command
from addon.ui.xray import paths
from tests.blender.test_paths import curves_of, keyed_object
from tests.blender.test_ui import last_report, refusal
from tests.blender.test_written_motions import as_in_a_window
from tests.real_files import CORPUS

needs_corpus = pytest.mark.skipif(CORPUS is None, reason="MOTIONBRIDGE_CORPUS is not set")
PATHS = CORPUS / "anm" if CORPUS is not None else Path()
MIXED, TCB, STRAFE = "mixed_fusker.anm", "tcb_stepped_aim_walk.anm", "fps34_strafe_left.anm"


def load(*names: str, **options) -> None:
    files = [{"name": name} for name in names]
    assert bpy.ops.import_scene.xray_anm(directory=str(PATHS), files=files, **options) == {"FINISHED"}


def export(path: Path, **options) -> bytes:
    assert bpy.ops.export_scene.xray_anm(filepath=str(path), **options) == {"FINISHED"}
    return path.read_bytes()


def active():
    return bpy.context.view_layer.objects.active


def animation_of(data: bytes):
    return anm.read(data, "", Report()).animation


def linked(name: str, data=None):
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    return obj


@pytest.fixture
def four_hundred(tmp_path) -> list[str]:
    names = [f"path_{number:03}.anm" for number in range(400)]
    for name in names:
        shutil.copy(PATHS / TCB, tmp_path / name)
    return names


@needs_corpus
@pytest.mark.parametrize("target", ["EMPTY", "CAMERA", "ACTIVE"])
def test_import_change_nothing_export_and_it_is_the_same(target, tmp_path):
    if target == "ACTIVE":
        linked("mover")
    load(MIXED, target=target)
    assert active().name == ("mover" if target == "ACTIVE" else "mixed_fusker")
    assert active().animation_data.action.use_fake_user
    assert export(tmp_path / "new.anm") == (PATHS / MIXED).read_bytes()
    assert last_report()[0] == "new.anm: 6 channels unchanged"


@needs_corpus
def test_several_files_move_an_object_each_and_all_are_selected():
    load(MIXED, TCB, "odd_strafe_right_text_mangled.anm")
    assert {selected_obj.name for selected_obj in bpy.context.selected_objects} == {
        "mixed_fusker",
        "tcb_stepped_aim_walk",
    }
    assert last_report()[0] == "Imported paths: 2; shown: mixed_fusker"
    assert any(line.startswith("left out:") and "odd_strafe" in line for line in last_report())


@needs_corpus
def test_on_the_active_object_the_first_plays_and_what_it_played_is_kept():
    mover = keyed_object()
    bpy.context.view_layer.objects.active = mover
    before = mover.animation_data.action
    load(MIXED, TCB, target="ACTIVE")
    assert list(bpy.context.scene.objects) == [mover]
    assert mover.animation_data.action.name == "mixed_fusker"
    assert "tcb_stepped_aim_walk" in bpy.data.actions
    assert before.use_fake_user
    assert mover.rotation_mode == "YXZ"


@needs_corpus
def test_what_else_moves_the_active_object_is_reported(tmp_path):
    mover = linked("mover")
    mover.parent = linked("above")
    mover.delta_location.x = 1
    bpy.context.view_layer.objects.active = mover
    load(MIXED, target="ACTIVE")
    message = "it is also moved by a parent, delta transforms, unlike in the game, and an export samples it; clear them"
    assert any(line.startswith(message) for line in last_report())


@needs_corpus
def test_a_constraint_of_the_active_camera_is_reported():
    camera = linked("eye", bpy.data.cameras.new("eye"))
    load(TCB, target="ACTIVE")
    assert not any("it is also moved by" in line for line in last_report())
    camera = linked("other", bpy.data.cameras.new("other"))
    camera.constraints.new("TRACK_TO").target = linked("target")
    bpy.context.view_layer.objects.active = camera
    load(MIXED, target="ACTIVE")
    assert any(line.startswith("it is also moved by active constraints, unlike") for line in last_report())


@needs_corpus
def test_a_camera_with_drivers_below_an_imported_path_is_exported_as_it_moves():
    load(MIXED, target="CAMERA")
    carrier, camera = active(), active().children[0]
    assert paths.motion_paths.moved_object(camera) == carrier
    camera.driver_add("rotation_euler", 2).driver.expression = "frame / 10"
    assert paths.motion_paths.moved_object(camera) == camera


@needs_corpus
def test_an_active_camera_is_hung_below_what_moves_it(tmp_path):
    camera = linked("eye", bpy.data.cameras.new("eye"))
    load(MIXED, target="ACTIVE")
    assert camera.parent.animation_data.action.name == "mixed_fusker"
    bpy.context.view_layer.objects.active = camera
    load(TCB, target="ACTIVE")  # the second time there is something that moves it
    assert camera.parent.animation_data.action.name == "tcb_stepped_aim_walk"
    bpy.context.view_layer.objects.active = camera
    assert export(tmp_path / "new.anm") == (PATHS / TCB).read_bytes()
    camera.location.x = 1.0  # from here on it looks from somewhere else than the path
    export(tmp_path / "new.anm")
    assert "sampled because of a parent" in last_report()[0]


@needs_corpus
def test_a_camera_that_moves_by_itself_is_not_taken_over():
    camera = linked("eye", bpy.data.cameras.new("eye"))
    camera.keyframe_insert("location", frame=1)
    assert "is already moved" in refusal(bpy.ops.import_scene.xray_anm, filepath=str(PATHS / MIXED), target="ACTIVE")
    assert camera.parent is None


@needs_corpus
def test_without_an_active_object_there_is_nothing_to_move():
    assert "no object is active" in refusal(bpy.ops.import_scene.xray_anm, filepath=str(PATHS / MIXED), target="ACTIVE")
    assert len(bpy.data.actions) == 0


@needs_corpus
def test_in_edit_mode_paths_are_imported_all_the_same():
    linked("cube", bpy.data.meshes.new("cube"))
    bpy.ops.object.mode_set(mode="EDIT")
    load(MIXED)
    assert (active().name, active().mode) == ("mixed_fusker", "OBJECT")


@needs_corpus
def test_an_object_in_edit_mode_can_be_moved():
    cube = linked("cube", bpy.data.meshes.new("cube"))
    bpy.ops.object.mode_set(mode="EDIT")
    load(MIXED, target="ACTIVE")
    assert cube.mode == "EDIT"
    assert cube.animation_data.action.name == "mixed_fusker"


@needs_corpus
def test_the_scene_keeps_its_rate_unless_asked():
    render = bpy.context.scene.render
    render.fps, render.fps_base = 25, 1.0
    load(STRAFE)
    assert (render.fps, render.fps_base) == (25, 1.0)
    assert any("25 frames per second, the path 34" in line for line in last_report())
    assert bpy.ops.motionbridge.match_scene() == {"FINISHED"}
    scene, stored = bpy.context.scene, animation_of((PATHS / STRAFE).read_bytes())
    assert render.fps / render.fps_base == pytest.approx(34, abs=1e-5)
    assert (scene.frame_start, scene.frame_end) == (max(stored.first, 0), stored.last)
    render.fps = 25
    load(STRAFE, match_scene=True)
    assert render.fps == 34
    assert not any("frames per second" in line for line in last_report())


@needs_corpus
def test_a_path_is_drawn_only_when_asked():
    load(MIXED)
    assert [obj.type for obj in bpy.context.scene.objects] == ["EMPTY"]
    load(MIXED, draw_curve=True, fake_user=False)
    assert sorted(obj.type for obj in bpy.context.scene.objects) == ["CURVE", "EMPTY", "EMPTY", "MESH"]
    assert not active().animation_data.action.use_fake_user


@needs_corpus
def test_four_hundred_files_together(four_hundred, tmp_path):
    files = [{"name": name} for name in four_hundred]
    walks = []
    bpy.app.handlers.depsgraph_update_post.append(count := lambda *_: walks.append(1))
    try:
        bpy.ops.import_scene.xray_anm(directory=str(tmp_path), files=files)
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(count)
    assert 1 <= len(walks) <= 5, "Blender goes through the scene a few times for all of them, not once per file"
    assert len(bpy.context.selected_objects) == len(bpy.data.actions) == 400
    assert last_report()[0].startswith("Imported paths: 400;")
    bpy.context.view_layer.objects.active = bpy.data.objects["path_399"]
    assert export(tmp_path / "new.anm") == (PATHS / TCB).read_bytes()


@needs_corpus
@pytest.mark.parametrize("version", ["3", "4", "5"])
def test_the_version_is_chosen_in_the_dialog_or_in_the_panel(version, tmp_path):
    load(TCB)
    assert animation_of(export(tmp_path / "new.anm", version=version)).version == int(version)
    active().animation_data.action.motionbridge_path.version = version
    assert animation_of(export(tmp_path / "new.anm")).version == int(version)


@needs_corpus
def test_the_report_says_what_changed_and_the_old_file_is_kept(tmp_path):
    target = tmp_path / "new.anm"
    shutil.copy(PATHS / TCB, target)
    load(TCB)
    curves_of(active())["location", 0].keyframe_points[0].co[1] += 0.25
    export(target)
    assert last_report()[0] == "new.anm: 1 channel, 1 key (X) changed, 5 unchanged"
    assert (tmp_path / "new.anm.bak").read_bytes() == (PATHS / TCB).read_bytes()


def test_coarse_tolerances_need_fewer_keys(tmp_path):
    mover = keyed_object()
    bpy.context.view_layer.objects.active = mover
    for point in curves_of(mover)["location", 0].keyframe_points:
        point.interpolation = "BOUNCE"
    fine = animation_of(export(tmp_path / "fine.anm", millimetres=0.1, degrees=0.01))
    coarse = animation_of(export(tmp_path / "coarse.anm", millimetres=50.0, degrees=5.0))
    assert "sampled because of easing or modifiers the game lacks" in last_report()[0]
    counts = [[envelope.decoded().count for envelope in entry.envelopes] for entry in (fine, coarse)]
    assert sum(counts[1]) < sum(counts[0])
    for frame in range(1, 42, 4):
        bpy.context.scene.frame_set(frame)
        x = float(evaluate(coarse.envelopes[0].decoded(), np.array(frame / bpy.context.scene.render.fps)))
        assert x == pytest.approx(mover.matrix_world.translation.x, abs=0.051)


def test_what_is_not_there_or_does_not_move_is_refused(tmp_path):
    target = str(tmp_path / "a.anm")
    linked("still")
    assert "does not move" in refusal(bpy.ops.export_scene.xray_anm, filepath=target)
    assert "no file is named" in refusal(bpy.ops.export_scene.xray_anm)
    bpy.context.view_layer.objects.active = None
    assert "no object is active" in refusal(bpy.ops.export_scene.xray_anm, filepath=target)
    assert not Path(target).exists()


@needs_corpus
@pytest.mark.parametrize("size", [0, 7, 40, 200])
def test_files_that_were_cut_off_are_refused_in_a_sentence(size, tmp_path):
    (tmp_path / "cut.anm").write_bytes((PATHS / TCB).read_bytes()[:size])
    message = refusal(bpy.ops.import_scene.xray_anm, filepath=str(tmp_path / "cut.anm"))
    assert "cut.anm" in message
    assert len(bpy.data.objects) == len(bpy.data.actions) == 0


def test_a_file_that_is_something_else_is_refused(samples):
    message = refusal(bpy.ops.import_scene.xray_anm, filepath=str(samples / "humanoid.omf"))
    assert "humanoid.omf" in message
    assert "no such file" in refusal(bpy.ops.import_scene.xray_anm, filepath="nowhere.anm").lower()
    assert len(bpy.data.objects) == 0


@needs_corpus
def test_a_collection_exports_the_one_object_that_moves_in_it(tmp_path):
    load(MIXED)
    mover, group = active(), bpy.data.collections.new("Paths")
    bpy.context.scene.collection.children.link(group)
    group.objects.link(mover)
    linked("other")
    assert export(tmp_path / "a.anm", collection="Paths") == (PATHS / MIXED).read_bytes()
    load(TCB)
    group.objects.link(active())
    assert "holds several moving objects" in refusal(
        bpy.ops.export_scene.xray_anm, filepath=str(tmp_path / "b.anm"), collection="Paths"
    )
    group.objects.unlink(active())
    group.objects.unlink(mover)
    assert "holds no moving object" in refusal(
        bpy.ops.export_scene.xray_anm, filepath=str(tmp_path / "b.anm"), collection="Paths"
    )


@needs_corpus
def test_a_collections_exporter_writes_it(tmp_path):
    load(MIXED)
    group = bpy.data.collections.new("Paths")
    bpy.context.scene.collection.children.link(group)
    group.objects.link(active())
    layer = bpy.context.view_layer
    layer.active_layer_collection = layer.layer_collection.children["Paths"]
    bpy.ops.collection.exporter_add(name="IO_FH_motionbridge_xray_anm")
    (exporter,) = group.exporters
    target = tmp_path / "collected.anm"
    (exporter if hasattr(exporter, "filepath") else exporter.export_properties).filepath = str(target)
    assert bpy.ops.collection.export_all() == {"FINISHED"}
    assert target.read_bytes() == (PATHS / MIXED).read_bytes()


class Drawn:
    """A layout that keeps what is drawn into it."""

    def __init__(self, kept=None):
        self.__dict__["kept"] = [] if kept is None else kept

    def __setattr__(self, name, value):
        pass

    def label(self, text="", **_):
        self.kept.append(text)

    def prop(self, owner, name, **_):
        self.kept.append(getattr(owner, name))

    def operator(self, name, **_):
        self.kept.append(name)

    def column(self, **_):
        return Drawn(self.kept)

    def menu(self, name, **_):
        self.kept.append(name)

    box = row = column


def panel_says() -> list[str]:
    panel = type("Panel", (), {"layout": Drawn()})()
    paths.PathPanel.draw(panel, bpy.context)
    return panel.layout.kept


@needs_corpus
def test_the_panel_says_which_path_the_active_object_follows():
    load(STRAFE, target="CAMERA")
    stored = animation_of((PATHS / STRAFE).read_bytes())
    message = panel_says()
    assert message[:2] == [STRAFE, "motionbridge.path_save_back"]
    assert message[3:5] == [stored.label, "AUTOMATIC"]
    assert f"Frames {stored.first} to {stored.last}, 34 per second" in message
    assert f"{STRAFE}, version {stored.version}" in message
    bpy.context.view_layer.objects.active = active().children[0]
    assert panel_says() == message, "the camera follows the same path"
    bpy.context.view_layer.objects.active.parent.animation_data.action.motionbridge_path.not_shown = "one; two"
    message = " ".join(panel_says())
    assert "Blender does not show one outside the keys; kept unless edited" in message
    assert "Blender does not show two outside the keys; kept unless edited" in message


@needs_corpus
def test_there_is_a_panel_where_there_is_a_path():
    kind = paths.PathPanel
    assert not kind.poll(bpy.context)
    load(STRAFE)
    assert kind.poll(bpy.context)
    assert "DEFAULT_CLOSED" not in getattr(kind, "bl_options", ())


def dialog_says() -> list[str]:
    layout = Drawn()
    paths._draw_how(bpy.context, layout, active())
    return layout.kept


@needs_corpus
def test_the_dialog_says_how_the_active_object_goes_out():
    linked("still")
    assert dialog_says() == ["still does not move"]
    bpy.context.view_layer.objects.active = keyed_object()
    assert dialog_says() == ["Exported with its own keys"]
    active().constraints.new("LIMIT_LOCATION")
    active().rotation_mode = "XYZ"
    assert (
        " ".join(dialog_says())
        == "Sampled on every frame because of: active constraints a rotation that is not Euler YXZ Frames 1 to 41"
    )
    load(STRAFE, target="CAMERA")
    bpy.context.view_layer.objects.active = active().children[0]
    assert dialog_says() == ["Exported with its own keys"]
    linked("line", bpy.data.curves.new("line", "CURVE"))
    assert dialog_says() == ["Sampled on every frame because of:", "the curve's shape"]
    linked("eye", bpy.data.cameras.new("eye"))
    assert dialog_says() == ["eye does not move"]
    active().keyframe_insert("location", frame=1)
    assert dialog_says()[0] == "Sampled on every frame because of:"
    active().keyframe_insert("hide_viewport", frame=1)
    assert "the game cannot store these curves; left out (eye: hide_viewport)" in " ".join(dialog_says())


@needs_corpus
def test_a_new_name_in_the_panel_goes_into_the_file(tmp_path):
    load(TCB)
    active().animation_data.action.motionbridge_path.path_name = "renamed"
    assert animation_of(export(tmp_path / "a.anm")).label == "renamed"
    assert last_report()[0] == "a.anm: name changed, 6 unchanged"


@needs_corpus
def test_the_command_imports_saves_opens_and_exports(tmp_path, capfd):
    saved, written = tmp_path / "scene.blend", tmp_path / "path.anm"
    assert scene_command.main(["--import", str(PATHS / MIXED), "--save", str(saved)]) == 0
    assert "Imported paths: 1" in capfd.readouterr().out
    assert scene_command.main(["--open", str(saved), "--export", str(written)]) == 0
    assert written.read_bytes() == (PATHS / MIXED).read_bytes()


def path_with(before: Behaviour, after: Behaviour, shape: Shape, keys: int = 3) -> bytes:
    """A path whose X has three keys or fewer, of which the first is not at 0."""
    times, values = np.array([0.5, 1.0, 2.0])[:keys], np.array([0.0, 1.0, 3.0])[:keys]
    shapes = np.full(keys, shape, np.uint8)
    moving = Envelope(times, values, shapes, np.zeros((keys, 3)), np.zeros((keys, 4)), before, after)
    still = Envelope.of(np.zeros(1), np.zeros(1), np.zeros(1, np.uint8))
    envelopes = [stored(moving, to_packed=False), *(stored(still, to_packed=False) for _ in range(5))]
    return anm.write(new_anm(Animation(b"made", 15, 60, np.float32(30), 3, envelopes)))


BEHAVIOURS = [
    (Behaviour.CONSTANT, Behaviour.CONSTANT, Shape.TCB, ""),
    (Behaviour.LINEAR, Behaviour.LINEAR, Shape.LINEAR, ""),
    (Behaviour.CONSTANT, Behaviour.LINEAR, Shape.TCB, ""),
    (Behaviour.LINEAR, Behaviour.CONSTANT, Shape.TCB, ""),
    (Behaviour.LINEAR, Behaviour.CONSTANT, Shape.LINEAR, ""),
    (Behaviour.CONSTANT, Behaviour.LINEAR, Shape.LINEAR, ""),
    (Behaviour.RESET, Behaviour.CONSTANT, Shape.TCB, "reset"),
    (Behaviour.RESET, Behaviour.LINEAR, Shape.TCB, "reset"),
    (Behaviour.CONSTANT, Behaviour.REPEAT, Shape.TCB, "repeating"),
    (Behaviour.OSCILLATE, Behaviour.RESET, Shape.TCB, "reset"),
]


@pytest.mark.parametrize(("before", "after", "shape", "oddity"), BEHAVIOURS)
def test_what_happens_outside_the_keys_is_shown_or_reported_and_kept(before, after, shape, oddity, tmp_path):
    data = path_with(before, after, shape)
    (tmp_path / "made.anm").write_bytes(data)
    bpy.ops.import_scene.xray_anm(filepath=str(tmp_path / "made.anm"))
    assert export(tmp_path / "new.anm") == data
    not_shown = active().animation_data.action.motionbridge_path.not_shown
    curve = curves_of(active())["location", 0]
    assert oddity in not_shown if oddity else not_shown == ""
    if not oddity:
        check_outside(curve, data)
    curve.keyframe_points[1].co[1] += 0.5  # an edit in the middle leaves the ends as they are
    changed = animation_of(export(tmp_path / "new.anm")).envelopes[0]
    assert (changed.before, changed.after) == (before, after)


@pytest.mark.parametrize("keys", [0, 1, 2])
@pytest.mark.parametrize("before", list(Behaviour))
@pytest.mark.parametrize("after", list(Behaviour))
def test_every_pair_of_ends_is_written_unchanged(keys, before, after, tmp_path):
    data = path_with(before, after, Shape.TCB, keys)
    (tmp_path / "made.anm").write_bytes(data)
    bpy.ops.import_scene.xray_anm(filepath=str(tmp_path / "made.anm"))
    assert export(tmp_path / "new.anm") == data


def test_a_channel_without_keys_can_be_given_some(tmp_path):
    (tmp_path / "made.anm").write_bytes(path_with(Behaviour.CONSTANT, Behaviour.CONSTANT, Shape.TCB, 0))
    bpy.ops.import_scene.xray_anm(filepath=str(tmp_path / "made.anm"))
    for frame, x in ((15, 1.0), (30, 2.0)):
        active().location.x = x
        active().keyframe_insert("location", index=0, frame=frame)
    changed = animation_of(export(tmp_path / "new.anm")).envelopes[0].decoded()
    np.testing.assert_allclose(changed.times, [0.5, 1.0], atol=1e-6)
    np.testing.assert_allclose(changed.values, [1.0, 2.0], atol=1e-6)
    assert last_report()[0] == "new.anm: 1 channel, 2 keys (X) changed, 5 unchanged"


def check_outside(curve, data: bytes) -> None:
    times = np.concatenate((np.linspace(-0.5, 0.49, 10), np.linspace(2.01, 3.0, 10)))
    got = [curve.evaluate(frame) for frame in times * 30]
    expected = evaluate(animation_of(data).envelopes[0].decoded(), times)
    np.testing.assert_allclose(got, expected, atol=1e-4)


def test_a_duplicate_that_is_saved_back_is_reported_to_replace_the_path_of_the_original(tmp_path, samples):
    file = tmp_path / "camera.anm"
    file.write_bytes((samples / "camera.anm").read_bytes())
    assert bpy.ops.import_scene.xray_anm(filepath=str(file)) == {"FINISHED"}
    original = active()
    bpy.ops.object.duplicate()
    copy = active()
    curve = compat.curve_bag(copy.animation_data.action).fcurves[0]
    curve.keyframe_points[0].co.y += 1.0
    assert bpy.ops.motionbridge.path_save_back() == {"FINISHED"}
    message = "another object plays a path of this file; the file gets the path of this object"
    assert f"{message} ({original.name})" in last_report()


def test_a_copied_action_that_is_saved_back_is_reported_to_replace_the_path_of_the_other_one(tmp_path, samples):
    file = tmp_path / "camera.anm"
    shutil.copy(samples / "camera.anm", file)
    assert bpy.ops.import_scene.xray_anm(filepath=str(file)) == {"FINISHED"}
    data = active().animation_data
    data.action, first = data.action.copy(), data.action
    first.use_fake_user = True
    curves_of(active())["location", 0].keyframe_points[0].co.y += 1
    assert bpy.ops.motionbridge.path_save_back() == {"FINISHED"}
    message = "another action has a path of this file; the file gets the path of the one that plays"
    assert f"{message} (camera)" in last_report()


def test_a_folder_that_may_not_be_looked_into_is_a_sentence(tmp_path, samples, monkeypatch):
    file = tmp_path / "camera.anm"
    shutil.copy(samples / "camera.anm", file)
    assert bpy.ops.import_scene.xray_anm(filepath=str(file)) == {"FINISHED"}

    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", refuse)
    message = f"{file}: the system refuses access: Permission denied. Check its permissions and its drive."
    assert refusal(bpy.ops.motionbridge.path_save_back) == message
    dialog = as_in_a_window(paths.MOTIONBRIDGE_OT_path_save_back)
    assert "the system refuses access" in str(dialog._preview(bpy.context).refusal)


def test_an_emptied_file_can_be_saved_back_as_imported(tmp_path, samples):
    file = tmp_path / "camera.anm"
    shutil.copy(samples / "camera.anm", file)
    assert bpy.ops.import_scene.xray_anm(filepath=str(file)) == {"FINISHED"}
    file.write_bytes(b"")
    assert "no longer the one that was imported" in refusal(bpy.ops.motionbridge.path_save_back)
    assert bpy.ops.motionbridge.path_save_back(if_changed="IMPORTED") == {"FINISHED"}
    assert file.read_bytes() == (samples / "camera.anm").read_bytes()
