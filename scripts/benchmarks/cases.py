"""The table of benchmarks: for each row its title, what is measured, the floor beside it, and the files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from . import SAMPLES, files

HERE = Path()
"""The folder of generated files."""


@dataclass(frozen=True)
class MadeFile:
    """A generated file, or a folder of generated files by name, created when it is first needed.

    ``beside``: other files that its import reads.
    """

    name: str
    make: Callable[[], bytes | Mapping[str, bytes]]
    beside: tuple[MadeFile, ...] = ()

    def put_into(self, folder: Path) -> Path:
        """Create the files in ``folder`` if they are missing; return the path."""
        path = folder / self.name
        if not path.exists():
            created = self.make()
            for target, data in {path: created}.items() if isinstance(created, bytes) else created.items():
                (path / target).parent.mkdir(parents=True, exist_ok=True)
                (path / target).write_bytes(data)
        for other in self.beside:
            other.put_into(path.parent)
        return path


@dataclass(frozen=True)
class Row:
    """A row of the table: ``ours`` and its ``floor`` name entries of tables `MEASUREMENTS`, as MODULE.NAME.

    Both measure the same ``files``, unless ``floor_files`` are given: then the floor is the cost of these times
    ``floor_times``, which shows whether cost is linear. `PREPARED` runs once, before the measurements.
    """

    title: str
    ours: str
    floor: str
    files: tuple[Path | MadeFile, ...]
    floor_files: tuple[Path | MadeFile, ...] = ()
    floor_times: float = 1.0

    @property
    def prepare(self) -> str:
        """Name of what prepares the floor, or ""."""
        return PREPARED.get(self.floor, "")

    @property
    def unit(self) -> str:
        """Unit in which the figures are printed."""
        return "MB" if ".memory" in self.ours else "ms"

    def paths(self, folder: Path, *, of_floor: bool = False) -> list[Path]:
        """Return what is measured; generated files are put into ``folder``."""
        chosen = self.floor_files if of_floor and self.floor_files else self.files
        return [file.put_into(folder) if isinstance(file, MadeFile) else folder / file for file in chosen]


PREPARED = {
    "kinds.pass_to_blender": "kinds.prepare_floor",
    "kinds.memory_allowed": "kinds.prepare_floor",
    "start.enable_floor": "start.prepare",
    "start.read_bytecode": "start.prepare",
}
"""Floor -> what prepares it."""


def rows() -> list[Row]:
    """Return the rows that need no Blender."""
    corpus = os.environ.get("MOTIONBRIDGE_CORPUS")
    few, many = (_library(f"made_{count}.omf", count, bones=20, frames=25) for count in (300, 3000))
    motions: Path | MadeFile = Path(corpus) / "omf/human_smart_cover.omf" if corpus else many
    model = Path(corpus) / "ogf/hoc_backpack_hud.ogf" if corpus else SAMPLES / "humanoid.ogf"
    folders = (Path(corpus) / "omf", Path(corpus) / "ogf") if corpus else (SAMPLES,)
    configs = (MadeFile("gamedata", partial(files.made_configs, 3000)),)
    game = (MadeFile("game", files.made_game),)
    textures = (MadeFile("files.db0", files.made_duplicates), TEXTURES)
    return [
        Row(f"read {motions.name}", "plain.read", "plain.check_bytes", (motions,)),
        Row(f"read {motions.name}: memory", "plain.memory", "plain.size", (motions,)),
        Row(f"write {motions.name}", "plain.write", "plain.copy_bytes", (motions,)),
        Row(f"recompose {motions.name}", "plain.recompose", "plain.copy_bytes", (motions,)),
        Row(f"read {many.name} / 10 x {few.name}", "plain.read", "plain.read", (many,), (few,), 10.0),
        Row(f"memory {many.name} / 10 x {few.name}", "plain.memory", "plain.memory", (many,), (few,), 10.0),
        Row(f"read {model.name}", "plain.read", "plain.check_bytes", (model,)),
        Row(f"read {model.name}: memory", "plain.memory", "plain.size", (model,)),
        Row("start of the command line", "plain.start_up", "plain.start_up_floor", (SAMPLES / "weapon.omf",)),
        Row("sections of 3,001 configs", "plain.index_configs", "plain.read_configs", configs),
        Row("sections of 3,001 configs, again", "plain.index_configs_again", "plain.read_configs", configs),
        Row("index of 60,000 files in archives", "plain.index", "plain.unpack_tables", game),
        Row("index of 60,000 files, again", "plain.index_again", "plain.index_again_allowed", game),
        Row("index of 60,000 files: memory", "plain.memory_of_index", "plain.memory_of_index_allowed", game),
        Row("search in 60,000 names", "plain.search", "plain.search_allowed", game),
        Row("unpack LZO of archives", "plain.unpack_lzo", "plain.lzo_allowed", textures),
        Row("unpack LZHUF of tables", "plain.unpack_tables", "plain.tables_allowed", game),
        Row(f"verify {' '.join(folder.name for folder in folders)}", "plain.verify", "plain.check_folders", folders),
    ]


def _library(name: str, motions: int, **size: int) -> MadeFile:
    return MadeFile(name, partial(files.made_library, motions, **size))


OF_EACH_KIND = {
    "import": ("kinds.import_file", "kinds.pass_to_blender"),
    "memory": ("kinds.memory_of_import", "kinds.memory_allowed"),
    "export": ("kinds.export_file", "kinds.read_back"),
    "export, edited": ("kinds.export_edited", "kinds.read_back"),
    "export as a new file": ("kinds.export_as_new", "kinds.read_back"),
    "save back": ("kinds.save_back", "kinds.read_back"),
    "select invalid faces": ("kinds.check_level", "kinds.read_back"),
    "plan save back of a tree": ("kinds.save_back_tree", "kinds.read_back"),
    "list, nothing imported": ("kinds.list_names", "kinds.list_names"),
}
"""Operation in a title, after the file name -> ours and floor."""
BOTH_WAYS = ("import", "export", "export, edited")
MOTION_FILE = (*BOTH_WAYS, "memory")
LEVEL_FILE = (*MOTION_FILE, "export as a new file")
PATH = MadeFile("path.anm", files.made_path)
GEOMETRY = MadeFile("level.geom", files.made_geometry_of_level)
COLLISION = MadeFile("level.cform", files.made_collision_of_level)
MEASURED_OF = {
    _library("motions_300.omf", 300): (*MOTION_FILE, "save back", "list, nothing imported"),
    PATH: BOTH_WAYS,
    MadeFile("folding.anm", partial(files.made_path, folding=True)): ("import",),
    MadeFile("key_each_frame.skls", partial(files.made_editor_motions, per_frame=True)): MOTION_FILE,
    MadeFile("few_keys.skls", partial(files.made_editor_motions, per_frame=False)): MOTION_FILE,
    MadeFile("animation.rtm", files.made_animation, (MadeFile("model.cfg", files.made_hierarchy),)): BOTH_WAYS,
    MadeFile("triangles.oof", files.made_model): ("import", "export"),
    MadeFile("squares.oof", partial(files.made_model, corners=4)): ("export, edited",),
    MadeFile("hands.object", files.made_editor_model): BOTH_WAYS,
    MadeFile("compiled/level", files.made_level, (GEOMETRY,)): ("import", "memory"),
    MadeFile("checked/level", files.made_level, (GEOMETRY, COLLISION)): (
        "select invalid faces",
        "plan save back of a tree",
    ),
    MadeFile("level.cform", files.made_collision): LEVEL_FILE,
    MadeFile("level.hom", files.made_occluders): LEVEL_FILE,
    MadeFile("level.som", partial(files.made_occluders, of_sound=True)): LEVEL_FILE,
    MadeFile("level.details", files.made_details): MOTION_FILE,
}
"""Rows of each generated file.

