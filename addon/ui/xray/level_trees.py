"""Editing the parts of a level's tree, which all trees of its kind show."""

from typing import Any

from ...blender import scope
from ...blender.typed import Context, Object
from ...core.report import Report, say
from ...games.xray.levels import tree_sets
from ..bases import CALL, BlenderOperator, classes_of, rpt_, tell
from ..operation import Need, Operation, Outcome, stores_nothing
from ..target import on_active


def _is_tree(active: Object | None) -> bool:
    return tree_sets.is_tree(active)


def _local_view(context: Context, wanted: bool) -> None:
    """Enter or leave the local view of the 3D view that the operator was called in, if any."""
    space = context.space_data
    if context.area is None or space is None or space.type != "VIEW_3D" or bool(space.local_view) == wanted:
        return
    if wanted or CALL.view3d.localview.poll():
        CALL.view3d.localview()


class MOTIONBRIDGE_OT_tree_edit(Operation, BlenderOperator):
    """Show only the parts of the active tree, to edit them for every tree that has these parts"""

    bl_idname = "motionbridge.tree_edit"
    bl_label = "Edit Tree"
    needs = (Need("The active object is not a tree of a level", on_active(_is_tree)),)
    edited = stores_nothing

    def run(self, context: Context, _report: Report) -> Outcome:
        tree = context.active_object
        with scope.leaving_edit_mode(context):
            count = tree_sets.begin_editing(context.scene, tree)
        parts = list(tree_sets.parts_of(tree.motionbridge_level.parts).values())
        _local_view(context, wanted=False)
        scope.make_current(context, parts, next(iter(parts), None))
        _local_view(context, wanted=True)
        return Outcome(tell(say("Editing the parts of {}: {:# tree changes|# trees change}", tree.name, count), rpt_))


class MOTIONBRIDGE_OT_tree_edit_end(Operation, BlenderOperator):
    """Show the level again, with every tree as its parts were edited"""

    bl_idname = "motionbridge.tree_edit_end"
    bl_label = "Finish Editing Tree"
    needs = (Need("No tree is being edited", lambda context: tree_sets.edited_sets(context.scene)),)
    edited = stores_nothing

    def run(self, context: Context, _report: Report) -> Outcome:
        with scope.leaving_edit_mode(context):
            _local_view(context, wanted=False)
            tree = tree_sets.end_editing(context.scene)
        trees = [tree] if tree is not None and tree in set(scope.objects_of(context.view_layer)) else []
        scope.make_current(context, trees, next(iter(trees), None))
        return Outcome(rpt_("Finished editing the tree"))


def draw_tree(layout: Any, context: Context) -> None:
    """Draw the button that edits the parts of the active tree; for that tree and its parts, the one that ends that."""
    active: Any = context.active_object
    edited = next(iter(tree_sets.edited_sets(context.scene)), None)
    if edited is not None and edited in (active.motionbridge_level.parts, *active.users_collection):
        text = tell(say("{:# tree changes|# trees change}", edited.motionbridge_level.tree_count))
        layout.label(text=text, icon="INFO", translate=False)
        layout.operator("motionbridge.tree_edit_end", icon="LOOP_BACK")
    elif tree_sets.is_tree(active):
        layout.operator("motionbridge.tree_edit", icon="EDITMODE_HLT")


CLASSES = classes_of(__name__)
