"""Save Back of a first-person scene: motions of hands and weapon and lines of configs, in one dialog."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty

from ..blender import scope
from ..core.report import Report
from ..games import plan as plans
from ..games.xray.hud import pairs, saving
from ..games.xray.motions import exporting as motion_export
from ..games.xray.motions import library, omf_codec, omf_host
from .bases import BlenderOperator
from .hidden_keys import hides_keys
from .save_back import SaveBackOntoEither, change_text
from .translations import shown
from .xray.motion_choices import ExportChoices, rest_is_edited, worst_error_text

if TYPE_CHECKING:
    from ..games.plan import FilePlan

INHERITED = (
    ("SECTION", "Section", "A new line in the weapon's own section"),
    ("PARENT", "Parent Section", "The line of the parent, which every section that inherits it shares"),
    ("MOD", "Mod File (DLTX)", "All changed lines go into a file mod_system_*.ltx; the game's files stay as they are"),
)


class MOTIONBRIDGE_OT_hud_save_back(SaveBackOntoEither, ExportChoices, BlenderOperator):
    """Write the motions of hands and weapon and the changed config lines to their files, after one preview of all"""

    bl_idname = "motionbridge.hud_save_back"
    bl_label = "Save HUD Back"
    bl_options = {"REGISTER", "UNDO"}

    inherited: EnumProperty(
        name="Inherited Values",
        description="Where a changed value is written that the section inherits from another one",
        items=INHERITED,
        default="SECTION",
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There are motion files or configs to write."""
        cls.poll_message_set("No first-person scene is active")
        hands = _hands(context)
        if hands is None:
            return False
        cls.poll_message_set("The scene has neither motion files nor configs")
        return saving.has_configs(hands) or any(_files_of(hands))

    def path(self, context: bpy.types.Context) -> str:
        """That of the first file, which the dialog begins with."""
        hands = _hands(context)
        first = next((file.path for _, file in _files_of(hands)), "")
        return str(first or hands.motionbridge_hud.folders)

    def edited(self, context: bpy.types.Context) -> Iterable[Any]:
        """Both armatures and all motions: what was saved counts as unedited afterwards."""
        found = list(_files_of(_hands(context)))
        rigs = dict.fromkeys(rig for rig, _ in found)
        return (*rigs, *(action for _, file in found for action in library.motions_of(file)))

    def planned(self, context: bpy.types.Context, report: Report) -> "FilePlan":
        """Every file together; those in which nothing changes are left out."""
        hands = _hands(context)
        found = list(_files_of(hands))
        made: list[FilePlan] = []
        before = 0
        with scope.progress(context, sum(len(library.motions_of(file)) for _, file in found)) as step:
            for rig, file in found:
                plan = motion_export.plan_save_back(
                    omf_codec.OMF,
                    context,
                    rig,
                    file,
                    options=self.motion_options(),
                    if_changed=plans.OtherBase[self.if_changed],
                    report=report,
                    progress=_from(before, step),
                    samples=self._samples_of(rig),
                )
                before += len(library.motions_of(file))
                made.append(plan)
        made += saving.plan_configs(hands, saving.Inherited[self.inherited], report)
        return plans.Together(self.path(context), [one for one in made if not one.is_saved()])

    def put(self, context: bpy.types.Context, plan: Any, *, backup: bool) -> None:
        """Write one file after the other, and remember each: a later one may be refused."""
        hands = _hands(context)
        for one in plan.plans:
            one.write(backup=backup)
            if not isinstance(one, omf_host.MotionPlan):
                saving.settle(hands)
                continue
            for rig, file in _files_of(hands):
                if bpy.path.abspath(file.path) == one.path:
                    self.restore_hidden_keys(rig, library.motions_of(file))
                    omf_codec.OMF.settle(one, rig, file, options=self.motion_options())

    def _samples_of(self, rig: Any) -> Any:
        """What was sampled of one armature while the dialog is open."""
        return None if self._samples is None else self._samples.setdefault(rig.name, {})

    def _key(self, context: bpy.types.Context) -> Any:
        hands = _hands(context)
        digests = tuple(plans.digest_on_disk(bpy.path.abspath(file.path)) for _, file in _files_of(hands))
        return super()._key(context), digests

    def questions(self, context: bpy.types.Context) -> dict[str, bool]:
        """What to start from, the edited rest pose, hidden keys, values of other sections."""
        hands = _hands(context)
        found = list(_files_of(hands))
        rigs = [hands, *filter(None, [hands.motionbridge_hud.item])]
        return {
            "if_changed": any(
                plans.digest_on_disk(bpy.path.abspath(file.path)) not in {None, file.sha256} for _, file in found
            ),
            "rest_change": any(rest_is_edited(rig, "motionbridge_motion_files") for rig in rigs),
            "hidden_keys": any(map(hides_keys, rigs)),
            "inherited": saving.has_configs(hands) and bool(saving.wanted(hands)),
        }

    def draw_options(self, _context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
        """How motions are written."""
        layout.prop(self, "width")
        layout.prop(self, "rename")

    def title(self) -> str:
        """Says what "Back" is about."""
        return shown("Save HUD Scene Back")

    def details(self, plan: Any) -> list[str]:
        """What changes in each file."""
        return list(_details(plan.plans))

    def notes(self, plan: Any) -> list[str]:
        """What rounding does."""
        texts = [worst_error_text(one) for one in plan.plans if isinstance(one, omf_host.MotionPlan)]
        return [text for text in texts if text]

    def sentence(self, plan: Any) -> str:
        """Each file with what was written."""
        return str(plan.sentence())


def _hands(context: Any) -> Any:
    """Those of the active object's scene, in the context of work in steps too; or None."""
    return pairs.holder_of(context.view_layer.objects.active)


def _from(before: int, step: Callable[[int], None]) -> Callable[[int], None]:
    """Progress of one file among others; ``before`` motions are done."""
    return lambda count: step(before + count)


def _files_of(hands: Any) -> Iterator[tuple[Any, Any]]:
    """Armature and motion file, those of the hands first."""
    for rig in filter(None, [hands, hands.motionbridge_hud.item]):
        for file in rig.motionbridge_motion_files:
            yield rig, file


def _details(found: Iterable[Any]) -> Iterator[str]:
    for plan in found:
        if isinstance(plan, omf_host.MotionPlan):
            yield from map(change_text, plan.changes.parts)
            yield from (f"{old} > {new}" for old, new in plan.renamed)
            yield from (shown("{} will be removed").format(name) for name in plan.deleted)
        else:
            yield from plan.changes.lines


CLASSES = (MOTIONBRIDGE_OT_hud_save_back,)
