"""Every property that the extension stores is written or refused, or it is said here why an export does without it.

After the import of a sample each value of the extension's own properties is changed, one after the other; then the
sample is exported to another file, and what Save Back would write is planned.
"""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import bpy
import pytest

from addon.core import files
from addon.core.errors import MotionbridgeError
from addon.games.xray.motions import library, list_edits
from addon.ui.arma import models as arma_models
from addon.ui.xray import hud, motion_files, skeletal
from tests.blender.property_walk import Value, changes, declared, values
from tests.blender.saved_formats import FORMATS, Format, importer
from tests.blender.scenes import reopen
from tests.blender.test_hud_scene import build, sample_options
from tests.blender.test_p3d_export import cube
from tests.blender.test_save_back import dialog_of
from tests.blender.test_skl_motions import CURVED, made_motion, written
from tests.blender.test_written_motions import as_in_a_window

Route = Callable[[], Any]
Make = Callable[[Path, Path], list[Route]]


class Case(NamedTuple):
    """A sample; the properties that exports of its kind read: classes, or properties of classes with several uses."""

    make: Make
    reads: str
    silent: Mapping[str, str] = MappingProxyType({})
    """Reason -> properties of these classes that change nothing in this sample, though they do in others."""


# What is exported, and what is saved back -----------------------------------------------------------------------------


def exported(operator: str, path: Path) -> Route:
    def route() -> bytes:
        path.unlink(missing_ok=True)
        assert getattr(bpy.ops.export_scene, operator)(filepath=str(path)) == {"FINISHED"}
        return path.read_bytes()

    return route


def saved_back(kind: Any) -> Route:
    def route() -> Any:
        if not kind.poll(bpy.context):
            return "the button is greyed out"
        dialog = as_in_a_window(kind)
        dialog.check(bpy.context)
        if dialog._shown.refusal is not None:
            return dialog._shown.refusal.sentence()
        plan = dialog._shown.plan
        return [(part.path, part.data) for part in getattr(plan, "plans", [plan])]

    return route


def imported(operator: str, path: Any, **options: Any) -> None:
    assert getattr(bpy.ops.import_scene, operator)(filepath=str(path), **options) == {"FINISHED"}


def edited(form: Format, path: Path) -> None:
    """Import, edit and save a file, edit it again, and leave Blender: what matters then is what is stored."""
    form.load(path)
    form.edit()
    assert dialog_of(form.save, backup=False).execute(bpy.context) == {"FINISHED"}
    form.edit()
    reopen(path.parent)


def sample(name: str, operator: str, suffix: str, load: Callable[[Path], None] | None = None) -> Make:
    """An edited sample of `saved_formats`, exported by ``operator``. ``load``: another way to import it."""
    form = FORMATS[name] if load is None else FORMATS[name]._replace(load=load)

    def make(folder: Path, samples: Path) -> list[Route]:
        path = shutil.copy(samples / form.samples[0], folder) if form.samples else written(folder, made_motion(CURVED))
        shutil.copy(samples / "humanoid.ogf", folder / "model.ogf")  # of the motions of the game
        edited(form, Path(path))
        return [exported(operator, folder / f"exported{suffix}"), saved_back(form.save)]

    return make


def motions_inside(folder: Path, samples: Path) -> list[Route]:
    imported("xray_ogf", shutil.copy(samples / "weapon_embedded.ogf", folder), motions="INSIDE")
    rig = bpy.context.view_layer.objects.active
    (file,) = rig.motionbridge_motion_files
    list_edits.delete(file, library.motions_of(file)[-1])
    return [exported("xray_omf", folder / "exported.omf"), saved_back(motion_files.MOTIONBRIDGE_OT_save_back)]


def bones_file(folder: Path, samples: Path) -> list[Route]:
    imported("xray_ogf", samples / "weapon.ogf", motions="NONE")
    path = folder / "weapon.bones"
    exported("xray_bones", path)()
    imported("xray_bones", path)
    return [exported("xray_bones", folder / "exported.bones")]


