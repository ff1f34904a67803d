"""Proxies of an Arma model: aligned to the active face of their LOD, copied and moved to other LODs."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty

from ...blender.typed import Context, Object
from ...core.errors import WriteError
from ...core.report import Report
from ...games.arma import lod_list, proxies
from ..bases import BlenderOperator, classes_of, iface_, kept_text, rpt_
from ..layouts import fields
from ..operation import Need, Operation, Outcome
from ..target import active_object

if TYPE_CHECKING:
    from ...games.arma.lod_list import SceneLod

AXES = (
    ("UP", "Stand on Face", "The proxy's up (Z) is the normal of the face"),
    ("FORWARD", "Face Outwards", "The proxy's forward (Y) is the normal of the face"),
)
MOST_LODS = 31
"""Most LODs that a dialog offers: an enumeration has 32 bits."""


def _is_proxy(obj: Any) -> bool:
    return obj is not None and obj.motionbridge_arma_mark.kind == "PROXY"


def _chosen(context: Context) -> list[Any]:
    """Return the active and the selected proxies of the active model, or all of the active LOD if a mesh is active."""
    lods, active = lod_list.lods_of(context), active_object(context)
    index = lod_list.index_of(lods, active)
    if active is None or index < 0:
        return []
    if lods[index].is_mesh and active is lods[index].obj:
        return [part for part in lods[index].others if _is_proxy(part)]
    of_model = {part for lod in lods for part in lod.others}
    return [
        obj
        for obj in context.view_layer.objects
        if (obj.select_get() or obj is active) and obj in of_model and _is_proxy(obj)
    ]


def _active_proxy(context: Context) -> Any:
    active = active_object(context)
    return active if _is_proxy(active) else None


class MOTIONBRIDGE_OT_arma_proxy_align(Operation, BlenderOperator):
    """Move the active and the selected proxies to the active face of their LOD, and turn them to it"""

    bl_idname = "motionbridge.arma_proxy_align"
    bl_label = "Align to Face"
    needs = (Need("No proxy is active", _active_proxy),)

    axis: EnumProperty(name="Align", description="Which axis of the proxy is the normal of the face", items=AXES)

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        return _chosen(context)

    def run(self, context: Context, _report: Report) -> Outcome:
        lods = lod_list.lods_of(context)
        moved: list[Object] = _chosen(context)
        frames = [proxies.active_frame(lods[lod_list.index_of(lods, proxy)].obj, self.axis) for proxy in moved]
        for proxy, frame in zip(moved, frames, strict=True):
            proxies.place(proxy, frame)
        return Outcome(rpt_("Aligned proxies: {}").format(len(moved)))


def _lods(_operator: Any, context: Context | None) -> list[tuple[str, str, str, int]]:
    """Return the mesh LODs of the active model, without the active one."""
    lods = lod_list.lods_of(context) if context is not None else []
    index = lod_list.index_of(lods, active_object(context)) if context is not None else -1
    others = [lod.name for number, lod in enumerate(lods) if lod.is_mesh and number != index][:MOST_LODS]
    return [(kept_text(name), kept_text(name), "", 1 << number) for number, name in enumerate(others)]


class MOTIONBRIDGE_OT_arma_proxies_copy(Operation, BlenderOperator):
    """Copy or move the selected proxies, or all of the active LOD, to other LODs of the model"""

    bl_idname = "motionbridge.arma_proxies_copy"
    bl_label = "Copy Proxies to LODs"
    needs = (Need("No proxy is selected, and the active LOD has none", _chosen),)

    lods: EnumProperty(
        name="LODs",
        description="LODs that get the proxies; Shift-click chooses several",
        items=_lods,
        options={"ENUM_FLAG", "SKIP_SAVE"},
    )
    move: BoolProperty(name="Move", description="Remove the proxies from their own LODs", options={"SKIP_SAVE"})

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        return _chosen(context) if self.move else ()

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        return context.window_manager.invoke_props_dialog(self, width=360)

    def draw(self, context: Context) -> None:
        layout = self.layout
        text = iface_("Proxies: {}").format(len(_chosen(context)))
        layout.label(text=text, icon="EMPTY_ARROWS", translate=False)
        layout.column(align=True).prop(self, "lods")
        fields(layout).prop(self, "move")

    def run(self, context: Context, _report: Report) -> Outcome:
        chosen = _chosen(context)
        targets: list[SceneLod] = [lod for lod in lod_list.lods_of(context) if lod.is_mesh and lod.name in self.lods]
        if not targets:
            raise WriteError("no LOD is chosen", remedy="Choose the LODs that get the proxies")
        layer = context.view_layer
        below = layer.objects.active.parent
        count = proxies.copy_to(chosen, targets)
        if self.move:
            is_active = layer.objects.active in chosen
            for proxy in chosen:
                bpy.data.objects.remove(proxy)
            if is_active:
                layer.objects.active = below if below is not None else targets[0].obj
        names = ", ".join(lod.name for lod in targets)
        text = rpt_("Moved proxies to {}: {}") if self.move else rpt_("Copied proxies to {}: {}")
        return Outcome(text.format(names, count))


CLASSES = classes_of(__name__)
