"""Rigs and models of other files, linked and as library overrides: exports work; what cannot be stored is refused.

The law for every operator, on every kind of object of another file: it refuses with a sentence, or whatever it stored
is still there after saving and reloading.
"""

import shutil
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon import ui
from addon.core import png
from addon.ui.operation import Operation
from tests import scene
from tests.blender.scenes import add_object, reopen
from tests.blender.test_skl_motions import STEPPED, made_motion, written
from tests.blender.test_ui import refusal
from tests.scene import differences, snapshot

KINDS = ["linked", "override of the object", "override of the collection"]
RIG, SHIP, LEVEL, WALKER = "humanoid", "ship", "level mesh", "walk"
FOR_A_WINDOW = {"motionbridge.report"}


@pytest.fixture(scope="module")
def files(tmp_path_factory, samples) -> Path:
    """The samples, and scenes.blend with a collection of a rig with motions, a ship, an Arma rig and a level's mesh."""
    folder = tmp_path_factory.mktemp("linked")
    shutil.copytree(samples, folder, dirs_exist_ok=True)
    (folder / "picture.png").write_bytes(png.encode(np.zeros((4, 4, 4), np.uint8)))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.import_scene.xray_ogf(filepath=str(folder / "humanoid.ogf"))
    rig = bpy.context.view_layer.objects.active
    bones = [bone.name for bone in rig.data.bones][:4]
    written(folder, made_motion(STEPPED, bones=bones), name="editor.skls")
    bpy.ops.import_scene.xray_skl(filepath=str(folder / "editor.skls"))
    bpy.ops.import_scene.xray_omf(filepath=str(folder / "humanoid.omf"))
    bpy.ops.export_scene.xray_bones(filepath=str(folder / "bones.bones"))
    bpy.ops.import_scene.descent3_oof(filepath=str(folder / "descent3" / "ship.oof"))
    bpy.ops.import_scene.arma_rtm(filepath=str(folder / "arma" / "walk.rtm"), target="NEW")
    mesh = bpy.data.meshes.new(LEVEL)
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    add_object(LEVEL, mesh, active=True)
    bpy.ops.motionbridge.level_begin(kind="HOM")
    box = bpy.data.collections.new("Box")
    for obj in list(bpy.data.objects):
        box.objects.link(obj)
    box.use_fake_user = True
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scenes.blend"))
    return folder


