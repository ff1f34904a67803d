"""Every panel and dialog draws for every kind of model, with every switch on and off, and names what exists.

The files in `drawn/` have what the panels show of each model, in the order in which it is drawn: texts, icons, rows of
lists, and what is greyed out. A file that is missing is written, and the test fails this time: read it before you keep
it.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import bpy
import pytest

import addon.ui
from tests.blender.test_hud_scene import build, sample_options
from tests.blender.test_ui import game_folder, load
from tests.blender.test_written_motions import as_in_a_window


def armature_with_mesh():
    bpy.ops.mesh.primitive_cube_add()
    mesh = bpy.context.object
    bpy.ops.object.armature_add()
    mesh.parent = bpy.context.object
    mesh.modifiers.new("bones", "ARMATURE").object = bpy.context.object
    mesh.vertex_groups.new(name="Bone").add(range(8), 1.0, "REPLACE")


MADE = {
    "a mesh": bpy.ops.mesh.primitive_cube_add,
    "an armature": bpy.ops.object.armature_add,
    "an armature with a mesh": armature_with_mesh,
}
MODELS = {
    "humanoid.ogf": "import_scene.xray_ogf",
    "weapon_embedded.ogf": "import_scene.xray_ogf",
    "weapon.object": "import_scene.xray_object",
    "camera.anm": "import_scene.xray_anm",
    "level/level.cform": "import_scene.xray_level_geometry",
    "level/level.details": "import_scene.xray_level_geometry",
    "level/level.hom": "import_scene.xray_level_geometry",
    "level/level.som": "import_scene.xray_level_geometry",
    "arma/man.p3d": "import_scene.arma_p3d",
    "descent3/ship.oof": "import_scene.descent3_oof",
}
DRAWN = Path(__file__).with_name("drawn")
PANELS = [kind for kind in addon.ui.CLASSES if issubclass(kind, bpy.types.Panel)]
MENUS = [kind for kind in addon.ui.CLASSES if issubclass(kind, bpy.types.Menu)]
MOST_CONTROLS = 16
"""Buttons, fields and switches in view in the sidebar; lists, their rows, and headers of closed panels not counted."""
LISTS = [kind for kind in addon.ui.CLASSES if issubclass(kind, bpy.types.UIList)]
USUAL = {"enabled": True, "active": True, "alert": False}
SEARCHED = {
    "filter_name": "", "use_filter_invert": False, "use_filter_sort_alpha": False, "bitflag_filter_item": 1 << 30,
}  # fmt: skip
"""What Blender gives a list without a search."""
DIALOGS = [kind for kind in addon.ui.CLASSES if issubclass(kind, bpy.types.Operator) and hasattr(kind, "draw")]


class Options(SimpleNamespace):
    """What a button gives its operator: only options that the operator has."""

    def __setattr__(self, name, value):
        assert hasattr(self, name)
        super().__setattr__(name, value)


class Layout(SimpleNamespace):
    """Takes whatever is drawn into it if properties, operators and their options exist, and keeps it."""

    lists: ClassVar = {}

    def __init__(self, *, is_row_of_list=False):
        super().__init__(kept=[], is_row_of_list=is_row_of_list)

    def column(self, **_):
        self.kept.append(Layout())
        return self.kept[-1]

    row = box = split = grid_flow = column

    def separator(self, **_):
        pass

    def note(self, kind, text=None, icon="NONE", *, translate=True, options=None, **_):
        """Keep what is drawn, with its own text if it has one; quotes are around texts that are not translated."""
        words = (kind, "" if text is None else text if translate else repr(text), "" if icon == "NONE" else icon)
        self.kept.append((" ".join(filter(None, words)), options, dict(vars(options)) if options is not None else {}))

    def label(self, **drawn):
        self.note("label", **drawn)

    def prop(self, owner, name, **drawn):
        assert hasattr(owner, name)
        self.note(f"value {name}", **drawn)

    def prop_search(self, owner, name, where, listed, **drawn):
        assert hasattr(where, listed)
        self.prop(owner, name, **drawn)

    def operator(self, name, **drawn):
        group, function = name.split(".")
        known = getattr(getattr(bpy.ops, group), function).get_rna_type().properties
        options = Options(**{prop.identifier: getattr(prop, "default", None) for prop in known})
        self.note(f"button {name}", options=options, **drawn)
        return options

    def operator_menu_enum(self, name, option, **drawn):
        assert hasattr(self.operator(name, **drawn), option)

    def template_list(self, kind, name, where, listed, owner, index, **_):  # noqa: PLR0917
        """Draw the rows that a list shows without a search."""
        assert hasattr(owner, index)
        rows = self.lists[kind]
        rows.list_id = name
        flags = rows.filter_items(bpy.context, where, listed)[0] if hasattr(rows, "filter_items") else ()
        for number, item in enumerate(getattr(where, listed)):
            if not flags or flags[number]:
                row = Layout(is_row_of_list=True)
                self.kept.append(row)
                row.note(f"{kind} {number}")
                rows.draw_row(row, item, owner, number)

    def menu(self, name, **drawn):
        assert hasattr(bpy.types, name)
        self.note(f"menu {name}", **drawn)

    def controls(self) -> list[str]:
        """What was drawn and can be clicked or typed into, apart from lists."""
        result = []
        for part in self.kept:
            if isinstance(part, Layout):
                result += [] if part.is_row_of_list else part.controls()
            elif not part[0].startswith("label"):
                result.append(part[0])
        return result

    def template_popup_confirm(self, *_, **__):
        pass

    def lines(self) -> Iterator[str]:
        """Yield a line for everything that was drawn, greyed out or not; a button's has the options that are set."""
        unusual = [name for name, value in USUAL.items() if vars(self).get(name, value) != value]
        state = "".join(f"{name} is {not USUAL[name]}: " for name in unusual)
        for part in self.kept:
            if isinstance(part, Layout):
                yield from (f"{state}{line}" for line in part.lines())
            else:
                text, options, defaults = part
                given = [name for name, default in defaults.items() if vars(options)[name] != default]
                yield " ".join([f"{state}{text}", *(f"{name}={vars(options)[name]!r}" for name in given)])