def whole_level(folder: Path, samples: Path) -> list[Route]:
    path = shutil.copytree(samples / "level", folder / "level")
    edited(FORMATS["geom"], path / "level.geom")
    return [saved_back(FORMATS["geom"].save)]


def binarised_animation(folder: Path, samples: Path) -> list[Route]:
    edited(FORMATS["rtm"], Path(shutil.copy(samples / "arma" / "walk_binarised.rtm", folder)))
    return [exported("arma_rtm", folder / "exported.rtm"), saved_back(FORMATS["rtm"].save)]


def several_editor_motions(folder: Path, samples: Path) -> list[Route]:
    path = folder / "weapon.skls"
    imported("xray_ogf", samples / "weapon.ogf", motions="NONE")
    imported("xray_omf", samples / "weapon.omf")
    exported("xray_skl", path)()
    bpy.ops.wm.read_homefile(use_empty=True)
    imported("xray_ogf", samples / "weapon.ogf", motions="NONE")
    imported("xray_skl", path)
    (file,) = bpy.context.view_layer.objects.active.motionbridge_skeletal_files
    list_edits.delete(file, library.motions_of(file)[-1])
    return [exported("xray_skl", folder / "exported.skls"), saved_back(skeletal.MOTIONBRIDGE_OT_skeletal_save_back)]


def hud_scene(folder: Path, samples: Path) -> list[Route]:
    shutil.copytree(samples / "configs", folder / "configs")
    meshes = folder / "meshes" / "samples"
    meshes.mkdir(parents=True)
    for name in ("humanoid.ogf", "humanoid.omf", "weapon.ogf", "weapon.omf"):
        shutil.copy(samples / name, meshes)
    created, _ = build(sample_options(folder))
    bpy.context.view_layer.objects.active = created.hands
    assert bpy.ops.motionbridge.hud_add_action(alias="anm_kick", motion="kick") == {"FINISHED"}
    created.hands.motionbridge_hud.values[0].text = "1, 2, 3"
    return [saved_back(hud.MOTIONBRIDGE_OT_hud_save_back)]


def arma_model(folder: Path, samples: Path) -> list[Route]:
    """A model with an attached model and a named point."""
    cube("body", size=2)
    assert bpy.ops.motionbridge.arma_set_lod(kind="RESOLUTION", number=1) == {"FINISHED"}
    assert bpy.ops.motionbridge.arma_property_add(label="autocenter", value="0") == {"FINISHED"}
    for kind in ("PROXY", "POINT"):
        assert bpy.ops.motionbridge.arma_mark_add(kind=kind, label="a\\b") == {"FINISHED"}
    exported("arma_p3d", folder / "made.p3d")()
    bpy.ops.wm.read_homefile(use_empty=True)
    imported("arma_p3d", folder / "made.p3d")
    kind = arma_models.MOTIONBRIDGE_OT_arma_model_save_back
    return [exported("arma_p3d", folder / "exported.p3d"), saved_back(kind)]


def in_the_text(kind: str) -> dict[str, str]:
    """What is silent of lists of actions."""
    return {
        "the list in the text has it too": f"Object.motionbridge_{kind}_files[].actions[].index",
        "only entries of armatures refer to a row": "Text.motionbridge_actions.entries[].row",
    }


