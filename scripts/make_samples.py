"""Generate the models and motions of `tests/samples`: tiny, our own, the same bytes on every machine.

`python3 scripts/make_samples.py [FOLDER]` writes them; `--check` compares the existing files instead.

- `humanoid.ogf`, `humanoid.omf`: 20 bones, vertices with one to four bones, two partitions not in the order of tracks,
  a walk whose last key equals its first, translation keys of 8 and of 16 bits, marks, an additive motion for a bone
- `weapon.ogf`, `weapon.omf`: Shadow of Chernobyl's vertex formats and references; the motions have another order of
  bones than the model, as in real files
- `weapon_embedded.ogf`: the same with the motions inside
- `weapon.object`: the same model as a file of the SDK, with a motion inside
- `camera.anm`: the path of a camera, version 5, with keys of every shape
- `level`: a hut in a yard, in all types of level files; `samples/level.py` has more
- `arma`: a man made of boxes, his walk plain and binarised, his model and model.cfg
- `configs`: hands and a weapon in the game's configs, and a file of Anomaly that changes them
- `descent3`: a ship with everything a model can contain, its textures, and an archive of these files
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from samples.arma import man
from samples.bones import HUMANOID, WEAPON
from samples.configs import configs
from samples.descent3 import descent3
from samples.level import level
from samples.models import Numbered, model
from samples.motions import humanoid_motions, weapon_motions
from samples.objects import weapon_object
from samples.paths import camera_path

from addon.formats.xray import anm, ogf, omf
from addon.formats.xray.ogf import chunk_types
from addon.formats.xray.omf.document import new_omf

SAMPLES = ROOT / "tests" / "samples"


def samples() -> dict[str, bytes]:
    """Return file name -> bytes of every sample."""
    inside = weapon_motions(as_the_model=True)
    long, short = chunk_types.LONG_FORMATS, chunk_types.SHORT_FORMATS
    references: list[Numbered] = [(24, chunk_types.MotionReferences2([b"samples\\humanoid"]))]
    old_references: list[Numbered] = [(19, chunk_types.MotionReferences([b"samples\\weapon"]))]
    embedded: list[Numbered] = [(14, inside.library), (15, inside.parameters)]
    settings = b"[sample]\r\nkind = humanoid\r\n"
    return {
        "humanoid.ogf": ogf.write(model("humanoid", HUMANOID, short, references, settings)),
        "humanoid.omf": omf.write(new_omf(humanoid_motions())),
        "weapon.ogf": ogf.write(model("weapon", WEAPON, long, old_references)),
        "weapon.omf": omf.write(new_omf(weapon_motions(as_the_model=False))),
        "weapon.object": weapon_object(),
        "camera.anm": anm.write(camera_path()),
        "weapon_embedded.ogf": ogf.write(model("weapon", WEAPON, short, embedded)),
        **{f"level/{name}": data for name, data in level().items()},
        **{f"arma/{name}": data for name, data in man().items()},
        **{f"configs/{name}": data for name, data in configs().items()},
        **{f"descent3/{name}": data for name, data in descent3().items()},
    }


def main() -> int:
    """Write the samples, or compare them."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("folder", nargs="?", type=Path, default=SAMPLES, metavar="FOLDER")
    arguments.add_argument("--check", action="store_true", help="write nothing; exit status 1 where a file differs")
    chosen = arguments.parse_args()
    created = samples()
    if chosen.check:
        wrong = [name for name, data in created.items() if _bytes_of(chosen.folder / name) != data]
        print(f"differ: {', '.join(wrong)}" if wrong else f"{len(created)} samples are as they should be")
        return int(bool(wrong))
    chosen.folder.mkdir(parents=True, exist_ok=True)
    for name, data in created.items():
        (chosen.folder / name).parent.mkdir(exist_ok=True)
        (chosen.folder / name).write_bytes(data)
        print(f"{chosen.folder / name}: {len(data)} bytes")
    return 0


def _bytes_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
