"""First person: bones that change hands, the preview strip, a weapon in the hand of a character, and gizmos.

Gizmos change the values of a config: arrows change positions, rings change angles, dots move points.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty
from mathutils import Matrix

from ...blender.typed import Context, Object
from ...core.errors import WriteError
from ...core.report import Report
from ...games.xray.bones.properties import game_name
from ...games.xray.hud import attachments, placing
from ...games.xray.hud import scene as hud_scene
from ...games.xray.hud.state import active_row, holder_of, item_of
from ..bases import BlenderGizmoGroup, BlenderOperator, ExportHelper, classes_of, iface_, rpt_
from ..files import NamedFile, absolute
from ..layouts import fields
from ..operation import Need, Operation, Outcome
from ..searched_lists import PanelList

HAND = "l_hand"
CHARACTERS_HAND = "bip01_r_hand"
KEEPS = (
    ("FIRST", "First Frame", "The bone is picked up: it starts where its own keys place it on the first frame"),
    ("LAST", "Last Frame", "The bone is put down: it ends where its own keys place it on the last frame"),
)
RENDERERS = (
    ("WORKBENCH", "Workbench", "Fast; needs a graphics card"),
    ("CYCLES", "Cycles", "Slower; needs no graphics card"),
)


def _named(rig: Object, name: str) -> str:
    """Return the bone with this name in the game, "" if there is none."""
    return next((bone.name for bone in rig.data.bones if game_name(bone) == name), "")


ACTIONS = PanelList(
    "MOTIONBRIDGE_UL_hud_actions",
    lambda context: holder_of(context.active_object).motionbridge_hud,
    "actions",
    "active_action",
)


def _has_actions(context: Context) -> bool:
    """Return whether the active object belongs to a scene with actions."""
    holder = holder_of(context.active_object)
    return holder is not None and bool(len(holder.motionbridge_hud.actions))


def _armature_with_actions(context: Context) -> bool:
    active = context.active_object
    return active is not None and active.type == "ARMATURE" and _has_actions(context)


HAS_ACTIONS = (Need("No first-person scene with actions is active", _has_actions), ACTIONS.shown)


class MOTIONBRIDGE_OT_hud_attach(Operation, BlenderOperator):
    """Attach a bone of the weapon or the hands to another bone of the hands on a range of frames, as keys"""

    bl_idname = "motionbridge.hud_attach"
    bl_label = "Attach Bone"
    needs = (
        Need("Select the weapon's or the hands' armature of a first-person scene with actions", _armature_with_actions),
        ACTIONS.shown,
    )

    bone: StringProperty(name="Bone", description="Bone of the active armature that follows; its keys are replaced")
    holder: StringProperty(name="Follows", description="Bone of the hands to follow, such as l_hand")
    first: IntProperty(name="First Frame", description="First frame on which the bone follows")
    last: IntProperty(name="Last Frame", description="Last frame on which the bone follows")
    keeps: EnumProperty(
        name="Keep Position At", description="Frame on which the bone keeps its own position", items=KEEPS
    )

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Open a dialog for the bones and the frames."""
        hands = holder_of(context.active_object)
        posed = context.active_object.data.bones.active
        self.bone = posed.name if posed is not None else ""
        self.holder = _named(hands, HAND)
        self.first, self.last = context.scene.frame_current, context.scene.frame_end
        return context.window_manager.invoke_props_dialog(self, confirm_text=iface_("Attach"))

    def draw(self, context: Context) -> None:
        layout = fields(self.layout)
        active = context.active_object
        layout.prop_search(self, "bone", active.data, "bones")
        layout.prop_search(self, "holder", holder_of(active).data, "bones")
        column = layout.column(align=True)
        column.prop(self, "first")
        column.prop(self, "last")
        layout.prop(self, "keeps")

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The motion that the armature plays."""
        hands = holder_of(context.active_object)
        row = active_row(hands)
        played = (row.hands if context.active_object == hands else row.item) if row is not None else None
        return (played,) if played is not None else ()

    def run(self, context: Context, _report: Report) -> Outcome:
        keeps = attachments.Keeps[self.keeps]
        frames = (self.first, self.last)
        count = attachments.attach(context, context.active_object, self.bone, self.holder, frames=frames, keeps=keeps)
        return Outcome(rpt_("{} follows {}; frames with new keys: {}").format(self.bone, self.holder, count))


class MOTIONBRIDGE_OT_hud_preview(Operation, NamedFile, ExportHelper, BlenderOperator):
    """Render actions through the game's camera into one PNG image, with a row for each action"""

    bl_idname = "motionbridge.hud_preview"
    bl_label = "Render Preview Strip"
    needs = HAS_ACTIONS
    bl_options = {"REGISTER", "INTERNAL"}
    filename_ext = ".png"

    filter_glob: StringProperty(default="*.png", options={"HIDDEN"})
    actions: StringProperty(
        name="Actions", description="Keys of actions separated by commas, * for all; if empty, the active action"
    )
    columns: IntProperty(
        name="Images per Action", description="Number of images for each action", default=6, min=1, max=100
    )
    height: IntProperty(name="Height", description="Height of each image in pixels", default=240, min=16, max=2160)
    renderer: EnumProperty(name="Renderer", description="Render engine for the images", items=RENDERERS)

    def invoke(self, context: Context, event: bpy.types.Event) -> Any:
        """Open the file browser with a file name made from the section."""
        operator: Any = self
        if not operator.filepath:
            section = holder_of(context.active_object).motionbridge_hud.section
            operator.filepath = bpy.path.clean_name(section) + self.filename_ext
        return ExportHelper.invoke(self, context, event)

    def run(self, context: Context, _report: Report) -> Outcome:
        hands = holder_of(context.active_object)
        numbers = hud_scene.chosen_rows(hands, self.actions)
        if not self.filepath:
            raise WriteError("no file is named", remedy="Name the file to write (.png)")
        path = absolute(self.filepath)
        hud_scene.render_strip(
            context,
            hands,
            numbers,
            path,
            columns=self.columns,
            height=self.height,
            renderer=hud_scene.Renderer[self.renderer],
        )
        return Outcome(rpt_("Rendered images of each action: {}, actions: {}").format(self.columns, len(numbers)))