LAST_ROW = " ".join(f"Bone.motionbridge_xray.imported_rest_{number}" for number in range(12, 16))
BYTES = "LevelProperties.kind LevelProperties.path LevelProperties.document LevelProperties.document_seal "
CASES = {
    ".ogf": Case(
        sample("ogf", "xray_ogf", ".ogf"),
        "ModelProperties MotionReferenceProperties MeshProperties BoneProperties JointLimit "
        "MaterialProperties.texture MaterialProperties.shader",
    ),
    ".omf": Case(
        sample("omf", "xray_omf", ".omf"),
        "MotionFile MotionProperties MotionMark MarkInterval Partition PartitionBone RestBone ListedAction ActionList "
        "Object.motionbridge_motion_files",
        {"no motion was deleted": "MotionFile.deleted", **in_the_text("motion")},
    ),
    ".ogf with motions": Case(motions_inside, "MotionFile DeletedMotion MotionProperties"),
    ".object": Case(
        sample("object", "xray_object", ".object"),
        "EditorModelProperties EditorMeshProperties SurfaceProperties MotionReferenceProperties Partition "
        "PartitionBone.name BoneProperties MaterialProperties.texture MaterialProperties.shader",
        {
            "bones are in the order of the file": "BoneProperties.index",
            "the last row of a matrix": LAST_ROW,
        },
    ),
    ".skls": Case(
        sample("skl", "xray_skl", ".skls"),
        "SkeletalFile SkeletalProperties RestBone Object.motionbridge_skeletal_files "
        "MotionProperties.speed MotionProperties.power MotionProperties.flags",
        {"the only motion is played": "SkeletalFile.action_list", "no motion was deleted": "SkeletalFile.deleted"},
    ),
    ".skls of several motions": Case(
        several_editor_motions, "SkeletalFile ListedAction ActionList", in_the_text("skeletal")
    ),
    ".bones": Case(
        bones_file,
        "BonesFileProperties BoneProperties JointLimit",
        {
            "bones have no order and no rest pose there": "BoneProperties.is_bone BoneProperties.index "
            "BoneProperties.imported_rest"
        },
    ),
    ".anm": Case(sample("anm", "xray_anm", ".anm"), "PathProperties"),
    "level.cform": Case(
        sample("cform", "xray_level_geometry", ".cform"), BYTES + "LevelProperties.saved MaterialProperties.number"
    ),
    "level.hom": Case(
        sample("hom", "xray_level_geometry", ".hom", importer("xray_level_geometry", weld=True)),
        BYTES + "LevelProperties.saved LevelProperties.weld",
    ),
    "level.details": Case(
        sample("details", "xray_level_geometry", ".details"),
        BYTES + "LevelProperties.waving LevelProperties.min_scale LevelProperties.max_scale LevelProperties.number "
        "LevelProperties.models LevelProperties.is_part",
    ),
    "grass.dm": Case(
        sample("dm", "xray_level_geometry", ".dm"),
        BYTES + "LevelProperties.saved LevelProperties.waving LevelProperties.min_scale LevelProperties.max_scale "
        "MaterialProperties.texture MaterialProperties.shader",
    ),
    "level": Case(
        whole_level,
        BYTES + "LevelProperties.saved LevelProperties.geometry LevelProperties.geometry_imported "
        "LevelProperties.detail LevelProperties.trees LevelProperties.trees_seal LevelProperties.surfaces "
        "LevelProperties.surfaces_seal LevelProperties.reshaped LevelProperties.reshaped_seal LevelProperties.imported "
        "LevelProperties.visuals LevelProperties.parts",
    ),
    "level, marks": Case(
        whole_level,
        "LevelProperties.level_file LevelProperties.row LevelProperties.light_range LevelProperties.front_sector "
        "LevelProperties.back_sector LevelProperties.shader LevelProperties.texture",
    ),
    "HUD": Case(
        hud_scene,
        "HudProperties HudValueProperties HudPointProperties HudActionProperties",
        {
            "rows of the config, and empty ones": "Object.motionbridge_hud.actions_another_order "
            "Object.motionbridge_hud.actions_a_row_more"
        },
    ),
    ".rtm": Case(
        sample("rtm", "arma_rtm", ".rtm", importer("arma_rtm", step="BONES")),
        "AnimationProperties AnimationEvent AnimationBone.name AnimationBone.bone",
    ),
    "binarised .rtm": Case(
        binarised_animation, "AnimationBone AnimationProperties.document Object.motionbridge_animations"
    ),
    ".p3d": Case(
        sample("p3d", "arma_p3d", ".p3d"),
        "ArmaModelProperties ArmaLevelProperties MaterialProperties.texture MaterialProperties.shader",
    ),
    ".p3d with marks": Case(
        arma_model, "MarkProperties NamedProperty.name NamedProperty.value ArmaLevelProperties.has_proxies"
    ),
    ".oof, parts": Case(sample("oof", "descent3_oof", ".oof"), "DescentPartProperties MaterialProperties.texture"),
    ".oof, points": Case(
        sample("oof", "descent3_oof", ".oof"),
        "DescentModelProperties DescentPointProperties BatteryProperties BatteryMember",
    ),
}