class Window:
    """The context of panels: the sidebar of a 3D View and the tabs of the Properties editor at once."""

    space_data = SimpleNamespace(
        overlay=SimpleNamespace(show_face_orientation=False), type="VIEW_3D", show_pose_markers=True
    )
    edit_bone = None

    @property
    def bone(self):
        data = bpy.context.object.data if bpy.context.object is not None else None
        return data.bones[0] if isinstance(data, bpy.types.Armature) else None

    @property
    def material(self):
        return bpy.context.object.active_material if bpy.context.object is not None else None

    def __getattr__(self, name):
        return getattr(bpy.context, name)


def is_offered(kind, context):
    parent = getattr(bpy.types, getattr(kind, "bl_parent_id", ""), None)
    return (parent is None or is_offered(parent, context)) and (not hasattr(kind, "poll") or kind.poll(context))


def let_super_work(kind, drawn, monkeypatch):
    """Let ``super()`` in the methods of a class of Blender's work in the object that stands for one."""
    for method in vars(kind).values():
        names = getattr(getattr(method, "__code__", None), "co_freevars", ())
        if "__class__" in names:
            monkeypatch.setattr(method.__closure__[names.index("__class__")], "cell_contents", type(drawn))


def as_drawn(kind, fields, monkeypatch):
    """An object with the methods of a panel or list, and what Blender gives it."""
    bases = tuple(base for base in kind.__mro__[1:-1] if not issubclass(base, bpy.types.bpy_struct))
    result = type(kind.__name__, bases, dict(vars(kind)) | fields)()
    let_super_work(kind, result, monkeypatch)
    return result


def options_of(kind):
    """The defaults of a dialog's properties; lists are empty."""
    group, name = kind.bl_idname.split(".")
    known = getattr(getattr(bpy.ops, group), name).get_rna_type().properties
    return {entry.identifier: getattr(entry, "default", []) for entry in known if entry.identifier != "rna_type"}


def motions_in_play(folder, samples):
    load(game_folder(folder, samples))


def first_person_scene(folder, samples):
    shutil.copytree(samples / "configs", folder / "configs")
    (folder / "meshes").mkdir()
    shutil.copytree(samples, folder / "meshes" / "samples")
    created, _ = build(sample_options(folder))
    bpy.context.view_layer.objects.active = created.hands
    created.hands.motionbridge_hud.actions[0].speed = 0.5


def control_rig(folder, samples):
    load(game_folder(folder, samples))
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}


def whole_level(_folder, samples):
    bpy.ops.import_scene.xray_level(directory=str(samples / "level"))
    bpy.context.view_layer.objects.active = next(obj for obj in bpy.data.objects if obj.type == "LIGHT")


def tree_of_a_level(_folder, samples):
    bpy.ops.import_scene.xray_level(directory=str(samples / "level"))
    bpy.context.view_layer.objects.active = next(obj for obj in bpy.data.objects if obj.instance_collection)


def animation(_folder, samples):
    bpy.ops.import_scene.arma_p3d(filepath=str(samples / "arma" / "man.p3d"))
    bpy.ops.import_scene.arma_rtm(filepath=str(samples / "arma" / "walk.rtm"))


SCENES = {
    "humanoid.ogf with motions": motions_in_play,
    "a first-person scene": first_person_scene,
    "a control rig": control_rig,
    "a light of a level": whole_level,
    "a tree of a level": tree_of_a_level,
    "arma/walk.rtm": animation,
}


SITUATIONS = ["nothing", *MADE, *MODELS, *SCENES]


def prepare(name, folder, samples):
    """Make what has this name active."""
    if name in MADE:
        MADE[name]()
    elif name in SCENES:
        SCENES[name](folder, samples)
    elif name in MODELS:
        group, operator = MODELS[name].split(".")
        own = game_folder(folder, samples) if name.endswith(".ogf") else samples
        assert getattr(getattr(bpy.ops, group), operator)(filepath=str(own / name)) == {"FINISHED"}


