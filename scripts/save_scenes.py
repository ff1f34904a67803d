"""Save one .blend for each type of file, imported from the samples and not edited, as this version stores them.

    blender --background --factory-startup --python-exit-code 1 --python scripts/save_scenes.py -- SAMPLES FOLDER

SAMPLES is a folder with the files of `tests/samples`; its path is stored in the .blend files. It also gets the editor's
motions and bones, of which there are no samples. FOLDER gets the .blend files. `tests/saved` contains those of each
released version; `tests/blender/test_saved_files.py` opens them in every later version.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import bpy

from tests import extension

EDITOR_FILES = ("humanoid.skls", "walk.skl", "humanoid.bones")


def main(samples: Path, folder: Path) -> None:
    """Write the editor's files if they are missing, then save the scenes."""
    extension.pytest_configure()
    folder.mkdir(parents=True, exist_ok=True)
    load = bpy.ops.import_scene
    if not all((samples / name).is_file() for name in EDITOR_FILES):
        _empty()
        load.xray_ogf(filepath=str(samples / "humanoid.ogf"))
        load.xray_omf(filepath=str(samples / "humanoid.omf"))
        save = bpy.ops.export_scene
        save.xray_skl(filepath=str(samples / "humanoid.skls"), choose="ALL")
        save.xray_skl(filepath=str(samples / "walk.skl"), choose="ACTIVE")
        save.xray_bones(filepath=str(samples / "humanoid.bones"))
    for name, importers in scenes(samples).items():
        _empty()
        for importer, path, options in importers:
            getattr(load, importer)(filepath=str(path), **options)
        bpy.ops.wm.save_as_mainfile(filepath=str((folder / f"{name}.blend").absolute()), compress=True)


def scenes(samples: Path) -> dict[str, list[tuple[str, Path, dict[str, object]]]]:
    """Return scene name -> importers to call in order, each with file and options."""
    humanoid = ("xray_ogf", samples / "humanoid.ogf", {})
    levels = ("level.cform", "level.hom", "level.som", "level.details", "level.err", "grass.dm")
    ship = samples / "descent3" / "ship.oof"
    walks = [("arma_rtm", samples / "arma" / name, {}) for name in ("walk.rtm", "walk_binarised.rtm")]
    return {
        "motions": [
            humanoid,
            ("xray_omf", samples / "humanoid.omf", {}),
            ("xray_ogf", samples / "weapon.ogf", {}),
            ("xray_omf", samples / "weapon.omf", {}),
            ("xray_ogf", samples / "weapon_embedded.ogf", {"motions": "INSIDE"}),
            ("xray_anm", samples / "camera.anm", {}),
        ],
        "editor": [
            humanoid,
            ("xray_skl", samples / "humanoid.skls", {"rotation": "EULER"}),
            ("xray_bones", samples / "humanoid.bones", {}),
            humanoid,
            ("xray_skl", samples / "walk.skl", {"rotation": "QUATERNION"}),
        ],
        "level": [("xray_level_geometry", samples / "level" / name, {}) for name in levels],
        "arma": [("arma_p3d", samples / "arma" / "man.p3d", {}), *walks],
        "descent": [("descent3_oof", ship, {}), ("descent3_oof", ship, {"shown_as": "BONES"})],
    }


def _empty() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


main(*(Path(text) for text in sys.argv[sys.argv.index("--") + 1 :]))
sys.stdout.flush()
os._exit(0)
