"""What the Level panel and the dialogs of a level's operators show."""

from types import SimpleNamespace

import bpy
import pytest

from addon.games.xray.options import Split
from addon.ui.xray import levels
from tests.blender.test_levels import SQUARE, drawn, imported


class Layout:
    """Keeps what is drawn into it: texts, names of operators, names of properties with whether they can be set."""

    def __init__(self, kept=None, *, enabled=True):
        self.kept = [] if kept is None else kept
        self.enabled = enabled

    def column(self, **_):
        return Layout(self.kept, enabled=self.enabled)

    row = box = column

    def label(self, text="", **_):
        self.kept.append(text)

    def prop(self, _owner, name, *_where, **_):
        self.kept.append((name, self.enabled))

    prop_search = prop_enum = prop

    def operator(self, name, text="", **_):
        self.kept.append(text or name)
        return SimpleNamespace()

    def template_popup_confirm(self, name, text="", cancel_text=""):
        self.kept.append((name, text, cancel_text))

    def template_list(self, *_, **__):
        self.kept.append("list")

    def operator_menu_enum(self, name, _property, **_):
        self.kept.append(name)


def panel_says(active):
    view = SimpleNamespace(overlay=SimpleNamespace(show_face_orientation=False))
    context = SimpleNamespace(active_object=active, space_data=view, scene=bpy.context.scene)
    assert levels.MOTIONBRIDGE_PT_level.poll(context)
    panel = type("Panel", (), dict(vars(levels.MOTIONBRIDGE_PT_level)) | {"layout": Layout()})()
    panel.draw(context)
    return [entry for entry in panel.layout.kept if isinstance(entry, str)]


def test_without_a_mesh_there_is_no_panel():
    for active in (None, bpy.data.objects.new("empty", None)):
        assert not levels.MOTIONBRIDGE_PT_level.poll(SimpleNamespace(active_object=active))


def test_a_mesh_that_is_of_no_level_has_no_panel():
    wall = drawn("wall", SQUARE, [(0, 1, 2, 3)], "NONE")
    assert not levels.MOTIONBRIDGE_PT_level.poll(SimpleNamespace(active_object=wall))


def test_sound_occluders_have_a_legend_and_buttons_for_their_faces(samples):
    model, _ = imported(samples / "level" / "level.som")
    message = panel_says(model.holder)
    assert message[0] == "Sound Occluders"
    assert {"lets 0% of sound through", "lets 5% of sound through", "lets 60% of sound through"} & set(message)
    assert message.index("Selected faces:") < message.index("One-Sided") < message.index("Sound that passes through:")
    assert message[-3:] == ["motionbridge.level_check", "motionbridge.level_save_back", "Export"]


def test_the_more_sound_a_face_lets_through_the_greener_it_is_and_all_are_opaque(samples):
    model, _ = imported(samples / "level" / "level.som")
    colours = {used.name: tuple(used.diffuse_color) for used in model.holder.data.materials}
    shares = ("0% of sound through, one-sided", "5% of sound through", "60% of sound through")
    silent, quiet, loud = (colours[f"lets {share}"] for share in shares)
    assert silent[1] < quiet[1] < loud[1]
    assert silent[0] == quiet[0] > loud[0]
    assert [colour[3] for colour in colours.values()] == [1] * len(colours)


def test_collision_in_parts_has_one_legend_on_the_parts_and_above_them(samples):
    model, _ = imported(samples / "level" / "level.cform", split=Split.SECTOR)
    names = ["materials\\earth", "materials\\bricks", "objects\\tin_roof", "objects\\grille"]
    assert set(names) <= set(panel_says(model.holder))
    for part in model.meshes:
        message = panel_says(part)
        assert set(message) & set(names) == {used.name for used in part.data.materials}
        assert "motionbridge.level_collision" in message


def test_errors_say_how_to_go_there_and_cannot_be_exported(samples):
    message = panel_says(imported(samples / "level" / "level.err")[0].holder)
    assert message[:2] == ["Level Errors", "The findings are selected:"]
    assert "Export" not in message
    assert "Only for viewing, not exported" in message
    assert "Only for viewing, not exported" not in panel_says(imported(samples / "level" / "level.hom")[0].holder)


