"""Game materials of collision in Blender: where their names come from, and colours that tell them apart."""

import itertools

import bpy
import numpy as np
import pytest

from addon.games.xray.levels import game_materials as level_game_materials
from addon.games.xray.levels import materials as level_materials
from addon.games.xray.levels.properties import holder_of, meshes_of
from addon.games.xray.options import Split
from tests.blender.test_levels import TRIANGLE, cform_bytes, face_values, imported
from tests.blender.test_ui import installed
from tests.formats.xray.level_bytes import chunk, words


def game_materials(**names):
    """A `gamemtl.xr` of materials m0, m1, … with these names."""
    created = [
        chunk(index, chunk(0x1000, words(int(title[1:])), name.encode() + b"\0"))
        for index, (title, name) in enumerate(names.items())
    ]
    return b"".join([
        chunk(0x1000, b"\1\0"),  # version
        chunk(0x1001, words(len(names), 0)),  # the next ids
        chunk(0x1002, *created),
        chunk(0x1003),  # no pairs
    ])  # fmt: skip


@pytest.fixture
def level(tmp_path):
    """Collision of the materials 0, 1, 2, in the levels folder of a game."""
    folder = tmp_path / "gamedata" / "levels" / "l01"
    folder.mkdir(parents=True)
    (folder / "level.cform").write_bytes(cform_bytes(TRIANGLE, [(0, 1, 2)] * 3))
    return folder


def names_after_import(level):
    assert bpy.ops.import_scene.xray_level_geometry(filepath=str(level / "level.cform")) == {"FINISHED"}
    return [material.name for material in bpy.context.active_object.data.materials]


def test_without_game_materials_they_have_their_usual_names(level):
    assert names_after_import(level) == ["default", "creatures\\human", "materials\\wood"]
    assert "usual names, not those of a gamemtl.xr" in bpy.context.window_manager.motionbridge_report


@pytest.mark.parametrize("where", ["beside", "the game", "preferences"])
def test_game_materials_are_found(level, tmp_path, where):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    target = {"beside": level, "the game": level.parent.parent}.get(where, elsewhere) / "GameMtl.xr"
    target.write_bytes(game_materials(m0="default", m2="materials\\glass"))
    with installed(*[elsewhere] * (where == "preferences")):
        assert names_after_import(level) == ["default", "game material 1", "materials\\glass"]


def test_the_nearest_game_materials_count(level, tmp_path):
    for folder, name in ((level, "near"), (level.parent.parent, "far"), (tmp_path / "elsewhere", "named")):
        folder.mkdir(exist_ok=True)
        (folder / "gamemtl.xr").write_bytes(game_materials(m0=name))
    with installed(tmp_path / "elsewhere"):
        for name in ("near", "far", "named"):
            assert names_after_import(level)[0] == name
            folder = {"near": level, "far": level.parent.parent}.get(name, tmp_path / "elsewhere")
            (folder / "gamemtl.xr").unlink()


@pytest.mark.parametrize(
    ("size", "words"), [(3, "game materials have their usual names: "), (-15, "gamemtl.xr: the chunk declares")]
)
def test_game_materials_that_cannot_be_read_stop_nothing_and_are_reported(level, size, words):
    (level / "gamemtl.xr").write_bytes(game_materials(m0="default")[:size])
    assert names_after_import(level)[1] == "creatures\\human"
    assert words in bpy.context.window_manager.motionbridge_report


def test_a_material_is_made_once_and_keeps_the_colour_the_user_gave_it(level):
    names_after_import(level)
    created = bpy.context.active_object.data.materials[1]
    created.diffuse_color = (1, 0, 0, 1)
    names_after_import(level)
    assert bpy.context.active_object.data.materials[1] == created
    assert tuple(created.diffuse_color) == (1, 0, 0, 1)
    assert len(level_game_materials.known_materials()) == 3


def test_the_game_material_of_a_face_is_that_of_its_slot_else_what_the_face_says():
    plain, earth = (bpy.data.materials.new(name) for name in ("plain", "earth"))
    earth.motionbridge_material.number = 3
    for created, message, wanted in ((earth, 7, 3), (plain, 7, 7), (None, 7, 7), (None, None, None), (earth, None, 3)):
        assert level_game_materials.number_of(created, message) == wanted


def test_colours_are_those_of_the_number_and_no_two_of_forty_are_alike():
    np.testing.assert_allclose(level_materials.colour_of(0), (0.4, 0.04, 0.04, 1.0))
    np.testing.assert_allclose(level_materials.colour_of(5), (0.673574, 0.397574, 0.824601, 1.0), rtol=1e-5)
    assert level_materials.colour_of(5) == level_materials.colour_of(5)
    colours = [np.array(level_materials.colour_of(number)) for number in range(40)]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(colours, 2)) > 0.1


def test_the_legend_of_parts_is_that_of_all_of_them(level):
    whole, _ = imported(level / "level.cform")
    wanted = level_materials.legend(whole.meshes)
    assert [obj.name for obj in wanted] == ["default", "creatures\\human", "materials\\wood"]
    split, _ = imported(level / "level.cform", split=Split.MATERIAL)
    assert len(split.meshes) == 3
    of_parts = level_materials.legend(meshes_of(holder_of(split.meshes[1])))
    assert sorted(of_parts, key=lambda used: used.motionbridge_material.number) == wanted


def test_more_materials_than_can_be_distinguished_share_one_and_keep_their_numbers(tmp_path):
    path = tmp_path / "level.cform"
    count = level_game_materials.MOST_MATERIALS + 20
    data = bytearray(cform_bytes(TRIANGLE, [(0, 1, 2)] * count))
    for face in range(count):
        at = len(data) - 16 * (count - face) + 12
        data[at : at + 2] = face.to_bytes(2, "little")
    path.write_bytes(bytes(data))
    model, _ = imported(path)
    assert len(model.holder.data.materials) == level_game_materials.MOST_MATERIALS + 1
    assert model.holder.data.materials[-1].motionbridge_material.number == -1
    assert face_values(model.holder, "material", np.int32).tolist() == list(range(count))
