"""Take the pictures of `docs/`: screenshots of a real Blender window on a virtual screen, with simulated input.

    python3 scripts/pictures.py [--folder docs] [--chroot FOLDER] [--only NAME] [--listing | --light]

Needs root on Debian: Blender, a virtual screen and software rendering run in a chroot that the tests use too, that
of Debian unstable with its Blender 5.2 (`--chroot` names another). The pictures show our own showcase and samples, and
real files, such as levels, if MOTIONBRIDGE_CORPUS names the folder that contains them. A new picture is one entry in a
table `SCENES` of `scripts/scenes/`.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[level]) for level in (1, 0)]

from environment import ROOT, Unavailable, chroot, virtual
from environment import window as screen

if __name__ == "__main__" and (status := virtual.started_again("dev")) is not None:
    sys.exit(status)  # from here on, numpy can be imported

from samples.game import installed
from samples.showcase import showcase

WINDOW, LISTING = (1280, 800), (1920, 1080)
"""Sizes of the pictures of the guide, and of those for the extensions platform (docs/listing.md)."""
STUDIO = "/opt/pictures"  # inside the chroot
LIMIT = 900  # seconds
LARGEST = 150_000  # bytes of a picture
FILM_SIZE = "720x450"
CACHE = shutil.ignore_patterns("__pycache__")
REAL_FILES = {
    "anm/v4_helicopter_aaa.anm": "anims/flight.anm",
    "level/olr_tss_cd70ecb": "levels/olr_tss",
    "level/bx_test": "levels/bx_test",
    "level/nlc_l06_rostok": "levels/l06_rostok",
    "cform/tss_level.cform": "levels/tss/level.cform",
    "hom/l05_bar.hom": "levels/l05_bar/level.hom",
    "som/l05_bar.som": "levels/l05_bar/level.som",
    "details/l08_yantar.details": "levels/l08_yantar/level.details",
    "dm/l08_yantar_detail0.dm": "meshes/showcase/detail.dm",
    "ogf/human_stalker_hero_1.ogf": "meshes/stalker/stalker.ogf",
    "omf/human_smart_cover.omf": "meshes/stalker/stalker.omf",
    "rtm/dog_swimfront_big.rtm": "arma/swim.rtm",
    "rtm/dog_model.cfg": "arma/model.cfg",
    "p3d/dog_skeleton_pivots.p3d": "arma/dog.p3d",
    "oof/purplepyro.oof": "descent3/purplepyro.oof",
    "hud/gunslinger/gamedata": "mod/gamedata",
}
"""Real file or folder -> its place in the game folder that is shown."""


def main() -> int:
    """Take, compress and copy the pictures; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, help="where the pictures go: docs/, or dist/listing/")
    parser.add_argument("--listing", action="store_true", help="take the pictures for the extensions platform")
    parser.add_argument("--light", action="store_true", help="take them in Blender's light theme, as NAME_light.png")
    parser.add_argument("--chroot", type=Path, help="a chroot with Blender in it")
    parser.add_argument("--only", default="", help="play only the scenes whose name begins like this")
    parser.add_argument("--samples", type=Path, default=ROOT / "tests" / "samples", help="models and motions to show")
    arguments = parser.parse_args()
    try:
        chroot.possible()
        folder = arguments.chroot or chroot.ready(chroot.UNSTABLE)
    except Unavailable as lacking:
        print(lacking, file=sys.stderr)
        return 1
    screen.ready(folder)
    studio = folder / STUDIO.lstrip("/")
    shutil.rmtree(studio, ignore_errors=True)
    _fill_studio(studio, arguments.samples)
    status = _photograph(folder, arguments.only, listing=arguments.listing, light=arguments.light)
    target = arguments.folder or ROOT / ("dist/listing" if arguments.listing else "docs")
    target.mkdir(parents=True, exist_ok=True)
    for picture in sorted((studio / "taken").glob("*.png")):
        if not arguments.listing:
            _shrink(folder, picture)
        copy = target / (picture.name if not arguments.light else f"{picture.stem}_light.png")
        shutil.copy(picture, copy)
        print(f"{copy}: {copy.stat().st_size} bytes")
    for frames in sorted((studio / "films").iterdir()):
        _film(folder, frames, target)
    return status


