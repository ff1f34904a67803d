"""The motions inside a model of the editor (`.object`) that is written as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import bpy

from ....blender import scope
from ....core.changes import Changes
from ....core.report import Report
from ....formats.xray import object as editor_model
from ....formats.xray import skl
from ...plan import FilePlan
from ..motions import exporting as motion_export
from ..motions.library import motions_of
from ..motions.skl_codec import SKL, SklHost
from ..options import SkeletalExportOptions

if TYPE_CHECKING:
    from ....blender.typed import Action, Context, Object
    from ..motions.properties import SkeletalFile


@dataclass
class ModelPlan(FilePlan):
    """A model that could be written, with its ``motions`` if they are other ones than those remembered."""

    motions: skl.Skl | None = None
    written: list[tuple[Any, str]] = field(default_factory=list)
    """The actions of the motions, each with the name its motion has in the file."""


def file_inside(holder: Object) -> SkeletalFile | None:
    """What ``holder`` keeps of the motions inside its own model; None if there are no actions of them."""
    path = bpy.path.abspath(holder.motionbridge_editor_model.path)
    found = (
        file
        for file in holder.motionbridge_skeletal_files
        if file.embedded and bpy.path.abspath(file.path) == path and motions_of(file)
    )
    return next(found, None)


def with_motions(
    context: Context,
    rig: Object,
    chosen: Sequence[Action],
    document: editor_model.Object,
    path: str,
    *,
    options: SkeletalExportOptions,
    report: Report,
    file: SkeletalFile | None = None,
    samples: dict[Any, Any] | None = None,
) -> ModelPlan:
    """``document`` for the file at ``path``, with the actions ``chosen`` in the place of its motions of their names.

    ``file``: what ``rig`` keeps of the motions that the document has; None of a new model. The changes are those of the
    motions alone. Raises `WriteError`.
    """
    held = document.model.first(skl.Skl) or skl.new_skls([])
    host = SklHost(rig, held, file, on_disk=True, model=document)
    with scope.object_mode(context):
        plan = motion_export.plan_onto(
            SKL, context, rig, chosen, path, host=host, options=options, report=report, samples=samples
        )
    changes = Changes(parts=plan.changes.parts)
    return ModelPlan(path, plan.data, changes, plan.document if changes else None, plan.written)