def bring(files: Path, kind: str, name: str):
    """The object ``name`` of the other file in an empty scene, active."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene, layer = bpy.context.scene, bpy.context.view_layer
    with bpy.data.libraries.load(str(files / "scenes.blend"), link=True) as (_, wanted):
        if kind == "override of the object":
            wanted.objects = [name]
        else:
            wanted.collections = ["Box"]
    result = next(obj for obj in bpy.data.objects if obj.name == name)
    if kind == "override of the object":
        scene.collection.objects.link(result)  # Blender 5.3 overrides only what is in a scene
        result = result.override_create(remap_local_usages=True)
    else:
        scene.collection.children.link(bpy.data.collections["Box"])
        if kind == "override of the collection":
            bpy.data.collections["Box"].override_hierarchy_create(scene, layer)
            result = next(obj for obj in layer.objects if obj.name == name and obj.override_library is not None)
    layer.objects.active = result
    return result


def operators():
    """Identifiers of all operators that tell what came of them."""
    result = [kind.bl_idname for kind in ui.CLASSES if issubclass(kind, Operation)]
    return sorted(name for name in result if name not in FOR_A_WINDOW)


def arguments(name: str, files: Path, target: Path) -> dict:
    """What a script gives an operator, so that it would work on what is active."""
    imports = {
        "xray_omf": "humanoid.omf", "xray_skl": "editor.skls", "xray_bones": "bones.bones", "xray_ogf": "weapon.ogf",
        "xray_anm": "camera.anm", "arma_rtm": "arma/walk.rtm", "arma_p3d": "arma/man.p3d",
            "arma_paa": "arma/bricks_co.paa",
        "descent3_oof": "descent3/ship.oof", "descent3_ogf": "descent3/SampleHull.ogf",
        "xray_level_geometry": "level/level.hom", "xray_object": "weapon.object",
        "xray_textures": "picture.png",
    }  # fmt: skip
    group, _, kind = name.partition(".")
    given: dict = {}
    if group == "import_scene" and kind == "xray_level":
        given = {"directory": str(files / "level")}
    elif group == "import_scene":
        given = {"filepath": str(files / imports[kind])}
        given |= {
            "arma_rtm": {"target": "ACTIVE"},
            "arma_p3d": {"rig": "ACTIVE"},
            "xray_anm": {"target": "ACTIVE"},
        }.get(kind, {})
    elif group == "export_scene":
        given = {"filepath": str(target / f"out.{kind.rpartition('_')[2]}")}
        given |= {"remember": True} if kind == "xray_omf" else {}
    return given


def call(name: str, given: dict):
    group, _, kind = name.partition(".")
    operator = getattr(getattr(bpy.ops, group), kind)
    if not operator.poll():
        return "not offered"
    try:
        return operator(**given)
    except RuntimeError as refused:
        return str(refused)


def stored() -> dict:
    """What the extension has stored in data-blocks, but for badges; in 4.2 items are another door to it."""
    return {path: value for path, value in scene.stored().items() if not path.endswith("status")}


def test_what_is_stored_is_the_extensions_part_of_a_snapshot(files):
    bring(files, KINDS[0], RIG)
    # A snapshot meets bones as children of others too, and those of an armature again behind each object's pose.
    part, whole = (
        {(path.partition(".motionbridge_")[2], repr(value)) for path, value in result if ".motionbridge_" in path}
        for result in (scene.stored().items(), snapshot().items())
    )
    assert part == whole
    assert len(part) > 200


@pytest.mark.parametrize("name", [RIG, SHIP, LEVEL, WALKER])
@pytest.mark.parametrize("kind", [KINDS[0], pytest.param(KINDS[2], marks=pytest.mark.deep)])
def test_every_operator_refuses_or_what_it_stored_stays(files, tmp_path, kind, name):
    refused, done = 0, 0
    bring(files, kind, name)
    before = stored()
    for operator in operators():
        answer = call(operator, arguments(operator, files, tmp_path))
        assert "Traceback" not in answer, f"{operator}: {answer}"
        if answer != {"FINISHED"}:
            refused += 1
            continue
        done += 1
        after = stored()
        changed = {path: value for path, value in after.items() if repr(before.get(path)) != repr(value)}
        if changed:
            reopen(tmp_path)
            again = stored()
            assert differences(changed, {path: again.get(path) for path in changed}) == [], operator
            bring(files, kind, name)
    assert refused
    assert done  # exports at least


@pytest.mark.parametrize("kind", KINDS)
def test_refusals_say_what_helps(files, tmp_path, kind):
    bring(files, kind, RIG)
    target = tmp_path / "new.omf"
    for text in (
        refusal(bpy.ops.import_scene.xray_omf, filepath=str(files / "humanoid.omf")),
        refusal(bpy.ops.import_scene.xray_skl, filepath=str(files / "editor.skls")),
        refusal(bpy.ops.import_scene.xray_bones, filepath=str(files / "bones.bones")),
        refusal(bpy.ops.motionbridge.save_back),
        refusal(bpy.ops.motionbridge.delete_motion),
        refusal(bpy.ops.motionbridge.add_reference),
        refusal(bpy.ops.motionbridge.show_partitions),
        refusal(bpy.ops.export_scene.xray_omf, filepath=str(target), choose="ACTIVE", remember=True),
    ):
        assert "humanoid" in text or "'walk'" in text
        assert "linked from another file" in text or "library override" in text
        assert "Make it local" in text
    assert not target.exists()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sampled", [False, True])
def test_exports_work_and_change_nothing(files, tmp_path, kind, sampled):
    obj = bring(files, kind, RIG)
    if sampled:
        obj.pose.bones["hand_l"].constraints.new("LIMIT_ROTATION")
        obj.data.pose_position = "REST"
    before = snapshot()
    target = tmp_path / "out.omf"
    assert bpy.ops.export_scene.xray_omf(filepath=str(target), choose="ACTIVE") == {"FINISHED"}
    assert bpy.ops.export_scene.xray_skl(filepath=str(tmp_path / "out.skls"), choose="ACTIVE") == {"FINISHED"}
    changed = [line for line in differences(before, snapshot()) if "motionbridge_report" not in line]
    assert changed == []
    bpy.ops.wm.open_mainfile(filepath=str(files / "scenes.blend"))
    bpy.context.view_layer.objects.active = bpy.data.objects[RIG]
    assert bpy.ops.export_scene.xray_omf(filepath=str(tmp_path / "own.omf"), choose="ACTIVE") == {"FINISHED"}
    assert target.read_bytes() == (tmp_path / "own.omf").read_bytes()


@pytest.mark.parametrize("kind", KINDS[1:])
def test_animations_of_arma_play_on_overrides_also_after_reloading(files, tmp_path, kind):
    name = bring(files, kind, WALKER).name
    path = files / "arma" / "walk_binarised.rtm"
    assert bpy.ops.import_scene.arma_rtm(filepath=str(path), target="ACTIVE") == {"FINISHED"}
    reopen(tmp_path)
    bpy.context.view_layer.objects.active = next(
        obj for obj in bpy.data.objects if obj.name == name and obj.override_library is not None
    )
    assert bpy.ops.export_scene.arma_rtm(filepath=str(tmp_path / "out.rtm")) == {"FINISHED"}
    assert (tmp_path / "out.rtm").read_bytes() == path.read_bytes()