def _film(own_folder: Path, taken: Path, folder: Path) -> None:
    """Write the screenshots of a folder as an animated picture with the folder's name."""
    frames = sorted(taken.glob("*.png"))
    actual = [word for frame in frames for word in ("-delay", frame.stem.partition("_")[2], _inside(own_folder, frame))]
    film = taken.with_suffix(".gif")
    small = ["-resize", FILM_SIZE, "+dither", "-colors", "40", "+map", "-fuzz", "4%", "-layers", "OptimizeFrame"]
    subprocess.run(
        [*chroot.entering(own_folder, {}), "convert", "-loop", "0", *actual, *small, _inside(own_folder, film)],
        check=True,
    )
    shutil.copy(film, folder / film.name)
    print(f"{folder / film.name}: {film.stat().st_size} bytes, {len(frames)} frames")


def _inside(folder: Path, path: Path) -> str:
    return "/" + str(path.relative_to(folder))


def _fill_studio(studio: Path, samples: Path) -> None:
    """Copy the extension, a small game folder, and damaged files."""
    package = studio / "extensions" / "motionbridge"
    shutil.copytree(ROOT / "addon", package, ignore=CACHE)
    shutil.copy(ROOT / "blender_manifest.toml", package)
    files = showcase()
    games = {f"games/{name}": data for name, data in installed(files).items()}
    for name, data in {**files, **games}.items():
        (studio / name).parent.mkdir(parents=True, exist_ok=True)
        (studio / name).write_bytes(data)
    meshes = studio / "gamedata" / "meshes" / "showcase"
    for sample in samples.glob("weapon*"):
        shutil.copy(sample, meshes)
    (meshes / "broken.omf").write_bytes((samples / "humanoid.omf").read_bytes()[:777])
    (meshes / "cut.ogf").write_bytes((samples / "humanoid.ogf").read_bytes()[:7777])
    (meshes / "weapon_alone.omf").write_bytes((samples / "weapon.omf").read_bytes())
    shutil.copytree(samples / "level", studio / "gamedata" / "levels" / "sample")
    real = os.environ.get("MOTIONBRIDGE_CORPUS")
    for source, folder in REAL_FILES.items() if real else ():
        target = studio / "gamedata" / folder
        target.parent.mkdir(parents=True, exist_ok=True)
        path = Path(real or "") / source
        if path.is_dir():
            shutil.copytree(path, target)
        else:
            shutil.copy(path, target)
    for part in ("taken", "films"):
        (studio / part).mkdir()
    shutil.copytree(ROOT / "scripts" / "scenes", studio / "scenes", ignore=CACHE)


def _photograph(folder: Path, only: str, *, listing: bool, light: bool) -> int:
    chosen = {"LISTING": listing, "LIGHT": light}
    surroundings = {"LIBGL_ALWAYS_SOFTWARE": "1", "ONLY": only} | {name: "1" for name, on in chosen.items() if on}
    blender = [*screen.call(*(LISTING if listing else WINDOW)), "--python", f"{STUDIO}/scenes/session.py"]
    command = [*chroot.entering(folder, surroundings), "timeout", str(LIMIT), *blender]
    done = subprocess.run(
        command, check=False, timeout=LIMIT + 30, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    print(done.stdout)
    # Errors while a panel is drawn are only printed.
    return done.returncode or int("Traceback" in done.stdout)


def _shrink(folder: Path, picture: Path) -> None:
    """Reduce the number of colors until the picture is small enough."""
    inside = _inside(folder, picture)
    for colours in (256, 128, 64):
        # Dithering would add noise to the flat colours of a window, which compresses badly.
        command = ["convert", inside, "-strip", "+dither", "-colors", str(colours)]
        command += ["-define", "png:compression-level=9", f"png8:{inside}"]
        subprocess.run([*chroot.entering(folder, {}), *command], check=True)
        if picture.stat().st_size <= LARGEST:
            return
    raise SystemExit(f"{picture.name} is larger than {LARGEST} bytes")


if __name__ == "__main__":
    sys.exit(main())