def _top(obj: Object) -> Object:
    """Return the topmost parent, such as the armature of a weapon's mesh."""
    while obj.parent is not None:
        obj = obj.parent
    return obj


def character_and_weapon(context: Context) -> tuple[Any, Any] | None:
    """Return the active armature and the only other selected object; None if the selection is different.

    A selected mesh counts as its topmost parent.
    """
    rig = context.active_object
    if rig is None or rig.type != "ARMATURE":
        return None
    others = {_top(obj) for obj in context.selected_objects} - {_top(rig)}
    return (rig, others.pop()) if len(others) == 1 else None


class MOTIONBRIDGE_OT_attach_weapon(Operation, BlenderOperator):
    """Attach the selected weapon to a bone of the active character: its origin and axes become those of the bone"""

    bl_idname = "motionbridge.attach_weapon"
    bl_label = "Attach Weapon"
    needs = (Need("Select the weapon, then the armature of the character", character_and_weapon),)

    bone: StringProperty(name="Bone", description="Bone of the character; if empty, bip01_r_hand", default="")

    def draw(self, context: Context) -> None:
        """Draw the bone, which can be changed after the operator has run."""
        fields(self.layout).prop_search(self, "bone", context.active_object.data, "bones")

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        pair = character_and_weapon(context)
        return pair[1:] if pair is not None else ()

    def run(self, context: Context, _report: Report) -> Outcome:
        pair = character_and_weapon(context)
        if pair is None:
            raise WriteError("no weapon is selected", remedy="Select the weapon, then the armature of the character")
        rig, weapon = pair
        chosen = rig.data.bones.get(self.bone)
        name = game_name(chosen) if chosen is not None else self.bone or CHARACTERS_HAND
        placing.parent_to_bone(weapon, rig, name)
        weapon.matrix_basis.identity()
        return Outcome(rpt_("Attached {} to {}").format(weapon.name, name))


# Gizmos ---------------------------------------------------------------------------------------------------------------

DRAG = "GIZMOGROUP_OT_gizmo_tweak"
"""Name of Blender's operator that runs while a gizmo is dragged."""
POINTS = 3
POINT_COLOR = (1.0, 0.55, 0.1)
_AXES = (Matrix.Rotation(1.5707963267948966, 4, "Y"), Matrix.Rotation(-1.5707963267948966, 4, "X"), Matrix.Identity(4))
"""Rotations from the z axis, along which a gizmo points, to the x, y and z axes."""


def _dragged() -> bool:
    manager: Any = bpy.context.window_manager
    return any(
        modal_operator.bl_idname == DRAG for window in manager.windows for modal_operator in window.modal_operators
    )


def _push_undo() -> float | None:
    """Add one undo step when the mouse button is released; Blender adds none for gizmos of extensions."""
    if _dragged():
        return 0.05
    bpy.ops.ed.undo_push(message="Move in First Person")
    return None


def _changed() -> None:
    if not bpy.app.timers.is_registered(_push_undo):
        bpy.app.timers.register(_push_undo, first_interval=0.05)


def _part() -> "placing.Part | None":
    return placing.part_of(bpy.context.active_object)