class Dialog:
    """The export's dialog as the file browser has it: its properties, and what it draws."""

    def __init__(self):
        kind = levels.EXPORT_SCENE_OT_xray_level_geometry
        self.filepath, self.collection, self._previews = "", "", None
        self.backup, self.modifiers, self.anew = True, False, False
        self.layout, self.types, self.checked, self.is_costly = Layout(), kind.types, kind.checked, kind.is_costly
        for name in ("suggest", "check", "draw", "draw_last", "preview", "previewed", "preview_key"):
            setattr(self, name, getattr(kind, name).__get__(self))
        for name in ("written", "can_write", "warn_of_left_out"):
            setattr(self, name, getattr(kind, name).__get__(self))
        self.suggest(bpy.context)
        self.check(bpy.context)

    def says(self):
        self.check(bpy.context)
        self.layout = Layout()
        self.draw(bpy.context)
        message = [entry for entry in self.layout.kept if isinstance(entry, str)]
        return " ".join(message[message.index("Check first:") + 1 :]) if "Check first:" in message else ""


def test_what_the_game_would_reject_is_reported_before_it_is_written():
    actual = drawn("thin", [*SQUARE, (0, 0.0001, 0)], [(0, 1, 2), (0, 1, 4)], "HOM")
    bpy.context.view_layer.objects.active = actual
    dialog = Dialog()
    assert dialog.filepath == "thin.hom"
    assert dialog.says() == "1 of 2 faces has an area below 0.001 m²"


def test_what_the_export_leaves_out_is_reported_before_it_is_written(samples):
    model, _ = imported(samples / "level" / "level.hom")
    bpy.context.view_layer.objects.active = model.holder
    assert Dialog().says() == "2 of 12 faces have an area below 0.001 m²"
    copy = model.holder.copy()
    bpy.context.scene.collection.objects.link(copy)
    model.holder.modifiers.new("bent", "SIMPLE_DEFORM")
    dialog = Dialog()
    message = dialog.says()
    assert "not written; join them to it (Ctrl J): 'level.hom.001'" in message
    assert "modifiers are not applied (bent)" in message
    dialog.modifiers = True
    assert "modifiers are not applied" not in dialog.says()
    model.holder.data.clear_geometry()
    assert "'level.hom': it has no faces" in Dialog().says()


def test_what_is_only_for_viewing_is_refused_before_the_file_is_named(samples, tmp_path):
    imported(samples / "level" / "level.hom")
    model, _ = imported(samples / "level" / "level.ai")
    bpy.context.view_layer.objects.active = model.holder
    refusal = "'level.ai' is only for viewing: files of its kind are not written"
    dialog = Dialog()
    dialog.draw(bpy.context)
    assert refusal in " ".join(entry for entry in dialog.layout.kept if isinstance(entry, str))
    with pytest.raises(RuntimeError, match=refusal):
        bpy.ops.export_scene.xray_level_geometry(filepath=str(tmp_path / "level.hom"))


def test_the_panel_says_what_the_last_check_found():
    wall = drawn("wall", SQUARE, [(0, 1, 2, 3)], "HOM")
    bpy.context.view_layer.objects.active = wall
    assert not any(panel_say.startswith("Last check") for panel_say in panel_says(wall))
    assert bpy.ops.motionbridge.level_check() == {"FINISHED"}
    assert "Last check: no findings" in panel_says(wall)
    thin = drawn("thin", [*SQUARE, (0, 0.0001, 0)], [(0, 1, 2), (0, 1, 4)], "HOM")
    bpy.context.view_layer.objects.active = thin
    assert bpy.ops.motionbridge.level_check() == {"FINISHED"}
    assert "Last check: 1 finding" in panel_says(thin)


def test_boxes_say_that_they_are_no_more(samples, tmp_path):
    (tmp_path / "level").write_bytes((samples / "level" / "level").read_bytes())
    words = "Only boxes: level.geom is missing"
    for folder, boxes in ((tmp_path, True), (samples / "level", False)):
        assert bpy.ops.import_scene.xray_level(directory=str(folder)) == {"FINISHED"}
        assert (words in panel_says(bpy.context.view_layer.objects.active)) == boxes