UNREAD = {
    "the row that a list marks as active": "Object.motionbridge_motion_file MotionFile.active_partition "
    "MotionProperties.active_mark ModelProperties.active_reference EditorModelProperties.active_reference "
    "AnimationProperties.active_event DescentModelProperties.active_battery LevelProperties.active_model "
    "HudProperties.active_action LevelCollectionProperties.active_layer",
    "only shown by panels and lists": "MotionProperties.status AnimationProperties.status "
    "DescentModelProperties.motion_status DescentPartProperties.saved_motion DescentPartProperties.saved_motion_seal "
    "BonesFileProperties.path PathProperties.came_as PathProperties.fps PathProperties.not_shown "
    "SkeletalProperties.version SkeletalProperties.fps SkeletalProperties.kept_exactly SkeletalProperties.fitted "
    "EditorModelProperties.creator EditorModelProperties.modifier BoneProperties.rest_rotation "
    "BoneProperties.rest_offset ArmaLevelProperties.path HudActionProperties.hands_motion LodListProperties.solo "
    "LevelCollectionProperties.is_level LevelCollectionProperties.is_layer "
    "HudActionProperties.item_motion HudActionProperties.fallback",
    "how Blender shows it": "ArmaLevelProperties.centre LevelCollectionProperties.is_tree "
    "LevelCollectionProperties.edited_from LevelCollectionProperties.tree_count "
    "LevelProperties.light_scale LevelProperties.light_bias LevelProperties.light_sky Scene.motionbridge_level_light "
    "LevelProperties.shown_by LevelProperties.scattered DescentModelProperties.shows_rotors "
    "DescentModelProperties.shows_turrets HudProperties.camera_effects HudProperties.attached HudProperties.gizmos "
    "HudProperties.stance HudProperties.aspect HudProperties.shown_stance HudProperties.view HudProperties.hands "
    "HudProperties.follows HudActionProperties.view Bone.motionbridge_is_colored Object.motionbridge_drawn_before",
    "names for notes, later imports and renamed bones": "MotionFile.name SkeletalFile.name "
    "BoneProperties.imported_name MotionProperties.imported_name Bone.motionbridge_known_as "
    "DescentPartProperties.shown_name DescentPartProperties.is_part",
    "for actions that are in no list": "MotionProperties.file MotionProperties.index "
    "SkeletalProperties.file SkeletalProperties.index DeletedMotion.name",
    "for armatures that were duplicated": "MotionFile.actions SkeletalFile.actions Object.motionbridge_animations",
    "the stored or the saved file says it too": "MotionFile.version MotionFile.embedded SkeletalFile.embedded "
    "AnimationProperties.saved ArmaModelProperties.others",
    "spares a comparison": "MotionProperties.unedited",
    "sets another property": "MotionProperties.target MaterialProperties.own_texture MaterialProperties.lightmaps "
    "NamedProperty.label Material.motionbridge_arma_rvmat",
    "the name of the action says it too": "MotionProperties.stored_name",
    "tells what was deleted from what was not imported": "MotionFile.rest SkeletalFile.rest RestBone.name "
    "EditorModelProperties.has_meshes ArmaLevelProperties.has_proxies LevelProperties.imported "
    "DescentModelProperties.shown_points DescentPartProperties.is_moved BatteryMember.number BatteryMember.had_object",
    "for edits that the samples lack": "MotionProperties.is_cut AnimationProperties.is_cut "
    "SkeletalProperties.rotation SkeletalProperties.metres SkeletalProperties.radians "
    "SkeletalProperties.shown_first SkeletalProperties.shown_last LevelProperties.weld "
    "LevelProperties.geometry_imported LevelProperties.geometry_folder DescentPointProperties.shown_size "
    "HudProperties.values HudValueProperties.is_missing",
    "for things that the samples lack": "EditorModelProperties.is_made SurfaceProperties.is_surface "
    "SkeletalProperties.is_skeletal ArmaLevelProperties.selections ArmaModelProperties.renamed "
    "LevelProperties.detail LevelProperties.models LevelProperties.is_part DescentPartProperties.monitor "
    "HudProperties.game HudProperties.points HudPointProperties.object",
    "read by imports": "SkeletonProperties.skeleton SkeletonProperties.for_display SkeletonProperties.bones "
    "SkeletonBone.bone SkeletonBone.parent SkeletonFiles.config SkeletonFiles.pivots_model",
    "for control rigs and hidden keys": "Object.motionbridge_is_control_rig Action.motionbridge_controls "
    "Action.motionbridge_controls_digest Action.motionbridge_shown_keys PoseBone.motionbridge_euler_order",
}
"""Reason -> properties that change no export of any sample."""

