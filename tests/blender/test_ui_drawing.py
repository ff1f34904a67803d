"""Every panel and dialog draws for every kind of model, with every switch on and off, and names what exists."""

from types import SimpleNamespace

import bpy
import pytest

import addon.ui
from tests.blender.test_ui import game_folder
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
    "level/level.hom": "import_scene.xray_level_geometry",
    "arma/man.p3d": "import_scene.arma_p3d",
    "descent3/ship.oof": "import_scene.descent3_oof",
}
PANELS = [kind for kind in addon.ui.CLASSES if issubclass(kind, bpy.types.Panel)]
DIALOGS = [kind for kind in addon.ui.CLASSES if issubclass(kind, bpy.types.Operator) and hasattr(kind, "draw")]


class Options(SimpleNamespace):
    """What a button gives its operator: only options that the operator has."""

    def __setattr__(self, name, value):
        assert hasattr(self, name)
        super().__setattr__(name, value)


class Layout(SimpleNamespace):
    """Takes whatever is drawn into it if properties, operators and their options exist."""

    def column(self, **_):
        return Layout()

    row = box = split = grid_flow = column

    def label(self, **_):
        pass

    separator = label

    def prop(self, owner, name, *_, **__):
        assert hasattr(owner, name)

    def prop_search(self, owner, name, where, listed, **_):
        assert hasattr(owner, name)
        assert hasattr(where, listed)

    def operator(self, name, **_):
        group, function = name.split(".")
        known = getattr(getattr(bpy.ops, group), function).get_rna_type().properties
        return Options(**{prop.identifier: getattr(prop, "default", None) for prop in known})

    def operator_menu_enum(self, name, option, **_):
        assert hasattr(self.operator(name), option)

    def template_list(self, _kind, _name, where, listed, owner, index, **_):
        assert hasattr(where, listed)
        assert hasattr(owner, index)

    def menu(self, name, **_):
        assert hasattr(bpy.types, name)

    def template_popup_confirm(self, *_, **__):
        pass


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


def options_of(kind):
    """The defaults of a dialog's properties; lists are empty."""
    group, name = kind.bl_idname.split(".")
    known = getattr(getattr(bpy.ops, group), name).get_rna_type().properties
    return {one.identifier: getattr(one, "default", []) for one in known if one.identifier != "rna_type"}


@pytest.mark.parametrize("model", ["nothing", *MADE, *MODELS])
def test_whatever_is_active_everything_can_be_drawn(tmp_path, samples, monkeypatch, model):
    if model in MADE:
        MADE[model]()
    elif model in MODELS:
        group, name = MODELS[model].split(".")
        file = samples / model
        if model.endswith(".ogf"):
            file = game_folder(tmp_path, samples) / model
        assert getattr(getattr(bpy.ops, group), name)(filepath=str(file)) == {"FINISHED"}
    context = Window()
    for kind in PANELS:
        if is_offered(kind, context):
            bases = tuple(base for base in kind.__mro__[1:-1] if not issubclass(base, bpy.types.bpy_struct))
            panel = type("Panel", bases, dict(vars(kind)) | {"layout": Layout()})()
            let_super_work(kind, panel, monkeypatch)
            panel.draw(context)
    for kind in DIALOGS:
        if is_offered(kind, context):
            options = options_of(kind)
            switches = [name for name, value in options.items() if isinstance(value, bool)]
            for switched in ({}, *({name: not options[name]} for name in switches)):
                dialog = as_in_a_window(kind)
                let_super_work(kind, dialog, monkeypatch)
                vars(dialog).update(options, layout=Layout(), **switched)
                dialog.draw(context)
