"""Scenes that a release saved: opened by this version, each file leaves with the bytes it came with.

`tests/saved/VERSION/BLENDER` was written by `scripts/save_scenes.py` of that version. From its release on the files are
never replaced: users have them.
"""

from pathlib import Path

import bpy
import pytest

SAVED = Path(__file__).resolve().parents[1] / "saved"
SAMPLES = SAVED.parent / "samples"
ORIGINALS = SAVED / "0.1.0"
"""The editor's files, of which there are no samples."""

# Scene -> active object, exporter, its options, the file that must come out.
EXPORTS = {
    "motions": [
        ("humanoid", "xray_omf", {}, SAMPLES / "humanoid.omf"),
        ("humanoid", "xray_ogf", {}, SAMPLES / "humanoid.ogf"),
        ("weapon", "xray_omf", {}, SAMPLES / "weapon.omf"),
        ("weapon", "xray_ogf", {}, SAMPLES / "weapon.ogf"),
        ("weapon_embedded", "xray_ogf", {}, SAMPLES / "weapon_embedded.ogf"),
        ("camera", "xray_anm", {}, SAMPLES / "camera.anm"),
    ],
    "editor": [
        ("humanoid", "xray_skl", {}, ORIGINALS / "humanoid.skls"),
        ("humanoid", "xray_bones", {}, ORIGINALS / "humanoid.bones"),
        ("humanoid.001", "xray_skl", {}, ORIGINALS / "walk.skl"),
    ],
    "level": [
        (name, "xray_level_geometry", {}, SAMPLES / "level" / file)
        for name, file in (
            *((file, file) for file in ("level.cform", "level.hom", "level.som", "level.details")),
            ("grass", "grass.dm"),
        )
    ],
    "arma": [
        ("walk", "arma_rtm", {"action": "walk"}, SAMPLES / "arma" / "walk.rtm"),
        ("walk", "arma_rtm", {"action": "walk_binarised"}, SAMPLES / "arma" / "walk_binarised.rtm"),
    ],
    "descent": [
        ("ship", "descent3_oof", {}, SAMPLES / "descent3" / "ship.oof"),
        ("ship.001", "descent3_oof", {}, SAMPLES / "descent3" / "ship.oof"),
    ],
}
CASES = [
    pytest.param(folder, scene, export, id=f"{folder.parent.name} {folder.name} {scene} {export[0]} {export[3].name}")
    for folder in sorted(path for path in SAVED.glob("*/*") if path.is_dir())
    for scene, exports in EXPORTS.items()
    for export in exports
    if tuple(map(int, folder.name.split("."))) <= bpy.app.version[:2]
]


@pytest.mark.parametrize(("folder", "scene", "export"), CASES)
def test_a_scene_of_a_release_exports_the_bytes_it_was_made_from(folder, scene, export, tmp_path) -> None:
    name, exporter, options, original = export
    bpy.ops.wm.open_mainfile(filepath=str(folder / f"{scene}.blend"))
    bpy.context.view_layer.objects.active = bpy.data.objects[name]
    if "action" in options:
        bpy.data.objects[name].animation_data.action = bpy.data.actions[options["action"]]
    written = tmp_path / original.name
    assert getattr(bpy.ops.export_scene, exporter)(filepath=str(written)) == {"FINISHED"}
    assert written.read_bytes() == original.read_bytes()


def test_every_version_has_its_scenes() -> None:
    folders = [path for path in SAVED.glob("*/*") if path.is_dir()]
    assert {folder.name for folder in folders} >= {"4.2", "4.5", "5.2", "5.3"}
    for folder in folders:
        assert {path.stem for path in folder.glob("*.blend")} == set(EXPORTS)