def _points() -> "list[placing.Part]":
    """Return the points of the active weapon."""
    active = bpy.context.active_object
    part = placing.part_of(active)
    hands = holder_of(active)
    if part is None or hands is None or part.order == placing.POINT:
        return []
    weapon = hands if hands.motionbridge_hud.one_model else item_of(hands)
    points = (
        shown_part
        for shown_part in placing.shown_parts(hands)
        if shown_part.order == placing.POINT and shown_part.obj is not None
    )
    return list(points) if part.obj == weapon else []


def _transform_value(channel: str, axis: int) -> tuple[Callable[[], float], Callable[[float], None]]:
    """Return getter and setter of an arrow or a ring: one number of the active part's location or rotation."""

    def get() -> float:
        part = _part()
        return getattr(part.obj, channel)[axis] if part is not None else 0.0

    def put(value: float) -> None:
        part = _part()
        if part is not None:
            getattr(part.obj, channel)[axis] = value
            _changed()

    return get, put


def _point_location(number: int) -> tuple[Callable[[], Sequence[float]], Callable[[Sequence[float]], None]]:
    """Return getter and setter of a dot: the location of a point."""

    def get() -> Sequence[float]:
        points = _points()
        return tuple(points[number].obj.location) if number < len(points) else (0.0, 0.0, 0.0)

    def put(value: Sequence[float]) -> None:
        points = _points()
        if number < len(points):
            points[number].obj.location = value
            _changed()

    return get, put


class MOTIONBRIDGE_GGT_hud(BlenderGizmoGroup):
    """Arrows and rings of the active hands, weapon or point; each changes one number of the config."""

    bl_label = "First Person"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The active object has values in a config, Object Mode is active and gizmos are switched on."""
        if context.mode != "OBJECT":
            return False
        hands = holder_of(context.active_object)
        return (
            hands is not None and hands.motionbridge_hud.gizmos and placing.part_of(context.active_object) is not None
        )

    def setup(self, context: Context) -> None:
        """Create all gizmos; `draw_prepare` hides unused ones."""
        theme = context.preferences.themes[0].user_interface
        colors = [tuple(getattr(theme, f"axis_{axis}")) for axis in "xyz"]
        for axis, color in enumerate(colors):
            arrow = self._new("GIZMO_GT_arrow_3d", color, _transform_value("location", axis))
            arrow.draw_style = "NORMAL"
        for axis, color in enumerate(colors):
            ring = self._new("GIZMO_GT_dial_3d", color, _transform_value("rotation_euler", axis))
            ring.draw_options = {"CLIP"}
            ring.scale_basis = 0.75
        for number in range(POINTS):
            dot = self._new("GIZMO_GT_move_3d", POINT_COLOR, _point_location(number))
            dot.draw_style, dot.draw_options, dot.scale_basis = "RING_2D", {"FILL", "ALIGN_VIEW"}, 0.08

    def _new(self, kind: str, color: Sequence[float], handlers: tuple[Any, Any]) -> Any:
        gizmo = self.gizmos.new(kind)
        gizmo.target_set_handler("offset", get=handlers[0], set=handlers[1])
        gizmo.color, gizmo.alpha = color[:3], 0.8
        gizmo.color_highlight, gizmo.alpha_highlight = color[:3], 1.0
        gizmo.line_width, gizmo.use_draw_modal = 2.5, True
        return gizmo

    def draw_prepare(self, _context: Context) -> None:
        """Move the gizmos to the weapon: the origin of the hands is at the eye, outside the picture."""
        gizmos = list(self.gizmos)
        part, points = _part(), _points()
        for gizmo in gizmos:
            gizmo.hide = True
        if part is None:
            return
        above = part.obj.matrix_world @ part.obj.matrix_basis.inverted()
        there = placing.handle_of(part.obj)
        turned = [(above.to_3x3() @ axis).normalized() for axis in placing.rotation_axes(part)]
        for axis in range(3):
            straight = above.to_3x3().normalized() @ Matrix.Identity(3)[axis]
            arrow = gizmos[axis]
            base = there - straight * part.obj.location[axis]  # an arrow is drawn at base + value
            arrow.matrix_basis = Matrix.Translation(base) @ above.to_quaternion().to_matrix().to_4x4() @ _AXES[axis]
            arrow.hide = False
            ring = gizmos[3 + axis]
            if part.order != placing.POINT:
                backwards = (-turned[axis]).to_track_quat(
                    "Z", "Y"
                )  # a ring counts angles in the opposite direction about its z axis
                ring.matrix_basis = Matrix.Translation(there) @ backwards.to_matrix().to_4x4()
                ring.hide = False
        for dot, point in zip(gizmos[6:], points, strict=False):
            dot.matrix_space = point.obj.matrix_world @ point.obj.matrix_basis.inverted()
            dot.hide = False


CLASSES = classes_of(__name__)