Sizes: 300 motions of 47 bones and 60 frames; 100 motions of the editor; paths of 6 x 200 TCB keys, and of as many
Bezier keys whose time goes backwards in places; 600 frames of 90 bones; models of Descent 3 as large as the engine
accepts; hands of the X-Ray editor (real ones with MOTIONBRIDGE_CORPUS), 9,200 faces on 42 bones; a compiled level (with
MOTIONBRIDGE_CORPUS a real one of 16,076 visuals and 1.9 million faces) with invented vertices, and the same beside its
collision; a cform of 1 000 000
faces, a hom and a som of 200 000; 321 x 321 slots.
"""
TEXTURES = MadeFile("textures.db0", files.made_textures)
CHARACTER_MOTIONS = MadeFile("character.omf", partial(files.character, "omf"))
CHARACTER = MadeFile("character.ogf", partial(files.character, "ogf"), (CHARACTER_MOTIONS,))


def rows_in_blender() -> list[Row]:
    """Return the rows that need a Blender, with or without a window."""
    few, many, sampled, below = (_library(f"motions_{count}.omf", count) for count in (10, 1000, 50, 230))
    # As many motions as characters of the game have, with 47 bones and few frames.
    people = _library("list.omf", 3060, frames=10)
    person = (CHARACTER,)
    return [
        *(
            Row(f"{file.name}: {words}", *OF_EACH_KIND[words], (file,))
            for file in MEASURED_OF
            for words in MEASURED_OF[file]
        ),
        Row("import 1000 motions / 100 x 10", "kinds.import_file", "kinds.import_file", (many,), (few,), 100.0),
        Row("import 400 paths / 400 x one", "kinds.import_many_paths", "kinds.import_file", (PATH,), (), 400.0),
        Row("plan save back of 50 motions, IK, mesh", "rigs.plan_with_kinematics", "rigs.evaluate_poses", (sampled,)),
        Row("plan save back of 230 motions, NLA track", "rigs.plan_with_nla", "kinds.read_back", (below,)),
        Row("Update Status of 3060 motions", "rigs.update_status", "kinds.read_back", (people,)),
        Row("redraw of 3060 motions", "rigs.redraw_list", "rigs.redraw_stock_list", (people,)),
        Row("8 motions onto controls", "rigs.transfer_to_controls", "rigs.evaluate_frames", person),
        Row("frames of 8 motions, controls", "rigs.evaluate_with_controls", "rigs.evaluate_frames", person),
        Row("1000 frames of another armature", "rigs.retarget", "rigs.evaluate_source", person),
        *rows_of_clicks(),
        Row("import of a character with readable bones", "kinds.import_readable", "kinds.import_plain", (HERE,)),
        Row("first-person scene of the samples", "kinds.open_first_person", "kinds.open_its_files", (HERE,)),
        Row("six textures of an archive", "kinds.textures_of_archive", "kinds.textures_of_folder", (TEXTURES,)),
        Row("enable the extension", "start.enable", "start.enable_floor", (HERE,)),
        Row("modules for the first model", "start.first_model", "start.read_bytecode", (HERE,)),
    ]


def rows_of_clicks() -> list[Row]:
    """Return the rows of what people click: in a window they are measured until the result is drawn."""
    person = (CHARACTER,)
    return [
        Row("preview of Save Back, one edited", "clicks.preview", "clicks.read_keys", person),
        Row("preview with controls, one edited", "clicks.preview_with_controls", "clicks.read_keys", person),
        Row("add a control rig", "clicks.add_controls", "rigs.import_character", person),
        Row("all motions onto controls", "clicks.move_all", "rigs.evaluate_all_frames", person),
        Row("click on a motion, controls", "clicks.play_with_controls", "clicks.play", person),
    ]