# The law --------------------------------------------------------------------------------------------------------------


def listed(reasons: Mapping[str, str]) -> set[str]:
    return {label for labels in reasons.values() for label in labels.split()}


def is_read(label: str, case: Case) -> bool:
    return bool({label, label.partition(".")[0]} & set(case.reads.split()))


def answer(route: Route) -> Any:
    """What a route gives: bytes, or the sentence with which it refuses."""
    try:
        return route()
    except MotionbridgeError as refusal:
        return refusal.sentence()
    except RuntimeError as refusal:
        if "Traceback" in str(refusal):
            raise
        return str(refusal)


def matters(result: list[Value], routes: list[Route], before: list[Any]) -> bool:
    """Whether another value changes what a route gives."""
    for value in result:
        for change in changes(value):
            restore = change()
            try:
                if any(answer(route) != given for route, given in zip(routes, before, strict=True)):
                    return True
            finally:
                restore()
    return False


def broken(case: Case, routes: list[Route], *, all_values: bool) -> list[str]:
    """The properties of a sample that change nothing though they are not listed, or are listed and change something.

    Without ``all_values`` one value of each listed property is tried, and one component of each vector.
    """
    before, by_path = [answer(route) for route in routes], dict[str, list[Value]]()
    assert not any(isinstance(given, str) for given in before), before
    silent, seen, wrong = listed(case.silent), set(), list[str]()
    for value in values():
        if is_read(value.label, case) and (all_values or not value.part or isinstance(value.part, str)):
            by_path.setdefault(value.path, []).append(value)
    for path, result in by_path.items():
        names = {result[0].label, path.replace(" ", "_")}
        result.reverse()  # what the samples add comes last
        is_silent = bool(names & (silent | listed(UNREAD)))
        seen |= names
        if matters(result[:1] if is_silent and not all_values else result, routes, before) == is_silent:
            wrong.append(f"{path} is listed, and changes something" if is_silent else f"{path} changes nothing")
    assert [answer(route) for route in routes] == before, "everything was set back"
    missing = {label for label in declared() - seen if is_read(label, case)} - listed(UNREAD)
    wrong += [f"{label} is not in the sample" for label in missing]
    listed_only = silent - seen if all_values else set()
    return wrong + [f"{label} is listed, and is not in the sample" for label in listed_only]


@pytest.fixture(autouse=True)
def _quickly_written_files(monkeypatch):
    """Nobody needs them after a power failure."""
    monkeypatch.setattr(files.os, "fsync", lambda _: None)


LONG = {".ogf", ".oof, points", "level"}
"""Cases of more than two seconds."""


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=name, marks=pytest.mark.deep if name in LONG else ()) for name, case in CASES.items()],
)
def test_another_value_of_a_property_is_written_or_refused(case, tmp_path, samples, capsys):
    assert broken(case, case.make(tmp_path, samples), all_values=False) == []
    assert "Traceback" not in capsys.readouterr().err, "in a function that Blender calls when a value is set"


@pytest.mark.deep
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_no_value_of_a_listed_property_changes_anything(case, tmp_path, samples):
    assert broken(case, case.make(tmp_path, samples), all_values=True) == []


def test_each_property_is_read_by_a_kind_of_export_or_listed():
    read = {label for case in CASES.values() for label in declared() - listed(case.silent) if is_read(label, case)}
    unread = {label for label in listed(UNREAD) if not label.endswith(".name")}
    assert declared() - read == unread - read
    assert unread <= declared()