@pytest.fixture(params=SITUATIONS)
def model(request, tmp_path, samples):
    """The name of what is active."""
    prepare(request.param, tmp_path, samples)
    return request.param


MOST_FIELDS = {"IMPORT": 5, "EXPORT": 6}
"""First part of a dialog's name -> fields that it may have in view, as it opens."""
MOST_FIELDS_OF_OTHERS = 8


def fields_in_view(kind, context, monkeypatch):
    """What can be clicked or typed into in a dialog as it opens; headers of what is folded are no fields."""
    dialog = as_in_a_window(kind)
    with monkeypatch.context() as patch:
        let_super_work(kind, dialog, patch)
        vars(dialog).update(options_of(kind), layout=Layout())
        dialog.draw(context)
    return [control for control in dialog.layout.controls() if not control.endswith(HEADERS)]


def test_every_dialog_has_few_fields_in_view(tmp_path, samples, monkeypatch):
    context, most = Window(), {}
    for kind in LISTS:
        monkeypatch.setitem(Layout.lists, kind.__name__, as_drawn(kind, SEARCHED, monkeypatch))
    for number, name in enumerate(SITUATIONS):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        (tmp_path / str(number)).mkdir()
        prepare(name, tmp_path / str(number), samples)
        for kind in DIALOGS:
            if is_offered(kind, context):
                fields = fields_in_view(kind, context, monkeypatch)
                most[kind.__name__] = max(most.get(kind.__name__, []), fields, key=len)
    for kind in DIALOGS:
        if kind.__name__ not in most:  # none of these situations offers it
            most[kind.__name__] = fields_in_view(kind, context, monkeypatch)
    for kind in addon.ui.CLASSES:
        if issubclass(kind, bpy.types.Operator) and kind not in DIALOGS:  # Blender draws its options
            group, name = kind.bl_idname.split(".")
            known = getattr(getattr(bpy.ops, group), name).get_rna_type().properties
            most[kind.__name__] = [entry.identifier for entry in known if not entry.is_hidden]
    for name, fields in sorted(most.items()):
        assert len(fields) <= MOST_FIELDS.get(name.partition("_")[0], MOST_FIELDS_OF_OTHERS), (name, fields)


HEADERS = ("DOWNARROW_HLT", "RIGHTARROW")
"""Icons of the headers of folded parts of dialogs, which are not fields."""


def in_view(context, monkeypatch):
    """What can be clicked in the sidebar of a viewport before any panel is opened."""
    result = []
    for kind in PANELS:
        parents = [kind, getattr(bpy.types, getattr(kind, "bl_parent_id", ""), kind)]
        closed = any("DEFAULT_CLOSED" in getattr(parent, "bl_options", ()) for parent in parents)
        if kind.bl_space_type == "VIEW_3D" and not closed and is_offered(kind, context):
            layout = Layout()
            as_drawn(kind, {"layout": layout}, monkeypatch).draw(context)
            result += layout.controls()
    return result


def test_whatever_is_active_everything_can_be_drawn(model, monkeypatch):
    context, panels = Window(), {}
    for kind in LISTS:
        monkeypatch.setitem(Layout.lists, kind.__name__, as_drawn(kind, SEARCHED, monkeypatch))
    for kind in PANELS:
        if is_offered(kind, context):
            layout = Layout()
            panel = as_drawn(kind, {"layout": layout}, monkeypatch)
            if hasattr(panel, "draw_header_preset"):
                panel.draw_header_preset(context)
            panel.draw(context)
            panels.setdefault(tuple(layout.lines()), []).append(kind.__name__)
    assert len(in_view(context, monkeypatch)) <= MOST_CONTROLS, in_view(context, monkeypatch)
    for kind in MENUS:
        menu = as_drawn(kind, {"layout": Layout()}, monkeypatch)
        menu.draw(context)
        drawn = menu.layout.lines()
        if any(f"menu {kind.__name__} " in line for lines in panels for line in lines) and not hasattr(menu, "entries"):
            panels.setdefault(tuple(drawn), []).append(kind.__name__)
    for kind in DIALOGS:
        if is_offered(kind, context):
            options = options_of(kind)
            switches = [name for name, value in options.items() if isinstance(value, bool)]
            for switched in ({}, *({name: not options[name]} for name in switches)):
                dialog = as_in_a_window(kind)
                let_super_work(kind, dialog, monkeypatch)
                vars(dialog).update(options, layout=Layout(), **switched)
                dialog.draw(context)
    texts = [line for lines, names in panels.items() for line in ("", ", ".join(names), *lines)][1:]
    listed = DRAWN / f"{re.sub('[ /]', '_', model)}.txt"
    if not listed.exists():
        listed.write_text("\n".join([*texts, ""]), encoding="utf-8")
        pytest.fail(f"{listed} is new")
    assert texts == listed.read_text(encoding="utf-8").splitlines()
